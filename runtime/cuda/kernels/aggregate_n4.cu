//===- aggregate_n4.cu - Read one layer input from the streams ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   u[m,c] = sum_i h_pre[m,i] * x[m,i,c]
//
// contract sums the streams without weights, and takes an n-th where its mode is mean.
//
// Plan    One column of 16 bytes a thread: n loads in flight, one store.
// Bytes   per token (n + 1)C elements, and 4n for h_pre.
// Needs   n = 2, 4 or 8, layout nC, C a multiple of 16 bytes.
// Round   f32 sums in the order of i; an n-th is exact; one rounding at the store.
// Result  H200, bf16, M = 8192, C 4096 / 7168 / 1280: 77 / 134 / 25 us, 103 / 104 / 99 % of copy; contract 77 / 133 us,
//         103 / 104 %; 32 and 30 registers.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Mix.cuh"
#include "cuda/kernels/Beside.h"
#include "cuda/kernels/Elementwise.h"
#include "cuda/tile/Columns.cuh"

using namespace mhcrt;

namespace {

/// The weights of aggregate: n a token.
template <int n>
struct TokenWeights {
  const float4 *all;
  float h[n];
  explicit TokenWeights(const void *all) : all(static_cast<const float4 *>(all)) {}
  __device__ __forceinline__ TokenWeights of(uint32_t token) const {
    TokenWeights own = *this;
    loadRow(all, token, own.h);
    return own;
  }
};

/// In place of gates, contract has a factor of the sum.
struct SumScale {
  float scale;
  __device__ __forceinline__ SumScale of(uint32_t) const { return *this; }
};

template <typename T, int n>
__device__ __forceinline__ void addStreams(const TokenWeights<n> &weights, const uint4 (&in)[n],
                                           float (&sum)[kLanesOf<T>]) {
  float v[n][kLanesOf<T>];
#pragma unroll
  for (int i = 0; i < n; ++i)
    widen(in[i], v[i], T());
  readStreams(weights.h, v, sum);
}

template <typename T, int n>
__device__ __forceinline__ void addStreams(SumScale weights, const uint4 (&in)[n], float (&sum)[kLanesOf<T>]) {
#pragma unroll
  for (int i = 0; i < n; ++i) {
    float v[kLanesOf<T>];
    widen(in[i], v, T());
#pragma unroll
    for (int e = 0; e < kLanesOf<T>; ++e)
      sum[e] = i == 0 ? v[e] : sum[e] + v[e];
  }
#pragma unroll
  for (int e = 0; e < kLanesOf<T>; ++e)
    sum[e] *= weights.scale;
}

template <int n, typename T, typename Weights>
__global__ void __launch_bounds__(kColumnThreads)
    aggregateColumnsKernel(const uint4 *x, Weights all, uint4 *u, uint32_t M, uint32_t columns, bool isBeside) {
  if (!isBeside)
    beginOverlapped();
  const Column column(columns);
  if (column.token >= M)
    return;
  uint4 in[n];
#pragma unroll
  for (int i = 0; i < n; ++i)
    in[i] = loadOnce(x + column.at<n>(i, columns));
  const auto weights = all.of(column.token);
  float sum[kLanesOf<T>];
  addStreams<T>(weights, in, sum);
  storeOnce(u + column.flat(columns), narrow(sum, T()));
  if (isBeside && blockIdx.x + 1 == gridDim.x)
    beginOverlapped();
}

template <int n, typename Weights>
cudaError_t launch(const void *x, Weights weights, void *u, int64_t M, int64_t C, int32_t type, cudaStream_t stream,
                   bool isBeside = false) {
  const int64_t columns = columnsOf(C, type);
  return withElement(type, [&](auto element) {
    return launchOverlapping(aggregateColumnsKernel<n, decltype(element), Weights>, columnBlocks(M, columns),
                             kColumnThreads, 1, 0, stream, static_cast<const uint4 *>(x), weights,
                             static_cast<uint4 *>(u), static_cast<uint32_t>(M), static_cast<uint32_t>(columns),
                             isBeside);
  });
}

} // namespace

bool mhcrt::aggregateN4Takes(const AggregateArgs &a, Needs &needs) {
  return columnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.aligned({a.x, a.h_pre, a.u});
}

template <int n>
static cudaError_t launchAggregate(const AggregateArgs &a, cudaStream_t stream, bool isBeside) {
  return launch<n>(a.x, TokenWeights<n>(a.h_pre), a.u, a.M, a.C, a.x_type, stream, isBeside);
}

cudaError_t mhcrt::aggregateN4(const AggregateArgs &a, cudaStream_t stream) {
  return launchAggregate<4>(a, stream, false);
}

bool mhcrt::aggregateN2N8Takes(const AggregateArgs &a, Needs &needs) {
  return otherColumnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.aligned({a.x, a.u}) &&
         pairsAreAligned(needs, a.n, a.h_pre);
}

cudaError_t mhcrt::aggregateN2N8(const AggregateArgs &a, cudaStream_t stream) {
  return withOtherStreams(a.n, [&](auto n) { return launchAggregate<n()>(a, stream, false); });
}

cudaError_t mhcrt::aggregateBeside(const AggregateArgs &a, cudaStream_t stream) {
  return a.n == 4 ? launchAggregate<4>(a, stream, true)
                  : withOtherStreams(a.n, [&](auto n) { return launchAggregate<n()>(a, stream, true); });
}

static float scaleOf(const ContractArgs &a) { return a.mode == MHCRT_CONTRACT_MODE_MEAN ? 1.0f / a.n : 1.0f; }

bool mhcrt::contractN4Takes(const ContractArgs &a, Needs &needs) {
  return columnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.aligned({a.x, a.out});
}

cudaError_t mhcrt::contractN4(const ContractArgs &a, cudaStream_t stream) {
  return launch<4>(a.x, SumScale{scaleOf(a)}, a.out, a.M, a.C, a.x_type, stream);
}

bool mhcrt::contractN2N8Takes(const ContractArgs &a, Needs &needs) {
  return otherColumnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.aligned({a.x, a.out});
}

cudaError_t mhcrt::contractN2N8(const ContractArgs &a, cudaStream_t stream) {
  return withOtherStreams(
      a.n, [&](auto n) { return launch<n()>(a.x, SumScale{scaleOf(a)}, a.out, a.M, a.C, a.x_type, stream); });
}
