//===- Beside.h - Launches that run beside the one before -------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A residual map keeps few warps busy and no memory. What shares nothing with it runs at the same time: it begins when
// the map has begun, which was when all before had ended. Its last block waits for the map, and so it ends behind it.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_KERNELS_BESIDE_H
#define MHCRT_CUDA_KERNELS_BESIDE_H

#include "cuda/host/Needs.h"
#include "src/KernelArgs.h"

#include <cuda_runtime_api.h>

namespace mhcrt {

/// Any that the rows n4 and n2n8 take, where the launch before writes nothing that these read.
cudaError_t aggregateBeside(const AggregateArgs &args, cudaStream_t stream);
cudaError_t aggregateBwdBeside(const AggregateBwdArgs &args, cudaStream_t stream);

} // namespace mhcrt

#endif // MHCRT_CUDA_KERNELS_BESIDE_H
