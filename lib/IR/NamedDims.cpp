//===- NamedDims.cpp - The one shape verifier of all kernel ops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DimBounds.h"
#include "mhc/IR/MhcOps.h"
#include "mhc/IR/TensorBytes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mhc;

DimLabels mhc::kernelDimLabels(Operation *op) {
  auto kernel = cast<KernelOpInterface>(op);
  const KernelInfo &info = kernel.getKernelInfo();
  DimLabels labels;
  for (auto [i, tensor] : llvm::enumerate(info.tensors)) {
    ArrayRef<unsigned> dims = kernel.getTensorDims(i);
    for (size_t count = kernel.getTensors(i).size(); count > 0; --count)
      (tensor.isResult ? labels.results : labels.operands).emplace_back(dims.begin(), dims.end());
  }
  return labels;
}

LogicalResult mhc::reifyShapes(OpBuilder &builder, Operation *op, SmallVectorImpl<SmallVector<OpFoldResult>> &shapes) {
  DimLabels labels = cast<DimsOpInterface>(op).getDimLabels();
  auto sizeOf = [&](int label) -> OpFoldResult {
    for (auto [operand, dims] : llvm::zip(op->getOperands(), labels.operands))
      for (auto [i, other] : llvm::enumerate(dims))
        if (label >= 0 && other == label)
          return tensor::getMixedSize(builder, op->getLoc(), operand, i);
    return {};
  };
  for (auto [result, dims] : llvm::zip(op->getResults(), labels.results)) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<OpFoldResult> &sizes = shapes.emplace_back();
    for (auto [i, label] : llvm::enumerate(dims)) {
      sizes.push_back(type.isDynamicDim(i) ? sizeOf(label) : OpFoldResult(builder.getIndexAttr(type.getDimSize(i))));
      if (!sizes.back())
        return failure();
    }
  }
  return success();
}

namespace {
/// The sizes that the tensors of one op give to the record's dims.
struct DimBinding {
  struct Size {
    int64_t size;
    StringRef tensor; ///< the first that gave it
  };

  DimBinding(KernelOpInterface op) : op(op), info(op.getKernelInfo()), sizes(info.dims.size()) {}

  LogicalResult bindTensors() {
    for (auto [i, tensor] : llvm::enumerate(info.tensors)) {
      Value value = op.getTensor(i);
      if (!value && !tensor.equalAttr.empty() && op->hasAttr(tensor.equalAttr))
        return op.emitOpError() << "has '" << tensor.equalAttr << "' without '" << tensor.name << "'";
      if (!value)
        continue;
      if (!llvm::all_equal(op.getTensors(i).getTypes()))
        return op.emitOpError() << "the tensors of '" << tensor.name << "' differ in type";
      if (failed(verifyBytes(op, value.getType())))
        return failure();
      auto shape = cast<RankedTensorType>(value.getType()).getShape();
      if (failed(checkRank(i, shape.size())))
        return failure();
      for (auto [dim, size] : llvm::zip(op.getTensorDims(i), shape))
        if (failed(ShapedType::isDynamic(size) ? checkMayBeDynamic(dim, tensor.name) : bind(dim, size, tensor.name)))
          return failure();
    }
    return success();
  }

  /// Types leave open whether streams are one row; the attribute says so.
  LogicalResult checkRank(unsigned index, size_t rank) {
    const KernelTensor &tensor = info.tensors[index];
    ArrayRef<unsigned> dims = op.getTensorDims(index);
    if (rank == dims.size())
      return success();
    auto names = llvm::map_range(dims, [&](unsigned dim) { return info.dims[dim]; });
    return op.emitOpError() << "'" << tensor.name << "' has " << rank << " dimensions; needed ["
                            << llvm::join(names, ", ") << (dims == tensor.equalDims ? "] with '" : "] without '")
                            << tensor.equalAttr << "'";
  }

  /// The number of streams is part of the program, and so are the numbers of coefficients that follow from it.
  LogicalResult checkMayBeDynamic(unsigned dim, StringRef tensor) {
    bool isCoefficientDim = StringRef("nNRA").contains(info.dims[dim]) && llvm::is_contained(info.dims, "n");
    if (!isCoefficientDim)
      return success();
    return op.emitOpError() << "dimension '" << info.dims[dim] << "' is dynamic in '" << tensor
                            << "'; needed a static size";
  }

  LogicalResult bind(unsigned dim, int64_t size, StringRef tensor) {
    if (!sizes[dim]) {
      sizes[dim] = Size{size, tensor};
      return success();
    }
    if (sizes[dim]->size == size)
      return success();
    return op.emitOpError() << "dimension '" << info.dims[dim] << "' is " << sizes[dim]->size << " in '"
                            << sizes[dim]->tensor << "' but " << size << " in '" << tensor << "'";
  }

  LogicalResult checkRules() {
    KernelSizes values;
    for (std::optional<Size> &size : sizes)
      values.dims.push_back(size ? size->size : 0);
    for (const KernelAttr &attr : info.attrs)
      values.attrs.push_back(kernelAttrValue(attr, op->getAttr(attr.name)));
    for (unsigned i = 0; i < info.tensors.size(); ++i)
      values.counts.push_back(op.getTensors(i).size());
    for (const KernelDimRule &rule : info.dimRules) {
      if (!sizes[rule.dim] || llvm::any_of(rule.uses, [&](unsigned dim) { return !sizes[dim]; }))
        continue;
      double needed = rule.value(values);
      if (needed == sizes[rule.dim]->size)
        continue;
      InFlightDiagnostic error = op.emitOpError()
                                 << "dimension '" << info.dims[rule.dim] << "' is " << sizes[rule.dim]->size << " in '"
                                 << sizes[rule.dim]->tensor << "'; needed " << static_cast<int64_t>(needed);
      return rule.uses.empty() ? error : error << " = " << rule.text; // a number is its own text
    }
    return success();
  }

  LogicalResult checkBounds() {
    for (const DimBound &bound : dimBoundsOf(info.opName)) {
      const std::optional<Size> &size = sizes[bound.dim];
      if (!size || (size->size >= bound.least && (bound.most == 0 || size->size <= bound.most)))
        continue;
      InFlightDiagnostic error = op.emitOpError() << "dimension '" << info.dims[bound.dim] << "' is " << size->size
                                                  << " in '" << size->tensor << "'; needed ";
      return bound.most == 0 ? error << "at least " << bound.least : error << bound.least << " to " << bound.most;
    }
    return success();
  }

  LogicalResult checkElementTypes() {
    for (auto [i, tensor] : llvm::enumerate(info.tensors)) {
      Value value = op.getTensor(i);
      if (!value || tensor.elementOf < 0)
        continue;
      Type type = getElementTypeOrSelf(value), needed = getElementTypeOrSelf(op.getTensor(tensor.elementOf));
      if (type == needed || (tensor.orF32 && type.isF32()))
        continue;
      return op.emitOpError() << "'" << tensor.name << "' has elements of type " << type << "; needed " << needed
                              << ", the type of '" << info.tensors[tensor.elementOf].name << "'"
                              << (tensor.orF32 && !needed.isF32() ? ", or f32" : "");
    }
    return success();
  }

  LogicalResult checkStarts() {
    for (auto [i, tensor] : llvm::enumerate(info.tensors))
      if (tensor.startOf >= 0 && op.getTensor(i) && !op.getTensor(tensor.startOf))
        return op.emitOpError() << "has '" << tensor.name << "' without '" << info.tensors[tensor.startOf].name
                                << "', which starts from it";
    return success();
  }

  KernelOpInterface op;
  const KernelInfo &info;
  SmallVector<std::optional<Size>> sizes;
};
} // namespace

LogicalResult mhc::verifyKernelDims(Operation *op) {
  DimBinding binding(cast<KernelOpInterface>(op));
  return failure(failed(binding.bindTensors()) || failed(binding.checkBounds()) || failed(binding.checkRules()) ||
                 failed(binding.checkElementTypes()) || failed(binding.checkStarts()));
}
