//===- Spelling.h - Ways to write the algebra ----------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two independent descriptions of one chain. Attributes say what is computed (names and values as in a golden
// manifest); Spelling says how the unfused IR writes it. Every combination is a valid program with the same result, so
// a spelling is plain data: one row per public library, or drawn at random.
//
//===----------------------------------------------------------------------===//
#ifndef MHC_SPELLING_SPELLING_H
#define MHC_SPELLING_SPELLING_H

#include <cstdint>
#include <string>
#include <vector>

namespace mhc::spelling {

/// Parameters of the computation. Field names are the manifest's; the specification explains them.
struct Attributes {
  int64_t n = 4;
  std::string layout = "nC";        ///< nC, nC_flat, Cn, Cn_flat
  std::string phiLayout = "out_in"; ///< out_in, in_out
  std::string norm = "inside";      ///< inside, outside, clamp
  std::string stat;                 ///< projection: mean_square, inv_rms, applied; gates: those two or none
  std::string res = "sinkhorn";     ///< sinkhorn, perm, none
  std::string init = "softmax_eps"; ///< softmax_eps, exp, exp_rowmax, exp_colmax, exp_max, sigmoid, sigmoid_eps, log
  std::string order = "row_col";    ///< row_col, col_row
  std::string denom = "add";        ///< add, clamp, none, potentials
  std::string solver = "sinkhorn";  ///< sinkhorn, newton: the latter has no words but its op
  std::string resOrient = "io";     ///< io, oi
  std::string sublayer = "toy";     ///< toy, rmsnorm
  std::string mode = "mean";        ///< contract: mean, sum
  std::string contract = "none";    ///< stack: none, mean, head
  std::string act = "id";           ///< hc_sublayer: id, tanh
  std::string constraint = "none";  ///< hc_sublayer: none, mhc
  double normEps = 1e-6, preEps = 0, postMult = 2, skEps = 1e-6, subEps = 1e-5, dropout = 0;
  double headNormEps = 1e-6, headPreEps = 1e-6;
  int64_t iters = 20, sites = 0, numPre = 0, numPost = 0;
  int64_t numLayers = 0, group = 0; ///< of a recompute plan; group 0 is none
  bool foldPre = false;
  bool sharedScale = false; ///< hc_sublayer: one scale for all of alpha

  bool flat() const { return layout == "nC_flat" || layout == "Cn_flat"; }
  bool streamsInner() const { return layout == "Cn" || layout == "Cn_flat"; }
  int64_t residualLogits() const;
};

/// Choices of how the front end of a gated delta net is written.
struct GatedDeltaSpelling {
  /// The op itself.
  bool asOp = false;
  /// Tokens before: moved, behind zeros, or between zeros of which some are cut off.
  enum class Before { Shift, Pad, PadBothSides } before = Before::Shift;
  /// One product with the tokens that each one meets, and a sum over the taps.
  bool windows = false;
  bool lastTapFirst = false;
  bool biasFirst = false;
  /// Taps and their sum have the type of the input, where the weight has it.
  bool narrowTaps = false;
  /// One convolution for each of q, k and v.
  bool convolveApart = false;
  enum class Silu { Op, Sigmoid, Quotient } silu = Silu::Op;
  bool divideByRoot = false;
  bool normTogether = false;
  enum class Repeat { Broadcast, Copies, HeadByHead } repeat = Repeat::Broadcast;
  /// Beside the sum itself where that is above the threshold; the last two are for the usual threshold and have none.
  enum class Softplus { Op, Log1p, Log, Stable, Bare } softplus = Softplus::Op;
  bool negateLast = false;
  /// Dimensions are tokens, sequences, channels up to the results.
  bool tokensFirst = false;
};

/// Choices of how the computation is written.
struct Spelling {
  /// Place where the root mean square meets the projection.
  enum class Scale {
    RmsNormOp, ///< mhc.rms_norm, then matmul
    Input,     ///< x scaled, then matmul
    Output,    ///< matmul, then scaled
    AfterAlpha ///< matmul, times alpha, then scaled
  } scale = Scale::Output;
  /// The root mean square: 1/sqrt(mean) as rsqrt, as division by a square root, or the 2-norm over sqrt(K).
  enum class Root { Rsqrt, Sqrt, Norm } root = Root::Rsqrt;
  /// Multiply by the inverse or divide by the root (rsqrt always multiplies).
  bool divide = false;
  /// The mean as a sum divided by K.
  bool meanAsSum = false;
  /// Way in which phi's rows get under x: the flag of matmul, or a transpose in front of it.
  bool transposePhi = false;
  /// One projection per group of phi's rows.
  bool splitPhi = false;
  /// The norm weight multiplies x, or phi.
  bool gammaOnInput = false;
  /// A vector is added behind the norm, and its product with phi subtracted from the projection.
  bool shiftBehindNorm = false;
  /// alpha as one vector of N numbers, or a slice per group.
  bool alphaVector = false;
  /// pre, post and logits glued together and cut again, as an op with one output buffer does.
  bool packCoeffs = false;
  enum class Sigmoid { Op, Exp, Tanh } sigmoid = Sigmoid::Op;
  /// Softmax as exp of the shifted logits over their sum.
  bool explicitSoftmax = false;
  /// Reductions keep their dimension as a unit and broadcast from it.
  bool keepDims = false;
  /// Sinkhorn iterations as straight-line code.
  bool unroll = false;
  /// Log-space Sinkhorn on two potentials, or on the matrix itself.
  bool potentials = false;
  /// Log-space Sinkhorn subtracts a log-sum-exp, or the maximum and then the logarithm.
  bool wholeLogSumExp = false;
  /// A softmax divides first where the logits are shifted by the maximum of what is summed first.
  bool softmaxFirst = false;
  /// Rows are divided by their sums behind softmax(z) + eps as well, where the eps is too small to show.
  bool rowsBehindSoftmax = false;
  /// Divisors of Sinkhorn take the absolute value first (an L1 norm).
  bool l1Norm = false;
  enum class Aggregate { MulReduce, Matmul, Streams } aggregate = Aggregate::MulReduce;
  enum class Mix { Matmul, TransposeMatmul, MulReduce, Streams } mix = Mix::Matmul;
  /// h_post times f as an outer product by matmul.
  bool outerMatmul = false;
  /// h_post * f + h_post * bias instead of h_post * (f + bias).
  bool biasApart = false;
  /// The residual mix is the left operand of the last addition.
  bool mixFirst = false;
  /// It is a sum over both, stacked.
  bool stackedSum = false;
  /// Stream 0 of one batched product is the sublayer's input, the others are the mixed residual.
  bool jointMix = false;
  /// Coefficients are rounded to the element type of x before use.
  bool roundCoeffs = false;
  /// Seed of random operand orders of commutative ops; 0 leaves them as written.
  uint64_t swapSeed = 0;
  GatedDeltaSpelling gatedDelta;
};

/// One choice of a spelling: every word is one way in which something may be written other than plainly.
struct Word {
  const char *name;
  void (*say)(Spelling &how);
  bool isFound = true; ///< not so is what raising does not find so far
};

/// All words of mHC, in no order. Two that choose the same thing: the one said last holds.
const std::vector<Word> &words();
/// The same of the front end of a gated delta net.
const std::vector<Word> &gatedDeltaWords();

/// Defaults of a library's public code. The variant is one of modelVariants.
Attributes attributesOf(const std::string &variant);
/// The variants that a whole model can be made of.
std::vector<std::string> modelVariants();

/// The spelling of a library's public code; `known` is false for a variant without one.
Spelling spellingOf(const std::string &variant, bool &known);

} // namespace mhc::spelling

#endif // MHC_SPELLING_SPELLING_H
