//===- post_n4.cu - Write a layer output back to four streams -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   out[m,o,c] = drop(h_post[m,o] * (f[m,c] + bias[c])) + sum_i A[m,o,i] * x[m,i,c]
//   A = h_res (oi) or its transpose (io); drop is the dropout of mhc.dropout on [M,n,C], or nothing
//
// Plan    One column of 16 bytes a thread: five loads in flight, four stores. The 20 coefficients of the token are
//         the same for a warp and come from the first-level cache. out may be x.
// Bytes   per token 9C elements and 80.
// Needs   n = 4, layout nC, C a multiple of 16 bytes.
// Round   f32: f + bias, times h_post, then the products in the order of i; one rounding at the store.
// Result  H200, bf16, M = 8192, C 4096 / 7168 / 1280: 144 / 248 / 46 us, 99 / 100 / 97 % of copy; 80 registers.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Mix.cuh"
#include "cuda/kernels/Elementwise.h"
#include "cuda/tile/Columns.cuh"

using namespace mhcrt;

namespace {

struct PostN4 {
  const uint4 *f, *x;
  const void *bias; ///< null when there is none
  const float4 *hPost, *hRes;
  uint4 *out;
  uint32_t M, columns;
  Dropout dropout;
};

template <typename T, bool kOutputFirst, Bias kBias, bool kDrops>
__global__ void __launch_bounds__(kColumnThreads) postN4Kernel(PostN4 args) {
  constexpr int kLanes = kLanesOf<T>;
  beginOverlapped();
  const Column column(args.columns);
  if (column.token >= args.M)
    return;
  uint4 in[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    in[i] = loadOnce(args.x + column.at(i, args.columns));
  const uint4 branch = loadOnce(args.f + column.flat(args.columns));
  const PostCoefficients h(args.hPost, args.hRes, column.token);
  const Dropper<kDrops> dropper(args.dropout);

  float f[kLanes], v[4][kLanes];
  widen(branch, f, T());
  addBias<T, kBias>(args.bias, column.index, f);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    widen(in[i], v[i], T());
#pragma unroll
  for (int o = 0; o < 4; ++o) {
    float sum[kLanes];
    h.write<kOutputFirst>(o, f, v, dropper.template lanes<kLanes>(column.at(o, args.columns)), sum);
    storeOnce(args.out + column.at(o, args.columns), narrow(sum, T()));
  }
}

} // namespace

bool mhcrt::postN4Takes(const PostArgs &a, Needs &needs) {
  return columnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) &&
         needs.aligned({a.f, a.bias, a.x, a.h_post, a.h_res, a.out});
}

template <typename T, bool kOutputFirst, bool kDrops>
static cudaError_t launch(const PostN4 &args, int32_t biasType, unsigned blocks, cudaStream_t stream) {
  const auto kernel = !args.bias              ? postN4Kernel<T, kOutputFirst, Bias::none, kDrops>
                      : biasType == MHCRT_F32 ? postN4Kernel<T, kOutputFirst, Bias::wide, kDrops>
                                              : postN4Kernel<T, kOutputFirst, Bias::same, kDrops>;
  return launchOverlapping(kernel, blocks, kColumnThreads, 1, 0, stream, args);
}

cudaError_t mhcrt::postN4(const PostArgs &a, cudaStream_t stream) {
  const int64_t columns = columnsOf(a.C, a.x_type);
  const PostN4 args = {static_cast<const uint4 *>(a.f),
                       static_cast<const uint4 *>(a.x),
                       a.bias,
                       static_cast<const float4 *>(a.h_post),
                       static_cast<const float4 *>(a.h_res),
                       static_cast<uint4 *>(a.out),
                       static_cast<uint32_t>(a.M),
                       static_cast<uint32_t>(columns),
                       Dropout(a.seed, a.rate, a.stream)};
  return withElement(a.x_type, [&](auto type) {
    using T = decltype(type);
    const auto start = a.orient == MHCRT_ORIENT_OI ? (a.seed ? launch<T, true, true> : launch<T, true, false>)
                                                   : (a.seed ? launch<T, false, true> : launch<T, false, false>);
    return start(args, a.bias_type, columnBlocks(a.M, columns), stream);
  });
}
