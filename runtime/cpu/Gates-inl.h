//===- Gates-inl.h - Coefficients of one token per lane ---------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The small maths behind the projection, for kLanes tokens at once: planes[j][lane] is value j of the lane's token.
// Shared by gates, pre and head.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_GATES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_GATES_INL_H
#undef MHCRT_CPU_GATES_INL_H
#else
#define MHCRT_CPU_GATES_INL_H
#endif

#include "cpu/Coefficients.h"
#include "cpu/Simd-inl.h"
#include "hwy/contrib/math/math-inl.h"
#include "src/BoundedFactor.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

static_assert(kLanes <= kMaxLanes, "scratch memory is sized for kMaxLanes");

// Highway's functions know no NaN and no infinity: exp of NaN would be 0.

HWY_INLINE V keepNaN(V v, V result) { return hn::IfThenElse(hn::IsNaN(v), v, result); }

/// exp, 0 below -104 and infinity above 88.7.
HWY_INLINE V expV(V v) { return keepNaN(v, hn::Exp(d, hn::Min(v, hn::Set(d, 104.0f)))); }

/// exp of a number that is not positive.
HWY_INLINE V expOfNegative(V v) { return keepNaN(v, hn::Exp(d, v)); }

/// The logarithm of a sum of exponentials, which is NaN or at least 1.
HWY_INLINE V logV(V v) { return keepNaN(v, hn::Log(d, v)); }

/// 1 / (1 + exp(-z)) without overflow for either sign.
HWY_INLINE V sigmoid(V z) {
  const V one = hn::Set(d, 1.0f);
  const V e = expOfNegative(hn::Neg(hn::Abs(z)));
  const V numerator = hn::IfThenElse(hn::Lt(z, hn::Zero(d)), e, one);
  return hn::Div(numerator, hn::Add(one, e));
}

HWY_INLINE V normMultiplier(V meanSquare, const NormOptions &options) {
  const V one = hn::Set(d, 1.0f), eps = hn::Set(d, options.eps);
  if (options.norm == MHCRT_NORM_INSIDE)
    return hn::Div(one, hn::Sqrt(hn::Add(meanSquare, eps)));
  if (options.norm == MHCRT_NORM_OUTSIDE)
    return hn::Div(one, hn::Add(hn::Sqrt(meanSquare), eps));
  if (options.norm == MHCRT_NORM_CLAMP) {
    const V s = hn::Div(one, hn::Sqrt(meanSquare)), most = hn::Set(d, mostMultiplier(options.eps));
    return hn::IfThenElse(hn::Gt(s, most), most, s); // a NaN stays
  }
  return one;
}

/// planes[lane of row][j] to and from rows[row][j]; lanes behind `count` are zero.
HWY_INLINE void rowsToPlanes(const float *rows, int64_t stride, int64_t count, int64_t columns, float *planes) {
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t row = 0; row < kLanes; ++row)
      planes[j * kLanes + row] = row < count ? rows[row * stride + j] : 0.0f;
}

HWY_INLINE void planesToRows(const float *planes, int64_t count, int64_t columns, float *rows) {
  for (int64_t row = 0; row < count; ++row)
    for (int64_t j = 0; j < columns; ++j)
      rows[row * columns + j] = planes[j * kLanes + row];
}

/// A number rounded to a mhcrt_format.
HWY_INLINE V roundedTo(V v, int64_t format) {
  return format == MHCRT_FORMAT_BF16  ? rounded(v, static_cast<const Bf16 *>(nullptr))
         : format == MHCRT_FORMAT_F16 ? rounded(v, static_cast<const F16 *>(nullptr))
                                      : v;
}

HWY_INLINE void roundPlanes(float *planes, int64_t count, int64_t format) {
  for (int64_t j = 0; format != MHCRT_FORMAT_F32 && j < count; ++j)
    store(roundedTo(load(planes + j * kLanes), format), planes + j * kLanes);
}

/// In place: planes 0..n-1 become h_pre.
HWY_INLINE void gatePre(float *planes, V s, int64_t n, const GateOptions &options) {
  const V alpha = hn::Set(d, options.alpha[0]), eps = hn::Set(d, options.preEps);
  for (int64_t j = 0; j < n; ++j) {
    const V z = hn::MulAdd(hn::Mul(s, load(planes + j * kLanes)), alpha, hn::Set(d, options.beta[j]));
    store(hn::Add(sigmoid(z), eps), planes + j * kLanes);
  }
}

/// In place: n planes of h_pre, n of h_post, the rest logits.
HWY_INLINE void gateAll(float *planes, V s, int64_t n, int64_t columns, const GateOptions &options) {
  gatePre(planes, s, n, options);
  const V alphaPost = hn::Set(d, options.alpha[1]), alphaRes = hn::Set(d, options.alpha[2]);
  const V mult = hn::Set(d, options.postMult);
  for (int64_t j = n; j < 2 * n; ++j) {
    const V z = hn::MulAdd(hn::Mul(s, load(planes + j * kLanes)), alphaPost, hn::Set(d, options.beta[j]));
    store(hn::Mul(mult, sigmoid(z)), planes + j * kLanes);
  }
  for (int64_t j = 2 * n; j < columns; ++j) {
    const V z = hn::MulAdd(hn::Mul(s, load(planes + j * kLanes)), alphaRes, hn::Set(d, options.beta[j]));
    store(z, planes + j * kLanes);
  }
}

/// dz of one column: `grad` is that of the gate, `factor` the sigmoid's.
HWY_INLINE V sigmoidBwd(V grad, V z, float factor) {
  const V gate = sigmoid(z);
  return hn::Mul(hn::Mul(grad, hn::Set(d, factor)), hn::Mul(gate, hn::Sub(hn::Set(d, 1.0f), gate)));
}

/// In place: planes of proj become those of d_proj, and those of the gates' and logits' gradients dz. Adds what the
/// tokens give to d_alpha (3 planes of sums) and d_beta (the planes behind). Returns the gradient of s. With one gate
/// group, `columns` is n.
HWY_INLINE V gatesBwdPlanes(float *proj, V s, int64_t n, int64_t columns, const GateOptions &options, float *dz,
                            float *sums) {
  V dStat = hn::Zero(d);
  for (int64_t j = 0; j < columns; ++j) {
    const int64_t group = j < n ? 0 : j < 2 * n ? 1 : 2;
    const V p = load(proj + j * kLanes), scaled = hn::Mul(s, p), alpha = hn::Set(d, options.alpha[group]);
    V grad = load(dz + j * kLanes);
    if (group < 2)
      grad = sigmoidBwd(grad, hn::MulAdd(scaled, alpha, hn::Set(d, options.beta[j])),
                        group == 0 ? 1.0f : options.postMult);
    store(grad, dz + j * kLanes);
    float *alphaSum = sums + group * kLanes, *betaSum = sums + (3 + j) * kLanes;
    store(hn::MulAdd(grad, scaled, load(alphaSum)), alphaSum);
    store(hn::Add(load(betaSum), grad), betaSum);
    const V weighted = hn::Mul(grad, alpha);
    dStat = hn::MulAdd(weighted, p, dStat);
    store(hn::Mul(weighted, s), proj + j * kLanes);
  }
  return dStat;
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_GATES_INL_H
