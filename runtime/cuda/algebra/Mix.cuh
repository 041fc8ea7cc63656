//===- Mix.cuh - One column of the streams, in and out ----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Column arithmetic of aggregate, post and rebuild: one order of operations, so that they have the same bits.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_ALGEBRA_MIX_CUH
#define MHCRT_CUDA_ALGEBRA_MIX_CUH

#include "cuda/algebra/Dropout.cuh"
#include "cuda/tile/Vec.cuh"

namespace mhcrt {

/// Row `row` of n numbers each.
template <int n>
__device__ __forceinline__ void loadRow(const float4 *rows, int64_t row, float (&to)[n]) {
  if constexpr (n == 2) {
    const float2 pair = reinterpret_cast<const float2 *>(rows)[row];
    to[0] = pair.x, to[1] = pair.y;
  } else {
#pragma unroll
    for (int k = 0; k < n / 4; ++k)
      reinterpret_cast<float4 &>(to[4 * k]) = rows[row * (n / 4) + k];
  }
}

/// sum_i h[i] * v[i]
template <int n, int kLanes>
__device__ __forceinline__ void readStreams(const float (&h)[n], const float (&v)[n][kLanes], float (&sum)[kLanes]) {
#pragma unroll
  for (int i = 0; i < n; ++i)
#pragma unroll
    for (int e = 0; e < kLanes; ++e)
      sum[e] = i == 0 ? h[0] * v[0][e] : fmaf(h[i], v[i][e], sum[e]);
}
template <int kLanes>
__device__ __forceinline__ void readStreams(const float4 &h, const float (&v)[4][kLanes], float (&sum)[kLanes]) {
  const float weights[4] = {h.x, h.y, h.z, h.w};
  readStreams(weights, v, sum);
}

/// h_post and h_res of a token.
template <int n>
struct PostCoefficientsOf {
  float post[n], mix[n][n];

  PostCoefficientsOf() = default;
  __device__ __forceinline__ PostCoefficientsOf(const float4 *hPost, const float4 *hRes, int64_t token) {
#pragma unroll
    for (int k = 0; k < n; ++k)
      loadRow(hRes, token * n + k, mix[k]);
    loadRow(hPost, token, post);
  }

  /// Output stream `o`: drop(lane, h_post[o] * f) + sum_i A[o,i] * v[i].
  template <bool kOutputFirst, int kLanes, typename Drop>
  __device__ __forceinline__ void write(int o, const float (&f)[kLanes], const float (&v)[n][kLanes], const Drop &drop,
                                        float (&sum)[kLanes]) const {
#pragma unroll
    for (int e = 0; e < kLanes; ++e) {
      sum[e] = drop(e, post[o] * f[e]);
#pragma unroll
      for (int i = 0; i < n; ++i)
        sum[e] = fmaf(kOutputFirst ? mix[o][i] : mix[i][o], v[i][e], sum[e]);
    }
  }
};

using PostCoefficients = PostCoefficientsOf<4>;

/// A bias of f32 or of T.
enum class Bias { none, same, wide };

template <typename T, Bias kBias>
__device__ __forceinline__ void addBias(const void *bias, uint32_t column, float (&f)[kLanesOf<T>]) {
  constexpr int kLanes = kLanesOf<T>;
  if constexpr (kBias != Bias::none) {
    float v[kLanes];
    if constexpr (kBias == Bias::wide) {
#pragma unroll
      for (int e = 0; e < kLanes; ++e)
        v[e] = static_cast<const float *>(bias)[column * kLanes + e];
    } else {
      widen(static_cast<const uint4 *>(bias)[column], v, T());
    }
#pragma unroll
    for (int e = 0; e < kLanes; ++e)
      f[e] += v[e];
  }
}

} // namespace mhcrt

#endif // MHCRT_CUDA_ALGEBRA_MIX_CUH
