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
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include <mutex>

namespace mhc {
#define GEN_PASS_DEF_DUMPGRAPHPASS
#include "mhc/Pipelines/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

namespace {
/// A remark of a pass, and where it belongs.
struct PassRemark {
  LocationAttr at;
  std::string function;
  GraphRemark shown;
};

/// Keeps what passes find and miss. Functions are raised on several threads.
class RemarkKeeper : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkKeeper(std::vector<PassRemark> &kept) : kept(kept) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    bool missed = remark.getRemarkType() == llvm::remarks::Type::Missed;
    std::string text = missed ? remark.getRemarkName().str() : "";
    for (const remark::detail::Remark::Arg &argument : remark.getArgs())
      if (!missed)
        text += argument.val;
      else if (StringRef key = argument.key; key == "Found" || key == "Needed")
        text += "\n" + key.lower() + " " + argument.val;
    std::lock_guard<std::mutex> lock(mutex);
    kept.push_back({remark.getLocation(), remark.getFunction().str(), {remark.getRemarkName().str(), missed, text}});
  }

private:
  std::vector<PassRemark> &kept;
  std::mutex mutex;
};
} // namespace

static std::vector<OpGraph> graphsOf(ModuleOp module, ArrayRef<Layer> layers, ArrayRef<PassRemark> remarks) {
  std::vector<OpGraph> graphs;
  for (func::FuncOp func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    OpGraph &graph = graphs.emplace_back(graphOf(func, layers));
    NumberedNodes nodes(graph);
    for (const PassRemark &remark : remarks)
      if (std::optional<unsigned> node = nodes.nodeAbout(remark.function, remark.at))
        graph.nodes[*node].remarks.push_back(remark.shown);
  }
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
    std::vector<PassRemark> remarks;
    if (failed(runWithRemarks(fuse, *after, remarks)))
      return signalPassFailure();
    std::vector<Layer> layers = findLayers(*after);
    std::vector<std::pair<std::string, std::vector<OpGraph>>> drawn;
    if (wants("before"))
      drawn.push_back({"before", graphsOf(*before, layers, remarks)});
    if (wants("after"))
      drawn.push_back({"after", graphsOf(*after, layers, remarks)});
    printDot(llvm::outs(), drawn);
    llvm::outs().flush();
  }

private:
  /// mhc-opt has a remark engine of its own, whose filters take nothing by default: it goes.
  LogicalResult runWithRemarks(PassManager &pm, ModuleOp module, std::vector<PassRemark> &remarks) {
    MLIRContext &context = getContext();
    remark::RemarkCategories found;
    found.passed = found.missed = ".*";
    (void)remark::enableOptimizationRemarks(context, std::make_unique<RemarkKeeper>(remarks),
                                            std::make_unique<remark::RemarkEmittingPolicyAll>(), found);
    LogicalResult result = pm.run(module);
    context.setRemarkEngine(nullptr);
    return result;
  }

  bool wants(StringRef picture) const { return pictures.empty() || llvm::is_contained(pictures, picture); }
};
} // namespace
