//===- MhcOps.h - Ops of the mhc dialect ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_MHCOPS_H
#define MHC_IR_MHCOPS_H

#include "mhc/IR/MhcDialect.h"
#include "mhc/IR/MhcInterfaces.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "mhc/IR/MhcOps.h.inc"

#include "mhc/IR/MhcKernelFields.h.inc"

#endif // MHC_IR_MHCOPS_H
