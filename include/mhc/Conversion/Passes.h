//===- Passes.h - Passes that leave the dialect ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_CONVERSION_PASSES_H
#define MHC_CONVERSION_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mhc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "mhc/Conversion/Passes.h.inc"

/// Marks a loop function whose iterations several threads may share: what mhc-outline-loops tells
/// convert-mhc-to-runtime.
inline constexpr llvm::StringLiteral kParallelAttr = "mhc.parallel";

/// Initial values of a reduction's sums, passed from mhc-fold-fills to mhc-loops-to-gpu.
inline constexpr llvm::StringLiteral kStartsAttr = "mhc.starts";

/// The module with the GPU kernels of a model, and the global that holds them as machine code.
inline constexpr llvm::StringLiteral kDeviceModule = "mhc_device", kDeviceImage = "mhc_device_image",
                                     kDeviceImageBytes = "mhc_device_image_bytes";

/// The node of a PyTorch graph that an argument or a result is, and a mark on nodes that mhc-read-aten leaves out.
inline constexpr llvm::StringLiteral kNodeName = "mhc.name", kOutside = "mhc.outside";

/// Marks a PyTorch graph that has to do with nothing but streams: it repeats a vector as streams, and adds up streams.
inline constexpr llvm::StringLiteral kStreams = "mhc.streams";

/// Marks a PyTorch graph that is several behind each other: for the first node behind each break, the line of the
/// break.
inline constexpr llvm::StringLiteral kBreaks = "mhc.breaks";

} // namespace mhc

#endif // MHC_CONVERSION_PASSES_H
