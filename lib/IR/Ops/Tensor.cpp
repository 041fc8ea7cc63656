//===- Tensor.cpp - Leaf ops of the tensor language ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include <numeric>

using namespace mlir;
using namespace mhc;

static SmallVector<int> iota(int64_t rank) {
  SmallVector<int> labels(rank);
  std::iota(labels.begin(), labels.end(), 0);
  return labels;
}

static DimLabels elementwiseLabels(RankedTensorType type) { return {{iota(type.getRank())}, {iota(type.getRank())}}; }

DimLabels SigmoidOp::getDimLabels() { return elementwiseLabels(getX().getType()); }
DimLabels SiluOp::getDimLabels() { return elementwiseLabels(getX().getType()); }
DimLabels SoftplusOp::getDimLabels() { return elementwiseLabels(getX().getType()); }
DimLabels SoftmaxOp::getDimLabels() { return elementwiseLabels(getX().getType()); }

LogicalResult SoftmaxOp::verify() {
  int64_t rank = getX().getType().getRank();
  if (static_cast<int64_t>(getDim()) >= rank)
    return emitOpError() << "has dim " << getDim() << "; the operand has rank " << rank;
  return success();
}

//===----------------------------------------------------------------------===//
// rms_norm
//===----------------------------------------------------------------------===//

LogicalResult RmsNormOp::verify() {
  RankedTensorType type = getX().getType();
  if (type.getRank() == 0)
    return emitOpError() << "has an operand of rank 0; needed at least 1";
  if (!getWeight())
    return success();
  RankedTensorType weight = getWeight().getType();
  if (weight.getRank() != 1 || weight.getDimSize(0) != type.getShape().back())
    return emitOpError() << "has a weight of type " << weight << "; needed one dimension, the last of " << type;
  if (weight.getElementType() != type.getElementType())
    return emitOpError() << "has a weight with elements of type " << weight.getElementType() << "; needed "
                         << type.getElementType();
  return success();
}

DimLabels RmsNormOp::getDimLabels() {
  int rank = getX().getType().getRank();
  DimLabels labels = elementwiseLabels(getX().getType());
  if (getWeight())
    labels.operands.push_back({rank - 1});
  return labels;
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  RankedTensorType type = getX().getType();
  SmallVector<int64_t> shape;
  for (int64_t dim : getDims()) {
    if (dim < 0 || dim >= type.getRank())
      return emitOpError() << "reduces dimension " << dim << "; the operand has rank " << type.getRank();
    if (llvm::count(getDims(), dim) > 1)
      return emitOpError() << "reduces dimension " << dim << " twice";
  }
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(getDims(), dim))
      shape.push_back(type.getDimSize(dim));
  auto needed = RankedTensorType::get(shape, type.getElementType());
  if (getOut().getType() != needed)
    return emitOpError() << "has a result of type " << getOut().getType() << "; needed " << needed;
  return success();
}

DimLabels ReduceOp::getDimLabels() {
  SmallVector<int> kept;
  for (int dim = 0; dim < getX().getType().getRank(); ++dim)
    if (!llvm::is_contained(getDims(), dim))
      kept.push_back(dim);
  return {{iota(getX().getType().getRank())}, {kept}};
}

//===----------------------------------------------------------------------===//
// broadcast
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  RankedTensorType type = getX().getType(), result = getOut().getType();
  ArrayRef<int64_t> dims = getDims();
  if (type.getElementType() != result.getElementType())
    return emitOpError() << "has a result with elements of type " << result.getElementType() << "; needed "
                         << type.getElementType();
  if (static_cast<int64_t>(dims.size()) != type.getRank())
    return emitOpError() << "has " << dims.size() << " dims; the operand has rank " << type.getRank();
  SmallVector<bool> given(result.getRank(), false);
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (dim < 0 || dim >= result.getRank() || (i > 0 && dim <= dims[i - 1]))
      return emitOpError() << "has dims [" << dims << "]; needed ascending dimensions of " << result;
    int64_t size = type.getDimSize(i);
    if (size != 1 && size != result.getDimSize(dim))
      return emitOpError() << "maps dimension " << i << " of " << type << " to dimension " << dim << " of " << result
                           << "; needed equal sizes, or 1 in the operand";
    given[dim] = size != 1;
  }
  int64_t needed = 0;
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    needed += result.isDynamicDim(dim) && !given[dim];
  if (static_cast<int64_t>(getSizes().size()) != needed)
    return emitOpError() << "has " << getSizes().size() << " sizes; needed " << needed
                         << ", one per dynamic result dimension that the operand does not give";
  return success();
}

DimLabels BroadcastOp::getDimLabels() {
  RankedTensorType type = getX().getType();
  SmallVector<int> from;
  for (auto [i, dim] : llvm::enumerate(getDims()))
    from.push_back(type.getDimSize(i) == 1 ? -1 : dim);
  DimLabels labels{{from}, {iota(getOut().getType().getRank())}};
  labels.operands.resize(getOperation()->getNumOperands());
  return labels;
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getOut().getType() && getSizes().empty())
    return getX();
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getX()); splat && getOut().getType().hasStaticShape())
    return splat.resizeSplat(getOut().getType());
  return {};
}

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::verify() {
  RankedTensorType type = getX().getType();
  ArrayRef<int64_t> perm = getPerm();
  if (static_cast<int64_t>(perm.size()) != type.getRank() || !isPermutationVector(perm))
    return emitOpError() << "has perm [" << perm << "]; needed a permutation of " << type.getRank() << " dimensions";
  SmallVector<int64_t> shape;
  for (int64_t dim : perm)
    shape.push_back(type.getDimSize(dim));
  auto needed = type.clone(shape);
  if (getOut().getType() != needed)
    return emitOpError() << "has a result of type " << getOut().getType() << "; needed " << needed;
  return success();
}

DimLabels TransposeOp::getDimLabels() {
  return {{iota(getX().getType().getRank())}, {SmallVector<int>(getPerm().begin(), getPerm().end())}};
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (llvm::is_sorted(getPerm()))
    return getX();
  if (auto inner = getX().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> perm;
    for (int64_t dim : getPerm())
      perm.push_back(inner.getPerm()[dim]);
    setPerm(perm);
    getXMutable().assign(inner.getX());
    return getOut();
  }
  return {};
}
