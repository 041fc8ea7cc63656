//===- RingArgs.h - Arguments of the ring kernel -------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by pre, post_pre and projection: four streams, 24 columns, bf16. Two streams are four of half the channels,
// and their 8 columns are followed by zeros. To a product a token in the layout Cn is one in nC, four quarters in place
// of the streams: its rows of phi lie as its elements do.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_RING_RINGARGS_H
#define MHCRT_CUDA_RING_RINGARGS_H

#include "cuda/algebra/Phi.cuh"
#include "src/SinkhornOptions.h"

#include <cuda_runtime_api.h>
#include <stdint.h>

namespace mhcrt {

struct RingArgs {
  const void *x;
  Phi phi;
  int64_t M, C; ///< C: of each of four streams
  int32_t norm;
  float normEps;
  float *proj, *stat; ///< null when they are not wanted
  int32_t statForm;   ///< what proj and stat are
  uint32_t *counter;  ///< of tiles, zero between launches; null where clusters divide them beforehand
  // The rest belongs to pre and post_pre only.
  const float *alpha, *beta;
  void *u;          ///< null when it is not wanted
  const float *hIn; ///< what u is mixed by; null where that is h_pre
  float *hPre;      ///< null when it is not wanted
  float *hPost, *hRes;
  float preEps, postMult;
  int32_t resMap;
  SinkhornOptions sinkhorn;
  bool foldPre;
  int32_t hPreFormat, hPostFormat, hResFormat;
  const void *uWeight; ///< of the norm of u; null where there is none
  int32_t uWeightType;
  float uEps;
};

} // namespace mhcrt

#endif // MHCRT_CUDA_RING_RINGARGS_H
