//===- PreBwd.cpp - The gradient of post inside that of pre ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuse.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mhc;

static PostBwdOp withoutStreams(PostBwdOp post) {
  SmallVector<Type> types;
  for (Value result :
       {Value(post.getDF()), Value(post.getDHPost()), Value(post.getDHRes()), Value(), Value(post.getDBias())})
    types.push_back(result ? result.getType() : Type());
  IRRewriter rewriter(post.getContext());
  return cast<PostBwdOp>(replaceWithResults(rewriter, post, post.getKernelInfo(), types));
}

static Value startOf(PreBwdOp pre) { return pre.getDXIn(); }
static Value startOf(PostPreBwdOp pre) { return pre.getDY(); }

/// Gives an op the operands of a post in place of its start.
static void take(PreBwdOp pre, PostBwdOp post) {
  pre.getDXInMutable().clear();
  pre.getDOutMutable().assign(post.getDOut());
  pre.getHResMutable().assign(post.getHRes());
  pre.setOrient(post.getOrient());
}
static void take(PostPreBwdOp pre, PostBwdOp post) {
  pre.getDYMutable().clear();
  pre.getDOutMutable().assign(post.getDOut());
  pre.getNextHResMutable().assign(post.getHRes());
  pre.setNextOrient(post.getOrient());
}

template <typename Op>
static void fold(Sites &sites, Op pre) {
  Value start = startOf(pre);
  auto post = start ? start.getDefiningOp<PostBwdOp>() : PostBwdOp();
  if (!post)
    return;
  StringRef kind = pre->getName().stripDialect();
  if (start != post.getDX() || !post.getDX().hasOneUse()) {
    int64_t users = llvm::range_size(post.getDX().getUses());
    sites.decline(kind, {Reason::gradientShared, post, std::to_string(users) + " users", "1 user"});
    return;
  }
  if (post.getDXIn()) {
    sites.decline(kind, {Reason::gradientFromElsewhere, post, describe(post.getDXIn()), "no gradient to add to"});
    return;
  }
  if (post.getLayout() != pre.getLayout()) // their streams have other shapes, or C = n
    return;
  int64_t before = bytesPerToken(pre) + bytesPerToken(post);
  take(pre, post);
  OpBuilder builder(pre);
  pre->setLoc(builder.getFusedLoc({pre.getLoc(), post.getLoc()}));
  int64_t after = bytesPerToken(pre) + bytesPerToken(withoutStreams(post));
  takeFused(sites, pre, "the streams' gradient of mhc.post", before - after);
}

void mhc::foldPostBwd(func::FuncOp func, Sites &sites) {
  SmallVector<Operation *> work;
  func.walk([&](Operation *op) {
    if (isa<PreBwdOp, PostPreBwdOp>(op))
      work.push_back(op);
  });
  for (Operation *op : work) {
    if (!sites.mayTake())
      return;
    if (auto pre = dyn_cast<PreBwdOp>(op))
      fold(sites, pre);
    else
      fold(sites, cast<PostPreBwdOp>(op));
  }
}
