//===- post_bwd_cn4.cu - Gradients of post, interleaved streams -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_f[m,c]    = sum_o h_post[m,o] * drop(d_out[m,c,o])
//   d_h_post[o] = sum_c drop(d_out[m,c,o]) * (f[m,c] + bias[c])   drop is that of mhc.post
//   d_x[m,c,i]  = sum_o A[m,o,i] * d_out[m,c,o]
//   dA[m,o,i]   = sum_c d_out[m,c,o] * x[m,c,i]                   A = h_res (oi) or its transpose (io)
//
// Plan    That of aggregate_bwd_cn4.cu; the 20 sums stay in registers until the token's end.
// Bytes   per token 10C elements (14C with d_x) and 160.
// Needs   n = 4, layout Cn, 16-bit types an even C; neither d_x_in nor d_bias, d_x of x's type.
// Round   f32 sums, in an order that C decides; one rounding at the store.
// Result  H200, M = 8192, C = 4096, with d_x: bf16 239, f32 462 us, 96 and 100 % of copy; 95 registers.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Mix.cuh"
#include "cuda/kernels/Elementwise.h"
#include "cuda/tile/Cells.cuh"
#include "cuda/tile/Team.cuh"

using namespace mhcrt;

namespace {

constexpr int kAtOnce = 2;

struct PostBwdCn4 {
  const uint32_t *f;
  const uint4 *dOut, *x;
  const void *bias; ///< null when there is none
  const float4 *hPost, *hRes;
  uint32_t *df;
  uint4 *dx; ///< these may be null
  float *dhPost, *dhRes;
  uint32_t cells;
  bool wideBias;
  Dropout dropout;
};

struct Inputs {
  uint4 dOut, x;
  uint32_t f;
};

/// sums: dA[o][i] at 4*o + i, d_h_post behind.
template <typename T, bool kOutputFirst, bool kDrops>
__device__ __forceinline__ void work(const PostBwdCn4 &args, const PostCoefficients &h, const Dropper<kDrops> &dropper,
                                     uint64_t token, uint32_t index, const Inputs &in, float (&sums)[32]) {
  constexpr int kChannels = kCellChannels<T>;
  float f[kChannels], g[4][kChannels], x[4][kChannels], df[kChannels], dx[4][kChannels];
  widenWord<T>(in.f, f);
  if (args.bias)
    addCellBias<T>(args.bias, args.wideBias, index, f);
  widenCell<T>(in.dOut, g);
  const auto drop = dropper.template lanes<kLanesOf<T>>(token + index);
  widenCell<T>(in.x, x);
#pragma unroll
  for (int o = 0; o < 4; ++o)
#pragma unroll
    for (int e = 0; e < kChannels; ++e) {
      const float kept = drop(4 * e + o, g[o][e]);
      df[e] = o == 0 ? h.post[0] * kept : fmaf(h.post[o], kept, df[e]);
      sums[16 + o] = fmaf(kept, f[e], sums[16 + o]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float weight = kOutputFirst ? h.mix[o][i] : h.mix[i][o];
        sums[4 * o + i] = fmaf(g[o][e], x[i][e], sums[4 * o + i]);
        dx[i][e] = o == 0 ? weight * g[0][e] : fmaf(weight, g[o][e], dx[i][e]);
      }
    }
  storeWordOnce(args.df + token + index, narrowWord<T>(df));
  if (args.dx)
    storeOnce(args.dx + token + index, narrowCell<T>(dx));
}

template <typename T, bool kOutputFirst, bool kDrops>
__global__ void __launch_bounds__(32 * kMostTeamWarps, 2) postBwdCn4Kernel(PostBwdCn4 args) {
  beginOverlapped();
  const uint64_t token = uint64_t(blockIdx.x) * args.cells;
  const PostCoefficients h(args.hPost, args.hRes, blockIdx.x);
  const Dropper<kDrops> dropper(args.dropout);
  float sums[32] = {};
#pragma unroll 1
  for (uint32_t first = threadIdx.x; first < args.cells; first += kAtOnce * blockDim.x) {
    Inputs in[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      if (const uint32_t index = first + k * blockDim.x; index < args.cells)
        in[k] = {loadOnce(args.dOut + token + index), loadOnce(args.x + token + index),
                 loadWordOnce(args.f + token + index)};
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      if (const uint32_t index = first + k * blockDim.x; index < args.cells)
        work<T, kOutputFirst>(args, h, dropper, token, index, in[k], sums);
  }
  const float total = teamSum<20>(sums, 0);
  const int k = threadIdx.x;
  if (k < 16 && args.dhRes)
    args.dhRes[uint64_t(blockIdx.x) * 16 + (kOutputFirst ? k : k % 4 * 4 + k / 4)] = total;
  if (k >= 16 && k < 20 && args.dhPost)
    args.dhPost[uint64_t(blockIdx.x) * 4 + k - 16] = total;
}

} // namespace

bool mhcrt::postBwdCn4Takes(const PostBwdArgs &a, Needs &needs) {
  return cellsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.given("d_f", a.d_f) &&
         needs.absent("d_x_in", a.d_x_in) && needs.absent("d_bias", a.d_bias) &&
         (!a.d_x || needs.type("d_x", a.d_x_type, a.x_type)) &&
         needs.aligned({a.d_out, a.f, a.x, a.h_post, a.h_res, a.d_f, a.d_x});
}

cudaError_t mhcrt::postBwdCn4(const PostBwdArgs &a, cudaStream_t stream) {
  const PostBwdCn4 args = {static_cast<const uint32_t *>(a.f),
                           static_cast<const uint4 *>(a.d_out),
                           static_cast<const uint4 *>(a.x),
                           a.bias,
                           static_cast<const float4 *>(a.h_post),
                           static_cast<const float4 *>(a.h_res),
                           static_cast<uint32_t *>(a.d_f),
                           static_cast<uint4 *>(a.d_x),
                           static_cast<float *>(a.d_h_post),
                           static_cast<float *>(a.d_h_res),
                           static_cast<uint32_t>(cellsOf(a.C, a.x_type)),
                           a.bias_type == MHCRT_F32,
                           Dropout(a.seed, a.rate, a.stream)};
  return withElement(a.x_type, [&](auto type) {
    using T = decltype(type);
    const auto kernel = a.orient == MHCRT_ORIENT_OI
                            ? (a.seed ? postBwdCn4Kernel<T, true, true> : postBwdCn4Kernel<T, true, false>)
                            : (a.seed ? postBwdCn4Kernel<T, false, true> : postBwdCn4Kernel<T, false, false>);
    return launchOverlapping(kernel, static_cast<unsigned>(a.M), 32 * teamWarps(args.cells), 1, 0, stream, args);
  });
}
