//===- MutationRunner.cpp - Raises programs that may no longer be mHC -----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that raising and fusing keep the results of random mutants.
//
//===----------------------------------------------------------------------===//
#include "Baseline.h"
#include "Conformance/Mutation.h"
#include "Conformance/RandomCase.h"
#include "Conformance/Runner.h"

#include <ostream>

namespace mhc::conformance {

static constexpr int kAttempts = 30, kMostChanges = 3;

namespace {

struct Mutant {
  Compiler::Module module;
  Baseline baseline;
};

} // namespace

/// A changed copy that still means something; nothing where the draw was bad.
static std::optional<Mutant> tryMutant(Compiler &compiler, mlir::ModuleOp original, const Tensors &arguments,
                                       Random &random) {
  Compiler::Module module(original.clone());
  auto func = module->lookupSymbol<mlir::func::FuncOp>(kEntry);
  for (int64_t i = random.between(1, kMostChanges); i > 0; --i)
    if (!mutate(func, random))
      return std::nullopt;
  std::optional<Baseline> baseline = baselineOf(compiler, *module, arguments, random);
  if (!baseline)
    return std::nullopt;
  return Mutant{std::move(module), std::move(*baseline)};
}

/// Errors of raising; empty when the results are kept.
static std::string checkMutant(Compiler &compiler, Mutant &mutant, const Tensors &arguments) {
  std::string problem;
  if (!raiseAndFuse(compiler, *mutant.module, problem))
    return problem;
  auto results = evaluate(compiler, *mutant.module, kEntry, arguments);
  if (!results)
    return "  " + llvm::toString(results.takeError()) + "\n";
  return describeChange(mutant.baseline, *results);
}

MutationCounts runMutants(const Options &options, std::ostream &out) {
  MutationCounts counts;
  for (uint64_t seed = options.seed; seed < options.seed + options.count; ++seed) {
    RandomCase original = anyCase(seed);
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
    std::string problem = checkMutant(compiler, *mutant, *arguments);
    ++counts.programs;
    counts.raised += isRaised(*mutant->module);
    counts.wrong += !problem.empty();
    if (!problem.empty())
      out << "WRONG mutant, --seed=" << seed << "\n" << problem << text << "\n";
  }
  return counts;
}

} // namespace mhc::conformance
