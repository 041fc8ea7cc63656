//===- ProjectionBwd.h - Arguments of projection_bwd ---------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_KERNELS_PROJECTIONBWD_H
#define MHCRT_CUDA_KERNELS_PROJECTIONBWD_H

#include "cuda/host/Needs.h"
#include "src/KernelArgs.h"

#include <cuda_runtime_api.h>

namespace mhcrt {

/// The record's operands as the passes take them. A tensor that is absent is null, with type MHCRT_NONE.
struct ProjectionBwdOperands {
  const float *dProj, *dStat;
  const void *x;
  const void *phi;
  const void *weight;
  const float *stat;
  const void *dxIn;
  const float *dPhiIn, *dWeightIn;
  void *dx;
  float *dPhi, *dWeight; ///< null when they are not wanted
  int32_t type, phiType, weightType, dxInType, dxType;
  int64_t M, N, n, C;
  int32_t layout, phiLayout, norm;
  float normEps;
  int32_t statForm;
};

/// The row of the op's table: one pass over x.
bool projectionBwdSm90Takes(const ProjectionBwdArgs &args, Needs &needs);
cudaError_t projectionBwdSm90(mhcrt_context &context, const ProjectionBwdArgs &args);

/// The launches behind it.
bool projectionBwdTakes(const ProjectionBwdOperands &args, Needs &needs);
int64_t projectionBwdScratchBytes(const ProjectionBwdOperands &args);
/// `scratch` is aligned to 256 bytes.
cudaError_t projectionBwdPasses(const ProjectionBwdOperands &args, void *scratch, int multiprocessors,
                                cudaStream_t stream);

} // namespace mhcrt

#endif // MHCRT_CUDA_KERNELS_PROJECTIONBWD_H
