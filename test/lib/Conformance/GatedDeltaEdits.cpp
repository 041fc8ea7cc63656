//===- GatedDeltaEdits.cpp - Near misses of front ends of gated delta nets -===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs are plainly written: tokens before are those of mhc.shift, the softplus is a selection.
//
//===----------------------------------------------------------------------===//
#include "Edits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace mhc::conformance {

//===----------------------------------------------------------------------===//
// The convolution
//===----------------------------------------------------------------------===//

static bool changeShift(Editor &e, llvm::function_ref<int64_t(int64_t)> change) {
  Operation *op = e.pick<ShiftOp>();
  if (!op)
    return false;
  auto shift = cast<ShiftOp>(op);
  shift.setBy(change(shift.getBy()));
  return true;
}

/// One tap is that of a token behind.
bool tapOfLaterToken(Editor &e) {
  return changeShift(e, [](int64_t by) { return -by; });
}

bool tapFurtherBack(Editor &e) {
  return changeShift(e, [](int64_t by) { return by + 1; });
}

/// The last tokens of a row stand before its first one.
bool circularTap(Editor &e) {
  Operation *op = e.pick<ShiftOp>();
  return e.changeResult(op, [&](LeafBuilder &leaf) -> Value {
    auto shift = cast<ShiftOp>(op);
    const int64_t dim = shift.getDim(), by = shift.getBy(), size = shift.getX().getType().getDimSize(dim);
    if (by >= size)
      return {};
    Value last = leaf.slice(shift.getX(), dim, size - by, by), others = leaf.slice(shift.getX(), dim, 0, size - by);
    return leaf.concat({last, others}, dim);
  });
}

bool tapsReversed(Editor &e) {
  std::vector<Operation *> columns = e.all([](Operation *op) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    return slice && slice.getSourceType().getRank() == 2 && slice.getStaticSizes()[1] == 1;
  });
  for (Operation *op : columns) {
    auto slice = cast<tensor::ExtractSliceOp>(op);
    SmallVector<int64_t> offsets(slice.getStaticOffsets());
    offsets[1] = slice.getSourceType().getDimSize(1) - 1 - offsets[1];
    slice.setStaticOffsets(offsets);
  }
  return !columns.empty();
}

//===----------------------------------------------------------------------===//
// The norm
//===----------------------------------------------------------------------===//

bool meanForSum(Editor &e) {
  Operation *op = e.pick<ReduceOp>([](Operation *op) { return cast<ReduceOp>(op).getKind() == ReduceKind::sum; });
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    return leaf.reduce(ReduceKind::mean, op->getOperand(0), cast<ReduceOp>(op).getDims());
  });
}

/// 1 / sqrt(sum + eps) -> 1 / f(sqrt(sum), eps)
static bool changeRoot(Editor &e, llvm::function_ref<Value(LeafBuilder &, Value root, Value eps)> f) {
  Operation *op = e.pick<math::RsqrtOp>();
  return e.changeResult(op, [&](LeafBuilder &leaf) -> Value {
    Operation *sum = op->getOperand(0).getDefiningOp();
    if (!isa_and_present<arith::AddFOp>(sum) || numberAt(sum) == 2)
      return {};
    Value root = leaf.sqrt(besideNumber(sum)), eps = leaf.splat(numberIn(sum), root);
    Value one = leaf.splat(1, root);
    return leaf.div(one, f(leaf, root, eps));
  });
}

bool epsOutsideOfRoot(Editor &e) {
  return changeRoot(e, [](LeafBuilder &leaf, Value root, Value eps) { return leaf.add(root, eps); });
}

bool normAtLeastEps(Editor &e) {
  return changeRoot(e, [](LeafBuilder &leaf, Value root, Value eps) { return leaf.max(root, eps); });
}

//===----------------------------------------------------------------------===//
// Heads and channels
//===----------------------------------------------------------------------===//

/// h0 h1 h0 h1 for h0 h0 h1 h1.
bool headsInTurn(Editor &e) {
  Operation *op = e.pick<tensor::CollapseShapeOp>([](Operation *op) {
    auto copies = op->getOperand(0).getDefiningOp<BroadcastOp>();
    return copies && copies.getOut().getType().getRank() == 5;
  });
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    auto copies = op->getOperand(0).getDefiningOp<BroadcastOp>();
    LeafBuilder::Sizes sizes = leaf.sizesOf(copies);
    std::swap(sizes[2], sizes[3]);
    return leaf.join(leaf.broadcast(copies.getX(), sizes, {0, 1, 3, 4}), 2, 2);
  });
}

/// Exchanges two slices of one tensor that have one type; the first one is that for which `test` holds.
static bool exchangeSlices(Editor &e, llvm::function_ref<bool(tensor::ExtractSliceOp)> test) {
  Operation *op = e.pick<tensor::ExtractSliceOp>([&](Operation *op) { return test(cast<tensor::ExtractSliceOp>(op)); });
  if (!op)
    return false;
  Operation *other = e.pick<tensor::ExtractSliceOp>([&](Operation *other) {
    return other != op && other->getOperand(0) == op->getOperand(0) &&
           other->getResult(0).getType() == op->getResult(0).getType();
  });
  if (!other)
    return false;
  auto a = cast<tensor::ExtractSliceOp>(op), b = cast<tensor::ExtractSliceOp>(other);
  SmallVector<int64_t> offsets(a.getStaticOffsets());
  a.setStaticOffsets(b.getStaticOffsets());
  b.setStaticOffsets(offsets);
  return true;
}

/// Exchanges them behind the SiLU, so that the norms get each other's channels.
bool queryAndKeyExchanged(Editor &e) {
  return exchangeSlices(e, [](tensor::ExtractSliceOp slice) {
    return slice.getStaticOffsets().back() == 0 && !isa<BlockArgument>(slice.getSource()) &&
           slice.getSourceType().getRank() == 3 && isa<tensor::ExpandShapeOp>(*slice->getUsers().begin());
  });
}

/// The last channels of all, in front of those before them.
bool betaAndAlphaExchanged(Editor &e) {
  return exchangeSlices(e, [](tensor::ExtractSliceOp slice) {
    return slice.getSourceType().getRank() == 3 &&
           slice.getStaticOffsets().back() + slice.getStaticSizes().back() == slice.getSourceType().getShape().back();
  });
}

//===----------------------------------------------------------------------===//
// The decay
//===----------------------------------------------------------------------===//

bool decayWithoutMinus(Editor &e) {
  Operation *op = e.pick<arith::NegFOp>();
  return e.changeResult(op, [&](LeafBuilder &) { return op->getOperand(0); });
}

bool otherThreshold(Editor &e) {
  Operation *op = e.pick<arith::CmpFOp>();
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    Value p = op->getOperand(0);
    return leaf.isGreater(p, leaf.splat(numberIn(op) - 0.25, p));
  });
}

} // namespace mhc::conformance
