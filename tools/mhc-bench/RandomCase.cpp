//===- RandomCase.cpp - A kernel at a random shape ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomCase.h"
#include "mhcrt/kernels.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace mhc;
using namespace mhc::bench;

namespace {
/// Draws one case.
class Draw {
public:
  Draw(const KernelInfo &info, std::mt19937_64 &random, int64_t streams)
      : info(info), random(random), formats(random), streams(streams), isTuned(flip(0.5)) {}

  Case run();

private:
  int64_t between(int64_t least, int64_t most) { return least + static_cast<int64_t>(random() % (most - least + 1)); }
  bool flip(double probability) { return between(0, 999) < 1000 * probability; }
  template <typename T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[between(0, values.size() - 1)];
  }

  int64_t channels();
  llvm::StringMap<double> sizesByLetter();
  llvm::StringMap<double> headSizes();
  double attribute(const KernelAttr &attr);
  double format();
  double layout();
  double solver();
  bool isOfEqualStreams(const KernelAttr &attr) const;
  double equal(const KernelAttr &attr);
  int32_t dtypeOf(unsigned index);
  int64_t listLength(llvm::StringRef name);
  bool isAbsent(unsigned index);
  CaseTensor tensor(const Case &c, unsigned index);

  const KernelInfo &info;
  std::mt19937_64 &random;
  std::mt19937_64 formats;
  int64_t streams; ///< 0 for any number
  bool isTuned;    ///< four streams, mostly one after the other and bf16, of a width that models have
  int32_t activation = MHCRT_BF16;
  bool hasAllResults = true;
  int64_t layers = 1, inputs = 1; ///< of mhc.rebuild
};
} // namespace

int64_t Draw::channels() {
  if (isTuned)
    return pick<int64_t>({128, 256, 640, 768, 1024, 1280, 1536, 2048, 2560, 3072, 3584, 4096, 5120, 6144, 6656, 7168,
                          8192, 12288, 16384});
  return flip(0.5) ? pick<int64_t>({1, 7, 32, 33, 64, 129, 300, 1280, 4100, 5129}) : between(1, 600);
}

/// Sizes of a gated delta net, whose heads are often like those of models.
llvm::StringMap<double> Draw::headSizes() {
  const bool isUsual = flip(0.5);
  const auto width = [&] { return isUsual ? pick<int64_t>({16, 24, 32, 64, 96, 128, 256}) : between(1, 70); };
  return {{"M", flip(0.3) ? pick<int64_t>({0, 1, 2, 130}) : between(1, flip(0.2) ? 300 : 40)},
          {"b", pick<int64_t>({1, 1, 1, 2, 3})},
          {"k", isUsual ? pick<int64_t>({2, 3, 4, 4}) : between(1, 8)},
          {"hv", isUsual ? pick<int64_t>({4, 8, 8, 12}) : pick<int64_t>({1, 2, 3, 4, 6, 8})},
          {"dk", width()},
          {"dv", width()},
          {"s", between(2, 9)}};
}

/// Sums over K and over M stay short enough for a reference that multiplies one by one; one case in twenty is longer.
llvm::StringMap<double> Draw::sizesByLetter() {
  if (llvm::is_contained(info.dims, "hv"))
    return headSizes();
  const int64_t drawn = isTuned ? 4 : between(1, 16), n = streams ? streams : drawn, C = channels();
  const int64_t R = isTuned || flip(0.8) ? n * n : between(1, 24);
  const int64_t N = isTuned || flip(0.8) ? 2 * n + R : flip(0.5) ? n : between(1, 40);
  const int64_t most = (flip(0.05) ? int64_t{1} << 25 : int64_t{1} << 21) / (n * C * (N + n));
  const int64_t wanted = flip(0.4) ? pick<int64_t>({0, 1, 13}) : between(1, flip(0.2) ? 1000 : 70);
  const int64_t M = std::min(wanted, std::max<int64_t>(most, 1));
  return {{"M", M},
          {"C", C},
          {"n", n},
          {"R", R},
          {"N", N},
          {"A", pick<int64_t>({1, 3, 3})},
          {"K", between(1, 300)}, // of products; of projections a rule has it
          {"B", between(0, 20)},
          {"V", between(1, 50)},
          {"E", between(0, 5000)}};
}

double Draw::attribute(const KernelAttr &attr) {
  switch (attr.kind) {
  case KernelAttr::Int:
    return attr.name == "iters"           ? pick({1, 2, 5, 20, 20})
           : attr.name.ends_with("heads") ? pick({1, 1, 2, 3})
                                          : between(0, 1 << 20);
  case KernelAttr::Float:
    return attr.name.ends_with("eps") ? pick({1e-6, 1e-6, 1e-5, 1e-2})
           : attr.name == "rate"      ? pick({0.0, 0.1, 0.5, 0.9})
                                      : pick({1.0, 2.0}); // of a threshold as well: random numbers reach it
  case KernelAttr::Enum: {
    int64_t values = 0;
    while (!attr.stringify(values).empty())
      ++values;
    if (attr.whenAbsent && flip(0.7))
      return *attr.whenAbsent;
    return isTuned && attr.name == "layout" ? layout() : between(0, values - 1);
  }
  case KernelAttr::Bool:
  case KernelAttr::Unit:
    return flip(0.5);
  }
  llvm_unreachable("all kinds are above");
}

/// From a copy of the generator, so that seeds that once failed still draw the same shapes and elements.
double Draw::format() {
  constexpr int kCases[] = {MHCRT_FORMAT_F32, MHCRT_FORMAT_F32, MHCRT_FORMAT_BF16, MHCRT_FORMAT_F16};
  return kCases[formats() % std::size(kCases)];
}

/// Streams last in one case of four, likewise.
double Draw::layout() { return formats() % 4 == 0 ? MHCRT_LAYOUT_CN : MHCRT_LAYOUT_NC; }

/// A matrix's limit in one case of four, likewise.
double Draw::solver() { return formats() % 4 == 0 ? MHCRT_SOLVER_NEWTON : MHCRT_SOLVER_SINKHORN; }

bool Draw::isOfEqualStreams(const KernelAttr &attr) const {
  return llvm::any_of(info.tensors, [&](const KernelTensor &tensor) { return tensor.equalAttr == attr.name; });
}

/// Set in one case of four, likewise.
double Draw::equal(const KernelAttr &attr) {
  if (formats() % 4 != 0)
    return 0;
  return attr.kind == KernelAttr::Enum ? 1 + formats() % 2 : 1;
}

/// The record names the tensor that another one is like, but not which tensors may be 16 bits wide by themselves.
int32_t Draw::dtypeOf(unsigned index) {
  const KernelTensor &tensor = info.tensors[index];
  if (tensor.integerBits)
    return tensor.integerBits == 32 ? MHCRT_I32 : MHCRT_I64;
  if (isActivation(info, index) && tensor.elementOf < 0)
    return activation;
  if (tensor.elementOf >= 0) {
    const bool isNarrow = !tensor.orF32 || (isTuned && hasTokens(info, index)) || flip(0.5);
    return isNarrow ? activation : int32_t(MHCRT_F32);
  }
  return hasActivations(info) ? int32_t(MHCRT_F32) : pick<int32_t>({MHCRT_F32, MHCRT_F32, activation});
}

/// The number of layers, or of their inputs, or none of what may be left out.
int64_t Draw::listLength(llvm::StringRef name) {
  return name == "u" || name == "h_pre"     ? inputs
         : name == "bias" || name == "seed" ? pick({int64_t{0}, layers})
                                            : layers;
}

bool Draw::isAbsent(unsigned index) {
  const KernelTensor &tensor = info.tensors[index];
  if (!tensor.isOptional || (tensor.name == "y" && !tensor.isResult)) // whose statistic is an operand
    return false;
  // Optional later than others, and drawn like formats.
  if (llvm::is_contained({"u", "d_u", "h_in", "u_norm_weight"}, tensor.name))
    return formats() % 3 == 0;
  return tensor.isResult && hasAllResults ? isTuned && tensor.name == "d_bias" : flip(0.4);
}

CaseTensor Draw::tensor(const Case &c, unsigned index) {
  const KernelTensor &tensor = info.tensors[index];
  const int64_t count = tensor.isList ? listLength(tensor.name) : isAbsent(index) ? 0 : 1;
  if (count == 0)
    return {0, MHCRT_NONE, 0, 0, false};
  double elements = 1, smallest = INFINITY;
  for (unsigned dim : dimsOf(c, index)) {
    elements *= c.values.dims[dim];
    smallest = std::min(smallest, c.values.dims[dim]);
  }
  // Rows of a weight or of a mix have length one, so that a product is as large as its other operand.
  const bool isWeight = !hasTokens(info, index) && tensor.dims.size() > 1;
  const double scale = isWeight && elements > 0 ? 1 / std::sqrt(elements / smallest)
                       : tensor.name == "h_res" ? 1 / std::sqrt(smallest)
                                                : 1;
  return {count,
          dtypeOf(index),
          count * static_cast<int64_t>(elements),
          scale,
          tensor.name != "stat",
          tensor.indexOf < 0 ? INT32_MAX : static_cast<int64_t>(c.values.dims[tensor.indexOf]),
          tensor.cutsOf < 0 ? -1 : static_cast<int64_t>(c.values.dims[tensor.cutsOf])};
}

Case Draw::run() {
  Case c{&info, info.opName.drop_front(strlen("mhc.")).str(), {}, 0, {}, {}, 0, 0};
  if (!isTuned || flip(0.2))
    activation = pick<int32_t>({MHCRT_F32, MHCRT_BF16, MHCRT_F16});
  hasAllResults = flip(0.6);
  layers = between(1, 5), inputs = pick<int64_t>({0, layers, layers + 1});
  llvm::StringMap<double> letters = sizesByLetter();
  for (llvm::StringRef dim : info.dims)
    c.values.dims.push_back(letters.lookup(dim));
  for (const KernelAttr &attr : info.attrs)
    c.values.attrs.push_back(attr.name.ends_with("format") ? format()
                             : attr.name == "solver"       ? solver()
                             : attr.name == "u_norm_eps"   ? 1e-5
                             : isOfEqualStreams(attr)      ? equal(attr)
                                                           : attribute(attr));
  // A bound above or below all tokens: near it the rounding of a mean square would decide.
  if (double *norm = attributeOf(c, "norm"); norm && *norm == MHCRT_NORM_CLAMP && flip(0.5))
    *attributeOf(c, "norm_eps") = 4;
  if (double *solver = attributeOf(c, "solver"); solver && *solver == MHCRT_SOLVER_NEWTON)
    takeLimit(c, /*steps=*/100); // of logits that may be steep
  c.values.counts.resize(info.tensors.size());
  for (const KernelDimRule &rule : info.dimRules)
    c.values.dims[rule.dim] = rule.value(c.values);
  for (unsigned i = 0; i < info.tensors.size(); ++i)
    c.tensors.push_back(tensor(c, i));
  // A start without its result is dropped by the compiler, a norm without u is an error.
  for (auto [record, tensor] : llvm::zip(info.tensors, c.tensors))
    if ((record.startOf >= 0 && c.tensors[record.startOf].count == 0) ||
        (record.name == "u_norm_weight" && !hasOperand(c, "u")))
      tensor = {0, MHCRT_NONE, 0, 0, false};
  settleAttributes(c);
  c.dtype = activation;
  return c;
}

Case mhc::bench::randomCase(const KernelInfo &info, std::mt19937_64 &random, int64_t streams) {
  return Draw(info, random, streams).run();
}

/// Makes one token unlike the others: what it holds must not reach them. Logits may be steep.
static void disturb(const Case &c, unsigned index, std::vector<double> &values, std::mt19937_64 &random) {
  const llvm::StringRef name = c.info->tensors[index].name;
  if ((name == "logits" || name == "proj") && random() % 16 == 0)
    for (double &value : values)
      value *= 30;
  const bool isOfStreams = llvm::is_contained(c.info->dims, "n") && hasTokens(*c.info, index);
  if (!isOfStreams || values.empty() || c.tensors[index].count != 1 || random() % 10 != 0)
    return;
  const int64_t tokens = c.values.dims[c.info->tensors[index].dims.front()], width = values.size() / tokens;
  llvm::MutableArrayRef<double> token = llvm::MutableArrayRef(values).slice(random() % tokens * width, width);
  constexpr double kFactors[] = {0, 1e-6, 1e-30, 1e-40, 1e3, 1e12, NAN, INFINITY};
  double factor = kFactors[random() % std::size(kFactors)];
  if (name != "x" || c.tensors[index].dtype != MHCRT_F32)
    factor = std::min(factor, 1e3);
  if (std::isfinite(factor))
    for (double &value : token)
      value *= factor;
  else
    token[random() % width] *= factor;
}

std::vector<double> mhc::bench::randomElements(const Case &c, unsigned index, std::mt19937_64 &random) {
  const CaseTensor &tensor = c.tensors[index];
  std::vector<double> values(tensor.elements);
  if (tensor.cuts >= 0) {
    for (double &value : values)
      value = random() % (tensor.cuts + 1);
    values.front() = 0, values.back() = tensor.cuts;
    llvm::sort(values);
    return values;
  }
  if (tensor.dtype == MHCRT_I32 || tensor.dtype == MHCRT_I64) {
    for (double &value : values)
      value = random() % tensor.rows;
    return values;
  }
  std::normal_distribution<double> normal(0, tensor.scale);
  for (double &value : values)
    value = normal(random);
  disturb(c, index, values, random);
  if (!tensor.isNegativeToo) // away from 0, where the multiplier of a gradient would be its cube
    for (double &value : values)
      value = 0.1 + std::fabs(value);
  return values;
}
