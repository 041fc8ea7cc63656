//===- PostPre.h - Fast kernels of post_pre ---------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_KERNELS_POSTPRE_H
#define MHCRT_CUDA_KERNELS_POSTPRE_H

#include "cuda/host/Context.h"
#include "cuda/host/Needs.h"
#include "src/KernelArgs.h"

#include <cuda_runtime_api.h>

namespace mhcrt {

/// One launch for compute capability 9.0; see post_pre_sm90.cu. Without y, the streams are not written.
bool postPreSm90Takes(const PostPreArgs &args, Needs &needs);
int64_t postPreSm90Bytes(const PostPreArgs &args); ///< of scratch memory; 0 for most widths
/// `counter`: of tiles, from the context, or null.
cudaError_t postPreSm90(const PostPreArgs &args, void *scratch, uint32_t *counter, cudaStream_t stream);

/// Whether a call that normalises u has a launch for that: there are no kernels of gangs that do both.
inline bool hasNormApart(const PostPreArgs &args) { return args.u_norm_weight && args.C >= 8192; }

// Kernels of these that normalise u, and their further needs.
bool postPreNormTakes(const PostPreArgs &args, Needs &needs);
cudaError_t postPreNorm(const PostPreArgs &args, uint32_t *counter, cudaStream_t stream);

/// Normalises the u that pre has written; see post_pre_norm.cu.
cudaError_t normAfterPre(mhcrt_context &context, const PostPreArgs &args);

} // namespace mhcrt

#endif // MHCRT_CUDA_KERNELS_POSTPRE_H
