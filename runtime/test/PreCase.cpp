//===- PreCase.cpp - A random call of mhcrt_pre ---------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "PreCase.h"
#include "Call.h"

using namespace mhcrt::test;

PreCase::PreCase(uint64_t seed)
    : random(seed), n(random.pick<int64_t>({1, 2, 3, 4, 4, 4, 8, 16})), M(random.pick<int64_t>({0, 1, 13})),
      // K below, at and above the chunk of 512, and above two of them
      C(n > 4 ? random.pick<int64_t>({1, 33, 64}) : random.pick<int64_t>({1, 33, 128, 129, 300})) {
  type = random.pick<int32_t>({MHCRT_F32, MHCRT_BF16, MHCRT_F16});
  phiType = random.pick<int32_t>({MHCRT_F32, type});
  weightType = random.pick<int32_t>({MHCRT_NONE, MHCRT_F32, type});
  layout = static_cast<int32_t>(random.integer(0, 1));
  phiLayout = static_cast<int32_t>(random.integer(0, 1));
  norm = static_cast<int32_t>(random.integer(0, MHCRT_NORM_CLAMP));
  resMap = n <= 4 ? static_cast<int32_t>(random.integer(0, 2)) : MHCRT_RES_MAP_SINKHORN;
  init = static_cast<int32_t>(random.integer(0, MHCRT_INIT_SIGMOID_EPS));
  order = static_cast<int32_t>(random.integer(0, 1));
  denom = static_cast<int32_t>(random.integer(0, MHCRT_DENOM_POTENTIALS));
  foldPre = static_cast<int32_t>(random.integer(0, 1));
  iters = random.integer(1, 20);
  normEps = random.pick({1e-6, norm == MHCRT_NORM_CLAMP ? 1.0 : 1e-2}); // of the size of a token's root mean square
  if (resMap == MHCRT_RES_MAP_SINKHORN && seed % 4 == 3)
    solver = MHCRT_SOLVER_NEWTON, init = MHCRT_INIT_LOG, order = MHCRT_ORDER_ROW_COL, iters = 20;
  K = n * C;
  const int64_t permutations = n == 1 ? 1 : n == 2 ? 2 : n == 3 ? 6 : 24;
  N = 2 * n + (resMap == MHCRT_RES_MAP_PERMUTATION ? permutations : n * n);
  x = random.buffer(type, M * K);
  // Projections of order 1 whatever K is.
  phi = random.buffer(phiType, N * K, 1 / std::sqrt(static_cast<double>(K)));
  weight = weightType == MHCRT_NONE ? Buffer() : random.buffer(weightType, K);
  alpha = random.buffer(MHCRT_F32, 3);
  beta = random.buffer(MHCRT_F32, N);
}

std::string PreCase::name() const {
  return "n=" + std::to_string(n) + " M=" + std::to_string(M) + " C=" + std::to_string(C) + " " +
         mhcrt_dtype_name(type) + " phi " + mhcrt_dtype_name(phiType) + " weight " + mhcrt_dtype_name(weightType) +
         " layout=" + std::to_string(layout) + " phi_layout=" + std::to_string(phiLayout) +
         " norm=" + std::to_string(norm) + " res_map=" + std::to_string(resMap) + " init=" + std::to_string(init) +
         " order=" + std::to_string(order) + " denom=" + std::to_string(denom) + " iters=" + std::to_string(iters) +
         " fold=" + std::to_string(foldPre) + " solver=" + std::to_string(solver);
}

mhcrt_status PreCase::run(mhcrt_context *context, PreOutputs &out) {
  return call(mhcrt_pre, context, x.data(), type, phi.data(), phiType, weightData(), weightType, alpha.data(),
              MHCRT_F32, beta.data(), MHCRT_F32, out.u.data(), type, out.hPre.data(), MHCRT_F32, out.hPost.data(),
              MHCRT_F32, out.hRes.data(), MHCRT_F32, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, M, n, C, N, K, 3, layout,
              phiLayout, norm, normEps, preEps, postMult, resMap, init, order, denom, skEps, iters, foldPre,
              MHCRT_PRECISION_BF16X3, 0, 0, 0, 0, nullptr, MHCRT_NONE, solver);
}

PreCase PreCase::tokens(int64_t first, int64_t count) const {
  PreCase part = *this;
  part.M = count;
  part.x = x.slice(first * K, count * K);
  return part;
}

PreReference PreCase::reference() {
  const Doubles weights = weight.values();
  return coefficients(
      project(x.values(), phi.values(), weightData() ? &weights : nullptr, M, N, K, phiLayout, norm, normEps),
      alpha.values(), beta.values());
}

PreReference PreCase::coefficients(Projection p, const Doubles &alphas, const Doubles &betas) const {
  PreReference result;
  for (int64_t i = 0; i < M * N; ++i) {
    p.proj.values[i] *= p.multiplier[i / N];
    const double a = std::fabs(alphas[i % N < n ? 0 : i % N < 2 * n ? 1 : 2]);
    result.logitMagnitude = std::max(result.logitMagnitude, a * p.multiplier[i / N] * p.proj.magnitudes[i]);
  }
  Gates g = gates(p.proj.values, alphas, betas, M, n, N - 2 * n, preEps, postMult);
  result.hRes = solver == MHCRT_SOLVER_NEWTON         ? sinkhornLimit(g.logits, M, n)
                : resMap == MHCRT_RES_MAP_SINKHORN    ? sinkhorn(g.logits, M, n, init, order, denom, skEps, iters)
                : resMap == MHCRT_RES_MAP_PERMUTATION ? permutationMix(g.logits, M, n)
                                                      : g.logits;
  if (foldPre)
    for (int64_t m = 0; m < M; ++m)
      for (int64_t o = 0; o < n; ++o)
        for (int64_t i = 0; i < n; ++i)
          result.hRes[(m * n + o) * n + i] -= g.hPost[m * n + o] * g.hPre[m * n + i];
  result.hPre = g.hPre;
  result.hPost = g.hPost;
  return result;
}
