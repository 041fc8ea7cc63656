//===- Projection.cpp - projection and gates ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVjp.h"

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
  if (norm == Norm::inside)
    return leaf.div(one, leaf.sqrt(leaf.add(meanSquare, epsilon)));
  Value root = leaf.sqrt(meanSquare);
  return leaf.div(one, norm == Norm::outside ? leaf.add(root, epsilon) : leaf.max(root, epsilon));
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

/// The gradient needs the multiplier, which the form 'applied' hides.
FailureOr<bool> ProjectionOp::flatten(RewriterBase &rewriter) {
  if (getStatForm() != Stat::applied)
    return false;
  RankedTensorType type = getProj().getType();
  ProjectionOp::Fields fields(*this);
  fields.proj = type;
  fields.stat = type.clone({type.getDimSize(0)});
  fields.stat_form = Stat::inv_rms;
  ProjectionOp raw = fields.create(rewriter, getLoc());
  LeafBuilder leaf(rewriter, getLoc());
  LeafBuilder::Sizes sizes = leaf.sizesOf(raw.getProj());
  rewriter.replaceOp(*this, leaf.mul(raw.getProj(), leaf.broadcast(raw.getStat(), sizes, 0)));
  return true;
}

LogicalResult ProjectionOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  KernelVjp vjp(*this, builder, context);
  ProjectionBwdOp::Fields fields(*this);
  fields.d_proj = vjp.cotangentOrZero(getProj());
  fields.d_stat = vjp.cotangent(getStat());
  fields.stat = fields.d_stat && getStatForm() == Stat::inv_rms ? getStat() : Value();
  fields.d_x = vjp.partial(getX());
  fields.d_x_in = vjp.start(getX());
  fields.d_phi = vjp.summed(getPhi());
  fields.d_phi_in = vjp.start(getPhi());
  fields.d_norm_weight = vjp.summed(getNormWeight());
  fields.d_norm_weight_in = vjp.start(getNormWeight());
  vjp.addResults(fields.create(builder, getLoc()));
  return success();
}

//===----------------------------------------------------------------------===//
// projection_bwd
//===----------------------------------------------------------------------===//

LogicalResult ProjectionBwdOp::verify() {
  if (failed(verifyKernelDims(*this)))
    return failure();
  if (getStatForm() == Stat::applied) // C1
    return emitOpError() << "has stat_form 'applied'; needed 'mean_square' or 'inv_rms', with the product apart";
  if (getDStat() && getStatForm() == Stat::inv_rms && !getStat()) // C2
    return emitOpError() << "has 'd_stat' with stat_form 'inv_rms' but no 'stat'";
  if (getDNormWeight() && !getNormWeight()) // C3
    return emitOpError() << "has 'd_norm_weight' but no 'norm_weight'";
  return success();
}

LogicalResult ProjectionBwdOp::canonicalize(ProjectionBwdOp op, PatternRewriter &rewriter) {
  return roundInKernel(op, rewriter);
}

/// t of mhc.projection_bwd: what the statistic's gradient gives per unit of x.
static Value statisticFactor(LeafBuilder &leaf, ProjectionBwdOp op, Value x) {
  Value dStat = op.getDStat();
  Value meanSquare = leaf.reduce(ReduceKind::mean, leaf.mul(x, x), 1);
  // The mean of ones over K is 1; their sum is K, which may be known at run time only.
  Value width = leaf.reduce(ReduceKind::sum, leaf.splat(1.0, x), 1);
  if (op.getStatForm() == Stat::mean_square)
    return leaf.div(leaf.scale(dStat, 2.0), width);
  Value s = multiplier(leaf, op.getNorm(), op.getNormEps().convertToDouble(), meanSquare);
  Value square = leaf.mul(s, s), zero = leaf.splat(0.0, s);
  Value negative = leaf.negate(leaf.div(leaf.mul(square, dStat), width));
  Value ofRoot = leaf.mul(negative, s);
  if (op.getNorm() == Norm::inside)
    return ofRoot;
  if (op.getNorm() == Norm::clamp) {
    Value eps = leaf.splat(op.getNormEps().convertToDouble(), s);
    return leaf.select(leaf.isGreater(leaf.sqrt(meanSquare), eps), ofRoot, zero);
  }
  Value isNonzero = leaf.isGreater(meanSquare, zero);
  return leaf.select(isNonzero, leaf.div(negative, leaf.sqrt(meanSquare)), zero);
}

SmallVector<Value> ProjectionBwdOp::decompose(OpBuilder &builder) {
  LeafBuilder leaf(builder, getLoc());
  Value x = leaf.toF32(leaf.join(getX(), 1, 2)), phi = leaf.toF32(getPhi()), dProj = getDProj(), weight;
  bool rowsFirst = getPhiLayout() == PhiLayout::out_in;
  if (getNormWeight()) {
    weight = leaf.toF32(getNormWeight());
    weight = leaf.broadcast(weight, leaf.sizesOf(phi), rowsFirst ? 1 : 0);
  }
  SmallVector<Value> results;
  if (Value dX = getDX()) {
    Value scaled = weight ? leaf.mul(phi, weight) : phi;
    Value grad = leaf.matmul(dProj, scaled, /*transposeLhs=*/false, /*transposeRhs=*/!rowsFirst);
    bool hasFactor = getDStat() && (getStatForm() == Stat::mean_square || getNorm() != Norm::none);
    if (hasFactor) {
      Value factor = statisticFactor(leaf, *this, x);
      grad = leaf.add(grad, leaf.mul(leaf.broadcast(factor, leaf.sizesOf(x), 0), x));
    }
    results.push_back(leaf.addStart(leaf.splitLike(grad, getX()), getDXIn(), getElementTypeOrSelf(dX)));
  }
  if (!getDPhi() && !getDNormWeight())
    return results;
  Value product =
      rowsFirst ? leaf.matmul(dProj, x, /*transposeLhs=*/true) : leaf.matmul(x, dProj, /*transposeLhs=*/true);
  if (getDPhi())
    results.push_back(leaf.addStart(weight ? leaf.mul(product, weight) : product, getDPhiIn(), builder.getF32Type()));
  if (getDNormWeight())
    results.push_back(leaf.addStart(leaf.reduce(ReduceKind::sum, leaf.mul(product, phi), rowsFirst ? 0 : 1),
                                    getDNormWeightIn(), builder.getF32Type()));
  return results;
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
  int64_t neededRows = getLogits() ? 2 * n + std::max<int64_t>(1, getLogits().getType().getDimSize(1)) : n;
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

LogicalResult GatesOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  KernelVjp vjp(*this, builder, context);
  GatesBwdOp::Fields fields(*this);
  fields.d_h_pre = vjp.cotangentOrZero(getHPre());
  fields.d_h_post = vjp.cotangent(getHPost());
  fields.d_logits = vjp.cotangent(getLogits());
  fields.d_proj = vjp.summed(getProj());
  fields.d_stat = vjp.summed(getStat());
  fields.d_alpha = vjp.summed(getAlpha());
  fields.d_alpha_in = vjp.start(getAlpha());
  fields.d_beta = vjp.summed(getBeta());
  fields.d_beta_in = vjp.start(getBeta());
  vjp.addResults(fields.create(builder, getLoc()));
  return success();
}

//===----------------------------------------------------------------------===//
// gates_bwd
//===----------------------------------------------------------------------===//

LogicalResult GatesBwdOp::verify() {
  if (failed(verifyKernelDims(*this)) || failed(verifyStat(*this, getStatForm(), getStat())))
    return failure();
  if (getDStat() && !getStat()) // C1
    return emitOpError() << "has 'd_stat' but no 'stat'";
  int64_t n = getDHPre().getType().getDimSize(1), rows = getProj().getType().getDimSize(1);
  int64_t groups = getAlpha().getType().getDimSize(0);
  if (groups != 1 && groups != 3) // C2
    return emitOpError() << "dimension 'A' is " << groups << " in 'alpha'; needed 1 or 3";
  if (groups == 1 && (getDHPost() || getDLogits()))
    return emitOpError() << "has '" << (getDHPost() ? "d_h_post" : "d_logits") << "' with one gate group";
  int64_t logits = std::max<int64_t>(1, getDLogits() ? getDLogits().getType().getDimSize(1) : rows - 2 * n);
  if (rows != (groups == 1 ? n : 2 * n + logits))
    return emitOpError() << "dimension 'N' is " << rows << " in 'proj'; needed " << (groups == 1 ? n : 2 * n + logits)
                         << (groups == 1 ? " = n" : " = 2*n + R");
  return success();
}

namespace {
/// One group of columns of mhc.gates.
struct GateGroup {
  int64_t index, offset, width;
  Value grad;    ///< of the gate or the logits; null counts as zero
  double factor; ///< of the sigmoid; 0 for logits, which have none
};
} // namespace

/// dz of a group.
static Value groupGradient(LeafBuilder &leaf, GatesBwdOp op, Value scaled, const GateGroup &group) {
  Value part = leaf.slice(scaled, 1, group.offset, group.width);
  if (!group.grad)
    return leaf.splat(0.0, part);
  if (group.factor == 0)
    return group.grad;
  LeafBuilder::Sizes sizes = leaf.sizesOf(part);
  Value z = leaf.mul(part, leaf.broadcast(leaf.slice(op.getAlpha(), 0, group.index, 1), sizes, 1));
  z = leaf.add(z, leaf.broadcast(leaf.slice(op.getBeta(), 0, group.offset, group.width), sizes, 1));
  Value gate = leaf.sigmoid(z), one = leaf.splat(1.0, gate);
  Value slope = leaf.mul(gate, leaf.sub(one, gate));
  return leaf.mul(leaf.mul(group.grad, leaf.splat(group.factor, slope)), slope);
}

SmallVector<Value> GatesBwdOp::decompose(OpBuilder &builder) {
  LeafBuilder leaf(builder, getLoc());
  Value proj = getProj(), s, scaled = proj;
  LeafBuilder::Sizes sizes = leaf.sizesOf(proj);
  bool isMeanSquare = getStatForm() == Stat::mean_square;
  if (getStat()) {
    s = isMeanSquare ? multiplier(leaf, Norm::inside, getNormEps().convertToDouble(), getStat()) : Value(getStat());
    scaled = leaf.mul(proj, leaf.broadcast(s, sizes, 0));
  }
  int64_t n = getDHPre().getType().getDimSize(1), rows = getProj().getType().getDimSize(1);
  SmallVector<GateGroup> groups = {{0, 0, n, getDHPre(), 1.0}};
  if (getAlpha().getType().getDimSize(0) == 3) {
    groups.push_back({1, n, n, getDHPost(), getPostMult().convertToDouble()});
    groups.push_back({2, 2 * n, rows - 2 * n, getDLogits(), 0.0});
  }
  SmallVector<Value> grads, factors, alphas;
  for (const GateGroup &group : groups) {
    grads.push_back(groupGradient(leaf, *this, scaled, group));
    Value alpha = leaf.slice(getAlpha(), 0, group.index, 1);
    factors.push_back(leaf.broadcast(alpha, leaf.sizesOf(grads.back()), 1));
    Value terms = leaf.mul(grads.back(), leaf.slice(scaled, 1, group.offset, group.width));
    Value sums = leaf.split(leaf.reduce(ReduceKind::sum, terms, 0), 0, {1, group.width});
    alphas.push_back(leaf.reduce(ReduceKind::sum, sums, 1));
  }
  Value dz = leaf.concat(grads, 1);
  Value weighted = leaf.mul(dz, leaf.concat(factors, 1));
  SmallVector<Value> results;
  if (getDProj())
    results.push_back(s ? leaf.mul(weighted, leaf.broadcast(s, sizes, 0)) : weighted);
  if (getDStat()) {
    Value dStat = leaf.reduce(ReduceKind::sum, leaf.mul(weighted, proj), 1);
    if (isMeanSquare) // ds/dms = -s^3 / 2
      dStat = leaf.mul(leaf.mul(dStat, leaf.splat(-0.5, s)), leaf.mul(s, leaf.mul(s, s)));
    results.push_back(dStat);
  }
  if (getDAlpha())
    results.push_back(leaf.addStart(leaf.concat(alphas, 0), getDAlphaIn(), builder.getF32Type()));
  if (getDBeta())
    results.push_back(leaf.addStart(leaf.reduce(ReduceKind::sum, dz, 0), getDBetaIn(), builder.getF32Type()));
  return results;
}
