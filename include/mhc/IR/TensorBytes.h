//===- TensorBytes.h - Bytes of elements and of tensors ---------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_TENSORBYTES_H
#define MHC_IR_TENSORBYTES_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace mhc {

/// Bytes of an element in memory: 8 of an index, whole bytes of other numbers; nothing for types that have no width.
std::optional<int64_t> bytesOf(mlir::Type element);

/// Bytes that no machine has, and so few that a sum of two such numbers is far from wrapping: what an arena asks for
/// where it needs as many or more.
inline constexpr int64_t kTooManyBytes = 1ll << 61;

/// Reports a tensor type with more bytes, as far as its sizes are known, than any machine has: so few that sums of many
/// such numbers are far from what an int64_t holds.
llvm::LogicalResult verifyBytes(mlir::Operation *op, mlir::Type type);

} // namespace mhc

#endif // MHC_IR_TENSORBYTES_H
