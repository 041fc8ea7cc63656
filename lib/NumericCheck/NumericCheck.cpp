//===- NumericCheck.cpp - Compares what is raised with what it becomes -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/NumericCheck/NumericCheck.h"
#include "Samples.h"
#include "Slice.h"
#include "mhc/Reference/Evaluator.h"
#include "mhc/Transforms/Decompose.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace mhc;
using reference::HostTensor;

/// More than this takes longer than a second.
static constexpr double kMostWork = 1e8;
/// Eight roundings of f32: Raise takes constants as equal that are equal in f32, such as 1/K and a division by K.
static constexpr double kPrecision = 0x1p-21;
/// Where f32 constants are moved by their roundoff, a result may move by more: as many times what moving the inputs
/// does.
static constexpr double kAmplification = 8;
/// Relative to the largest element: smaller values are cancellation in float64.
static constexpr double kCancellation = 0x1p-40;

namespace {
/// Two values at one place of two lists.
struct Pair {
  const HostTensor &was, &becomes;
  const HostTensor *moved; ///< `was` from disturbed inputs

  struct Difference {
    double was, becomes;
  };
  std::optional<Difference> find() const;

private:
  /// The largest finite magnitude of `tensor - other`.
  static double largest(ArrayRef<double> tensor, ArrayRef<double> other = {}) {
    double result = 0;
    for (size_t i = 0; i < tensor.size(); ++i)
      if (double size = std::fabs(tensor[i] - (other.empty() ? 0 : other[i])); std::isfinite(size))
        result = std::max(result, size);
    return result;
  }
};
} // namespace

/// Rows are compared on their own: tokens differ in kind. What was not finite says nothing.
std::optional<Pair::Difference> Pair::find() const {
  double floor = kCancellation * largest(was.values());
  size_t rows = was.rank() == 0 ? 1 : was.shape()[0], width = rows == 0 ? 0 : was.size() / rows;
  for (size_t row = 0; row < rows; ++row) {
    ArrayRef<double> before = was.values().slice(row * width, width),
                     after = becomes.values().slice(row * width, width);
    double tolerance = floor + kPrecision * largest(before);
    if (moved)
      tolerance += kAmplification * largest(before, moved->values().slice(row * width, width));
    for (auto [a, b] : llvm::zip_equal(before, after))
      if (std::isfinite(a) && !(std::fabs(a - b) <= tolerance))
        return Difference{a, b};
  }
  return std::nullopt;
}

/// The results of `func`; nothing where it cannot be evaluated.
static std::optional<Samples> evaluate(func::FuncOp func, const Samples &samples) {
  auto results = reference::evaluate(func, samples);
  if (llvm::errorToBool(results.takeError()))
    return std::nullopt;
  return std::move(*results);
}

/// Whether the results of `func` agree, the first half with the second.
static NumericCheck::Verdict compare(func::FuncOp func) {
  for (SampleSet set : kSampleSets) {
    Samples samples = makeSamples(func, set);
    std::optional<Samples> results = evaluate(func, samples), moved;
    if (!results)
      return {NumericCheck::Unknown, {}};
    size_t count = results->size() / 2;
    for (size_t i = 0; i < count; ++i) {
      if ((*results)[i].shape() != (*results)[count + i].shape())
        return {NumericCheck::Unknown, {}};
      Pair pair{(*results)[i], (*results)[count + i], nullptr};
      if (!pair.find())
        continue;
      if (!moved && !(moved = evaluate(func, disturbed(samples))))
        return {NumericCheck::Unknown, {}};
      pair.moved = &(*moved)[i];
      if (auto difference = pair.find())
        return {NumericCheck::Different,
                llvm::formatv("{0:e} in place of {1:e}", difference->becomes, difference->was)};
    }
  }
  return {NumericCheck::Equal, {}};
}

NumericCheck::Verdict NumericCheck::judge(const Slice &slice) {
  auto [entry, isNew] = known.try_emplace(slice.key());
  if (!isNew)
    return entry->second;
  OwningOpRef<ModuleOp> module = slice.toModule();
  auto func = cast<func::FuncOp>(module->getBody()->front());
  decomposeOps(func);
  if (workOf(func) > kMostWork)
    return entry->second = {Unknown, {}};
  ++numbers.evaluated;
  return entry->second = compare(func);
}

std::optional<std::string> NumericCheck::findDifference(ArrayRef<Value> was, ArrayRef<Value> becomes) {
  ++numbers.compared;
  std::optional<Slice> slice = sliceOf(was, becomes, Depth::ToShared);
  Verdict verdict = slice ? judge(*slice) : Verdict();
  // Where they differ, they may still agree because of how the values that both are computed from depend on each other.
  if (verdict.kind == Different)
    if (std::optional<Slice> whole = sliceOf(was, becomes, Depth::ToArguments); whole && judge(*whole).kind == Equal)
      verdict.kind = Equal;
  numbers.unknown += verdict.kind == Unknown;
  return verdict.kind == Different ? std::optional(verdict.difference) : std::nullopt;
}
