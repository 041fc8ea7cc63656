//===- Projection.h - Fast kernels of projection ----------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PROJECTION_H
#define MHCRT_CUDA_PROJECTION_H

#include "Needs.h"
#include "src/KernelArgs.h"

#include <cuda_runtime_api.h>

namespace mhcrt {

/// One launch for compute capability 9.0; see projection_sm90.cu.
bool projectionSm90Takes(const ProjectionArgs &args, Needs &needs);
cudaError_t projectionSm90(const ProjectionArgs &args, cudaStream_t stream);

} // namespace mhcrt

#endif // MHCRT_CUDA_PROJECTION_H
