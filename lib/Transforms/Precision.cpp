//===- Precision.cpp - One precision for all products of a module ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/MhcOps.h"
#include "mhc/Transforms/Passes.h"

namespace mhc {
#define GEN_PASS_DEF_SETPRECISIONPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

static constexpr StringLiteral kPrecision = "precision";

namespace {
struct SetPrecision : mhc::impl::SetPrecisionPassBase<SetPrecision> {
  using SetPrecisionPassBase::SetPrecisionPassBase;

  void runOnOperation() override {
    auto value = PrecisionAttr::get(&getContext(), precision);
    getOperation().walk([&](KernelOpInterface op) {
      auto isPrecision = [](const KernelAttr &attr) { return attr.name == kPrecision; };
      if (!op->hasAttr(kPrecision) && llvm::any_of(op.getKernelInfo().attrs, isPrecision))
        op->setAttr(kPrecision, value);
    });
  }
};
} // namespace
