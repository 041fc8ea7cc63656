//===- UseEdits.cpp - Near misses of gates, views and single uses ---------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Edits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace mhc::conformance {

//===----------------------------------------------------------------------===//
// Gates
//===----------------------------------------------------------------------===//

bool tanhForSigmoid(Editor &e) {
  Operation *op = e.pick<SigmoidOp, math::TanhOp>();
  return e.changeResult(op, [&](LeafBuilder &leaf) -> Value {
    Value z = op->getOperand(0);
    if (isa<math::TanhOp>(op))
      return leaf.sigmoid(z);
    OpBuilder builder(op);
    builder.setInsertionPointAfter(op);
    return math::TanhOp::create(builder, op->getLoc(), z).getResult();
  });
}

bool signInSigmoid(Editor &e) {
  Operation *op = e.pick<arith::NegFOp, SigmoidOp>();
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    Value z = op->getOperand(0);
    return isa<SigmoidOp>(op) ? leaf.sigmoid(leaf.negate(z)) : z;
  });
}

bool sigmoidTwice(Editor &e) {
  Operation *op = e.pick<SigmoidOp>();
  return e.changeResult(op, [&](LeafBuilder &leaf) { return leaf.sigmoid(op->getResult(0)); });
}

/// One read of a gate reads another one, perhaps that of another layer.
bool otherGate(Editor &e) {
  return e.changeUse([&](Value value) { return e.isGate(value); },
                     [&](LeafBuilder &, Value value) { return e.other(value); });
}

bool otherMatrix(Editor &e) {
  return e.changeUse([&](Value value) { return e.isMatrix(value); },
                     [&](LeafBuilder &, Value value) { return e.other(value); });
}

bool otherStreams(Editor &e) {
  return e.changeUse([&](Value value) { return e.isStreams(value) && !e.isMatrix(value) && !e.isGate(value); },
                     [&](LeafBuilder &, Value value) { return e.other(value); });
}

bool otherRow(Editor &e) {
  return e.changeUse([&](Value value) { return e.isRow(value); },
                     [&](LeafBuilder &, Value value) { return e.other(value); });
}

/// Another parameter of the same shape: alpha, beta, phi or a weight of another layer.
bool otherParameter(Editor &e) {
  auto isParameter = [](Value value) {
    return isa<BlockArgument>(value) && cast<ShapedType>(value.getType()).hasStaticShape();
  };
  return e.changeUse(isParameter, [&](LeafBuilder &, Value value) { return e.other(value, isParameter); });
}

/// A slice that starts one element off.
bool sliceOffByOne(Editor &e) {
  Operation *op = e.pick<tensor::ExtractSliceOp>();
  if (!op)
    return false;
  auto slice = cast<tensor::ExtractSliceOp>(op);
  SmallVector<int64_t> offsets(slice.getStaticOffsets());
  int64_t dim = e.random.between(0, static_cast<int64_t>(offsets.size()) - 1);
  int64_t size = slice.getStaticSizes()[dim], all = slice.getSourceType().getDimSize(dim);
  if (ShapedType::isDynamic(offsets[dim]) || ShapedType::isDynamic(size) || ShapedType::isDynamic(all))
    return false;
  offsets[dim] += offsets[dim] + size < all && e.random.flip() ? 1 : -1;
  if (offsets[dim] < 0)
    offsets[dim] += 2;
  if (offsets[dim] + size > all)
    return false;
  slice.setStaticOffsets(offsets);
  return true;
}

/// Slices of one tensor in each other's place.
bool slicesExchanged(Editor &e) {
  Operation *op = e.pick<tensor::ExtractSliceOp>();
  return e.changeResult(op, [&](LeafBuilder &leaf) -> Value {
    auto isSibling = [&](Value value) {
      auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
      return slice && slice.getSource() == cast<tensor::ExtractSliceOp>(op).getSource();
    };
    return e.other(op->getResult(0), isSibling);
  });
}

bool concatExchanged(Editor &e) {
  Operation *op = e.pick<tensor::ConcatOp>([](Operation *op) {
    return op->getNumOperands() > 1 && op->getOperand(0).getType() == op->getOperand(1).getType();
  });
  if (!op)
    return false;
  Value first = op->getOperand(0);
  op->setOperand(0, op->getOperand(1));
  op->setOperand(1, first);
  return true;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

bool matrixTransposedOnce(Editor &e) {
  return e.changeUse([&](Value value) { return e.isMatrix(value); },
                     [&](LeafBuilder &leaf, Value value) { return leaf.transpose(value, {0, 2, 1}); });
}

/// Any square tensor.
bool squareTransposed(Editor &e) {
  auto isSquareTensor = [](Value value) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
    return shape.size() >= 2 && shape.back() == shape[shape.size() - 2] && !ShapedType::isDynamic(shape.back());
  };
  return e.changeUse(isSquareTensor, [&](LeafBuilder &leaf, Value value) {
    bool pair = cast<RankedTensorType>(value.getType()).getRank() == 3;
    return leaf.transpose(value, pair ? ArrayRef<int64_t>{0, 2, 1} : ArrayRef<int64_t>{1, 0});
  });
}

bool productFlag(Editor &e) {
  Operation *op = e.pick<MatmulOp, BatchMatmulOp>();
  if (!op)
    return false;
  const char *flag = e.random.flip() ? "transpose_lhs" : "transpose_rhs";
  auto old = op->getAttrOfType<BoolAttr>(flag);
  op->setAttr(flag, BoolAttr::get(op->getContext(), !old || !old.getValue()));
  return true;
}

/// Runs `make` on the streams as [M, n, C] or [M, C, n] with the number of their dimension.
static Value asStreams(Editor &e, LeafBuilder &leaf, Value value, llvm::function_ref<Value(Value, int64_t)> make) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 3)
    return make(value, type.getDimSize(1) == e.n ? 1 : 2);
  Value split = leaf.split(value, 1, {e.n, type.getDimSize(1) / e.n});
  return leaf.join(make(split, 1), 1, 2);
}

bool streamsRotated(Editor &e) {
  return e.changeUse([&](Value value) { return e.isStreams(value); },
                     [&](LeafBuilder &leaf, Value value) {
                       return asStreams(e, leaf, value, [&](Value streams, int64_t dim) {
                         Value head = leaf.slice(streams, dim, 0, 1), tail = leaf.slice(streams, dim, 1, e.n - 1);
                         return leaf.concat({tail, head}, dim);
                       });
                     });
}

/// Every stream is the first one, at one place.
bool streamRepeated(Editor &e) {
  return e.changeUse([&](Value value) { return e.isStreams(value); },
                     [&](LeafBuilder &leaf, Value value) {
                       return asStreams(e, leaf, value, [&](Value streams, int64_t dim) {
                         std::vector<Value> heads(e.n, leaf.slice(streams, dim, 0, 1));
                         return leaf.concat(heads, dim);
                       });
                     });
}

/// Channels and streams in each other's order.
bool streamsInterleaved(Editor &e) {
  auto isFlat = [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return e.isStreams(value) && type.getRank() == 2 && type.getDimSize(1) > e.n;
  };
  return e.changeUse(isFlat, [&](LeafBuilder &leaf, Value value) {
    int64_t channels = cast<RankedTensorType>(value.getType()).getDimSize(1) / e.n;
    return leaf.join(leaf.transpose(leaf.split(value, 1, {e.n, channels}), {0, 2, 1}), 1, 2);
  });
}

bool meanOfTokens(Editor &e) {
  auto hasTokens = [](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return type.getRank() > 0 && type.isDynamicDim(0);
  };
  return e.changeUse(hasTokens, [&](LeafBuilder &leaf, Value value) {
    SmallVector<int64_t> rest;
    for (int64_t dim = 1; dim < cast<RankedTensorType>(value.getType()).getRank(); ++dim)
      rest.push_back(dim);
    LeafBuilder::Sizes sizes = leaf.sizesOf(value);
    Value mean = leaf.reduce(ReduceKind::mean, value, {0});
    return leaf.broadcast(mean, sizes, rest);
  });
}

//===----------------------------------------------------------------------===//
// One use of one value
//===----------------------------------------------------------------------===//

static bool anyTensor(Value) { return true; }

bool tanhOnce(Editor &e) {
  return e.changeUse(anyTensor, [](LeafBuilder &leaf, Value value) {
    return leaf.sub(leaf.scale(leaf.sigmoid(leaf.scale(value, 2)), 2), leaf.splat(1, value));
  });
}

bool negatedOnce(Editor &e) {
  return e.changeUse(anyTensor, [](LeafBuilder &leaf, Value value) { return leaf.negate(value); });
}

bool doubledOnce(Editor &e) {
  return e.changeUse(anyTensor, [](LeafBuilder &leaf, Value value) { return leaf.add(value, value); });
}

bool positiveOnce(Editor &e) {
  return e.changeUse(anyTensor, [](LeafBuilder &leaf, Value value) { return leaf.max(value, leaf.splat(0, value)); });
}

bool shiftedOnce(Editor &e) {
  return e.changeUse(anyTensor, [](LeafBuilder &leaf, Value value) { return leaf.add(value, leaf.splat(0.1, value)); });
}

/// One use reads a value that was rounded to `element`.
static bool roundsOnce(Editor &e, Type element) {
  auto isWide = [](Value value) { return getElementTypeOrSelf(value).isF32(); };
  return e.changeUse(isWide, [&](LeafBuilder &leaf, Value value) {
    Value narrow = leaf.cast(value, element);
    return leaf.toF32(narrow);
  });
}

bool roundsToBf16(Editor &e) { return roundsOnce(e, BFloat16Type::get(e.context())); }
bool roundsToF16(Editor &e) { return roundsOnce(e, Float16Type::get(e.context())); }

} // namespace mhc::conformance
