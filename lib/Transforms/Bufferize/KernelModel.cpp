//===- KernelModel.cpp - Kernel ops on buffers ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One model for all kernel ops: operands are read, results are new buffers, and the op becomes a mhc.launch. A result
// that may take over the buffer of an operand of its type does so where nobody reads the operand later.
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/MhcOps.h"
#include "mhc/Transforms/BufferizationModels.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mhc;

/// The buffer, or a copy where it is not known to be contiguous and row-major: kernels take no strides.
static FailureOr<Value> contiguous(RewriterBase &rewriter, Location loc, Value buffer,
                                   const BufferizationOptions &options) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.areTrailingDimsContiguous(type.getRank()))
    return buffer;
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(rewriter, loc, buffer, dim));
  auto plain = MemRefType::get(type.getShape(), type.getElementType());
  FailureOr<Value> copy = options.createAlloc(rewriter, loc, plain, sizes);
  if (failed(copy) || failed(options.createMemCpy(rewriter, loc, buffer, *copy)))
    return failure();
  return copy;
}

static MemRefType bufferType(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return MemRefType::get(type.getShape(), type.getElementType());
}

static DictionaryAttr configOf(Operation *op, const KernelInfo &info) {
  SmallVector<NamedAttribute> config;
  for (const KernelAttr &attr : info.attrs)
    if (Attribute value = op->getAttr(attr.name))
      config.emplace_back(StringAttr::get(op->getContext(), attr.name), value);
  return DictionaryAttr::get(op->getContext(), config);
}

/// The result that takes over the buffer of `operand`, or null.
static OpResult takerOf(OpOperand &operand) {
  auto kernel = cast<KernelOpInterface>(operand.getOwner());
  unsigned number = 0;
  for (auto [i, tensor] : llvm::enumerate(kernel.getKernelInfo().tensors)) {
    number += kernel.getTensors(i).size();
    if (tensor.isResult || number <= operand.getOperandNumber())
      continue;
    Value result = tensor.takenOverBy >= 0 ? kernel.getTensor(tensor.takenOverBy) : Value();
    return result && result.getType() == operand.get().getType() ? cast<OpResult>(result) : OpResult();
  }
  return {};
}

/// Numbers of the operands that keep their buffers, as others read them later.
static constexpr StringLiteral kKept = "mhc.kept";

/// The operand whose buffer `result` takes over, or null.
static OpOperand *giverOf(OpResult result) {
  auto kept = result.getOwner()->getAttrOfType<DenseI32ArrayAttr>(kKept);
  for (OpOperand &operand : result.getOwner()->getOpOperands())
    if (takerOf(operand) == result && !(kept && llvm::is_contained(kept.asArrayRef(), operand.getOperandNumber())))
      return &operand;
  return nullptr;
}

namespace {
struct KernelModel : BufferizableOpInterface::ExternalModel<KernelModel, KernelOpInterface> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const AnalysisState &) const { return true; }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &operand, const AnalysisState &) const {
    return takerOf(operand) != nullptr;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &operand, const AnalysisState &) const {
    if (OpResult result = takerOf(operand))
      return {{result, BufferRelation::Equivalent}};
    return {};
  }
  bool bufferizesToAllocation(Operation *, Value value) const { return !giverOf(cast<OpResult>(value)); }
  FailureOr<BufferLikeType> getBufferType(Operation *, Value value, const BufferizationOptions &,
                                          const BufferizationState &, SmallVector<Value> &) const {
    return cast<BufferLikeType>(bufferType(value));
  }

  /// The usual copy of such an operand would move it twice: its taker gets a buffer of its own.
  LogicalResult resolveConflicts(Operation *op, RewriterBase &rewriter, const AnalysisState &analysis,
                                 const BufferizationState &) const {
    SmallVector<int32_t> kept;
    for (OpOperand &operand : op->getOpOperands())
      if (isa<TensorType>(operand.get().getType()) && !analysis.isInPlace(operand))
        kept.push_back(operand.getOperandNumber());
    if (!kept.empty())
      rewriter.modifyOpInPlace(op, [&] { op->setAttr(kKept, rewriter.getDenseI32ArrayAttr(kept)); });
    return success();
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto kernel = cast<KernelOpInterface>(op);
    const KernelInfo &info = kernel.getKernelInfo();
    SmallVector<Value> inputs, outputs;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (succeeded(buffer))
        buffer = contiguous(rewriter, op->getLoc(), *buffer, options);
      if (failed(buffer))
        return failure();
      inputs.push_back(*buffer);
    }
    if (failed(createResults(op, inputs, rewriter, options, outputs)))
      return failure();
    SmallVector<int64_t> counts;
    for (size_t i = 0; i < info.tensors.size(); ++i)
      counts.push_back(kernel.getTensors(i).size());
    LaunchOp::create(rewriter, op->getLoc(), info.opName, inputs, outputs, counts, configOf(op, info));
    replaceOpWithBufferizedValues(rewriter, op, outputs);
    return success();
  }

  static LogicalResult createResults(Operation *op, ArrayRef<Value> inputs, RewriterBase &rewriter,
                                     const BufferizationOptions &options, SmallVectorImpl<Value> &outputs) {
    SmallVector<SmallVector<OpFoldResult>> shapes;
    if (failed(reifyShapes(rewriter, op, shapes)))
      return failure();
    for (auto [result, shape] : llvm::zip(op->getResults(), shapes)) {
      if (OpOperand *giver = giverOf(result)) {
        outputs.push_back(inputs[giver->getOperandNumber()]);
        continue;
      }
      MemRefType type = bufferType(result);
      SmallVector<Value> dynamic; // a result may leave open what an operand knows
      for (auto [dim, size] : llvm::enumerate(shape))
        if (type.isDynamicDim(dim))
          dynamic.push_back(getValueOrCreateConstantIndexOp(rewriter, op->getLoc(), size));
      FailureOr<Value> buffer = options.createAlloc(rewriter, op->getLoc(), type, dynamic);
      if (failed(buffer))
        return failure();
      outputs.push_back(*buffer);
    }
    return success();
  }
};
} // namespace

void mhc::registerBufferizationModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MhcDialect *) {
    context->loadDialect<BufferizationDialect, memref::MemRefDialect>();
    for (const KernelInfo *info : allKernelInfos())
      RegisteredOperationName::lookup(info->opName, context)->attachInterface<KernelModel>();
  });
}
