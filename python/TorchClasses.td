//===- TorchClasses.td - How a kernel op becomes an op of PyTorch ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_PYTHON_TORCHCLASSES
#define MHC_PYTHON_TORCHCLASSES

include "mhc/IR/MhcBase.td"

/// The ops of torch.ops.mhc. An op and the one whose name ends with _bwd are a pair: its derivative is the latter.
class Torch_Ops<list<Mhc_KernelOp> all> {
  list<Mhc_KernelOp> ops = all;
}

/// The value that an attribute of this name has in a function of mhcc when it is not given.
class Torch_Default<string attr, string text> {
  string name = attr;
  string value = text;
}

/// A result that a function returns, None unless the Python expression `condition` holds.
class Torch_Result<string result, string condition = ""> {
  string name = result;
  string when = condition;
}

/// A function of mhcc with the operands and attributes of the op, but `without`. It returns all results that are not
/// optional, and these.
class Torch_Function<Mhc_KernelOp of, list<Torch_Result> also = [], list<string> left = []> {
  Mhc_KernelOp op = of;
  list<Torch_Result> results = also;
  list<string> without = left;
  /// How sizes that no operand has follow from the others, where the caller need not give them: Python expressions.
  list<Mhc_DimRule> sizes = [];
}

#endif // MHC_PYTHON_TORCHCLASSES
