//===- Pins.h - Variants of kernels that a model asks for ------ -*- C++ -*- ===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_PINS_H
#define MHC_IR_PINS_H

#include "llvm/ADT/StringRef.h"

namespace mhc {

/// On a module: a list of texts such as "post=generic", the variants that contexts of the compiled model take.
inline constexpr llvm::StringLiteral kPins = "mhc.pins";

/// Whether a kernel's name is in front of the '='. Which variants it has, the runtime knows that the model is for.
bool namesKernel(llvm::StringRef pin);

} // namespace mhc

#endif // MHC_IR_PINS_H
