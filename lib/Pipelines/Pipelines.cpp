//===- Pipelines.cpp - From a model to LLVM, phase by phase ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Pipelines/Pipelines.h"
#include "mhc/Conversion/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mhc;

static constexpr StringLiteral kPhaseNames[] = {"input",     "raise", "fuse", "loops",
                                                "bufferize", "lower", "llvm", "object"};

std::optional<Phase> mhc::parsePhase(StringRef name) {
  const auto *found = llvm::find(kPhaseNames, name);
  if (found == std::end(kPhaseNames))
    return std::nullopt;
  return static_cast<Phase>(found - std::begin(kPhaseNames));
}

StringRef mhc::phaseName(Phase phase) { return kPhaseNames[static_cast<int>(phase)]; }

std::string mhc::phaseNames() {
  return llvm::join(llvm::map_range(kPhaseNames, [](StringRef name) { return ("'" + name + "'").str(); }), ", ");
}

static void addInline(OpPassManager &pm, bool keepForGradients) {
  pm.addPass(createInlinePass({keepForGradients}));
  pm.addPass(createSimplifyPass());
}

static void addInput(OpPassManager &pm, const PipelineOptions &options) {
  addInline(pm, !options.grad.empty());
  pm.addNestedPass<func::FuncOp>(createReadSizesPass());
  pm.addPass(createStateSizesPass());
}

static void addLoops(OpPassManager &pm, const PipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(createFlattenBranchesPass());
  pm.addPass(createDescribeEntriesPass());
  pm.addNestedPass<func::FuncOp>(createConvertMhcToLinalgPass());
  if (!options.gpu.empty())
    pm.addNestedPass<func::FuncOp>(createKeepScalarsPass());
  if (options.fuse != FuseLevel::none)
    pm.addNestedPass<func::FuncOp>(createFuseElementwisePass());
  pm.addNestedPass<func::FuncOp>(createSplitSumsPass({!options.gpu.empty()}));
  if (options.fuse != FuseLevel::none) // rounding of sums
    pm.addNestedPass<func::FuncOp>(createFuseElementwisePass());
  pm.addNestedPass<func::FuncOp>(createReuseOperandsPass());
}

static void addBufferize(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createBufferizePass());
  pm.addPass(createSimplifyPass({/*dropsSymbols=*/false}));
  pm.addNestedPass<func::FuncOp>(createCarryLoopsPass());
  pm.addNestedPass<func::FuncOp>(createResultParamsPass());
  pm.addPass(createCheckSizesPass({!options.gpu.empty()}));
  pm.addNestedPass<func::FuncOp>(createPlanMemoryPass());
  pm.addPass(createAnnounceGradientsPass());
}

static void addLower(OpPassManager &pm, const PipelineOptions &options) {
  if (!options.gpu.empty())
    pm.addNestedPass<func::FuncOp>(createFoldFillsPass());
  pm.addPass(createOutlineLoopsPass());
  if (!options.gpu.empty())
    pm.addPass(createLoopsToGpuPass({options.gpu, options.optLevel}));
  pm.addNestedPass<func::FuncOp>(createOrderSumsPass());
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createConvertMhcToRuntimePass({options.target(), options.lines}));
  pm.addPass(math::createMathExtendToSupportedTypes());
  arith::ArithEmulateUnsupportedFloatsOptions narrow;
  narrow.sourceTypeStrs = {"bf16", "f16"};
  narrow.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(narrow));
  pm.addPass(arith::createArithExpandOpsPass());
  pm.addPass(createExpandMathPass());
  pm.addPass(createSCFToControlFlowPass());
  if (!options.gpu.empty())
    pm.addNestedPass<gpu::GPUModuleOp>(createConvertGpuOpsToNVVMOps());
  pm.addPass(createConvertFuncToLLVMPass()); // the next one looks for the function of a call among all others
  ConvertToLLVMPassOptions toLlvm;
  toLlvm.allowPatternRollback = false; // linear in the length of an entry
  pm.addPass(createConvertToLLVMPass(toLlvm));
  pm.addPass(createReconcileUnrealizedCastsPass());
}

static void addRaise(OpPassManager &pm, const PipelineOptions &options) {
  if (options.fuse != FuseLevel::none) {
    pm.addNestedPass<func::FuncOp>(createImportPass()); // what raising leaves as it came in has leaf ops, too
    pm.addNestedPass<func::FuncOp>(createRaisePass(options.raiseCheck, options.raiseLimit));
  }
  if (options.precision)
    pm.addNestedPass<func::FuncOp>(createSetPrecisionPass({*options.precision}));
  pm.addNestedPass<func::FuncOp>(createSetGdnImplPass({options.gdnImpl}));
}

static void addFuse(OpPassManager &pm, const PipelineOptions &options) {
  if (options.fuse == FuseLevel::none)
    return;
  pm.addNestedPass<func::FuncOp>(createFusePass({options.fuse, options.fuseLimit, /*norms=*/options.grad.empty()}));
  pm.addPass(createCSEPass());
}

/// Gradients of what was found so far. Their neighbours and what was still called make new chains, so the search runs
/// again.
static void addGradients(OpPassManager &pm, PipelineOptions options) {
  if (options.fuse == FuseLevel::none) // or else raising has
    pm.addNestedPass<func::FuncOp>(createImportPass());
  for (int64_t stage = 0; stage < options.stages; ++stage)
    pm.addPass(createAutodiffPass(
        {options.stages == 1 ? options.grad : stageName(options.grad, stage), options.sums, options.recompute}));
  addInline(pm, /*keepForGradients=*/false);
  // Sites that a limit left must not be found now; without a limit, -1 stays.
  for (int64_t *limit : {&options.raiseLimit, &options.fuseLimit})
    *limit = std::min<int64_t>(*limit, 0);
  addRaise(pm, options);
  addFuse(pm, options);
}

static void addPhase(OpPassManager &pm, const PipelineOptions &options, Phase phase) {
  switch (phase) {
  case Phase::input:
    return addInput(pm, options);
  case Phase::raise:
    return addRaise(pm, options);
  case Phase::fuse:
    if (!options.layout.empty()) // before stages hand over streams, and gradients follow
      pm.addNestedPass<func::FuncOp>(createSetLayoutPass({options.layout, options.target()}));
    if (options.stages > 1)
      pm.addPass(createPipelineSplitPass({options.stages}));
    addFuse(pm, options);
    if (!options.grad.empty())
      addGradients(pm, options);
    if (options.fuse != FuseLevel::none && !options.keepsResults) { // behind gradients, whose d_gate is one
      pm.addNestedPass<func::FuncOp>(createViewGatePass());
      pm.addNestedPass<func::FuncOp>(createFoldExpandPass()); // and which are of streams
      pm.addNestedPass<func::FuncOp>(createFoldContractPass());
    }
    return;
  case Phase::loops:
    return addLoops(pm, options);
  case Phase::bufferize:
    return addBufferize(pm, options);
  case Phase::lower:
    return addLower(pm, options);
  case Phase::llvm:
  case Phase::object:
    return;
  }
}

void mhc::buildPipeline(OpPassManager &pm, const PipelineOptions &options, Phase from, Phase to) {
  for (int phase = static_cast<int>(from) + 1; phase <= static_cast<int>(to); ++phase)
    addPhase(pm, options, static_cast<Phase>(phase));
}

void mhc::buildPipeline(OpPassManager &pm, const PipelineOptions &options, Phase to) {
  addPhase(pm, options, Phase::input);
  buildPipeline(pm, options, Phase::input, to);
}

/// The passes of MLIR that a pipeline has, by their names, with which a reproducer lists them.
static void registerUpstreamPasses() {
  static constexpr std::unique_ptr<Pass> (*kCreate[])() = {
      [] { return createConvertLinalgToLoopsPass(); },
      [] { return createLowerAffinePass(); },
      [] { return math::createMathExtendToSupportedTypes(); },
      [] { return arith::createArithEmulateUnsupportedFloats(); },
      [] { return arith::createArithExpandOpsPass(); },
      [] { return createSCFToControlFlowPass(); },
      [] { return createConvertGpuOpsToNVVMOps(); },
      [] { return createConvertFuncToLLVMPass(); },
      [] { return createConvertToLLVMPass(); },
      [] { return createReconcileUnrealizedCastsPass(); },
  };
  for (auto create : kCreate)
    registerPass(create);
}

void mhc::registerPipelines() {
  registerMhcPipelinesPasses();
  registerUpstreamPasses();
  static PassPipelineRegistration<> input("mhc-phase-input", "The passes of the phase input",
                                          [](OpPassManager &pm) { addInput(pm, PipelineOptions()); });
  static PassPipelineRegistration<> bufferize(
      "mhc-phase-bufferize", "The passes of the phases loops and bufferize",
      [](OpPassManager &pm) { buildPipeline(pm, PipelineOptions(), Phase::fuse, Phase::bufferize); });
  static PassPipelineRegistration<> lower("mhc-phase-lower", "The passes of the phase lower",
                                          [](OpPassManager &pm) { addLower(pm, PipelineOptions()); });
}
