//===- DimBounds.h - The sizes that dims of kernel ops may have ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_IR_DIMBOUNDS_H
#define MHC_LIB_IR_DIMBOUNDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mhc {

/// The sizes of a dim; with `most` 0 any from `least` on.
struct DimBound {
  unsigned dim; ///< in KernelInfo::dims
  int64_t least, most;
};

/// Bounds of the dims of a kernel op, from its record.
llvm::ArrayRef<DimBound> dimBoundsOf(llvm::StringRef opName);

} // namespace mhc

#endif // MHC_LIB_IR_DIMBOUNDS_H
