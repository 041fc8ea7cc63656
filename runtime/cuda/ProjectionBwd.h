//===- ProjectionBwd.h - What projection_bwd is called with -----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PROJECTIONBWD_H
#define MHCRT_CUDA_PROJECTIONBWD_H

#include <cuda_runtime_api.h>
#include <stdint.h>

namespace mhcrt {

/// The arguments of mhcrt_projection_bwd on the device. A tensor that is absent is null, with type MHCRT_NONE.
struct ProjectionBwdArgs {
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

bool projectionBwdSm90Takes(const ProjectionBwdArgs &args);
int64_t projectionBwdSm90ScratchBytes(const ProjectionBwdArgs &args, int multiprocessors);
/// `scratch` is aligned to 256 bytes.
cudaError_t projectionBwdSm90(const ProjectionBwdArgs &args, void *scratch, int multiprocessors, cudaStream_t stream);

} // namespace mhcrt

#endif // MHCRT_CUDA_PROJECTIONBWD_H
