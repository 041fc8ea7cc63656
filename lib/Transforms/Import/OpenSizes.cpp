//===- OpenSizes.cpp - States sizes that types leave open ------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Import.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

static SmallVector<int> elementwiseLabels(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? llvm::to_vector(llvm::seq<int>(0, tensor.getRank())) : SmallVector<int>();
}

static std::optional<DimLabels> labelsOf(Operation *op) {
  if (auto labelled = dyn_cast<DimsOpInterface>(op))
    return labelled.getDimLabels();
  if (!OpTrait::hasElementwiseMappableTraits(op))
    return std::nullopt;
  DimLabels labels;
  llvm::append_range(labels.operands, llvm::map_range(op->getOperandTypes(), elementwiseLabels));
  llvm::append_range(labels.results, llvm::map_range(op->getResultTypes(), elementwiseLabels));
  return labels;
}

static bool isOpen(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

static Value withoutCast(Value value) {
  auto cast = value.getDefiningOp<tensor::CastOp>();
  return cast && isa<RankedTensorType>(cast.getSource().getType()) ? cast.getSource() : value;
}

namespace {
/// The sizes that the types of one op state, by label.
class StatedSizes {
public:
  StatedSizes(Operation *op, const DimLabels &labels) {
    for (auto [operand, list] : llvm::zip_equal(op->getOperands(), labels.operands)) {
      learn(operand.getType(), list);
      learn(withoutCast(operand).getType(), list);
    }
    for (auto [type, list] : llvm::zip_equal(op->getResultTypes(), labels.results))
      learn(type, list);
  }

  Type stated(Type type, ArrayRef<int> labels) const {
    if (!isOpen(type))
      return type;
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    for (auto [size, label] : llvm::zip_equal(shape, labels))
      if (auto known = sizes.find(label); ShapedType::isDynamic(size) && label >= 0 && known != sizes.end())
        size = known->second;
    return tensor.clone(shape);
  }

private:
  void learn(Type type, ArrayRef<int> labels) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || labels.empty())
      return;
    for (auto [size, label] : llvm::zip_equal(tensor.getShape(), labels))
      if (label >= 0 && !ShapedType::isDynamic(size))
        sizes.try_emplace(label, size);
  }

  llvm::SmallDenseMap<int, int64_t> sizes;
};
} // namespace

static Value castTo(OpBuilder &builder, Location loc, Type type, Value value) {
  Value source = withoutCast(value);
  return source.getType() == type ? source : tensor::CastOp::create(builder, loc, type, value).getResult();
}

static void setType(OpResult result, Type type, OpBuilder &builder) {
  Type open = result.getType();
  if (type == open)
    return;
  result.setType(type);
  auto cast = tensor::CastOp::create(builder, result.getLoc(), open, result);
  result.replaceAllUsesExcept(cast, cast);
}

/// States in its types what its sizes state.
static void stateSizes(tensor::ExpandShapeOp op, OpBuilder &builder) {
  RankedTensorType type = op.getResultType().clone(op.getStaticOutputShape());
  if (type == op.getResultType())
    return;
  SmallVector<int64_t> shape(op.getSrcType().getShape());
  for (auto [size, group] : llvm::zip(shape, op.getReassociationIndices())) {
    int64_t product = 1;
    for (int64_t dim : group)
      product = type.isDynamicDim(dim) || ShapedType::isDynamic(product) ? ShapedType::kDynamic
                                                                         : product * type.getDimSize(dim);
    size = product;
  }
  builder.setInsertionPoint(op);
  if (RankedTensorType source = op.getSrcType().clone(shape); source != op.getSrcType())
    op.getSrcMutable().assign(castTo(builder, op.getLoc(), source, op.getSrc()));
  builder.setInsertionPointAfter(op);
  setType(op->getResult(0), type, builder);
}

/// Whether all types state the same sizes, one behind the other, so that none tells another something.
static bool statesOneShape(Operation *op) {
  if (isa<DimsOpInterface>(op) || !OpTrait::hasElementwiseMappableTraits(op))
    return false;
  auto shapeOf = [](Type type) { return cast<RankedTensorType>(type).getShape(); };
  auto types = llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes());
  return llvm::all_of(types, llvm::IsaPred<RankedTensorType>) && llvm::all_equal(llvm::map_range(types, shapeOf)) &&
         llvm::none_of(op->getOperands(), [](Value operand) { return withoutCast(operand) != operand; });
}

static void stateSizes(Operation *op, OpBuilder &builder) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return stateSizes(expand, builder);
  if ((llvm::none_of(op->getOperandTypes(), isOpen) && llvm::none_of(op->getResultTypes(), isOpen)) ||
      statesOneShape(op))
    return;
  std::optional<DimLabels> labels = labelsOf(op);
  if (!labels)
    return;
  StatedSizes sizes(op, *labels);
  builder.setInsertionPoint(op);
  for (auto [operand, list] : llvm::zip_equal(op->getOpOperands(), labels->operands))
    if (Type type = sizes.stated(operand.get().getType(), list); type != operand.get().getType())
      operand.set(castTo(builder, op->getLoc(), type, operand.get()));
  builder.setInsertionPointAfter(op);
  for (auto [result, list] : llvm::zip_equal(op->getResults(), labels->results))
    setType(result, sizes.stated(result.getType(), list), builder);
}

/// Upstream lets an op on tensor<4> and tensor<?> be; gradients and mHC ops, which are made of such ops, need one type.
void mhc::stateOpenSizes(func::FuncOp func) {
  OpBuilder builder(func.getContext());
  func.walk([&](Operation *op) { stateSizes(op, builder); });
}
