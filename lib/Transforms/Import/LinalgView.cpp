//===- LinalgView.cpp - Operands of linalg ops over the loops' domain ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgView.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

bool mhc::hasLeafType(Value value) {
  Type element = getElementTypeOrSelf(value);
  return element.isF32() || element.isBF16() || element.isF16() || element.isF64();
}

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

Loops mhc::loopsOf(AffineMap map) {
  Loops loops;
  for (AffineExpr expr : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops.push_back(dim.getPosition());
  return loops;
}

LinalgViews::LinalgViews(linalg::LinalgOp op, OpBuilder &builder)
    : op(op), builder(builder), loc(op.getLoc()), leaf(builder, loc), sizes(op.getNumLoops()) {
  auto visit = [&](auto take) {
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [dim, expr] : llvm::enumerate(map.getResults()))
        if (auto loop = dyn_cast<AffineDimExpr>(expr); loop && !sizes[loop.getPosition()])
          take(sizes[loop.getPosition()], operand.get(), dim);
    }
  };
  visit([&](OpFoldResult &size, Value tensor, int64_t dim) {
    if (!tensorType(tensor).isDynamicDim(dim))
      size = builder.getIndexAttr(tensorType(tensor).getDimSize(dim));
  });
  visit([&](OpFoldResult &size, Value tensor, int64_t dim) { size = sizeOf(builder, loc, tensor, dim); });
}

Value LinalgViews::splat(Value scalar) {
  SmallVector<Value> dynamic;
  for (OpFoldResult size : sizes)
    if (auto value = dyn_cast<Value>(size))
      dynamic.push_back(value);
  return tensor::SplatOp::create(builder, loc, typeOf(scalar.getType()), scalar, dynamic);
}

Value LinalgViews::castTo(Value tensor, RankedTensorType type) {
  if (tensor.getType() == type)
    return tensor;
  if (!tensor::CastOp::areCastCompatible(tensor.getType(), type))
    return {};
  return tensor::CastOp::create(builder, loc, type, tensor);
}

Value LinalgViews::dropUnits(Value tensor, AffineMap map) {
  llvm::SmallBitVector units(map.getNumResults());
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    units[dim] = isa<AffineConstantExpr>(expr);
    if (units[dim] && tensorType(tensor).getDimSize(dim) != 1)
      return {};
  }
  return leaf.dropUnits(tensor, units);
}

/// The order that sorts `loops`.
static SmallVector<int64_t> sortingOrder(ArrayRef<int64_t> loops) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, loops.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return loops[a] < loops[b]; });
  return order;
}

Value LinalgViews::over(OpOperand &operand) {
  if (!isa<RankedTensorType>(operand.get().getType()))
    return splat(operand.get());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  RankedTensorType type = typeOf(tensorType(operand.get()).getElementType());
  if (map.isIdentity())
    return castTo(operand.get(), type);
  Value tensor = hasLeafType(operand.get()) ? dropUnits(operand.get(), map) : Value();
  if (!tensor)
    return {};
  Loops loops = loopsOf(map);
  if (!llvm::is_sorted(loops))
    tensor = leaf.transpose(tensor, sortingOrder(loops));
  llvm::sort(loops);
  if (loops.size() < sizes.size()) {
    // Another operand may know a size that this one does not.
    SmallVector<int64_t> known = llvm::map_to_vector(loops, [&](int64_t loop) { return type.getDimSize(loop); });
    tensor = castTo(tensor, type.clone(known));
    if (!tensor)
      return {};
    tensor = leaf.broadcast(tensor, sizes, loops);
  }
  return castTo(tensor, type);
}

Value LinalgViews::as(Value tensor, OpOperand &init) {
  AffineMap map = op.getMatchingIndexingMap(&init);
  Loops loops = loopsOf(map);
  if (static_cast<int64_t>(loops.size()) != tensorType(tensor).getRank())
    return {};
  if (!llvm::is_sorted(loops)) {
    if (!hasLeafType(tensor))
      return {};
    // The order that undoes the sorting.
    tensor = leaf.transpose(tensor, sortingOrder(sortingOrder(loops)));
  }
  auto type = cast<RankedTensorType>(init.get().getType());
  llvm::SmallBitVector units(map.getNumResults());
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    units[dim] = isa<AffineConstantExpr>(expr);
  return castTo(leaf.insertUnits(tensor, units), type);
}

Value LinalgViews::arrange(Value tensor, ArrayRef<int64_t> loops, ArrayRef<Loops> groups) {
  SmallVector<int64_t> perm;
  for (ArrayRef<int64_t> group : groups)
    for (int64_t loop : group)
      perm.push_back(llvm::find(loops, loop) - loops.begin());
  if (!llvm::is_sorted(perm))
    tensor = leaf.transpose(tensor, perm);
  llvm::SmallBitVector units(groups.size());
  int64_t dim = 0;
  for (auto [i, group] : llvm::enumerate(groups)) {
    units[i] = group.empty();
    if (group.size() > 1)
      tensor = leaf.join(tensor, dim, group.size());
    dim += !group.empty();
  }
  return leaf.insertUnits(tensor, units);
}

Value LinalgViews::separate(Value tensor, ArrayRef<Loops> groups) {
  Domain shape;
  Loops order;
  SmallVector<ReassociationIndices> split(groups.size());
  llvm::SmallBitVector units;
  for (auto [parts, group] : llvm::zip(split, groups)) {
    for (int64_t loop : group) {
      parts.push_back(shape.size());
      shape.push_back(sizes[loop]);
      order.push_back(loop);
    }
    if (group.empty()) {
      parts.push_back(shape.size());
      shape.push_back(builder.getIndexAttr(1));
    }
    units.resize(shape.size(), group.empty());
  }
  if (shape.size() > groups.size()) {
    RankedTensorType type = LeafBuilder::typeOf(shape, tensorType(tensor).getElementType());
    tensor = tensor::ExpandShapeOp::create(builder, loc, type, tensor, split, shape);
  }
  tensor = leaf.dropUnits(tensor, units);
  return llvm::is_sorted(order) ? tensor : leaf.transpose(tensor, sortingOrder(order));
}

Value LinalgViews::dropLoops(Value tensor, Loops &loops, ArrayRef<int64_t> units) {
  auto isUnit = [&](int64_t loop) { return llvm::is_contained(units, loop); };
  llvm::SmallBitVector dropped(loops.size());
  for (auto [dim, loop] : llvm::enumerate(loops))
    dropped[dim] = isUnit(loop);
  llvm::erase_if(loops, isUnit);
  return leaf.dropUnits(tensor, dropped);
}

Value LinalgViews::contraction() {
  auto loopsOfOperand = [&](OpOperand *operand) { return loopsOf(op.getMatchingIndexingMap(operand)); };
  OpOperand *lhs = op.getDpsInputOperand(0), *rhs = op.getDpsInputOperand(1), *init = op.getDpsInitOperand(0);
  Loops left = loopsOfOperand(lhs), right = loopsOfOperand(rhs), out = loopsOfOperand(init);
  Loops batch, rows, columns, depth;
  for (int64_t loop = 0; loop < static_cast<int64_t>(sizes.size()); ++loop) {
    bool inLeft = llvm::is_contained(left, loop), inRight = llvm::is_contained(right, loop);
    bool inOut = llvm::is_contained(out, loop);
    if (inLeft + inRight + inOut < 2)
      return {};
    (!inOut ? depth : !inRight ? rows : !inLeft ? columns : batch).push_back(loop);
  }
  if (rows.empty() && columns.empty())
    return {}; // vectors: a multiplication and a reduction
  Type element = getElementTypeOrSelf(init->get());
  Value a = leaf.cast(lhs->get(), element), b = leaf.cast(rhs->get(), element);
  if (llvm::all_of(batch, [&](int64_t loop) { return getConstantIntValue(sizes[loop]) == 1; })) {
    // A batch of one is a product of matrices whose rows it stands above.
    b = dropLoops(b, right, batch);
    rows.insert(rows.begin(), batch.begin(), batch.end());
    batch.clear();
  }
  if (batch.empty()) {
    a = arrange(a, left, {rows, depth});
    b = arrange(b, right, {depth, columns});
    return separate(leaf.matmul(a, b), {rows, columns});
  }
  a = arrange(a, left, {batch, rows, depth});
  b = arrange(b, right, {batch, depth, columns});
  return separate(leaf.batchMatmul(a, b), {batch, rows, columns});
}
