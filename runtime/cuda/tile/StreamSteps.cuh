//===- StreamSteps.cuh - Where the streams of a token lie ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_TILE_STREAMSTEPS_CUH
#define MHCRT_CUDA_TILE_STREAMSTEPS_CUH

#include <stdint.h>

namespace mhcrt {

/// Columns from one token to the next, and from one stream. Equal streams are one row.
struct StreamSteps {
  uint32_t token, stream;

  StreamSteps(int64_t n, int64_t columns, bool equal)
      : token(static_cast<uint32_t>(equal ? columns : n * columns)),
        stream(static_cast<uint32_t>(equal ? 0 : columns)) {}

  /// Index of a column of stream `i`.
  __device__ __forceinline__ uint64_t at(uint32_t ofToken, int i, uint32_t column) const {
    return uint64_t(ofToken) * token + uint64_t(i) * stream + column;
  }
};

} // namespace mhcrt

#endif // MHCRT_CUDA_TILE_STREAMSTEPS_CUH
