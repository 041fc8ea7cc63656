//===- Decompose.cpp - Replace mHC ops by the leaf ops that define them ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Transforms/Decompose.h"
#include "mhc/IR/MhcOps.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mhc {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

void mhc::decompose(DecomposableOpInterface op) {
  OpBuilder builder(op);
  op->replaceAllUsesWith(op.decompose(builder));
  op->erase();
}

void mhc::decomposeOps(func::FuncOp func) {
  SmallVector<DecomposableOpInterface> work;
  auto collect = [&] {
    work.clear();
    func.walk([&](DecomposableOpInterface op) { work.push_back(op); });
    return !work.empty();
  };
  // A fused op decomposes into mHC ops, which decompose in turn.
  while (collect())
    llvm::for_each(work, mhc::decompose);
}

namespace {
struct DecomposePass : mhc::impl::DecomposePassBase<DecomposePass> {
  void runOnOperation() override { decomposeOps(getOperation()); }
};
} // namespace
