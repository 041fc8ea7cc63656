//===- GdnImpl.cpp - The implementation of gated delta front ends ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/MhcOps.h"
#include "mhc/Transforms/Decompose.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mhc {
#define GEN_PASS_DEF_SETGDNIMPLPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

static constexpr StringLiteral kGdnImpl = "mhc.gdn_impl", kImpl = "impl", kRef = "ref";

namespace {
struct SetGdnImpl : mhc::impl::SetGdnImplPassBase<SetGdnImpl> {
  using SetGdnImplPassBase::SetGdnImplPassBase;

  void runOnOperation() override {
    StringRef name = impl;
    if (auto own = getOperation()->getAttrOfType<StringAttr>(kGdnImpl); own && name.empty())
      name = own.getValue();
    if (name.empty())
      return;
    std::optional<GdnImpl> kernels = symbolizeGdnImpl(name);
    if (!kernels && name != kRef) {
      getOperation().emitError() << "'" << name
                                 << "' is no implementation of gated delta; needed 'ref', 'streamed' or 'fused'";
      return signalPassFailure();
    }
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<PreGatedDeltaRuleOp, PreGatedDeltaRuleBwdOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (!kernels)
        decompose(cast<DecomposableOpInterface>(op));
      else if (!op->hasAttr(kImpl))
        op->setAttr(kImpl, GdnImplAttr::get(&getContext(), *kernels));
  }
};
} // namespace
