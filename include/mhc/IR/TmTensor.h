//===- TmTensor.h - Ops of torch-mlir that are not of linalg ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_TMTENSOR_H
#define MHC_IR_TMTENSOR_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "mhc/IR/TmTensorDialect.h.inc"

#define GET_OP_CLASSES
#include "mhc/IR/TmTensor.h.inc"

#endif // MHC_IR_TMTENSOR_H
