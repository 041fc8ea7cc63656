//===- aggregate_bwd_n4.cu - Gradients of aggregate in one pass -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_x[m,i,c]   = d_x_in[m,i,c] + h_pre[m,i] * d_u[m,c]
//   d_h_pre[m,i] = sum_c d_u[m,c] * x[m,i,c]
//
// Plan    That of post_bwd_n4.cu: a block goes over tokens, a thread over columns of 16 bytes, the next column's loads
//         in flight. d_x may be d_x_in.
// Bytes   per token 9C elements and 32; 4C more for d_x_in, 4C less without d_x.
// Needs   n = 4, layout nC, C a multiple of 16 bytes; d_x and d_x_in of x's type.
// Round   f32 sums, in an order that C decides; one rounding at the store.
// Result  H200, bf16, M = 8192, C 4096 / 7168: 148 / 258 us, 96 / 97 % of copy; adding 203 / 356, 101 %.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/Elementwise.h"
#include "cuda/tile/Team.cuh"

using namespace mhcrt;

namespace {

struct AggregateBwdN4 {
  const uint4 *du, *x, *dxIn;
  const float4 *hPre;
  uint4 *dx;
  float *dhPre; ///< may be null
  uint32_t M, columns;
};

enum class Dx { none, fresh, added };

/// Inputs of one column.
template <Dx kDx>
struct Inputs {
  uint4 du, x[4], dxIn[kDx == Dx::added ? 4 : 1];

  __device__ __forceinline__ void load(const AggregateBwdN4 &args, Place at) {
    du = loadOnce(args.du + at.flat(args.columns));
#pragma unroll
    for (int i = 0; i < 4; ++i)
      x[i] = loadOnce(args.x + at.of(i, args.columns));
    if constexpr (kDx == Dx::added) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        dxIn[i] = loadOnce(args.dxIn + at.of(i, args.columns));
    }
  }
};

template <typename T, Dx kDx>
__device__ __forceinline__ void work(const AggregateBwdN4 &args, const Inputs<kDx> &in, const float (&h)[4], Place at,
                                     float (&sums)[4]) {
  constexpr int kLanes = kLanesOf<T>;
  float du[kLanes];
  widen(in.du, du, T());
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float x[kLanes], dx[kLanes] = {};
    widen(in.x[i], x, T());
    if constexpr (kDx == Dx::added)
      widen(in.dxIn[i], dx, T());
#pragma unroll
    for (int e = 0; e < kLanes; ++e) {
      sums[i] = fmaf(du[e], x[e], sums[i]);
      dx[e] = fmaf(h[i], du[e], dx[e]);
    }
    if constexpr (kDx != Dx::none)
      storeOnce(args.dx + at.of(i, args.columns), narrow(dx, T()));
  }
}

template <typename T, Dx kDx>
__global__ void __launch_bounds__(32 * kMostTeamWarps, 2) aggregateBwdN4Kernel(AggregateBwdN4 args) {
  beginOverlapped();
  const uint32_t token = blockIdx.x;
  Inputs<kDx> now, later;
  float h[4], sums[4] = {};
  if (threadIdx.x < args.columns)
    now.load(args, {token, threadIdx.x});
  reinterpret_cast<float4 &>(h) = args.hPre[token];
#pragma unroll 1
  for (uint32_t column = threadIdx.x; column < args.columns; column += blockDim.x) {
    if (column + blockDim.x < args.columns)
      later.load(args, {token, column + blockDim.x});
    work<T, kDx>(args, now, h, {token, column}, sums);
    now = later;
  }
  const float total = teamSum<4>(sums, 0);
  if (threadIdx.x < 4 && args.dhPre)
    args.dhPre[int64_t(token) * 4 + threadIdx.x] = total;
}

} // namespace

bool mhcrt::aggregateBwdN4Takes(const AggregateBwdArgs &a, Needs &needs) {
  return columnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && (!a.d_x || needs.type("d_x", a.d_x_type, a.x_type)) &&
         (!a.d_x_in || needs.type("d_x_in", a.d_x_in_type, a.x_type)) &&
         needs.aligned({a.d_u, a.x, a.h_pre, a.d_x_in, a.d_x});
}

template <typename T, Dx kDx>
static cudaError_t launch(const AggregateBwdN4 &args, cudaStream_t stream) {
  return launchOverlapping(aggregateBwdN4Kernel<T, kDx>, args.M, 32 * teamWarps(args.columns), 1, 0, stream, args);
}

cudaError_t mhcrt::aggregateBwdN4(const AggregateBwdArgs &a, cudaStream_t stream) {
  const AggregateBwdN4 args = {static_cast<const uint4 *>(a.d_u),    static_cast<const uint4 *>(a.x),
                               static_cast<const uint4 *>(a.d_x_in), static_cast<const float4 *>(a.h_pre),
                               static_cast<uint4 *>(a.d_x),          static_cast<float *>(a.d_h_pre),
                               static_cast<uint32_t>(a.M),           static_cast<uint32_t>(columnsOf(a.C, a.x_type))};
  return withElement(a.x_type, [&](auto type) {
    using T = decltype(type);
    if (!a.d_x)
      return launch<T, Dx::none>(args, stream);
    return a.d_x_in ? launch<T, Dx::added>(args, stream) : launch<T, Dx::fresh>(args, stream);
  });
}
