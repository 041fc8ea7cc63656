//===- aggregate_n4.cu - Read one layer input from four streams -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   u[m,c] = sum_i h_pre[m,i] * x[m,i,c]
//
// Plan    One column of 16 bytes a thread: four loads in flight, one store.
// Bytes   per token 5C elements and 16.
// Needs   n = 4, layout nC, C a multiple of 16 bytes.
// Round   f32 sums in the order of i, one rounding at the store.
// Result  H200, bf16, M = 8192, C 4096 / 7168 / 1280: 77 / 134 / 25 us, 103 / 104 / 99 % of copy; 32 registers.
//
//===------------------------------------------------------------------------===//
#include "Elementwise.h"
#include "prim/columns.cuh"
#include "prim/mix.cuh"

using namespace mhcrt;

template <typename T>
static __global__ void __launch_bounds__(kColumnThreads)
    aggregateN4Kernel(const uint4 *x, const float4 *h, uint4 *u, uint32_t M, uint32_t columns) {
  beginOverlapped();
  const Column column(columns);
  if (column.token >= M)
    return;
  uint4 in[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    in[i] = loadOnce(x + column.at(i, columns));
  const float4 weights = h[column.token];
  float v[4][kLanesOf<T>], sum[kLanesOf<T>];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    widen(in[i], v[i], T());
  readStreams(weights, v, sum);
  storeOnce(u + column.flat(columns), narrow(sum, T()));
}

bool mhcrt::aggregateN4Takes(const AggregateArgs &a, Needs &needs) {
  return columnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.aligned({a.x, a.h_pre, a.u});
}

cudaError_t mhcrt::aggregateN4(const AggregateArgs &a, cudaStream_t stream) {
  return withElement(a.x_type, [&](auto type) {
    const int64_t columns = columnsOf(a.C, a.x_type);
    return launchOverlapping(aggregateN4Kernel<decltype(type)>, columnBlocks(a.M, columns), kColumnThreads, 1, 0,
                             stream, static_cast<const uint4 *>(a.x), static_cast<const float4 *>(a.h_pre),
                             static_cast<uint4 *>(a.u), static_cast<uint32_t>(a.M), static_cast<uint32_t>(columns));
  });
}
