//===- ProjectionAmx-inl.h - A tile of tokens times phi ----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The variant for matrix tiles (Amx.h). phi * norm_weight is a sum of three bf16 terms, exactly; each term has columns
// of its own: [hi of all outputs][mid][lo]. bf16 phi without norm_weight is one term.
//
// Error   With u = 2^-24 and S the sum of |x| |phi * norm_weight| of an output:
//         bf16 x   every product is exact.
//         f16 x    hi and mid are all of x, mid * lo is left out: 2^-8 * 2^-16 S = u S.
//         f32 x    x = hi + mid + lo by truncation, phi by rounding; left out are mid * lo (2^-7 * 2^-17), lo * mid
//                  (2^-15 * 2^-8) and lo * lo: 3 u S, of random signs since rounding gives phi's terms random ones.
//         sums     of 16 products, of 128 such sums per term of x and run of 4096, of K / 4096 runs, of 3 terms:
//                  at most (17 + 128 * terms of x + K / 4096 + 2) u S, as everywhere in f32 far less when signs vary.
//         denormal numbers, terms and sums count as zero: at most 2^-126 per factor, K * 2^-124 * (max |x| + max |phi|
//                  + 1) in all.
// Special A token with a sum that is not finite is computed again by the portable variant. It alone, so that its bits
//         are those of f32 arithmetic whatever the terms of infinity are.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_PROJECTIONAMX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_PROJECTIONAMX_INL_H
#undef MHCRT_CPU_PROJECTIONAMX_INL_H
#else
#define MHCRT_CPU_PROJECTIONAMX_INL_H
#endif

#include "cpu/ProjectionFma-inl.h"

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// phi * norm_weight of outputs j0 .. j0+outputs-1 and one step of K from k0 on: [output][kAmxStep], zeros behind K.
HWY_INLINE void loadPhiStep(const ProjectionCall &args, int64_t k0, int64_t j0, int64_t outputs, float *to) {
  const int64_t count = HWY_MIN(kAmxStep, args.K - k0);
  if (count < kAmxStep)
    std::memset(to, 0, outputs * kAmxStep * sizeof(float));
  HWY_ALIGN float weight[kAmxStep] = {}, row[kPackedOutputs];
  if (args.weight)
    widenAny(args.weight, args.weightType, k0, count, weight);
  if (args.phiLayout == MHCRT_PHI_LAYOUT_OUT_IN) {
    for (int64_t j = 0; j < outputs; ++j)
      widenAny(args.phi, args.phiType, (j0 + j) * args.K + k0, count, to + j * kAmxStep);
  } else {
    for (int64_t k = 0; k < count; ++k) {
      widenAny(args.phi, args.phiType, (k0 + k) * args.N + j0, outputs, row);
      for (int64_t j = 0; j < outputs; ++j)
        to[j * kAmxStep + k] = row[j];
    }
  }
  if (args.weight)
    for (int64_t i = 0; i < outputs * kAmxStep; i += kLanes)
      store(hn::Mul(load(to + i), load(weight + i % kAmxStep)), to + i);
}

/// The next bf16 term of each lane, in the high 16 bits; `rest` loses it.
HWY_INLINE hn::Vec<DU> takeTerm(V &rest) {
  const auto term = hn::And(roundBf16(rest), hn::Set(du, 0xFFFF0000u));
  rest = hn::Sub(rest, hn::BitCast(d, term));
  return term;
}

/// One output's step as AmxProduct's pairs: [term][pair].
HWY_INLINE void splitPhiStep(const ProjectionCall &args, const float *from, uint32_t *words) {
  constexpr int64_t kPairs = kAmxStep / 2;
  HWY_ALIGN float halves[kAmxStep];
  if (args.type == MHCRT_BF16) {
    for (int64_t i = 0; i < kPairs; ++i)
      halves[i] = from[2 * i], halves[kPairs + i] = from[2 * i + 1];
    from = halves;
  }
  for (int64_t i = 0; i < kPairs; i += kLanes) {
    V a = load(from + i), b = load(from + kPairs + i);
    for (int64_t term = 0; term < args.phiTerms(); ++term) {
      const auto low = hn::ShiftRight<16>(takeTerm(a));
      hn::StoreU(hn::Or(low, takeTerm(b)), du, words + term * kPairs + i);
    }
  }
}

/// Chunk `chunk` of phi * norm_weight as AmxProduct::phi, with zeros in the last tile's idle columns.
HWY_INLINE void packTiles(const ProjectionCall &args, int64_t chunk, uint16_t *packed) {
  auto *pairs = reinterpret_cast<uint32_t *>(packed);
  HWY_ALIGN float block[kPackedOutputs * kAmxStep];
  HWY_ALIGN uint32_t words[3 * kAmxStep / 2];
  const int64_t k1 = HWY_MIN((chunk + 1) * kChunk, args.K);
  for (int64_t k = chunk * kChunk; k < k1; k += kAmxStep, pairs += args.amxTiles() * kAmxTile / 2) {
    std::memset(pairs + (args.amxTiles() - 1) * kAmxTile / 2, 0, kAmxTile * sizeof(uint16_t));
    for (int64_t j0 = 0; j0 < args.N; j0 += kPackedOutputs) {
      const int64_t outputs = HWY_MIN(kPackedOutputs, args.N - j0);
      loadPhiStep(args, k, j0, outputs, block);
      for (int64_t j = 0; j < outputs; ++j) {
        splitPhiStep(args, block + j * kAmxStep, words);
        for (int64_t term = 0; term < args.phiTerms(); ++term) {
          const int64_t column = term * args.N + j0 + j;
          uint32_t *to = pairs + column / kAmxColumns * (kAmxTile / 2) + column % kAmxColumns;
          for (int64_t pair = 0; pair < kAmxStep / 2; ++pair)
            to[pair * kAmxColumns] = words[term * kAmxStep / 2 + pair];
        }
      }
    }
  }
}

/// `count` tokens' elements, `length` of them, with zeros up to a whole step. Rows without a token stay as they are:
/// nobody reads their results.
template <typename T>
HWY_INLINE void copyRows(const T *x, int64_t K, int64_t count, int64_t length, T *to) {
  for (int64_t t = 0; t < count; ++t, x += K, to += kAmxRun) {
    std::memcpy(static_cast<void *>(to), x, length * sizeof(T));
    std::memset(static_cast<void *>(to + length), 0, (roundUp(length, kAmxStep) - length) * sizeof(T));
  }
}

HWY_INLINE void multiplyByAmx(const AmxUnit &unit, int32_t type, const AmxProduct &product) {
  if (type == MHCRT_F32)
    unit.multiplyF32(product);
  else if (type == MHCRT_BF16)
    unit.multiplyBf16(product);
  else
    unit.multiplyF16(product);
}

/// Fills scratch.sums and scratch.squares.
template <typename T>
HWY_INLINE void sumByAmx(const ProjectionCall &args, const char *packed, int64_t first, int64_t count,
                         const ProjectionScratch &scratch) {
  const T *x = static_cast<const T *>(args.x) + first * args.K;
  const int64_t groups = divideUp(count, kAmxTokens);
  const int64_t groupSums = args.amxTiles() * kAmxTokens * kAmxColumns;
  std::memset(scratch.accumulators, 0, groups * groupSums * sizeof(float));
  std::memset(scratch.squares, 0, groups * kAmxTokens * kAmxColumns * sizeof(float));
  args.amx->begin();
  for (int64_t k0 = 0; k0 < args.K; k0 += kAmxRun) {
    const int64_t length = HWY_MIN(kAmxRun, args.K - k0);
    const auto *phi = reinterpret_cast<const uint16_t *>(packed + k0 / kChunk * args.chunkBytes());
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t t0 = g * kAmxTokens, tokens = HWY_MIN(kAmxTokens, count - t0);
      const T *rows = x + t0 * args.K + k0;
      int64_t rowLength = args.K;
      if (tokens < kAmxTokens || length % kAmxStep != 0) {
        T *copy = reinterpret_cast<T *>(scratch.x);
        copyRows(rows, args.K, tokens, length, copy);
        rows = copy, rowLength = kAmxRun;
      }
      multiplyByAmx(*args.amx, args.type,
                    {rows, rowLength * static_cast<int64_t>(sizeof(T)), phi, divideUp(length, kAmxStep),
                     args.amxTiles(), args.amxTilesOf(2), args.amxTilesOf(1), scratch.accumulators + g * groupSums,
                     scratch.squares + t0 * kAmxColumns});
    }
  }
  args.amx->end();
}

/// Tokens [first, first+count) with f32 multiply-adds, count at most ProjectionCall::portable().tile, to scratch.again.
template <typename T>
HWY_NOINLINE ProjectionScratch projectAgain(const ProjectionCall &args, int64_t first, int64_t count,
                                            const ProjectionScratch &scratch) {
  const ProjectionCall portable = args.portable();
  const ProjectionScratch again(portable, scratch.again + portable.chunkBytes());
  float *panels = reinterpret_cast<float *>(scratch.again);
  projectByFma<T>(
      portable,
      [&](int64_t chunk) HWY_ATTR {
        packChunk(portable, chunk, panels);
        return panels;
      },
      first, count, again);
  return again;
}

HWY_INLINE bool allFinite(const float *values, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (!std::isfinite(values[i]))
      return false;
  return true;
}

template <typename T>
HWY_INLINE void projectByAmx(const ProjectionCall &args, const char *packed, int64_t first, int64_t count,
                             const ProjectionScratch &scratch) {
  sumByAmx<T>(args, packed, first, count, scratch);
  const int64_t N = args.N, groupSums = args.amxTiles() * kAmxTokens * kAmxColumns;
  for (int64_t t = 0; t < count; ++t) {
    const float *sums = scratch.accumulators + t / kAmxTokens * groupSums + t % kAmxTokens * kAmxColumns;
    auto sum = [&](int64_t column) {
      return sums[column / kAmxColumns * kAmxTokens * kAmxColumns + column % kAmxColumns];
    };
    for (int64_t j = 0; j < N; ++j)
      scratch.proj[t * N + j] = args.phiTerms() == 1 ? sum(j) : sum(j) + (sum(N + j) + sum(2 * N + j));
    float squares = 0.0f;
    for (int64_t lane = 0; lane < kAmxColumns; lane += kLanes)
      squares += sumLanes(load(scratch.squares + t * kAmxColumns + lane));
    scratch.stat[t] = squares / static_cast<float>(args.K);
  }
  const int64_t again = args.portable().tile;
  for (int64_t t0 = 0; t0 < count; t0 += again) {
    const int64_t tokens = HWY_MIN(again, count - t0);
    if (allFinite(scratch.proj + t0 * N, tokens * N))
      continue;
    const ProjectionScratch exact = projectAgain<T>(args, first + t0, tokens, scratch);
    for (int64_t t = 0; t < tokens; ++t)
      if (!allFinite(scratch.proj + (t0 + t) * N, N))
        std::memcpy(scratch.proj + (t0 + t) * N, exact.proj + t * N, N * sizeof(float));
  }
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_PROJECTIONAMX_INL_H
