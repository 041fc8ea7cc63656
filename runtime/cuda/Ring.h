//===- Ring.h - What the ring kernel is called with -------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by pre and projection: four streams, layout nC, 24 columns, bf16.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_RING_H
#define MHCRT_CUDA_RING_H

#include "prim/coefficients.cuh"

#include <cuda_runtime_api.h>
#include <stdint.h>

namespace mhcrt {

/// phi and what its rows are scaled by.
struct PhiSource {
  const void *phi;
  const void *weight; ///< [K] or null
  int32_t type, weightType;
  int32_t layout;
};

struct RingArgs {
  const void *x;
  PhiSource phi;
  int64_t M, C;
  int32_t norm;
  float normEps;
  float *proj, *stat; ///< null when they are not wanted
  int32_t statForm;   ///< what proj and stat are
  // What follows is of pre only.
  const float *alpha, *beta;
  void *u;
  float *hPre; ///< null when it is not wanted
  float *hPost, *hRes;
  float preEps, postMult;
  MixOptions mix;
  bool foldPre;
};

} // namespace mhcrt

#endif // MHCRT_CUDA_RING_H
