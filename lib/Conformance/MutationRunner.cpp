//===- MutationRunner.cpp - Raises programs that may no longer be mHC -----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What raising and fusing make of a program means what the program meant, whatever it is.
//
//===----------------------------------------------------------------------===//
#include "mhc/Conformance/Mutation.h"
#include "mhc/Conformance/RandomCase.h"
#include "mhc/Conformance/Runner.h"
#include "mhc/Driver/Run.h"
#include "mhc/IR/MhcInterfaces.h"
#include "mlir/IR/Verifier.h"

#include <cmath>
#include <ostream>

namespace mhc::conformance {

static constexpr int kAttempts = 30, kMostChanges = 3;
static constexpr const char *kEntry = "case";
/// Raising takes constants as equal that are equal in f32.
static constexpr double kPrecision = 1e-6;
/// The most that such roundings may move a result, relative to its largest value. Behind what amplifies more, a wrong
/// raise could hide.
static constexpr double kMostNoise = 1e-4;

namespace {

struct Mutant {
  Compiler::Module module;
  Tensors results;
  std::vector<double> tolerances;
};

} // namespace

/// How far rounded constants may move a result, where rounding the arguments moves it to `other`. Nothing is rounded in
/// between: the evaluator computes in float64. No value where a wrong raise could move the result no further.
static std::optional<double> toleranceOf(const mhcrt::HostTensor &result, const mhcrt::HostTensor &other) {
  double size = largestMagnitude(result);
  double tolerance = kPrecision * size + largestDifference(result, other);
  if (!std::isfinite(size) || !(tolerance <= kMostNoise * size))
    return std::nullopt;
  return tolerance;
}

/// A changed copy that still verifies and computes finite numbers, which rounding hardly moves; nothing where the draw
/// was bad.
static std::optional<Mutant> tryMutant(Compiler &compiler, mlir::ModuleOp original, const Tensors &arguments,
                                       Random &random) {
  Mutant mutant{Compiler::Module(original.clone()), {}, {}};
  auto func = mutant.module->lookupSymbol<mlir::func::FuncOp>(kEntry);
  for (int64_t i = random.between(1, kMostChanges); i > 0; --i)
    if (!mutate(func, random))
      return std::nullopt;
  auto verifies = [&] { return succeeded(mlir::verify(*mutant.module)); };
  if (llvm::errorToBool(compiler.withDiagnostics("it does not verify", verifies)))
    return std::nullopt;
  auto results = evaluate(compiler, *mutant.module, kEntry, arguments);
  auto others = evaluate(compiler, *mutant.module, kEntry, disturbed(arguments, random.between(0, INT_MAX)));
  if (!results || !others) {
    llvm::consumeError(results.takeError());
    llvm::consumeError(others.takeError());
    return std::nullopt;
  }
  for (auto [result, other] : llvm::zip(*results, *others)) {
    std::optional<double> tolerance = toleranceOf(result, other);
    if (!tolerance)
      return std::nullopt;
    mutant.tolerances.push_back(*tolerance);
  }
  mutant.results = std::move(*results);
  return mutant;
}

/// What raising did wrong; empty when the meaning is kept.
static std::string checkMutant(Compiler &compiler, Mutant &mutant, const Case &golden, const Tensors &arguments,
                               bool &raised) {
  if (llvm::Error error = compiler.run(*mutant.module, CompileOptions(), Phase::fuse))
    return "  " + llvm::toString(std::move(error)) + "\n";
  raised = mutant.module->walk([](DecomposableOpInterface) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
  auto results = evaluate(compiler, *mutant.module, kEntry, arguments);
  if (!results)
    return "  " + llvm::toString(results.takeError()) + "\n";
  std::string report;
  for (size_t i = 0; i < results->size(); ++i) {
    double difference = largestDifference(mutant.results[i], (*results)[i]);
    if (!(difference <= mutant.tolerances[i]))
      report += "  '" + golden.outputs[i].name + "' changes by " + std::to_string(difference) + "; tolerance " +
                std::to_string(mutant.tolerances[i]) + "\n";
  }
  return report;
}

/// f64 to f32, which holds what was drawn.
static llvm::Expected<Tensors> toF32(const Tensors &wide) {
  Tensors result(wide.size());
  std::string error;
  for (auto [from, to] : llvm::zip_equal(wide, result))
    if (!mhcrt::convert(from.get(), MHCRT_F32, to, error))
      return llvm::createStringError(error);
  return result;
}

MutationCounts runMutants(const Options &options, std::ostream &out) {
  MutationCounts counts;
  for (uint64_t seed = options.seed; seed < options.seed + options.mutate; ++seed) {
    RandomCase original = randomCase(seed);
    Random random(~seed);
    Compiler compiler;
    auto module = compiler.parseText(original.ir);
    auto arguments = toF32(original.inputs);
    if (llvm::Error error = llvm::joinErrors(module.takeError(), arguments.takeError())) {
      out << llvm::toString(std::move(error)) << "\n";
      ++counts.wrong;
      continue;
    }
    std::optional<Mutant> mutant;
    for (int attempt = 0; attempt < kAttempts && !mutant; ++attempt)
      mutant = tryMutant(compiler, **module, *arguments, random);
    if (!mutant)
      continue;
    std::string text;
    llvm::raw_string_ostream(text) << **mutant->module;
    bool raised = false;
    std::string problem = checkMutant(compiler, *mutant, original.golden, *arguments, raised);
    ++counts.programs;
    counts.raised += raised;
    counts.wrong += !problem.empty();
    if (!problem.empty())
      out << "WRONG mutant, --seed=" << seed << "\n" << problem << text << "\n";
  }
  return counts;
}

} // namespace mhc::conformance
