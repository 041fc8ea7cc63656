//===- PrintAlgebra.cpp - Values as expressions, for people -------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhc/Algebra/Reading.h"
#include "mhc/Transforms/Passes.h"

namespace mhc {
#define GEN_PASS_DEF_PRINTALGEBRAPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

namespace {
struct PrintAlgebraPass : mhc::impl::PrintAlgebraPassBase<PrintAlgebraPass> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<mlir::func::FuncOp>()) {
      if (func.isExternal())
        continue;
      llvm::outs() << "@" << func.getName() << "\n";
      mhc::algebra::Reading(func).print(llvm::outs());
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
