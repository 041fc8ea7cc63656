//===- post_pre_norm.cu - The norm of u behind the launches of post_pre ---===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   u[m,c] = r * u[m,c] * w[c],  r = 1 / sqrt(mean over c of u[m,c]^2 + u_norm_eps)
//
// Plan    A block goes over tokens, and twice over each: it adds the squares, then writes over what it reads, 16 bytes
//         a thread where they are aligned. The second time it finds u in the first-level cache.
// Bytes   2C of u per token.
// Needs   nothing: any float type of u, and f32 or that type of w.
// Round   the u that is read was rounded to its type, and what is written is again. Sums in f32, in an order that C and
//         the alignment decide.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Norm.cuh"
#include "cuda/host/LaunchOverlapping.h"
#include "cuda/kernels/PostPre.h"
#include "cuda/ptx/Overlap.cuh"
#include "cuda/tile/Element.cuh"
#include "cuda/tile/Sum.cuh"
#include "cuda/tile/Vec.cuh"

using namespace mhcrt;

namespace {

/// kCount elements that lie together, one or some times 16 bytes of them.
template <typename T, int kCount>
__device__ __forceinline__ void loadTogether(const T *from, float (&to)[kCount]) {
  if constexpr (kCount == 1) {
    to[0] = toFloat(*from);
  } else {
    constexpr int kLanes = kLanesOf<T>;
#pragma unroll
    for (int k = 0; k < kCount; k += kLanes) {
      float v[kLanes];
      widen(*reinterpret_cast<const uint4 *>(from + k), v, T());
#pragma unroll
      for (int e = 0; e < kLanes; ++e)
        to[k + e] = v[e];
    }
  }
}

template <typename T, int kCount>
__device__ __forceinline__ void storeTogether(T *to, const float (&v)[kCount]) {
  if constexpr (kCount == 1)
    *to = fromFloat<T>(v[0]);
  else
    *reinterpret_cast<uint4 *>(to) = narrow(v, T());
}

template <typename T, typename Weight, int kCount>
__global__ void __launch_bounds__(kThreads) normKernel(T *u, const Weight *weights, int64_t M, int64_t C, float eps) {
  __shared__ BlockRoom<1> room;
  beginOverlapped();
  for (int64_t m = blockIdx.x; m < M; m += gridDim.x) {
    T *token = u + m * C;
    float squares[1] = {}, v[kCount];
    for (int64_t c = threadIdx.x * kCount; c < C; c += kThreads * kCount) {
      loadTogether(token + c, v);
#pragma unroll
      for (int e = 0; e < kCount; ++e)
        squares[0] = fmaf(v[e], v[e], squares[0]);
    }
    blockSum(squares, room);
    const float multiplier = normMultiplier(room.totals[0] / static_cast<float>(C), MHCRT_NORM_INSIDE, eps);
    for (int64_t c = threadIdx.x * kCount; c < C; c += kThreads * kCount) {
      float w[kCount];
      loadTogether(token + c, v), loadTogether(weights + c, w);
#pragma unroll
      for (int e = 0; e < kCount; ++e)
        v[e] = multiplier * v[e] * w[e];
      storeTogether(token + c, v);
    }
  }
}

template <typename T, typename Weight, int kCount>
cudaError_t launch(mhcrt_context &context, const PostPreArgs &a) {
  return launchOverlapping(normKernel<T, Weight, kCount>, gridForBlocks(context, a.M), kThreads, 1, 0, context.stream,
                           static_cast<T *>(a.u), static_cast<const Weight *>(a.u_norm_weight), a.M, a.C,
                           static_cast<float>(a.u_norm_eps));
}

} // namespace

cudaError_t mhcrt::normAfterPre(mhcrt_context &context, const PostPreArgs &a) {
  return withFloatType(a.u_type, [&](auto type) {
    using T = decltype(type);
    const auto isAt16 = [](const void *p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; };
    const bool isAligned = a.C % kLanesOf<T> == 0 && isAt16(a.u) && isAt16(a.u_norm_weight);
    if (a.u_norm_weight_type == MHCRT_F32)
      return isAligned ? launch<T, float, kLanesOf<T>>(context, a) : launch<T, float, 1>(context, a);
    return isAligned ? launch<T, T, kLanesOf<T>>(context, a) : launch<T, T, 1>(context, a);
  });
}
