//===- stream_tiles.cu - d_x and dW of a projection on matrix tiles -------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_x[m,k] = start + factor[m] * x[m,k] + h_pre[m,i] * d_u[m,c] + sum_j d_proj[m,j] * W[j,k]
//   dW[j,k]  = sum_m d_proj[m,j] * x[m,k]                                                       W = phi * norm_weight
//   start    = d_x_in[m,k], or sum_o A[m,o,i] * d_out[m,o,c], or 0
//
// Plan    A warp owns 32 elements of K, a lane four of them in two of every eight tokens: its registers are fragments
//         of both products, and of d_x as it is stored. W stays in registers. The warps of a block own the same
//         channels of four streams, or of both halves of two, so that d_u and d_out are read once; all that kStage
//         tokens need is copied to shared memory a stage ahead. dW is added in shared memory every kFlush stages, so
//         that the tiles' sums, which they do not round to nearest, stay short; runs of tokens end before the sums of
//         flushes get long.
// Bytes   per token 2K elements, and K/4 for d_u, K for d_out or d_x_in.
// Needs   N at most 24, rows of x of whole 16 bytes; with d_u or d_out n = 4, or 2 in layout nC, and whole 16
//         bytes of channels, of half of them where n = 2.
// Round   two tf32 terms per f32 value, three of four products; f32 sums, one rounding of d_x at the store.
// Result  H200, N = 24, M = 8192, C = 4096, with all launches of projection_bwd: f32 519 us, 50 % of copy; f16 432 us,
//         30 %. 168 registers.
//
//===------------------------------------------------------------------------===//
#include "cuda/ptx/Mma.cuh"
#include "cuda/stream/StreamStages.cuh"
#include "cuda/stream/StreamTiles.h"

using namespace mhcrt;
using namespace mhcrt::tiles;

namespace {

/// W's terms: tile p of 16 rows has elements 2*p and 2*p + 1 of each lane group, step c columns 8*c .. 8*c + 7.
struct Weights {
  uint4 high[2][3], low[2][3];

  __device__ Weights(const PhiElements<AnyInput> &phi, const Site &site, int q) {
#pragma unroll
    for (int p = 0; p < 2; ++p)
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        Tf32Pair terms[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          const int64_t j = 8 * c + q + r / 2 * 4, k = site.k + 2 * p + r % 2;
          terms[r] = splitTf32(site.live && j < phi.N ? phi.at(j, k) * phi.scale(k) : 0.0f);
        }
        high[p][c] = make_uint4(terms[0].high, terms[1].high, terms[2].high, terms[3].high);
        low[p][c] = make_uint4(terms[0].low, terms[1].low, terms[2].low, terms[3].low);
      }
  }
};

/// dW of the lane's elements: columns g and g + 8, and column g + 16 in both terms.
struct WeightSums {
  float wide[4][4] = {}, mixed[4][4] = {};

  /// `d`: this lane's fragments of d_proj.
  template <bool kExact>
  __device__ __forceinline__ void add(const uint4 *d, const float (&x)[2][4], bool hasMixed) {
    const uint4 high = d[0], low = d[32], both = d[64];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const Tf32Pair b0 = kExact ? Tf32Pair{__float_as_uint(x[0][e]), 0} : splitTf32(x[0][e]);
      const Tf32Pair b1 = kExact ? Tf32Pair{__float_as_uint(x[1][e]), 0} : splitTf32(x[1][e]);
      multiplyTf32(wide[e], high, b0.high, b1.high);
      multiplyTf32(wide[e], low, b0.high, b1.high);
      if constexpr (!kExact)
        multiplyTf32(wide[e], high, b0.low, b1.low);
      if (!hasMixed)
        continue;
      multiplyTf32(mixed[e], both, b0.high, b1.high);
      if constexpr (!kExact)
        multiplyTf32(mixed[e], both, b0.low, b1.low);
    }
  }

  /// Adds to what the lane has in shared memory, and starts anew.
  __device__ __forceinline__ void flush(float4 *to) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      flushFour(to[e * kThreads], wide[e]);
      flushFour(to[(4 + e) * kThreads], mixed[e]);
    }
  }

private:
  static __device__ __forceinline__ void flushFour(float4 &to, float (&sums)[4]) {
    float4 v = to;
    v.x += sums[0], v.y += sums[1], v.z += sums[2], v.w += sums[3];
    to = v;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      sums[k] = 0;
  }
};

/// sum_j d_proj[m,j] * W[j,k] for the lane's two tokens. Two sums, so that no product waits for many.
__device__ __forceinline__ void multiplyWeights(const Weights &w, const uint4 *d, int64_t N, float (&to)[2][4]) {
  float sums[2][2][4] = {};
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    if (8 * c >= N)
      break;
    const uint4 b = d[(3 + c) * 32];
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      multiplyTf32(sums[0][p], w.high[p][c], b.x, b.y);
      multiplyTf32(sums[1][p], w.low[p][c], b.x, b.y);
      multiplyTf32(sums[1][p], w.high[p][c], b.z, b.w);
    }
  }
#pragma unroll
  for (int t = 0; t < 2; ++t)
#pragma unroll
    for (int e = 0; e < 4; ++e)
      to[t][e] = sums[0][e / 2][e % 2 * 2 + t] + sums[1][e / 2][e % 2 * 2 + t];
}

/// Adds what d_x gets from d_out through the mix of post.
template <typename T, int n>
__device__ __forceinline__ void addMixed(const Tiles &args, const Stage<T, n> &stage, const Site &site, int t,
                                         float (&dx)[4]) {
  const float *mix = stage.scalars[t];
  float d[4];
  if (args.channelsFirst) {
    const int stepO = args.outputFirst ? 4 : 1, stepI = args.outputFirst ? 1 : 4;
    loadFour(&stage.start[t][site.warp * kRow + 4 * site.g], d);
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int o = 0; o < 4; ++o)
        dx[i] = fmaf(mix[o * stepO + i * stepI], d[o], dx[i]);
    return;
  }
  constexpr int kParts = kWarps / n;
  const int i = site.warp / kParts, part = site.warp % kParts;
#pragma unroll
  for (int o = 0; o < n; ++o) {
    loadFour(&stage.start[t][(o * kParts + part) * kRow + 4 * site.g], d);
    const float weight = mix[args.outputFirst ? o * n + i : i * n + o];
#pragma unroll
    for (int e = 0; e < 4; ++e)
      dx[e] = fmaf(weight, d[e], dx[e]);
  }
}

/// Adds h_pre * d_u.
template <typename T, int n>
__device__ __forceinline__ void addBranch(const Tiles &args, const Stage<T, n> &stage, const Site &site, int t,
                                          float (&dx)[4]) {
  constexpr int kParts = kWarps / n;
  const float *h = stage.scalars[t] + kHPreAt;
  float v[4];
  if (!args.channelsFirst)
    loadFour(&stage.du[t][site.warp % kParts * kRow + 4 * site.g], v);
  const float one = args.channelsFirst ? toFloat(stage.du[t][site.warp * (kRow / 4) + site.g]) : 0.0f;
#pragma unroll
  for (int e = 0; e < 4; ++e)
    dx[e] = args.channelsFirst ? fmaf(h[e], one, dx[e]) : fmaf(h[site.warp / kParts], v[e], dx[e]);
}

/// The lane's d_x of token m, which is token t of the stage. `dx` comes in as the product's share.
template <typename T, int n>
__device__ __forceinline__ void storeDx(const Tiles &args, const Stage<T, n> &stage, const Site &site, int t, int64_t m,
                                        const float (&x)[4], float (&dx)[4]) {
  if (args.mixed) {
    addMixed(args, stage, site, t, dx);
  } else if (args.start) {
    float v[4];
    loadFour(&stage.start[t][site.warp * kRow + 4 * site.g], v);
#pragma unroll
    for (int e = 0; e < 4; ++e)
      dx[e] += v[e];
  }
  if (args.du)
    addBranch(args, stage, site, t, dx);
  if (args.factor) {
    const float factor = stage.scalars[t][kFactorAt];
#pragma unroll
    for (int e = 0; e < 4; ++e)
      dx[e] = fmaf(factor, x[e], dx[e]);
  }
  storeFour(static_cast<T *>(args.dx) + m * args.phi.K + site.k, dx);
}

/// dW of the lane from shared memory to its run's partial sums.
template <int n>
__device__ __forceinline__ void storePartials(const Tiles &args, const Slice<n> &slice, int64_t run, int warp, int g,
                                              int q, const float4 *sums) {
  float4 wide[4], mixed[4];
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    wide[e] = sums[e * kThreads];
    mixed[e] = sums[(4 + e) * kThreads];
  }
  const auto store = [&](int64_t j, int at, float4 v) {
    if (j < args.phi.N && at < slice.length(warp))
      *reinterpret_cast<float4 *>(args.partials + (run * args.phi.N + j) * args.phi.K + slice.start(warp) + at) = v;
  };
  const int at = 8 * q;
  store(g, at, make_float4(wide[0].x, wide[1].x, wide[2].x, wide[3].x));
  store(g, at + 4, make_float4(wide[0].y, wide[1].y, wide[2].y, wide[3].y));
  store(g + 8, at, make_float4(wide[0].z, wide[1].z, wide[2].z, wide[3].z));
  store(g + 8, at + 4, make_float4(wide[0].w, wide[1].w, wide[2].w, wide[3].w));
  store(
      g + 16, at,
      make_float4(mixed[0].x + mixed[0].z, mixed[1].x + mixed[1].z, mixed[2].x + mixed[2].z, mixed[3].x + mixed[3].z));
  store(
      g + 16, at + 4,
      make_float4(mixed[0].y + mixed[0].w, mixed[1].y + mixed[1].w, mixed[2].y + mixed[2].w, mixed[3].y + mixed[3].w));
}

constexpr int kPackThreads = 128;

/// The fragments of d_proj: of dW's columns g and g + 8 in either term and g + 16 in both, for tokens 2*q and 2*q + 1;
/// then of d_x's steps of eight columns. Zero behind the last token and column.
__global__ void __launch_bounds__(kPackThreads)
    streamTilesPackKernel(const float *dProj, int64_t M, int64_t N, int64_t tiles, uint4 *to) {
  beginOverlapped();
  const int64_t item = int64_t(blockIdx.x) * kPackThreads + threadIdx.x, tile = item / 32;
  const int lane = item % 32, g = lane / 4, q = lane % 4;
  if (tile >= tiles)
    return;
  const auto terms = [&](int t, int j) {
    const int64_t m = tile * kTokens + t;
    return splitTf32(m < M && j < N ? dProj[m * N + j] : 0.0f);
  };
  uint4 *fragment = to + tile * kFragments * 32 + lane;
  const Tf32Pair a0 = terms(2 * q, g), a1 = terms(2 * q, g + 8), a2 = terms(2 * q + 1, g), a3 = terms(2 * q + 1, g + 8);
  fragment[0] = make_uint4(a0.high, a1.high, a2.high, a3.high);
  fragment[32] = make_uint4(a0.low, a1.low, a2.low, a3.low);
  const Tf32Pair m0 = terms(2 * q, g + 16), m1 = terms(2 * q + 1, g + 16);
  fragment[64] = make_uint4(m0.high, m0.low, m1.high, m1.low);
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    const Tf32Pair b0 = terms(g, 8 * c + q), b1 = terms(g, 8 * c + q + 4);
    fragment[(3 + c) * 32] = make_uint4(b0.high, b1.high, b0.low, b1.low);
  }
}

template <typename T, int n>
struct Memory {
  Stage<T, n> stages[2];
  float4 products[8 * kThreads];
};

/// Blocks of a multiprocessor: d_u of f32 and two streams takes a few registers more than three leave.
template <typename T, int n>
constexpr int kResidentOf = sizeof(T) == 4 && n == 2 ? kResident - 1 : kResident;

template <typename T, int n>
__global__ void __launch_bounds__(kThreads, kResidentOf<T, n>) streamTilesKernel(const __grid_constant__ Tiles args) {
  extern __shared__ uint4 raw[];
  auto &memory = *reinterpret_cast<Memory<T, n> *>(raw);
  beginOverlapped();
  const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4, warp = threadIdx.x / 32;
  const int64_t run = blockIdx.x / args.slices, begin = run * args.length, end = min(args.M, begin + args.length);
  const Slice<n> slice(args);
  const Site site(slice, warp, g);
  memory.stages[0].copy(args, slice, begin, end);
  const Weights weights(args.phi, site, q);
#pragma unroll
  for (int k = 0; k < 8; ++k)
    memory.products[k * kThreads + threadIdx.x] = make_float4(0, 0, 0, 0);
  WeightSums sums;
  int turn = 0;
#pragma unroll 1
  for (int64_t first = begin; first < end; first += kStage, ++turn) {
    waitCopyGroups();
    __syncthreads(); // the stage is there, and the one before is not used any more
    const Stage<T, n> &stage = memory.stages[turn % 2];
    if (first + kStage < end)
      memory.stages[(turn + 1) % 2].copy(args, slice, first + kStage, end);
#pragma unroll 1
    for (int tile = 0; tile < kStage; tile += kTokens) {
      const uint4 *dProj = &stage.dProj[tile / kTokens][0][lane];
      float x[2][4], dx[2][4];
#pragma unroll
      for (int t = 0; t < 2; ++t)
        loadFour(&stage.x[tile + 2 * q + t][warp * kRow + 4 * g], x[t]);
      if (args.partials)
        sums.add<sizeof(T) == 2>(dProj, x, args.phi.N > 16);
      if (!args.dx)
        continue;
      multiplyWeights(weights, dProj, args.phi.N, dx);
#pragma unroll
      for (int t = 0; t < 2; ++t)
        if (const int at = tile + 2 * q + t; site.live && first + at < end)
          storeDx(args, stage, site, at, first + at, x[t], dx[t]);
    }
    if (turn % kFlush == kFlush - 1)
      sums.flush(memory.products + threadIdx.x);
  }
  sums.flush(memory.products + threadIdx.x);
  if (args.partials)
    storePartials(args, slice, run, warp, g, q, memory.products + threadIdx.x);
}

bool byStreams(const ProjectionBwdArgs &a, const generic::StreamShares &shares) {
  return a.layout == MHCRT_LAYOUT_NC && (shares.du || shares.dOut);
}

/// By streams, too: there a block has a part of four quarters of K.
int slicesOf(const ProjectionBwdArgs &a) { return static_cast<int>(divideUp(a.K, kWarps * kRow)); }

} // namespace

static bool sharesFit(const ProjectionBwdArgs &a, int64_t vector, Needs &needs) {
  if (a.n == 2 && a.layout == MHCRT_LAYOUT_NC)
    return needs.multiple("C", a.C, 2 * vector);
  return needs.equal("n", a.n, 4) && needs.multiple("C", a.C, vector);
}

bool mhcrt::streamTilesTake(const ProjectionBwdArgs &a, const generic::StreamShares &shares, Needs &needs) {
  const int64_t vector = 16 / mhcrt_dtype_bytes(a.x_type);
  const bool hasShares = shares.du || shares.dOut;
  return needs.atMost("N", a.N, kColumns) && needs.multiple("K", a.K, vector) &&
         needs.atMost("K", a.K, (1 << 24) - 1) && (!hasShares || sharesFit(a, vector, needs)) &&
         needs.that(a.M > 0, "tokens") && needs.atMost("M", a.M, (int64_t(1) << 30) - 1) &&
         (!a.d_x || needs.type("d_x", a.d_x_type, a.x_type)) &&
         (!a.d_x_in || needs.type("d_x_in", a.d_x_in_type, a.x_type)) &&
         needs.that(a.d_x || a.d_phi || a.d_norm_weight, "a gradient") &&
         (!shares.dOut || needs.absent("d_x_in", a.d_x_in)) &&
         needs.aligned({a.x, a.d_x_in, a.d_x, shares.du, shares.dOut, shares.hRes});
}

/// As many runs as fill an H200's 132 multiprocessors best, by a whole number of rounds; none so long that the flushes
/// it adds become a sum of many terms. A run costs the memory of its sums: those of eight streams
/// (stream_eight_sm90.cu) are many, and a block of them fills a multiprocessor and flushes each 16 tokens.
generic::TokenRuns mhcrt::streamTilesRuns(const ProjectionBwdArgs &a) {
  const bool isEight = a.n == 8 && a.x_type == MHCRT_BF16 && a.C % 32 == 0;
  constexpr int64_t kChoices = 12, kRunTokens = kStage * kFlush;
  const int64_t places = 132 * (isEight ? 1 : kResident), mostTokens = isEight ? 4096 : 256 * kRunTokens;
  const int64_t slices = isEight ? a.C / 32 : slicesOf(a), chunks = divideUp(a.M, kRunTokens),
                least = divideUp(a.M, mostTokens);
  int64_t best = least;
  double most = 0;
  for (int64_t runs = least; runs < std::min(least + kChoices, chunks + 1); ++runs) {
    const double used = static_cast<double>(slices * runs) / (divideUp(slices * runs, places) * places);
    if (used > most * (isEight ? 1.1 : 1.02))
      best = runs, most = used;
  }
  return generic::TokenRuns(a.M, divideUp(chunks, best) * kRunTokens, chunks);
}

int64_t mhcrt::streamTilesBytes(const ProjectionBwdArgs &a) {
  return saturatingMul(divideUp(a.M, kTokens), kFragments * 32 * sizeof(uint4));
}

/// Without shares of other terms the number of streams does not matter.
template <typename T, int n>
static cudaError_t launch(const Tiles &args, unsigned blocks, cudaStream_t stream) {
  constexpr auto *kKernel = streamTilesKernel<T, n>;
  const cudaError_t error = allowShared<kKernel>(sizeof(Memory<T, n>));
  return error ? error : launchOverlapping(kKernel, blocks, kThreads, 1, sizeof(Memory<T, n>), stream, args);
}

cudaError_t mhcrt::streamTiles(const ProjectionBwdArgs &a, const generic::StreamShares &shares, const float *factor,
                               float *partials, void *scratch, cudaStream_t stream) {
  const int64_t tiles = divideUp(a.M, kTokens);
  auto *fragments = static_cast<uint4 *>(scratch);
  if (const cudaError_t error = launchOverlapping(
          streamTilesPackKernel, static_cast<unsigned>(divideUp(tiles * 32, kPackThreads)), kPackThreads, 1, 0, stream,
          static_cast<const float *>(a.d_proj), a.M, a.N, tiles, fragments))
    return error;
  const generic::TokenRuns runs = streamTilesRuns(a);
  const Tiles args = {a.x,
                      shares.dOut ? shares.dOut : a.d_x_in,
                      shares.du,
                      fragments,
                      factor,
                      shares.hPre,
                      shares.hRes,
                      phiElementsOf(a, a.N),
                      a.d_x,
                      partials,
                      a.M,
                      a.C,
                      runs.length,
                      slicesOf(a),
                      byStreams(a, shares),
                      shares.dOut != nullptr,
                      a.layout == MHCRT_LAYOUT_CN,
                      shares.orient == MHCRT_ORIENT_OI};
  const auto blocks = static_cast<unsigned>(args.slices * runs.count);
  return withElement(a.x_type, [&](auto type) {
    using T = decltype(type);
    return byStreams(a, shares) && a.n == 2 ? launch<T, 2>(args, blocks, stream) : launch<T, 4>(args, blocks, stream);
  });
}
