//===- expand_cn4.cu - streams[m,c,i] = x[m,c] ----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plan    Four cells of 16 bytes a thread (tile/Cells.cuh): four bytes to load, 16 to store. Bits are copied.
// Bytes   per token 5C elements.
// Needs   n = 4, layout Cn, 16-bit types an even C.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/Elementwise.h"
#include "cuda/tile/Cells.cuh"

using namespace mhcrt;

namespace {

/// Four copies of each element of a word.
template <bool kHalves>
__device__ __forceinline__ uint4 fourTimes(uint32_t word) {
  if constexpr (!kHalves)
    return make_uint4(word, word, word, word);
  const uint32_t low = __byte_perm(word, 0, 0x1010), high = __byte_perm(word, 0, 0x3232);
  return make_uint4(low, low, high, high);
}

template <bool kHalves>
__global__ void __launch_bounds__(kColumnThreads) expandCn4Kernel(const uint32_t *x, uint4 *streams, uint32_t items) {
  beginOverlapped();
  uint32_t in[kThreadCells];
#pragma unroll
  for (int k = 0; k < kThreadCells; ++k)
    if (cellAt(k) < items)
      in[k] = loadWordOnce(x + cellAt(k));
#pragma unroll
  for (int k = 0; k < kThreadCells; ++k)
    if (cellAt(k) < items)
      storeOnce(streams + cellAt(k), fourTimes<kHalves>(in[k]));
}

} // namespace

bool mhcrt::expandCn4Takes(const ExpandArgs &a, Needs &needs) {
  return cellsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.aligned({a.x, a.streams});
}

cudaError_t mhcrt::expandCn4(const ExpandArgs &a, cudaStream_t stream) {
  const int64_t cells = cellsOf(a.C, a.x_type);
  const auto kernel = a.x_type == MHCRT_F32 ? expandCn4Kernel<false> : expandCn4Kernel<true>;
  return launchOverlapping(kernel, cellBlocks(a.M, cells), kColumnThreads, 1, 0, stream,
                           static_cast<const uint32_t *>(a.x), static_cast<uint4 *>(a.streams),
                           static_cast<uint32_t>(a.M * cells));
}
