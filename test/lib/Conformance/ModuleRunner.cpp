//===- ModuleRunner.cpp - Random modules, fused and unfused ---------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares a module, compiled at each level of fusion, with the float64 evaluator's results for the module as it is
// written.
//
//===----------------------------------------------------------------------===//
#include "Conformance/RandomGraph.h"
#include "Conformance/Runner.h"
#include "Expectation.h"
#include "Reduction.h"
#include "mhc/IR/MhcInterfaces.h"
#include "mhc/Support/Output.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <filesystem>
#include <ostream>

namespace mhc::conformance {

/// One module in so many is compiled as for users; loops compile ten times as fast without optimisation.
static constexpr uint64_t kOptimizeEvery = 64;

namespace {

struct Level {
  const char *name;
  FuseLevel fuse;
};

} // namespace

static constexpr Level kLevels[] = {{"fuse=none", FuseLevel::none},
                                    {"fuse=chain", FuseLevel::chain},
                                    {"fuse=layer", FuseLevel::layer},
                                    {"fuse=model", FuseLevel::model}};

static llvm::Expected<Tensors> compileAndRun(Compiler &compiler, mlir::ModuleOp module, const Tensors &arguments,
                                             const CompileOptions &options) {
  Compiler::Module copy(module.clone());
  auto model = compiler.jit(*copy, options);
  if (!model)
    return model.takeError();
  return runOnce((*model)->get(), kGraph, arguments, /*threads=*/1);
}

/// Whether the compiler finds an mHC op in the module.
static bool isRaised(Compiler &compiler, mlir::ModuleOp module) {
  Compiler::Module copy(module.clone());
  llvm::consumeError(compiler.run(*copy, CompileOptions(), Phase::raise));
  return copy->walk([](DecomposableOpInterface) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
}

/// A copy in which the chains that define mHC ops stand for them: those judge what a module has of such ops.
static Compiler::Module inLeafOps(mlir::ModuleOp module) {
  Compiler::Module copy(module.clone());
  mlir::OpBuilder builder(module.getContext());
  auto decompose = [&](DecomposableOpInterface op) {
    builder.setInsertionPoint(op);
    op->replaceAllUsesWith(op.decompose(builder));
    op->erase();
    return mlir::WalkResult::interrupt(); // the chain may have such ops as well
  };
  while (copy->walk(decompose).wasInterrupted())
    ;
  return copy;
}

static Verdict checkModule(Compiler &compiler, mlir::ModuleOp module, const Tensors &arguments, unsigned optLevel,
                           ModuleCounts &counts) {
  Compiler::Module leafOps = inLeafOps(module);
  Expectation expectation(*leafOps, kGraph, arguments);
  if (llvm::Error error = expectation.evaluate())
    return errorOf("reference", std::move(error));
  CompileOptions options;
  options.optLevel = optLevel;
  for (Level level : kLevels) {
    options.fuse = level.fuse;
    auto got = compileAndRun(compiler, module, arguments, options);
    if (!got)
      return errorOf(level.name, got.takeError());
    auto problem = expectation.judge(*got, counts);
    if (!problem)
      return errorOf(level.name, problem.takeError());
    if (!problem->empty())
      return {Outcome::Wrong, std::string("  ") + level.name + "\n" + *problem};
  }
  return {};
}

static RandomGraph drawModule(Compiler &compiler, uint64_t seed) {
  Random random(seed * 0x9e3779b97f4a7c15u + 3);
  return randomModule(compiler, random);
}

static Verdict emitSeed(uint64_t seed, const std::string &folder) {
  Compiler compiler;
  std::error_code failed; // shows when the file is written
  std::filesystem::create_directories(folder, failed);
  std::string text;
  llvm::raw_string_ostream(text) << *drawModule(compiler, seed).module << "\n";
  if (llvm::Error error = writeFile(folder + "/" + std::to_string(seed) + ".mlir", text))
    return {Outcome::Error, "  " + llvm::toString(std::move(error)) + "\n"};
  return {};
}

static Verdict checkSeed(uint64_t seed, ModuleCounts &counts) {
  Compiler compiler;
  RandomGraph graph = drawModule(compiler, seed);
  unsigned optLevel = seed % kOptimizeEvery ? 0 : 2;
  auto check = [&](mlir::ModuleOp module, ModuleCounts &counts) {
    return checkModule(compiler, module, graph.arguments, optLevel, counts);
  };
  counts.raised += isRaised(compiler, *graph.module);
  Verdict verdict = check(*graph.module, counts);
  if (verdict.outcome == Outcome::Good)
    return verdict;
  ModuleCounts unused;
  auto smallest =
      reduce(*graph.module, kGraph, [&](mlir::ModuleOp m) { return check(m, unused).outcome == verdict.outcome; });
  Verdict last = check(*smallest, unused);
  llvm::raw_string_ostream(verdict.problem) << "reduced:\n" << last.problem << *smallest << "\n";
  return verdict;
}

ModuleCounts runModules(const Options &options, std::ostream &out) {
  ModuleCounts counts;
  for (uint64_t seed = options.seed; seed < options.seed + options.count; ++seed) {
    Verdict verdict = options.emit.empty() ? checkSeed(seed, counts) : emitSeed(seed, options.emit);
    ++(verdict.outcome == Outcome::Good ? counts.passed : counts.failed);
    if (verdict.outcome != Outcome::Good)
      out << "FAIL random module, --seed=" << seed << "\n" << verdict.problem << std::flush;
  }
  return counts;
}

} // namespace mhc::conformance
