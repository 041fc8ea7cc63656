//===- SizeCheck.h - Checks of sizes when an entry runs ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_SIZECHECK_H
#define MHC_IR_SIZECHECK_H

#include "llvm/ADT/StringRef.h"

namespace mhc {

/// A call of this function of three index values demands that the first lies between the others; what it is stands in
/// the attribute. mhc-check-sizes makes it, convert-mhc-to-runtime lowers it.
inline constexpr llvm::StringLiteral kCheckSize = "mhc.check_size", kCheckedSize = "mhc.checked";

} // namespace mhc

#endif // MHC_IR_SIZECHECK_H
