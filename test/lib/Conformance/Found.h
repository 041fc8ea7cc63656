//===- Found.h - The mHC ops of a module ---------------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_LIB_CONFORMANCE_FOUND_H
#define MHC_LIB_CONFORMANCE_FOUND_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace mhc::conformance {

/// One line for each mHC op, sorted: its name, attributes and types, and what each operand is made of, seen through
/// ops that are no mHC ops: arguments by their name, and other mHC ops.
using Found = std::vector<std::string>;

Found findOps(mlir::ModuleOp module);

/// Lines that only one of them has, marked - and +; empty when they are equal.
std::string compare(const Found &expected, const Found &found);

} // namespace mhc::conformance

#endif // MHC_LIB_CONFORMANCE_FOUND_H
