//===- RowsApart.cpp - Weights whose rows of one group lie apart ----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coefficients may be projected stream by stream, as n rows of h_pre and n logits each. The weight's rows of one group
// are then its own in each of n parts.
//
//===------------------------------------------------------------------------===//

#include "GateOrder.h"
#include "GatedDeltaMatch.h"
#include "mhc/IR/LeafBuilder.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mhc;
using algebra::Expr;
using algebra::Index;

namespace {
/// Rows along a dimension of a weight: `count` of each `step`, from `offset` on.
struct RowsApart {
  Value weight;
  int64_t dim, step, offset, count;
  bool operator==(const RowsApart &o) const {
    return weight == o.weight && dim == o.dim && step == o.step && offset == o.offset && count == o.count;
  }
};
} // namespace

static std::optional<RowsApart> rowsAt(algebra::Sizes &sizes, Value weight, int64_t dim, const Index &index) {
  const int64_t size = cast<RankedTensorType>(weight.getType()).getDimSize(dim);
  const algebra::Piece *parts = index.pieces.empty() ? nullptr : &index.pieces[0];
  if (!parts || !parts->multiplier.isNumber() || !parts->extent.isNumber())
    return std::nullopt;
  RowsApart rows{weight, dim, parts->multiplier.number(), index.offset, 1};
  Index rest = index;
  rest.pieces.erase(rest.pieces.begin());
  rest.offset = 0;
  for (const algebra::Piece &piece : rest.pieces)
    rows.count = piece.extent.isNumber() ? rows.count * piece.extent.number() : size;
  bool isApart = rows.step * parts->extent.number() == size && rows.offset + rows.count <= rows.step &&
                 rows.count < rows.step && (rows.count == 1 || algebra::covers(sizes, rest, rows.count));
  return isApart ? std::optional(rows) : std::nullopt;
}

/// Adds the rows that a product of a sum reads apart.
static void addRows(algebra::Sizes &sizes, const Expr &summed, SmallVector<RowsApart> &all) {
  for (const algebra::Term &term : summed)
    for (const algebra::Factor &factor : term.factors) {
      Value base = factor.node()->value;
      auto type = base ? dyn_cast<RankedTensorType>(base.getType()) : RankedTensorType();
      if (!type || !type.hasStaticShape())
        continue;
      for (auto [dim, index] : llvm::enumerate(factor.at()))
        if (std::optional<RowsApart> rows = rowsAt(sizes, base, dim, index); rows && !llvm::is_contained(all, *rows))
          all.push_back(*rows);
    }
}

/// Adds those of the sums in logits.
static void addRowsOf(algebra::Reading &reading, Value logits, SmallVector<RowsApart> &all) {
  algebra::Algebra &algebra = reading.algebra();
  std::optional<Opened> opened = openValue(reading, logits);
  for (const algebra::Term &term : opened ? opened->expr : Expr())
    for (const algebra::Factor &factor : term.factors) {
      algebra::Indices over;
      for (algebra::Size extent : factor.node()->bound)
        over.push_back(algebra::wholeVar(algebra.freshVar(), extent));
      if (factor.node()->isReduce("sum"))
        addRows(algebra.sizes, algebra.part(factor.element, over).value_or(Expr()), all);
    }
}

bool mhc::cutWeights(func::FuncOp func, algebra::Reading &reading) {
  SmallVector<RowsApart> all;
  func.walk([&](SigmoidOp gate) { addRowsOf(reading, gate.getX(), all); });
  if (all.empty())
    return false;
  func.walk([&](Operation *op) {
    if (isa<SinkhornOp, PermutationMixOp>(op))
      addRowsOf(reading, op->getOperand(0), all);
  });
  for (const RowsApart &rows : all) {
    OpBuilder builder(func.getContext());
    builder.setInsertionPointAfterValue(rows.weight);
    LeafBuilder leaf(builder, rows.weight.getLoc());
    const int64_t parts = cast<RankedTensorType>(rows.weight.getType()).getDimSize(rows.dim) / rows.step;
    Value split = leaf.split(rows.weight, rows.dim, {parts, rows.step});
    leaf.join(leaf.slice(split, rows.dim + 1, rows.offset, rows.count), rows.dim, 2);
  }
  return true;
}
