//===- Launch.cpp - launch ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/MhcOps.h"

using namespace mlir;
using namespace mhc;

LogicalResult LaunchOp::verify() {
  const KernelInfo *info = lookupKernelInfo(getKernel());
  if (!info)
    return emitOpError() << "names no kernel op: '" << getKernel() << "'";
  ArrayRef<bool> present = getPresent();
  if (present.size() != info->tensors.size())
    return emitOpError() << "has " << present.size() << " tensors in 'present'; '" << getKernel() << "' has "
                         << info->tensors.size();
  size_t inputs = 0, outputs = 0;
  for (auto [tensor, here] : llvm::zip(info->tensors, present))
    (tensor.isResult ? outputs : inputs) += here;
  if (inputs != getInputs().size() || outputs != getOutputs().size())
    return emitOpError() << "has " << getInputs().size() << " inputs and " << getOutputs().size()
                         << " outputs; 'present' counts " << inputs << " and " << outputs;
  return success();
}

void LaunchOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : getInputsMutable())
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
  for (OpOperand &operand : getOutputsMutable())
    effects.emplace_back(MemoryEffects::Write::get(), &operand);
}
