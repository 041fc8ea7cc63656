//===- Residual.h - Fast kernels of the residual map ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_KERNELS_RESIDUAL_H
#define MHCRT_CUDA_KERNELS_RESIDUAL_H

#include "cuda/host/Needs.h"
#include "src/KernelArgs.h"

#include <cuda_runtime_api.h>

namespace mhcrt {

/// A thread per token; see sinkhorn_n4.cu and sinkhorn_bwd_n4.cu. Any architecture, no scratch memory.
bool sinkhornN4Takes(const SinkhornArgs &args, Needs &needs);
bool sinkhornN2N8Takes(const SinkhornArgs &args, Needs &needs);
cudaError_t sinkhornN4(const SinkhornArgs &args, cudaStream_t stream); ///< of any that one of them takes
bool sinkhornBwdN4Takes(const SinkhornBwdArgs &args, Needs &needs);
bool sinkhornBwdN2N8Takes(const SinkhornBwdArgs &args, Needs &needs);
cudaError_t sinkhornBwdN4(const SinkhornBwdArgs &args, cudaStream_t stream);

} // namespace mhcrt

#endif // MHCRT_CUDA_KERNELS_RESIDUAL_H
