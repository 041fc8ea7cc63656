//===- Projection.cpp - projection and gates ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/LeafBuilder.h"

using namespace mlir;
using namespace mhc;

//===----------------------------------------------------------------------===//
// projection
//===----------------------------------------------------------------------===//

/// C1 of projection and of gates.
static LogicalResult verifyStat(Operation *op, Stat form, Value stat) {
  if ((form == Stat::applied) == !stat)
    return success();
  return op->emitOpError() << (stat ? "has 'stat' with" : "lacks 'stat' with") << " stat_form '" << stringifyStat(form)
                           << "'; 'stat' goes with 'mean_square' and 'inv_rms' only";
}

LogicalResult ProjectionOp::verify() {
  if (failed(verifyKernelDims(*this)))
    return failure();
  return verifyStat(*this, getStatForm(), getStat());
}

/// The multiplier of a token from its mean square.
static Value multiplier(LeafBuilder &leaf, Norm norm, double eps, Value meanSquare) {
  Value one = leaf.splat(1.0, meanSquare);
  if (norm == Norm::none)
    return one;
  Value epsilon = leaf.splat(eps, meanSquare);
  Value divisor =
      norm == Norm::inside ? leaf.sqrt(leaf.add(meanSquare, epsilon)) : leaf.add(leaf.sqrt(meanSquare), epsilon);
  return leaf.div(one, divisor);
}

SmallVector<Value> ProjectionOp::decompose(OpBuilder &builder) {
  LeafBuilder leaf(builder, getLoc());
  Value x = leaf.toF32(leaf.join(getX(), 1, 2));
  Value phi = leaf.toF32(getPhi());
  bool rowsFirst = getPhiLayout() == PhiLayout::out_in;
  if (getNormWeight()) {
    Value weight = leaf.toF32(getNormWeight());
    phi = leaf.mul(phi, leaf.broadcast(weight, leaf.sizesOf(phi), rowsFirst ? 1 : 0));
  }
  Value proj = leaf.matmul(x, phi, /*transposeLhs=*/false, /*transposeRhs=*/rowsFirst);
  Value meanSquare = leaf.reduce(ReduceKind::mean, leaf.mul(x, x), 1);
  if (getStatForm() == Stat::mean_square)
    return {proj, meanSquare};
  Value s = multiplier(leaf, getNorm(), getNormEps().convertToDouble(), meanSquare);
  if (getStatForm() == Stat::inv_rms)
    return {proj, s};
  return {leaf.mul(proj, leaf.broadcast(s, leaf.sizesOf(proj), 0))};
}

//===----------------------------------------------------------------------===//
// gates
//===----------------------------------------------------------------------===//

LogicalResult GatesOp::verify() {
  if (failed(verifyKernelDims(*this)) || failed(verifyStat(*this, getStatForm(), getStat())))
    return failure();
  if (!getHPost() != !getLogits()) // C2
    return emitOpError() << "has only one of 'h_post' and 'logits'; needed both or none";
  int64_t n = getHPre().getType().getDimSize(1), rows = getProj().getType().getDimSize(1);
  int64_t groups = getAlpha().getType().getDimSize(0), neededGroups = getLogits() ? 3 : 1;
  int64_t neededRows = getLogits() ? 2 * n + getLogits().getType().getDimSize(1) : n;
  if (rows != neededRows)
    return emitOpError() << "dimension 'N' is " << rows << " in 'proj'; needed " << neededRows
                         << (getLogits() ? " = 2*n + R" : " = n");
  if (groups != neededGroups)
    return emitOpError() << "dimension 'A' is " << groups << " in 'alpha'; needed " << neededGroups;
  return success();
}

SmallVector<Value> GatesOp::decompose(OpBuilder &builder) {
  LeafBuilder leaf(builder, getLoc());
  Value z = getProj();
  LeafBuilder::Sizes sizes = leaf.sizesOf(z);
  if (Value stat = getStat()) {
    if (getStatForm() == Stat::mean_square)
      stat = multiplier(leaf, Norm::inside, getNormEps().convertToDouble(), stat);
    z = leaf.mul(z, leaf.broadcast(stat, sizes, 0));
  }
  int64_t n = getHPre().getType().getDimSize(1);
  auto group = [&](int64_t index, int64_t offset, int64_t width) {
    Value part = leaf.slice(z, 1, offset, width);
    LeafBuilder::Sizes partSizes = leaf.sizesOf(part);
    Value scaled = leaf.mul(part, leaf.broadcast(leaf.slice(getAlpha(), 0, index, 1), partSizes, 1));
    return leaf.add(scaled, leaf.broadcast(leaf.slice(getBeta(), 0, offset, width), partSizes, 1));
  };
  Value pre = leaf.sigmoid(group(0, 0, n));
  SmallVector<Value> results = {leaf.add(pre, leaf.splat(getPreEps().convertToDouble(), pre))};
  if (getLogits()) {
    Value post = leaf.sigmoid(group(1, n, n));
    results.push_back(leaf.mul(post, leaf.splat(getPostMult().convertToDouble(), post)));
    results.push_back(group(2, 2 * n, getLogits().getType().getDimSize(1)));
  }
  return results;
}
