//===- StreamStages.cuh - Loads of a block of stream_tiles ---- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of kRow elements of K, one a warp, and stages of kStage tokens of them in shared memory.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_STREAM_STREAMSTAGES_CUH
#define MHCRT_CUDA_STREAM_STREAMSTAGES_CUH

#include "cuda/algebra/Phi.cuh"
#include "cuda/ptx/AsyncCopy.cuh"
#include "cuda/tile/Columns.cuh"

namespace mhcrt::tiles {

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kResident = 3; ///< blocks of a multiprocessor
constexpr int kRow = 32;     ///< elements of K of a warp
constexpr int kTokens = 8;   ///< of a tile
constexpr int kStage = 2 * kTokens;
constexpr int kFlush = 4; ///< stages whose dW is added in registers
constexpr int kColumns = 24;
constexpr int kFragments = 6; ///< 16 bytes of a lane that it needs of a tile's d_proj
/// Floats of a token's coefficients in shared memory.
constexpr int kScalarPitch = 24, kHPreAt = 16, kFactorAt = 20; ///< h_res, h_pre and the factor

struct Tiles {
  const void *x, *start, *du; ///< start: d_x_in or d_out
  const uint4 *dProj;         ///< [tile][kFragments][lane]
  const float *factor, *hPre, *hRes;
  PhiElements<AnyInput> phi;
  void *dx;
  float *partials;
  int64_t M, C, length;
  int32_t slices;
  bool byStreams;     ///< a block has quarters of a token at the same place; else 128 elements of K in a row
  bool mixed;         ///< whether start is d_out
  bool channelsFirst; ///< four elements of K are the streams of a channel
  bool outputFirst;
};

/// Offsets of the rows of a block in a token of n streams, four or two.
template <int n>
struct Slice {
  static constexpr int kParts = kWarps / n; ///< rows of a block in a stream, where it has the same channels of all

  int64_t first; ///< element of a quarter, or of K
  const Tiles &args;

  __device__ explicit Slice(const Tiles &args)
      : first(int64_t(blockIdx.x % args.slices) * (args.byStreams ? kRow : kWarps * kRow)), args(args) {}
  __device__ __forceinline__ int64_t start(int row) const {
    return args.byStreams ? row * part() + first : first + row * kRow;
  }
  /// Elements of a row that are there.
  __device__ __forceinline__ int64_t length(int row) const {
    return args.byStreams ? part() - first : args.phi.K - first - row * kRow;
  }
  /// Channels of a row's part of a stream.
  __device__ __forceinline__ int64_t part() const { return kParts == 1 ? args.C : args.C / kParts; }
  __device__ __forceinline__ int64_t channel() const { return args.channelsFirst ? first / 4 : first; }
};

/// All that kStage tokens need. Rows have 16 bytes more than their elements, so that fragments of four tokens lie in
/// different banks.
template <typename T, int n>
struct Stage {
  static constexpr int kParts = kWarps / n;
  static constexpr int kVector = kLanesOf<T>, kVectors = kRow / kVector;
  static constexpr int kPitch = kWarps * kRow + kVector, kDuPitch = kParts * kRow + kVector;
  alignas(16) T x[kStage][kPitch];
  alignas(16) T start[kStage][kPitch];
  alignas(16) T du[kStage][kDuPitch];
  alignas(16) float scalars[kStage][kScalarPitch];
  uint4 dProj[kStage / kTokens][kFragments][32];

  /// Tokens from `first` on, a multiple of kTokens; those behind `last` are the last one again, with d_proj zero.
  __device__ __forceinline__ void copy(const Tiles &args, const Slice<n> &slice, int64_t first, int64_t last) {
    const int lastToken = static_cast<int>(min(int64_t{kStage}, last - first)) - 1, K = static_cast<int>(args.phi.K);
    const int64_t base = first * K + slice.start(0);
    const int rowStep = static_cast<int>(slice.start(1) - slice.start(0));
#pragma unroll
    for (int item = threadIdx.x; item < kStage * kWarps * kVectors; item += kThreads) {
      const int vector = item % kVectors * kVector, row = item / kVectors % kWarps, t = item / (kVectors * kWarps);
      const bool real = vector < slice.length(row);
      const int64_t at = real ? base + (min(t, lastToken) * K + row * rowStep + vector) : 0;
      copyAhead<16>(&x[t][row * kRow + vector], static_cast<const T *>(args.x) + at, real);
      if (args.start)
        copyAhead<16>(&start[t][row * kRow + vector], static_cast<const T *>(args.start) + at, real);
    }
    const uint4 *fragments = args.dProj + first / kTokens * (kFragments * 32);
    uint4 *to = &dProj[0][0][0];
    const int tiles = lastToken / kTokens + 1;
#pragma unroll
    for (int item = threadIdx.x; item < kStage / kTokens * kFragments * 32; item += kThreads)
      copyAhead<16>(to + item, fragments + (item < tiles * kFragments * 32 ? item : 0), item < tiles * kFragments * 32);
    copyShares(args, slice, first, last);
    commitCopies();
  }

private:
  static constexpr int kBranch = kStage * kVectors * kParts; ///< vectors of d_u

  __device__ __forceinline__ void copyBranch(const Tiles &args, const Slice<n> &slice, int64_t first, int64_t last,
                                             int item) {
    if (item >= kBranch)
      return;
    const int t = item / (kVectors * kParts), part = item / kVectors % kParts, vector = item % kVectors * kVector;
    const bool real = slice.channel() + vector < slice.part();
    const int64_t at = real ? min(first + t, last - 1) * args.C + part * slice.part() + slice.channel() + vector : 0;
    copyAhead<16>(&du[t][part * kRow + vector], static_cast<const T *>(args.du) + at, real);
  }
  __device__ __forceinline__ void copyShares(const Tiles &args, const Slice<n> &slice, int64_t first, int64_t last) {
    const auto token = [&](int t) { return min(first + t, last - 1); };
    const int thread = threadIdx.x;
    if (args.du) {
      copyBranch(args, slice, first, last, thread);
      if constexpr (kBranch > kThreads)
        copyBranch(args, slice, first, last, thread + kThreads);
    }
    constexpr int kMixRows = n * n / 4;
    if (args.mixed && thread < kStage * kMixRows)
      copyAhead<16>(&scalars[thread / kMixRows][thread % kMixRows * 4],
                    args.hRes + token(thread / kMixRows) * (n * n) + thread % kMixRows * 4, true);
    if (args.du && thread < kStage)
      copyAhead<4 * n>(&scalars[thread][kHPreAt], args.hPre + token(thread) * n, true);
    if (args.factor && thread < kStage)
      copyAhead<4>(&scalars[thread][kFactorAt], args.factor + token(thread), true);
  }
};

/// Four elements in a row of shared memory.
template <typename T>
__device__ __forceinline__ void loadFour(const T *from, float (&v)[4]) {
  if constexpr (sizeof(T) == 4) {
    widen(*reinterpret_cast<const uint4 *>(from), v, T());
  } else {
    const uint2 bits = *reinterpret_cast<const uint2 *>(from);
    float eight[8];
    widen(make_uint4(bits.x, bits.y, 0, 0), eight, T());
#pragma unroll
    for (int e = 0; e < 4; ++e)
      v[e] = eight[e];
  }
}

__device__ __forceinline__ void storeFour(float *to, const float (&v)[4]) { storeOnce(to, narrow(v, float())); }
template <typename T>
__device__ __forceinline__ void storeFour(T *to, const float (&v)[4]) {
  const float eight[8] = {v[0], v[1], v[2], v[3]};
  const uint4 bits = narrow(eight, T());
  storeOnce(to, make_uint2(bits.x, bits.y));
}

/// The lane's four elements of K.
struct Site {
  int warp, g;
  int64_t k; ///< of the first
  bool live;

  template <int n>
  __device__ Site(const Slice<n> &slice, int warp, int g)
      : warp(warp), g(g), k(slice.start(warp) + 4 * g), live(4 * g < slice.length(warp)) {}
};

} // namespace mhcrt::tiles

#endif // MHCRT_CUDA_STREAM_STREAMSTAGES_CUH
