//===- Pre.cpp - pre and head ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sinkhorn.h"
#include "mhc/IR/LeafBuilder.h"

using namespace mlir;
using namespace mhc;

LogicalResult PreOp::verify() {
  if (failed(verifyKernelDims(*this)))
    return failure();
  if (getResMap() == ResMap::permutation)
    return verifyPermutationStreams(*this, getHRes().getType().getDimSize(1));
  if (getResMap() == ResMap::identity)
    return success();
  return verifySinkhornAttrs(*this, getInit(), getOrder(), getDenom(), getIters()); // C1
}

/// Raw product and multiplier of the projection inside a fused op.
template <typename Op>
static ProjectionOp buildProjection(Op op, OpBuilder &builder, int64_t rows) {
  int64_t tokens = op.getX().getType().getDimSize(0);
  Type f32 = builder.getF32Type();
  return ProjectionOp::create(builder, op.getLoc(), RankedTensorType::get({tokens, rows}, f32),
                              RankedTensorType::get({tokens}, f32), op.getX(), op.getPhi(), op.getNormWeight(),
                              op.getLayout(), op.getPhiLayout(), op.getNorm(), op.getNormEps(), Stat::inv_rms);
}

SmallVector<Value> PreOp::decompose(OpBuilder &builder) {
  LeafBuilder leaf(builder, getLoc());
  RankedTensorType mixType = getHRes().getType(), gateType = getHPost().getType();
  int64_t tokens = mixType.getDimSize(0), n = mixType.getDimSize(1), rows = getBeta().getType().getDimSize(0);
  ProjectionOp projection = buildProjection(*this, builder, rows);
  auto zero = APFloat(0.0);
  auto gates = GatesOp::create(builder, getLoc(), gateType, gateType, mixType.clone({tokens, rows - 2 * n}),
                               projection.getProj(), projection.getStat(), getAlpha(), getBeta(), Stat::inv_rms, zero,
                               getPreEps(), getPostMult());
  Value mix;
  if (getResMap() == ResMap::permutation)
    mix = PermutationMixOp::create(builder, getLoc(), mixType, gates.getLogits());
  else
    mix = leaf.split(gates.getLogits(), 1, {n, n});
  if (getResMap() == ResMap::sinkhorn)
    mix =
        SinkhornOp::create(builder, getLoc(), mixType, mix, getInit(), getOrder(), getDenom(), getSkEps(), getIters());
  if (getFoldPre()) {
    LeafBuilder::Sizes sizes = leaf.sizesOf(mix);
    Value post = leaf.broadcast(gates.getHPost(), sizes, {0, 1});
    mix = leaf.sub(mix, leaf.mul(post, leaf.broadcast(gates.getHPre(), sizes, {0, 2})));
  }
  Value u = AggregateOp::create(builder, getLoc(), getU().getType(), getX(), gates.getHPre(), getLayout());
  SmallVector<Value> results = {u};
  if (getHPre())
    results.push_back(gates.getHPre());
  results.append({gates.getHPost(), mix});
  return results;
}

SmallVector<Value> HeadOp::decompose(OpBuilder &builder) {
  int64_t tokens = getX().getType().getDimSize(0), n = getBeta().getType().getDimSize(0);
  ProjectionOp projection = buildProjection(*this, builder, n);
  auto gateType = RankedTensorType::get({tokens, n}, builder.getF32Type());
  auto gates = GatesOp::create(builder, getLoc(), gateType, Type(), Type(), projection.getProj(), projection.getStat(),
                               getAlpha(), getBeta(), Stat::inv_rms, APFloat(0.0), getPreEps(), APFloat(1.0));
  Value out = AggregateOp::create(builder, getLoc(), getOut().getType(), getX(), gates.getHPre(), getLayout());
  if (getHPre())
    return {out, gates.getHPre()};
  return {out};
}
