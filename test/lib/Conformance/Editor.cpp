//===- Editor.cpp - Changes one place of a program ------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Editor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace mhc::conformance {

std::vector<Operation *> Editor::all(OpTest test) {
  std::vector<Operation *> found;
  func.walk([&](Operation *op) {
    if (op != func && op->getNumResults() > 0 && test(op))
      found.push_back(op);
  });
  return found;
}

Operation *Editor::pickOp(OpTest test) { return draw<Operation *>(all(test)); }

bool Editor::changeResult(Operation *op, llvm::function_ref<Value(LeafBuilder &)> make) {
  if (!op)
    return false;
  Value old = op->getResult(0);
  std::vector<OpOperand *> uses;
  for (OpOperand &use : old.getUses())
    uses.push_back(&use);
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  LeafBuilder leaf(builder, op->getLoc());
  Value value = make(leaf);
  if (!value || value == old || value.getType() != old.getType())
    return false;
  for (OpOperand *use : uses)
    use->set(value);
  return !uses.empty();
}

bool Editor::changeUse(Test test, llvm::function_ref<Value(LeafBuilder &, Value)> make) {
  std::vector<OpOperand *> found;
  func.walk([&](Operation *op) {
    for (OpOperand &use : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(use.get().getType());
      if (type && isa<FloatType>(type.getElementType()) && test(use.get()))
        found.push_back(&use);
    }
  });
  OpOperand *use = draw<OpOperand *>(found);
  if (!use)
    return false;
  OpBuilder builder(use->getOwner());
  LeafBuilder leaf(builder, use->getOwner()->getLoc());
  Value value = make(leaf, use->get());
  if (!value || value == use->get() || value.getType() != use->get().getType())
    return false;
  use->set(value);
  return true;
}

Value Editor::other(Value value, Test test) {
  DominanceInfo dominance(func);
  Operation *place = value.getDefiningOp();
  std::vector<Value> found;
  auto consider = [&](Value candidate) {
    if (candidate != value && candidate.getType() == value.getType() && test(candidate) &&
        (!place || dominance.properlyDominates(candidate, place)))
      found.push_back(candidate);
  };
  llvm::for_each(func.getArguments(), consider);
  if (place)
    func.walk([&](Operation *op) { llvm::for_each(op->getResults(), consider); });
  return draw<Value>(found);
}

static ArrayRef<int64_t> shapeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

bool Editor::isMatrix(Value value) const {
  ArrayRef<int64_t> shape = shapeOf(value);
  return shape.size() == 3 && shape[1] == n && shape[2] == n;
}

bool Editor::isGate(Value value) const {
  ArrayRef<int64_t> shape = shapeOf(value);
  return shape.size() == 2 && ShapedType::isDynamic(shape[0]) && shape[1] == n;
}

bool Editor::isRow(Value value) const {
  ArrayRef<int64_t> shape = shapeOf(value);
  return !shape.empty() && ShapedType::isDynamic(shape[0]) &&
         (shape.size() == 1 || (shape.size() == 2 && shape[1] == 1));
}

bool Editor::isStreams(Value value) const {
  ArrayRef<int64_t> shape = shapeOf(value);
  if (shape.empty() || !ShapedType::isDynamic(shape[0]))
    return false;
  return (shape.size() == 3 && (shape[1] == n || shape[2] == n)) || (shape.size() == 2 && shape[1] % n == 0);
}

/// The number that a tensor has everywhere.
static std::optional<double> numberOf(Value value) {
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    value = splat.getInput();
  FloatAttr number;
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&number)))
    return number.getValueAsDouble();
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat() && isa<FloatType>(elements.getElementType()))
    return elements.getSplatValue<APFloat>().convertToDouble();
  return std::nullopt;
}

unsigned numberAt(Operation *op) {
  for (unsigned i : {1, 0})
    if (op->getNumOperands() == 2 && numberOf(op->getOperand(i)))
      return i;
  return 2;
}

double numberIn(Operation *op) { return *numberOf(op->getOperand(numberAt(op))); }

Value besideNumber(Operation *op) { return op->getOperand(1 - numberAt(op)); }

bool isBetweenTensors(Operation *op) { return isa<RankedTensorType>(op->getResult(0).getType()) && numberAt(op) == 2; }

} // namespace mhc::conformance
