//===- Coefficients.h - Options of gates and residual maps ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_COEFFICIENTS_H
#define MHCRT_CPU_COEFFICIENTS_H

#include "cpu/Entry.h"
#include "src/SinkhornOptions.h"

namespace mhcrt {

/// Lanes of f32 in the widest vector we compile for: sizes scratch memory before the instruction set is known.
constexpr int64_t kMaxLanes = 16;

/// Tokens of one tile where a token has only its coefficients.
constexpr int64_t kSmallTile = 256;

/// Bytes of scratch memory that the backward pass of a vector of matrices keeps of its start and its steps.
inline int64_t sinkhornHistoryBytes(int64_t n, int64_t iters, int64_t solver) {
  return solver == MHCRT_SOLVER_NEWTON ? 0 : (2 * iters + 1) * 4 * kMaxLanes * (n * n + n);
}

struct GateOptions {
  const float *alpha; ///< pre, post, res
  const float *beta;  ///< one per column
  float preEps, postMult;
};

/// The multiplier s of a token from its mean square.
struct NormOptions {
  int32_t norm;
  float eps;
};

// Options from the arguments of the kernels that have them.
template <typename Args>
GateOptions gatesOf(const Args &a) {
  return {floats(a.alpha), floats(a.beta), static_cast<float>(a.pre_eps), static_cast<float>(a.post_mult)};
}
template <typename Args>
NormOptions normOf(const Args &a) {
  return {a.norm, static_cast<float>(a.norm_eps)};
}
template <typename Args>
SinkhornOptions sinkhornOf(const Args &a) {
  return {a.init, a.order, a.denom, static_cast<float>(a.sk_eps), a.iters, MHCRT_FORMAT_F32, a.solver};
}

} // namespace mhcrt

#endif // MHCRT_CPU_COEFFICIENTS_H
