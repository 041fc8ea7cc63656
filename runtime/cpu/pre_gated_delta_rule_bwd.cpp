//===- pre_gated_delta_rule_bwd.cpp - Gradients of that front end ---------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pre_gated_delta_rule_bwd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/GatedDelta-inl.h"

#include "cpu/Entry.h"
#include "cpu/Partials.h"
#include "cpu/Tokens.h"
#include "src/Checks.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

void gatedDeltaBwdWeights(const PreGatedDeltaRuleBwdArgs &a, float *weight) { readWeights(a, weight); }

/// du of one head of q or k to out[dk], from u and from the gradients of its copies.
HWY_INLINE void headBwd(const PreGatedDeltaRuleBwdArgs &a, const void *grads, int64_t firstCopy, const float *u,
                        float *out, float *one) {
  std::fill_n(out, a.dk, 0.0f);
  for (int64_t copy = 0; copy < a.hv / a.num_key_heads; ++copy) {
    widenAny(grads, a.qkvzba_type, (firstCopy + copy) * a.dk, a.dk, one);
    for (int64_t c = 0; c < a.dk; ++c)
      out[c] += one[c];
  }
  if (!a.qk_l2norm)
    return;
  float squares = 0, product = 0;
  for (int64_t c = 0; c < a.dk; ++c) {
    squares = std::fma(u[c], u[c], squares);
    product = std::fma(out[c], u[c], product);
  }
  const float r = 1.0f / std::sqrt(squares + static_cast<float>(a.l2_eps)), scale = r * r * product;
  for (int64_t c = 0; c < a.dk; ++c)
    out[c] = r * (out[c] - scale * u[c]);
}

/// da of token n. `room` has k + 3 rows of E values; the first k are the taps.
HWY_INLINE void convolutionBwd(const PreGatedDeltaRuleBwdArgs &a, const float *weight, int64_t n, float *da,
                               float *room, const float **taps) {
  const int64_t qk = a.num_key_heads * a.dk, vc = a.hv * a.dv;
  float *conv = room + a.k * a.E, *u = conv + a.E, *rest = u + a.E;
  readTaps(a, n, room, taps);
  convolve(a, taps, weight, conv, rest);
  for (int64_t c = 0; c < 2 * qk; ++c)
    u[c] = conv[c] * sigmoidOf(conv[c]);
  roundAny(u, 2 * qk, a.qkvzba_type, rest);
  for (int64_t head = 0; head < 2 * a.num_key_heads; ++head)
    headBwd(a, head < a.num_key_heads ? a.d_query : a.d_key,
            n * a.hv + head % a.num_key_heads * (a.hv / a.num_key_heads), u + head * a.dk, da + head * a.dk, rest);
  widenAny(a.d_value, a.qkvzba_type, n * vc, vc, da + 2 * qk);
  for (int64_t c = 0; c < a.E; ++c) {
    const float s = sigmoidOf(conv[c]);
    da[c] *= s * (1.0f + conv[c] * (1.0f - s));
  }
}

/// beta, alpha, z, and the sums of d_A_log and d_dt_bias in sums[2][hv].
HWY_INLINE void gatesBwd(const PreGatedDeltaRuleBwdArgs &a, int64_t n, float *sums) {
  const int64_t vc = a.hv * a.dv, row = rowOf(a, n) * a.D + a.E, size = mhcrt_dtype_bytes(a.qkvzba_type);
  const int32_t type = a.qkvzba_type;
  if (a.d_qkvzba)
    std::memcpy(static_cast<char *>(a.d_qkvzba) + row * size, static_cast<const char *>(a.d_gate) + n * vc * size,
                vc * size);
  for (int64_t h = 0; h < a.hv; ++h) {
    float beta, alpha, decay, shift, dBeta;
    widenAny(a.qkvzba, type, row + vc + h, 1, &beta);
    widenAny(a.qkvzba, type, row + vc + a.hv + h, 1, &alpha);
    widenAny(a.A_log, a.A_log_type, h, 1, &decay);
    widenAny(a.dt_bias, a.dt_bias_type, h, 1, &shift);
    widenAny(a.d_beta, type, n * a.hv + h, 1, &dBeta);
    beta = sigmoidOf(beta);
    dBeta *= beta * (1.0f - beta);
    const float p = alpha + shift, threshold = static_cast<float>(a.softplus_threshold);
    const float scaled = static_cast<const float *>(a.d_g)[n * a.hv + h] * -std::exp(decay);
    const float dAlpha = scaled * (p > threshold ? 1.0f : sigmoidOf(p));
    sums[h] += scaled * softplusOf(p, threshold);
    sums[a.hv + h] += dAlpha;
    if (a.d_qkvzba) {
      narrowAny(&dBeta, 1, a.d_qkvzba, type, row + vc + h);
      narrowAny(&dAlpha, 1, a.d_qkvzba, type, row + vc + a.hv + h);
    }
  }
}

/// The gradient of the input of token `from`, which may be one of the k - 1 before its sequence, by the da of the k
/// tokens from there on; null where the sequence has ended, or not begun.
HWY_INLINE void storeInput(const PreGatedDeltaRuleBwdArgs &a, const float *weight, const float *const *das, float *row,
                           void *to, int64_t at) {
  for (int64_t c = 0; c < a.E; ++c) {
    float sum = 0;
    for (int64_t j = a.k - 1; j >= 0; --j)
      if (const float *da = das[a.k - 1 - j])
        sum = std::fma(weight[c * a.k + j], da[c], sum);
    row[c] = sum;
  }
  narrowAny(row, a.E, to, a.qkvzba_type, at);
}

/// The tokens [first, last); sums[E*(k+1) + 2*hv] are those of the run. `room` has 2*k + 4 rows of E values.
void gatedDeltaBwdTokens(const PreGatedDeltaRuleBwdArgs &a, const float *weight, int64_t first, int64_t last,
                         float *sums, float *room) {
  const int64_t tokens = a.M * a.b, k = a.k, E = a.E;
  float *ring = room + (k + 4) * E, *row = room + (k + 3) * E;
  const float *taps[kMostTaps], *das[kMostTaps];
  int64_t begin, end;
  std::fill_n(sums, E * (k + 1) + 2 * a.hv, 0.0f);
  for (int64_t n = first; n < std::min(tokens, last + k - 1); ++n) {
    float *da = ring + n % k * E;
    convolutionBwd(a, weight, n, da, room, taps);
    if (n < last) {
      gatesBwd(a, n, sums + E * (k + 1));
      for (int64_t c = 0; c < E; ++c) {
        sums[E * k + c] += da[c];
        for (int64_t j = 0; j < k; ++j)
          if (taps[j])
            sums[c * k + j] = std::fma(da[c], taps[j][c], sums[c * k + j]);
      }
    }
    // The inputs that have their last reader here.
    findSequence(a, n, begin, end);
    const int64_t behind = n + 1 == end ? n : n - (k - 1);
    for (int64_t from = n - (k - 1); from <= behind; ++from) {
      const bool isBefore = from < begin, isMine = std::max(from, begin) >= first && std::max(from, begin) < last;
      void *to = isBefore ? a.d_left_boundary : a.d_qkvzba;
      if (!to || !isMine)
        continue;
      for (int64_t i = 0; i < k; ++i)
        das[i] = from + i >= begin && from + i < end ? ring + (from + i) % k * E : nullptr;
      storeInput(a, weight, das, row, to,
                 isBefore ? boundaryRowOf(a, n / a.M, from - begin) * E : rowOf(a, from) * a.D);
    }
  }
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(gatedDeltaBwdWeights);
HWY_EXPORT(gatedDeltaBwdTokens);
} // namespace mhcrt

using namespace mhcrt;

/// Runs of tokens that have partial sums.
static constexpr int64_t kRuns = 16;
static constexpr int64_t kRunTokens = 64;

mhcrt_status mhcrt::runPreGatedDeltaRuleBwd(mhcrt_context &context, const PreGatedDeltaRuleBwdArgs &a) {
  if (!checkPreGatedDeltaRuleBwd(context, a, Ids::OnHost))
    return context.status;
  const TokenRuns runs(a.M * a.b, kRunTokens, kRuns);
  const int64_t weights = a.E * (a.k + 1), width = weights + 2 * a.hv;
  if (!context.reserveScratch("mhcrt_pre_gated_delta_rule_bwd", (weights + runs.count * width) * 4,
                              a.E * (2 * a.k + 4) * 4))
    return context.status;
  float *weight = reinterpret_cast<float *>(context.sharedScratch()), *sums = weight + weights;
  HWY_DYNAMIC_DISPATCH(gatedDeltaBwdWeights)(a, weight);
  context.parallelFor(runs.count, [&](int64_t run, int thread) {
    HWY_DYNAMIC_DISPATCH(gatedDeltaBwdTokens)
    (a, weight, runs.first(run), runs.last(run), sums + run * width,
     reinterpret_cast<float *>(context.threadScratch(thread)));
  });
  const auto addUp = [&](void *to, int64_t from, int64_t count) {
    if (to)
      addPartials(sums + from, runs.count, width, 0, count, nullptr, floats(to));
  };
  addUp(a.d_conv_weight, 0, a.E * a.k);
  addUp(a.d_conv_bias, a.E * a.k, a.E);
  addUp(a.d_A_log, weights, a.hv);
  addUp(a.d_dt_bias, weights + a.hv, a.hv);
  if (a.M == 0 && a.d_left_boundary)
    std::memset(a.d_left_boundary, 0, a.p * a.b * a.E * mhcrt_dtype_bytes(a.qkvzba_type));
  return MHCRT_OK;
}

MHCRT_ENTRY(pre_gated_delta_rule_bwd, PreGatedDeltaRuleBwd)
#endif // HWY_ONCE
