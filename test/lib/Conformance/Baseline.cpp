//===- Baseline.cpp - Results of a program before raising -----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Baseline.h"
#include "Conformance/RandomCase.h"
#include "mhc/IR/MhcInterfaces.h"

#include <climits>
#include <cmath>

namespace mhc::conformance {

/// Raising takes constants as equal that are equal in f32.
static constexpr double kPrecision = 1e-6;
/// The most that such roundings may move a result, relative to its largest value. Behind what amplifies more, a wrong
/// raise could hide.
static constexpr double kMostNoise = 1e-4;
/// Residue of numbers of order one that cancel in float64: of 1 + tanh, say, far on the negative side.
static constexpr double kCancelled = 0x1p-50;
/// Number of roundings of the arguments: one alone may move a result by less than the constants do.
static constexpr int kRoundings = 3;

/// How far rounded constants may move a result, where rounding the arguments moves it by `moved`. Nothing is rounded in
/// between: the evaluator computes in float64. No value where a wrong raise could move the result no further.
static std::optional<double> toleranceOf(const mhcrt::HostTensor &result, double moved) {
  double size = largestMagnitude(result);
  double tolerance = kPrecision * size + moved + kCancelled;
  if (!std::isfinite(size) || !(tolerance <= kMostNoise * size + kCancelled))
    return std::nullopt;
  return tolerance;
}

std::optional<Baseline> baselineOf(Compiler &compiler, mlir::ModuleOp module, const Tensors &arguments,
                                   Random &random) {
  if (llvm::errorToBool(compiler.verify(module)))
    return std::nullopt;
  auto leafOps = toLeafOps(compiler, module, CompileOptions());
  if (llvm::errorToBool(leafOps.takeError()))
    return std::nullopt;
  auto results = evaluateLeafOps(**leafOps, kEntry, arguments);
  if (llvm::errorToBool(results.takeError()))
    return std::nullopt;
  Baseline baseline{std::move(*leafOps), std::move(*results), {}};
  std::vector<double> moved(baseline.results.size());
  for (int i = 0; i < kRoundings; ++i) {
    auto others = evaluateLeafOps(*baseline.leafOps, kEntry, disturbed(arguments, random.between(0, INT_MAX)));
    if (llvm::errorToBool(others.takeError()))
      return std::nullopt;
    for (auto [most, result, other] : llvm::zip(moved, baseline.results, *others))
      most = std::max(most, largestDifference(result, other));
  }
  for (auto [result, most] : llvm::zip(baseline.results, moved)) {
    std::optional<double> tolerance = toleranceOf(result, most);
    if (!tolerance)
      return std::nullopt;
    baseline.tolerances.push_back(*tolerance);
  }
  return baseline;
}

bool raiseAndFuse(Compiler &compiler, mlir::ModuleOp module, std::string &problem) {
  llvm::Error error = compiler.run(module, CompileOptions(), Phase::fuse);
  bool good = !error;
  if (!good)
    problem = "  " + llvm::toString(std::move(error)) + "\n";
  return good;
}

bool isRaised(mlir::ModuleOp module) {
  return module->walk([](DecomposableOpInterface) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
}

std::string describeChange(const Baseline &before, const Tensors &after) {
  std::string report;
  for (size_t i = 0; i < after.size(); ++i) {
    double difference = largestDifference(before.results[i], after[i]);
    if (!(difference <= before.tolerances[i]))
      report += "  result " + std::to_string(i) + " changes by " + std::to_string(difference) + "; tolerance " +
                std::to_string(before.tolerances[i]) + "\n";
  }
  return report;
}

llvm::Expected<Tensors> toF32(const Tensors &wide) {
  Tensors result(wide.size());
  std::string error;
  for (auto [from, to] : llvm::zip_equal(wide, result))
    if (!copyInput(from, MHCRT_F32, to, error))
      return llvm::createStringError(error);
  return result;
}

} // namespace mhc::conformance
