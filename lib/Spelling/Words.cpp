//===- Words.cpp - The choices that make a spelling -----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "mhc/Spelling/Spelling.h"

namespace mhc::spelling {

const std::vector<Word> &words() {
  using S = Spelling;
  static const std::vector<Word> table = {
      {"rms_norm op before the projection", [](S &how) { how.scale = S::Scale::RmsNormOp; }},
      {"norm before the projection", [](S &how) { how.scale = S::Scale::Input; }},
      {"norm after alpha", [](S &how) { how.scale = S::Scale::AfterAlpha; }},
      {"root of the mean", [](S &how) { how.root = S::Root::Sqrt; }},
      {"root of the sum over root of K", [](S &how) { how.root = S::Root::Norm; }},
      {"division by the root", [](S &how) { how.divide = true; }},
      {"mean as sum over K", [](S &how) { how.meanAsSum = true; }},
      {"phi transposed", [](S &how) { how.transposePhi = true; }},
      {"phi in three", [](S &how) { how.splitPhi = true; }},
      {"norm weight on x", [](S &how) { how.gammaOnInput = true; }},
      {"a vector added behind the norm",
       [](S &how) {
         how.scale = S::Scale::Input;
         how.shiftBehindNorm = true;
       }},
      {"alpha as a vector", [](S &how) { how.alphaVector = true; }},
      {"coefficients in one tensor", [](S &how) { how.packCoeffs = true; }},
      {"sigmoid by exp", [](S &how) { how.sigmoid = S::Sigmoid::Exp; }},
      {"sigmoid by tanh", [](S &how) { how.sigmoid = S::Sigmoid::Tanh; }},
      {"softmax written out", [](S &how) { how.explicitSoftmax = true; }},
      {"reductions keep dimensions", [](S &how) { how.keepDims = true; }},
      {"sinkhorn unrolled", [](S &how) { how.unroll = true; }},
      {"sinkhorn on potentials", [](S &how) { how.potentials = true; }},
      {"logsumexp in one piece", [](S &how) { how.wholeLogSumExp = true; }},
      {"softmax as the first division", [](S &how) { how.softmaxFirst = true; }},
      {"sinkhorn by L1 norms", [](S &how) { how.l1Norm = true; }},
      {"aggregate as matmul", [](S &how) { how.aggregate = S::Aggregate::Matmul; }},
      {"aggregate stream by stream", [](S &how) { how.aggregate = S::Aggregate::Streams; }},
      {"mix of the transposed matrix", [](S &how) { how.mix = S::Mix::TransposeMatmul; }},
      {"mix as multiply and reduce", [](S &how) { how.mix = S::Mix::MulReduce; }},
      {"mix stream by stream", [](S &how) { how.mix = S::Mix::Streams; }},
      {"branch as outer product", [](S &how) { how.outerMatmul = true; }},
      {"bias behind the gate", [](S &how) { how.biasApart = true; }},
      {"mix before the branch", [](S &how) { how.mixFirst = true; }},
      {"sum of a stack", [](S &how) { how.stackedSum = true; }},
      {"rows behind softmax and eps", [](S &how) { how.rowsBehindSoftmax = true; }},
  };
  return table;
}

const std::vector<Word> &gatedDeltaWords() {
  using S = GatedDeltaSpelling;
  static const std::vector<Word> table = {
      {"zeros in front of the tokens", [](Spelling &how) { how.gatedDelta.before = S::Before::Pad; }},
      {"zeros on both sides, cut", [](Spelling &how) { how.gatedDelta.before = S::Before::PadBothSides; }},
      {"tokens in windows", [](Spelling &how) { how.gatedDelta.windows = true; }},
      {"last tap first", [](Spelling &how) { how.gatedDelta.lastTapFirst = true; }},
      {"bias before the taps", [](Spelling &how) { how.gatedDelta.biasFirst = true; }},
      {"taps in the type of the input", [](Spelling &how) { how.gatedDelta.narrowTaps = true; }},
      {"q, k and v convolved apart", [](Spelling &how) { how.gatedDelta.convolveApart = true; }},
      {"SiLU by sigmoid", [](Spelling &how) { how.gatedDelta.silu = S::Silu::Sigmoid; }},
      {"SiLU as a quotient", [](Spelling &how) { how.gatedDelta.silu = S::Silu::Quotient; }},
      {"head divided by its root", [](Spelling &how) { how.gatedDelta.divideByRoot = true; }},
      {"norm of q and k together", [](Spelling &how) { how.gatedDelta.normTogether = true; }},
      {"norm keeps dimensions", [](Spelling &how) { how.keepDims = true; }},
      {"copies of heads joined", [](Spelling &how) { how.gatedDelta.repeat = S::Repeat::Copies; }},
      {"heads repeated one by one", [](Spelling &how) { how.gatedDelta.repeat = S::Repeat::HeadByHead; }, false},
      {"softplus by log1p", [](Spelling &how) { how.gatedDelta.softplus = S::Softplus::Log1p; }},
      {"softplus by log", [](Spelling &how) { how.gatedDelta.softplus = S::Softplus::Log; }},
      {"softplus by a maximum", [](Spelling &how) { how.gatedDelta.softplus = S::Softplus::Stable; }},
      {"softplus without a threshold", [](Spelling &how) { how.gatedDelta.softplus = S::Softplus::Bare; }},
      {"decay negated last", [](Spelling &how) { how.gatedDelta.negateLast = true; }},
      {"tokens first up to the results", [](Spelling &how) { how.gatedDelta.tokensFirst = true; }},
  };
  return table;
}

} // namespace mhc::spelling
