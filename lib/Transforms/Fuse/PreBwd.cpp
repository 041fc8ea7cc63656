//===- PreBwd.cpp - Gradients of streams that kernels start from --- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuse.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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

//===----------------------------------------------------------------------===//
// Sums of gradients
//===----------------------------------------------------------------------===//

static bool hasStart(PreBwdOp pre) { return pre.getDXIn() || pre.getDOut(); }
static bool hasStart(PostBwdOp post) { return post.getDXIn() != nullptr; }

/// A gradient of streams whose tokens may be several dims, as what has them as one; null where that is not all.
static Value withOneTokenDim(OpBuilder &builder, Value value, tensor::ExpandShapeOp expand) {
  auto known = value.getDefiningOp<tensor::ExpandShapeOp>();
  auto groups = expand.getReassociationIndices();
  if (known && known.getReassociationIndices() == groups && known.getSrcType() == expand.getSrcType())
    return known.getSrc();
  if (tensor::CollapseShapeOp::inferCollapsedType(expand.getResultType(), groups) != expand.getSrcType())
    return {};
  return tensor::CollapseShapeOp::create(builder, value.getLoc(), expand.getSrcType(), value, groups);
}

template <typename Op>
static bool addStart(Sites &sites, arith::AddFOp add, Value own, Value other) {
  auto expand = own.getDefiningOp<tensor::ExpandShapeOp>();
  Value dX = expand ? expand.getSrc() : own;
  auto op = dX.getDefiningOp<Op>();
  if (!op || dX != op.getDX() || !dX.hasOneUse() || !own.hasOneUse() || hasStart(op) ||
      op->getBlock() != add->getBlock() || !moveInFrontOf(other, op))
    return false;
  OpBuilder builder(op);
  Value start = expand ? withOneTokenDim(builder, other, expand) : other;
  if (!start)
    return false;
  const int64_t before = bytesPerToken(op);
  op.getDXInMutable().assign(start);
  for (Operation *user : expand ? llvm::to_vector(add->getUsers()) : SmallVector<Operation *>())
    if (auto joined = dyn_cast<tensor::CollapseShapeOp>(user);
        joined && joined.getReassociationIndices() == expand.getReassociationIndices() &&
        joined.getType() == dX.getType())
      joined.getResult().replaceAllUsesWith(dX);
  op->setLoc(builder.getFusedLoc({op.getLoc(), add.getLoc()}));
  add.replaceAllUsesWith(own);
  add.erase();
  const int64_t streams = bytesPerToken(op) - before; // which the sum read twice and wrote
  takeFused(sites, op, "a sum of two gradients of the streams", 2 * streams);
  return true;
}

template <typename Op>
static void addStartsTo(func::FuncOp func, Sites &sites) {
  SmallVector<arith::AddFOp> sums;
  func.walk([&](arith::AddFOp add) { sums.push_back(add); });
  for (arith::AddFOp add : sums)
    if (sites.mayTake() && !addStart<Op>(sites, add, add.getLhs(), add.getRhs()))
      addStart<Op>(sites, add, add.getRhs(), add.getLhs());
}

/// The last two of three gradients are added by pre_bwd, and the first by post_bwd.
void mhc::addStarts(func::FuncOp func, Sites &sites) {
  addStartsTo<PreBwdOp>(func, sites);
  addStartsTo<PostBwdOp>(func, sites);
}
