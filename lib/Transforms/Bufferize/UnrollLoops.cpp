//===- UnrollLoops.cpp - Straight-line code ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"

namespace mhc {
#define GEN_PASS_DEF_UNROLLLOOPSPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;

namespace {
struct UnrollLoops : mhc::impl::UnrollLoopsPassBase<UnrollLoops> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops; // inner ones first
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (std::optional<APInt> turns = loop.getStaticTripCount())
        unroll(loop, turns->getZExtValue());
  }

  static void unroll(scf::ForOp loop, uint64_t turns) {
    if (turns > 0) {
      (void)loopUnrollByFactor(loop, turns);
      return;
    }
    loop.replaceAllUsesWith(loop.getInits());
    loop.erase();
  }
};
} // namespace
