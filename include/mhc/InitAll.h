//===- InitAll.h - Registration of everything ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_INITALL_H
#define MHC_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mhc {

/// The mhc dialect, the upstream dialects that its IR and its lowering use, and their interface models.
void registerAllDialects(mlir::DialectRegistry &registry);
/// The passes of the project, and the upstream ones that its pipelines and tests use.
void registerAllPasses();

} // namespace mhc

#endif // MHC_INITALL_H
