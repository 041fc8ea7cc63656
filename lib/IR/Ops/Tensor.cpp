//===- Tensor.cpp - Leaf ops of the tensor language ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mhc/IR/Counted.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include <numeric>

using namespace mlir;
using namespace mhc;

static SmallVector<int> iota(int64_t rank) {
  SmallVector<int> labels(rank);
  std::iota(labels.begin(), labels.end(), 0);
  return labels;
}

static DimLabels elementwiseLabels(RankedTensorType type) { return {{iota(type.getRank())}, {iota(type.getRank())}}; }

DimLabels SigmoidOp::getDimLabels() { return elementwiseLabels(getX().getType()); }
DimLabels SiluOp::getDimLabels() { return elementwiseLabels(getX().getType()); }
DimLabels SoftplusOp::getDimLabels() { return elementwiseLabels(getX().getType()); }
DimLabels SoftmaxOp::getDimLabels() { return elementwiseLabels(getX().getType()); }

LogicalResult SigmoidOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  LeafBuilder leaf(builder, getLoc());
  Value slope = leaf.sigmoidSlope(leaf.widen(getOut()));
  context.addCotangent(getX(), leaf.mul(context.cotangentOf(getOut()), slope));
  return success();
}

LogicalResult SiluOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  LeafBuilder leaf(builder, getLoc());
  Value slope = leaf.siluSlope(leaf.widen(getX()));
  context.addCotangent(getX(), leaf.mul(context.cotangentOf(getOut()), slope));
  return success();
}

/// softplus' = sigmoid
LogicalResult SoftplusOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  LeafBuilder leaf(builder, getLoc());
  context.addCotangent(getX(), leaf.mul(context.cotangentOf(getOut()), leaf.sigmoid(leaf.widen(getX()))));
  return success();
}

/// d_x = out (d_out - sum(d_out out))
LogicalResult SoftmaxOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  LeafBuilder leaf(builder, getLoc());
  Value g = context.cotangentOf(getOut()), out = leaf.widen(getOut());
  Value mean = leaf.reduceLike(ReduceKind::sum, leaf.mul(g, out), getDim());
  context.addCotangent(getX(), leaf.mul(out, leaf.sub(g, mean)));
  return success();
}

LogicalResult SoftmaxOp::verify() {
  int64_t rank = getX().getType().getRank();
  if (static_cast<int64_t>(getDim()) >= rank)
    return emitOpError() << "has dim " << getDim() << "; the operand has rank " << rank;
  return success();
}

//===----------------------------------------------------------------------===//
// rms_norm
//===----------------------------------------------------------------------===//

LogicalResult RmsNormOp::verify() {
  RankedTensorType type = getX().getType();
  if (type.getRank() == 0)
    return emitOpError() << "has an operand of rank 0; needed at least 1";
  if (!getWeight())
    return success();
  RankedTensorType weight = getWeight().getType();
  if (weight.getRank() != 1 || weight.getDimSize(0) != type.getShape().back())
    return emitOpError() << "has a weight of type " << weight << "; needed one dimension, the last of " << type;
  if (weight.getElementType() != type.getElementType())
    return emitOpError() << "has a weight with elements of type " << weight.getElementType() << "; needed "
                         << type.getElementType();
  return success();
}

DimLabels RmsNormOp::getDimLabels() {
  int rank = getX().getType().getRank();
  DimLabels labels = elementwiseLabels(getX().getType());
  if (getWeight())
    labels.operands.push_back({rank - 1});
  return labels;
}

/// With y = r x, r = 1/rms and g = d_out weight: d_x = r (g - y mean(g y)), d_weight = sum over rows of d_out y.
LogicalResult RmsNormOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  LeafBuilder leaf(builder, getLoc());
  int64_t last = getX().getType().getRank() - 1;
  Value x = leaf.widen(getX()), g = context.cotangentOf(getOut());
  SmallVector<int64_t> rows = llvm::to_vector(llvm::seq<int64_t>(0, last));
  Value meanSquare = leaf.reduce(ReduceKind::mean, leaf.mul(x, x), last); // one a row, also where nothing narrows it
  Value rms = leaf.sqrt(leaf.add(meanSquare, leaf.splat(getEps().convertToDouble(), meanSquare)));
  rms = leaf.broadcast(rms, leaf.sizesOf(x), rows);
  Value y = leaf.div(x, rms);
  if (getWeight()) {
    if (context.needsGradient(getWeight()))
      context.addCotangent(getWeight(), leaf.reduce(ReduceKind::sum, leaf.mul(g, y), rows));
    Value weight = leaf.widen(getWeight());
    g = leaf.mul(g, leaf.broadcast(weight, leaf.sizesOf(x), last));
  }
  if (!context.needsGradient(getX()))
    return success();
  Value mean = leaf.reduceLike(ReduceKind::mean, leaf.mul(g, y), last);
  context.addCotangent(getX(), leaf.div(leaf.sub(g, leaf.mul(y, mean)), rms));
  return success();
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  RankedTensorType type = getX().getType();
  SmallVector<int64_t> shape;
  for (int64_t dim : getDims()) {
    if (dim < 0 || dim >= type.getRank())
      return emitOpError() << "reduces dimension " << dim << "; the operand has rank " << type.getRank();
    if (llvm::count(getDims(), dim) > 1)
      return emitOpError() << "reduces dimension " << dim << " twice";
  }
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(getDims(), dim))
      shape.push_back(type.getDimSize(dim));
  auto needed = RankedTensorType::get(shape, type.getElementType());
  if (getOut().getType() != needed)
    return emitOpError() << "has a result of type " << getOut().getType() << "; needed " << needed;
  return success();
}

DimLabels ReduceOp::getDimLabels() {
  SmallVector<int> kept;
  for (int dim = 0; dim < getX().getType().getRank(); ++dim)
    if (!llvm::is_contained(getDims(), dim))
      kept.push_back(dim);
  return {{iota(getX().getType().getRank())}, {kept}};
}

/// One over the number of elements that make one mean, as a tensor like `g`.
static Value inverseCount(OpBuilder &builder, ReduceOp op, Value g) {
  Location loc = op.getLoc();
  LeafBuilder leaf(builder, loc);
  double known = 1;
  Value count;
  for (int64_t dim : op.getDims()) {
    OpFoldResult size = leaf.size(op.getX(), dim);
    if (auto attr = dyn_cast<Attribute>(size)) {
      known *= cast<IntegerAttr>(attr).getInt();
      continue;
    }
    Value number = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), cast<Value>(size));
    Value factor = arith::SIToFPOp::create(builder, loc, getElementTypeOrSelf(g), number);
    count = count ? leaf.mul(count, factor) : factor;
  }
  if (!count)
    return leaf.splat(1 / known, g);
  Value inverse = leaf.div(leaf.splat(1 / known, count), count);
  return tensor::SplatOp::create(builder, loc, g.getType(), inverse, leaf.dynamicSizes(g));
}

/// A maximum hands its cotangent on to the elements that are the maximum, in equal shares.
static Value spreadOverMaxima(LeafBuilder &leaf, ReduceOp op, Value g, ArrayRef<int64_t> kept) {
  LeafBuilder::Sizes sizes = leaf.sizesOf(op.getX());
  Value x = leaf.widen(op.getX()), max = leaf.widen(op.getOut());
  Value isMax = leaf.isEqual(x, leaf.broadcast(max, sizes, kept));
  Value one = leaf.splat(1.0, x), zero = leaf.splat(0.0, x);
  Value count = leaf.reduce(ReduceKind::sum, leaf.select(isMax, one, zero), op.getDims());
  Value share = leaf.div(g, count);
  return leaf.select(isMax, leaf.broadcast(share, sizes, kept), zero);
}

LogicalResult ReduceOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  LeafBuilder leaf(builder, getLoc());
  Value g = context.cotangentOf(getOut());
  SmallVector<int64_t> kept;
  for (int64_t dim = 0; dim < getX().getType().getRank(); ++dim)
    if (!llvm::is_contained(getDims(), dim))
      kept.push_back(dim);
  if (getKind() == ReduceKind::max) {
    context.addCotangent(getX(), spreadOverMaxima(leaf, *this, g, kept));
    return success();
  }
  if (getKind() == ReduceKind::mean) {
    Value factor = inverseCount(builder, *this, g);
    g = leaf.mul(g, factor);
  }
  context.addCotangent(getX(), leaf.broadcast(g, leaf.sizesOf(getX()), kept));
  return success();
}

//===----------------------------------------------------------------------===//
// broadcast
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  RankedTensorType type = getX().getType(), result = getOut().getType();
  ArrayRef<int64_t> dims = getDims();
  if (type.getElementType() != result.getElementType())
    return emitOpError() << "has a result with elements of type " << result.getElementType() << "; needed "
                         << type.getElementType();
  if (static_cast<int64_t>(dims.size()) != type.getRank())
    return emitOpError() << "has " << counted(dims.size(), "dim") << "; the operand has rank " << type.getRank();
  SmallVector<bool> given(result.getRank(), false);
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (dim < 0 || dim >= result.getRank() || (i > 0 && dim <= dims[i - 1]))
      return emitOpError() << "has dims [" << dims << "]; needed ascending dimensions of " << result;
    int64_t size = type.getDimSize(i);
    if (size != 1 && size != result.getDimSize(dim))
      return emitOpError() << "maps dimension " << i << " of " << type << " to dimension " << dim << " of " << result
                           << "; needed equal sizes, or 1 in the operand";
    given[dim] = size != 1;
  }
  int64_t needed = 0;
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    needed += result.isDynamicDim(dim) && !given[dim];
  if (static_cast<int64_t>(getSizes().size()) != needed)
    return emitOpError() << "has " << counted(getSizes().size(), "size") << "; needed " << needed
                         << ", one per dynamic result dimension that the operand does not give";
  return success();
}

DimLabels BroadcastOp::getDimLabels() {
  RankedTensorType type = getX().getType();
  SmallVector<int> from;
  for (auto [i, dim] : llvm::enumerate(getDims()))
    from.push_back(type.getDimSize(i) == 1 ? -1 : dim);
  DimLabels labels{{from}, {iota(getOut().getType().getRank())}};
  labels.operands.resize(getOperation()->getNumOperands());
  return labels;
}

/// Sums over the dimensions along which elements were repeated.
LogicalResult BroadcastOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  LeafBuilder leaf(builder, getLoc());
  RankedTensorType type = getX().getType();
  SmallVector<int64_t> repeated = llvm::to_vector(llvm::seq<int64_t>(0, getOut().getType().getRank()));
  SmallVector<int64_t> kept; // dimensions of x that are not repeated
  for (auto [i, dim] : llvm::enumerate(getDims()))
    if (type.getDimSize(i) != 1) {
      llvm::erase(repeated, dim);
      kept.push_back(i);
    }
  Value g = context.cotangentOf(getOut());
  if (!repeated.empty())
    g = leaf.reduce(ReduceKind::sum, g, repeated);
  if (static_cast<int64_t>(kept.size()) != type.getRank())
    g = leaf.broadcast(g, leaf.sizesOf(getX()), kept);
  context.addCotangent(getX(), g);
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getOut().getType() && getSizes().empty())
    return getX();
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getX()); splat && getOut().getType().hasStaticShape())
    return splat.resizeSplat(getOut().getType());
  return {};
}

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::verify() {
  RankedTensorType type = getX().getType();
  ArrayRef<int64_t> perm = getPerm();
  if (static_cast<int64_t>(perm.size()) != type.getRank() || !isPermutationVector(perm))
    return emitOpError() << "has perm [" << perm << "]; needed a permutation of "
                         << counted(type.getRank(), "dimension");
  SmallVector<int64_t> shape;
  for (int64_t dim : perm)
    shape.push_back(type.getDimSize(dim));
  auto needed = type.clone(shape);
  if (getOut().getType() != needed)
    return emitOpError() << "has a result of type " << getOut().getType() << "; needed " << needed;
  return success();
}

DimLabels TransposeOp::getDimLabels() {
  return {{iota(getX().getType().getRank())}, {SmallVector<int>(getPerm().begin(), getPerm().end())}};
}

LogicalResult TransposeOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  LeafBuilder leaf(builder, getLoc());
  Value g = context.cotangentOf(getOut());
  context.addCotangent(getX(), leaf.transpose(g, invertPermutationVector(getPerm())));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (llvm::is_sorted(getPerm()))
    return getX();
  if (auto inner = getX().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> perm;
    for (int64_t dim : getPerm())
      perm.push_back(inner.getPerm()[dim]);
    setPerm(perm);
    getXMutable().assign(inner.getX());
    return getOut();
  }
  return {};
}

/// A transpose that moves dimensions of size one only keeps the order in memory: it is a view.
LogicalResult TransposeOp::canonicalize(TransposeOp op, PatternRewriter &rewriter) {
  RankedTensorType type = op.getX().getType();
  llvm::SmallBitVector before(type.getRank()), after(type.getRank());
  SmallVector<int64_t> wide;
  for (auto [i, dim] : llvm::enumerate(op.getPerm())) {
    before[dim] = after[i] = type.getDimSize(dim) == 1;
    if (!after[i])
      wide.push_back(dim);
  }
  if (!llvm::is_sorted(wide))
    return failure();
  LeafBuilder leaf(rewriter, op.getLoc());
  rewriter.replaceOp(op, leaf.insertUnits(leaf.dropUnits(op.getX(), before), after));
  return success();
}

//===----------------------------------------------------------------------===//
// shift and sequence_starts
//===----------------------------------------------------------------------===//

LogicalResult ShiftOp::verify() {
  RankedTensorType type = getX().getType();
  if (static_cast<int64_t>(getDim()) >= type.getRank())
    return emitOpError() << "has dim " << getDim() << "; the operand has rank " << type.getRank();
  if (getStarts() && getStarts().getType().getDimSize(0) != type.getDimSize(getDim()))
    return emitOpError() << "has starts of type " << getStarts().getType() << "; needed the size of dimension "
                         << getDim() << " of " << type;
  return success();
}

DimLabels ShiftOp::getDimLabels() {
  DimLabels labels = elementwiseLabels(getX().getType());
  if (getStarts())
    labels.operands.push_back({static_cast<int>(getDim())});
  return labels;
}

LogicalResult ShiftOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  Value g = context.cotangentOf(getOut());
  context.addCotangent(getX(), ShiftOp::create(builder, getLoc(), g.getType(), g, getStarts(), getDim(), -getBy()));
  return success();
}

LogicalResult SequenceStartsOp::verify() {
  if (getStarts().getType().isDynamicDim(0) == bool(getSize()))
    return success();
  return emitOpError() << "has a result of type " << getStarts().getType() << (getSize() ? " and" : " without")
                       << " a size; needed one where the type leaves it open";
}

DimLabels SequenceStartsOp::getDimLabels() {
  DimLabels labels{{{0}}, {{1}}};
  labels.operands.resize(getOperation()->getNumOperands());
  return labels;
}
