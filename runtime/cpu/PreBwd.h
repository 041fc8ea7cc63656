//===- PreBwd.h - What the gradients of pre and head are called with -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_PREBWD_H
#define MHCRT_CPU_PREBWD_H

#include "cpu/ProjectionBwd.h"
#include "cpu/Tokens.h"

namespace mhcrt {

/// Tokens of one tile: enough tiles for many cores, and few partial sums.
constexpr int64_t kPreBwdTile = 64;

struct PreBwdOperand {
  const void *data;
  int32_t type;
  const float *floats() const { return static_cast<const float *>(data); }
};

struct PreBwdResult {
  void *data;
  int32_t type;
  float *floats() const { return static_cast<float *>(data); }
};

/// The arguments of mhcrt_pre_bwd in their order; a head has none of dhPost, dhRes, dOut and hRes, and N = n.
struct PreBwdCall {
  PreBwdOperand du, dhPre, dhPost, dhRes, x, phi, weight, alpha, beta, proj, stat, dOut, hRes;
  PreBwdOperand dxIn, dPhiIn, dWeightIn, dAlphaIn, dBetaIn;
  PreBwdResult dx, dPhi, dWeight, dAlpha, dBeta;
  int64_t M, C, n, N, K, A;
  int32_t layout, phiLayout, norm;
  double normEps, preEps, postMult;
  int32_t resMap;
  SinkhornOptions sinkhorn;
  int32_t foldPre, orient, precision;

  bool isHead() const { return dhRes.type == MHCRT_NONE; }
  GateOptions gates() const {
    return {alpha.floats(), beta.floats(), static_cast<float>(preEps), static_cast<float>(postMult)};
  }
  /// Where d_x starts from d_x_in, its lines are in the caches already.
  bool streamsDx() const { return dx.data && !dxIn.data && streams(dx.data, M, K * mhcrt_dtype_bytes(dx.type)); }
  ProjectionBwdCall projection(const AmxUnit *amx) const {
    return {nullptr,
            nullptr,
            x.data,
            x.type,
            phi.data,
            phi.type,
            weight.data,
            weight.type,
            dxIn.data,
            dxIn.type,
            dx.data,
            dx.type,
            dPhiIn.floats(),
            dWeightIn.floats(),
            dPhi.floats(),
            dWeight.floats(),
            M,
            K,
            N,
            phiLayout,
            nullptr,
            du.data,
            n,
            C,
            layout,
            amxForGradients(amx, precision),
            streamsDx(),
            dOut.data,
            hRes.floats(),
            orient};
  }
  /// Planes of a vector of tokens, and what Sinkhorn backwards keeps.
  int64_t planeBytes() const {
    const bool replays = !isHead() && resMap == MHCRT_RES_MAP_SINKHORN;
    return saturatingAdd((4 * N + 3) * kMaxLanes * 4, replays ? sinkhornHistoryBytes(n, sinkhorn.iters) : 0);
  }
};

/// What the first pass over x makes, in scratch memory.
struct PreBwdFirstPass {
  float *dProj; ///< [M,N]
  float *hPre;  ///< [M,n]; the sums of d_u * x at first
  float *dStat; ///< [M]
};

} // namespace mhcrt

#endif // MHCRT_CPU_PREBWD_H
