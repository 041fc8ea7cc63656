//===- DialectVersion.h - The version of the dialect in bytecode ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_DIALECTVERSION_H
#define MHC_IR_DIALECTVERSION_H

#include "mlir/Bytecode/BytecodeImplementation.h"

namespace mhc {

/// Raised by one whenever an op or an attribute changes in a way that files written before would be read wrongly; the
/// same change adds a step to kUpgrades in lib/IR/DialectVersion.cpp.
struct MhcDialectVersion : mlir::DialectVersion {
  static constexpr uint64_t kCurrent = 7;

  explicit MhcDialectVersion(uint64_t number = kCurrent) : number(number) {}

  uint64_t number;
};

/// Writes the version, refuses a newer one, and upgrades what an older one left.
struct MhcBytecode : mlir::BytecodeDialectInterface {
  explicit MhcBytecode(mlir::Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  void writeVersion(mlir::DialectBytecodeWriter &writer) const override;
  std::unique_ptr<mlir::DialectVersion> readVersion(mlir::DialectBytecodeReader &reader) const override;
  llvm::LogicalResult upgradeFromVersion(mlir::Operation *top, const mlir::DialectVersion &version) const override;
};

} // namespace mhc

#endif // MHC_IR_DIALECTVERSION_H
