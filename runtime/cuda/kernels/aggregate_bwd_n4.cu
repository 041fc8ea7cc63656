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
// Bytes   per token (2n + 1)C elements and 8n; nC more for d_x_in, nC less without d_x.
// Needs   n = 2, 4 or 8, layout nC, C a multiple of 16 bytes; d_x and d_x_in of x's type.
// Round   f32 sums, in an order that C decides; one rounding at the store.
// Result  H200, bf16, M = 8192, C 4096 / 7168: 148 / 258 us, 96 / 97 % of copy; adding 203 / 356, 101 %.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Mix.cuh"
#include "cuda/kernels/Beside.h"
#include "cuda/kernels/Elementwise.h"
#include "cuda/tile/Team.cuh"

using namespace mhcrt;

namespace {

struct AggregateBwdColumns {
  const uint4 *du, *x, *dxIn;
  const float4 *hPre;
  uint4 *dx;
  float *dhPre; ///< may be null
  uint32_t M, columns;
  bool isBeside; ///< the kernel before it
};

enum class Dx { none, fresh, added };

/// Inputs of one column.
template <int n, Dx kDx>
struct Inputs {
  uint4 du, x[n], dxIn[kDx == Dx::added ? n : 1];

  __device__ __forceinline__ void load(const AggregateBwdColumns &args, Place at) {
    du = loadOnce(args.du + at.flat(args.columns));
#pragma unroll
    for (int i = 0; i < n; ++i)
      x[i] = loadOnce(args.x + at.of<n>(i, args.columns));
    if constexpr (kDx == Dx::added) {
#pragma unroll
      for (int i = 0; i < n; ++i)
        dxIn[i] = loadOnce(args.dxIn + at.of<n>(i, args.columns));
    }
  }
};

template <int n, typename T, Dx kDx>
__device__ __forceinline__ void work(const AggregateBwdColumns &args, const Inputs<n, kDx> &in, const float (&h)[n],
                                     Place at, float (&sums)[n]) {
  constexpr int kLanes = kLanesOf<T>;
  float du[kLanes];
  widen(in.du, du, T());
#pragma unroll
  for (int i = 0; i < n; ++i) {
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
      storeOnce(args.dx + at.of<n>(i, args.columns), narrow(dx, T()));
  }
}

template <int n, typename T, Dx kDx>
__global__ void __launch_bounds__(32 * kMostTeamWarps, n == 8 ? 1 : 2)
    aggregateBwdColumnsKernel(AggregateBwdColumns args) {
  if (!args.isBeside)
    beginOverlapped();
  const uint32_t token = blockIdx.x;
  Inputs<n, kDx> now, later;
  float h[n], sums[n] = {};
  if (threadIdx.x < args.columns)
    now.load(args, {token, threadIdx.x});
  loadRow(args.hPre, token, h);
#pragma unroll 1
  for (uint32_t column = threadIdx.x; column < args.columns; column += blockDim.x) {
    if (column + blockDim.x < args.columns)
      later.load(args, {token, column + blockDim.x});
    work<n, T, kDx>(args, now, h, {token, column}, sums);
    now = later;
  }
  const float total = teamSum<n>(sums, 0);
  if (threadIdx.x < n && args.dhPre)
    args.dhPre[int64_t(token) * n + threadIdx.x] = total;
  if (args.isBeside && blockIdx.x + 1 == gridDim.x)
    beginOverlapped();
}

} // namespace

static bool othersFit(const AggregateBwdArgs &a, Needs &needs) {
  return (!a.d_x || needs.type("d_x", a.d_x_type, a.x_type)) &&
         (!a.d_x_in || needs.type("d_x_in", a.d_x_in_type, a.x_type)) && needs.aligned({a.d_u, a.x, a.d_x_in, a.d_x});
}

bool mhcrt::aggregateBwdN4Takes(const AggregateBwdArgs &a, Needs &needs) {
  return columnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.aligned({a.h_pre}) && othersFit(a, needs);
}

bool mhcrt::aggregateBwdN2N8Takes(const AggregateBwdArgs &a, Needs &needs) {
  return otherColumnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && pairsAreAligned(needs, a.n, a.h_pre) &&
         othersFit(a, needs);
}

template <int n, typename T, Dx kDx>
static cudaError_t launch(const AggregateBwdColumns &args, cudaStream_t stream) {
  return launchOverlapping(aggregateBwdColumnsKernel<n, T, kDx>, args.M, 32 * teamWarps(args.columns), 1, 0, stream,
                           args);
}

template <int n>
static cudaError_t launchFor(const AggregateBwdArgs &a, cudaStream_t stream, bool isBeside) {
  const AggregateBwdColumns args = {static_cast<const uint4 *>(a.d_u),
                                    static_cast<const uint4 *>(a.x),
                                    static_cast<const uint4 *>(a.d_x_in),
                                    static_cast<const float4 *>(a.h_pre),
                                    static_cast<uint4 *>(a.d_x),
                                    static_cast<float *>(a.d_h_pre),
                                    static_cast<uint32_t>(a.M),
                                    static_cast<uint32_t>(columnsOf(a.C, a.x_type)),
                                    isBeside};
  return withElement(a.x_type, [&](auto type) {
    using T = decltype(type);
    if (!a.d_x)
      return launch<n, T, Dx::none>(args, stream);
    return a.d_x_in ? launch<n, T, Dx::added>(args, stream) : launch<n, T, Dx::fresh>(args, stream);
  });
}

cudaError_t mhcrt::aggregateBwdN4(const AggregateBwdArgs &a, cudaStream_t stream) {
  return launchFor<4>(a, stream, false);
}

cudaError_t mhcrt::aggregateBwdN2N8(const AggregateBwdArgs &a, cudaStream_t stream) {
  return withOtherStreams(a.n, [&](auto n) { return launchFor<n()>(a, stream, false); });
}

cudaError_t mhcrt::aggregateBwdBeside(const AggregateBwdArgs &a, cudaStream_t stream) {
  return a.n == 4 ? launchFor<4>(a, stream, true)
                  : withOtherStreams(a.n, [&](auto n) { return launchFor<n()>(a, stream, true); });
}
