//===- PostPre.cpp - From one sublayer to the next in one kernel ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuse.h"
#include "mhc/IR/OpKinds.h"

using namespace mlir;
using namespace mhc;

static Type typeOf(Value value) { return value ? value.getType() : Type(); }

/// Whether what `op` reads beside its streams is there in front of `place`, or was moved there.
static bool readsInFrontOf(Operation *op, Value streams, Operation *place) {
  if (op->getBlock() != place->getBlock())
    return false;
  SmallVector<Value> read;
  for (Value operand : op->getOperands())
    if (operand != streams)
      read.push_back(operand);
  return moveInFrontOf(read, place);
}

/// Replaces a result that may be absent.
static void replace(Value before, Value after) {
  if (before)
    before.replaceAllUsesWith(after);
}

static int64_t bytesOf(Operation *a, Operation *b) {
  return bytesPerToken(cast<KernelOpInterface>(a)) + bytesPerToken(cast<KernelOpInterface>(b));
}

/// Calls fuse(sites, op) for each op of a kind, which it may erase.
template <typename Op>
static void fuseEach(func::FuncOp func, Sites &sites, void (*fuse)(Sites &, Op)) {
  SmallVector<Op> work;
  func.walk([&](Op op) { work.push_back(op); });
  for (Op op : work)
    if (sites.mayTake())
      fuse(sites, op);
}

/// The op that post and the reader of its streams become.
static StringRef bothOf(PreOp) { return "post_pre"; }
static StringRef bothOf(HeadOp) { return "post_head"; }

/// The post at the other side of a boundary, and why it is none. The first sublayer has neither.
template <typename Reader>
static PostOp postInFrontOf(Sites &sites, Reader reader) {
  Value streams = reader.getX(), source = behindViews(streams);
  const std::string needed = ("'mhc.post' in layout " + stringifyLayout(reader.getLayout())).str();
  const auto decline = [&](Reason reason) {
    sites.decline(bothOf(reader), {reason, opAtFault(streams, reader), describe(streams), needed, {streams, Value()}});
    return PostOp();
  };
  Operation *op = source.getDefiningOp();
  if (!op ? isa<func::FuncOp>(source.getParentBlock()->getParentOp()) : isa<ExpandOp, PostPreOp, PostHeadOp>(op))
    return {}; // the first sublayer; another reader has joined the post
  if (!op || op->getNumRegions() || op->getBlock() != reader->getBlock())
    return decline(Reason::boundaryControlFlow);
  auto post = dyn_cast<PostOp>(op);
  if (!post)
    return decline(Reason::boundaryStreams);
  if (source != streams || post.getLayout() != reader.getLayout())
    return decline(Reason::boundaryForm);
  return post;
}

static PostPreOp build(PostOp post, PreOp pre) {
  OpBuilder builder(post);
  PostPreOp::Fields fields(pre);
  fields.take(post);
  fields.y = post.getOut().getType();
  fields.u = typeOf(pre.getU());
  fields.h_pre = typeOf(pre.getHPre());
  fields.next_h_post = pre.getHPost().getType();
  fields.next_h_res = pre.getHRes().getType();
  fields.proj = typeOf(pre.getProj());
  fields.stat = typeOf(pre.getStat());
  return fields.create(builder, builder.getFusedLoc({post.getLoc(), pre.getLoc()}));
}

/// The same where what the reader reads beside the streams is there in front of the post, or was moved there.
template <typename Reader>
static PostOp postToJoin(Sites &sites, Reader reader) {
  PostOp post = postInFrontOf(sites, reader);
  if (!post || readsInFrontOf(reader, reader.getX(), post))
    return post;
  sites.decline(bothOf(reader),
                {Reason::boundaryOrder,
                 post,
                 ("operands of '" + reader->getName().getStringRef() + "' that are made behind 'mhc.post'").str(),
                 "all of them in front of it, in one block",
                 {reader.getX(), Value()}});
  return {};
}

static void fuse(Sites &sites, PreOp pre) {
  PostOp post = postToJoin(sites, pre);
  if (!post)
    return;
  int64_t before = bytesOf(post, pre);
  PostPreOp fused = build(post, pre);
  replace(post.getOut(), fused.getY());
  replace(pre.getU(), fused.getU());
  replace(pre.getHPre(), fused.getHPre());
  replace(pre.getHPost(), fused.getNextHPost());
  replace(pre.getHRes(), fused.getNextHRes());
  replace(pre.getProj(), fused.getProj());
  replace(pre.getStat(), fused.getStat());
  takeFused(sites, fused, "'mhc.post' and 'mhc.pre'", before - bytesPerToken(fused));
  pre->erase();
  post->erase();
}

void mhc::fusePostPre(func::FuncOp func, Sites &sites) { fuseEach<PreOp>(func, sites, fuse); }

/// Without y where the head alone reads the streams.
static PostHeadOp build(PostOp post, HeadOp head) {
  OpBuilder builder(post);
  PostHeadOp::Fields fields(head);
  fields.take(post);
  fields.y = post.getOut().hasOneUse() ? Type() : post.getOut().getType();
  fields.out = head.getOut().getType();
  fields.h_pre = typeOf(head.getHPre());
  fields.proj = typeOf(head.getProj());
  fields.stat = typeOf(head.getStat());
  return fields.create(builder, builder.getFusedLoc({post.getLoc(), head.getLoc()}));
}

static void fuse(Sites &sites, HeadOp head) {
  PostOp post = postToJoin(sites, head);
  if (!post)
    return;
  int64_t before = bytesOf(post, head);
  PostHeadOp fused = build(post, head);
  replace(head.getOut(), fused.getOut());
  replace(head.getHPre(), fused.getHPre());
  replace(head.getProj(), fused.getProj());
  replace(head.getStat(), fused.getStat());
  takeFused(sites, fused, "'mhc.post' and 'mhc.head'", before - bytesPerToken(fused));
  head->erase();
  if (fused.getY())
    replace(post.getOut(), fused.getY());
  post->erase();
}

void mhc::fusePostHead(func::FuncOp func, Sites &sites) { fuseEach<HeadOp>(func, sites, fuse); }

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

static PostPreBwdOp build(PreBwdOp pre, PostBwdOp post) {
  OpBuilder builder(pre);
  PostPreBwdOp::Fields fields(pre);
  fields.take(post);
  fields.d_f = typeOf(post.getDF());
  fields.d_h_post = typeOf(post.getDHPost());
  fields.d_h_res = typeOf(post.getDHRes());
  fields.d_x = typeOf(post.getDX());
  fields.d_bias = typeOf(post.getDBias());
  fields.d_phi = typeOf(pre.getDPhi());
  fields.d_norm_weight = typeOf(pre.getDNormWeight());
  fields.d_alpha = typeOf(pre.getDAlpha());
  fields.d_beta = typeOf(pre.getDBeta());
  fields.d_next_h_post = pre.getDHPost();
  fields.d_next_h_res = pre.getDHRes();
  fields.y = pre.getX();
  fields.d_y = pre.getDXIn();
  fields.d_out = pre.getDOut();
  fields.next_h_res = pre.getHRes();
  fields.next_orient = pre.getOrient();
  return fields.create(builder, builder.getFusedLoc({pre.getLoc(), post.getLoc()}));
}

static void fuse(Sites &sites, PostBwdOp post) {
  auto pre = post.getDOut().getDefiningOp<PreBwdOp>();
  if (!pre || post.getDOut() != pre.getDX()) // the last sublayer, or one without mHC behind it
    return;
  if (!pre.getDX().hasOneUse()) {
    sites.decline("post_pre_bwd", {Reason::boundaryGradientShared, pre,
                                   std::to_string(llvm::range_size(pre.getDX().getUses())) + " users", "1 user"});
    return;
  }
  if (post.getDXIn()) {
    sites.decline("post_pre_bwd",
                  {Reason::gradientFromElsewhere, post, describe(post.getDXIn()), "no gradient to add to"});
    return;
  }
  if (post.getLayout() != pre.getLayout()) {
    sites.decline("post_pre_bwd", {Reason::boundaryForm,
                                   post,
                                   ("'mhc.pre_bwd' in layout " + stringifyLayout(pre.getLayout())).str(),
                                   ("'mhc.pre_bwd' in layout " + stringifyLayout(post.getLayout())).str(),
                                   {post.getDOut(), Value()}});
    return;
  }
  if (!readsInFrontOf(post, pre.getDX(), pre)) {
    sites.decline("post_pre_bwd", {Reason::boundaryOrder,
                                   post,
                                   "operands of 'mhc.post_bwd' that are made behind 'mhc.pre_bwd'",
                                   "all of them in front of it, in one block",
                                   {post.getDOut(), Value()}});
    return;
  }
  int64_t before = bytesOf(pre, post);
  PostPreBwdOp fused = build(pre, post);
  replace(post.getDF(), fused.getDF());
  replace(post.getDHPost(), fused.getDHPost());
  replace(post.getDHRes(), fused.getDHRes());
  replace(post.getDX(), fused.getDX());
  replace(post.getDBias(), fused.getDBias());
  replace(pre.getDPhi(), fused.getDPhi());
  replace(pre.getDNormWeight(), fused.getDNormWeight());
  replace(pre.getDAlpha(), fused.getDAlpha());
  replace(pre.getDBeta(), fused.getDBeta());
  takeFused(sites, fused, "'mhc.pre_bwd' and 'mhc.post_bwd'", before - bytesPerToken(fused));
  post->erase();
  pre->erase();
}

void mhc::fusePostPreBwd(func::FuncOp func, Sites &sites) { fuseEach<PostBwdOp>(func, sites, fuse); }
