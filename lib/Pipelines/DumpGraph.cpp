//===- DumpGraph.cpp - Programs as pictures ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/OpGraph.h"
#include "mhc/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

namespace mhc {
#define GEN_PASS_DEF_DUMPGRAPHPASS
#include "mhc/Pipelines/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

static std::vector<OpGraph> graphsOf(ModuleOp module, ArrayRef<Layer> layers) {
  std::vector<OpGraph> graphs;
  for (func::FuncOp func : module.getOps<func::FuncOp>())
    if (!func.isExternal())
      graphs.push_back(graphOf(func, layers));
  return graphs;
}

namespace {
class DumpGraphPass : public mhc::impl::DumpGraphPassBase<DumpGraphPass> {
public:
  using DumpGraphPassBase::DumpGraphPassBase;

  /// `--mhc-dump-graph=before,after` is short for `--mhc-dump-graph=pictures=before,after`.
  LogicalResult initializeOptions(StringRef options, function_ref<LogicalResult(const Twine &)> errorHandler) override {
    std::string named = options.str();
    if (!options.empty() && !options.contains('='))
      named = "pictures=" + named;
    if (failed(DumpGraphPassBase::initializeOptions(named, errorHandler)))
      return failure();
    for (const std::string &picture : pictures)
      if (picture != "before" && picture != "after")
        return errorHandler("'mhc-dump-graph' cannot draw '" + picture + "'; needed 'before' or 'after'");
    return success();
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager pm(ModuleOp::getOperationName());
    buildPipeline(pm, PipelineOptions(), Phase::fuse);
    pm.getDependentDialects(registry);
  }

  void runOnOperation() override {
    // A copy is no part of what the pass runs on, so that Pass::runPipeline does not take it.
    PassManager input(&getContext()), fuse(&getContext());
    buildPipeline(input, PipelineOptions(), Phase::input);
    buildPipeline(fuse, PipelineOptions(), Phase::input, Phase::fuse);
    OwningOpRef<ModuleOp> before = getOperation().clone();
    if (failed(input.run(*before)))
      return signalPassFailure();
    numberOps(*before);
    OwningOpRef<ModuleOp> after = before->clone();
    if (failed(fuse.run(*after)))
      return signalPassFailure();
    std::vector<Layer> layers = findLayers(*after);
    std::vector<std::pair<std::string, std::vector<OpGraph>>> drawn;
    if (wants("before"))
      drawn.push_back({"before", graphsOf(*before, layers)});
    if (wants("after"))
      drawn.push_back({"after", graphsOf(*after, layers)});
    printDot(llvm::outs(), drawn);
    llvm::outs().flush();
  }

private:
  bool wants(StringRef picture) const { return pictures.empty() || llvm::is_contained(pictures, picture); }
};
} // namespace
