//===- BoundaryBwd.h - The pass that makes d_x and d_f ----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_STREAM_BOUNDARYBWD_H
#define MHCRT_CUDA_STREAM_BOUNDARYBWD_H

#include "cuda/stream/StreamBwd.h"

namespace mhcrt {

constexpr int kTokenSums = 20; ///< d_h_res with the output stream first, d_h_post

/// As there, but that x and d_x are those of the post before. `du` is given.
struct BoundaryBwdArgs : StreamBwdArgs {
  const void *f;
  const float *hPost, *hRes; ///< [M,4], [M,4,4]
  bool inputFirst;           ///< h_res is [in, out]
  void *df;
  float *sums; ///< [C / kSlice][M][20]
};

/// Reads the weights as early as streamBwd(), and needs the same.
cudaError_t boundaryBwd(const BoundaryBwdArgs &args, int multiprocessors, cudaStream_t stream);

/// Adds `sums` to the gradients of h_res and h_post; null where they are not wanted.
cudaError_t tokenSums(const BoundaryBwdArgs &args, float *dhRes, float *dhPost, cudaStream_t stream);

} // namespace mhcrt

#endif // MHCRT_CUDA_STREAM_BOUNDARYBWD_H
