//===- Scalars.cpp - Numbers that are read from tensors, as slices ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exporters read a parameter such as alpha element by element, and repeat the number. Steps know what is repeated by
// the tensor that it is a slice of.
//
//===----------------------------------------------------------------------===//

#include "Import.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mhc;

namespace {
/// Writes numbers that come from elements at known places as tensors of rank 0.
class ScalarReader {
public:
  explicit ScalarReader(MLIRContext *context) : builder(context) {}

  /// Null for a constant, and for a number that comes from anything else.
  Value read(Value scalar);

private:
  /// Tensor form of a scalar whose operands were read.
  Value tensorOf(Value scalar);
  Value slice(tensor::ExtractOp op);
  Value compute(Operation *op);

  OpBuilder builder;
  llvm::DenseMap<Value, Value> tensors; ///< of rank 0, by the number that they hold
};
} // namespace

Value ScalarReader::slice(tensor::ExtractOp op) {
  SmallVector<OpFoldResult> offsets = getAsOpFoldResult(op.getIndices());
  if (!llvm::all_of(offsets, [](OpFoldResult offset) { return getConstantIntValue(offset).has_value(); }))
    return {};
  if (offsets.empty())
    return op.getTensor();
  SmallVector<OpFoldResult> ones(offsets.size(), builder.getIndexAttr(1));
  auto type = RankedTensorType::get({}, op.getType());
  return tensor::ExtractSliceOp::create(builder, op.getLoc(), type, op.getTensor(), offsets, ones, ones);
}

static bool isComputed(Operation *op) {
  return op && op->getNumResults() == 1 && isa<FloatType>(op->getResult(0).getType()) &&
         OpTrait::hasElementwiseMappableTraits(op);
}

Value ScalarReader::compute(Operation *op) {
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value v) { return tensors.lookup(v); });
  if (!llvm::all_of(operands, [](Value v) { return bool(v); }))
    return {};
  auto type = RankedTensorType::get({}, op->getResult(0).getType());
  OperationState state(op->getLoc(), op->getName(), operands, type, op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return builder.create(state)->getResult(0);
}

Value ScalarReader::tensorOf(Value scalar) {
  Operation *op = scalar.getDefiningOp();
  if (!op || !isa<FloatType>(scalar.getType()))
    return {};
  builder.setInsertionPoint(op);
  FloatAttr number;
  if (matchPattern(scalar, m_Constant(&number))) {
    auto type = RankedTensorType::get({}, scalar.getType());
    return arith::ConstantOp::create(builder, op->getLoc(), DenseElementsAttr::get(type, number.getValue()));
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return slice(extract);
  return isComputed(op) ? compute(op) : Value();
}

Value ScalarReader::read(Value scalar) {
  if (matchPattern(scalar, m_Constant()))
    return {};
  // Operands first, without recursion: programs that unroll are deep.
  SmallVector<Value> pending = {scalar};
  while (!pending.empty()) {
    Value next = pending.back();
    size_t count = pending.size();
    if (Operation *op = next.getDefiningOp(); !tensors.contains(next) && isComputed(op))
      llvm::copy_if(op->getOperands(), std::back_inserter(pending), [&](Value v) { return !tensors.contains(v); });
    if (pending.size() > count)
      continue;
    if (!tensors.contains(next))
      tensors[next] = tensorOf(next);
    pending.pop_back();
  }
  return tensors.lookup(scalar);
}

void mhc::importScalars(func::FuncOp func) {
  ScalarReader reader(func.getContext());
  func.walk([&](tensor::SplatOp op) {
    Value tensor = reader.read(op.getInput());
    if (!tensor)
      return;
    OpBuilder builder(op);
    Value repeated =
        BroadcastOp::create(builder, op.getLoc(), op.getType(), tensor, op.getDynamicSizes(), ArrayRef<int64_t>());
    op.replaceAllUsesWith(repeated);
    op.erase();
  });
}
