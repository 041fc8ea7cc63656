//===- Windows.cpp - Convolutions as sums over their window -----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution reads an operand at a sum of two loops: out[t] += x[t + j] * w[j]. For one j that is an op on a slice
// of x, which is read like any other. So it becomes one op for each j, in their order; the first starts from what the
// convolution starts from, and each other one from the one before.
//
//===----------------------------------------------------------------------===//

#include "Import.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mhc;

/// Ops that one convolution may become: a window of tokens, or of 3 x 3 or 4 x 4 points.
constexpr int64_t kMostPoints = 16;

namespace {
/// A place along one dimension: stride * loop + offset.
struct Place {
  int64_t stride, offset;
  std::optional<unsigned> loop;
};

class WindowUnroller {
public:
  explicit WindowUnroller(linalg::LinalgOp op) : op(op), builder(op), sizes(op.getStaticLoopRanges()) {}

  bool run();

private:
  bool findWindow();
  std::optional<Place> placeOf(AffineExpr expr, ArrayRef<int64_t> point) const;
  Value atPoint(ArrayRef<int64_t> point, Value start);
  std::optional<AffineMap> sliceAtPoint(OpOperand &operand, ArrayRef<int64_t> point, Value &slice);
  OpFoldResult sizeOf(unsigned loop);

  linalg::LinalgOp op;
  OpBuilder builder;
  SmallVector<int64_t> sizes;
  SmallVector<unsigned> window; ///< its loops
};
} // namespace

/// The reduction loops that share a dimension with another loop, where they are short.
bool WindowUnroller::findWindow() {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  llvm::SmallBitVector found(kinds.size());
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults())
      if (isa<AffineBinaryOpExpr>(expr))
        for (unsigned loop = 0; loop < kinds.size(); ++loop)
          if (expr.isFunctionOfDim(loop) && kinds[loop] == utils::IteratorType::reduction)
            found.set(loop);
  int64_t points = 1;
  for (unsigned loop : found.set_bits()) {
    if (ShapedType::isDynamic(sizes[loop]) || sizes[loop] < 1 || sizes[loop] > kMostPoints)
      return false;
    points *= sizes[loop];
    window.push_back(loop);
  }
  return !window.empty() && points <= kMostPoints;
}

/// Nothing where an expression is no place for a point of the window, or one that runs backwards.
std::optional<Place> WindowUnroller::placeOf(AffineExpr expr, ArrayRef<int64_t> point) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Place{0, constant.getValue(), std::nullopt};
  if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
    const auto *found = llvm::find(window, loop.getPosition());
    if (found != window.end())
      return Place{0, point[found - window.begin()], std::nullopt};
    return Place{1, 0, loop.getPosition()};
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  std::optional<Place> a = binary ? placeOf(binary.getLHS(), point) : std::nullopt;
  std::optional<Place> b = a ? placeOf(binary.getRHS(), point) : std::nullopt;
  if (!b || (a->loop && b->loop))
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return Place{a->stride + b->stride, a->offset + b->offset, a->loop ? a->loop : b->loop};
  if (expr.getKind() != AffineExprKind::Mul || b->loop || b->offset < 1)
    return std::nullopt;
  return Place{a->stride * b->offset, a->offset * b->offset, a->loop};
}

OpFoldResult WindowUnroller::sizeOf(unsigned loop) {
  if (!ShapedType::isDynamic(sizes[loop]))
    return builder.getIndexAttr(sizes[loop]);
  for (OpOperand &operand : op->getOpOperands())
    for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (expr == builder.getAffineDimExpr(loop))
        return tensor::getMixedSize(builder, op.getLoc(), operand.get(), dim);
  return {};
}

/// The part of an operand that a point of the window reads, and how the loops that are left read that.
std::optional<AffineMap> WindowUnroller::sliceAtPoint(OpOperand &operand, ArrayRef<int64_t> point, Value &slice) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  slice = operand.get();
  if (map.getNumResults() == 0)
    return AffineMap::get(sizes.size(), 0, {}, builder.getContext());
  SmallVector<OpFoldResult> offsets, counts, strides;
  SmallVector<AffineExpr> results;
  SmallVector<int64_t> shape;
  for (AffineExpr expr : map.getResults()) {
    std::optional<Place> place = placeOf(expr, point);
    OpFoldResult count = place && place->loop ? sizeOf(*place->loop) : OpFoldResult(builder.getIndexAttr(1));
    if (!place || !count)
      return std::nullopt;
    offsets.push_back(builder.getIndexAttr(place->offset));
    counts.push_back(count);
    strides.push_back(builder.getIndexAttr(place->loop ? place->stride : 1));
    if (place->loop) {
      results.push_back(builder.getAffineDimExpr(*place->loop));
      shape.push_back(getConstantIntValue(count).value_or(ShapedType::kDynamic));
    }
  }
  if (!llvm::equal(results, map.getResults()))
    slice = tensor::ExtractSliceOp::create(builder, op.getLoc(), cast<RankedTensorType>(slice.getType()).clone(shape),
                                           slice, offsets, counts, strides);
  return AffineMap::get(sizes.size(), 0, results, builder.getContext());
}

/// The op with the loops of the window at one point.
Value WindowUnroller::atPoint(ArrayRef<int64_t> point, Value start) {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    Value slice;
    std::optional<AffineMap> map = sliceAtPoint(operand, point, slice);
    if (!map)
      return {};
    maps.push_back(*map);
    if (op.isDpsInput(&operand))
      inputs.push_back(slice);
  }
  llvm::SmallBitVector gone(sizes.size());
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray(), left;
  for (unsigned loop : window)
    gone.set(loop);
  for (auto [loop, kind] : llvm::enumerate(kinds))
    if (!gone[loop])
      left.push_back(kind);
  for (AffineMap &map : maps)
    map = projectDims(map, gone, /*compressDimsFlag=*/true);
  auto part = linalg::GenericOp::create(builder, op.getLoc(), start.getType(), inputs, start, maps, left);
  IRMapping mapping;
  op->getRegion(0).cloneInto(&part.getRegion(), mapping);
  return part.getResult(0);
}

bool WindowUnroller::run() {
  bool isPlain = op.hasPureTensorSemantics() && op.getNumDpsInits() == 1 && !op.hasIndexSemantics();
  if (!isPlain || !findWindow())
    return false;
  Value sum = op.getDpsInits()[0];
  SmallVector<int64_t> point(window.size(), 0);
  for (bool isLeft = true; isLeft;) {
    sum = atPoint(point, sum);
    if (!sum)
      return false;
    isLeft = false;
    for (int64_t loop = window.size() - 1; loop >= 0 && !isLeft; --loop) {
      isLeft = ++point[loop] < sizes[window[loop]];
      point[loop] = isLeft ? point[loop] : 0;
    }
  }
  op->getResult(0).replaceAllUsesWith(sum);
  return true;
}

void mhc::unrollWindows(func::FuncOp func) {
  SmallVector<linalg::LinalgOp> ops;
  func.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops)
    if (WindowUnroller(op).run())
      op.erase();
}
