//===- SumEdits.cpp - Near misses of sums, norms, factors and terms -------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Edits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace mhc::conformance {

static bool isSquare(Operation *op) { return op->getOperand(0) == op->getOperand(1); }

//===----------------------------------------------------------------------===//
// Sums and axes
//===----------------------------------------------------------------------===//

bool sumAxis(Editor &e) {
  Operation *op = e.pick<ReduceOp>([](Operation *op) { return cast<ReduceOp>(op).getDims().size() == 1; });
  if (!op)
    return false;
  auto reduce = cast<ReduceOp>(op);
  return e.changeResult(op, [&](LeafBuilder &leaf) -> Value {
    int64_t dim = 1 + e.random.between(0, reduce.getX().getType().getRank() - 2);
    return dim == reduce.getDims()[0] ? Value() : leaf.reduce(reduce.getKind(), reduce.getX(), {dim});
  });
}

/// A sum that leaves out the last element, such as one of the streams.
bool sumOfPart(Editor &e) {
  Operation *op = e.pick<ReduceOp>([](Operation *op) {
    auto reduce = cast<ReduceOp>(op);
    return reduce.getDims().size() == 1 && reduce.getX().getType().getDimSize(reduce.getDims()[0]) > 1;
  });
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    auto reduce = cast<ReduceOp>(op);
    int64_t dim = reduce.getDims()[0], size = reduce.getX().getType().getDimSize(dim);
    return leaf.reduce(reduce.getKind(), leaf.slice(reduce.getX(), dim, e.random.between(0, 1), size - 1), {dim});
  });
}

bool sumForMean(Editor &e) {
  Operation *op = e.pick<ReduceOp>([](Operation *op) { return cast<ReduceOp>(op).getKind() == ReduceKind::mean; });
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    return leaf.reduce(ReduceKind::sum, op->getOperand(0), cast<ReduceOp>(op).getDims());
  });
}

bool maxForSum(Editor &e) {
  Operation *op = e.pick<ReduceOp>();
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    auto reduce = cast<ReduceOp>(op);
    ReduceKind kind = reduce.getKind() == ReduceKind::max ? ReduceKind::sum : ReduceKind::max;
    return leaf.reduce(kind, reduce.getX(), reduce.getDims());
  });
}

//===----------------------------------------------------------------------===//
// Root mean square
//===----------------------------------------------------------------------===//

/// n times too large: the sum over n*C divided by C.
bool meanOverChannels(Editor &e) {
  Operation *op = e.pick<ReduceOp, arith::DivFOp>([&](Operation *op) {
    auto reduce = dyn_cast<ReduceOp>(op);
    return e.isRow(op->getResult(0)) && (reduce ? reduce.getKind() == ReduceKind::mean : numberAt(op) == 1);
  });
  return e.changeResult(op, [&](LeafBuilder &leaf) { return leaf.scale(op->getResult(0), e.n); });
}

/// The statistic is that of all tokens together.
bool normOverTokens(Editor &e) {
  Operation *op =
      e.pick<ReduceOp, math::RsqrtOp, math::SqrtOp>([&](Operation *op) { return e.isRow(op->getResult(0)); });
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    Value row = op->getResult(0), mean = leaf.reduce(ReduceKind::mean, row, {0});
    bool unit = cast<RankedTensorType>(row.getType()).getRank() == 2;
    LeafBuilder::Sizes sizes = leaf.sizesOf(row);
    return leaf.broadcast(mean, sizes, unit ? ArrayRef<int64_t>{1} : ArrayRef<int64_t>{});
  });
}

bool rootMissing(Editor &e) {
  Operation *op = e.pick<math::RsqrtOp, math::SqrtOp>();
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    Value square = op->getOperand(0);
    return isa<math::SqrtOp>(op) ? square : leaf.div(leaf.splat(1, square), square);
  });
}

bool cubeForSquare(Editor &e) {
  Operation *op = e.pick<arith::MulFOp>(isSquare);
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    Value x = op->getOperand(0), square = op->getResult(0);
    return e.random.flip() ? leaf.mul(square, x) : leaf.mul(square, square);
  });
}

/// One operand of the square is something else.
bool squareOfTwo(Editor &e) {
  Operation *op = e.pick<arith::MulFOp>(isSquare);
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    Value x = op->getOperand(0), other = e.other(x);
    return leaf.mul(x, other ? other : leaf.max(x, leaf.splat(0, x)));
  });
}

bool normOfPart(Editor &e) {
  Operation *op = e.pick<arith::MulFOp>(isSquare);
  return e.changeResult(op, [&](LeafBuilder &leaf) -> Value {
    // Rows of zeros in place of the last stream.
    Value square = op->getResult(0);
    auto type = cast<RankedTensorType>(square.getType());
    if (type.getRank() != 2 || type.getDimSize(1) % e.n != 0 || type.getDimSize(1) == e.n)
      return Value();
    int64_t part = type.getDimSize(1) / e.n;
    Value kept = leaf.slice(square, 1, 0, type.getDimSize(1) - part), lost = leaf.slice(square, 1, 0, part);
    return leaf.concat({kept, leaf.sub(lost, lost)}, 1);
  });
}

//===----------------------------------------------------------------------===//
// Factors and terms
//===----------------------------------------------------------------------===//

bool factorTwice(Editor &e) {
  Operation *op =
      e.pick<arith::MulFOp, arith::DivFOp>([](Operation *op) { return isBetweenTensors(op) && !isSquare(op); });
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    Value result = op->getResult(0), factor = op->getOperand(1);
    return isa<arith::MulFOp>(op) ? leaf.mul(result, factor) : leaf.div(result, factor);
  });
}

bool factorMissing(Editor &e) {
  Operation *op = e.pick<arith::MulFOp, arith::DivFOp>(isBetweenTensors);
  return e.changeResult(
      op, [&](LeafBuilder &) { return op->getOperand(isa<arith::MulFOp>(op) ? e.random.between(0, 1) : 0); });
}

bool quotientForProduct(Editor &e) {
  Operation *op = e.pick<arith::MulFOp, arith::DivFOp>(isBetweenTensors);
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    Value a = op->getOperand(0), b = op->getOperand(1);
    return isa<arith::MulFOp>(op) ? leaf.div(a, b) : leaf.mul(a, b);
  });
}

static Operation *pickSum(Editor &e) { return e.pick<arith::AddFOp>(isBetweenTensors); }

bool termTwice(Editor &e) {
  Operation *op = pickSum(e);
  return e.changeResult(
      op, [&](LeafBuilder &leaf) { return leaf.add(op->getResult(0), op->getOperand(e.random.between(0, 1))); });
}

bool termMissing(Editor &e) {
  Operation *op = pickSum(e);
  return e.changeResult(op, [&](LeafBuilder &) { return op->getOperand(e.random.between(0, 1)); });
}

bool termSubtracted(Editor &e) {
  Operation *op = pickSum(e);
  return e.changeResult(op, [&](LeafBuilder &leaf) { return leaf.sub(op->getOperand(0), op->getOperand(1)); });
}

bool maximumForSum(Editor &e) {
  Operation *op = pickSum(e);
  return e.changeResult(op, [&](LeafBuilder &leaf) { return leaf.max(op->getOperand(0), op->getOperand(1)); });
}

/// a * b + c -> a * (b + c)
bool scaleAfterBias(Editor &e) {
  auto isProduct = [](Value value) { return value.getDefiningOp<arith::MulFOp>() != nullptr; };
  Operation *op = e.pick<arith::AddFOp>([&](Operation *op) {
    return isBetweenTensors(op) && (isProduct(op->getOperand(0)) || isProduct(op->getOperand(1)));
  });
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    unsigned at = isProduct(op->getOperand(0)) ? 0 : 1;
    Operation *product = op->getOperand(at).getDefiningOp();
    return leaf.mul(leaf.add(product->getOperand(0), op->getOperand(1 - at)), product->getOperand(1));
  });
}

/// Multiplies a vector that all tokens share with a factor of the token.
bool vectorPerToken(Editor &e) {
  Operation *op = e.pick<BroadcastOp>([](Operation *op) {
    auto broadcast = cast<BroadcastOp>(op);
    return broadcast.getX().getType().hasStaticShape() && broadcast.getX().getType().getNumElements() > 1 &&
           broadcast.getOut().getType().isDynamicDim(0);
  });
  return e.changeResult(op, [&](LeafBuilder &leaf) -> Value {
    Value vector = op->getResult(0), token = e.other(vector);
    return token ? leaf.mul(vector, token) : Value();
  });
}

} // namespace mhc::conformance
