//===- KernelArguments.h - The struct that a runtime call takes ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_KERNELARGUMENTS_H
#define MHC_IR_KERNELARGUMENTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mhc {

struct KernelField {
  enum Kind { Data, Type, Count, Dim, Attr };
  Kind kind;
  unsigned index;  ///< of the tensor, the dim or the attribute in the record
  unsigned offset; ///< in bytes
};

/// The members of mhcrt_<op>_args behind its size, and the size: the tensors, the dims, the attributes.
struct KernelArguments {
  llvm::ArrayRef<KernelField> fields;
  unsigned bytes;
};

/// Arguments of a kernel op, from its record.
KernelArguments kernelArgumentsOf(llvm::StringRef opName);

} // namespace mhc

#endif // MHC_IR_KERNELARGUMENTS_H
