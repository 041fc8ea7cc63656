//===- MhcDialect.h - The mhc dialect ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_MHCDIALECT_H
#define MHC_IR_MHCDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "mhc/IR/MhcDialect.h.inc"
#include "mhc/IR/MhcEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "mhc/IR/MhcAttributes.h.inc"

#endif // MHC_IR_MHCDIALECT_H
