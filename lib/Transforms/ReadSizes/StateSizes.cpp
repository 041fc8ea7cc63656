//===- StateSizes.cpp - Writes size constraints down ---------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Analysis/CallGraph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SCCIterator.h"

namespace mhc {
#define GEN_PASS_DEF_STATESIZESPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

static bool hasOpenSize(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor && !tensor.hasStaticShape();
}

static void state(func::FuncOp func) {
  DimAnalysis dims(func);
  for (BlockArgument argument : func.getArguments())
    if (hasOpenSize(argument))
      func.setArgAttr(argument.getArgNumber(), kDims, dims.symbols(argument));
  for (auto [i, result] : llvm::enumerate(func.getBody().back().getTerminator()->getOperands()))
    if (hasOpenSize(result))
      func.setResultAttr(i, kDims, dims.symbols(result));
  if (ArrayAttr conditions = dims.conditions(func.getContext()); !conditions.empty())
    func->setAttr(kConditions, conditions);
}

namespace {
struct StateSizes : mhc::impl::StateSizesPassBase<StateSizes> {
  /// Visits callees first: their callers inherit the constraints on what they pass.
  void runOnOperation() override {
    const CallGraph &calls = getAnalysis<CallGraph>();
    for (auto scc = llvm::scc_begin(&calls); !scc.isAtEnd(); ++scc)
      for (CallGraphNode *node : *scc)
        if (!node->isExternal())
          if (auto func = dyn_cast<func::FuncOp>(node->getCallableRegion()->getParentOp()))
            state(func);
  }
};
} // namespace
