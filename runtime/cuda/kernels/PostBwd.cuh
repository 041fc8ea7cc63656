//===- PostBwd.cuh - Parts of the fast kernels of post_bwd ---- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_f[m,c]    = sum_o h_post[m,o] * drop(d_out[m,o,c])          d_bias[c]  = sum_m d_f[m,c]
//   d_h_post[o] = sum_c drop(d_out[m,o,c]) * (f[m,c] + bias[c])   drop is that of mhc.post
//   d_x[m,i,c]  = d_x_in[m,i,c] + sum_o A[m,o,i] * d_out[m,o,c]
//   dA[m,o,i]   = sum_c d_out[m,o,c] * x[m,i,c]                   A = h_res (oi) or its transpose (io)
//
// A thread works on 16 bytes of channels of every row of a token. Its 20 sums have dA[o][i] at 4*o + i and d_h_post
// behind.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_KERNELS_POSTBWD_CUH
#define MHCRT_CUDA_KERNELS_POSTBWD_CUH

#include "cuda/algebra/Dropout.cuh"
#include "cuda/kernels/Elementwise.h"
#include "cuda/tile/Columns.cuh"

namespace mhcrt {

constexpr int kPostBwdSums = 20;

/// Arguments of both kernels other than the tensors of channels.
struct PostBwdCommon {
  const void *bias; ///< null when there is none
  const float4 *hPost, *hRes;
  float *dhPost, *dhRes; ///< null when they are not wanted
  bool wideBias, outputFirst;

  explicit PostBwdCommon(const PostBwdArgs &a)
      : bias(a.bias), hPost(static_cast<const float4 *>(a.h_post)), hRes(static_cast<const float4 *>(a.h_res)),
        dhPost(static_cast<float *>(a.d_h_post)), dhRes(static_cast<float *>(a.d_h_res)),
        wideBias(a.bias_type == MHCRT_F32), outputFirst(a.orient == MHCRT_ORIENT_OI) {}

  /// Adds the bias of the channels from `channel` on.
  template <typename T>
  __device__ __forceinline__ void addBias(uint32_t channel, float (&f)[kLanesOf<T>]) const {
#pragma unroll
    for (int e = 0; e < kLanesOf<T>; ++e)
      f[e] += wideBias ? static_cast<const float *>(bias)[channel + e]
                       : static_cast<float>(static_cast<const T *>(bias)[channel + e]);
  }

  /// Called by the threads of a token: thread k has sum k.
  __device__ __forceinline__ void storeSums(uint32_t token, int k, float total) const {
    if (k < 16 && dhRes)
      dhRes[int64_t(token) * 16 + (outputFirst ? k : k % 4 * 4 + k / 4)] = total;
    if (k >= 16 && k < kPostBwdSums && dhPost)
      dhPost[int64_t(token) * 4 + k - 16] = total;
  }
};

inline bool postBwdFits(const PostBwdArgs &a, Needs &needs) {
  return columnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.given("d_f", a.d_f) &&
         needs.aligned({a.d_out, a.f, a.x, a.h_post, a.h_res, a.d_f, a.d_x, a.d_x_in});
}

/// Neither sums over tokens nor a d_x that grows.
inline bool postBwdIsPlain(const PostBwdArgs &a, Needs &needs) {
  return needs.absent("d_x_in", a.d_x_in) && needs.absent("d_bias", a.d_bias) &&
         (!a.d_x || needs.type("d_x", a.d_x_type, a.x_type));
}
inline bool postBwdGrows(const PostBwdArgs &a) { return a.d_x_in || a.d_bias || (a.d_x && a.d_x_type != a.x_type); }

/// Tokens whose d_f are added up in f32 before they join what is in memory.
constexpr int kBiasTokens = 32;

/// d_bias[c] = d_bias_in[c] + sum over rows of partials[row * C + c], compensated, in an order that `rows` decides.
cudaError_t addBiasRows(const PostBwdArgs &a, const float *partials, int64_t rows, cudaStream_t stream);

/// Coefficients of a token: h_post, and with d_x the mix with the output stream first.
template <bool kDx>
struct PostBwdCoefficients {
  float post[4], mix[kDx ? 16 : 1];

  __device__ __forceinline__ void load(const PostBwdCommon &args, uint32_t token) {
    reinterpret_cast<float4 &>(post) = args.hPost[token];
    if constexpr (kDx) {
      const float *from = reinterpret_cast<const float *>(args.hRes + int64_t(token) * 4);
#pragma unroll
      for (int k = 0; k < 16; ++k)
        mix[k] = from[args.outputFirst ? k : k % 4 * 4 + k / 4];
    }
  }
};

/// d_f of the channels of d_out's rows g; adds to d_h_post. `drops(o)` is what drops from row o.
template <typename T, bool kDx, typename Drops>
__device__ __forceinline__ void branchGradient(const PostBwdCoefficients<kDx> &h, const float (&g)[4][kLanesOf<T>],
                                               const float (&f)[kLanesOf<T>], float (&sums)[32], const Drops &drops,
                                               float (&df)[kLanesOf<T>]) {
#pragma unroll
  for (int o = 0; o < 4; ++o) {
    const auto drop = drops(o);
#pragma unroll
    for (int e = 0; e < kLanesOf<T>; ++e) {
      const float kept = drop(e, g[o][e]);
      df[e] = o == 0 ? h.post[0] * kept : fmaf(h.post[o], kept, df[e]);
      sums[16 + o] = fmaf(kept, f[e], sums[16 + o]);
    }
  }
}

/// d_x of stream `i` but for its start, only with kDx; adds to dA.
template <typename T, bool kDx>
__device__ __forceinline__ void streamGradient(const PostBwdCoefficients<kDx> &h, int i,
                                               const float (&g)[4][kLanesOf<T>], uint4 raw, float (&sums)[32],
                                               float (&dx)[kLanesOf<T>]) {
  float x[kLanesOf<T>];
  widen(raw, x, T());
#pragma unroll
  for (int o = 0; o < 4; ++o)
#pragma unroll
    for (int e = 0; e < kLanesOf<T>; ++e) {
      sums[4 * o + i] = fmaf(g[o][e], x[e], sums[4 * o + i]);
      if constexpr (kDx)
        dx[e] = o == 0 ? h.mix[i] * g[0][e] : fmaf(h.mix[4 * o + i], g[o][e], dx[e]);
    }
}

} // namespace mhcrt

#endif // MHCRT_CUDA_KERNELS_POSTBWD_CUH
