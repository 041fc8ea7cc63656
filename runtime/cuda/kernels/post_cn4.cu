//===- post_cn4.cu - Write a layer output back to interleaved streams -----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   out[m,c,o] = drop(h_post[m,o] * (f[m,c] + bias[c])) + sum_i A[m,o,i] * x[m,c,i]
//   A = h_res (oi) or its transpose (io); drop is the dropout of mhc.dropout on [M,C,n], or nothing
//
// Plan    That of aggregate_cn4.cu; the 20 coefficients of a token come from the first-level cache. out may be x.
// Bytes   per token 9C elements and 80.
// Needs   n = 4, layout Cn, 16-bit types an even C.
// Round   as post_n4.cu.
// Result  H200, M = 8192, C = 4096: bf16 146, f32 298 us, 101 and 99 % of copy; 64 registers.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Mix.cuh"
#include "cuda/kernels/Elementwise.h"
#include "cuda/tile/Cells.cuh"

using namespace mhcrt;

namespace {

struct PostCn4 {
  const uint32_t *f;
  const uint4 *x;
  const void *bias; ///< null when there is none
  const float4 *hPost, *hRes;
  uint4 *out;
  uint32_t items, cells;
  bool wideBias;
  Dropout dropout;
};

template <typename T, bool kOutputFirst, bool kDrops>
__global__ void __launch_bounds__(kColumnThreads) postCn4Kernel(PostCn4 args) {
  constexpr int kChannels = kCellChannels<T>;
  beginOverlapped();
  uint4 in[kThreadCells];
  uint32_t branch[kThreadCells];
#pragma unroll
  for (int k = 0; k < kThreadCells; ++k)
    if (cellAt(k) < args.items) {
      in[k] = loadOnce(args.x + cellAt(k));
      branch[k] = loadWordOnce(args.f + cellAt(k));
    }
  const Dropper<kDrops> dropper(args.dropout);
#pragma unroll
  for (int k = 0; k < kThreadCells; ++k) {
    const uint32_t item = cellAt(k), token = item / args.cells;
    if (item >= args.items)
      break;
    const PostCoefficients h(args.hPost, args.hRes, token);
    float f[kChannels], v[4][kChannels], next[4][kChannels];
    widenWord<T>(branch[k], f);
    if (args.bias)
      addCellBias<T>(args.bias, args.wideBias, item - token * args.cells, f);
    widenCell<T>(in[k], v);
    const auto drop = dropper.template lanes<kLanesOf<T>>(item);
#pragma unroll
    for (int o = 0; o < 4; ++o)
      h.write<kOutputFirst>(o, f, v, [&](int e, float value) { return drop(4 * e + o, value); }, next[o]);
    storeOnce(args.out + item, narrowCell<T>(next));
  }
}

} // namespace

bool mhcrt::postCn4Takes(const PostArgs &a, Needs &needs) {
  return cellsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) &&
         needs.that(!a.equal_x && !a.contracted, "streams that are not one row") &&
         needs.aligned({a.f, a.bias, a.x, a.h_post, a.h_res, a.out});
}

cudaError_t mhcrt::postCn4(const PostArgs &a, cudaStream_t stream) {
  const int64_t cells = cellsOf(a.C, a.x_type);
  const PostCn4 args = {
      static_cast<const uint32_t *>(a.f),    static_cast<const uint4 *>(a.x),      a.bias,
      static_cast<const float4 *>(a.h_post), static_cast<const float4 *>(a.h_res), static_cast<uint4 *>(a.out),
      static_cast<uint32_t>(a.M * cells),    static_cast<uint32_t>(cells),         a.bias_type == MHCRT_F32,
      Dropout(a.seed, a.rate, a.stream)};
  return withElement(a.x_type, [&](auto type) {
    using T = decltype(type);
    const auto kernel = a.orient == MHCRT_ORIENT_OI
                            ? (a.seed ? postCn4Kernel<T, true, true> : postCn4Kernel<T, true, false>)
                            : (a.seed ? postCn4Kernel<T, false, true> : postCn4Kernel<T, false, false>);
    return launchOverlapping(kernel, cellBlocks(a.M, cells), kColumnThreads, 1, 0, stream, args);
  });
}
