//===- Round.cpp - Matrix products that round their own result ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuse.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mhc;

/// The kernel sums in f32 and rounds at the store, so that it may do the rounding of its one user.
static void roundAtStore(Operation *product) {
  Value out = product->getResult(0);
  auto round = out.hasOneUse() ? dyn_cast<arith::TruncFOp>(*out.user_begin()) : arith::TruncFOp();
  if (!round || !getElementTypeOrSelf(out).isF32())
    return;
  out.setType(round.getType());
  round.replaceAllUsesWith(out);
  round.erase();
}

void mhc::roundProducts(func::FuncOp func) {
  SmallVector<Operation *> products;
  func.walk([&](Operation *op) {
    if (isa<MatmulOp, BatchMatmulOp>(op))
      products.push_back(op);
  });
  llvm::for_each(products, roundAtStore);
}
