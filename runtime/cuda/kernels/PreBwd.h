//===- PreBwd.h - Arguments of the gradients of pre ----------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_KERNELS_PREBWD_H
#define MHCRT_CUDA_KERNELS_PREBWD_H

#include "cuda/host/Needs.h"
#include "cuda/stream/StreamDivision.h"
#include "src/KernelArgs.h"
#include "src/SinkhornOptions.h"

#include <cuda_runtime_api.h>

namespace mhcrt {

struct BoundaryRow;
struct StreamBwdArgs;
struct WeightGradArgs;

/// The record's operands as the passes take them. A tensor that is absent is null, with type MHCRT_NONE.
struct PreBwdOperands {
  const void *du;     ///< [M,C], of x's type; may be null
  const float *dhPre; ///< [M,n]; may be null
  const float *dhPost, *dhRes;
  const void *x;
  const void *phi;
  const void *weight;
  const float *alpha, *beta, *proj, *stat;
  const void *dxIn;
  /// [M,n,n] or null: d_x starts from sum_o mix[o,i] d_x_in[o], so that post's gradient need not write its d_x.
  const float *mix;
  const float *dPhiIn, *dWeightIn, *dAlphaIn, *dBetaIn;
  void *dx;
  float *dPhi, *dWeight, *dAlpha, *dBeta; ///< null when they are not wanted
  int32_t type, phiType, weightType, dxInType, dxType;
  int64_t M, C, n, N;
  int32_t layout, phiLayout, norm;
  float normEps, preEps, postMult;
  int32_t resMap;
  SinkhornOptions sinkhorn;
  int32_t foldPre;
  int32_t orient;                                ///< of mix, as in mhc.post
  int32_t hPreFormat, hPostFormat, logitsFormat; ///< of what pre rounded
  bool equalX, equalDxIn;                        ///< [M,C], each of whose rows stands for four streams

  /// Channels of each of four streams, as which two are taken, too.
  __host__ __device__ int64_t ofFour() const { return C * n / 4; }
  /// Steps whose records the residual map reads backwards: a limit has none.
  int64_t recordedSteps() const {
    return resMap == MHCRT_RES_MAP_SINKHORN && !sinkhorn.isNewton() ? 2 * sinkhorn.iters : 0;
  }
};

/// Operands of a second launch that has the post before in it.
struct PreBwdBoundary {
  BoundaryRow *rows; ///< null where it is not; else they have what dProj and scalars have, boundaryRowBytes() each
  const float *hPost, *hRes;
  bool inputFirst;  ///< hRes is [in, out]
  int64_t keptFrom; ///< token from which d_u stays in the second-level cache for the second launch
};

/// Results of the first launch that the second reads, in scratch memory.
struct PreBwdRows {
  float *dProj;            ///< [M,24]
  float *scalars;          ///< [M,8]: see StreamBwdArgs
  float *partials;         ///< [27][tiles]: sums of d_alpha and d_beta over a tile of tokens
  float *products;         ///< partial sums of d_phi; null when it is not wanted
  StreamDivision division; ///< of the second launch
  int32_t tiles, tileTokens;
  int64_t bytes; ///< of scratch memory
  PreBwdBoundary boundary;
};

/// The row of the op's table: two passes over x.
bool preBwdSm90Takes(const PreBwdArgs &args, Needs &needs);
cudaError_t preBwdSm90(mhcrt_context &context, const PreBwdArgs &args);

PreBwdOperands preBwdOperands(const PreBwdArgs &args);

/// The launches behind it; see their files.
/// `dxInName`: of dxIn in the op that is called.
bool preBwdTakes(const PreBwdOperands &args, Needs &needs, const char *dxInName = "d_x_in");
/// `scratch` is aligned to 256 bytes.
cudaError_t preBwdPasses(const PreBwdOperands &args, void *scratch, int multiprocessors, cudaStream_t stream);

/// Addresses of the rows in scratch memory; `scratch` may be null.
PreBwdRows preBwdRows(const PreBwdOperands &args, const StreamDivision &division, void *scratch);
inline PreBwdRows preBwdRows(const PreBwdOperands &args, void *scratch) {
  return preBwdRows(args, streamDivision(args.M, args.ofFour()), scratch);
}
/// The first launch alone.
cudaError_t preBwdReduce(const PreBwdOperands &args, const PreBwdRows &rows, cudaStream_t stream);
/// Arguments of the second and the third.
StreamBwdArgs streamOf(const PreBwdOperands &args, const PreBwdRows &rows);
WeightGradArgs weightsOf(const PreBwdOperands &args, const PreBwdRows &rows, const StreamBwdArgs &stream);

} // namespace mhcrt

#endif // MHCRT_CUDA_KERNELS_PREBWD_H
