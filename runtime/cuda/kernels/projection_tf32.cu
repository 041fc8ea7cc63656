//===- projection_tf32.cu - projection on matrix tiles, any float type ----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   proj[m,j] = sum_k x[m,k] * phi[j,k] * norm_weight[k]     stat[m] from (1/K) sum_k x[m,k]^2
//
// Plan    K is cut into slices of kSliceK elements. A block keeps its slice of phi in shared memory, in two tf32 terms
//         and in the order of the tiles' fragments, and its warps go over tiles of 32 tokens: a lane's 16 bytes of x
//         are fragments as they are. Phi's columns are the tiles' rows: 16 in one tile per term, 8 in a tile that has
//         both terms; up to 8 columns need only the latter. More than 24 columns are groups of 24, whose blocks are
//         neighbours, so that they find x in the second-level cache. The second launch adds the slices.
// Bytes   per token K elements of x, and for each slice 8*(N + 1) to write and read sums.
// Needs   N at most 288, K a multiple of 64 bytes of x, x 16-byte aligned; any n and layout.
// Round   f32: of the products of terms all but the smallest; a slice's sums in the order of K, then the slices in
//         theirs. Only K decides that order.
// Result  H200, N = 24, M = 8192, C 4096 / 7168: f32 175 / 339 us, 75 / 68 % of copy; f16 102 / 193 us, 65 / 60 %.
//         160 registers.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Norm.cuh"
#include "cuda/algebra/Phi.cuh"
#include "cuda/kernels/Generic.h"
#include "cuda/kernels/Projection.h"
#include "cuda/ptx/AsyncCopy.cuh"
#include "cuda/ptx/Mma.cuh"
#include "cuda/tile/Columns.cuh"
#include "cuda/tile/InOrder.cuh"

#include <algorithm>

using namespace mhcrt;

namespace {

constexpr int kSliceK = 1024;
constexpr int kWarps = 12;
constexpr int kGroups = 4; ///< of 8 tokens in a warp's tile
constexpr int kTileTokens = 8 * kGroups;
constexpr int kGroupColumns = 24, kMostColumns = 12 * kGroupColumns, kNarrowColumns = 8;
constexpr int kFragmentBytes = 32 * 16;

struct ProjectionTiles {
  const void *x;
  PhiElements<AnyInput> phi;
  uint4 *fragments;  ///< of phi, [group of columns][step][block][lane]
  int64_t M, stride; ///< stride: of a row of sums
  float *sums;       ///< [slice][N + 1][stride], the squares last
  int32_t slices, groups;
};

/// Tiles of phi: columns 0 .. 15 of each term, and eight columns in both.
template <bool kWide>
constexpr int kBlocks = kWide ? 3 : 1;

/// Offsets of the two elements of K that a lane has in a step: those of its 16 bytes of x.
template <typename T>
__device__ __forceinline__ int stepOffset(int step, int q) {
  constexpr int kLanes = kLanesOf<T>, kSteps = kLanes / 2;
  return step / kSteps * (4 * kLanes) + q * kLanes + step % kSteps * 2;
}

__device__ __forceinline__ Tf32Pair phiTerms(const PhiElements<AnyInput> &phi, int64_t j, int64_t k) {
  return splitTf32(j < phi.N && k < phi.K ? phi.at(j, k) * phi.scale(k) : 0.0f);
}

constexpr int kPackThreads = 256;

/// A thread per step of eight elements and lane; zero behind the last element. `steps` are those of a group of columns.
template <typename T, bool kWide>
__global__ void __launch_bounds__(kPackThreads) projectionPackKernel(PhiElements<AnyInput> phi, int steps, uint4 *to) {
  beginOverlapped();
  const int64_t item = int64_t(blockIdx.x) * kPackThreads + threadIdx.x, place = item / 32;
  const int lane = item % 32, g = lane / 4 + static_cast<int>(place / steps) * kGroupColumns;
  const int64_t k = stepOffset<T>(place % steps, lane % 4);
  uint4 *fragment = to + place * kBlocks<kWide> * 32 + lane;
  const Tf32Pair last[2] = {phiTerms(phi, (kWide ? 16 : 0) + g, k), phiTerms(phi, (kWide ? 16 : 0) + g, k + 1)};
  fragment[0] = make_uint4(last[0].high, last[0].low, last[1].high, last[1].low);
  if constexpr (kWide) {
    const Tf32Pair first[2] = {phiTerms(phi, g, k), phiTerms(phi, g, k + 1)};
    const Tf32Pair second[2] = {phiTerms(phi, g + 8, k), phiTerms(phi, g + 8, k + 1)};
    fragment[32] = make_uint4(first[0].high, second[0].high, first[1].high, second[1].high);
    fragment[64] = make_uint4(first[0].low, second[0].low, first[1].low, second[1].low);
  }
}

/// Fragments of a slice.
template <bool kWide>
constexpr int kSliceFragments = kSliceK / 8 * kBlocks<kWide> * 32;

/// Copies a slice's fragments to shared memory.
template <bool kWide>
__device__ __forceinline__ void loadPhi(const uint4 *from, uint4 *to) {
  const uint32_t address = sharedAddress(to);
  for (int item = threadIdx.x; item < kSliceFragments<kWide>; item += 32 * kWarps)
    copyAhead(address + item * 16, from + item);
  waitCopies();
}

/// Sums of a tile: products with the mixed block, and where kWide with the columns of one term; the small products
/// apart, so that they do not pass through large sums.
template <bool kWide>
struct Sums {
  float mixed[kGroups][4] = {}, high[kWide ? kGroups : 1][4] = {}, low[kWide ? kGroups : 1][4] = {};
  float squares[kGroups] = {};

  /// One step of group t: two elements of each token.
  template <bool kExact>
  __device__ __forceinline__ void add(int t, const uint4 (&a)[kBlocks<kWide>], float v0, float v1) {
    const Tf32Pair b0 = kExact ? Tf32Pair{__float_as_uint(v0), 0} : splitTf32(v0);
    const Tf32Pair b1 = kExact ? Tf32Pair{__float_as_uint(v1), 0} : splitTf32(v1);
    squares[t] = fmaf(v1, v1, fmaf(v0, v0, squares[t]));
    multiplyTf32(mixed[t], a[0], b0.high, b1.high);
    if constexpr (kWide) {
      multiplyTf32(high[t], a[1], b0.high, b1.high);
      multiplyTf32(low[t], a[2], b0.high, b1.high);
    }
    if constexpr (!kExact) {
      multiplyTf32(mixed[t], a[0], b0.low, b1.low);
      if constexpr (kWide)
        multiplyTf32(low[t], a[1], b0.low, b1.low);
    }
  }
};

/// A lane's 16 bytes of a token of each group.
using Chunk = uint4[kGroups];

__device__ __forceinline__ uint32_t word(const uint4 &v, int k) {
  return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w;
}

/// The two elements of a step; `step` is a constant of an unrolled loop.
__device__ __forceinline__ float2 elementsOf(const uint4 &v, int step, float) {
  return make_float2(__uint_as_float(word(v, 2 * step)), __uint_as_float(word(v, 2 * step + 1)));
}
__device__ __forceinline__ float2 elementsOf(const uint4 &v, int step, Bf16) {
  return make_float2(__uint_as_float(word(v, step) << 16), __uint_as_float(word(v, step) & 0xffff0000u));
}
__device__ __forceinline__ float2 elementsOf(const uint4 &v, int step, F16) {
  const uint32_t pair = word(v, step);
  return __half22float2(reinterpret_cast<const __half2 &>(pair));
}

template <typename T, bool kWide>
__device__ __forceinline__ void addChunk(Sums<kWide> &sums, const Chunk &x, uint32_t fragments) {
#pragma unroll
  for (int step = 0; step < kLanesOf<T> / 2; ++step) {
    uint4 a[kBlocks<kWide>];
#pragma unroll
    for (int block = 0; block < kBlocks<kWide>; ++block)
      a[block] = loadShared4(fragments + (step * kBlocks<kWide> + block) * kFragmentBytes);
#pragma unroll
    for (int t = 0; t < kGroups; ++t) {
      const float2 v = elementsOf(x[t], step, T());
      sums.template add<sizeof(T) == 2>(t, a, v.x, v.y);
    }
  }
}

/// Columns g, g + 8 and g + 16 behind `first` of tokens 2*q and 2*q + 1 of each group.
template <bool kWide>
__device__ __forceinline__ void storeSums(const ProjectionTiles &args, const Sums<kWide> &sums, int64_t token,
                                          int first, float *to) {
  const int lane = threadIdx.x % 32, row = lane / 4, g = first + row, q = lane % 4;
#pragma unroll
  for (int t = 0; t < kGroups; ++t) {
    const int64_t at = token + 8 * t + 2 * q;
    const auto store = [&](int column, float one, float next) {
      if (column < args.phi.N)
        *reinterpret_cast<float2 *>(to + column * args.stride + at) = make_float2(one, next);
    };
    store((kWide ? 16 : 0) + g, sums.mixed[t][0] + sums.mixed[t][2], sums.mixed[t][1] + sums.mixed[t][3]);
    if constexpr (kWide) {
      store(g, sums.high[t][0] + sums.low[t][0], sums.high[t][1] + sums.low[t][1]);
      store(g + 8, sums.high[t][2] + sums.low[t][2], sums.high[t][3] + sums.low[t][3]);
    }
    float squares = sums.squares[t];
    squares += __shfl_xor_sync(~0u, squares, 1);
    squares += __shfl_xor_sync(~0u, squares, 2);
    if (q == 0 && first == 0)
      to[args.phi.N * args.stride + token + 8 * t + row] = squares;
  }
}

template <typename T, bool kWide>
__global__ void __launch_bounds__(32 * kWarps, 1) projectionTf32Kernel(ProjectionTiles args) {
  extern __shared__ uint4 fragments[];
  constexpr int kLanes = kLanesOf<T>, kChunk = 4 * kLanes;
  beginOverlapped();
  const int group = blockIdx.x % args.groups, part = blockIdx.x / args.groups;
  const int slice = part % args.slices, lane = threadIdx.x % 32;
  const int64_t first = int64_t(slice) * kSliceK;
  loadPhi<kWide>(args.fragments + (int64_t(group) * args.slices + slice) * kSliceFragments<kWide>, fragments);
  __syncthreads();
  const int chunks = static_cast<int>(min(int64_t{kSliceK}, args.phi.K - first)) / kChunk;
  const int64_t blocks = gridDim.x / (args.slices * args.groups), tiles = args.stride / kTileTokens;
  for (int64_t tile = part / args.slices + threadIdx.x / 32 * blocks; tile < tiles; tile += kWarps * blocks) {
    const uint4 *base =
        reinterpret_cast<const uint4 *>(static_cast<const T *>(args.x) + tile * kTileTokens * args.phi.K + first) +
        lane % 4;
    uint32_t rows[kGroups]; // in 16 bytes
#pragma unroll
    for (int t = 0; t < kGroups; ++t) {
      // Tokens behind the last are the last again; nothing reads their sums.
      const int64_t token = min(int64_t{8 * t + lane / 4}, args.M - 1 - tile * kTileTokens);
      rows[t] = static_cast<uint32_t>(token * (args.phi.K / kLanes));
    }
    const auto load = [&](Chunk &to, int chunk) {
      const uint4 *from = base + min(chunk, chunks - 1) * 4;
#pragma unroll
      for (int t = 0; t < kGroups; ++t)
        to[t] = loadOnce(from + rows[t]);
    };
    Sums<kWide> sums;
    Chunk even, odd;
    load(even, 0);
    load(odd, 1);
    uint32_t phi = static_cast<uint32_t>(__cvta_generic_to_shared(fragments + lane));
    constexpr uint32_t kPhiChunk = kLanes / 2 * kBlocks<kWide> * kFragmentBytes;
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; chunk += 2, phi += 2 * kPhiChunk) {
      addChunk<T>(sums, even, phi);
      load(even, chunk + 2);
      if (chunk + 1 < chunks)
        addChunk<T>(sums, odd, phi + kPhiChunk);
      load(odd, chunk + 3);
    }
    storeSums(args, sums, tile * kTileTokens, group * kGroupColumns,
              args.sums + slice * (args.phi.N + 1) * args.stride);
  }
}

// The sums of the slices

constexpr int kFinishTokens = 32, kFinishRows = 8;

struct ProjectionFinish {
  const float *sums;
  float *proj, *stat;
  int64_t M, stride, N, K;
  int32_t slices, groups, norm, statForm;
  float normEps;
};

__device__ __forceinline__ float addSlices(const ProjectionFinish &args, int64_t row, int64_t token) {
  float sum = 0;
  inOrder(
      0, args.slices, 1, [&](int slice) { return args.sums[(slice * (args.N + 1) + row) * args.stride + token]; },
      [&](float v) { sum += v; });
  return sum;
}

/// A block has a group of columns; the squares come behind them.
__global__ void __launch_bounds__(kFinishTokens *kFinishRows) projectionFinishKernel(ProjectionFinish args) {
  __shared__ float sums[kFinishTokens][kGroupColumns + 1];
  __shared__ float multipliers[kFinishTokens];
  beginOverlapped();
  const int lane = threadIdx.x % kFinishTokens, row = threadIdx.x / kFinishTokens;
  const int64_t first = int64_t(blockIdx.x / args.groups) * kFinishTokens, token = first + lane;
  const int64_t column = blockIdx.x % args.groups * kGroupColumns,
                columns = min(int64_t{kGroupColumns}, args.N - column);
  for (int64_t j = row; j <= columns; j += kFinishRows)
    sums[lane][j] = addSlices(args, j < columns ? column + j : args.N, token);
  __syncthreads();
  if (row == 0 && token < args.M) {
    const float meanSquare = sums[lane][columns] / static_cast<float>(args.K);
    const float s = normMultiplier(meanSquare, args.norm, args.normEps);
    multipliers[lane] = args.statForm == MHCRT_STAT_APPLIED ? s : 1.0f;
    if (args.statForm != MHCRT_STAT_APPLIED && column == 0)
      args.stat[token] = args.statForm == MHCRT_STAT_INV_RMS ? s : meanSquare;
  }
  __syncthreads();
  const int64_t count = min(int64_t{kFinishTokens}, args.M - first) * columns;
  for (int64_t item = threadIdx.x; item < count; item += kFinishTokens * kFinishRows)
    args.proj[(first + item / columns) * args.N + column + item % columns] =
        sums[item / columns][item % columns] * multipliers[item / columns];
}

// Launch

int slicesOf(const ProjectionArgs &a) { return static_cast<int>(divideUp(a.K, kSliceK)); }
int64_t strideOf(const ProjectionArgs &a) { return roundUp(a.M, kTileTokens); }
int groupsOf(const ProjectionArgs &a) { return static_cast<int>(divideUp(a.N, kGroupColumns)); }

} // namespace

bool mhcrt::projectionTf32Takes(const ProjectionArgs &a, Needs &needs) {
  return needs.atMost("N", a.N, kMostColumns) && needs.multiple("K", a.K, 64 / mhcrt_dtype_bytes(a.x_type)) &&
         needs.atMost("K", a.K, (1 << 24) - 1) && needs.atMost("M", a.M, (int64_t(1) << 30) - 1) &&
         needs.aligned({a.x});
}

/// Bytes of all fragments of phi, a multiple of 512.
static int64_t fragmentBytes(const ProjectionArgs &a) {
  const bool wide = a.N > kNarrowColumns;
  return int64_t{slicesOf(a)} * groupsOf(a) * (wide ? kSliceFragments<true> : kSliceFragments<false>)*16;
}

int64_t mhcrt::projectionTf32Bytes(const ProjectionArgs &a) {
  return saturatingAdd(fragmentBytes(a), saturatingMul(saturatingMul(slicesOf(a) * 4, a.N + 1), strideOf(a)));
}

template <typename T, bool kWide>
static cudaError_t launchTiles(const ProjectionTiles &args, int multiprocessors, cudaStream_t stream) {
  constexpr auto *kKernel = projectionTf32Kernel<T, kWide>;
  constexpr int kShared = kSliceFragments<kWide> * 16;
  if (const cudaError_t error = allowShared<kKernel>(kShared))
    return error;
  const int parts = args.slices * args.groups;
  const unsigned packs = static_cast<unsigned>(parts) * (kSliceK / 8 * 32 / kPackThreads);
  if (const cudaError_t error = launchOverlapping(projectionPackKernel<T, kWide>, packs, kPackThreads, 1, 0, stream,
                                                  args.phi, args.slices * (kSliceK / 8), args.fragments))
    return error;
  const int64_t tiles = args.stride / kTileTokens, most = std::max(1, multiprocessors / parts);
  return launchOverlapping(kKernel, static_cast<unsigned>(std::min(tiles, most) * parts), 32 * kWarps, 1, kShared,
                           stream, args);
}

cudaError_t mhcrt::projectionTf32(const ProjectionArgs &a, void *scratch, int multiprocessors, cudaStream_t stream) {
  auto *sums = reinterpret_cast<float *>(static_cast<char *>(scratch) + fragmentBytes(a));
  const ProjectionTiles tiles = {
      a.x, phiElementsOf(a, a.N), static_cast<uint4 *>(scratch), a.M, strideOf(a), sums, slicesOf(a), groupsOf(a)};
  const cudaError_t error = withElement(a.x_type, [&](auto type) {
    using T = decltype(type);
    return a.N > kNarrowColumns ? launchTiles<T, true>(tiles, multiprocessors, stream)
                                : launchTiles<T, false>(tiles, multiprocessors, stream);
  });
  if (error)
    return error;
  const ProjectionFinish finish = {sums,
                                   static_cast<float *>(a.proj),
                                   static_cast<float *>(a.stat),
                                   a.M,
                                   tiles.stride,
                                   a.N,
                                   a.K,
                                   tiles.slices,
                                   tiles.groups,
                                   a.norm,
                                   a.stat_form,
                                   static_cast<float>(a.norm_eps)};
  return launchOverlapping(projectionFinishKernel, static_cast<unsigned>(divideUp(a.M, kFinishTokens) * tiles.groups),
                           kFinishTokens * kFinishRows, 1, 0, stream, finish);
}
