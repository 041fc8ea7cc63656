//===- Verify.h - Compare a compiled model with its reference ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_DRIVER_VERIFY_H
#define MHC_LIB_DRIVER_VERIFY_H

#include "Options.h"
#include "mhc/Driver/Run.h"

namespace mhc {

/// Prints for each result of each entry the largest error and the first value that is wrong. False when one is wrong,
/// or cannot be judged: where the reference is no number, or where rounding alone may do so much that all pass.
llvm::Expected<bool> verify(Compiler &compiler, mlir::ModuleOp source, const mhcrt_model *model,
                            const DriverOptions &options);

/// Compiles a copy of `source`, runs each entry on random arguments, and prints how long that takes. `announce` is
/// called with the name of the entry before.
llvm::Error measure(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options,
                    llvm::function_ref<void(llvm::StringRef entry)> announce);

} // namespace mhc

#endif // MHC_LIB_DRIVER_VERIFY_H
