//===- ProjectionBwd-inl.h - d_x and d_phi from one look at x ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The register tiles of projection_bwd.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_PROJECTION_BWD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_PROJECTION_BWD_INL_H
#undef MHCRT_CPU_PROJECTION_BWD_INL_H
#else
#define MHCRT_CPU_PROJECTION_BWD_INL_H
#endif

#include "cpu/ProjectionBwd.h"
#include "cpu/Simd-inl.h"
#include "cpu/Tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// Register tiles, by the number of vector registers: tokens x vectors of d_x, rows x vectors of d_phi.
constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86;
constexpr int kTileTokens = kManyRegisters ? 4 : 2;
constexpr int kTileRows = kManyRegisters ? 6 : 3;
constexpr int kTileVectors = kManyRegisters ? 4 : 2;
static_assert(kGradRows % kTileRows == 0 && kGradTokens % kTileTokens == 0, "a group is whole register tiles");
static_assert(kGradBlock % (kTileVectors * kLanes) == 0, "a block is whole register tiles");

/// Block `block` of phi * weight as rows of kGradBlock; zeros behind K and N. `scaled` is false for phi alone.
HWY_NOINLINE void packPhiBlock(const ProjectionBwdCall &args, int64_t block, bool scaled, float *to) {
  const int64_t k0 = block * kGradBlock, count = HWY_MIN(kGradBlock, args.K - k0);
  HWY_ALIGN float weight[kGradBlock];
  std::memset(to, 0, args.rows() * kGradBlock * sizeof(float));
  if (args.phiLayout == MHCRT_PHI_LAYOUT_OUT_IN) {
    for (int64_t j = 0; j < args.N; ++j)
      widenAny(args.phi, args.phiType, j * args.K + k0, count, to + j * kGradBlock);
  } else {
    HWY_ALIGN float column[kGradBlock];
    for (int64_t k = 0; k < count; ++k)
      for (int64_t j0 = 0; j0 < args.N; j0 += kGradBlock) {
        const int64_t columns = HWY_MIN(kGradBlock, args.N - j0);
        widenAny(args.phi, args.phiType, (k0 + k) * args.N + j0, columns, column);
        for (int64_t j = 0; j < columns; ++j)
          to[(j0 + j) * kGradBlock + k] = column[j];
      }
  }
  if (!args.weight || !scaled)
    return;
  widenAny(args.weight, args.weightType, k0, count, weight);
  for (int64_t j = 0; j < args.N; ++j)
    for (int64_t k = 0; k < count; ++k)
      to[j * kGradBlock + k] *= weight[k];
}

/// dx[t][k] = sum_j dProj[t][j] * phi[j][k] for a group of tokens.
HWY_NOINLINE void multiplyByPhi(const float *dProj, int64_t rows, int64_t N, const float *phi, float *dx) {
  for (int64_t t = 0; t < kGradTokens; t += kTileTokens)
    for (int64_t k = 0; k < kGradBlock; k += kTileVectors * kLanes) {
      V sums[kTileTokens][kTileVectors];
#pragma GCC unroll 4
      for (int a = 0; a < kTileTokens; ++a)
#pragma GCC unroll 4
        for (int b = 0; b < kTileVectors; ++b)
          sums[a][b] = hn::Zero(d);
#pragma GCC unroll 1
      for (int64_t j = 0; j < N; ++j) {
        V w[kTileVectors];
#pragma GCC unroll 4
        for (int b = 0; b < kTileVectors; ++b)
          w[b] = load(phi + j * kGradBlock + k + b * kLanes);
#pragma GCC unroll 4
        for (int a = 0; a < kTileTokens; ++a) {
          const V g = hn::Set(d, dProj[(t + a) * rows + j]);
#pragma GCC unroll 4
          for (int b = 0; b < kTileVectors; ++b)
            sums[a][b] = hn::MulAdd(g, w[b], sums[a][b]);
        }
      }
#pragma GCC unroll 4
      for (int a = 0; a < kTileTokens; ++a)
#pragma GCC unroll 4
        for (int b = 0; b < kTileVectors; ++b)
          store(sums[a][b], dx + (t + a) * kGradBlock + k + b * kLanes);
    }
}

/// product[j][k] += sum_t dProj[t][j] * x[t][k] for a group of tokens.
HWY_NOINLINE void addProduct(const float *dProj, int64_t rows, int64_t N, const float *x, float *product) {
  for (int64_t k = 0; k < kGradBlock; k += kTileVectors * kLanes)
    for (int64_t j = 0; j < roundUp(N, kTileRows); j += kTileRows) {
      V sums[kTileRows][kTileVectors];
#pragma GCC unroll 6
      for (int a = 0; a < kTileRows; ++a)
#pragma GCC unroll 4
        for (int b = 0; b < kTileVectors; ++b)
          sums[a][b] = hn::Zero(d);
#pragma GCC unroll 1
      for (int64_t t = 0; t < kGradTokens; ++t) {
        V in[kTileVectors];
#pragma GCC unroll 4
        for (int b = 0; b < kTileVectors; ++b)
          in[b] = load(x + t * kGradBlock + k + b * kLanes);
#pragma GCC unroll 6
        for (int a = 0; a < kTileRows; ++a) {
          const V g = hn::Set(d, dProj[t * rows + j + a]);
#pragma GCC unroll 4
          for (int b = 0; b < kTileVectors; ++b)
            sums[a][b] = hn::MulAdd(g, in[b], sums[a][b]);
        }
      }
#pragma GCC unroll 6
      for (int a = 0; a < kTileRows; ++a)
#pragma GCC unroll 4
        for (int b = 0; b < kTileVectors; ++b) {
          float *sum = product + (j + a) * kGradBlock + k + b * kLanes;
          store(hn::Add(load(sum), sums[a][b]), sum);
        }
    }
}

/// row[k] += h_pre * d_u for `count` elements of a token from k0 on.
HWY_INLINE void addAggregate(const ProjectionBwdCall &args, int64_t m, int64_t k0, int64_t count, float *row) {
  HWY_ALIGN float du[kGradBlock];
  const int64_t n = args.n, C = args.C;
  const float *h = args.hPre + m * n;
  if (args.layout == MHCRT_LAYOUT_CN) {
    int64_t c = 0, i = k0 % n;
    widenAny(args.du, args.type, m * C + k0 / n, divideUp(i + count, n), du);
    for (int64_t k = 0; k < count; ++k) {
      row[k] += h[i] * du[c];
      if (++i == n)
        i = 0, ++c;
    }
    return;
  }
  for (int64_t k = 0; k < count;) { // the part of one stream
    const int64_t i = (k0 + k) / C, c = (k0 + k) % C, part = HWY_MIN(count - k, C - c);
    const V weight = hn::Set(d, h[i]);
    widenAny(args.du, args.type, m * C + c, part, du);
    for (int64_t t = 0; t < part; t += kLanes)
      storeSome(hn::MulAdd(weight, loadSome(du + t, part - t), loadSome(row + k + t, part - t)), row + k + t, part - t);
    k += part;
  }
}

/// row[t] += sum_o weights[o] * dOut[o*C + t] for `count` elements.
template <typename T>
HWY_INLINE void addStreams(const T *dOut, const float *weights, int64_t n, int64_t C, int64_t count, float *row) {
  for (int64_t t = 0; t < count; t += kLanes) {
    V sum = loadSome(row + t, count - t);
    for (int64_t o = 0; o < n; ++o)
      sum = hn::MulAdd(hn::Set(d, weights[o]), loadSome(dOut + o * C + t, count - t), sum);
    storeSome(sum, row + t, count - t);
  }
}

/// row[k] += sum_o A[o,i] * d_out[o,c] for `count` elements of a token from k0 on.
HWY_INLINE void addMixed(const ProjectionBwdCall &args, int64_t m, int64_t k0, int64_t count, float *row) {
  HWY_ALIGN float from[kGradBlock];
  const int64_t n = args.n, C = args.C;
  const float *h = args.hRes + m * n * n;
  const bool outputFirst = args.orient == MHCRT_ORIENT_OI;
  auto weight = [&](int64_t o, int64_t i) { return outputFirst ? h[o * n + i] : h[i * n + o]; };
  if (args.layout == MHCRT_LAYOUT_CN) {
    for (int64_t k = 0; k < count; ++k) {
      const int64_t i = (k0 + k) % n;
      widenAny(args.dOut, args.type, m * args.K + k0 + k - i, n, from);
      for (int64_t o = 0; o < n; ++o)
        row[k] += weight(o, i) * from[o];
    }
    return;
  }
  for (int64_t k = 0; k < count;) { // the part of one stream
    const int64_t i = (k0 + k) / C, c = (k0 + k) % C, part = HWY_MIN(count - k, C - c);
    float weights[16];
    for (int64_t o = 0; o < n; ++o)
      weights[o] = weight(o, i);
    const int64_t at = m * args.K + c;
    if (args.type == MHCRT_F32)
      addStreams(static_cast<const float *>(args.dOut) + at, weights, n, C, part, row + k);
    else if (args.type == MHCRT_BF16)
      addStreams(static_cast<const Bf16 *>(args.dOut) + at, weights, n, C, part, row + k);
    else
      addStreams(static_cast<const F16 *>(args.dOut) + at, weights, n, C, part, row + k);
    k += part;
  }
}

/// row[k] += the terms of d_x other than d_proj W: d_x_in or what d_out gives, + factor * x + h_pre * d_u. `x` are
/// kGradBlock elements. They come last: the products of d_proj are many, and small beside what d_out gives.
HWY_INLINE void addOthers(const ProjectionBwdCall &args, int64_t m, int64_t k0, int64_t count, const float *x,
                          float *row) {
  if (args.factor) {
    const V factor = hn::Set(d, args.factor[m]);
    for (int64_t k = 0; k < kGradBlock; k += kLanes)
      store(hn::MulAdd(factor, load(x + k), load(row + k)), row + k);
  }
  if (args.hPre)
    addAggregate(args, m, k0, count, row);
  if (!args.dxIn && !args.dOut)
    return;
  HWY_ALIGN float start[kGradBlock]; // one number of both, as of post_bwd
  if (args.dxIn)
    widenAny(args.dxIn, args.dxInType, m * args.K + k0, count, start);
  else
    std::memset(start, 0, sizeof(start));
  if (args.dOut)
    addMixed(args, m, k0, count, start);
  for (int64_t k = 0; k < count; ++k)
    row[k] += start[k];
}

/// d_x of one token, kGradBlock channels from c on of all four streams; the terms as of addOthers. Stream i of `sums`
/// is at i * sumStride, that of `dx` at i * dxStride.
template <bool kStream, typename T, typename A>
HWY_INLINE void writeFour(const ProjectionBwdCall &args, int64_t m, int64_t c, const float *sums, int64_t sumStride,
                          A *dx, int64_t dxStride) {
  const int64_t C = args.C, token = m * args.K + c;
  const T *x = static_cast<const T *>(args.x) + token;
  const T *u = args.hPre ? static_cast<const T *>(args.du) + m * C + c : nullptr;
  const T *dOut = args.dOut ? static_cast<const T *>(args.dOut) + token : nullptr;
  const A *dxIn = args.dxIn ? static_cast<const A *>(args.dxIn) + token : nullptr;
  const V factor = hn::Set(d, args.factor ? args.factor[m] : 0.0f);
  float mix[16], h[4];
  for (int k = 0; k < 16 && dOut; ++k)
    mix[k] = args.hRes[m * 16 + placeInMix(args.orient, k)];
  for (int i = 0; i < 4; ++i)
    h[i] = u ? args.hPre[m * 4 + i] : 0.0f;
  for (int64_t k = 0; k < kGradBlock; k += 2 * kLanes) {
    V uA = hn::Zero(d), uB = hn::Zero(d), gA[4], gB[4], a, b, xA, xB;
    if (u)
      loadPair(u + k, uA, uB);
    for (int o = 0; o < 4 && dxIn; ++o)
      prefetchRow(dxIn + o * C, k, kGradBlock, kTokensAhead * args.K);
    for (int o = 0; o < 4 && dOut; ++o) {
      prefetchRow(dOut + o * C, k, kGradBlock, kTokensAhead * args.K);
      loadPair(dOut + o * C + k, gA[o], gB[o]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      loadPairAs<T>(sums + i * sumStride + k, a, b);
      if (args.factor) {
        loadPair(x + i * C + k, xA, xB);
        a = hn::MulAdd(factor, xA, a);
        b = hn::MulAdd(factor, xB, b);
      }
      if (u) {
        a = hn::MulAdd(hn::Set(d, h[i]), uA, a);
        b = hn::MulAdd(hn::Set(d, h[i]), uB, b);
      }
      if (dOut) {
        V mixedA = hn::Zero(d), mixedB = hn::Zero(d);
#pragma GCC unroll 4
        for (int o = 0; o < 4; ++o) {
          mixedA = hn::MulAdd(hn::Set(d, mix[o * 4 + i]), gA[o], mixedA);
          mixedB = hn::MulAdd(hn::Set(d, mix[o * 4 + i]), gB[o], mixedB);
        }
        a = hn::Add(a, mixedA);
        b = hn::Add(b, mixedB);
      } else if (dxIn) {
        loadPairAs<T>(dxIn + i * C + k, xA, xB);
        a = hn::Add(a, xA);
        b = hn::Add(b, xB);
      }
      storePairAs<kStream, T>(a, b, dx + i * dxStride + k);
    }
  }
}

/// The joined blocks from `place` on of some tokens, whose sums are at [stream][sumStride], a token at [kGradBlock].
/// `post` has kPostBwdSums vectors for each token.
template <typename T, typename A>
HWY_NOINLINE void writeJoined(const ProjectionBwdCall &args, int64_t m, int64_t tokens, int64_t place,
                              const float *sums, int64_t sumStride, float *post) {
  constexpr int64_t kVectors = kPostBwdSums * kLanes;
  const int64_t c = place / 4 * kGradBlock, slice = place / kSliceBlocks;
  if (args.post && place == slice * kSliceBlocks)
    std::memset(post, 0, tokens * kVectors * sizeof(float));
  for (int64_t t = 0; t < tokens; ++t, sums += kGradBlock, post += kVectors) {
    if (!args.post) {
      A *dx = static_cast<A *>(args.dx) + (m + t) * args.K + c;
      if (args.stream)
        writeFour<true, T>(args, m + t, c, sums, sumStride, dx, args.C);
      else
        writeFour<false, T>(args, m + t, c, sums, sumStride, dx, args.C);
      continue;
    }
    HWY_ALIGN T dy[4 * kGradBlock];
    writeFour<false, T>(args, m + t, c, sums, sumStride, dy, kGradBlock);
    postBwdChannels(args.post->call, m + t, c, kGradBlock, dy, nullptr, post);
    if (place + 4 < args.sliceEnd(slice))
      continue;
    float *to = args.post->sums + (slice * args.M + m + t) * kPostBwdSums;
    for (int64_t k = 0; k < kPostBwdSums; ++k)
      to[k] = sumLanes(load(post + k * kLanes));
  }
}

/// A thread's buffers for the register tiles.
struct GradScratch {
  float *x;     ///< [kGradTokens][kGradBlock]
  float *dx;    ///< [joined][kGradTokens][kGradBlock]
  float *dProj; ///< [kGradTokens][rows]
  float *post;  ///< [kGradTokens][kPostBwdSums] vectors

  GradScratch(const ProjectionBwdCall &args, float *base)
      : x(base), dx(x + kGradTokens * kGradBlock), dProj(dx + args.joined() * kGradTokens * kGradBlock),
        post(dProj + kGradTokens * args.rows()) {}
};

/// d_proj of a group, with zeros for what is not there.
HWY_INLINE void loadGradients(const ProjectionBwdCall &args, int64_t m, int64_t tokens, float *dProj) {
  std::memset(dProj, 0, kGradTokens * args.rows() * sizeof(float));
  for (int64_t t = 0; t < tokens; ++t)
    std::memcpy(dProj + t * args.rows(), args.dProj + (m + t) * args.N, args.N * sizeof(float));
}

/// The products of one block of at most kGradTokens tokens, whose gradients are in scratch.dProj, and its x. `product`
/// and `phi` are the block's; null where they are not wanted.
HWY_INLINE void multiplyBlocks(const ProjectionBwdCall &args, int64_t m, int64_t tokens, int64_t block,
                               const float *phi, float *product, float *dx, const GradScratch &scratch) {
  const int64_t k0 = block * kGradBlock, count = HWY_MIN(kGradBlock, args.K - k0);
  if (tokens < kGradTokens || count < kGradBlock) // what is not there counts as zero
    std::memset(scratch.x, 0, kGradTokens * kGradBlock * sizeof(float));
  for (int64_t t = 0; t < tokens; ++t)
    widenAny(args.x, args.type, (m + t) * args.K + k0, count, scratch.x + t * kGradBlock);
  if (product)
    addProduct(scratch.dProj, args.rows(), args.N, scratch.x, product);
  if (phi)
    multiplyByPhi(scratch.dProj, args.rows(), args.N, phi, dx);
}

/// The same, and the block's d_x.
HWY_NOINLINE void multiplyGroup(const ProjectionBwdCall &args, int64_t m, int64_t tokens, int64_t block,
                                const float *phi, float *product, const GradScratch &scratch) {
  const int64_t k0 = block * kGradBlock, count = HWY_MIN(kGradBlock, args.K - k0);
  multiplyBlocks(args, m, tokens, block, phi, product, scratch.dx, scratch);
  if (!phi)
    return;
  for (int64_t t = 0; t < tokens; ++t)
    addOthers(args, m + t, k0, count, scratch.x + t * kGradBlock, scratch.dx + t * kGradBlock);
  for (int64_t t = 0; t < tokens; ++t)
    narrowAny(scratch.dx + t * kGradBlock, count, args.dx, args.dxType, (m + t) * args.K + k0);
}

/// Asks for the rows of x of a group's block, which the second-level cache gets: memory takes longer than their
/// products.
HWY_INLINE void askForBlock(const ProjectionBwdCall &args, int64_t m, int64_t last, int64_t block) {
  const int64_t bytes = mhcrt_dtype_bytes(args.type), k0 = block * kGradBlock;
  for (int64_t t = m; t < HWY_MIN(last, m + kGradTokens); ++t) {
    const char *row = static_cast<const char *>(args.x) + (t * args.K + k0) * bytes;
    for (int64_t byte = 0; byte < HWY_MIN(kGradBlock, args.K - k0) * bytes; byte += 64)
      __builtin_prefetch(row + byte, 0, 2);
  }
}

/// As writeJoined of a call's types.
HWY_INLINE void writeJoinedAny(const ProjectionBwdCall &args, int64_t m, int64_t tokens, int64_t place,
                               const GradScratch &scratch) {
  constexpr int64_t kStride = kGradTokens * kGradBlock;
  if (args.type == MHCRT_F32)
    writeJoined<float, float>(args, m, tokens, place, scratch.dx, kStride, scratch.post);
  else if (args.dxType == MHCRT_F32)
    writeJoined<Bf16, float>(args, m, tokens, place, scratch.dx, kStride, scratch.post);
  else
    writeJoined<Bf16, Bf16>(args, m, tokens, place, scratch.dx, kStride, scratch.post);
}

/// One tile by vector multiply-adds: the blocks of a slice for the tokens [first, last). `product` has zeros.
HWY_INLINE void multiplyTile(const ProjectionBwdCall &args, const float *phi, float *product, int64_t slice,
                             int64_t first, int64_t last, float *base) {
  const int64_t blockFloats = args.rows() * kGradBlock, joined = args.joined();
  const GradScratch scratch(args, base);
  for (int64_t m = first; m < last; m += kGradTokens) {
    const int64_t tokens = HWY_MIN(kGradTokens, last - m);
    loadGradients(args, m, tokens, scratch.dProj);
    for (int64_t place = slice * kSliceBlocks; place < args.sliceEnd(slice); ++place) {
      const int64_t block = args.blockAt(place), part = place % joined;
      askForBlock(args, place + 1 < args.sliceEnd(slice) ? m : m + kGradTokens, last,
                  args.blockAt(place + 1 < args.sliceEnd(slice) ? place + 1 : slice * kSliceBlocks));
      const float *blockPhi = args.makesDx() ? phi + block * blockFloats : nullptr;
      float *blockProduct = args.wantsProduct() ? product + block * blockFloats : nullptr;
      if (!args.joinsStreams()) {
        multiplyGroup(args, m, tokens, block, blockPhi, blockProduct, scratch);
        continue;
      }
      multiplyBlocks(args, m, tokens, block, blockPhi, blockProduct, scratch.dx + part * kGradTokens * kGradBlock,
                     scratch);
      if (part + 1 == joined)
        writeJoinedAny(args, m, tokens, place + 1 - joined, scratch);
    }
  }
  if (args.joinsStreams())
    hwy::FlushStream();
}

/// The gradients of phi and norm_weight of one block from the runs' products. `sum` has room for a block of floats.
HWY_INLINE void finishProduct(const ProjectionBwdCall &args, const float *products, int64_t runs, int64_t block,
                              float *sum) {
  const int64_t rows = args.rows(), N = args.N, blockFloats = rows * kGradBlock;
  const int64_t k0 = block * kGradBlock, count = HWY_MIN(kGradBlock, args.K - k0);
  addPartials(products + block * blockFloats, runs, args.productFloats(), 0, N * kGradBlock, nullptr, sum);
  if (args.dWeight) {
    HWY_ALIGN float grad[kGradBlock] = {};
    float *phi = sum + blockFloats;
    packPhiBlock(args, block, /*scaled=*/false, phi);
    for (int64_t j = 0; j < N; ++j)
      for (int64_t k = 0; k < kGradBlock; k += kLanes)
        store(hn::MulAdd(load(sum + j * kGradBlock + k), load(phi + j * kGradBlock + k), load(grad + k)), grad + k);
    for (int64_t k = 0; k < count; ++k)
      args.dWeight[k0 + k] = (args.dWeightIn ? args.dWeightIn[k0 + k] : 0.0f) + grad[k];
  }
  if (!args.dPhi)
    return;
  HWY_ALIGN float weight[kGradBlock];
  if (args.weight)
    widenAny(args.weight, args.weightType, k0, count, weight);
  const bool rowsFirst = args.phiLayout == MHCRT_PHI_LAYOUT_OUT_IN;
  for (int64_t j = 0; j < N; ++j)
    for (int64_t k = 0; k < count; ++k) {
      const int64_t to = rowsFirst ? j * args.K + k0 + k : (k0 + k) * N + j;
      const float grad = args.weight ? sum[j * kGradBlock + k] * weight[k] : sum[j * kGradBlock + k];
      args.dPhi[to] = (args.dPhiIn ? args.dPhiIn[to] : 0.0f) + grad;
    }
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_PROJECTION_BWD_INL_H
