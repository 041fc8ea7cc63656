//===- ProjectionFma-inl.h - A tile of tokens times phi ----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The portable variant. Lanes run along K, so that neither x nor phi needs a transpose and a sum has as many partial
// sums as a vector has lanes. The order of additions depends on K only: not on M, the tile, or the token's place in it.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_PROJECTIONFMA_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_PROJECTIONFMA_INL_H
#undef MHCRT_CPU_PROJECTIONFMA_INL_H
#else
#define MHCRT_CPU_PROJECTIONFMA_INL_H
#endif

#include "cpu/Projection.h"
#include "cpu/Simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// Tokens of one register tile: what the number of vector registers allows.
constexpr int kGroup = HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86 ? 4 : 2;
static_assert(kTokenMultiple % kGroup == 0, "a tile is whole groups");
static_assert(kChunk % kLanes == 0, "a chunk is whole vectors");

/// Chunk `chunk` of phi * norm_weight as [panel][step][output of the panel][lane]; zeros behind K and N.
HWY_INLINE void packChunk(const ProjectionCall &args, int64_t chunk, float *packed) {
  const int64_t k0 = chunk * kChunk, count = HWY_MIN(kChunk, args.K - k0);
  HWY_ALIGN float weight[kChunk], row[kChunk];
  for (int64_t k = 0; k < kChunk; ++k)
    weight[k] = 1.0f;
  if (args.weight)
    widenAny(args.weight, args.weightType, k0, count, weight);

  if (args.phiLayout == MHCRT_PHI_LAYOUT_OUT_IN) {
    for (int64_t j = 0; j < args.panels * kPanel; ++j) {
      std::memset(row, 0, sizeof(row));
      if (j < args.N)
        widenAny(args.phi, args.phiType, j * args.K + k0, count, row);
      float *to = packed + j / kPanel * kPanel * kChunk + j % kPanel * kLanes;
      for (int64_t k = 0; k < kChunk; k += kLanes)
        store(hn::Mul(load(row + k), load(weight + k)), to + k * kPanel);
    }
    return;
  }
  std::memset(packed, 0, args.chunkBytes());
  for (int64_t k = 0; k < count; ++k) {
    for (int64_t j0 = 0; j0 < args.N; j0 += kChunk) {
      const int64_t columns = HWY_MIN(kChunk, args.N - j0);
      widenAny(args.phi, args.phiType, (k0 + k) * args.N + j0, columns, row);
      for (int64_t j = j0; j < j0 + columns; ++j)
        packed[j / kPanel * kPanel * kChunk + k / kLanes * kLanes * kPanel + j % kPanel * kLanes + k % kLanes] =
            row[j - j0] * weight[k];
    }
  }
}

/// One token's chunk as f32 with zeros up to a whole vector; adds its squares.
template <typename T>
HWY_INLINE void widenChunk(const T *x, int64_t count, float *to, float *squares) {
  // Four chains hide the latency of a multiply-add.
  V sums[4] = {load(squares), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  int64_t k = 0;
  for (; k + 4 * kLanes <= count; k += 4 * kLanes) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const V a = load(x + k + i * kLanes);
      hn::Store(a, d, to + k + i * kLanes);
      sums[i] = hn::MulAdd(a, a, sums[i]);
    }
  }
  for (; k < count; k += kLanes) {
    const V a = loadSome(x + k, count - k);
    hn::Store(a, d, to + k);
    sums[0] = hn::MulAdd(a, a, sums[0]);
  }
  store(hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3])), squares);
}

/// Rows to prefetch: kGroup rows of x, one vector's worth per step.
struct Ahead {
  const char *rows;
  int64_t rowBytes, stepBytes;
  bool wanted; ///< false when nothing comes
};

/// accumulators[token][output] += one chunk of kGroup tokens times one panel. On the way, asks for the first kAhead
/// rows of `ahead`, so that memory works while the multipliers do.
template <int kAhead>
HWY_NOINLINE void multiplyPanel(const float *x, const float *panel, int64_t steps, float *accumulators,
                                int64_t tokenStride, const Ahead &ahead) {
  const char *rows = ahead.rows;
  const int64_t rowBytes = ahead.rowBytes, stepBytes = ahead.stepBytes;
  V sums[kGroup][kPanel];
  // The pragmas unroll early enough for the compiler to see single vectors, which it keeps in registers.
#pragma GCC unroll 4
  for (int t = 0; t < kGroup; ++t)
#pragma GCC unroll 6
    for (int o = 0; o < kPanel; ++o)
      sums[t][o] = hn::Zero(d);
#pragma GCC unroll 1
  for (int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 4
    for (int t = 0; t < kAhead; ++t)
      __builtin_prefetch(rows + t * rowBytes + step * stepBytes, 0, 2);
    V in[kGroup];
#pragma GCC unroll 4
    for (int t = 0; t < kGroup; ++t)
      in[t] = hn::Load(d, x + t * kChunk + step * kLanes);
#pragma GCC unroll 6
    for (int o = 0; o < kPanel; ++o) {
      const V w = hn::Load(d, panel + (step * kPanel + o) * kLanes);
#pragma GCC unroll 4
      for (int t = 0; t < kGroup; ++t)
        sums[t][o] = hn::MulAdd(in[t], w, sums[t][o]);
    }
  }
#pragma GCC unroll 4
  for (int t = 0; t < kGroup; ++t)
#pragma GCC unroll 6
    for (int o = 0; o < kPanel; ++o) {
      float *sum = accumulators + t * tokenStride + o * kLanes;
      hn::Store(hn::Add(hn::Load(d, sum), sums[t][o]), d, sum);
    }
}

/// All panels of one group. The first panels ask for kRows rows each of `ahead`, the group that comes next.
template <int kRows>
HWY_INLINE void multiplyPanels(const ProjectionCall &args, const float *x, const float *panels, int64_t steps,
                               float *accumulators, int64_t tokenStride, Ahead ahead) {
  for (int64_t p = 0; p < args.panels; ++p) {
    const float *panel = panels + p * kPanel * kChunk;
    float *sums = accumulators + p * kPanel * kLanes;
    if (ahead.wanted && p * kRows < kGroup)
      multiplyPanel<kRows>(x, panel, steps, sums, tokenStride, ahead);
    else
      multiplyPanel<0>(x, panel, steps, sums, tokenStride, ahead);
    ahead.rows += kRows * ahead.rowBytes;
  }
}

HWY_INLINE void multiplyGroup(const ProjectionCall &args, const float *x, const float *panels, int64_t steps,
                              float *accumulators, int64_t tokenStride, Ahead ahead) {
  if (args.panels >= kGroup)
    multiplyPanels<1>(args, x, panels, steps, accumulators, tokenStride, ahead);
  else if (args.panels >= 2)
    multiplyPanels<2>(args, x, panels, steps, accumulators, tokenStride, ahead);
  else
    multiplyPanels<kGroup>(args, x, panels, steps, accumulators, tokenStride, ahead);
}

/// Tokens [first, first+count) of x: fills scratch.proj and scratch.stat. `panelsOf` gives a packed chunk.
template <typename T, typename PanelsOf>
HWY_INLINE void projectByFma(const ProjectionCall &args, PanelsOf panelsOf, int64_t first, int64_t count,
                             const ProjectionScratch &scratch) {
  const int64_t outputs = args.panels * kPanel, tokenStride = outputs * kLanes;
  const int64_t groups = divideUp(count, kGroup);
  const T *x = static_cast<const T *>(args.x) + first * args.K;
  std::memset(scratch.accumulators, 0, groups * kGroup * tokenStride * sizeof(float));
  std::memset(scratch.squares, 0, count * kLanes * sizeof(float));

  for (int64_t chunk = 0; chunk < args.chunks; ++chunk) {
    const int64_t k0 = chunk * kChunk, length = HWY_MIN(kChunk, args.K - k0);
    const float *panels = panelsOf(chunk);
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t t0 = g * kGroup, tokens = HWY_MIN(kGroup, count - t0);
      for (int64_t t = 0; t < tokens; ++t)
        widenChunk(x + (t0 + t) * args.K + k0, length, scratch.x + t * kChunk, scratch.squares + (t0 + t) * kLanes);
      // The last group may have fewer tokens: the others are zeros.
      std::memset(scratch.x + tokens * kChunk, 0, (kGroup - tokens) * kChunk * sizeof(float));

      // Next comes the next group, or the first one of the next chunk.
      const T *next = g + 1 < groups ? x + (t0 + kGroup) * args.K + k0 : x + k0 + kChunk;
      const Ahead ahead = {reinterpret_cast<const char *>(next), args.K * static_cast<int64_t>(sizeof(T)),
                           kLanes * static_cast<int64_t>(sizeof(T)), g + 1 < groups || chunk + 1 < args.chunks};
      multiplyGroup(args, scratch.x, panels, divideUp(length, kLanes), scratch.accumulators + t0 * tokenStride,
                    tokenStride, ahead);
    }
  }

  for (int64_t t = 0; t < count; ++t) {
    for (int64_t j = 0; j < args.N; ++j)
      scratch.proj[t * args.N + j] = sumLanes(load(scratch.accumulators + t * tokenStride + j * kLanes));
    scratch.stat[t] = sumLanes(load(scratch.squares + t * kLanes)) / static_cast<float>(args.K);
  }
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_PROJECTIONFMA_INL_H
