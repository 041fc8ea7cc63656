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
  return success();
}

void LaunchOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : getInputsMutable())
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
  for (OpOperand &operand : getOutputsMutable())
    effects.emplace_back(MemoryEffects::Write::get(), &operand);
}
