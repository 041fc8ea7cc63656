//===- NearMiss.cpp - Programs that look like mHC and are not -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Conformance/NearMiss.h"
#include "Edits.h"

#include <algorithm>

namespace mhc::conformance {

static void unrolled(RandomCase &random, int64_t &) {
  random.spelling.unroll = true;
  random.golden.attributes.iters = 1 + random.golden.attributes.iters % 4;
}

static void unrolledAdd(RandomCase &random, int64_t &channels) {
  unrolled(random, channels);
  Attributes &attr = random.golden.attributes;
  attr.res = "sinkhorn";
  attr.denom = attr.init == "log" ? "none" : "add";
  attr.skEps = 1e-5;
}

static void unrolledLinear(RandomCase &random, int64_t &channels) {
  unrolled(random, channels);
  Attributes &attr = random.golden.attributes;
  attr.res = "sinkhorn";
  if (attr.init == "log")
    attr.init = "exp";
}

static void unrolledPotentials(RandomCase &random, int64_t &channels) {
  unrolledLinear(random, channels);
  Attributes &attr = random.golden.attributes;
  attr.denom = "potentials";
  if (attr.init == "softmax_eps" || attr.init == "sigmoid_eps")
    attr.init = "exp";
  attr.skEps = 1e-5;
  attr.n = std::max<int64_t>(2, attr.n);
  attr.iters = std::max<int64_t>(2, attr.iters);
}

static void shiftedByAll(RandomCase &random, int64_t &channels) {
  unrolledAdd(random, channels);
  random.golden.attributes.init = "exp_max";
  random.golden.attributes.denom = "add";
}

static void looped(RandomCase &random, int64_t &) {
  random.spelling.unroll = false;
  random.golden.attributes.iters = 2 + random.golden.attributes.iters % 19;
}

static void loopedAdd(RandomCase &random, int64_t &channels) {
  unrolledAdd(random, channels);
  looped(random, channels);
}

static void loopedLinear(RandomCase &random, int64_t &channels) {
  unrolledLinear(random, channels);
  looped(random, channels);
}

static void loopedPotentials(RandomCase &random, int64_t &channels) {
  unrolledPotentials(random, channels);
  looped(random, channels);
}

static void squareStreams(RandomCase &random, int64_t &channels) { channels = random.golden.attributes.n; }
/// As many columns of phi as rows: 2n + n*n = n*C.
static void squarePhi(RandomCase &random, int64_t &channels) {
  random.golden.attributes.res = "sinkhorn";
  channels = random.golden.attributes.n + 2;
}
static void twoLayers(RandomCase &random, int64_t &) {
  random.golden.op = "stack";
  random.golden.attributes.sites = 2;
}
static void permutations(RandomCase &random, int64_t &) {
  random.golden.attributes.res = "perm";
  random.golden.attributes.n = 2 + random.golden.attributes.n % 3;
}
static void opSpelling(RandomCase &random, int64_t &) {
  random.spelling.explicitSoftmax = false;
  random.golden.attributes.init = "softmax_eps";
  random.golden.attributes.order = "row_col";
  random.golden.attributes.denom = "add";
  random.golden.attributes.res = "sinkhorn";
}
static void packed(RandomCase &random, int64_t &) { random.spelling.packCoeffs = true; }
static void plainMean(RandomCase &random, int64_t &) {
  random.spelling.scale = Spelling::Scale::Output;
  random.spelling.root = Spelling::Root::Rsqrt;
}

/// Numbers that show: an eps of the size of the squares, a threshold that arguments reach, heads in several copies.
static void frontEnd(RandomCase &random, int64_t &) {
  GatedDelta &sizes = random.golden.gatedDelta;
  sizes.l2Eps = 0.5;
  sizes.softplusThreshold = 0.5;
  sizes.keyHeads = 2;
  sizes.valueHeads = 4;
}

static NearMiss ofFrontEnd(const char *name, bool (*apply)(Editor &editor)) {
  return {name, apply, frontEnd, /*rounds=*/false, /*isGatedDelta=*/true};
}

llvm::ArrayRef<NearMiss> nearMisses() {
  static const NearMiss all[] = {
      {"eps of one step changed", epsOnce, unrolledAdd},
      {"eps of one step changed in a loop", epsOnce, loopedAdd},
      {"eps of one step missing", epsMissingOnce, unrolledAdd},
      {"eps subtracted in one step", epsNegative, unrolledAdd},
      {"eps outside of root or quotient", epsMoved, unrolledAdd},
      {"clamp for add, add for clamp", clampForAdd, unrolledAdd},
      {"eps relative", epsRelative, unrolledAdd},
      {"a number changed once", numberOnce},
      {"one step missing", stepMissing, unrolled},
      {"one step twice", stepTwice, unrolled},
      {"one step more in between", stepExtra, unrolled},
      {"one turn more without eps", turnCountOnce, unrolledAdd},
      {"sum of a step under an older matrix", olderMatrix, unrolledLinear},
      {"both steps over one axis", sameAxisTwice, unrolledLinear},
      {"both steps over one axis in a loop", sameAxisTwice, loopedLinear},
      {"order swapped in one turn", orderSwappedOnce, unrolledLinear},
      {"matrix of an earlier step", earlierMatrix, unrolledLinear},
      {"softmax over columns", softmaxAxis, opSpelling},
      {"softmax with a temperature", softmaxTemperature},
      {"table of permutations rotated", permutationTable, permutations},
      {"sum over another axis", sumAxis, squareStreams},
      {"sum leaves an element out", sumOfPart},
      {"sum for mean", sumForMean, plainMean},
      {"maximum for sum over an axis", maxForSum},
      {"mean over C for n*C", meanOverChannels, plainMean},
      {"norm over all tokens", normOverTokens, plainMean},
      {"root missing", rootMissing, plainMean},
      {"cube or fourth power for square", cubeForSquare, plainMean},
      {"square of two different values", squareOfTwo, plainMean},
      {"norm without the last stream", normOfPart, plainMean},
      {"factor twice", factorTwice},
      {"factor missing", factorMissing},
      {"quotient for product", quotientForProduct},
      {"term twice (bias)", termTwice},
      {"term missing", termMissing},
      {"term subtracted", termSubtracted},
      {"maximum for sum", maximumForSum},
      {"scale after the bias", scaleAfterBias},
      {"a vector per token", vectorPerToken},
      {"tanh for sigmoid", tanhForSigmoid},
      {"sign in the sigmoid", signInSigmoid},
      {"sigmoid twice", sigmoidTwice},
      {"another gate", otherGate, twoLayers},
      {"another matrix", otherMatrix, twoLayers},
      {"other streams", otherStreams, twoLayers},
      {"another row statistic", otherRow, twoLayers},
      {"another parameter", otherParameter, twoLayers},
      {"slice off by one", sliceOffByOne},
      {"slices exchanged", slicesExchanged},
      {"concatenation exchanged", concatExchanged, packed},
      {"H transposed once", matrixTransposedOnce, twoLayers},
      {"square streams transposed", squareTransposed, squareStreams},
      {"square phi transposed", squareTransposed, squarePhi},
      {"flag of a product", productFlag, squareStreams},
      {"streams rotated", streamsRotated},
      {"one stream for all", streamRepeated},
      {"streams interleaved with channels", streamsInterleaved},
      {"mean of all tokens", meanOfTokens},
      {"tanh of one use", tanhOnce},
      {"one use negated", negatedOnce},
      {"one use doubled", doubledOnce},
      {"one use not negative", positiveOnce},
      {"one use shifted", shiftedOnce},
      {"eps of one potential changed", epsOnce, unrolledPotentials},
      {"eps of one potential missing", epsMissingOnce, unrolledPotentials},
      {"eps of one potential changed in a loop", epsOnce, loopedPotentials},
      {"potentials of another step", otherFactors, unrolledPotentials},
      {"potentials of another step in a loop", otherFactors, loopedPotentials},
      {"start shifted by all tokens", maximumOfTokens, shiftedByAll},
      {"rounds to bf16 in between", roundsToBf16, nullptr, /*rounds=*/true},
      {"rounds to f16 in between", roundsToF16, nullptr, /*rounds=*/true},
      ofFrontEnd("a tap of a later token", tapOfLaterToken),
      ofFrontEnd("a tap of a token further back", tapFurtherBack),
      ofFrontEnd("a circular tap", circularTap),
      ofFrontEnd("taps reversed", tapsReversed),
      ofFrontEnd("mean of squares for their sum", meanForSum),
      ofFrontEnd("eps outside of the root of a head", epsOutsideOfRoot),
      ofFrontEnd("norm of a head of at least eps", normAtLeastEps),
      ofFrontEnd("heads repeated in turn", headsInTurn),
      ofFrontEnd("q and k exchanged", queryAndKeyExchanged),
      ofFrontEnd("beta and alpha exchanged", betaAndAlphaExchanged),
      ofFrontEnd("decay without its minus", decayWithoutMinus),
      ofFrontEnd("another threshold", otherThreshold),
      ofFrontEnd("a number of a front end changed", numberOnce),
      ofFrontEnd("norm of a part of a head", sumOfPart),
      ofFrontEnd("maximum for sum of squares", maxForSum),
      ofFrontEnd("a factor of a front end twice", factorTwice),
      ofFrontEnd("a factor of a front end missing", factorMissing),
      ofFrontEnd("a term of a front end twice", termTwice),
      ofFrontEnd("a term of a front end missing", termMissing),
      ofFrontEnd("slice of a front end off by one", sliceOffByOne),
      ofFrontEnd("slices of a front end exchanged", slicesExchanged),
      ofFrontEnd("one use in a front end doubled", doubledOnce),
  };
  return all;
}

bool applyNearMiss(const NearMiss &miss, mlir::func::FuncOp func, int64_t streams, Random &random) {
  Editor editor(func, streams, random);
  return miss.apply(editor);
}

} // namespace mhc::conformance
