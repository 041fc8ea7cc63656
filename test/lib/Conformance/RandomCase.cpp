//===- RandomCase.cpp - Random programs and spellings ---------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Conformance/RandomCase.h"
#include "Conformance/CaseIr.h"
#include "Conformance/Random.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace mhc::conformance {

static Spelling randomSpelling(Random &random) {
  Spelling how;
  for (const Word &word : words())
    if (random.flip(0.4))
      word.say(how);
  how.roundCoeffs = random.flip();
  how.swapSeed = random.next() | 1;
  return how;
}

static void randomSinkhorn(Random &random, Attributes &attr) {
  attr.init = random.pick<const char *>({"softmax_eps", "softmax_eps", "exp", "exp_rowmax", "exp_colmax", "log"});
  attr.order = random.pick<const char *>({"row_col", "col_row"});
  attr.denom = random.pick<const char *>({"add", "none", "clamp"});
  attr.skEps = attr.denom == "clamp" ? 1e-12 : random.pick({1e-6, 1e-5});
  attr.iters = random.between(1, 20);
  if (attr.init == "softmax_eps")
    attr.order = "row_col";
  if (attr.init == "log")
    attr.denom = "none";
}

static Attributes randomAttributes(Random &random) {
  Attributes attr;
  attr.n = random.flip(0.4) ? 4 : random.between(1, 8);
  attr.layout = random.pick<const char *>({"nC", "nC_flat", "Cn", "Cn_flat"});
  attr.phiLayout = random.pick<const char *>({"out_in", "in_out"});
  attr.norm = random.pick<const char *>({"inside", "outside", "clamp"});
  // A bound that some tokens reach, and others not.
  attr.normEps = attr.norm == "clamp" ? random.pick({1e-12, 1e-2, 1.0}) : random.pick({0.0, 1e-6, 1e-5, 0x1p-23});
  attr.preEps = random.pick({0.0, 1e-6, 1e-4, 1e-2});
  attr.postMult = random.pick({1.0, 2.0});
  attr.resOrient = random.pick<const char *>({"io", "oi"});
  attr.sublayer = random.pick<const char *>({"toy", "toy", "rmsnorm"});
  attr.res = random.flip(0.15) && attr.n <= 4 ? "perm" : "sinkhorn";
  attr.foldPre = random.flip(0.15);
  attr.contract = random.pick<const char *>({"none", "mean", "head"});
  attr.sites = random.between(1, 3);
  randomSinkhorn(random, attr);
  return attr;
}

namespace {

/// Tensors of a random case and their numbers, in argument order.
class Inputs {
public:
  Inputs(Random &random, RandomCase &result) : random(random), result(result) {}

  /// The ends of `count` sequences of `tokens` together, some of them empty, behind a 0.
  void addCuts(const std::string &name, int64_t count, int64_t tokens) {
    std::vector<int32_t> cuts(count + 1, 0);
    for (int64_t i = 1; i < count; ++i)
      cuts[i] = static_cast<int32_t>(random.between(0, tokens));
    cuts[count] = static_cast<int32_t>(tokens);
    std::sort(cuts.begin(), cuts.end());
    mhcrt::HostTensor tensor;
    std::string error;
    tensor.allocate(MHCRT_I32, {count + 1}, error);
    std::copy(cuts.begin(), cuts.end(), static_cast<int32_t *>(tensor.data()));
    result.inputs.push_back(std::move(tensor));
    result.golden.inputs.push_back({name, "", {count + 1}, Element::I32});
  }

  void add(const std::string &name, Dims shape, double mean, double deviation, Element element = Element::F32) {
    mhcrt::HostTensor wide, narrow, tensor;
    std::string error;
    wide.allocate(MHCRT_F64, shape, error);
    for (int64_t i = 0; i < wide.elements(); ++i)
      static_cast<double *>(wide.data())[i] = mean + deviation * random.normal();
    // The reference reads the same rounded numbers as the kernels.
    mhcrt::convert(wide.get(), element == Element::BF16 ? MHCRT_BF16 : MHCRT_F32, narrow, error);
    mhcrt::convert(narrow.get(), MHCRT_F64, tensor, error);
    result.inputs.push_back(std::move(tensor));
    result.golden.inputs.push_back({name, "", std::move(shape), element});
  }

private:
  Random &random;
  RandomCase &result;
};

} // namespace

static Dims streams(const Attributes &attr, int64_t tokens, int64_t channels) {
  if (attr.flat())
    return {tokens, attr.n * channels};
  return attr.streamsInner() ? Dims{tokens, channels, attr.n} : Dims{tokens, attr.n, channels};
}

/// phi, alpha and beta of one site, and the weight of its sublayer.
static void addSite(Inputs &inputs, Random &random, const Attributes &attr, const std::string &suffix, int64_t channels,
                    Element activation) {
  int64_t inner = attr.n * channels, columns = 2 * attr.n + attr.residualLogits();
  Dims phi = attr.phiLayout == "in_out" ? Dims{inner, columns} : Dims{columns, inner};
  inputs.add("phi" + suffix, phi, 0, 1 / std::sqrt(inner));
  inputs.add("alpha" + suffix, {3}, 0.7, 0.3);
  inputs.add("beta" + suffix, {columns}, 0, 0.7);
  Dims weight = attr.sublayer == "toy" ? Dims{channels, channels} : Dims{channels};
  inputs.add("w_sub" + suffix, weight, attr.sublayer == "toy" ? 0 : 1, 1 / std::sqrt(channels), activation);
  if (random.flip())
    inputs.add("bias" + suffix, {channels}, 0, 0.5, activation);
}

/// Draws by itself: what else a seed means stays as it is.
static double randomDropout(uint64_t seed) {
  Random random(seed * 0x2545f4914f6cdd1du + 3);
  return random.flip(0.15) ? random.pick({0.1, 0.5}) : 0;
}

/// Draws by itself as well.
static void randomStart(uint64_t seed, Attributes &attr) {
  Random random(seed * 0x2545f4914f6cdd1du + 4);
  if (attr.init == "log")
    return;
  if (attr.init != "softmax_eps" && random.flip(0.4))
    attr.init = random.pick<const char *>({"exp_max", "exp_max", "sigmoid", "sigmoid_eps"});
  bool addsEps = attr.init == "softmax_eps" || attr.init == "sigmoid_eps";
  if (attr.denom == "add" && !addsEps && random.flip(0.4))
    attr.denom = "potentials";
}

static GatedDelta randomGatedDelta(Random &random) {
  GatedDelta sizes;
  sizes.keyHeads = random.between(1, 3);
  sizes.valueHeads = sizes.keyHeads * random.between(1, 3);
  sizes.keyDim = random.between(1, 6);
  sizes.valueDim = random.between(1, 6);
  sizes.width = random.between(1, 8);
  sizes.qkL2norm = random.flip(0.8);
  sizes.l2Eps = random.pick({1e-6, 1e-5, 1e-2});
  sizes.softplusThreshold = random.flip(0.7) ? 20 : random.pick({0.5, 10.0, 30.0});
  sizes.tokenFirst = random.flip();
  return sizes;
}

namespace {
/// The tokens in front of the first one of a row.
enum class Start { Zeros, Cuts, Boundary };
} // namespace

/// The same as `complete`, of the front end of a gated delta net.
static void completeGatedDelta(RandomCase &result, Random &random, uint64_t seed, int64_t batch, int64_t tokens,
                               Start start) {
  Case &golden = result.golden;
  golden.op = "pre_gdn";
  golden.variant = "random";
  golden.name = std::to_string(seed);
  golden.mode = "native";
  const GatedDelta &sizes = golden.gatedDelta;
  const Element activation = random.flip(0.3) ? Element::BF16 : Element::F32;
  const Element parameter = random.flip(0.8) ? activation : Element::F32;
  const int64_t convolved = sizes.convolved();
  auto rows = [&](int64_t count, int64_t channels) {
    return sizes.tokenFirst ? Dims{count, batch, channels} : Dims{batch, count, channels};
  };

  Inputs inputs(random, result);
  inputs.add("qkvzba", rows(tokens, sizes.channels()), 0, 1, activation);
  inputs.add("conv_weight", {convolved, 1, sizes.width}, 0, 1 / std::sqrt(sizes.width), parameter);
  if (random.flip(0.4))
    inputs.add("conv_bias", {convolved}, 0, 0.5, parameter);
  inputs.add("A_log", {sizes.valueHeads}, 0.5, 0.5, parameter);
  inputs.add("dt_bias", {sizes.valueHeads}, 0, 1, parameter);
  if (start == Start::Cuts)
    inputs.addCuts("cu_seqlens", random.between(1, 3), tokens);
  if (start == Start::Boundary)
    inputs.add("left_boundary", rows(sizes.width - 1, convolved), 0, 1, activation);
  const Dims key{batch, tokens, sizes.valueHeads, sizes.keyDim}, value{batch, tokens, sizes.valueHeads, sizes.valueDim};
  const Dims each{batch, tokens, sizes.valueHeads};
  golden.outputs = {{"query", "", key, activation},  {"key", "", key, activation},   {"value", "", value, activation},
                    {"gate", "", value, activation}, {"beta", "", each, activation}, {"g", "", each, Element::F32}};
  result.ir = caseToIr(golden, result.spelling, "case");
}

RandomCase gatedDeltaCase(uint64_t seed) {
  Random random(seed * 0x2545f4914f6cdd1du + 5);
  RandomCase result;
  for (const Word &word : gatedDeltaWords())
    if (random.flip(0.2))
      word.say(result.spelling);
  result.spelling.swapSeed = random.next() | 1;
  result.spelling.gatedDelta.asOp = random.flip(0.3);
  result.golden.gatedDelta = randomGatedDelta(random);
  Start start = random.pick({Start::Zeros, Start::Zeros, Start::Cuts, Start::Boundary});
  if (start == Start::Boundary) // of a width of 1 it would be empty
    result.golden.gatedDelta.width = std::max<int64_t>(2, result.golden.gatedDelta.width);
  const int64_t batch = start == Start::Cuts ? 1 : random.between(1, 2);
  completeGatedDelta(result, random, seed, batch, random.between(1, 9), start);
  return result;
}

RandomCase plainGatedDelta(uint64_t seed, Prepare prepare) {
  Random random(seed * 0x2545f4914f6cdd1du + 6);
  RandomCase result;
  GatedDelta &sizes = result.golden.gatedDelta = randomGatedDelta(random);
  // Found are so far those of several heads, without cuts, with as many tokens as the convolution has taps; and those
  // with a boundary in any words where they are one sequence. One tap does not tell tokens from sequences.
  sizes.valueHeads = std::max<int64_t>(2, sizes.valueHeads);
  sizes.width = std::max<int64_t>(2, sizes.width);
  Start start = random.flip(0.3) ? Start::Boundary : Start::Zeros;
  const int64_t batch = start == Start::Boundary ? 1 : random.between(1, 2);
  int64_t channels = sizes.channels();
  if (prepare)
    prepare(result, channels);
  completeGatedDelta(result, random, seed, batch, random.between(std::max<int64_t>(3, sizes.width), 9), start);
  return result;
}

static std::string randomOp(Random &random) { return random.flip(0.3) ? "stack" : "sublayer"; }

/// Fills in the program of op, attributes and spelling that are drawn, and its inputs.
static void complete(RandomCase &result, Random &random, uint64_t seed, int64_t tokens, int64_t channels) {
  Case &golden = result.golden;
  golden.variant = "random";
  golden.name = std::to_string(seed);
  golden.mode = "native";
  const Attributes &attr = golden.attributes;
  Element activation = random.flip(0.15) ? Element::BF16 : Element::F32;
  Dims single{tokens, channels}, many = streams(attr, tokens, channels);

  Inputs inputs(random, result);
  bool stack = golden.op == "stack";
  inputs.add("x", stack ? single : many, 0, 1, activation);
  for (int64_t site = 0; site < (stack ? attr.sites : 1); ++site)
    addSite(inputs, random, attr, stack ? std::to_string(site) : "", channels, activation);
  if (!stack && random.flip(0.3))
    inputs.add("norm_weight", {attr.n * channels}, 1, 0.3);
  if (stack && attr.contract == "head") {
    int64_t inner = attr.n * channels;
    inputs.add("head_phi", attr.phiLayout == "in_out" ? Dims{inner, attr.n} : Dims{attr.n, inner}, 0,
               1 / std::sqrt(inner));
    inputs.add("head_alpha", {1}, 0.7, 0.3);
    inputs.add("head_beta", {attr.n}, 0, 0.7);
  }
  if (!stack)
    golden.outputs = {{"out", "", many, activation}, {"agg", "", single, activation}};
  else if (attr.contract != "none")
    golden.outputs = {{"out", "", single, activation}};
  if (stack && (golden.outputs.empty() || random.flip()))
    golden.outputs.push_back({"streams", "", many, activation});
  result.ir = caseToIr(golden, result.spelling, "case");
}

RandomCase randomCase(uint64_t seed, Prepare prepare) {
  Random random(seed * 0x2545f4914f6cdd1du + 1);
  RandomCase result;
  result.spelling = randomSpelling(random);
  result.golden.attributes = randomAttributes(random);
  result.golden.attributes.dropout = randomDropout(seed);
  randomStart(seed, result.golden.attributes);
  result.golden.op = randomOp(random);
  int64_t tokens = random.between(1, 9), channels = random.between(1, 40);
  if (prepare)
    prepare(result, channels);
  complete(result, random, seed, tokens, channels);
  return result;
}

RandomCase plainCase(uint64_t seed, Prepare prepare) {
  Random random(seed * 0x2545f4914f6cdd1du + 2);
  RandomCase result;
  Attributes &attr = result.golden.attributes = randomAttributes(random);
  attr.dropout = randomDropout(seed);
  randomStart(seed, attr);
  attr.n = random.flip(0.5) ? 4 : random.between(2, 6);
  attr.res = random.flip(0.15) && attr.n <= 4 ? "perm" : "sinkhorn";
  attr.sites = random.between(1, 2);
  attr.iters = random.between(1, 6);
  bool addsEps = attr.init == "softmax_eps" || attr.init == "sigmoid_eps";
  if (addsEps && attr.denom != "add") { // there is no op with another denominator
    attr.denom = "add";
    attr.skEps = 1e-6;
  }
  // With more channels than streams and several tokens, every dimension is what it seems to be.
  int64_t tokens = random.between(2, 5), channels = random.between(attr.n + 1, 20);
  result.golden.op = randomOp(random);
  if (prepare)
    prepare(result, channels);
  complete(result, random, seed, tokens, channels);
  return result;
}

bool copyInput(const mhcrt::HostTensor &input, int32_t dtype, mhcrt::HostTensor &copy, std::string &error) {
  if (input.dtype() != MHCRT_I32)
    return mhcrt::convert(input.get(), dtype, copy, error);
  if (!copy.allocate(MHCRT_I32, input.dims(), error))
    return false;
  std::memcpy(copy.data(), input.data(), input.bytes());
  return true;
}

} // namespace mhc::conformance
