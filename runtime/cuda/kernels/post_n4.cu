//===- post_n4.cu - Write a layer output back to the streams --------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   out[m,o,c] = drop(h_post[m,o] * (f[m,c] + bias[c])) + sum_i A[m,o,i] * x[m,i,c]
//   A = h_res (oi) or its transpose (io); drop is the dropout of mhc.dropout on [M,n,C], or nothing
//   contracted: out[m,c] is the sum or the mean over o of those
//
// Plan    One column of 16 bytes a thread: n + 1 loads in flight, n stores. The n + n*n coefficients of the token are
//         the same for a warp and come from the first-level cache. out may be x.
// Bytes   per token (2n + 1)C elements and 4(n + n*n); (n + 2)C where the streams of x are equal or contracted.
// Needs   n = 4, or 2 or 8 without dropout; layout nC, C a multiple of 16 bytes.
// Round   f32: f + bias, times h_post, then the products in the order of i; one rounding at the store. Contracted:
//         rounded as they would be stored, added up in the order of o, times 1/n for the mean, rounded.
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
  float scale; ///< of contracted streams
};

/// Adds a stream as its reader would see it.
template <typename T, int kLanes>
__device__ __forceinline__ void addRounded(int o, const float (&stream)[kLanes], float (&total)[kLanes]) {
  float rounded[kLanes];
  widen(narrow(stream, T()), rounded, T());
#pragma unroll
  for (int e = 0; e < kLanes; ++e)
    total[e] = o == 0 ? rounded[e] : total[e] + rounded[e];
}

template <int n, typename T, bool kOutputFirst, Bias kBias, bool kDrops, bool kContracts>
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
  float total[kLanes];
#pragma unroll
  for (int o = 0; o < n; ++o) {
    float sum[kLanes];
    const int64_t at = column.at<n>(o, args.columns);
    h.template write<kOutputFirst>(o, f, v, dropper.template lanes<kLanes>(at), sum);
    if constexpr (kContracts)
      addRounded<T>(o, sum, total);
    else
      storeOnce(args.out + at, narrow(sum, T()));
  }
  if constexpr (kContracts) {
#pragma unroll
    for (int e = 0; e < kLanes; ++e)
      total[e] *= args.scale;
    storeOnce(args.out + column.flat(args.columns), narrow(total, T()));
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

template <int n, typename T, bool kOutputFirst, bool kDrops, bool kContracts>
static cudaError_t launchWith(const PostColumns &args, int32_t biasType, unsigned blocks, cudaStream_t stream) {
  const auto kernel = !args.bias              ? postColumnsKernel<n, T, kOutputFirst, Bias::none, kDrops, kContracts>
                      : biasType == MHCRT_F32 ? postColumnsKernel<n, T, kOutputFirst, Bias::wide, kDrops, kContracts>
                                              : postColumnsKernel<n, T, kOutputFirst, Bias::same, kDrops, kContracts>;
  return launchOverlapping(kernel, blocks, kColumnThreads, 1, 0, stream, args);
}

template <int n, typename T, bool kOutputFirst, bool kDrops>
static cudaError_t launch(const PostColumns &args, const PostArgs &a, cudaStream_t stream) {
  const auto start =
      a.contracted ? launchWith<n, T, kOutputFirst, kDrops, true> : launchWith<n, T, kOutputFirst, kDrops, false>;
  return start(args, a.bias_type, columnBlocks(a.M, args.columns), stream);
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
          Dropout(a.seed, a.rate, a.stream),
          a.contracted == MHCRT_CONTRACTED_MEAN ? 1.0f / a.n : 1.0f};
}

cudaError_t mhcrt::postN4(const PostArgs &a, cudaStream_t stream) {
  const PostColumns args = argsOf(a);
  return withElement(a.x_type, [&](auto type) {
    using T = decltype(type);
    const auto start = a.orient == MHCRT_ORIENT_OI ? (a.seed ? launch<4, T, true, true> : launch<4, T, true, false>)
                                                   : (a.seed ? launch<4, T, false, true> : launch<4, T, false, false>);
    return start(args, a, stream);
  });
}

cudaError_t mhcrt::postN2N8(const PostArgs &a, cudaStream_t stream) {
  const PostColumns args = argsOf(a);
  return withOtherStreams(a.n, [&](auto n) {
    return withElement(a.x_type, [&](auto type) {
      using T = decltype(type);
      const auto start = a.orient == MHCRT_ORIENT_OI ? launch<n(), T, true, false> : launch<n(), T, false, false>;
      return start(args, a, stream);
    });
  });
}
