//===- LinearWeight.cpp - The weight of a projection, and its rows in it --------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//

#include "LinearMatcher.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;
using algebra::Indices;
using algebra::Piece;
using algebra::Size;
using algebra::Var;

using Extent = IndexVars::value_type;

/// The value that phi is read of: the tensor itself, rather than what shows it in the same type. A sum is read but for
/// a number.
bool GroupMatcher::findWeight() {
  const Expr phi = Algebra::of(group.phi.element);
  std::optional<algebra::Reading::Found> found = nearest(reading, phi, user);
  Value base = group.phi.node()->value;
  bool isBase = base && reading.isBefore(base, user) &&
                (!found || getElementTypeOrSelf(base) == getElementTypeOrSelf(found->value));
  if (isBase && placeRows(base, group.phi.at()))
    return true;
  if (!found)
    found = nearest(reading, phi, user, /*anyFactor=*/true);
  if (found && placeRows(found->value, found->at)) {
    scale *= found->factor;
    return true;
  }
  return isBase && (placeInSlice(base, group.phi.at()) || placeRows(base, group.phi.at(), Fixed::rows));
}

/// Finds the place of the rows in what the program takes of a weight, such as one layer's of all.
bool GroupMatcher::placeInSlice(Value weight, ArrayRef<algebra::Index> at) {
  Indices slice(at.begin(), at.end());
  for (auto [index, size] : llvm::zip(slice, reading.sizes(weight)))
    if (!index.pieces.empty())
      index = algebra::wholeVar(algebra.freshVar(), size);
  std::vector<algebra::Reading::Found> all =
      reading.find(Algebra::of(algebra.elementAt(group.phi.node(), slice)), user);
  auto inType = llvm::find_if(llvm::reverse(all), [&](const algebra::Reading::Found &found) {
    return found.factor == 1 && getElementTypeOrSelf(found.value) == getElementTypeOrSelf(weight);
  });
  if (inType == all.rend())
    return false;
  Indices inSlice;
  for (const algebra::Index &index : inType->at) {
    std::optional<algebra::Index> own = algebra::substitute(algebra.sizes, index, [&](Var var) {
      auto dim = llvm::find_if(
          slice, [&](const algebra::Index &whole) { return !whole.pieces.empty() && whole.pieces[0].var == var; });
      return at[dim - slice.begin()];
    });
    if (!own)
      return false;
    inSlice.push_back(*own);
  }
  return placeRows(inType->value, inSlice);
}

/// Finds the place of the rows in the weight, which is read at `at`.
bool GroupMatcher::placeRows(Value weight, ArrayRef<algebra::Index> at, Fixed fixed) {
  group.weight = weight;
  group.weightAt = Indices(at.begin(), at.end());
  group.offset = 0;
  group.rows = 1;
  auto isRow = [&](Var var) { return llvm::any_of(group.row, [&](const Extent &row) { return row.first == var; }); };
  bool isSplit = false; ///< whether a dimension has some of the rows
  SmallVector<Size, 4> sizes = reading.sizes(group.weight);
  for (auto [dim, index] : llvm::enumerate(group.weightAt)) {
    bool hasRow = llvm::any_of(index.pieces, [&](const Piece &piece) { return isRow(piece.var); });
    bool isWhole = covers(algebra.sizes, index, sizes[dim]);
    bool isFixed = fixed == Fixed::rows && index.pieces.empty() && !isSplit;
    if (!hasRow && !isWhole && !isFixed)
      return false;
    if (!hasRow && isWhole)
      continue;
    if (!sizes[dim].isNumber() || (isSplit && !isWhole))
      return false;
    isSplit |= hasRow;
    group.offset = group.offset * sizes[dim].number() + index.offset;
    group.rows *= sizes[dim].number();
    index.offset = 0;
    Size read = 1;
    for (const Piece &piece : index.pieces)
      read = algebra.sizes.multiply(read, piece.extent).value_or(0);
    if (!covers(algebra.sizes, index, read)) // rows apart
      return false;
  }
  // The rows in the order of the weight
  llvm::stable_sort(group.row, [&](const Extent &a, const Extent &b) {
    auto order = varsOf(group.weightAt);
    return llvm::find(order, a.first) < llvm::find(order, b.first);
  });
  return group.offset + group.extent <= group.rows;
}

/// Whether a slice ends with one of the first `count` elements of dimensions of `size` at the latest.
static bool takesFirst(tensor::ExtractSliceOp slice, int64_t size, int64_t count) {
  return slice.hasUnitStride() && llvm::any_of(llvm::enumerate(slice.getSourceType().getShape()), [&](auto dim) {
           const int64_t offset = slice.getStaticOffsets()[dim.index()], taken = slice.getStaticSizes()[dim.index()];
           return dim.value() == size && !ShapedType::isDynamic(offset) && !ShapedType::isDynamic(taken) &&
                  offset + taken <= count;
         });
}

/// Whether no more than the first `count` of `size` rows of a weight are read, as slices or as columns of products.
static bool areFirstRead(Value weight, int64_t size, int64_t count) {
  SmallVector<Operation *> readers;
  usersThroughViews(weight, readers);
  return llvm::all_of(readers, [&](Operation *reader) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(reader)) {
      const int64_t rows = slice.getType().getNumElements() / (slice.getSourceType().getNumElements() / size);
      return takesFirst(slice, size, count) || (takesFirst(slice, size, rows) && areFirstRead(slice, rows, count));
    }
    SmallVector<Operation *> columns;
    if (isa<MatmulOp>(reader))
      usersThroughViews(reader->getResult(0), columns);
    return !columns.empty() && llvm::all_of(columns, [&](Operation *column) {
      auto slice = dyn_cast<tensor::ExtractSliceOp>(column);
      return slice && slice.getSourceType().getShape().back() == size && takesFirst(slice, size, count);
    });
  });
}

bool mhc::areAllReadRows(const LinearGroup &group, int64_t count) {
  auto type = cast<RankedTensorType>(group.weight.getType());
  return !group.isGiven && type.hasStaticShape() && type.getRank() == 2 && group.rows != group.width() &&
         llvm::is_contained(type.getShape(), group.rows) && areFirstRead(group.weight, group.rows, count);
}

/// Whether a product sums over a part of each row of an argument, such as one whose last column is the bias.
static bool isCutInRows(MatmulOp product, tensor::ExtractSliceOp slice) {
  const bool isTransposed = product.getRhs() != slice.getResult();
  const int dim = product.getTransposeRhs() == isTransposed ? 0 : 1;
  ArrayRef<int64_t> shape = slice.getType().getShape(), whole = slice.getSourceType().getShape();
  return shape.size() == 2 && whole.size() == 2 && shape[dim] != whole[dim];
}

void mhc::markWeights(func::FuncOp func) {
  func.walk([](MatmulOp product) {
    Value matrix = product.getRhs();
    if (auto transpose = matrix.getDefiningOp<TransposeOp>())
      matrix = transpose.getX();
    auto reshape = matrix.getDefiningOp<tensor::ExpandShapeOp>();
    auto slice = (reshape ? reshape.getSrc() : matrix).getDefiningOp<tensor::ExtractSliceOp>();
    if (slice && isa<BlockArgument>(slice.getSource()) &&
        (reshape ? slice.getSourceType().getRank() == 1 : isCutInRows(product, slice)))
      matrix.getDefiningOp()->setAttr(algebra::kWhole, UnitAttr::get(product.getContext()));
  });
}
