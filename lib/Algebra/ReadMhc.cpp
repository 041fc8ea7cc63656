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

std::optional<Expr> OpReader::readMhc(Operation *op) {
  Value result = op->getResult(0);
  // The operand with a fresh variable for one dimension of the result.
  auto along = [&](Value x, unsigned dim, Var var) {
    Indices indices = reading.whole(x);
    indices[dim] = wholeVar(var, reading.size(x, dim));
    return at(x, indices);
  };
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
        Var over = algebra.freshVar();
        Result terms = along(softmax.getX(), softmax.getDim(), over), exp = algebra.exp(reading.of(softmax.getX()));
        terms = terms ? algebra.exp(*terms) : std::nullopt;
        Size extent = reading.size(softmax.getX(), softmax.getDim());
        return quotient(algebra, exp, terms ? algebra.reduce("sum", *terms, {{over, extent}}) : std::nullopt);
      })
      .Case([&](RmsNormOp norm) -> Result {
        unsigned last = norm.getX().getType().getRank() - 1;
        Size extent = reading.size(norm.getX(), last);
        Var over = algebra.freshVar();
        Result element = along(norm.getX(), last, over), squares = contract(element, element, over, extent);
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
        Indices indices;
        SmallVector<std::pair<Var, Size>> over;
        Expr count = Algebra::number(1);
        for (auto [dim, extent] : llvm::enumerate(reading.sizes(reduce.getX()))) {
          if (!llvm::is_contained(reduce.getDims(), static_cast<int64_t>(dim))) {
            indices.push_back(own(result, indices.size() - over.size()));
            continue;
          }
          over.push_back({algebra.freshVar(), extent});
          indices.push_back(wholeVar(over.back().first, extent));
          Result next = algebra.multiply(count, algebra.extent(extent));
          if (!next)
            return std::nullopt;
          count = *next;
        }
        Result x = at(reduce.getX(), indices);
        Result sum = x ? algebra.reduce(reduce.getKind() == ReduceKind::max ? "max" : "sum", *x, over) : std::nullopt;
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
      .Case<MatmulOp, BatchMatmulOp>([&](Operation *product) { return matmul(product); })
      .Default([](Operation *) { return std::nullopt; });
}
