//===- Projection.h - Fast kernels of projection ----------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_KERNELS_PROJECTION_H
#define MHCRT_CUDA_KERNELS_PROJECTION_H

#include "cuda/host/Needs.h"
#include "src/KernelArgs.h"

#include <cuda_runtime_api.h>

namespace mhcrt {

/// One launch for compute capability 9.0; see projection_sm90.cu.
bool projectionSm90Takes(const ProjectionArgs &args, Needs &needs);
int64_t projectionSm90Bytes(const ProjectionArgs &args); ///< of scratch memory; 0 for most widths
/// `counter`: of tiles, from the context, or null.
cudaError_t projectionSm90(const ProjectionArgs &args, void *scratch, uint32_t *counter, cudaStream_t stream);

/// More than 24 columns of bf16 streams for compute capability 9.0; see projection_eight_sm90.cu.
bool projectionEightTakes(const ProjectionArgs &args, Needs &needs);
int64_t projectionEightBytes(const ProjectionArgs &args); ///< of scratch memory
cudaError_t projectionEight(const ProjectionArgs &args, void *scratch, cudaStream_t stream);

/// Any float type on matrix tiles, in two launches; see projection_tf32.cu. GPUs of later generations have less shared
/// memory than a slice of phi needs.
constexpr int kMostTf32Arch = 119;
bool projectionTf32Takes(const ProjectionArgs &args, Needs &needs);
int64_t projectionTf32Bytes(const ProjectionArgs &args); ///< of scratch memory
/// `multiprocessors` decides how many blocks there are, nothing else.
cudaError_t projectionTf32(const ProjectionArgs &args, void *scratch, int multiprocessors, cudaStream_t stream);

/// The projection onto `N` columns that a call of pre or head begins with.
template <typename Args>
ProjectionArgs projectionOf(const Args &a, int64_t N, float *proj, float *stat) {
  return {a.x,           a.x_type,
          a.phi,         a.phi_type,
          a.norm_weight, a.norm_weight_type,
          proj,          MHCRT_F32,
          stat,          MHCRT_F32,
          a.M,           a.n,
          a.C,           N,
          a.K,           a.layout,
          a.phi_layout,  a.norm,
          a.norm_eps,    MHCRT_STAT_INV_RMS,
          a.precision};
}

} // namespace mhcrt

#endif // MHCRT_CUDA_KERNELS_PROJECTION_H
