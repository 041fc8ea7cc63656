//===- ElementTypes.h - Element types at the runtime boundary ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers of mhcrt_dtype and the limits of mhcrt_tensor, for the layers that may not include the runtime's headers.
// The driver, which may, asserts that they agree.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_ELEMENTTYPES_H
#define MHC_IR_ELEMENTTYPES_H

#include "mlir/IR/BuiltinTypes.h"

namespace mhc {

enum ElementCode : int { kNoElement = 0, kF32 = 1, kBF16 = 2, kF16 = 3, kF64 = 4, kI32 = 5, kI64 = 6 };

inline constexpr int kMaxRank = 8;

/// The layout of mhcrt_tensor: data pointer, dtype, rank, dims.
inline constexpr int64_t kTensorDtypeOffset = 8;
inline constexpr int64_t kTensorDimsOffset = 16;
inline constexpr int64_t kTensorBytes = kTensorDimsOffset + 8 * kMaxRank;

/// The number of an element type; kNoElement for one that the runtime does not know.
inline ElementCode elementCode(mlir::Type type) {
  if (type.isF32())
    return kF32;
  if (type.isBF16())
    return kBF16;
  if (type.isF16())
    return kF16;
  if (type.isF64())
    return kF64;
  if (type.isSignlessInteger(32))
    return kI32;
  if (type.isSignlessInteger(64))
    return kI64;
  return kNoElement;
}

/// The name that the manifest of a model uses: "bf16".
inline llvm::StringRef elementName(ElementCode code) {
  constexpr llvm::StringLiteral names[] = {"none", "f32", "bf16", "f16", "f64", "i32", "i64"};
  return names[code];
}

} // namespace mhc

#endif // MHC_IR_ELEMENTTYPES_H
