//===- RaiseCheck.h - A second opinion on what is raised ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TRANSFORMS_RAISECHECK_H
#define MHC_TRANSFORMS_RAISECHECK_H

#include "mlir/IR/Value.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace mlir {
class Pass;
} // namespace mlir

namespace mhc {

/// Compares values of a function with those that a raise would put in their place: what differs; nothing where they are
/// the same as far as is known.
using RaiseCheck =
    std::function<std::optional<std::string>(llvm::ArrayRef<mlir::Value> was, llvm::ArrayRef<mlir::Value> becomes)>;

/// mhc-raise that asks `check`, where there is one, before each raise.
std::unique_ptr<mlir::Pass> createRaisePass(RaiseCheck check, int64_t limit = -1);

} // namespace mhc

#endif // MHC_TRANSFORMS_RAISECHECK_H
