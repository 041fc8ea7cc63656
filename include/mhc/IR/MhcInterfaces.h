//===- MhcInterfaces.h - Interfaces of ops for passes --------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_MHCINTERFACES_H
#define MHC_IR_MHCINTERFACES_H

#include "mhc/IR/KernelInfo.h"
#include "mhc/IR/VjpContext.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/PatternMatch.h"

#include "mhc/IR/MhcInterfaces.h.inc"

#endif // MHC_IR_MHCINTERFACES_H
