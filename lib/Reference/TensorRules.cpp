//===- TensorRules.cpp - Rules for the tensor dialect ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"
#include "TensorMath.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mhc::reference;
using llvm::Expected;

/// Sizes of which some are operands of `op`.
static Shape resolve(Operation *op, ArrayRef<HostTensor> operands, ArrayRef<OpFoldResult> sizes) {
  Shape numbers;
  for (OpFoldResult size : sizes) {
    if (std::optional<int64_t> number = getConstantIntValue(size)) {
      numbers.push_back(*number);
      continue;
    }
    auto place = llvm::find(op->getOperands(), cast<Value>(size));
    numbers.push_back(operands[place.getIndex()].integer());
  }
  return numbers;
}

/// The result type's shape, with its dynamic sizes taken from `sizes` in order.
static Expected<Shape> resultShape(Operation *op, ArrayRef<HostTensor> sizes) {
  Shape shape(cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size)) {
      size = sizes.front().integer();
      sizes = sizes.drop_front();
      if (size < 0)
        return errorAt(op, "has size " + llvm::Twine(size));
    }
  return shape;
}

static Expected<HostTensor> reshape(Operation *op, const HostTensor &x, Shape shape) {
  if (numElements(shape) != x.size())
    return errorAt(op, "cannot make shape " + toString(shape) + " of " + toString(x.shape()));
  return x.reshaped(std::move(shape));
}

static Expected<HostTensor> evaluateCollapseShape(Operation *op, ArrayRef<HostTensor> operands) {
  Shape shape;
  for (const ReassociationIndices &group : cast<tensor::CollapseShapeOp>(op).getReassociationIndices()) {
    shape.push_back(1);
    for (int64_t dim : group)
      shape.back() *= operands[0].shape()[dim];
  }
  return reshape(op, operands[0], std::move(shape));
}

static Expected<HostTensor> evaluateExpandShape(Operation *op, ArrayRef<HostTensor> operands) {
  auto expand = cast<tensor::ExpandShapeOp>(op);
  Shape shape = resolve(op, operands, expand.getMixedOutputShape());
  for (auto [i, group] : llvm::enumerate(expand.getReassociationIndices())) {
    int64_t size = 1;
    for (int64_t dim : group)
      size *= shape[dim];
    if (size != operands[0].shape()[i])
      return errorAt(op, "cannot make shape " + toString(shape) + " of " + toString(operands[0].shape()));
  }
  return reshape(op, operands[0], std::move(shape));
}

static Expected<HostTensor> evaluateReshape(Operation *op, ArrayRef<HostTensor> operands) {
  Shape shape;
  for (double size : operands[1].values())
    shape.push_back(size);
  return reshape(op, operands[0], std::move(shape));
}

/// The bounds of a slice op, checked against the large tensor.
template <typename Op>
static Expected<SliceBounds> boundsOf(Op op, ArrayRef<HostTensor> operands, ArrayRef<int64_t> shape) {
  SliceBounds bounds{resolve(op, operands, op.getMixedOffsets()), resolve(op, operands, op.getMixedSizes()),
                     resolve(op, operands, op.getMixedStrides())};
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    int64_t offset = bounds.offsets[dim], size = bounds.sizes[dim];
    int64_t last = offset + (size - 1) * bounds.strides[dim];
    if (size < 0 || offset < 0 || (size > 0 && (last < 0 || last >= shape[dim])))
      return errorAt(op, "takes offsets " + toString(bounds.offsets) + ", sizes " + toString(bounds.sizes) +
                             " and strides " + toString(bounds.strides) + " of shape " + toString(shape));
  }
  return bounds;
}

static Expected<HostTensor> evaluateExtractSlice(Operation *op, ArrayRef<HostTensor> operands) {
  auto extract = cast<tensor::ExtractSliceOp>(op);
  Expected<SliceBounds> bounds = boundsOf(extract, operands, operands[0].shape());
  if (!bounds)
    return bounds.takeError();
  Shape kept;
  llvm::SmallBitVector dropped = extract.getDroppedDims();
  for (auto [dim, size] : llvm::enumerate(bounds->sizes))
    if (!dropped[dim])
      kept.push_back(size);
  return extractSlice(operands[0], *bounds).reshaped(std::move(kept));
}

static Expected<HostTensor> evaluateInsertSlice(Operation *op, ArrayRef<HostTensor> operands) {
  Expected<SliceBounds> bounds = boundsOf(cast<tensor::InsertSliceOp>(op), operands, operands[1].shape());
  if (!bounds)
    return bounds.takeError();
  Expected<HostTensor> source = reshape(op, operands[0], bounds->sizes);
  if (!source)
    return source.takeError();
  return insertSlice(*source, operands[1], *bounds);
}

static Expected<HostTensor> evaluatePad(Operation *op, ArrayRef<HostTensor> operands) {
  auto pad = cast<tensor::PadOp>(op);
  FloatAttr constant;
  Value padding = pad.getConstantPaddingValue();
  const bool isConstant = padding && matchPattern(padding, m_Constant(&constant));
  if (!isConstant && operands.size() == op->getNumOperands())
    return errorAt(op, "pads with what is not one number");
  const double number = isConstant ? constant.getValueAsDouble() : operands.back().scalar();
  Shape low = resolve(op, operands, pad.getMixedLowPad()), high = resolve(op, operands, pad.getMixedHighPad());
  Shape shape(operands[0].shape()), sizes = shape;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    shape[dim] += low[dim] + high[dim];
  if (llvm::any_of(low, [](int64_t size) { return size < 0; }) ||
      llvm::any_of(high, [](int64_t size) { return size < 0; }))
    return errorAt(op, "pads by " + toString(low) + " and " + toString(high));
  SliceBounds inside{low, sizes, Shape(shape.size(), 1)};
  return insertSlice(operands[0], splat(number, std::move(shape)), inside);
}

static Expected<HostTensor> evaluateConcat(Operation *op, ArrayRef<HostTensor> operands) {
  size_t dim = cast<tensor::ConcatOp>(op).getDim();
  for (const HostTensor &operand : operands.drop_front())
    for (size_t i = 0; i < operand.shape().size(); ++i)
      if (i != dim && operand.shape()[i] != operands[0].shape()[i])
        return errorAt(op, "cannot join shapes " + toString(operands[0].shape()) + " and " + toString(operand.shape()) +
                               " along dimension " + llvm::Twine(dim));
  return concat(operands, dim);
}

static Expected<HostTensor> evaluateFromElements(Operation *op, ArrayRef<HostTensor> operands) {
  std::vector<double> out;
  for (const HostTensor &operand : operands)
    out.push_back(operand.scalar());
  return HostTensor(Shape(cast<RankedTensorType>(op->getResult(0).getType()).getShape()), std::move(out));
}

/// One element, or in the body of loops one for each iteration.
static Expected<HostTensor> evaluateExtract(Operation *op, ArrayRef<HostTensor> operands) {
  const HostTensor &tensor = operands[0];
  ArrayRef<HostTensor> indices = operands.drop_front();
  if (indices.empty())
    return HostTensor(tensor.scalar());
  std::vector<double> elements;
  for (int64_t iteration = 0; iteration < indices[0].size(); ++iteration) {
    int64_t position = 0;
    for (auto [index, size] : llvm::zip(indices, tensor.shape())) {
      auto number = static_cast<int64_t>(index.data()[iteration]);
      if (number < 0 || number >= size)
        return errorAt(op, "reads index " + llvm::Twine(number) + " of a dimension of size " + llvm::Twine(size));
      position = position * size + number;
    }
    elements.push_back(tensor.data()[position]);
  }
  return HostTensor(Shape(indices[0].shape()), std::move(elements));
}

static Expected<HostTensor> evaluateDim(Operation *op, ArrayRef<HostTensor> operands) {
  int64_t dim = operands[1].integer();
  if (dim < 0 || dim >= operands[0].rank())
    return errorAt(op, "asks for dimension " + llvm::Twine(dim) + " of shape " + toString(operands[0].shape()));
  return HostTensor(static_cast<double>(operands[0].shape()[dim]));
}

static Expected<HostTensor> filled(Operation *op, double value, ArrayRef<HostTensor> sizes) {
  Expected<Shape> shape = resultShape(op, sizes);
  if (!shape)
    return shape.takeError();
  return splat(value, std::move(*shape));
}

void mhc::reference::addTensorRules(llvm::StringMap<Rule> &rules) {
  rules["tensor.cast"] = [](Operation *, ArrayRef<HostTensor> operands) { return operands[0]; };
  rules["tensor.collapse_shape"] = evaluateCollapseShape;
  rules["tensor.expand_shape"] = evaluateExpandShape;
  rules["tensor.reshape"] = evaluateReshape;
  rules["tensor.extract_slice"] = evaluateExtractSlice;
  rules["tensor.insert_slice"] = evaluateInsertSlice;
  rules["tensor.pad"] = evaluatePad;
  rules["tensor.concat"] = evaluateConcat;
  rules["tensor.from_elements"] = evaluateFromElements;
  rules["tensor.extract"] = evaluateExtract;
  rules["tensor.dim"] = evaluateDim;
  rules["tensor.splat"] = [](Operation *op, ArrayRef<HostTensor> operands) {
    return filled(op, operands[0].scalar(), operands.drop_front());
  };
  // Elements that nobody has written show as NaN wherever they are used.
  rules["tensor.empty"] = [](Operation *op, ArrayRef<HostTensor> operands) { return filled(op, NAN, operands); };
}
