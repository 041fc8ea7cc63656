//===- Tables.cpp - Tables that a program computes of constants ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that are taken of an identity, as JAX makes the matrices of permutations: an element is read where the elements
// of other tables say, which no leaf op does. Nothing but constants enters, so that the table is one.
//
//===-------------------------------------------------------------------------===//

#include "Import.h"
#include "mhc/IR/Constants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mhc;

/// More elements are no table: 6! permutations have 720 matrices of 36.
constexpr int64_t kMostElements = 1 << 15;
/// Tables that one is computed of, each of the next.
constexpr int kMostSteps = 16;

namespace {
/// The elements of values that follow from constants alone.
class Tables {
public:
  /// Null where something else enters.
  DenseElementsAttr of(Value value);

private:
  DenseElementsAttr read(Value value);
  DenseElementsAttr compute(linalg::GenericOp op);
  /// The element that the body yields at `place`.
  Attribute elementOf(linalg::GenericOp op, ArrayRef<int64_t> place);
  Attribute fold(Operation &op, ArrayRef<int64_t> place, const llvm::DenseMap<Value, Attribute> &numbers);

  llvm::DenseMap<Value, DenseElementsAttr> known;
  int steps = 0;
};
} // namespace

static Attribute elementAt(DenseElementsAttr table, ArrayRef<int64_t> place) {
  int64_t flat = 0;
  for (auto [index, size] : llvm::zip_equal(place, table.getType().getShape())) {
    if (index < 0 || index >= size)
      return {};
    flat = flat * size + index;
  }
  return table.getValues<Attribute>()[flat];
}

DenseElementsAttr Tables::of(Value value) {
  auto [entry, isNew] = known.try_emplace(value);
  if (!isNew)
    return entry->second;
  ++steps;
  DenseElementsAttr table = steps <= kMostSteps ? read(value) : DenseElementsAttr();
  --steps;
  return known[value] = table;
}

DenseElementsAttr Tables::read(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() > kMostElements)
    return {};
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return denseElements(constant);
  if (auto op = value.getDefiningOp<linalg::GenericOp>())
    return compute(op);
  return {};
}

DenseElementsAttr Tables::compute(linalg::GenericOp op) {
  auto isTable = [&](Value input) { return of(input) != nullptr; };
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (op->getNumResults() != 1 || op.getNumReductionLoops() != 0 || !op.hasPureTensorSemantics() ||
      !llvm::all_of(op.getInputs(), isTable) || op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
    return {};
  SmallVector<Attribute> elements;
  SmallVector<int64_t> place(sizes.size());
  for (int64_t flat = 0, count = ShapedType::getNumElements(sizes); flat < count; ++flat) {
    for (int64_t dim = sizes.size() - 1, rest = flat; dim >= 0; rest /= sizes[dim--])
      place[dim] = rest % sizes[dim];
    elements.push_back(elementOf(op, place));
    if (!elements.back())
      return {};
  }
  return DenseElementsAttr::get(cast<RankedTensorType>(op.getResult(0).getType()), elements);
}

Attribute Tables::elementOf(linalg::GenericOp op, ArrayRef<int64_t> place) {
  llvm::DenseMap<Value, Attribute> numbers;
  for (OpOperand *input : op.getDpsInputOperands())
    numbers[op.getMatchingBlockArgument(input)] =
        elementAt(of(input->get()), op.getMatchingIndexingMap(input).compose(place));
  for (Operation &inner : op.getBlock()->without_terminator()) {
    Attribute number = inner.getNumResults() == 1 ? fold(inner, place, numbers) : Attribute();
    if (!number)
      return {};
    numbers[inner.getResult(0)] = number;
  }
  return numbers.lookup(op.getBlock()->getTerminator()->getOperand(0));
}

Attribute Tables::fold(Operation &op, ArrayRef<int64_t> place, const llvm::DenseMap<Value, Attribute> &numbers) {
  auto numberOf = [&](Value value) {
    Attribute constant = numbers.lookup(value);
    if (!constant)
      (void)matchPattern(value, m_Constant(&constant));
    return constant;
  };
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return IntegerAttr::get(index.getType(), place[index.getDim()]);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<int64_t> at;
    for (Value index : extract.getIndices())
      if (auto number = dyn_cast_or_null<IntegerAttr>(numberOf(index)))
        at.push_back(number.getInt());
    DenseElementsAttr table = of(extract.getTensor());
    return table && at.size() == extract.getIndices().size() ? elementAt(table, at) : Attribute();
  }
  SmallVector<Attribute> operands = llvm::map_to_vector(op.getOperands(), numberOf);
  SmallVector<OpFoldResult> results;
  if (llvm::is_contained(operands, Attribute()) || failed(op.fold(operands, results)) || results.size() != 1)
    return {};
  auto shown = dyn_cast<Value>(results[0]);
  return shown ? numberOf(shown) : cast<Attribute>(results[0]);
}

void mhc::importTables(func::FuncOp func) {
  Tables tables;
  SmallVector<linalg::GenericOp> gathers;
  func.walk([&](linalg::GenericOp op) {
    if (!op.getBlock()->getOps<tensor::ExtractOp>().empty())
      gathers.push_back(op);
  });
  for (linalg::GenericOp op : gathers)
    if (DenseElementsAttr table = tables.of(op->getResult(0))) {
      OpBuilder builder(op);
      op.getResult(0).replaceAllUsesWith(arith::ConstantOp::create(builder, op.getLoc(), table));
    }
}
