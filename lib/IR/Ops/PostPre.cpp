//===- PostPre.cpp - post and the pre or head behind it ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVjp.h"
#include "Pre.h"
#include "Random.h"
#include "mhc/IR/EqualStreams.h"

using namespace mlir;
using namespace mhc;

/// The dimensions, and the dropout of post.
template <typename Op>
static LogicalResult verifyPost(Op op) {
  return failure(failed(verifyKernelDims(op)) ||
                 failed(verifyOptionalDropout(op, op.getSeed() != nullptr, op.getRateAttr(), op.getStreamAttr())));
}

template <typename Op>
static LogicalResult verifyBoth(Op op) {
  return failure(failed(verifyPost(op)) || failed(verifyResidualMap(op, op.getHRes().getType().getDimSize(1))));
}

/// The streams between the two ops.
template <typename Op>
static Value buildPost(Op op, OpBuilder &builder) {
  PostOp::Fields fields(op);
  fields.out = op.getX().getType();
  return fields.create(builder, op.getLoc());
}

//===----------------------------------------------------------------------===//
// post_pre
//===----------------------------------------------------------------------===//

/// C4.
static LogicalResult verifyNormOfU(PostPreOp op) {
  if (!op.getUNormWeight() != !op.getUNormEpsAttr())
    return op.emitOpError() << "has '" << (op.getUNormWeight() ? "u_norm_weight" : "u_norm_eps") << "' but no '"
                            << (op.getUNormWeight() ? "u_norm_eps" : "u_norm_weight") << "'";
  if (op.getUNormWeight() && !op.getU())
    return op.emitOpError() << "has 'u_norm_weight' but no 'u'";
  return success();
}

LogicalResult PostPreOp::verify() {
  return failure(failed(verifyBoth(*this)) || failed(verifyGivenWeights(*this)) || failed(verifyNormOfU(*this)));
}

LogicalResult PostPreOp::canonicalize(PostPreOp op, PatternRewriter &rewriter) { return removeDropout(op, rewriter); }

/// In the type of the weight, which is that of u or f32.
static Value buildNormOfU(PostPreOp op, Value u, OpBuilder &builder) {
  LeafBuilder leaves(builder, op.getLoc());
  Value x = leaves.cast(u, op.getUNormWeight().getType().getElementType());
  Value norm = RmsNormOp::create(builder, op.getLoc(), x, op.getUNormWeight(), op.getUNormEpsAttr());
  return leaves.cast(norm, getElementTypeOrSelf(u));
}

SmallVector<Value> PostPreOp::decompose(OpBuilder &builder) {
  if (Operation *whole = withWholeStreams(builder, *this))
    return SmallVector<Value>(whole->getResults());
  Value y = buildPost(*this, builder);
  PreOp::Fields fields(*this);
  fields.u = typeOf(getU());
  fields.h_pre = typeOf(getHPre());
  fields.h_post = getNextHPost().getType();
  fields.h_res = getNextHRes().getType();
  fields.proj = typeOf(getProj());
  fields.stat = typeOf(getStat());
  fields.x = y;
  PreOp pre = fields.create(builder, getLoc());
  SmallVector<Value> results = {y};
  llvm::append_range(results, pre->getResults());
  if (getUNormWeight())
    *llvm::find(results, pre.getU()) = buildNormOfU(*this, pre.getU(), builder);
  return results;
}

FailureOr<bool> PostPreOp::flatten(RewriterBase &rewriter) {
  rewriter.replaceOp(*this, decompose(rewriter));
  return true;
}

//===----------------------------------------------------------------------===//
// post_head
//===----------------------------------------------------------------------===//

LogicalResult PostHeadOp::verify() { return verifyPost(*this); }

LogicalResult PostHeadOp::canonicalize(PostHeadOp op, PatternRewriter &rewriter) { return removeDropout(op, rewriter); }

SmallVector<Value> PostHeadOp::decompose(OpBuilder &builder) {
  if (Operation *whole = withWholeStreams(builder, *this))
    return SmallVector<Value>(whole->getResults());
  Value y = buildPost(*this, builder);
  HeadOp::Fields fields(*this);
  fields.out = getOut().getType();
  fields.h_pre = typeOf(getHPre());
  fields.proj = typeOf(getProj());
  fields.stat = typeOf(getStat());
  fields.x = y;
  SmallVector<Value> results;
  if (getY())
    results.push_back(y);
  llvm::append_range(results, fields.create(builder, getLoc())->getResults());
  return results;
}

FailureOr<bool> PostHeadOp::flatten(RewriterBase &rewriter) {
  rewriter.replaceOp(*this, decompose(rewriter));
  return true;
}

//===----------------------------------------------------------------------===//
// post_pre_bwd
//===----------------------------------------------------------------------===//

/// C4.
static LogicalResult verifyStart(PostPreBwdOp op) {
  if (failed(verifyFoldedPair(op, op.getDOut(), op.getNextHRes(), "next_h_res")))
    return failure();
  if (op.getDOut() && op.getDY())
    return op.emitOpError() << "has 'd_out' and 'd_y'; needed one start of the gradient of y";
  return success();
}

LogicalResult PostPreBwdOp::verify() {
  return failure(failed(verifyBoth(*this)) || failed(verifyWeightGradient(*this)) || failed(verifyStart(*this)));
}

LogicalResult PostPreBwdOp::canonicalize(PostPreBwdOp op, PatternRewriter &rewriter) {
  return success(succeeded(removeDropout(op, rewriter)) || succeeded(roundInKernel(op, rewriter)));
}

SmallVector<Value> PostPreBwdOp::decompose(OpBuilder &builder) {
  if (Operation *whole = withWholeStreams(builder, *this))
    return SmallVector<Value>(whole->getResults());
  PreBwdOp::Fields ofPre(*this);
  ofPre.d_x = getX().getType();
  ofPre.d_phi = typeOf(getDPhi());
  ofPre.d_norm_weight = typeOf(getDNormWeight());
  ofPre.d_alpha = typeOf(getDAlpha());
  ofPre.d_beta = typeOf(getDBeta());
  ofPre.d_h_post = getDNextHPost();
  ofPre.d_h_res = getDNextHRes();
  ofPre.x = getY() ? getY() : buildPost(*this, builder);
  ofPre.d_x_in = getDY();
  ofPre.h_res = getNextHRes();
  ofPre.orient = getNextOrient();
  PreBwdOp pre = ofPre.create(builder, getLoc());
  PostBwdOp::Fields ofPost(*this);
  ofPost.d_f = typeOf(getDF());
  ofPost.d_h_post = typeOf(getDHPost());
  ofPost.d_h_res = typeOf(getDHRes());
  ofPost.d_x = typeOf(getDX());
  ofPost.d_bias = typeOf(getDBias());
  ofPost.d_out = pre.getDX();
  SmallVector<Value> results(ofPost.create(builder, getLoc())->getResults());
  llvm::append_range(results, pre->getResults().drop_front());
  return results;
}
