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
HWY_INLINE void packPhiBlock(const ProjectionBwdCall &args, int64_t block, bool scaled, float *to) {
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

/// dx[t][k] += sum_j dProj[t][j] * phi[j][k] for a group of tokens.
HWY_INLINE void multiplyByPhi(const float *dProj, int64_t rows, int64_t N, const float *phi, float *dx) {
  for (int64_t t = 0; t < kGradTokens; t += kTileTokens)
    for (int64_t k = 0; k < kGradBlock; k += kTileVectors * kLanes) {
      V sums[kTileTokens][kTileVectors];
#pragma GCC unroll 4
      for (int a = 0; a < kTileTokens; ++a)
#pragma GCC unroll 4
        for (int b = 0; b < kTileVectors; ++b)
          sums[a][b] = load(dx + (t + a) * kGradBlock + k + b * kLanes);
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
HWY_INLINE void addProduct(const float *dProj, int64_t rows, int64_t N, const float *x, float *product) {
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

/// A thread's buffers for the register tiles.
struct GradScratch {
  float *x, *dx; ///< [kGradTokens][kGradBlock]
  float *dProj;  ///< [kGradTokens][rows]

  GradScratch(float *base) : x(base), dx(x + kGradTokens * kGradBlock), dProj(dx + kGradTokens * kGradBlock) {}
};

/// d_proj of a group, with zeros for what is not there.
HWY_INLINE void loadGradients(const ProjectionBwdCall &args, int64_t m, int64_t tokens, float *dProj) {
  std::memset(dProj, 0, kGradTokens * args.rows() * sizeof(float));
  for (int64_t t = 0; t < tokens; ++t)
    std::memcpy(dProj + t * args.rows(), args.dProj + (m + t) * args.N, args.N * sizeof(float));
}

/// One block of at most kGradTokens tokens, whose gradients are in scratch.dProj. `product` and `phi` are the block's;
/// null where they are not wanted.
HWY_INLINE void multiplyGroup(const ProjectionBwdCall &args, int64_t m, int64_t tokens, int64_t block, const float *phi,
                              float *product, const GradScratch &scratch) {
  const int64_t k0 = block * kGradBlock, count = HWY_MIN(kGradBlock, args.K - k0);
  if (tokens < kGradTokens || count < kGradBlock) // what is not there counts as zero
    std::memset(scratch.x, 0, kGradTokens * kGradBlock * sizeof(float));
  for (int64_t t = 0; t < tokens; ++t)
    widenAny(args.x, args.type, (m + t) * args.K + k0, count, scratch.x + t * kGradBlock);
  if (product)
    addProduct(scratch.dProj, args.rows(), args.N, scratch.x, product);
  if (!phi)
    return;
  std::memset(scratch.dx, 0, kGradTokens * kGradBlock * sizeof(float));
  multiplyByPhi(scratch.dProj, args.rows(), args.N, phi, scratch.dx);
  for (int64_t t = 0; t < tokens; ++t)
    addOthers(args, m + t, k0, count, scratch.x + t * kGradBlock, scratch.dx + t * kGradBlock);
  for (int64_t t = 0; t < tokens; ++t)
    narrowAny(scratch.dx + t * kGradBlock, count, args.dx, args.dxType, (m + t) * args.K + k0);
}

/// One tile by vector multiply-adds: the blocks of a slice for the tokens [first, last). `product` has zeros.
HWY_INLINE void multiplyTile(const ProjectionBwdCall &args, const float *phi, float *product, int64_t slice,
                             int64_t first, int64_t last, float *base) {
  const int64_t blockFloats = args.rows() * kGradBlock;
  const GradScratch scratch(base);
  for (int64_t m = first; m < last; m += kGradTokens) {
    const int64_t tokens = HWY_MIN(kGradTokens, last - m);
    loadGradients(args, m, tokens, scratch.dProj);
    for (int64_t place = slice * kSliceBlocks; place < args.sliceEnd(slice); ++place) {
      const int64_t block = args.blockAt(place);
      multiplyGroup(args, m, tokens, block, args.dx ? phi + block * blockFloats : nullptr,
                    args.wantsProduct() ? product + block * blockFloats : nullptr, scratch);
    }
  }
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
