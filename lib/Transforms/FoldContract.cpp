//===- FoldContract.cpp - Streams are added up where they are made ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Transforms/Passes.h"

namespace mhc {
#define GEN_PASS_DEF_FOLDCONTRACTPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

namespace {
struct FoldContract : mhc::impl::FoldContractPassBase<FoldContract> {
  void runOnOperation() override {
    SmallVector<ContractOp> ops;
    getOperation().walk([&](ContractOp op) { ops.push_back(op); });
    for (ContractOp op : ops) {
      auto post = op.getX().getDefiningOp<PostOp>();
      if (!post || op.getLayout() != Layout::nC || post.getLayout() != Layout::nC || !op.getX().hasOneUse())
        continue;
      OpBuilder builder(post);
      PostOp::Fields fields(post);
      fields.contracted = op.getMode() == ContractMode::mean ? Contracted::mean : Contracted::sum;
      fields.out = op.getOut().getType();
      op.replaceAllUsesWith(fields.create(builder, builder.getFusedLoc({post.getLoc(), op.getLoc()})).getOut());
      op.erase();
      post.erase();
    }
  }
};
} // namespace
