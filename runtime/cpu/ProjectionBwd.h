//===- ProjectionBwd.h - How the gradients of a projection are cut -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile is a slice of K times a run of tokens: the slice of phi and the slice of its gradient stay in the second-level
// cache while the tokens pass, so that one look at x makes d_x and d_phi. The runs depend on M and K alone.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_PROJECTION_BWD_H
#define MHCRT_CPU_PROJECTION_BWD_H

#include "cpu/Partials.h"
#include "cpu/Projection.h"

namespace mhcrt {

/// Elements of K of one block, and tokens of one group: 16 kB of x in f32.
constexpr int64_t kGradBlock = 256;
constexpr int64_t kGradTokens = 16;
/// Blocks of one slice: a token's part of x is 1024 elements, long enough for memory.
constexpr int64_t kSliceBlocks = 4;
/// Rows of a register tile of d_phi; N is padded to a multiple.
constexpr int64_t kGradRows = 6;
/// Tiles that keep many cores busy, if there are as many tokens.
constexpr int64_t kGradTiles = 32;
constexpr int64_t kLeastRun = 256;

struct ProjectionBwdArgs {
  const float *dProj;  ///< [M,N]
  const float *factor; ///< [M]: t, what to add to d_x per unit of x; null when it is zero
  const void *x;
  int32_t type;
  const void *phi;
  int32_t phiType;
  const void *weight; ///< null when there is none
  int32_t weightType;
  const void *dxIn;
  int32_t dxInType;
  void *dx; ///< null when it is not wanted
  int32_t dxType;
  const float *dPhiIn, *dWeightIn;
  float *dPhi, *dWeight; ///< null when they are not wanted
  int64_t M, K, N;
  int32_t phiLayout;
  // What mhc.aggregate gives to d_x, h_pre[m,i] * d_u[m,c]: for pre_bwd.
  const float *hPre; ///< [M,n]; null when there is none
  const void *du;    ///< of x's type
  int64_t n, C;
  int32_t layout;

  bool wantsProduct() const { return dPhi || dWeight; }
  int64_t rows() const { return roundUp(N, kGradRows); }
  int64_t blocks() const { return divideUp(K, kGradBlock); }
  int64_t slices() const { return divideUp(blocks(), kSliceBlocks); }
  TokenRuns runs() const {
    const int64_t most = std::min(divideUp(kGradTiles, slices()), divideUp(std::max<int64_t>(M, 1), kLeastRun));
    return TokenRuns(M, kGradTokens, most);
  }
  /// Floats of phi, or of one partial sum of its gradient: [block][rows][kGradBlock].
  int64_t productFloats() const { return saturatingMul(blocks() * kGradBlock, rows()); }
  int64_t sharedBytes() const {
    const int64_t products = (dx ? 1 : 0) + (wantsProduct() ? runs().count : 0);
    return saturatingMul(saturatingMul(productFloats(), products), 4);
  }
  /// x and d_x of a group, and its rows of d_proj; at the end, a block of d_phi and one of phi.
  int64_t threadBytes() const {
    return std::max(4 * kGradTokens * (2 * kGradBlock + rows()), wantsProduct() ? 8 * rows() * kGradBlock : 0);
  }
};

/// t of one token, from the gradient of its statistic.
float statisticFactor(const ProjectionBwdArgs &args, const float *dStat, const float *stat, int32_t statForm,
                      int32_t norm, double eps, int64_t m);

/// d_x, d_phi and d_norm_weight. `shared` has args.sharedBytes(), each thread args.threadBytes().
void projectionBackward(mhcrt_context *ctx, const ProjectionBwdArgs &args, float *shared);

} // namespace mhcrt

#endif // MHCRT_CPU_PROJECTION_BWD_H
