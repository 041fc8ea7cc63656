//===- ReadMhc.cpp - Leaf ops as expressions ----------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "OpReader.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::algebra;

using Result = std::optional<Expr>;

std::optional<Expr> OpReader::contract(const Result &a, const Result &b, Var over, Size extent) {
  Result product = a && b ? algebra.multiply(*a, *b) : std::nullopt;
  return product ? algebra.reduce("sum", *product, {{over, extent}}) : std::nullopt;
}

/// a / b
static Result quotient(Algebra &algebra, const Result &a, const Result &b) {
  return a && b ? algebra.divide(*a, *b) : std::nullopt;
}

/// 1 where the token that a shift moves to another is of its sequence.
std::optional<Expr> OpReader::isOfSameSequence(ShiftOp shift) {
  Index token = own(shift, shift.getDim());
  Result start = at(shift.getStarts(), {token}), from = algebra.position(token);
  from = from ? algebra.add(*from, Algebra::number(-static_cast<double>(shift.getBy()))) : std::nullopt;
  const Factor *factor = start ? singleFactor(*start) : nullptr;
  bool isTensor = factor && factor->node()->kind == Node::Base; // which alone tells all other starts
  return isTensor && from ? algebra.apply(kSameSequence, {*start, *from}) : std::nullopt;
}

std::optional<Expr> OpReader::readMhc(Operation *op) {
  Value result = op->getResult(0);
  // A sum or maximum binds the operand's own variable: what is left has it no more, and needs no other name.
  auto along = [&](Value x, unsigned dim) { return std::pair(static_cast<Var>(dim), reading.size(x, dim)); };
  auto matmul = [&](Operation *product) -> Result {
    Value lhs = product->getOperand(0);
    unsigned rank = cast<RankedTensorType>(lhs.getType()).getRank();
    Size extent = reading.size(lhs, product->hasAttr("transpose_lhs") ? rank - 2 : rank - 1);
    Var over = algebra.freshVar();
    Indices own = reading.whole(result);
    Index depth = wholeVar(over, extent), row = own[own.size() - 2], column = own.back();
    Indices left(own.begin(), own.end() - 2), right = left;
    left.append(product->hasAttr("transpose_lhs") ? Indices{depth, row} : Indices{row, depth});
    right.append(product->hasAttr("transpose_rhs") ? Indices{column, depth} : Indices{depth, column});
    return contract(at(lhs, left), at(product->getOperand(1), right), over, extent);
  };
  auto sigmoid = [&](Value x) { return algebra.apply("sigmoid", {reading.of(x)}); };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](SigmoidOp sigmoidOp) { return sigmoid(sigmoidOp.getX()); })
      .Case([&](SiluOp silu) -> Result {
        Result gate = sigmoid(silu.getX());
        return gate ? algebra.multiply(reading.of(silu.getX()), *gate) : std::nullopt;
      })
      .Case([&](SoftplusOp softplus) -> Result {
        Result exp = algebra.exp(reading.of(softplus.getX()));
        Result sum = exp ? algebra.add(*exp, Algebra::number(1)) : std::nullopt;
        return sum ? algebra.log(*sum) : std::nullopt;
      })
      .Case([&](SoftmaxOp softmax) -> Result {
        Result exp = algebra.exp(reading.of(softmax.getX()));
        return exp ? quotient(algebra, exp, algebra.reduce("sum", *exp, {along(softmax.getX(), softmax.getDim())}))
                   : std::nullopt;
      })
      .Case([&](RmsNormOp norm) -> Result {
        unsigned last = norm.getX().getType().getRank() - 1;
        auto [over, extent] = along(norm.getX(), last);
        const Expr &element = reading.of(norm.getX());
        Result squares = contract(element, element, over, extent);
        squares = squares ? quotient(algebra, squares, algebra.extent(extent)) : std::nullopt;
        Result sum = squares ? algebra.add(*squares, Algebra::number(norm.getEps().convertToDouble())) : std::nullopt;
        Result scale = sum ? algebra.power(*sum, -1) : std::nullopt;
        if (scale && norm.getWeight()) {
          Result weight = at(norm.getWeight(), {own(result, last)});
          scale = weight ? algebra.multiply(*scale, *weight) : std::nullopt;
        }
        return scale ? algebra.multiply(reading.of(norm.getX()), *scale) : std::nullopt;
      })
      .Case([&](ReduceOp reduce) -> Result {
        Indices kept;
        SmallVector<std::pair<Var, Size>> over;
        Expr count = Algebra::number(1);
        for (auto [dim, extent] : llvm::enumerate(reading.sizes(reduce.getX()))) {
          if (!llvm::is_contained(reduce.getDims(), static_cast<int64_t>(dim))) {
            kept.push_back(own(result, dim - over.size()));
            continue;
          }
          kept.emplace_back();
          over.push_back(along(reduce.getX(), dim));
          Result next = algebra.multiply(count, algebra.extent(extent));
          if (!next)
            return std::nullopt;
          count = *next;
        }
        StringRef kind = reduce.getKind() == ReduceKind::max ? "max" : "sum";
        Result sum = algebra.reduce(kind, reading.of(reduce.getX()), over);
        bool isLast = over.empty() || over.front().first + over.size() == kept.size();
        if (sum && !isLast)
          sum = algebra.substitute(*sum, [&](Var var) { return kept[var]; });
        return reduce.getKind() == ReduceKind::mean ? quotient(algebra, sum, count) : sum;
      })
      .Case([&](BroadcastOp broadcast) -> Result {
        Indices indices;
        for (auto [i, dim] : llvm::enumerate(broadcast.getDims()))
          indices.push_back(broadcast.getX().getType().getDimSize(i) == 1 ? Index() : own(result, dim));
        return at(broadcast.getX(), indices);
      })
      .Case([&](TransposeOp transpose) -> Result {
        Indices indices(transpose.getPerm().size());
        for (auto [i, dim] : llvm::enumerate(transpose.getPerm()))
          indices[dim] = own(result, i);
        return at(transpose.getX(), indices);
      })
      .Case([&](ShiftOp shift) -> Result {
        SmallVector<int64_t> by(shift.getX().getType().getRank(), 0);
        by[shift.getDim()] = shift.getBy();
        Result shifted = moved(shift.getX(), result, by);
        if (!shifted || !shift.getStarts() || shift.getBy() == 0)
          return shifted;
        Result isOwn = isOfSameSequence(shift);
        return isOwn ? algebra.multiply(*shifted, *isOwn) : std::nullopt;
      })
      .Case<MatmulOp, BatchMatmulOp>([&](Operation *product) { return matmul(product); })
      .Default([](Operation *) { return std::nullopt; });
}
