//===- post_n4.cu - Write a layer output back to the streams --------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   out[m,o,c] = drop(h_post[m,o] * (f[m,c] + bias[c])) + sum_i A[m,o,i] * x[m,i,c]
//   A = h_res (oi) or its transpose (io); drop is the dropout of mhc.dropout on [M,n,C], or nothing
//
// Plan    One column of 16 bytes a thread: n + 1 loads in flight, n stores. The n + n*n coefficients of the token are
//         the same for a warp and come from the first-level cache. out may be x.
// Bytes   per token (2n + 1)C elements and 4(n + n*n); (n + 2)C where the streams of x are equal.
// Needs   n = 4, or 2 or 8 without dropout; layout nC, C a multiple of 16 bytes.
// Round   f32: f + bias, times h_post, then the products in the order of i; one rounding at the store.
// Result  H200, bf16, M = 8192, C 4096 / 7168 / 1280: 144 / 248 / 46 us, 99 / 100 / 97 % of copy; 80 registers.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Mix.cuh"
#include "cuda/kernels/Elementwise.h"
#include "cuda/tile/Columns.cuh"
#include "cuda/tile/StreamSteps.cuh"

using namespace mhcrt;

namespace {

struct PostColumns {
  const uint4 *f, *x;
  const void *bias; ///< null when there is none
  const float4 *hPost, *hRes;
  uint4 *out;
  uint32_t M, columns;
  StreamSteps xSteps;
  Dropout dropout;
};

template <int n, typename T, bool kOutputFirst, Bias kBias, bool kDrops>
__global__ void __launch_bounds__(kColumnThreads) postColumnsKernel(PostColumns args) {
  constexpr int kLanes = kLanesOf<T>;
  beginOverlapped();
  const Column column(args.columns);
  if (column.token >= args.M)
    return;
  uint4 in[n];
#pragma unroll
  for (int i = 0; i < n; ++i)
    in[i] = loadOnce(args.x + args.xSteps.at(column.token, i, column.index));
  const uint4 branch = loadOnce(args.f + column.flat(args.columns));
  const PostCoefficientsOf<n> h(args.hPost, args.hRes, column.token);
  const Dropper<kDrops> dropper(args.dropout);

  float f[kLanes], v[n][kLanes];
  widen(branch, f, T());
  addBias<T, kBias>(args.bias, column.index, f);
#pragma unroll
  for (int i = 0; i < n; ++i)
    widen(in[i], v[i], T());
#pragma unroll
  for (int o = 0; o < n; ++o) {
    float sum[kLanes];
    const int64_t at = column.at<n>(o, args.columns);
    h.template write<kOutputFirst>(o, f, v, dropper.template lanes<kLanes>(at), sum);
    storeOnce(args.out + at, narrow(sum, T()));
  }
}

} // namespace

bool mhcrt::postN4Takes(const PostArgs &a, Needs &needs) {
  return columnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) &&
         needs.aligned({a.f, a.bias, a.x, a.h_post, a.h_res, a.out});
}

bool mhcrt::postN2N8Takes(const PostArgs &a, Needs &needs) {
  return otherColumnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.absent("seed", a.seed) &&
         needs.aligned({a.f, a.bias, a.x, a.h_res, a.out}) && pairsAreAligned(needs, a.n, a.h_post);
}

template <int n, typename T, bool kOutputFirst, bool kDrops>
static cudaError_t launch(const PostColumns &args, int32_t biasType, unsigned blocks, cudaStream_t stream) {
  const auto kernel = !args.bias              ? postColumnsKernel<n, T, kOutputFirst, Bias::none, kDrops>
                      : biasType == MHCRT_F32 ? postColumnsKernel<n, T, kOutputFirst, Bias::wide, kDrops>
                                              : postColumnsKernel<n, T, kOutputFirst, Bias::same, kDrops>;
  return launchOverlapping(kernel, blocks, kColumnThreads, 1, 0, stream, args);
}

static PostColumns argsOf(const PostArgs &a) {
  return {static_cast<const uint4 *>(a.f),
          static_cast<const uint4 *>(a.x),
          a.bias,
          static_cast<const float4 *>(a.h_post),
          static_cast<const float4 *>(a.h_res),
          static_cast<uint4 *>(a.out),
          static_cast<uint32_t>(a.M),
          static_cast<uint32_t>(columnsOf(a.C, a.x_type)),
          StreamSteps(a.n, columnsOf(a.C, a.x_type), a.equal_x),
          Dropout(a.seed, a.rate, a.stream)};
}

cudaError_t mhcrt::postN4(const PostArgs &a, cudaStream_t stream) {
  const PostColumns args = argsOf(a);
  return withElement(a.x_type, [&](auto type) {
    using T = decltype(type);
    const auto start = a.orient == MHCRT_ORIENT_OI ? (a.seed ? launch<4, T, true, true> : launch<4, T, true, false>)
                                                   : (a.seed ? launch<4, T, false, true> : launch<4, T, false, false>);
    return start(args, a.bias_type, columnBlocks(a.M, args.columns), stream);
  });
}

cudaError_t mhcrt::postN2N8(const PostArgs &a, cudaStream_t stream) {
  const PostColumns args = argsOf(a);
  return withOtherStreams(a.n, [&](auto n) {
    return withElement(a.x_type, [&](auto type) {
      using T = decltype(type);
      const auto start = a.orient == MHCRT_ORIENT_OI ? launch<n(), T, true, false> : launch<n(), T, false, false>;
      return start(args, a.bias_type, columnBlocks(a.M, args.columns), stream);
    });
  });
}
