//===- PhiFragments.cuh - phi as fragments of matrix tiles ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp multiplies 32 channels of four streams by 24 columns in two bf16 terms: 48 rows of A in three blocks of 16.
// Rows 0..23 are the first terms of the columns, rows 24..47 the second. Lane 4*g + q has columns g, g + 8 and g + 16
// of channels 8*q .. 8*q + 7 and nobody else needs them: each lane reads phi itself, cuts it and keeps the fragments.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_RING_PHIFRAGMENTS_CUH
#define MHCRT_CUDA_RING_PHIFRAGMENTS_CUH

#include "cuda/ptx/Mma.cuh"
#include "cuda/ptx/Shared.cuh"
#include "cuda/ring/RingArgs.h"
#include "cuda/tile/Vec.cuh"

namespace mhcrt {

constexpr int kPhiColumns = 24;
constexpr int kPhiBlocks = 3;
constexpr int kPhiSteps = 8;            ///< of 16 elements of K in a warp: four streams, two halves of 8 channels
constexpr int kFragmentBytes = 32 * 16; ///< of one block and step

/// Eight elements of a vector from element `at` on, which is a multiple of 8.
template <typename T>
__device__ __forceinline__ void loadEight(const void *from, int64_t at, float (&to)[8]) {
#pragma unroll
  for (int k = 0; k < 8 / kLanesOf<T>; ++k) {
    float v[kLanesOf<T>];
    widen(reinterpret_cast<const uint4 *>(static_cast<const T *>(from) + at)[k], v, T());
#pragma unroll
    for (int e = 0; e < kLanesOf<T>; ++e)
      to[k * kLanesOf<T> + e] = v[e];
  }
}

/// Eight elements of which four lie beside each other from `at` on, a multiple of 4, and four 16 elements behind those.
template <typename T>
__device__ __forceinline__ void loadFours(const void *from, int64_t at, float (&to)[8]) {
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const T *const four = static_cast<const T *>(from) + at + 16 * k;
    float4 v;
    if constexpr (sizeof(T) == 4) {
      v = *reinterpret_cast<const float4 *>(four);
    } else {
      const uint2 pairs = *reinterpret_cast<const uint2 *>(four);
      v = make_float4(lowBf16(pairs.x), highBf16(pairs.x), lowBf16(pairs.y), highBf16(pairs.y));
    }
#pragma unroll
    for (int e = 0; e < 4; ++e)
      to[4 * k + e] = part(v, e);
  }
}

/// The elements that a lane has of a row, kAtOnce of which lie beside each other.
template <typename T, int kAtOnce>
__device__ __forceinline__ void loadOfLane(const void *from, int64_t at, float (&to)[8]) {
  if constexpr (kAtOnce == 8)
    loadEight<T>(from, at, to);
  else
    loadFours<T>(from, at, to);
}

/// A lane's part of phi: eight channels of three columns of some streams.
template <int kStreams>
using PhiValues = float[kStreams][3][8];

/// All loads before their first use, so that the latency of memory is met once. Zero behind the last column.
template <typename T, bool kOutIn, int kColumns, int kAtOnce, int kStreams>
__device__ __forceinline__ void loadPhi(const void *phi, int64_t C, int64_t first, int g, PhiValues<kStreams> &to) {
#pragma unroll
  for (int stream = 0; stream < kStreams; ++stream)
#pragma unroll
    for (int column = 0; column < 3; ++column) {
      const int64_t k = stream * C + first, j = g + 8 * column;
      if (8 * column >= kColumns) {
#pragma unroll
        for (int e = 0; e < 8; ++e)
          to[stream][column][e] = 0.0f;
      } else if constexpr (kOutIn) {
        loadOfLane<T, kAtOnce>(phi, j * 4 * C + k, to[stream][column]);
      } else {
#pragma unroll
        for (int e = 0; e < 8; ++e)
          to[stream][column][e] =
              static_cast<float>(static_cast<const T *>(phi)[(k + e % kAtOnce + e / kAtOnce * 16) * kColumns + j]);
      }
    }
}

template <typename T, int kAtOnce, int kStreams>
__device__ __forceinline__ void scalePhi(const void *weight, int64_t C, int64_t first, PhiValues<kStreams> &values) {
#pragma unroll
  for (int stream = 0; stream < kStreams; ++stream) {
    float scale[8];
    loadOfLane<T, kAtOnce>(weight, stream * C + first, scale);
#pragma unroll
    for (int column = 0; column < 3; ++column)
#pragma unroll
      for (int e = 0; e < 8; ++e)
        values[stream][column][e] *= scale[e];
  }
}

/// A lane's rows of phi from `first` on, of the next streams too.
template <int kColumns, int kAtOnce, int kStreams>
__device__ __forceinline__ void loadPhi(const Phi &source, int64_t C, int64_t first, int g, PhiValues<kStreams> &to) {
  const bool outIn = source.rowsFirst(), narrow = source.type == MHCRT_BF16;
  if (outIn && !narrow)
    loadPhi<float, true, kColumns, kAtOnce>(source.phi, C, first, g, to);
  else if (outIn)
    loadPhi<__nv_bfloat16, true, kColumns, kAtOnce>(source.phi, C, first, g, to);
  else if (!narrow)
    loadPhi<float, false, kColumns, kAtOnce>(source.phi, C, first, g, to);
  else
    loadPhi<__nv_bfloat16, false, kColumns, kAtOnce>(source.phi, C, first, g, to);
  if (source.weight && source.weightType == MHCRT_F32)
    scalePhi<float, kAtOnce>(source.weight, C, first, to);
  else if (source.weight)
    scalePhi<__nv_bfloat16, kAtOnce>(source.weight, C, first, to);
}

/// kHeld of the three blocks in registers, the others in shared memory.
template <int kHeld>
struct PhiFragments {
  uint4 held[kPhiSteps][kHeld ? kHeld : 1];
  uint32_t rest; ///< this lane's part of the warp's shared memory

  static constexpr int kSharedBytes = kPhiSteps * (kPhiBlocks - kHeld) * kFragmentBytes; ///< of one warp

  __device__ __forceinline__ uint32_t address(int step, int block) const {
    return rest + (step * (kPhiBlocks - kHeld) + block - kHeld) * kFragmentBytes;
  }

  __device__ __forceinline__ uint4 get(int step, int block) const {
    return block < kHeld ? held[step][block < kHeld ? block : 0] : loadShared4(address(step, block));
  }

  __device__ __forceinline__ void set(int step, int block, uint4 v) {
    if (block < kHeld)
      held[step][block < kHeld ? block : 0] = v;
    else
      storeShared4(address(step, block), v);
  }

  /// The terms of `stream`, in pairs of channels.
  __device__ __forceinline__ void setStream(int stream, const float (&values)[3][8]) {
    uint32_t first[3][4], second[3][4];
#pragma unroll
    for (int column = 0; column < 3; ++column)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        splitBf16(values[column][2 * e], values[column][2 * e + 1], first[column][e], second[column][e]);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int step = 2 * stream + half, a = 2 * half, b = a + 1;
      set(step, 0, make_uint4(first[0][a], first[1][a], first[0][b], first[1][b]));
      set(step, 1, make_uint4(first[2][a], second[0][a], first[2][b], second[0][b]));
      set(step, 2, make_uint4(second[1][a], second[2][a], second[1][b], second[2][b]));
    }
  }

  /// A lane's eight channels from `channel` on of all streams, kStreams at once; `warpMemory` is the warp's shared
  /// memory.
  template <int kStreams, int kColumns, int kAtOnce = 8>
  __device__ __forceinline__ void load(const Phi &source, int64_t C, int channel, int lane, uint32_t warpMemory) {
    rest = warpMemory + lane * 16;
#pragma unroll
    for (int stream = 0; stream < 4; stream += kStreams) {
      PhiValues<kStreams> values;
      loadPhi<kColumns, kAtOnce>(source, C, stream * C + channel, lane / 4, values);
#pragma unroll
      for (int k = 0; k < kStreams; ++k)
        setStream(stream + k, values[k]);
    }
  }
};

} // namespace mhcrt

#endif // MHCRT_CUDA_RING_PHIFRAGMENTS_CUH
