//===- StreamBwd.h - The pass over x that makes d_x and d_phi ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by pre_bwd and projection_bwd: four streams, layout nC, 24 columns, bf16. Two streams are four of half the
// channels, and their 8 columns are followed by zeros.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_STREAM_STREAMBWD_H
#define MHCRT_CUDA_STREAM_STREAMBWD_H

#include "cuda/algebra/Phi.cuh"
#include "cuda/stream/StreamDivision.h"

#include <cuda_runtime_api.h>
#include <stdint.h>

namespace mhcrt {

constexpr int kColumns = 24;     ///< N of four streams
constexpr int kPairColumns = 8;  ///< of two
constexpr int kScalars = 8;      ///< floats of a token's row of scalars
constexpr int kSlotTokens = 8;   ///< tokens that one slot of its ring holds
constexpr int kMostSlices = 128; ///< as far as it was tried; fewer multiprocessors take the slices in turn

struct StreamBwdArgs {
  const void *x;
  const void *du;       ///< [M,C]; null when there is none
  const void *dxIn;     ///< null when there is none
  const float *mix;     ///< [M,4,4], of two streams [M,2,2], or null; see PreBwdOperands
  const float *dProj;   ///< [M,24]
  const float *scalars; ///< [M,8]: h_pre, what d_x gets per unit of x, a power of two above every |dProj| of the token
  Phi phi;
  int32_t columns; ///< of phi: kPairColumns of two streams
  void *dx;
  float *partials; ///< [most groups][4C][24]; null when neither d_phi nor d_norm_weight is wanted
  int64_t M, C;
  bool transposed;        ///< mix is [in, out]
  bool equalX, equalDxIn; ///< [M,C], each of whose rows stands for four streams
};

/// Reads phi and norm_weight before it waits for the launch before it in the stream: that must write neither, and wait
/// itself before it lets this one start.
cudaError_t streamBwd(const StreamBwdArgs &args, int multiprocessors, cudaStream_t stream);

/// Arguments of the work that is left when the pass is done.
struct WeightGradArgs {
  const float *partials; ///< as above; null when there are none
  StreamDivision division;
  Phi phi;
  int32_t columns; ///< of phi
  const float *dPhiIn, *dWeightIn;
  float *dPhi, *dWeight;
  int64_t K;
  // d_alpha and d_beta of pre_bwd
  const float *gatePartials; ///< [27][tiles]; null when there are none
  int32_t tiles;
  const float *dAlphaIn, *dBetaIn;
  float *dAlpha, *dBeta;
};

cudaError_t weightGrad(const WeightGradArgs &args, cudaStream_t stream);

inline int64_t alignBytes(int64_t bytes) { return (bytes + 255) / 256 * 256; }

} // namespace mhcrt

#endif // MHCRT_CUDA_STREAM_STREAMBWD_H
