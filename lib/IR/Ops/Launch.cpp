//===- Launch.cpp - launch ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/Counted.h"
#include "mhc/IR/MhcOps.h"

using namespace mlir;
using namespace mhc;

/// The buffers as tensors.
static FailureOr<SmallVector<Type>> tensorTypes(ValueRange buffers, function_ref<InFlightDiagnostic()> emitError) {
  SmallVector<Type> types;
  for (Value buffer : buffers) {
    auto type = cast<MemRefType>(buffer.getType());
    if (!TensorType::isValidElementType(type.getElementType()))
      return emitError() << "a tensor has no elements of type " << type.getElementType();
    types.push_back(RankedTensorType::get(type.getShape(), type.getElementType()));
  }
  return types;
}

/// Builds the kernel op that would have become this launch, for its verifier to judge tensors and attributes.
static LogicalResult verifyAsKernel(LaunchOp launch, const KernelInfo &info) {
  auto emitError = [&] { return launch.emitOpError() << "of '" << info.opName << "': "; };
  FailureOr<SmallVector<Type>> inputs = tensorTypes(launch.getInputs(), emitError);
  FailureOr<SmallVector<Type>> outputs = tensorTypes(launch.getOutputs(), emitError);
  if (failed(inputs) || failed(outputs))
    return failure();
  NamedAttrList attrs(launch.getConfig());
  SmallVector<int32_t> counts(launch.getCounts());
  const size_t operands = llvm::count_if(info.tensors, [](const KernelTensor &tensor) { return !tensor.isResult; });
  Builder builder(launch.getContext());
  attrs.set("operandSegmentSizes", builder.getDenseI32ArrayAttr(ArrayRef(counts).take_front(operands)));
  attrs.set("resultSegmentSizes", builder.getDenseI32ArrayAttr(ArrayRef(counts).drop_front(operands)));
  OperationName name(info.opName, launch.getContext());
  if (failed(name.verifyInherentAttrs(attrs, emitError)))
    return failure();
  Block block;
  block.addArguments(*inputs, SmallVector<Location>(inputs->size(), launch.getLoc()));
  OperationState state(launch.getLoc(), name, block.getArguments(), *outputs, attrs.getAttrs());
  Operation *op = Operation::create(state);
  LogicalResult result = name.verifyInvariants(op);
  op->destroy();
  return result;
}

LogicalResult LaunchOp::verify() {
  const KernelInfo *info = lookupKernelInfo(getKernel());
  if (!info)
    return emitOpError() << "names no kernel op: '" << getKernel() << "'";
  ArrayRef<int64_t> counts = getCounts();
  if (counts.size() != info->tensors.size())
    return emitOpError() << "has " << counted(counts.size(), "tensor") << " in 'counts'; '" << getKernel() << "' has "
                         << info->tensors.size();
  size_t inputs = 0, outputs = 0;
  for (auto [tensor, count] : llvm::zip(info->tensors, counts)) {
    int64_t least = !tensor.isOptional && !tensor.isList;
    if (count < least || (count > 1 && !tensor.isList))
      return emitOpError() << "'counts' has " << count << " for '" << tensor.name << "'; needed "
                           << (tensor.isList ? "at least 0"
                               : least       ? "1"
                                             : "0 or 1");
    (tensor.isResult ? outputs : inputs) += count;
  }
  if (inputs != getInputs().size() || outputs != getOutputs().size())
    return emitOpError() << "has " << getInputs().size() << " inputs and " << getOutputs().size()
                         << " outputs; 'counts' has " << inputs << " and " << outputs;
  return verifyAsKernel(*this, *info);
}

void LaunchOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : getInputsMutable())
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
  for (OpOperand &operand : getOutputsMutable())
    effects.emplace_back(MemoryEffects::Write::get(), &operand);
}
