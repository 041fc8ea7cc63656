//===- expand_n4.cu - One value to the streams ----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   streams[m,i,c] = x[m,c]
//
// Plan    One column of 16 bytes a thread: one load, n stores. Bits are copied.
// Bytes   per token (n + 1)C elements.
// Needs   n = 2, 4 or 8, layout nC, C a multiple of 16 bytes.
// Result  H200, bf16, M = 8192, C 4096 / 7168: 85 / 148 us, 93 % of copy: four fifths are writes; 16 registers.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/Elementwise.h"
#include "cuda/tile/Columns.cuh"

using namespace mhcrt;

namespace {

template <int n>
__global__ void __launch_bounds__(kColumnThreads)
    expandColumnsKernel(const uint4 *x, uint4 *streams, uint32_t M, uint32_t columns) {
  beginOverlapped();
  const Column column(columns);
  if (column.token >= M)
    return;
  const uint4 v = loadOnce(x + column.flat(columns));
#pragma unroll
  for (int i = 0; i < n; ++i)
    storeOnce(streams + column.at<n>(i, columns), v);
}

template <int n>
cudaError_t launch(const ExpandArgs &a, cudaStream_t stream) {
  const int64_t columns = columnsOf(a.C, a.x_type);
  return launchOverlapping(expandColumnsKernel<n>, columnBlocks(a.M, columns), kColumnThreads, 1, 0, stream,
                           static_cast<const uint4 *>(a.x), static_cast<uint4 *>(a.streams), static_cast<uint32_t>(a.M),
                           static_cast<uint32_t>(columns));
}

} // namespace

bool mhcrt::expandN4Takes(const ExpandArgs &a, Needs &needs) {
  return columnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.aligned({a.x, a.streams});
}

cudaError_t mhcrt::expandN4(const ExpandArgs &a, cudaStream_t stream) { return launch<4>(a, stream); }

bool mhcrt::expandN2N8Takes(const ExpandArgs &a, Needs &needs) {
  return otherColumnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.aligned({a.x, a.streams});
}

cudaError_t mhcrt::expandN2N8(const ExpandArgs &a, cudaStream_t stream) {
  return withOtherStreams(a.n, [&](auto n) { return launch<n()>(a, stream); });
}
