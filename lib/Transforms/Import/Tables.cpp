//===- Tables.cpp - Tables that a program computes of constants ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that are taken of an identity, as JAX makes the matrices of permutations: an element is read where the elements
// of other tables say, which no leaf op does. Nothing but constants enters, so that the table is one. Where the
// elements are those of an argument, as repeat_interleave takes one alpha for each group of gates, each run of one
// element is that element, repeated.
//
//===-------------------------------------------------------------------------===//

#include "Import.h"
#include "mhc/IR/Constants.h"
#include "mhc/IR/LeafBuilder.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mhc;

/// Tables that one is computed of, each of the next.
constexpr int kMostSteps = 16;
/// Runs of one element: the groups of gates are three.
constexpr size_t kMostRuns = 16;

namespace {
/// The elements of values that follow from constants alone.
class Tables {
public:
  /// Null where something else enters.
  DenseElementsAttr of(Value value);
  /// The numbers that a body of one loop computes for `value`, each place after the other; none where something else
  /// enters.
  SmallVector<int64_t> numbersOf(linalg::GenericOp op, Value value);

private:
  DenseElementsAttr read(Value value);
  DenseElementsAttr compute(linalg::LinalgOp op);
  /// Computes `value` of the body at `place`, where the result is `init` so far.
  Attribute elementOf(linalg::LinalgOp op, Value value, ArrayRef<int64_t> place, Attribute init = {});
  Attribute fold(Operation &op, ArrayRef<int64_t> place, const KnownNumbers &numbers);

  llvm::DenseMap<Value, DenseElementsAttr> known;
  int steps = 0;
};
} // namespace

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
  if (!type || !type.hasStaticShape() || type.getNumElements() > kMostFolded)
    return {};
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return denseElements(constant);
  if (auto op = value.getDefiningOp<linalg::LinalgOp>())
    return compute(op);
  Operation *op = value.getDefiningOp();
  DenseElementsAttr source = op && isReshape(op) ? of(op->getOperand(0)) : DenseElementsAttr();
  return source ? source.reshape(type) : DenseElementsAttr();
}

/// Place number `flat` among those of some sizes.
static SmallVector<int64_t> placeAt(int64_t flat, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> place(sizes.size());
  for (int64_t dim = sizes.size() - 1; dim >= 0; flat /= sizes[dim--])
    place[dim] = flat % sizes[dim];
  return place;
}

static int64_t flatPlace(ArrayRef<int64_t> place, ArrayRef<int64_t> sizes) {
  int64_t flat = 0;
  for (auto [index, size] : llvm::zip_equal(place, sizes))
    flat = flat * size + index;
  return flat;
}

static Attribute elementAt(DenseElementsAttr table, ArrayRef<int64_t> place) {
  ArrayRef<int64_t> sizes = table.getType().getShape();
  for (auto [index, size] : llvm::zip_equal(place, sizes))
    if (index < 0 || index >= size)
      return {};
  return table.getValues<Attribute>()[flatPlace(place, sizes)];
}

DenseElementsAttr Tables::compute(linalg::LinalgOp op) {
  if (op->getNumResults() != 1 || !op.hasPureTensorSemantics())
    return {};
  OpOperand *init = op.getDpsInitOperand(0);
  const bool readsInit = op.payloadUsesValueFromOperand(init);
  auto isTable = [&](OpOperand *input) { return !isa<RankedTensorType>(input->get().getType()) || of(input->get()); };
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  AffineMap written = op.getMatchingIndexingMap(init);
  if (!llvm::all_of(op.getDpsInputOperands(), isTable) ||
      (readsInit ? !of(init->get()) : op.getNumReductionLoops() != 0) || !written.isProjectedPermutation() ||
      ShapedType::getNumElements(sizes) > kMostFolded)
    return {};
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Attribute> elements(type.getNumElements());
  if (readsInit)
    elements.assign(llvm::to_vector(of(init->get()).getValues<Attribute>()));
  for (int64_t flat = 0, count = ShapedType::getNumElements(sizes); flat < count; ++flat) {
    SmallVector<int64_t> place = placeAt(flat, sizes);
    Attribute &element = elements[flatPlace(written.compose(place), type.getShape())];
    element = elementOf(op, op.getBlock()->getTerminator()->getOperand(0), place, element);
    if (!element)
      return {};
  }
  return DenseElementsAttr::get(type, elements);
}

Attribute Tables::elementOf(linalg::LinalgOp op, Value value, ArrayRef<int64_t> place, Attribute init) {
  KnownNumbers numbers;
  numbers[op.getMatchingBlockArgument(op.getDpsInitOperand(0))] = init;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Attribute &number = numbers[op.getMatchingBlockArgument(input)];
    if (!isa<RankedTensorType>(input->get().getType()))
      (void)matchPattern(input->get(), m_Constant(&number));
    else if (DenseElementsAttr table = of(input->get()))
      number = elementAt(table, op.getMatchingIndexingMap(input).compose(place));
  }
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (numbers.contains(value))
      break;
    Attribute number = inner.getNumResults() == 1 ? fold(inner, place, numbers) : Attribute();
    if (!number)
      return {};
    numbers[inner.getResult(0)] = number;
  }
  return numbers.lookup(value);
}

SmallVector<int64_t> Tables::numbersOf(linalg::GenericOp op, Value value) {
  SmallVector<int64_t> numbers;
  for (int64_t place = 0, count = op.getStaticLoopRanges()[0]; place < count; ++place) {
    auto number = dyn_cast_or_null<IntegerAttr>(elementOf(op, value, place));
    if (!number)
      return {};
    numbers.push_back(number.getInt());
  }
  return numbers;
}

Attribute Tables::fold(Operation &op, ArrayRef<int64_t> place, const KnownNumbers &numbers) {
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return IntegerAttr::get(index.getType(), place[index.getDim()]);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<int64_t> at;
    for (Value index : extract.getIndices())
      if (auto number = dyn_cast_or_null<IntegerAttr>(numberOf(index, numbers)))
        at.push_back(number.getInt());
    DenseElementsAttr table = of(extract.getTensor());
    return table && at.size() == extract.getIndices().size() ? elementAt(table, at) : Attribute();
  }
  return foldNumber(op, numbers);
}

/// Elements of a vector at known places, as a concatenation of runs; null for places that are not known, and for any
/// other op.
static Value joinRuns(linalg::GenericOp op, Tables &tables) {
  auto extract = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp<tensor::ExtractOp>();
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!extract || op->getNumResults() != 1 || extract.getIndices().size() != 1 || !type.hasStaticShape() ||
      type.getRank() != 1 || op.getNumLoops() != 1 || extract.getTensor().getType().isDynamicDim(0))
    return {};
  SmallVector<std::pair<int64_t, int64_t>> runs; // a place, and how often
  for (int64_t place : tables.numbersOf(op, extract.getIndices()[0])) {
    if (runs.empty() || runs.back().first != place)
      runs.emplace_back(place, 0);
    ++runs.back().second;
    if (runs.size() > kMostRuns || place < 0 || place >= extract.getTensor().getType().getDimSize(0))
      return {};
  }
  if (runs.empty())
    return {};
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto repeated = llvm::map_to_vector(runs, [&](auto run) -> Value {
    Value at = arith::ConstantIndexOp::create(builder, loc, run.first);
    Value element = tensor::ExtractOp::create(builder, loc, extract.getTensor(), at);
    return tensor::SplatOp::create(builder, loc, element, type.clone(run.second));
  });
  return LeafBuilder(builder, loc).concat(repeated, 0);
}

void mhc::importTables(func::FuncOp func) {
  Tables tables;
  SmallVector<linalg::GenericOp> gathers;
  func.walk([&](linalg::GenericOp op) {
    if (!op.getBlock()->getOps<tensor::ExtractOp>().empty())
      gathers.push_back(op);
  });
  for (linalg::GenericOp op : gathers) {
    OpBuilder builder(op);
    if (DenseElementsAttr table = tables.of(op->getResult(0)))
      op.getResult(0).replaceAllUsesWith(arith::ConstantOp::create(builder, op.getLoc(), table));
    else if (Value joined = joinRuns(op, tables))
      op.getResult(0).replaceAllUsesWith(joined);
  }
}
