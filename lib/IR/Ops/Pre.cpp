//===- Pre.cpp - pre, head and their gradients ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pre.h"
#include "KernelVjp.h"
#include "StreamMix.h"
#include "mhc/IR/EqualStreams.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mhc;

//===----------------------------------------------------------------------===//
// pre and head
//===----------------------------------------------------------------------===//

LogicalResult PreOp::verify() {
  return failure(failed(verifyKernelDims(*this)) ||
                 failed(verifyResidualMap(*this, getHRes().getType().getDimSize(1))) ||
                 failed(verifyGivenWeights(*this)));
}

/// Raw product and multiplier of the projection inside a fused op.
template <typename Op>
static ProjectionOp buildProjection(Op op, OpBuilder &builder, int64_t rows) {
  int64_t tokens = op.getX().getType().getDimSize(0);
  ProjectionOp::Fields fields(op);
  fields.proj = RankedTensorType::get({tokens, rows}, builder.getF32Type());
  fields.stat = RankedTensorType::get({tokens}, builder.getF32Type());
  fields.stat_form = Stat::inv_rms;
  return fields.create(builder, op.getLoc());
}

/// Says that gates inside a fused op, or their gradients, read raw products and 1/rms; a head has one group only.
template <typename Fields>
static void readRawProducts(Fields &fields) {
  fields.stat_form = Stat::inv_rms;
  fields.norm_eps = 0.0;
  fields.post_mult = fields.post_mult.value_or(1.0);
}

/// The gates of raw products inside a fused op: all of them, or without a type of the logits the first alone.
template <typename Op>
static GatesOp buildGates(Op op, OpBuilder &builder, Value proj, Value stat, Type gateType, Type logitsType = {}) {
  GatesOp::Fields fields(op);
  fields.h_pre = gateType;
  fields.h_post = logitsType ? gateType : Type();
  fields.logits = logitsType;
  fields.proj = proj;
  fields.stat = stat;
  readRawProducts(fields);
  return fields.create(builder, op.getLoc());
}

/// Appends the values that a fused op saves for its gradients.
template <typename Op>
static void appendSaved(Op op, ProjectionOp projection, SmallVector<Value> &results) {
  if (op.getProj())
    results.push_back(projection.getProj());
  if (op.getStat())
    results.push_back(projection.getStat());
}

SmallVector<Value> PreOp::decompose(OpBuilder &builder) {
  if (Operation *whole = withWholeStreams(builder, *this))
    return SmallVector<Value>(whole->getResults());
  LeafBuilder leaf(builder, getLoc());
  RankedTensorType mixType = getHRes().getType(), gateType = getHPost().getType();
  int64_t tokens = mixType.getDimSize(0), n = mixType.getDimSize(1), rows = getBeta().getType().getDimSize(0);
  ProjectionOp projection = buildProjection(*this, builder, rows);
  GatesOp gates = buildGates(*this, builder, projection.getProj(), projection.getStat(), gateType,
                             mixType.clone({tokens, rows - 2 * n}));
  Value hPre = leaf.rounded(gates.getHPre(), getHPreFormat()), hPost = leaf.rounded(gates.getHPost(), getHPostFormat());
  Value mix;
  if (getResMap() == ResMap::permutation)
    mix = PermutationMixOp::create(builder, getLoc(), mixType, gates.getLogits());
  else
    mix = leaf.split(gates.getLogits(), 1, {n, n});
  if (getResMap() == ResMap::sinkhorn) {
    SinkhornOp::Fields fields(*this);
    fields.mix = mixType;
    fields.logits = mix;
    fields.eps = getSkEps().convertToDouble();
    fields.format = getSkFormat();
    mix = fields.create(builder, getLoc());
  }
  if (getFoldPre()) {
    LeafBuilder::Sizes sizes = leaf.sizesOf(mix);
    Value post = leaf.broadcast(hPost, sizes, {0, 1});
    mix = leaf.sub(mix, leaf.mul(post, leaf.broadcast(hPre, sizes, {0, 2})));
  }
  SmallVector<Value> results;
  if (getU())
    results.push_back(
        AggregateOp::create(builder, getLoc(), getU().getType(), getX(), getHIn() ? getHIn() : hPre, getLayout()));
  if (getHPre())
    results.push_back(hPre);
  results.append({hPost, leaf.rounded(mix, getHResFormat())});
  appendSaved(*this, projection, results);
  return results;
}

SmallVector<Value> HeadOp::decompose(OpBuilder &builder) {
  int64_t tokens = getX().getType().getDimSize(0), n = getBeta().getType().getDimSize(0);
  ProjectionOp projection = buildProjection(*this, builder, n);
  auto gateType = RankedTensorType::get({tokens, n}, builder.getF32Type());
  GatesOp gates = buildGates(*this, builder, projection.getProj(), projection.getStat(), gateType);
  Value hPre = LeafBuilder(builder, getLoc()).rounded(gates.getHPre(), getHPreFormat());
  Value out = AggregateOp::create(builder, getLoc(), getOut().getType(), getX(), hPre, getLayout());
  SmallVector<Value> results = {out};
  if (getHPre())
    results.push_back(hPre);
  appendSaved(*this, projection, results);
  return results;
}

/// The backward op reads `proj` and `stat`. Where others read them as well, their gradients are not its own: the chain
/// takes the place of the op.
template <typename Op>
static bool flattenFused(Op op, RewriterBase &rewriter, int64_t rows) {
  auto isRead = [](Value saved) { return saved && !saved.use_empty(); };
  if (isRead(op.getProj()) || isRead(op.getStat())) {
    rewriter.replaceOp(op, op.decompose(rewriter));
    return true;
  }
  if (op.getProj() && op.getStat())
    return false;
  const KernelInfo &info = op.getKernelInfo();
  SmallVector<Type> types;
  for (auto [i, tensor] : llvm::enumerate(info.tensors))
    if (tensor.isResult)
      types.push_back(typeOf(cast<KernelOpInterface>(*op).getTensor(i)));
  int64_t tokens = op.getX().getType().getDimSize(0);
  types[types.size() - 2] = RankedTensorType::get({tokens, rows}, rewriter.getF32Type());
  types.back() = RankedTensorType::get({tokens}, rewriter.getF32Type());
  replaceWithResults(rewriter, op, info, types);
  return true;
}

FailureOr<bool> PreOp::flatten(RewriterBase &rewriter) {
  return flattenFused(*this, rewriter, getBeta().getType().getDimSize(0));
}

FailureOr<bool> HeadOp::flatten(RewriterBase &rewriter) {
  return flattenFused(*this, rewriter, getBeta().getType().getDimSize(0));
}

/// Makes the gradients of the operands that pre and head have alike, of those of the results.
template <typename Op, typename Fields>
static void addGradients(KernelVjp &vjp, Op op, OpBuilder &builder, Fields fields) {
  fields.d_x = vjp.partial(op.getX());
  fields.d_x_in = vjp.start(op.getX());
  fields.d_phi = vjp.summed(op.getPhi());
  fields.d_phi_in = vjp.start(op.getPhi());
  fields.d_norm_weight = vjp.summed(op.getNormWeight());
  fields.d_norm_weight_in = vjp.start(op.getNormWeight());
  fields.d_alpha = vjp.summed(op.getAlpha());
  fields.d_alpha_in = vjp.start(op.getAlpha());
  fields.d_beta = vjp.summed(op.getBeta());
  fields.d_beta_in = vjp.start(op.getBeta());
  fields.proj = op.getProj();
  fields.stat = op.getStat();
  vjp.addResults(fields.create(builder, op.getLoc()));
}

/// The gradients of u where it was mixed by `h_in`: they are added last, so that the gradient of the post behind can be
/// folded into that of pre.
static void addGivenMixGradients(KernelVjp &vjp, PreOp op, OpBuilder &builder, Value dU) {
  vjp.addResults(AggregateBwdOp::create(builder, op.getLoc(), vjp.partial(op.getX()), vjp.summed(op.getHIn()), dU,
                                        op.getX(), op.getHIn(), vjp.start(op.getX()), op.getLayout()));
}

LogicalResult PreOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  KernelVjp vjp(*this, builder, context);
  PreBwdOp::Fields fields(*this);
  Value dU = vjp.cotangent(getU());
  fields.d_u = getHIn() ? Value() : dU;
  fields.d_h_pre = vjp.cotangent(getHPre());
  fields.d_h_post = vjp.cotangentOrZero(getHPost());
  fields.d_h_res = vjp.cotangentOrZero(getHRes());
  fields.orient = Orient::oi;
  addGradients(vjp, *this, builder, fields);
  if (getHIn() && dU)
    addGivenMixGradients(vjp, *this, builder, dU);
  return success();
}

LogicalResult HeadOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  KernelVjp vjp(*this, builder, context);
  HeadBwdOp::Fields fields(*this);
  fields.d_out = vjp.cotangentOrZero(getOut());
  fields.d_h_pre = vjp.cotangent(getHPre());
  addGradients(vjp, *this, builder, fields);
  return success();
}

//===----------------------------------------------------------------------===//
// pre_bwd and head_bwd
//===----------------------------------------------------------------------===//

/// C4 of pre_bwd.
static LogicalResult verifyFoldedPost(PreBwdOp op) {
  if (failed(verifyFoldedPair(op, op.getDOut(), op.getHRes(), "h_res")))
    return failure();
  if (op.getDOut() && op.getDXIn())
    return op.emitOpError() << "has 'd_out' and 'd_x_in'; needed one start of 'd_x'";
  if (op.getDOut() && !op.getDX())
    return op.emitOpError() << "has 'd_out' but no 'd_x'";
  return success();
}

LogicalResult PreBwdOp::verify() {
  return failure(failed(verifyKernelDims(*this)) ||
                 failed(verifyResidualMap(*this, getDHRes().getType().getDimSize(1))) ||
                 failed(verifyWeightGradient(*this)) || failed(verifyFoldedPost(*this))); // C3, C4
}

LogicalResult HeadBwdOp::verify() {
  return failure(failed(verifyKernelDims(*this)) || failed(verifyWeightGradient(*this))); // C1
}

LogicalResult PreBwdOp::canonicalize(PreBwdOp op, PatternRewriter &rewriter) { return roundInKernel(op, rewriter); }
LogicalResult HeadBwdOp::canonicalize(HeadBwdOp op, PatternRewriter &rewriter) { return roundInKernel(op, rewriter); }

/// The gradients of u, or of a head's output, with respect to x, in f32 and with the start, and h_pre.
template <typename Op>
static AggregateBwdOp buildAggregateBwd(Op op, OpBuilder &builder, Value dU, Value hPre, Value start) {
  Type f32 = builder.getF32Type();
  Type dX = op.getDX() ? Type(op.getX().getType().clone(f32)) : Type();
  return AggregateBwdOp::create(builder, op.getLoc(), dX, hPre.getType(), dU, op.getX(), hPre, start, op.getLayout());
}

/// Turns the gates' gradients into those of all operands, adding those of x to the aggregate's.
template <typename Op>
static SmallVector<Value> finishBwd(Op op, OpBuilder &builder, Value dX, Value dHPre, Value dHPost, Value dLogits) {
  LeafBuilder leaf(builder, op.getLoc());
  if (op.getDHPre())
    dHPre = leaf.add(dHPre, op.getDHPre());
  GatesBwdOp::Fields ofGates(op);
  ofGates.d_proj = op.getProj().getType();
  ofGates.d_stat = op.getStat().getType();
  ofGates.d_alpha = typeOf(op.getDAlpha());
  ofGates.d_beta = typeOf(op.getDBeta());
  ofGates.d_h_pre = dHPre;
  ofGates.d_h_post = dHPost;
  ofGates.d_logits = dLogits;
  readRawProducts(ofGates);
  GatesBwdOp gates = ofGates.create(builder, op.getLoc());
  ProjectionBwdOp::Fields fields(op);
  fields.d_x = typeOf(op.getDX());
  fields.d_phi = typeOf(op.getDPhi());
  fields.d_norm_weight = typeOf(op.getDNormWeight());
  fields.d_proj = gates.getDProj();
  fields.d_stat = gates.getDStat();
  fields.d_x_in = dX;
  fields.stat_form = Stat::inv_rms;
  ProjectionBwdOp projection = fields.create(builder, op.getLoc());
  SmallVector<Value> results(projection->getResults());
  for (Value gradient : {Value(gates.getDAlpha()), Value(gates.getDBeta())})
    if (gradient)
      results.push_back(gradient);
  return results;
}

/// The gradient of the residual logits from that of the residual map.
static Value residualBwd(PreBwdOp op, OpBuilder &builder, Value dMix, Value logits) {
  LeafBuilder leaf(builder, op.getLoc());
  if (op.getResMap() == ResMap::permutation)
    return PermutationMixBwdOp::create(builder, op.getLoc(), logits.getType(), dMix, logits);
  if (op.getResMap() == ResMap::sinkhorn) {
    logits = leaf.rounded(leaf.splitLike(logits, dMix), op.getSkFormat());
    SinkhornBwdOp::Fields fields(op);
    fields.d_logits = dMix.getType();
    fields.d_mix = dMix;
    fields.logits = logits;
    fields.eps = op.getSkEps().convertToDouble();
    dMix = fields.create(builder, op.getLoc());
  }
  return leaf.join(dMix, 1, 2);
}

SmallVector<Value> PreBwdOp::decompose(OpBuilder &builder) {
  if (Operation *whole = withWholeStreams(builder, *this))
    return SmallVector<Value>(whole->getResults());
  LeafBuilder leaf(builder, getLoc());
  RankedTensorType gateType = getDHPost().getType();
  int64_t tokens = gateType.getDimSize(0), n = gateType.getDimSize(1), rows = getBeta().getType().getDimSize(0);
  GatesOp gates = buildGates(*this, builder, getProj(), getStat(), gateType, gateType.clone({tokens, rows - 2 * n}));
  Value hPre = leaf.rounded(gates.getHPre(), getHPreFormat()), hPost = leaf.rounded(gates.getHPost(), getHPostFormat());
  Value start = getDXIn();
  if (getDOut())
    start = mixStreams(leaf, getHRes(), leaf.toF32(getDOut()), getLayout(), getOrient(), /*back=*/true);
  Value dX = start, dHPre, dHPost = getDHPost(), dMix = getDHRes();
  if (getDU()) {
    AggregateBwdOp aggregate = buildAggregateBwd(*this, builder, getDU(), hPre, start);
    dX = aggregate.getDX(), dHPre = aggregate.getDHPre();
  } else {
    dHPre = leaf.splat(0.0, hPre);
  }
  if (getFoldPre()) {
    LeafBuilder::Sizes sizes = leaf.sizesOf(dMix);
    auto weighted = [&](Value gate, int64_t kept) { // summed over the other index
      Value product = leaf.mul(dMix, leaf.broadcast(gate, sizes, {0, 3 - kept}));
      return leaf.reduce(ReduceKind::sum, product, 3 - kept);
    };
    dHPost = leaf.sub(dHPost, weighted(hPre, 1));
    dHPre = leaf.sub(dHPre, weighted(hPost, 2));
  }
  Value dLogits = residualBwd(*this, builder, dMix, gates.getLogits());
  return finishBwd(*this, builder, dX, dHPre, dHPost, dLogits);
}

SmallVector<Value> HeadBwdOp::decompose(OpBuilder &builder) {
  GatesOp gates = buildGates(*this, builder, getProj(), getStat(), getProj().getType());
  Value hPre = LeafBuilder(builder, getLoc()).rounded(gates.getHPre(), getHPreFormat());
  AggregateBwdOp aggregate = buildAggregateBwd(*this, builder, getDOut(), hPre, getDXIn());
  return finishBwd(*this, builder, aggregate.getDX(), aggregate.getDHPre(), Value(), Value());
}
