//===- Import.cpp - Rewrites exporters' IR for raising -------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Import.h"
#include "mhc/Transforms/ArgumentSizes.h"
#include "mhc/Transforms/EraseDead.h"
#include "mhc/Transforms/Imported.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"

namespace mhc {
#define GEN_PASS_DEF_IMPORTPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

namespace {
struct ImportPass : mhc::impl::ImportPassBase<ImportPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    OpPassManager sizes(func::FuncOp::getOperationName());
    sizes.addPass(createReadSizesPass());
    if (failed(runPipeline(sizes, func)))
      return signalPassFailure();
    importLoops(func);
    importTables(func);
    unrollWindows(func);
    importLinalg(func);
    importScalars(func);
    readSizesFromArguments(func);
    importConcat(func);
    stateOpenSizes(func);
    joinTokens(func);
    eraseDeadOps(func); // what is left of linalg has uses that patterns count
    getAnalysis<Imported>();
    markAnalysesPreserved<Imported>();
  }
};
} // namespace
