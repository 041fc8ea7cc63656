//===- ProjectionBwdAmx-inl.h - d_x and d_phi in matrix tiles ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The variant for matrix tiles (AmxGradient.h). d_proj and phi * norm_weight are sums of three bf16 terms by rounding,
// x by truncation: one term of bf16, two of f16, three of f32. Products of terms whose places add up to more than two
// are left out.
//
// Error   With u = 2^-24 and S the sum of the magnitudes of an output's products:
//         d_x      mid * lo twice (2^-9 * 2^-18) and lo * lo: u S / 4. Sums of 16 products, 2 * phiSteps() of those,
//                  and d_x's start: (17 + 2 * phiSteps() + 1) u S at most.
//         dW       as in ProjectionAmx-inl.h: 3 u S for f32 x, u S for f16, none for bf16. Sums of 16 products, added
//                  twice per 32 tokens and product of terms.
//         denormal numbers, terms and sums count as zero, as there.
// Special A token's block of d_x that is not finite, and a tile's block of dW that is not, are computed again by the
//         register tiles: each has the bits of f32 arithmetic, and no other token's change.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_PROJECTION_BWD_AMX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_PROJECTION_BWD_AMX_INL_H
#undef MHCRT_CPU_PROJECTION_BWD_AMX_INL_H
#else
#define MHCRT_CPU_PROJECTION_BWD_AMX_INL_H
#endif

#include "cpu/ProjectionBwd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// The terms of d_proj and of phi that meet in each product, those of one term of phi first.
constexpr int kGradTerm[] = {0, 1, 2, 0, 1, 0}, kPhiTerm[] = {0, 0, 0, 1, 1, 2};

/// The next bf16 term of each lane, in the high 16 bits; `rest` loses it.
HWY_INLINE hn::Vec<DU> takeGradTerm(V &rest) {
  const auto term = hn::And(roundBf16(rest), hn::Set(du, 0xFFFF0000u));
  rest = hn::Sub(rest, hn::BitCast(d, term));
  return term;
}

/// A block of phi * norm_weight as AmxPhiProduct::phi. `scratch` has room for four blocks.
HWY_INLINE void packPhiTiles(const ProjectionBwdCall &args, int64_t block, float *scratch, uint16_t *to) {
  packPhiBlock(args, block, /*scaled=*/true, scratch);
  auto *terms = reinterpret_cast<uint32_t *>(scratch + args.blockFloats()); // [term][rows][kGradBlock]
  for (int64_t i = 0; i < args.blockFloats(); i += kLanes) {
    V rest = load(scratch + i);
    for (int64_t term = 0; term < 3; ++term)
      hn::StoreU(takeGradTerm(rest), du, terms + term * args.blockFloats() + i);
  }
  const int64_t factors = args.phiProducts() * args.N, steps = args.phiSteps();
  auto factor = [&](int64_t q, int64_t k) HWY_ATTR {
    if (q >= factors)
      return hn::Zero(du);
    return hn::LoadU(du, terms + kPhiTerm[q / args.N] * args.blockFloats() + q % args.N * kGradBlock + k);
  };
  auto *pairs = reinterpret_cast<uint32_t *>(to);
  for (int64_t q = 0; q < steps * kAmxStep; q += 2)
    for (int64_t k = 0; k < kGradBlock; k += kLanes) {
      const int64_t tile = k / kAmxColumns * steps + q / kAmxStep;
      const auto pair = hn::Or(hn::ShiftRight<16>(factor(q, k)), factor(q + 1, k));
      hn::StoreU(pair, du, pairs + tile * (kAmxTile / 2) + q % kAmxStep / 2 * kAmxColumns + k % kAmxColumns);
    }
}

/// d_proj of a group of tokens in both orders; zeros for what is not there.
HWY_NOINLINE void packGradients(const ProjectionBwdCall &args, int64_t m, int64_t tokens,
                                const AmxGradScratch &scratch) {
  const int64_t N = args.N, rows = args.rows(), width = args.phiSteps() * kAmxStep;
  std::memset(scratch.gradient, 0, kAmxGroup * width * sizeof(uint16_t));
  std::memset(scratch.transposed, 0, 3 * rows * kAmxGroup * sizeof(uint16_t));
  for (int64_t t = 0; t < tokens; ++t) {
    const float *dProj = args.dProj + (m + t) * N;
    for (int64_t j = 0; j < N; j += kLanes) {
      V rest = loadSome(dProj + j, HWY_MIN(kLanes, N - j));
      for (int64_t term = 0; term < 3; ++term)
        hn::StoreU(hn::TruncateTo(d16, hn::ShiftRight<16>(takeGradTerm(rest))), d16, scratch.terms + term * rows + j);
    }
    for (int64_t p = 0; p < args.phiProducts(); ++p)
      std::memcpy(scratch.gradient + t * width + p * N, scratch.terms + kGradTerm[p] * rows, N * sizeof(uint16_t));
    for (int64_t term = 0; term < 3; ++term)
      for (int64_t j = 0; j < N; ++j)
        scratch.transposed[(term * rows + j) * kAmxGroup + t] = scratch.terms[term * rows + j];
  }
}

/// The terms of two tokens' blocks as a pair of AmxTokenSum::x: by truncation, which takes fewer steps.
template <typename T>
HWY_INLINE void splitPair(const T *even, const T *odd, int64_t terms, uint16_t *to) {
  const auto high = hn::Set(du, 0xFFFF0000u);
  for (int64_t k = 0; k < kGradBlock; k += kLanes) {
    V a = load(even + k), b = load(odd + k);
    auto *pairs = reinterpret_cast<uint32_t *>(to) + k;
    for (int64_t term = 0; term < terms; ++term, pairs += kGradBlock) {
      const auto leadA = hn::And(hn::BitCast(du, a), high), leadB = hn::And(hn::BitCast(du, b), high);
      hn::StoreU(hn::Or(hn::ShiftRight<16>(leadA), leadB), du, pairs);
      a = hn::Sub(a, hn::BitCast(d, leadA));
      b = hn::Sub(b, hn::BitCast(d, leadB));
    }
  }
}

/// The terms of a block of a group's x; zeros for what is not there.
template <typename T>
HWY_NOINLINE void splitBlock(const ProjectionBwdCall &args, int64_t m, int64_t tokens, int64_t block,
                             const AmxGradScratch &scratch) {
  constexpr int64_t kTerms = std::is_same_v<T, float> ? 3 : std::is_same_v<T, F16> ? 2 : 1;
  const int64_t k0 = block * kGradBlock, count = HWY_MIN(kGradBlock, args.K - k0);
  const T *x = static_cast<const T *>(args.x) + m * args.K + k0;
  for (int64_t t = 0; t < kAmxGroup; t += 2) {
    uint16_t *to = scratch.x + t * kTerms * kGradBlock;
    if (t + 2 <= tokens && count == kGradBlock) {
      splitPair(x + t * args.K, x + (t + 1) * args.K, kTerms, to);
      continue;
    }
    std::memset(scratch.rows, 0, 2 * kGradBlock * sizeof(float));
    for (int64_t e = 0; e < 2 && t + e < tokens; ++e)
      widen(x + (t + e) * args.K, count, scratch.rows + e * kGradBlock);
    splitPair(scratch.rows, scratch.rows + kGradBlock, kTerms, to);
  }
}

HWY_INLINE bool isFinite(const float *values, int64_t count) {
  auto most = hn::Zero(du);
  for (int64_t i = 0; i < count; i += kLanes)
    most = hn::Max(most, hn::BitCast(du, hn::Abs(load(values + i))));
  return hn::AllTrue(du, hn::Lt(most, hn::Set(du, 0x7F800000)));
}

/// d_x of a whole block of one token within one stream. `u` and `start` may be null.
template <bool kStream, typename T, typename S, typename A>
HWY_INLINE void writeRow(const float *sums, const T *x, float t, const T *u, float h, const S *start, A *dx) {
  const V factor = hn::Set(d, t), weight = hn::Set(d, h);
  for (int64_t k = 0; k < kGradBlock; k += 2 * kLanes) {
    V sum[2];
    for (int64_t i = 0; i < 2; ++i) {
      const int64_t at = k + i * kLanes;
      sum[i] = start ? load(start + at) : hn::Zero(d);
      sum[i] = hn::MulAdd(factor, load(x + at), sum[i]);
      if (u)
        sum[i] = hn::MulAdd(weight, load(u + at), sum[i]);
      sum[i] = hn::Add(sum[i], load(sums + at));
    }
    storePairAs<kStream, float>(sum[0], sum[1], dx + k);
  }
}

/// to[k] = sum_o A[o,i] * d_out[o,c] for a whole block of one token within stream i.
template <typename T>
HWY_INLINE void mixBlock(const ProjectionBwdCall &args, int64_t m, int64_t k0, float *to) {
  const int64_t n = args.n, i = k0 / args.C;
  const float *h = args.hRes + m * n * n;
  const T *from = static_cast<const T *>(args.dOut) + m * args.K + k0 % args.C;
  for (int64_t k = 0; k < kGradBlock; k += 2 * kLanes) {
    V sum[2] = {hn::Zero(d), hn::Zero(d)};
    for (int64_t o = 0; o < n; ++o) {
      const V weight = hn::Set(d, args.orient == MHCRT_ORIENT_OI ? h[o * n + i] : h[i * n + o]);
      sum[0] = hn::MulAdd(weight, load(from + o * args.C + k), sum[0]);
      sum[1] = hn::MulAdd(weight, load(from + o * args.C + k + kLanes), sum[1]);
    }
    store(sum[0], to + k);
    store(sum[1], to + k + kLanes);
  }
}

/// d_x of a block of one token.
template <typename T, typename A>
HWY_INLINE void writeToken(const ProjectionBwdCall &args, int64_t m, int64_t k0, const float *sums,
                           const AmxGradScratch &scratch) {
  const int64_t count = HWY_MIN(kGradBlock, args.K - k0), at = m * args.K + k0;
  A *dx = static_cast<A *>(args.dx) + at;
  const bool oneStream =
      (!args.hPre && !args.dOut) || (args.layout == MHCRT_LAYOUT_NC && k0 % args.C + count <= args.C);
  if (count < kGradBlock || !oneStream || (args.dxIn && args.dxInType != args.dxType)) {
    float *x = scratch.rows, *row = x + kGradBlock;
    widenAny(args.x, args.type, at, count, x);
    std::memset(row, 0, kGradBlock * sizeof(float));
    addOthers(args, m, k0, count, x, row);
    for (int64_t k = 0; k < count; k += kLanes)
      store(hn::Add(load(row + k), load(sums + k)), row + k);
    narrow(row, count, dx);
    return;
  }
  const T *x = static_cast<const T *>(args.x) + at;
  const T *u = args.hPre ? static_cast<const T *>(args.du) + m * args.C + k0 % args.C : nullptr;
  const float h = args.hPre ? args.hPre[m * args.n + k0 / args.C] : 0.0f, t = args.factor ? args.factor[m] : 0.0f;
  auto writeFrom = [&](const auto *start) HWY_ATTR {
    if (args.stream)
      writeRow<true>(sums, x, t, u, h, start, dx);
    else
      writeRow<false>(sums, x, t, u, h, start, dx);
  };
  if (!args.dOut)
    return writeFrom(args.dxIn ? static_cast<const A *>(args.dxIn) + at : nullptr);
  mixBlock<T>(args, m, k0, scratch.rows);
  writeFrom(static_cast<const float *>(scratch.rows));
}

/// d_x of a block of a group.
template <typename T, typename A>
HWY_NOINLINE void writeBlock(const ProjectionBwdCall &args, int64_t m, int64_t tokens, int64_t block,
                             const AmxGradScratch &scratch) {
  bool hasPhi = false;
  for (int64_t t = 0; t < tokens; ++t) {
    const float *sums = scratch.sums + t * kGradBlock;
    if (HWY_LIKELY(isFinite(sums, kGradBlock))) {
      writeToken<T, A>(args, m + t, block * kGradBlock, sums, scratch);
      continue;
    }
    if (!hasPhi)
      packPhiBlock(args, block, /*scaled=*/true, scratch.blocks);
    hasPhi = true;
    const GradScratch again(args, scratch.group);
    loadGradients(args, m + t, 1, again.dProj);
    multiplyGroup(args, m + t, 1, block, scratch.blocks, nullptr, again);
  }
}

/// As writeJoined, of sums that may not be finite.
template <typename T, typename A>
HWY_INLINE void writeJoinedGroup(const ProjectionBwdCall &args, int64_t m, int64_t tokens, int64_t place,
                                 const AmxGradScratch &scratch) {
  constexpr int64_t kStride = kAmxGroup * kGradBlock;
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t t = 0; t < tokens; ++t) {
      float *sums = scratch.sums + i * kStride + t * kGradBlock;
      if (HWY_LIKELY(isFinite(sums, kGradBlock)))
        continue;
      const GradScratch again(args, scratch.group);
      packPhiBlock(args, args.blockAt(place + i), /*scaled=*/true, scratch.blocks);
      loadGradients(args, m + t, 1, again.dProj);
      multiplyByPhi(again.dProj, args.rows(), args.N, scratch.blocks, again.dx);
      std::memcpy(sums, again.dx, kGradBlock * sizeof(float));
    }
  writeJoined<T, A>(args, m, tokens, place, scratch.sums, kStride, scratch.post);
}

/// The products of a tile's blocks that are not finite, once more.
HWY_NOINLINE void sumAgain(const ProjectionBwdCall &args, float *product, int64_t slice, int64_t first, int64_t last,
                           const AmxGradScratch &scratch) {
  const GradScratch again(args, scratch.group);
  for (int64_t place = slice * kSliceBlocks; place < args.sliceEnd(slice); ++place) {
    const int64_t block = args.blockAt(place);
    float *sums = product + block * args.blockFloats();
    if (HWY_LIKELY(isFinite(sums, args.blockFloats())))
      continue;
    std::memset(sums, 0, args.blockFloats() * sizeof(float));
    for (int64_t m = first; m < last; m += kGradTokens) {
      const int64_t tokens = HWY_MIN(kGradTokens, last - m);
      loadGradients(args, m, tokens, again.dProj);
      multiplyGroup(args, m, tokens, block, nullptr, sums, again);
    }
  }
}

/// A block of some tokens' rows of x, or of d_u.
HWY_INLINE AmxAhead rowsAhead(const ProjectionBwdCall &args, const void *data, int64_t width, int64_t m, int64_t k,
                              int64_t tokens) {
  if (tokens == 0) // d_u may be absent
    return {};
  const int64_t elementBytes = mhcrt_dtype_bytes(args.type);
  return {static_cast<const char *>(data) + (m * width + k) * elementBytes, width * elementBytes,
          HWY_MIN(kGradBlock, width - k) * elementBytes, tokens};
}

/// The block at `place` of a group whose d_proj is packed; `next` and `nextM` are what the thread comes to then.
template <typename T, typename A>
HWY_INLINE void multiplyBlock(const ProjectionBwdCall &args, const char *packed, float *product, int64_t m,
                              int64_t tokens, int64_t place, int64_t nextM, int64_t nextTokens, int64_t next,
                              const AmxGradScratch &scratch) {
  const AmxGradientUnit &unit = args.amx->gradients;
  const int64_t block = args.blockAt(place), part = place % args.joined();
  if (args.wantsProduct()) {
    splitBlock<T>(args, m, tokens, block, scratch);
    unit.sumTokens(
        {scratch.transposed, scratch.x, args.xTerms(), args.rows(), kGradBlock, product + block * args.blockFloats()});
  }
  if (!args.makesDx())
    return;
  const int64_t k = next * kGradBlock, duTokens = args.hPre && args.layout == MHCRT_LAYOUT_NC ? nextTokens : 0;
  unit.multiplyPhi({scratch.gradient,
                    reinterpret_cast<const uint16_t *>(packed + block * args.packedBlockBytes()),
                    args.phiSteps(),
                    kGradBlock,
                    scratch.sums + part * kAmxGroup * kGradBlock,
                    {rowsAhead(args, args.x, args.K, nextM, k, nextTokens),
                     rowsAhead(args, args.du, args.C, nextM, k % args.C, duTokens)}});
  if (!args.joinsStreams())
    writeBlock<T, A>(args, m, tokens, block, scratch);
  else if (part == 3)
    writeJoinedGroup<T, A>(args, m, tokens, place - 3, scratch);
}

/// One tile, as multiplyTile.
template <typename T, typename A>
HWY_INLINE void multiplyTileByAmx(const ProjectionBwdCall &args, const char *packed, float *product, int64_t slice,
                                  int64_t first, int64_t last, const AmxGradScratch &scratch) {
  const int64_t firstPlace = slice * kSliceBlocks, lastPlace = args.sliceEnd(slice);
  args.amx->begin();
  for (int64_t m = first; m < last; m += kAmxGroup) {
    const int64_t tokens = HWY_MIN(kAmxGroup, last - m);
    packGradients(args, m, tokens, scratch);
    for (int64_t place = firstPlace; place < lastPlace; ++place) {
      const bool wraps = place + 1 == lastPlace;
      const int64_t nextM = wraps ? m + kAmxGroup : m, nextTokens = HWY_MAX(0, HWY_MIN(kAmxGroup, last - nextM));
      multiplyBlock<T, A>(args, packed, product, m, tokens, place, nextM, nextTokens,
                          args.blockAt(wraps ? firstPlace : place + 1), scratch);
    }
  }
  args.amx->end();
  if (args.stream || args.post)
    hwy::FlushStream();
  if (args.wantsProduct())
    sumAgain(args, product, slice, first, last, scratch);
}

HWY_INLINE void multiplyTileByAmx(const ProjectionBwdCall &args, const char *packed, float *product, int64_t slice,
                                  int64_t first, int64_t last, char *base) {
  const AmxGradScratch scratch(args, base);
  const bool wide = args.dxType == MHCRT_F32;
  if (args.type == MHCRT_F32)
    multiplyTileByAmx<float, float>(args, packed, product, slice, first, last, scratch);
  else if (args.type == MHCRT_BF16 && wide)
    multiplyTileByAmx<Bf16, float>(args, packed, product, slice, first, last, scratch);
  else if (args.type == MHCRT_BF16)
    multiplyTileByAmx<Bf16, Bf16>(args, packed, product, slice, first, last, scratch);
  else if (wide)
    multiplyTileByAmx<F16, float>(args, packed, product, slice, first, last, scratch);
  else
    multiplyTileByAmx<F16, F16>(args, packed, product, slice, first, last, scratch);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_PROJECTION_BWD_AMX_INL_H
