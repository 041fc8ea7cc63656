//===- RandomArguments.h - Arguments of an entry, drawn ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_DRIVER_RANDOMARGUMENTS_H
#define MHC_LIB_DRIVER_RANDOMARGUMENTS_H

#include "mhc/Driver/Run.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <string>

namespace mhc {

/// Floats between `least` and 1, and integers that are rows, ends or starts of sequences, as `program` uses them, which
/// may be null; the same in every run. `given` are sizes by their symbols.
llvm::Expected<Tensors> randomArguments(const mhcrt_model *model, int32_t entry, mlir::func::FuncOp program,
                                        const std::map<std::string, int64_t> &given, double least);

} // namespace mhc

#endif // MHC_LIB_DRIVER_RANDOMARGUMENTS_H
