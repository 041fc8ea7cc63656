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

static void fold(Sites &sites, PreBwdOp pre) {
  auto post = pre.getDXIn() ? pre.getDXIn().getDefiningOp<PostBwdOp>() : PostBwdOp();
  if (!post)
    return;
  if (pre.getDXIn() != post.getDX() || !post.getDX().hasOneUse()) {
    int64_t users = llvm::range_size(post.getDX().getUses());
    sites.decline("pre_bwd", {Reason::gradientShared, post, std::to_string(users) + " users", "1 user"});
    return;
  }
  if (post.getDXIn()) {
    sites.decline("pre_bwd", {Reason::gradientFromElsewhere, post, describe(post.getDXIn()), "no gradient to add to"});
    return;
  }
  if (post.getLayout() != pre.getLayout()) // their streams have other shapes, or C = n
    return;
  int64_t before = bytesPerToken(pre) + bytesPerToken(post);
  pre.getDXInMutable().clear();
  pre.getDOutMutable().assign(post.getDOut());
  pre.getHResMutable().assign(post.getHRes());
  pre.setOrient(post.getOrient());
  OpBuilder builder(pre);
  pre->setLoc(builder.getFusedLoc({pre.getLoc(), post.getLoc()}));
  int64_t after = bytesPerToken(pre) + bytesPerToken(withoutStreams(post));
  takeFused(sites, pre, "the streams' gradient of mhc.post", before - after);
}

void mhc::foldPostBwd(func::FuncOp func, Sites &sites) {
  SmallVector<PreBwdOp> work;
  func.walk([&](PreBwdOp pre) { work.push_back(pre); });
  for (PreBwdOp pre : work)
    if (sites.mayTake())
      fold(sites, pre);
}
