//===- TorchGen.h - A kernel op, as an op of PyTorch ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_TBLGEN_TORCHGEN_H
#define MHC_TOOLS_TBLGEN_TORCHGEN_H

#include "KernelGen.h"
#include <optional>

namespace mhc {

/// A kernel op whose tensors are in the order of PyTorch: operands that must be there, those that may be absent,
/// results.
struct TorchOp {
  explicit TorchOp(const llvm::Record &record);

  KernelRecord kernel;
  std::vector<RecordTensor> tensors;
  unsigned operandCount = 0;
  /// Sizes of results that no operand has: the caller gives them.
  std::vector<std::string> sizes;
  /// The dim M where it comes first in each tensor that has it: it stands for all leading dims.
  std::optional<unsigned> tokens;

  llvm::ArrayRef<RecordTensor> operands() const { return llvm::ArrayRef(tensors).take_front(operandCount); }
  llvm::ArrayRef<RecordTensor> results() const { return llvm::ArrayRef(tensors).drop_front(operandCount); }
  bool hasOptionalResults() const;
  const RecordTensor *operand(llvm::StringRef name) const;
  const RecordTensor *result(llvm::StringRef name) const;
  const RecordAttr *attr(llvm::StringRef name) const;
  std::string dimsOf(const RecordTensor &tensor) const; ///< "M, n, C"
};

/// The ops that the Torch_Ops of a file list, in that order.
std::vector<TorchOp> readTorchOps(const llvm::RecordKeeper &records);

/// An argument of an op as its schema has it: "Tensor? bias=None".
std::string schemaOf(const TorchOp &op);

} // namespace mhc

#endif // MHC_TOOLS_TBLGEN_TORCHGEN_H
