//===- GatedDeltaCase.h - Calls of the gated delta kernels ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_GATEDDELTACASE_H
#define MHCRT_TEST_GATEDDELTACASE_H

#include "Call.h"
#include "Support.h"

#include <algorithm>

namespace mhcrt::test {

/// A call of mhcrt_pre_gated_delta_rule and one of its gradient, with their tensors.
struct GatedDeltaCase {
  int64_t M, b, heads, hv, dk, dv, k, E, D;
  int32_t type, layout, impl = MHCRT_GDN_IMPL_FUSED;
  bool norm;
  double eps = 1e-6, threshold = 20;
  double scale = 1.5; ///< of the inputs
  int64_t leftRows = k - 1;
  int64_t lead = 0; ///< bytes in front of each result
  Buffer x, weight, bias, decay, shift, cuts, left;
  Buffer query, key, value, gate, beta, g, silu;
  Buffer dQuery, dKey, dValue, dGate, dBeta, dG;
  Buffer dx, dWeight, dBias, dDecay, dShift, dLeft;

  GatedDeltaCase(int64_t M, int64_t b, int64_t heads, int64_t repeat, int64_t dk, int64_t dv, int64_t k, int32_t type,
                 int32_t layout, bool norm)
      : M(M), b(b), heads(heads), hv(heads * repeat), dk(dk), dv(dv), k(k), E(2 * heads * dk + hv * dv),
        D(E + hv * dv + 2 * hv), type(type), layout(layout), norm(norm) {}

  /// Random tensors. `cutPoints` empty: every row of the batch is a sequence.
  void fill(Random &random, const std::vector<int32_t> &cutPoints, bool hasBias, bool hasLeft, int32_t weightType) {
    const int64_t N = M * b;
    x = random.buffer(type, N * D, scale);
    weight = random.buffer(weightType, E * k, 0.7);
    if (hasBias)
      bias = random.buffer(weightType, E);
    decay = random.buffer(weightType, hv), shift = random.buffer(weightType, hv);
    if (!cutPoints.empty())
      cuts = Buffer(cutPoints);
    if (hasLeft)
      left = random.buffer(type, (k - 1) * b * E, scale);
    dQuery = random.buffer(type, N * hv * dk), dKey = random.buffer(type, N * hv * dk);
    dValue = random.buffer(type, N * hv * dv), dGate = random.buffer(type, N * hv * dv);
    dBeta = random.buffer(type, N * hv), dG = random.buffer(MHCRT_F32, N * hv);
    makeResults();
  }

  void makeResults() {
    const int64_t N = M * b;
    const auto make = [&](Buffer &result, int32_t of, int64_t size) {
      result = Buffer(of, size + lead / mhcrt_dtype_bytes(of));
    };
    make(query, type, N * hv * dk), make(key, type, N * hv * dk), make(value, type, N * hv * dv);
    make(gate, type, N * hv * dv), make(beta, type, N * hv), make(g, MHCRT_F32, N * hv);
    make(silu, type, N * 2 * heads * dk);
    make(dx, type, N * D), make(dWeight, MHCRT_F32, E * k), make(dDecay, MHCRT_F32, hv), make(dShift, MHCRT_F32, hv);
    if (bias.size())
      make(dBias, MHCRT_F32, E);
    if (left.type() != MHCRT_NONE)
      make(dLeft, type, left.size());
  }
  void *to(Buffer &result) { return result.type() == MHCRT_NONE ? nullptr : static_cast<char *>(result.data()) + lead; }
  /// The first `tokens` tokens of a result, or all of it.
  Buffer part(const Buffer &result, int64_t tokens = 0) const {
    const int64_t first = lead / mhcrt_dtype_bytes(result.type()), size = result.size() - first;
    return result.slice(first, tokens ? size / (M * b) * tokens : size);
  }

  std::string describe(uint64_t seed) const {
    std::string text = "seed " + std::to_string(seed) + ":";
    for (int64_t size : {M, b, heads, hv, dk, dv, k, E, D, static_cast<int64_t>(type), static_cast<int64_t>(layout),
                         static_cast<int64_t>(norm), cuts.size(), bias.size(), left.size()})
      text += " " + std::to_string(size);
    return text;
  }

  mhcrt_status forward(mhcrt_context *context) {
    return call(mhcrt_pre_gated_delta_rule, context, x.data(), x.type(), weight.data(), weight.type(), bias.data(),
                bias.type(), decay.data(), decay.type(), shift.data(), shift.type(), cuts.data(), cuts.type(),
                left.data(), left.type(), to(query), query.type(), to(key), key.type(), to(value), value.type(),
                to(gate), gate.type(), to(beta), beta.type(), to(g), g.type(), to(silu), silu.type(), M, b, D, E, k, hv,
                cuts.size(), left.type() == MHCRT_NONE ? 0 : leftRows, dk, dv,
                silu.type() == MHCRT_NONE ? 0 : 2 * heads * dk, heads, norm, eps, threshold, layout, impl);
  }

  mhcrt_status backward(mhcrt_context *context) {
    return call(mhcrt_pre_gated_delta_rule_bwd, context, dQuery.data(), dQuery.type(), dKey.data(), dKey.type(),
                dValue.data(), dValue.type(), dGate.data(), dGate.type(), dBeta.data(), dBeta.type(), dG.data(),
                dG.type(), x.data(), x.type(), weight.data(), weight.type(), bias.data(), bias.type(), decay.data(),
                decay.type(), shift.data(), shift.type(), cuts.data(), cuts.type(), left.data(), left.type(), to(dx),
                dx.type(), to(dWeight), dWeight.type(), to(dBias), dBias.type(), to(dDecay), dDecay.type(), to(dShift),
                dShift.type(), to(dLeft), dLeft.type(), b, M, hv, dk, dv, D, E, k, cuts.size(),
                left.type() == MHCRT_NONE ? 0 : leftRows, heads, norm, eps, threshold, layout, impl);
  }

  mhcrt_status both(mhcrt_context *context) {
    const mhcrt_status status = forward(context);
    return status == MHCRT_OK ? backward(context) : status;
  }

  std::vector<const Buffer *> results() const {
    return {&query, &key, &value, &gate, &beta, &g, &silu, &dx, &dWeight, &dBias, &dDecay, &dShift, &dLeft};
  }
};

/// A small call of any shape, with cuts, a left boundary or neither.
inline GatedDeltaCase randomGatedDeltaCase(uint64_t seed) {
  Random random(seed);
  const int32_t type = random.pick<int32_t>({MHCRT_F32, MHCRT_BF16, MHCRT_F16});
  const int64_t kind = random.integer(0, 2), M = random.pick<int64_t>({0, 1, 2, 5, 9, 30, 70, 131});
  GatedDeltaCase c(M, kind == 0 ? 1 : random.integer(1, 3), random.integer(1, 3), random.integer(1, 3),
                   random.pick<int64_t>({1, 3, 16, 33, 64, 100}), random.pick<int64_t>({1, 5, 16, 32, 50, 128}),
                   random.integer(1, 8), type, random.pick({MHCRT_SEQ_LAYOUT_MBD, MHCRT_SEQ_LAYOUT_BMD}),
                   random.integer(0, 3) > 0);
  std::vector<int32_t> cuts;
  if (kind == 0) {
    const bool isLong = random.integer(0, 1);
    for (cuts = {0}; cuts.back() < M;)
      cuts.push_back(static_cast<int32_t>(std::min<int64_t>(M, cuts.back() + random.integer(0, isLong ? 40 : 5))));
    if (random.integer(0, 1))
      cuts.push_back(static_cast<int32_t>(M));
  }
  c.scale = random.pick({1.5, 1.5, 30.0});
  c.fill(random, cuts, random.integer(0, 1), kind == 1, random.pick({type, static_cast<int32_t>(MHCRT_F32)}));
  return c;
}

} // namespace mhcrt::test

#endif // MHCRT_TEST_GATEDDELTACASE_H
