//===- Reference.h - The kernels as plain loops in f64 -----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function returns the exact result of the stored inputs and, where sums are long, the sum of the terms'
// magnitudes: the error of an f32 sum is a multiple of that.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_REFERENCE_H
#define MHCRT_TEST_REFERENCE_H

#include "Support.h"

namespace mhcrt::test {

/// Position of stream i, channel c in one token.
inline int64_t at(int32_t layout, int64_t n, int64_t C, int64_t i, int64_t c) {
  return layout == MHCRT_LAYOUT_NC ? i * C + c : c * n + i;
}

struct Sums {
  Doubles values, magnitudes;
};

Sums aggregate(const Doubles &x, const Doubles &h, int64_t M, int64_t n, int64_t C, int32_t layout);
/// `factors`, if any, multiply what is added to the mix, element by element.
Sums post(const Doubles &f, const Doubles *bias, const Doubles &hPost, const Doubles &x, const Doubles &hRes, int64_t M,
          int64_t n, int64_t C, int32_t layout, int32_t orient, const Doubles *factors = nullptr);

/// The dropout of a call of post or post_bwd, or none.
struct PostDropout {
  /// `factors` are what mhcrt_dropout makes of as many ones.
  PostDropout(mhcrt_context *context, Random &random, int64_t elements);

  void *data() { return type == MHCRT_NONE ? nullptr : seed.data(); }
  const Doubles *mask() const { return type == MHCRT_NONE ? nullptr : &factors; }
  std::string name() const { return " rate=" + std::to_string(rate) + " stream=" + std::to_string(stream); }

  int32_t type = MHCRT_NONE;
  int64_t size = 0, stream = 0; ///< the stream beyond 2^31 too
  double rate = 0;
  Buffer seed;
  Doubles factors;
};

struct Projection {
  Sums proj;
  Doubles meanSquare, multiplier;
};
Projection project(const Doubles &x, const Doubles &phi, const Doubles *weight, int64_t M, int64_t N, int64_t K,
                   int32_t phiLayout, int32_t norm, double eps);

struct Gates {
  Doubles hPre, hPost, logits;
};
/// `z` is s*proj: [M, 2n+R].
Gates gates(const Doubles &z, const Doubles &alpha, const Doubles &beta, int64_t M, int64_t n, int64_t R, double preEps,
            double postMult);

Doubles sinkhorn(Doubles m, int64_t M, int64_t n, int32_t init, int32_t order, int32_t denom, double eps,
                 int64_t iters);
/// The doubly stochastic limit of exp of the logits: iterations, then undamped Newton steps on all 2n potentials.
Doubles sinkhornLimit(Doubles logits, int64_t M, int64_t n);
Doubles permutationMix(const Doubles &logits, int64_t M, int64_t n);

} // namespace mhcrt::test

#endif // MHCRT_TEST_REFERENCE_H
