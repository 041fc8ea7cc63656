//===- contract_n4.cu - Sum or mean of four streams -----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   out[m,c] = sum_i x[m,i,c]          mode sum
//   out[m,c] = (1/4) sum_i x[m,i,c]    mode mean
//
// Plan    That of aggregate_n4.cu, without weights.
// Bytes   per token 5C elements.
// Needs   n = 4, layout nC, C a multiple of 16 bytes.
// Round   f32 sums in the order of i; a quarter is exact; one rounding at the store.
// Result  H200, bf16, M = 8192, C 4096 / 7168: 77 / 133 us, 103 / 104 % of copy; 30 registers.
//
//===------------------------------------------------------------------------===//
#include "Elementwise.h"
#include "prim/columns.cuh"

using namespace mhcrt;

template <typename T>
static __global__ void __launch_bounds__(kColumnThreads)
    contractN4Kernel(const uint4 *x, uint4 *out, uint32_t M, uint32_t columns, float scale) {
  beginOverlapped();
  const Column column(columns);
  if (column.token >= M)
    return;
  uint4 in[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    in[i] = loadOnce(x + column.at(i, columns));
  float sum[kLanesOf<T>];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float v[kLanesOf<T>];
    widen(in[i], v, T());
#pragma unroll
    for (int e = 0; e < kLanesOf<T>; ++e)
      sum[e] = i == 0 ? v[e] : sum[e] + v[e];
  }
#pragma unroll
  for (int e = 0; e < kLanesOf<T>; ++e)
    sum[e] *= scale;
  storeOnce(out + column.flat(columns), narrow(sum, T()));
}

bool mhcrt::contractN4Takes(const ContractArgs &a, Needs &needs) {
  return columnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.aligned({a.x, a.out});
}

cudaError_t mhcrt::contractN4(const ContractArgs &a, cudaStream_t stream) {
  return withElement(a.x_type, [&](auto type) {
    const int64_t columns = columnsOf(a.C, a.x_type);
    return launchOverlapping(contractN4Kernel<decltype(type)>, columnBlocks(a.M, columns), kColumnThreads, 1, 0, stream,
                             static_cast<const uint4 *>(a.x), static_cast<uint4 *>(a.out), static_cast<uint32_t>(a.M),
                             static_cast<uint32_t>(columns), a.mode == MHCRT_CONTRACT_MODE_MEAN ? 0.25f : 1.0f);
  });
}
