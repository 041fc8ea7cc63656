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

/// The part of an operand that a point of the window reads, and how the loops that are left read that.
struct Part {
  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<int64_t> shape;
  AffineMap map;
};

class WindowUnroller {
public:
  explicit WindowUnroller(linalg::LinalgOp op) : op(op), builder(op), sizes(op.getStaticLoopRanges()) {}

  bool run();

private:
  bool findWindow();
  std::optional<Place> placeOf(AffineExpr expr, ArrayRef<int64_t> point) const;
  Value atPoint(ArrayRef<int64_t> point, Value start);
  std::optional<Part> partAt(OpOperand &operand, ArrayRef<int64_t> point);
  OpFoldResult sizeOf(unsigned loop);

  linalg::LinalgOp op;
  OpBuilder builder;
  SmallVector<int64_t> sizes;
  SmallVector<unsigned> window; ///< its loops
};
} // namespace

/// All loops that share a dimension of an operand but the longest, parallel ones before reductions.
bool WindowUnroller::findWindow() {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  auto length = [&](unsigned loop) {
    const bool isOpen = ShapedType::isDynamic(sizes[loop]);
    return std::tuple(kinds[loop] == utils::IteratorType::parallel, isOpen, isOpen ? 0 : sizes[loop]);
  };
  llvm::SmallBitVector found(kinds.size());
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults()) {
      auto loops = llvm::filter_to_vector(llvm::seq<unsigned>(0, kinds.size()),
                                          [&](unsigned loop) { return expr.isFunctionOfDim(loop); });
      const auto *longest = llvm::max_element(loops, [&](unsigned a, unsigned b) { return length(a) < length(b); });
      for (unsigned loop : loops)
        if (loop != *longest)
          found.set(loop);
    }
  int64_t points = 1;
  for (unsigned loop : found.set_bits()) {
    if (ShapedType::isDynamic(sizes[loop]) || sizes[loop] < 1 || sizes[loop] > kMostPoints)
      return false;
    points *= sizes[loop];
    if (points > kMostPoints)
      return false;
    window.push_back(loop);
  }
  return !window.empty();
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

std::optional<Part> WindowUnroller::partAt(OpOperand &operand, ArrayRef<int64_t> point) {
  Part part;
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
    std::optional<Place> place = placeOf(expr, point);
    OpFoldResult size = place && place->loop ? sizeOf(*place->loop) : OpFoldResult(builder.getIndexAttr(1));
    if (!place || !size)
      return std::nullopt;
    part.offsets.push_back(builder.getIndexAttr(place->offset));
    part.sizes.push_back(size);
    part.strides.push_back(builder.getIndexAttr(place->loop ? place->stride : 1));
    if (!place->loop)
      continue;
    results.push_back(builder.getAffineDimExpr(*place->loop));
    part.shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  }
  part.map = AffineMap::get(sizes.size(), 0, results, builder.getContext());
  return part;
}

/// `whole` after the op with the loops of the window at one point.
Value WindowUnroller::atPoint(ArrayRef<int64_t> point, Value whole) {
  llvm::SmallBitVector gone(sizes.size());
  for (unsigned loop : window)
    gone.set(loop);
  SmallVector<Value> slices;
  SmallVector<AffineMap> maps;
  Part last;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<Part> part = partAt(operand, point);
    if (!part)
      return {};
    Value from = op.isDpsInput(&operand) ? operand.get() : whole;
    const bool isWhole = part->map == op.getMatchingIndexingMap(&operand);
    slices.push_back(isWhole ? from
                             : tensor::ExtractSliceOp::create(builder, op.getLoc(),
                                                              cast<RankedTensorType>(from.getType()).clone(part->shape),
                                                              from, part->offsets, part->sizes, part->strides));
    maps.push_back(projectDims(part->map, gone, /*compressDimsFlag=*/true));
    last = std::move(*part);
  }
  SmallVector<utils::IteratorType> left;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (!gone[loop])
      left.push_back(kind);
  Value start = slices.pop_back_val();
  auto made = linalg::GenericOp::create(builder, op.getLoc(), start.getType(), slices, start, maps, left);
  IRMapping mapping;
  op->getRegion(0).cloneInto(&made.getRegion(), mapping);
  if (start == whole)
    return made.getResult(0);
  return tensor::InsertSliceOp::create(builder, op.getLoc(), made.getResult(0), whole, last.offsets, last.sizes,
                                       last.strides);
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

/// Whether an operand has a dimension that is read at a sum.
static bool readsSums(linalg::LinalgOp op) {
  return llvm::any_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return llvm::any_of(map.getResults(), llvm::IsaPred<AffineBinaryOpExpr>); });
}

void mhc::unrollWindows(func::FuncOp func) {
  SmallVector<linalg::LinalgOp> ops;
  func.walk([&](linalg::LinalgOp op) {
    if (readsSums(op))
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : ops)
    if (WindowUnroller(op).run())
      op.erase();
}
