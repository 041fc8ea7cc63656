//===- post_bwd_n2n8.cu - Gradients of post of two or eight streams -------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PostBwd.cuh has the formulas.
//
// Plan    A block has a token, a thread columns of it; the next column's 2n + 1 loads are in flight while one is worked
//         on. The n + n*n sums stay in registers, the coefficients in shared memory. Columns of eight streams have four
//         channels, as their sums take 72 registers.
// Bytes   per token (2n + 2)C elements ((3n + 2)C with d_x) and 8(n + n*n).
// Needs   n = 2 or 8, layout nC, C a multiple of 16 bytes; neither dropout nor d_x_in nor d_bias, d_x of x's type.
// Round   f32 sums, in an order that C decides; one rounding at the store.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/Elementwise.h"
#include "cuda/tile/StreamSteps.cuh"
#include "cuda/tile/Team.cuh"

using namespace mhcrt;

namespace {

constexpr int kThreads = 128;

struct PostBwdColumns {
  const void *dOut, *f, *x;
  const void *bias; ///< null when there is none
  const float *hPost, *hRes;
  void *df, *dx;
  float *dhPost, *dhRes; ///< null when they are not wanted
  uint32_t columns;
  StreamSteps dOutSteps, xSteps;
  bool wideBias, outputFirst;
};

/// Channels of a column, and the vector that has them.
template <int n, typename T>
constexpr int kChannels = n == 8 ? 4 : kLanesOf<T>;
template <int n, typename T>
using Vector = std::conditional_t<kChannels<n, T> * sizeof(T) == 8, uint2, uint4>;

__device__ __forceinline__ void load(uint4 &to, const void *from) { to = loadOnce(from); }
__device__ __forceinline__ void load(uint2 &to, const void *from) { to = __ldcs(static_cast<const uint2 *>(from)); }

/// Vec.cuh's for half a vector: the other half is not computed.
template <typename T>
__device__ __forceinline__ void widen(uint2 v, float (&to)[4], T type) {
  float both[8];
  mhcrt::widen(make_uint4(v.x, v.y, 0, 0), both, type);
#pragma unroll
  for (int e = 0; e < 4; ++e)
    to[e] = both[e];
}
template <typename T, int kLanes>
__device__ __forceinline__ void store(void *to, const float (&v)[kLanes], T type) {
  if constexpr (kLanes == kLanesOf<T>) {
    storeOnce(to, narrow(v, type));
  } else {
    const float both[8] = {v[0], v[1], v[2], v[3]};
    const uint4 words = narrow(both, type);
    storeOnce(to, make_uint2(words.x, words.y));
  }
}
using mhcrt::widen;

/// Inputs of one column.
template <int n, typename T>
struct Inputs {
  Vector<n, T> dOut[n], x[n], f;

  __device__ __forceinline__ void load(const PostBwdColumns &args, uint32_t column) {
    using V = Vector<n, T>;
    const uint64_t token = uint64_t(blockIdx.x) * args.columns;
    ::load(f, static_cast<const V *>(args.f) + token + column);
#pragma unroll
    for (int i = 0; i < n; ++i) {
      ::load(dOut[i], static_cast<const V *>(args.dOut) + args.dOutSteps.at(blockIdx.x, i, column));
      ::load(x[i], static_cast<const V *>(args.x) + args.xSteps.at(blockIdx.x, i, column));
    }
  }
};

/// A token's coefficients in shared memory: mix[i][o] weighs the gradient of output o in that of stream i.
template <int n>
struct Coefficients {
  float mix[n][n], post[n];

  __device__ __forceinline__ void fill(const PostBwdColumns &args) {
    for (int k = threadIdx.x; k < n * n; k += kThreads)
      (args.outputFirst ? mix[k % n][k / n] : mix[k / n][k % n]) = args.hRes[uint64_t(blockIdx.x) * n * n + k];
    if (threadIdx.x < n)
      post[threadIdx.x] = args.hPost[uint64_t(blockIdx.x) * n + threadIdx.x];
  }
};

/// A thread's sums: of d_h_post, and dA of output o and stream i at o*n + i.
template <int n>
struct Sums {
  float post[n] = {}, mix[n * n] = {};
};

template <int n, typename T, bool kDx>
__device__ __forceinline__ void work(const PostBwdColumns &args, const Coefficients<n> &h, const Inputs<n, T> &in,
                                     uint32_t column, Sums<n> &sums) {
  constexpr int kLanes = kChannels<n, T>;
  using V = Vector<n, T>;
  const uint64_t token = uint64_t(blockIdx.x) * args.columns;
  float f[kLanes], g[n][kLanes], df[kLanes];
  widen(in.f, f, T());
  if (args.bias)
#pragma unroll
    for (int e = 0; e < kLanes; ++e)
      f[e] += args.wideBias ? static_cast<const float *>(args.bias)[column * kLanes + e]
                            : static_cast<float>(static_cast<const T *>(args.bias)[column * kLanes + e]);
#pragma unroll
  for (int o = 0; o < n; ++o) {
    widen(in.dOut[o], g[o], T());
#pragma unroll
    for (int e = 0; e < kLanes; ++e) {
      df[e] = o == 0 ? h.post[0] * g[0][e] : fmaf(h.post[o], g[o][e], df[e]);
      sums.post[o] = fmaf(g[o][e], f[e], sums.post[o]);
    }
  }
  store(static_cast<V *>(args.df) + token + column, df, T());
#pragma unroll
  for (int i = 0; i < n; ++i) {
    float x[kLanes], dx[kLanes];
    widen(in.x[i], x, T());
#pragma unroll
    for (int o = 0; o < n; ++o)
#pragma unroll
      for (int e = 0; e < kLanes; ++e) {
        sums.mix[o * n + i] = fmaf(g[o][e], x[e], sums.mix[o * n + i]);
        if constexpr (kDx)
          dx[e] = o == 0 ? h.mix[i][0] * g[0][e] : fmaf(h.mix[i][o], g[o][e], dx[e]);
      }
    if constexpr (kDx)
      store(static_cast<V *>(args.dx) + token * n + uint64_t(i) * args.columns + column, dx, T());
  }
}

/// Adds the sums of the block's threads, and stores them.
template <int n>
__device__ __forceinline__ void storeSums(const PostBwdColumns &args, Sums<n> &sums) {
  constexpr int kPart = n == 8 ? 32 : n * n;
  const int k = threadIdx.x;
#pragma unroll
  for (int first = 0; first < n * n; first += kPart) {
    float part[kPart];
#pragma unroll
    for (int j = 0; j < kPart; ++j)
      part[j] = sums.mix[first + j];
    const float total = teamSum<kPart>(part, first / kPart);
    const int o = (first + k) / n, i = (first + k) % n;
    if (k < kPart && args.dhRes)
      args.dhRes[uint64_t(blockIdx.x) * n * n + (args.outputFirst ? o * n + i : i * n + o)] = total;
  }
  const float total = teamSum<n>(sums.post, 0);
  if (k < n && args.dhPost)
    args.dhPost[uint64_t(blockIdx.x) * n + k] = total;
}

template <int n, typename T, bool kDx>
__global__ void __launch_bounds__(kThreads, n == 8 ? 2 : 4) postBwdColumnsKernel(PostBwdColumns args) {
  __shared__ Coefficients<n> h;
  beginOverlapped();
  Inputs<n, T> now, later;
  if (threadIdx.x < args.columns)
    now.load(args, threadIdx.x);
  h.fill(args);
  __syncthreads();
  Sums<n> sums;
#pragma unroll 1
  for (uint32_t column = threadIdx.x; column < args.columns; column += kThreads) {
    if (column + kThreads < args.columns)
      later.load(args, column + kThreads);
    work<n, T, kDx>(args, h, now, column, sums);
    now = later;
  }
  storeSums(args, sums);
}

} // namespace

bool mhcrt::postBwdN2N8Takes(const PostBwdArgs &a, Needs &needs) {
  return otherColumnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.given("d_f", a.d_f) &&
         needs.absent("seed", a.seed) && needs.absent("d_x_in", a.d_x_in) && needs.absent("d_bias", a.d_bias) &&
         (!a.d_x || needs.type("d_x", a.d_x_type, a.x_type)) && needs.aligned({a.d_out, a.f, a.x, a.d_f, a.d_x});
}

cudaError_t mhcrt::postBwdN2N8(const PostBwdArgs &a, cudaStream_t stream) {
  return withOtherStreams(a.n, [&](auto n) {
    return withElement(a.x_type, [&](auto type) {
      using T = decltype(type);
      const int64_t columns = a.C / kChannels<n(), T>;
      const PostBwdColumns args = {a.d_out,
                                   a.f,
                                   a.x,
                                   a.bias,
                                   static_cast<const float *>(a.h_post),
                                   static_cast<const float *>(a.h_res),
                                   a.d_f,
                                   a.d_x,
                                   static_cast<float *>(a.d_h_post),
                                   static_cast<float *>(a.d_h_res),
                                   static_cast<uint32_t>(columns),
                                   StreamSteps(a.n, columns, a.equal_d_out),
                                   StreamSteps(a.n, columns, a.equal_x),
                                   a.bias_type == MHCRT_F32,
                                   a.orient == MHCRT_ORIENT_OI};
      const auto kernel = a.d_x ? postBwdColumnsKernel<n(), T, true> : postBwdColumnsKernel<n(), T, false>;
      return launchOverlapping(kernel, static_cast<unsigned>(a.M), kThreads, 1, 0, stream, args);
    });
  });
}
