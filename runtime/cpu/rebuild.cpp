//===- rebuild.cpp - Streams of several layers in one pass ----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   u[k]   = sum_i h_pre[k][i] * x[k][i]
//   x[k+1] = drop[k](h_post[k] * (f[k] + bias[k])) + A[k] x[k]      A = h_res (oi) or its transpose (io), x[0] = x
//
// Plan    Lanes along C. nC with n=4 and no dropout: strips of 512 channels, layer after layer, whose streams stay in
//         the first-level cache, so that x and each f are read once, no stream is read from memory, and few pages are
//         written at a time. Otherwise blocks of 256 channels as f32 planes, likewise. Large outputs bypass the caches
//         where a pair of vectors fills a cache line: parts of lines would not wait
//         for their rest.
// Bytes   per token (n + L*(n+1) + U)*C elements and 4*(L*(n*n + n) + U*n), with L layers and U inputs.
// Needs   at most 2^34 elements with a dropout; streaming stores need rows of a multiple of 64 bytes.
// Round   every stream to its storage type before the next layer: the bits of aggregate and post one after the other.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/rebuild.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Aggregate-inl.h"
#include "cpu/Post-inl.h"

#include "cpu/Entry.h"
#include "cpu/Tokens.h"
#include "src/Checks.h"

#ifndef MHCRT_CPU_REBUILD_CALL
#define MHCRT_CPU_REBUILD_CALL
namespace mhcrt {
/// Element k of each list belongs to layer k. There may be one input more than there are layers.
struct RebuildCall : RebuildArgs {
  bool bypasses; ///< the caches

  bool drops() const { return seed_count != 0; }
  Dropout dropoutOf(int64_t k) const { return {seed[k], rate, stream + k * stream_step}; }
  const void *biasOf(int64_t k) const { return bias_count ? bias[k] : nullptr; }
};
} // namespace mhcrt
#endif

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// Layers whose matrices are at hand at a time; more take several passes over a token.
constexpr int64_t kLayers = 16;

/// The layers [begin, end) of a token m. The last pass has the input behind the last layer, if that is wanted.
struct Pass {
  int64_t m, begin, end;
};

template <typename T>
HWY_INLINE const T *row(const void *data, int64_t index, int64_t size) {
  return static_cast<const T *>(data) + index * size;
}
template <typename T>
HWY_INLINE T *row(void *data, int64_t index, int64_t size) {
  return static_cast<T *>(data) + index * size;
}

HWY_INLINE V weighFour(const float *h, const V (&in)[4]) {
  V sum = hn::Mul(hn::Set(d, h[0]), in[0]);
  for (int i = 1; i < 4; ++i)
    sum = hn::MulAdd(hn::Set(d, h[i]), in[i], sum);
  return sum;
}

/// Channels that four streams of a layer keep in the first-level cache for the next one.
constexpr int64_t kStrip = 512;

/// Asks for what is read next where layer k is at channel c: f of the next layer, or behind the last layer the streams
/// and f of the next strip.
template <typename T>
HWY_INLINE void prefetchNext(const RebuildCall &args, Pass pass, const T *x, int64_t k, int64_t c, int64_t nextStrip) {
  if (k + 1 < pass.end) {
    prefetchPair(row<T>(args.f[k + 1], pass.m, args.C) + c);
    return;
  }
  for (int i = 0; i < 4; ++i)
    prefetchPair(x + i * args.C + nextStrip);
  prefetchPair(row<T>(args.f[pass.begin], pass.m, args.C) + nextStrip);
}

/// Layout nC with four streams: channels [first, first+count), whole pairs of vectors, one layer after the other.
template <bool kStream, typename T>
HWY_INLINE void rebuildStrip(const RebuildCall &args, Pass pass, const T *x, const float (*mixes)[16], int64_t first,
                             int64_t count) {
  HWY_ALIGN T strip[4 * kStrip];
  const int64_t C = args.C, m = pass.m;
  const T *in = x + first;
  int64_t stride = C;
  V inA[4], inB[4], sumsA[4], sumsB[4], a, b;
  for (int64_t k = pass.begin;; ++k) {
    const bool hasInput = k < args.u_count && (k < pass.end || k == args.out_count), hasLayer = k < pass.end;
    for (int64_t c = 0; c < count; c += 2 * kLanes) {
      for (int i = 0; i < 4; ++i)
        loadPair(in + i * stride + c, inA[i], inB[i]);
      if (hasInput) {
        const float *hPre = floats(args.h_pre)[k] + m * 4;
        storePair<kStream>(weighFour(hPre, inA), weighFour(hPre, inB), row<T>(args.u[k], m, C) + first + c);
      }
      if (!hasLayer)
        continue;
      const float *hPost = floats(args.h_post)[k] + m * 4, *mix = mixes[k - pass.begin];
      prefetchNext(args, pass, x, k, first + c, first + c + count);
      loadBranch(row<T>(args.f[k], m, C), args.biasOf(k), args.bias_type, first + c, a, b);
      mixFour(hPost, mix, a, inA, sumsA);
      mixFour(hPost, mix, b, inB, sumsB);
      T *out = row<T>(args.out[k], m, 4 * C) + first + c;
      for (int o = 0; o < 4; ++o) {
        storePair<kStream>(sumsA[o], sumsB[o], out + o * C);
        storePair<false>(sumsA[o], sumsB[o], strip + o * kStrip + c);
      }
    }
    if (!hasLayer)
      return;
    in = strip;
    stride = kStrip;
  }
}

/// Channels [first, first+count), at most a block of them, of any number of streams in any layout.
template <typename T>
HWY_INLINE void rebuildBlock(const RebuildCall &args, Pass pass, const T *x, const float *mixes, int64_t first,
                             int64_t count) {
  const int64_t n = args.n, C = args.C, m = pass.m;
  Planes in, sums, factors;
  loadPlanes(x, args.layout, n, C, first, count, in);
  for (int64_t k = pass.begin;; ++k) {
    if (k < args.u_count && (k < pass.end || k == args.out_count))
      aggregateRows<false>(in.values, kBlock, floats(args.h_pre)[k] + m * n, n, count, row<T>(args.u[k], m, C) + first);
    if (k == pass.end)
      return;
    if (args.drops())
      dropoutPlanes(args.dropoutOf(k), m, args.layout, n, C, first, count, factors);
    mixBlock(row<T>(args.f[k], m, C), args.biasOf(k), args.bias_type, floats(args.h_post)[k] + m * n,
             mixes + (k - pass.begin) * n * n, n, first, count, in, args.drops() ? &factors : nullptr, sums);
    T *out = row<T>(args.out[k], m, n * C);
    storePlanes(sums, args.layout, n, C, first, count, out);
    loadPlanes(out, args.layout, n, C, first, count, in); // as it was rounded
  }
}

template <typename T>
HWY_INLINE void rebuildPass(const RebuildCall &args, Pass pass) {
  const int64_t n = args.n, C = args.C;
  float mixes[kLayers * 16 * 16];
  for (int64_t k = pass.begin; k < pass.end; ++k)
    outputFirst(floats(args.h_res)[k] + pass.m * n * n, n, args.orient, mixes + (k - pass.begin) * n * n);
  const T *x = row<T>(pass.begin == 0 ? args.x : args.out[pass.begin - 1], pass.m, n * C);
  int64_t c = 0;
  if (n == 4 && args.layout == MHCRT_LAYOUT_NC && !args.drops()) {
    const auto *four = reinterpret_cast<const float (*)[16]>(mixes);
    const int64_t pairs = C / (2 * kLanes) * (2 * kLanes);
    for (; c < pairs; c += kStrip) {
      const int64_t count = HWY_MIN(kStrip, pairs - c);
      if (args.bypasses && 2 * kLanes * sizeof(T) >= static_cast<size_t>(kAlignment))
        rebuildStrip<true>(args, pass, x, four, c, count);
      else
        rebuildStrip<false>(args, pass, x, four, c, count);
    }
    c = pairs;
  }
  for (; c < C; c += kBlock)
    rebuildBlock(args, pass, x, mixes, c, HWY_MIN(kBlock, C - c));
}

template <typename T>
void rebuildTyped(const RebuildCall &args, int64_t first, int64_t last) {
  for (int64_t m = first; m < last; ++m)
    for (int64_t begin = 0; begin < args.out_count; begin += kLayers)
      rebuildPass<T>(args, {m, begin, HWY_MIN(args.out_count, begin + kLayers)});
  if (args.bypasses)
    hwy::FlushStream();
}

void rebuildTokens(const RebuildCall &args, int64_t first, int64_t last) {
  if (args.x_type == MHCRT_F32)
    rebuildTyped<float>(args, first, last);
  else if (args.x_type == MHCRT_BF16)
    rebuildTyped<Bf16>(args, first, last);
  else
    rebuildTyped<F16>(args, first, last);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(rebuildTokens);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runRebuild(mhcrt_context &context, const RebuildArgs &a) {
  if (!checkRebuild(context, a))
    return context.status;

  const int64_t rowBytes = a.C * mhcrt_dtype_bytes(a.x_type);
  const auto areLarge = [&](void *const *list, int64_t count, int64_t rows) {
    return std::all_of(list, list + count, [&](void *one) { return streams(one, rows, rowBytes); });
  };
  const RebuildCall args = {a, areLarge(a.out, a.out_count, a.M * a.n) && areLarge(a.u, a.u_count, a.M)};
  forTokens(context, a.M, (a.n + a.out_count * (a.n + 1) + a.u_count) * rowBytes,
            [&](int64_t first, int64_t last) { HWY_DYNAMIC_DISPATCH(rebuildTokens)(args, first, last); });
  return MHCRT_OK;
}

MHCRT_ENTRY(rebuild, Rebuild)
#endif // HWY_ONCE
