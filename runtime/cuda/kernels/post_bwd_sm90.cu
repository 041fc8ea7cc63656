//===- post_bwd_sm90.cu - Gradients of post in one pass, by bulk copies ---===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PostBwd.cuh has the formulas.
//
// Plan    tile/Rows.cuh: the nine rows of a token, 13 with d_x_in, pass through a ring in shared memory; a team owns a
//         token, and its 20 sums stay in registers until the token's end. What a run of tokens adds to d_bias stays in
//         shared memory, each channel with one thread; a second kernel adds what the runs' teams have.
// Bytes   per token 10C elements (14C with d_x) and 160; 4C of its type more for d_x_in, 8C a team of a run for d_bias.
// Needs   sm_90, n = 4, layout nC, C a multiple of 16 bytes; d_f, no dropout; C of at most 16384 with d_bias.
// Round   f32 sums, in an order that C decides; one rounding at the store.
// Result  H200, bf16, us and percent of copy, 8192x4096, 8192x7168, 8192x2560, 65536x768: without d_x 160 (99), 273
//         (102), 99 (100), 235 (102), with d_x 231 (96), 406 (96), 146 (95), 366 (91). 128 registers, no spills, 220 kB
//         of shared memory. H100, 8192x4096, with d_x, before its teams were measured: 343 (91), and d_bias 352 (89),
//         and d_x_in 415 (97), f32 604 (96); up to 144 registers.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Context.h"
#include "cuda/kernels/PostBwd.cuh"
#include "cuda/tile/Rows.cuh"

using namespace mhcrt;

namespace {

struct PostBwdSm90 {
  RowSource sources[kSources]; ///< d_out, x, f, d_x_in
  char *df, *dx;
  float *partials; ///< of d_bias, a row of C for each team of a run; null where it is not wanted
  uint32_t dxWidth;
  RowPlan plan;
  PostBwdCommon common;
};

/// The elements of one thread.
struct Piece {
  uint4 raw[kTokenRows];

  /// Lanes behind the row's end get zeros, which count for nothing.
  __device__ __forceinline__ void load(uint32_t from, uint32_t pitch, bool inside) {
#pragma unroll
    for (int k = 0; k < kTokenRows; ++k)
      raw[k] = inside ? loadShared4(from + k * pitch) : make_uint4(0, 0, 0, 0);
  }
};

/// Numbers of `width` times the size of T.
template <typename T>
__device__ __forceinline__ void addStart(uint32_t from, uint32_t width, float (&to)[kLanesOf<T>]) {
  float start[kLanesOf<T>];
  if (width * sizeof(T) == 4) {
#pragma unroll
    for (int k = 0; k < kLanesOf<T> / 4; ++k) {
      const float4 four = loadSharedFloat4(from + 16 * k);
      start[4 * k] = four.x, start[4 * k + 1] = four.y, start[4 * k + 2] = four.z, start[4 * k + 3] = four.w;
    }
  } else {
    widen(loadShared4(from), start, T());
  }
#pragma unroll
  for (int e = 0; e < kLanesOf<T>; ++e)
    to[e] += start[e];
}

template <typename T>
__device__ __forceinline__ void storeNumbers(char *to, uint32_t width, const float (&v)[kLanesOf<T>]) {
  if (width * sizeof(T) == 4) {
#pragma unroll
    for (int k = 0; k < kLanesOf<T> / 4; ++k) {
      const float four[4] = {v[4 * k], v[4 * k + 1], v[4 * k + 2], v[4 * k + 3]};
      storeOnce(to + 16 * k, narrow(four, float()));
    }
  } else {
    storeOnce(to, narrow(v, T()));
  }
}

/// Sums of d_f over tokens of a team. A thread has the channels that are its own in each token: 16 bytes of sums at
/// `room`, and where these are half of them, the others behind those of all threads.
template <typename T>
struct BiasSums {
  uint32_t room;
  float *row; ///< of the partial sums
  int tokens = 0;
  bool isFirst = true; ///< whether the row has nothing yet

  __device__ __forceinline__ void add(const RowPlan &plan, uint32_t offset, const float (&df)[kLanesOf<T>]) {
#pragma unroll
    for (int k = 0; k < kLanesOf<T> / 4; ++k) {
      float4 sum = make_float4(df[4 * k], df[4 * k + 1], df[4 * k + 2], df[4 * k + 3]);
      const uint32_t at = room + k * plan.rowBytes + offset;
      if (tokens) {
        const float4 old = loadSharedFloat4(at);
        sum = make_float4(old.x + sum.x, old.y + sum.y, old.z + sum.z, old.w + sum.w);
      }
      storeSharedFloat4(at, sum);
    }
  }

  /// At the end of a token.
  __device__ __forceinline__ void endToken(const RowPlan &plan, uint32_t thread, bool endsRun) {
    if (++tokens < kBiasTokens && !endsRun)
      return;
    for (uint32_t offset = thread * 16; offset < plan.rowBytes; offset += plan.warps * 512)
#pragma unroll
      for (int k = 0; k < kLanesOf<T> / 4; ++k) {
        float4 *to = reinterpret_cast<float4 *>(row + offset / sizeof(T) + 4 * k);
        float4 sum = loadSharedFloat4(room + k * plan.rowBytes + offset);
        if (!isFirst)
          sum = make_float4(to->x + sum.x, to->y + sum.y, to->z + sum.z, to->w + sum.w);
        *to = sum;
      }
    tokens = 0;
    isFirst = endsRun;
    if (endsRun)
      row += uint64_t(gridDim.x) * plan.teams * (plan.rowBytes / sizeof(T));
  }
};

/// 16 bytes of channels from `offset` of the row on. `start` is where those of d_x_in are, of stream 0.
template <typename T, bool kDx, bool kGrows>
__device__ __forceinline__ void work(const PostBwdSm90 &args, const PostBwdCoefficients<kDx> &h, const Piece &in,
                                     uint32_t token, uint32_t offset, bool inside, uint32_t start, BiasSums<T> &bias,
                                     float (&sums)[32]) {
  float g[4][kLanesOf<T>], f[kLanesOf<T>], df[kLanesOf<T>];
#pragma unroll
  for (int o = 0; o < 4; ++o)
    widen(in.raw[o], g[o], T());
  widen(in.raw[8], f, T());
  if (args.common.bias && inside)
    args.common.addBias<T>(offset / sizeof(T), f);
  branchGradient<T>(h, g, f, sums, [](int) { return KeepAll(); }, df);
  if (inside)
    storeOnce(args.df + int64_t(token) * args.plan.rowBytes + offset, narrow(df, T()));
  if (kGrows && args.partials && inside)
    bias.add(args.plan, offset, df);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float dx[kLanesOf<T>];
    streamGradient<T>(h, i, g, in.raw[4 + i], sums, dx);
    if (!kDx || !inside)
      continue;
    const uint64_t at = (uint64_t(token) * 4 + i) * args.plan.rowBytes + offset;
    if constexpr (kGrows) {
      const RowSource &source = args.sources[kSources - 1];
      if (source.rows)
        addStart<T>(start + i * source.width * args.plan.pitch, source.width, dx);
      storeNumbers<T>(args.dx + at * args.dxWidth, args.dxWidth, dx);
    } else {
      storeOnce(args.dx + at, narrow(dx, T()));
    }
  }
}

template <typename T, bool kDx, bool kGrows>
__device__ __forceinline__ void workAll(const PostBwdSm90 &args, const RowRing &ring, int team, float *buffer) {
  const RowPlan &plan = args.plan;
  const uint32_t thread = threadIdx.x - team * plan.warps * 32, startWidth = args.sources[kSources - 1].width;
  TeamWalk walk(plan, team);
  RowCursor at = {team};
  BiasSums<T> bias = {ring.memory + plan.ringBytes() + team * (kLanesOf<T> / 4) * plan.rowBytes,
                      args.partials + (uint64_t(blockIdx.x) * plan.teams + team) * (plan.rowBytes / sizeof(T))};
  PostBwdCoefficients<kDx> h;
  if (walk.token() < plan.M)
    h.load(args.common, walk.token());
  for (int turn = 0; walk.token() < plan.M; turn ^= 1) {
    const uint32_t token = walk.token();
    float sums[32] = {};
    for (uint32_t piece = 0; piece < plan.rowBytes; piece += plan.pieceBytes, at.next(plan)) {
      barrierWait(ring.full(at.stage), at.parity);
#pragma unroll 1
      for (uint32_t within = thread * 16; within < plan.pieceBytes; within += plan.warps * 512) {
        const bool inside = piece + within < plan.rowBytes;
        const auto free = [&] {
          if (within + plan.warps * 512 < plan.pieceBytes)
            return;
          __syncwarp();
          if (threadIdx.x % 32 == 0)
            barrierArrive(ring.free(at.stage));
        };
        Piece in;
        in.load(ring.row(at.stage, 0) + within, plan.pitch, inside);
        if constexpr (!kGrows)
          free();
        work<T, kDx, kGrows>(args, h, in, token, piece + within, inside,
                             ring.row(at.stage, kTokenRows) + within * startWidth, bias, sums);
        if constexpr (kGrows)
          free();
      }
    }
    const bool endsRun = walk.next(plan);
    if (walk.token() < plan.M)
      h.load(args.common, walk.token()); // arrives while the sums are added up
    if (kGrows && args.partials)
      bias.endToken(plan, thread, endsRun || walk.token() >= plan.M);
    args.common.storeSums(token, thread, teamSum<kPostBwdSums>(sums, buffer, turn, team, plan.warps));
  }
}

/// Warps that work. Where d_x grows they are fewer, of more registers: three on a quarter of the multiprocessor.
template <bool kGrows>
constexpr int kWarps = kGrows ? 11 : kWorkWarps;

template <typename T, bool kDx, bool kGrows>
__global__ void __launch_bounds__(32 * (kWarps<kGrows> + 1), 1)
    postBwdSm90Kernel(const __grid_constant__ PostBwdSm90 args) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ __align__(8) unsigned char bars[kMostStages * 16];
  __shared__ float sums[2 * kWarps<kGrows> * 32];
  const RowRing ring = {args.plan, sharedAddress(memory), sharedAddress(bars)};
  ring.init();
  __syncthreads();
  beginOverlapped();
  const int warps = args.plan.warps, team = threadIdx.x / 32 / warps;
  if (team == args.plan.teams)
    ring.copyAll(args.sources);
  else
    workAll<T, kDx, kGrows>(args, ring, team, sums + team * 2 * warps * 32);
}

} // namespace

bool mhcrt::postBwdSm90Takes(const PostBwdArgs &a, Needs &needs) {
  constexpr int64_t kMostSummed = 16384; // channels, for whose sums there is room beside the ring
  return needs.absent("seed", a.seed) && postBwdFits(a, needs) && (!a.d_bias || needs.atMost("C", a.C, kMostSummed));
}

template <typename T, bool kDx, bool kGrows>
static cudaError_t launch(const PostBwdSm90 &args, uint32_t teamBytes, int multiprocessors, cudaStream_t stream) {
  constexpr auto *kKernel = postBwdSm90Kernel<T, kDx, kGrows>;
  if (const cudaError_t error = allowShared<kKernel>(kRowRingBytes))
    return error;
  const RowPlan &plan = args.plan;
  return launchOverlapping(kKernel, std::min<unsigned>(plan.runs(), multiprocessors), plan.threads(), 1,
                           plan.ringBytes() + plan.teams * teamBytes, stream, args);
}

cudaError_t mhcrt::postBwdSm90(mhcrt_context &context, const PostBwdArgs &a) {
  const int64_t bytes = mhcrt_dtype_bytes(a.x_type);
  const bool grows = postBwdGrows(a), starts = a.d_x && a.d_x_in;
  const auto widthOf = [&](int32_t type) { return static_cast<uint32_t>(mhcrt_dtype_bytes(type) / bytes); };
  RowExtras extras = {a.d_x != nullptr};
  if (grows)
    extras = {a.d_x != nullptr, kWarps<true>, starts ? widthOf(a.d_x_in_type) : 0,
              a.d_bias ? static_cast<uint32_t>(a.C * 4) : 0};
  extras.hasEqual = a.equal_x || a.equal_d_out;
  PostBwdSm90 args = {{{static_cast<const char *>(a.d_out), 4, 1, a.equal_d_out != 0},
                       {static_cast<const char *>(a.x), 4, 1, a.equal_x != 0},
                       {static_cast<const char *>(a.f), 1},
                       {static_cast<const char *>(a.d_x_in), starts ? 4u : 0u, extras.lastWidth}},
                      static_cast<char *>(a.d_f),
                      static_cast<char *>(a.d_x),
                      nullptr,
                      a.d_x ? widthOf(a.d_x_type) : 1,
                      RowPlan(a.M, a.C * bytes, extras),
                      PostBwdCommon(a)};
  const RowPlan &plan = args.plan;
  const int64_t last = plan.runs() - 1; // run, in which some teams may have no token
  const int64_t rows = last * plan.teams + std::min<int64_t>(plan.teams, a.M - last * plan.run);
  if (a.d_bias) {
    args.partials = static_cast<float *>(context.reserveScratch("mhcrt_post_bwd", 4 * rows * a.C));
    if (!args.partials)
      return cudaSuccess;
  }
  const cudaError_t error = withElement(a.x_type, [&](auto type) {
    using T = decltype(type);
    const auto start = a.d_x ? (grows ? launch<T, true, true> : launch<T, true, false>)
                             : (grows ? launch<T, false, true> : launch<T, false, false>);
    return start(args, extras.teamBytes, context.multiprocessors, context.stream);
  });
  return error == cudaSuccess && a.d_bias ? addBiasRows(a, args.partials, rows, context.stream) : error;
}
