//===- PreCase.h - A random call of mhcrt_pre ---------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_PRECASE_H
#define MHCRT_TEST_PRECASE_H

#include "Reference.h"

namespace mhcrt::test {

struct PreReference {
  Doubles hPre, hPost, hRes;
  double logitMagnitude = 0; ///< the largest alpha * s * sum |x * phi|
};

struct PreOutputs;

struct PreCase {
  Random random;
  int64_t n, M, C, K, N;
  int32_t type, phiType, weightType, layout, phiLayout, norm, resMap, init, order, denom, foldPre;
  int32_t solver = MHCRT_SOLVER_SINKHORN;
  int64_t iters;
  double normEps, preEps = 1e-6, postMult = 2, skEps = 1e-6;
  Buffer x, phi, weight, alpha, beta;

  explicit PreCase(uint64_t seed);
  void *weightData() { return weightType == MHCRT_NONE ? nullptr : weight.data(); }
  std::string name() const;
  mhcrt_status run(mhcrt_context *context, PreOutputs &out);
  /// The same case with only these tokens.
  PreCase tokens(int64_t first, int64_t count) const;
  PreReference reference();
  /// Results of mhcrt_pre for a projection.
  PreReference coefficients(Projection p, const Doubles &alphas, const Doubles &betas) const;
};

struct PreOutputs {
  Buffer u, hPre, hPost, hRes;
  explicit PreOutputs(const PreCase &c)
      : u(c.type, c.M * c.C), hPre(MHCRT_F32, c.M * c.n), hPost(MHCRT_F32, c.M * c.n),
        hRes(MHCRT_F32, c.M * c.n * c.n) {}
  bool operator==(const PreOutputs &other) const {
    return u == other.u && hPre == other.hPre && hPost == other.hPost && hRes == other.hRes;
  }
};

} // namespace mhcrt::test

#endif // MHCRT_TEST_PRECASE_H
