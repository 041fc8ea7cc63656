//===- Constants.h - The elements of constant tensors ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_CONSTANTS_H
#define MHC_IR_CONSTANTS_H

#include "mlir/IR/BuiltinAttributes.h"

namespace mhc {

/// The elements of a constant tensor, also of one that an exporter wrote as a resource of the file, which is how
/// weights arrive. The elements of a resource are copied. Null for any other attribute, and for a resource without its
/// data.
mlir::DenseElementsAttr denseElements(mlir::Attribute constant);

} // namespace mhc

#endif // MHC_IR_CONSTANTS_H
