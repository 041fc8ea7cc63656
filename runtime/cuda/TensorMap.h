//===- TensorMap.h - Descriptors of tensor copies ---------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_TENSORMAP_H
#define MHCRT_CUDA_TENSORMAP_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdint.h>

namespace mhcrt {

/// Boxes of 64 channels, `tokens` tokens and all `n` streams of bf16 streams [M][n][C], in shared memory
/// [stream][token][channel] with the 128-byte swizzle. What lies behind the last token is read as zero.
cudaError_t streamsMap(CUtensorMap &map, const void *x, int64_t M, int64_t C, int n, int tokens);

} // namespace mhcrt

#endif // MHCRT_CUDA_TENSORMAP_H
