//===- pre_gated_delta_rule.cpp - The front end of a gated delta net ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pre_gated_delta_rule.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/GatedDelta-inl.h"

#include "cpu/Entry.h"
#include "cpu/Tokens.h"
#include "src/Checks.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

void gatedDeltaWeights(const PreGatedDeltaRuleArgs &a, float *weight) { readWeights(a, weight); }

/// `room` has k + 2 rows of E values.
void gatedDeltaTokens(const PreGatedDeltaRuleArgs &a, const float *weight, int64_t first, int64_t last, float *room) {
  const int64_t qk = a.num_key_heads * a.dk, repeat = a.hv / a.num_key_heads, vc = a.hv * a.dv;
  const int32_t type = a.qkvzba_type;
  float *u = room + a.k * a.E, *rest = u + a.E;
  const float *taps[kMostTaps];
  for (int64_t n = first; n < last; ++n) {
    readTaps(a, n, room, taps);
    convolve(a, taps, weight, u, rest);
    for (int64_t c = 0; c < a.E; ++c)
      u[c] *= sigmoidOf(u[c]);
    roundAny(u, 2 * qk, type, rest);
    if (a.silu)
      narrowAny(u, 2 * qk, a.silu, type, n * 2 * qk);
    for (int64_t head = 0; head < 2 * a.num_key_heads; ++head) {
      float *one = u + head * a.dk, sum = 0;
      for (int64_t c = 0; c < a.dk; ++c)
        sum = std::fma(one[c], one[c], sum);
      const float r = a.qk_l2norm ? 1.0f / std::sqrt(sum + static_cast<float>(a.l2_eps)) : 1.0f;
      for (int64_t c = 0; c < a.dk; ++c)
        one[c] *= r;
      void *out = head < a.num_key_heads ? a.query : a.key;
      const int64_t to = n * a.hv + head % a.num_key_heads * repeat;
      for (int64_t copy = 0; copy < repeat; ++copy)
        narrowAny(one, a.dk, out, type, (to + copy) * a.dk);
    }
    narrowAny(u + 2 * qk, vc, a.value, type, n * vc);
    const int64_t row = rowOf(a, n) * a.D + a.E;
    const int64_t size = mhcrt_dtype_bytes(type);
    std::memcpy(static_cast<char *>(a.gate) + n * vc * size, static_cast<const char *>(a.qkvzba) + row * size,
                vc * size);
    for (int64_t h = 0; h < a.hv; ++h) {
      float beta, alpha, decay, shift;
      widenAny(a.qkvzba, type, row + vc + h, 1, &beta);
      widenAny(a.qkvzba, type, row + vc + a.hv + h, 1, &alpha);
      widenAny(a.A_log, a.A_log_type, h, 1, &decay);
      widenAny(a.dt_bias, a.dt_bias_type, h, 1, &shift);
      beta = sigmoidOf(beta);
      narrowAny(&beta, 1, a.beta, type, n * a.hv + h);
      static_cast<float *>(a.g)[n * a.hv + h] =
          -std::exp(decay) * softplusOf(alpha + shift, static_cast<float>(a.softplus_threshold));
    }
  }
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(gatedDeltaWeights);
HWY_EXPORT(gatedDeltaTokens);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runPreGatedDeltaRule(mhcrt_context &context, const PreGatedDeltaRuleArgs &a) {
  if (!checkPreGatedDeltaRule(context, a, Ids::OnHost) ||
      !context.reserveScratch("mhcrt_pre_gated_delta_rule", a.E * (a.k + 1) * 4, a.E * (a.k + 2) * 4))
    return context.status;
  float *weight = reinterpret_cast<float *>(context.sharedScratch());
  HWY_DYNAMIC_DISPATCH(gatedDeltaWeights)(a, weight);
  const int64_t tokens = a.M * a.b, run = 16;
  context.parallelFor(divideUp(tokens, run), [&](int64_t tile, int thread) {
    HWY_DYNAMIC_DISPATCH(gatedDeltaTokens)
    (a, weight, tile * run, std::min(tokens, (tile + 1) * run),
     reinterpret_cast<float *>(context.threadScratch(thread)));
  });
  return MHCRT_OK;
}

MHCRT_ENTRY(pre_gated_delta_rule, PreGatedDeltaRule)
#endif // HWY_ONCE
