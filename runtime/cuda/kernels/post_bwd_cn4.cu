//===- post_bwd_cn4.cu - Gradients of post, interleaved streams -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_f[m,c]    = sum_o h_post[m,o] * drop(d_out[m,c,o])          d_bias[c] = sum_m d_f[m,c]
//   d_h_post[o] = sum_c drop(d_out[m,c,o]) * (f[m,c] + bias[c])   drop is that of mhc.post
//   d_x[m,c,i]  = d_x_in[m,c,i] + sum_o A[m,o,i] * d_out[m,c,o]
//   dA[m,o,i]   = sum_c d_out[m,c,o] * x[m,c,i]                   A = h_res (oi) or its transpose (io)
//
// Plan    That of aggregate_bwd_cn4.cu; the 20 sums stay in registers until the token's end. With d_bias a block has a
//         run of tokens, whose d_f it adds up in shared memory; a second kernel adds what the runs have.
// Bytes   per token 10C elements (14C with d_x) and 160; 4C of its type more for d_x_in, 8C per run for d_bias.
// Needs   n = 4, layout Cn, 16-bit types an even C; d_f, C of at most 12288 with d_bias.
// Round   f32 sums, in an order that C decides; one rounding at the store.
// Result  H200, M = 8192, C = 4096, with d_x: bf16 239, f32 462 us, 96 and 100 % of copy; 95 registers. H100,
//         bf16: 329 (95), and d_bias 364 (86), and d_x_in 419 (96), f32 628 (93); 124 registers.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Mix.cuh"
#include "cuda/host/Context.h"
#include "cuda/kernels/PostBwd.cuh"
#include "cuda/tile/Cells.cuh"
#include "cuda/tile/InOrder.cuh"
#include "cuda/tile/Team.cuh"
#include "src/CompensatedSum.h"

using namespace mhcrt;

namespace {

constexpr int kAtOnce = 2;
constexpr int64_t kRuns = 512; ///< of sums over tokens, at most

struct PostBwdCn4 {
  const uint32_t *f;
  const uint4 *dOut, *x;
  const void *bias; ///< null when there is none
  const float4 *hPost, *hRes;
  uint32_t *df;
  uint4 *dx; ///< these may be null
  float *dhPost, *dhRes;
  const uint4 *dxIn;           ///< null when there is none
  float *partials;             ///< of d_bias, a row of C for each run; null when it is not wanted
  uint32_t dxInWidth, dxWidth; ///< times the size of x's elements
  uint32_t M, run;             ///< tokens, of all and of a block
  uint32_t cells;
  bool wideBias;
  Dropout dropout;
};

template <bool kGrows>
struct Inputs {
  uint4 dOut, x;
  uint32_t f;
  uint4 start[kGrows ? 2 : 1];

  __device__ __forceinline__ void load(const PostBwdCn4 &args, uint64_t at) {
    dOut = loadOnce(args.dOut + at);
    x = loadOnce(args.x + at);
    f = loadWordOnce(args.f + at);
    if constexpr (kGrows) {
      if (args.dxIn)
        start[0] = loadOnce(args.dxIn + at * args.dxInWidth);
      if (args.dxIn && args.dxInWidth == 2)
        start[1] = loadOnce(args.dxIn + at * 2 + 1);
    }
  }
};

/// The sums over tokens of a run's d_f, in shared memory: a thread has the cells that are its own in each token.
template <typename T>
struct BiasSums {
  float *sums; ///< of the block
  float *row;  ///< of the partial sums
  int tokens = 0;
  bool isFirst = true; ///< whether the row has nothing yet

  __device__ __forceinline__ void add(uint32_t index, const float (&df)[kCellChannels<T>]) {
#pragma unroll
    for (int e = 0; e < kCellChannels<T>; ++e) {
      float &sum = sums[index * kCellChannels<T> + e];
      sum = tokens ? sum + df[e] : df[e];
    }
  }
  /// At the end of a token.
  __device__ __forceinline__ void endToken(uint32_t cells, bool endsRun) {
    if (++tokens < kBiasTokens && !endsRun)
      return;
    for (uint32_t index = threadIdx.x; index < cells; index += blockDim.x)
#pragma unroll
      for (int e = 0; e < kCellChannels<T>; ++e) {
        const uint32_t c = index * kCellChannels<T> + e;
        row[c] = isFirst ? sums[c] : row[c] + sums[c];
      }
    tokens = 0;
    isFirst = false;
  }
};

constexpr int kTeamSums = 32; ///< those of kPostBwdSums, and zeros

/// Four streams of a channel in 16 bytes of f32.
template <typename T>
__device__ __forceinline__ void addWide(const uint4 (&start)[2], float (&dx)[4][kCellChannels<T>]) {
#pragma unroll
  for (int e = 0; e < kCellChannels<T>; ++e) {
    float channel[4];
    widen(start[e], channel, float());
#pragma unroll
    for (int i = 0; i < 4; ++i)
      dx[i][e] += channel[i];
  }
}
template <typename T>
__device__ __forceinline__ void storeWide(uint4 *to, const float (&dx)[4][kCellChannels<T>]) {
#pragma unroll
  for (int e = 0; e < kCellChannels<T>; ++e) {
    const float channel[4] = {dx[0][e], dx[1][e], dx[2][e], dx[3][e]};
    storeOnce(to + e, narrow(channel, float()));
  }
}

/// Adds the start of a cell's d_x, and stores it.
template <typename T>
__device__ __forceinline__ void storeGrown(const PostBwdCn4 &args, uint64_t at, const uint4 (&start)[2],
                                           float (&dx)[4][kCellChannels<T>]) {
  if (args.dxIn && args.dxInWidth * sizeof(T) == 4) {
    addWide<T>(start, dx);
  } else if (args.dxIn) {
    float cell[4][kCellChannels<T>];
    widenCell<T>(start[0], cell);
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int e = 0; e < kCellChannels<T>; ++e)
        dx[i][e] += cell[i][e];
  }
  if (args.dxWidth * sizeof(T) == 4)
    storeWide<T>(args.dx + at * args.dxWidth, dx);
  else
    storeOnce(args.dx + at, narrowCell<T>(dx));
}

/// sums: dA[o][i] at 4*o + i, d_h_post behind.
template <typename T, bool kOutputFirst, bool kDrops, bool kGrows>
__device__ __forceinline__ void work(const PostBwdCn4 &args, const PostCoefficients &h, const Dropper<kDrops> &dropper,
                                     uint64_t token, uint32_t index, const Inputs<kGrows> &in, BiasSums<T> &bias,
                                     float (&sums)[kTeamSums]) {
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
  if constexpr (kGrows) {
    if (args.partials)
      bias.add(index, df);
    if (args.dx)
      storeGrown<T>(args, token + index, in.start, dx);
  } else if (args.dx) {
    storeOnce(args.dx + token + index, narrowCell<T>(dx));
  }
}

/// A token of the block; `parity` alternates.
template <typename T, bool kOutputFirst, bool kDrops, bool kGrows>
__device__ __forceinline__ void workToken(const PostBwdCn4 &args, const Dropper<kDrops> &dropper, uint32_t number,
                                          BiasSums<T> &bias, int parity) {
  const uint64_t token = uint64_t(number) * args.cells;
  const PostCoefficients h(args.hPost, args.hRes, number);
  float sums[kTeamSums] = {};
#pragma unroll 1
  for (uint32_t first = threadIdx.x; first < args.cells; first += kAtOnce * blockDim.x) {
    Inputs<kGrows> in[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      if (const uint32_t index = first + k * blockDim.x; index < args.cells)
        in[k].load(args, token + index);
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      if (const uint32_t index = first + k * blockDim.x; index < args.cells)
        work<T, kOutputFirst>(args, h, dropper, token, index, in[k], bias, sums);
  }
  const float total = teamSum<kPostBwdSums>(sums, parity);
  const int k = threadIdx.x;
  if (k < 16 && args.dhRes)
    args.dhRes[uint64_t(number) * 16 + (kOutputFirst ? k : k % 4 * 4 + k / 4)] = total;
  if (k >= 16 && k < kPostBwdSums && args.dhPost)
    args.dhPost[uint64_t(number) * 4 + k - 16] = total;
}

template <typename T, bool kOutputFirst, bool kDrops, bool kGrows>
__global__ void __launch_bounds__(32 * kMostTeamWarps, 2) postBwdCn4Kernel(PostBwdCn4 args) {
  extern __shared__ float biasSums[];
  beginOverlapped();
  const Dropper<kDrops> dropper(args.dropout);
  BiasSums<T> bias = {biasSums, args.partials + uint64_t(blockIdx.x) * args.cells * kCellChannels<T>};
  if constexpr (!kGrows) {
    workToken<T, kOutputFirst, kDrops, false>(args, dropper, blockIdx.x, bias, 0);
  } else {
    const uint32_t first = blockIdx.x * args.run, last = min(args.M, first + args.run);
#pragma unroll 1
    for (uint32_t number = first; number < last; ++number) {
      workToken<T, kOutputFirst, kDrops, true>(args, dropper, number, bias, number & 1);
      if (args.partials)
        bias.endToken(args.cells, number + 1 == last);
    }
  }
}

//===- Partial sums of both layouts ------------------------------------------------===//

constexpr int kSumColumns = 32; ///< of a block
constexpr int kSumGroups = 16;

__global__ void __launch_bounds__(kSumColumns *kSumGroups)
    addBiasRowsKernel(const float *partials, int64_t rows, int64_t C, const float *start, float *out) {
  __shared__ CompensatedSum groups[kSumGroups][kSumColumns];
  beginOverlapped();
  const int lane = threadIdx.x % kSumColumns, group = threadIdx.x / kSumColumns;
  const int64_t c = int64_t(blockIdx.x) * kSumColumns + lane;
  CompensatedSum sum;
  if (c < C)
    inOrder<4, int64_t>(
        group, rows, kSumGroups, [&](int64_t row) { return partials[row * C + c]; }, [&](float v) { sum.add(v); });
  groups[group][lane] = sum;
  __syncthreads();
  if (group || c >= C)
    return;
  for (int other = 1; other < kSumGroups; ++other) {
    sum.add(groups[other][lane].sum);
    sum.add(groups[other][lane].rest);
  }
  sum.add(start ? start[c] : 0.0f);
  out[c] = sum.value();
}

} // namespace

cudaError_t mhcrt::addBiasRows(const PostBwdArgs &a, const float *partials, int64_t rows, cudaStream_t stream) {
  return launchOverlapping(addBiasRowsKernel, static_cast<unsigned>((a.C + kSumColumns - 1) / kSumColumns),
                           kSumColumns * kSumGroups, 1, 0, stream, partials, rows, a.C,
                           static_cast<const float *>(a.d_bias_in), static_cast<float *>(a.d_bias));
}

bool mhcrt::postBwdCn4Takes(const PostBwdArgs &a, Needs &needs) {
  // Channels, whose sums stand beside those of a team in the 48 KiB that a block has without asking.
  constexpr int64_t kMostSummed = (48 * 1024 - sizeof(float) * 2 * kMostTeamWarps * kTeamSums) / sizeof(float);
  return cellsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.given("d_f", a.d_f) &&
         needs.that(!a.equal_x && !a.equal_d_out, "streams that are not one row") &&
         (!postBwdGrows(a) || needs.absent("seed", a.seed)) && (!a.d_bias || needs.atMost("C", a.C, kMostSummed)) &&
         needs.aligned({a.d_out, a.f, a.x, a.h_post, a.h_res, a.d_f, a.d_x, a.d_x_in});
}

cudaError_t mhcrt::postBwdCn4(mhcrt_context &context, const PostBwdArgs &a) {
  const int64_t bytes = mhcrt_dtype_bytes(a.x_type), run = a.d_bias ? divideUp(a.M, kRuns) : 1;
  const int64_t blocks = divideUp(a.M, run);
  const auto widthOf = [&](int32_t type) { return static_cast<uint32_t>(mhcrt_dtype_bytes(type) / bytes); };
  PostBwdCn4 args = {static_cast<const uint32_t *>(a.f),
                     static_cast<const uint4 *>(a.d_out),
                     static_cast<const uint4 *>(a.x),
                     a.bias,
                     static_cast<const float4 *>(a.h_post),
                     static_cast<const float4 *>(a.h_res),
                     static_cast<uint32_t *>(a.d_f),
                     static_cast<uint4 *>(a.d_x),
                     static_cast<float *>(a.d_h_post),
                     static_cast<float *>(a.d_h_res),
                     a.d_x ? static_cast<const uint4 *>(a.d_x_in) : nullptr,
                     nullptr,
                     a.d_x_in ? widthOf(a.d_x_in_type) : 1,
                     a.d_x ? widthOf(a.d_x_type) : 1,
                     static_cast<uint32_t>(a.M),
                     static_cast<uint32_t>(run),
                     static_cast<uint32_t>(cellsOf(a.C, a.x_type)),
                     a.bias_type == MHCRT_F32,
                     Dropout(a.seed, a.rate, a.stream)};
  if (a.d_bias) {
    args.partials = static_cast<float *>(context.reserveScratch("mhcrt_post_bwd", 4 * blocks * a.C));
    if (!args.partials)
      return cudaSuccess;
  }
  const cudaError_t error = withElement(a.x_type, [&](auto type) {
    using T = decltype(type);
    const bool oi = a.orient == MHCRT_ORIENT_OI;
    const auto kernel =
        postBwdGrows(a) ? (oi ? postBwdCn4Kernel<T, true, false, true> : postBwdCn4Kernel<T, false, false, true>)
        : a.seed        ? (oi ? postBwdCn4Kernel<T, true, true, false> : postBwdCn4Kernel<T, false, true, false>)
                        : (oi ? postBwdCn4Kernel<T, true, false, false> : postBwdCn4Kernel<T, false, false, false>);
    return launchOverlapping(kernel, static_cast<unsigned>(blocks), 32 * teamWarps(args.cells), 1,
                             a.d_bias ? 4 * a.C : 0, context.stream, args);
  });
  return error == cudaSuccess && a.d_bias ? addBiasRows(a, args.partials, blocks, context.stream) : error;
}
