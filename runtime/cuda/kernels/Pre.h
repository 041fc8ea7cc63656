//===- Pre.h - Fast kernels of pre ------------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_KERNELS_PRE_H
#define MHCRT_CUDA_KERNELS_PRE_H

#include "cuda/host/Needs.h"
#include "src/KernelArgs.h"

#include <cuda_runtime_api.h>

namespace mhcrt {

/// One launch for compute capability 9.0; see pre_sm90.cu.
bool preSm90Takes(const PreArgs &args, Needs &needs);
int64_t preSm90Bytes(const PreArgs &args); ///< of scratch memory; 0 for most widths
/// `counter`: of tiles, from the context, or null.
cudaError_t preSm90(const PreArgs &args, void *scratch, uint32_t *counter, cudaStream_t stream);

/// The same of other forms of x, for which it stands: two streams, streams last, f32.
struct PreForm {
  bool (*takes)(const PreArgs &args, Needs &needs);
  int64_t (*bytes)(const PreArgs &args);
  cudaError_t (*launch)(const PreArgs &args, void *scratch, uint32_t *counter, cudaStream_t stream);
};
extern const PreForm kPrePairs, kPreLast, kPreF32, kPreF32Last;

} // namespace mhcrt

#endif // MHCRT_CUDA_KERNELS_PRE_H
