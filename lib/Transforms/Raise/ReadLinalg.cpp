//===- ReadLinalg.cpp - linalg as leaf ops, with nothing found in them ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Raise.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mhc {
#define GEN_PASS_DEF_READLINALGPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;

namespace {
struct ReadLinalg : mhc::impl::ReadLinalgPassBase<ReadLinalg> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    mhc::raiseLoops(getOperation());
    mhc::raiseLinalg(getOperation());
  }
};
} // namespace
