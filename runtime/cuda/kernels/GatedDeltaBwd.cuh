//===- GatedDeltaBwd.cuh - Gradients of the gated delta front end -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by both variants of the gradient: the operands, the partial sums over tokens, and the gates.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_KERNELS_GATEDDELTABWD_CUH
#define MHCRT_CUDA_KERNELS_GATEDDELTABWD_CUH

#include "cuda/host/Needs.h"
#include "cuda/kernels/GatedDelta.cuh"

namespace mhcrt {

struct GatedDeltaGrads {
  const void *query, *key, *value, *gate, *beta;
  const float *g;
  void *x, *left;                       ///< results; null where not asked for
  float *weight, *bias, *aLog, *dtBias; ///< results; null where not asked for

  __host__ __device__ bool haveTaps() const { return weight || bias; }
  __host__ __device__ bool haveHeads() const { return aLog || dtBias; }
};

inline GatedDeltaGrads gradsOf(const PreGatedDeltaRuleBwdArgs &a) {
  const auto wanted = [](void *data, int32_t type) { return type != MHCRT_NONE ? data : nullptr; };
  const auto sums = [&](void *data, int32_t type) { return static_cast<float *>(wanted(data, type)); };
  return {a.d_query,
          a.d_key,
          a.d_value,
          a.d_gate,
          a.d_beta,
          static_cast<const float *>(a.d_g),
          wanted(a.d_qkvzba, a.d_qkvzba_type),
          a.k > 1 ? wanted(a.d_left_boundary, a.d_left_boundary_type) : nullptr,
          sums(a.d_conv_weight, a.d_conv_weight_type),
          sums(a.d_conv_bias, a.d_conv_bias_type),
          sums(a.d_A_log, a.d_A_log_type),
          sums(a.d_dt_bias, a.d_dt_bias_type)};
}

/// Tokens of the partial sums. Stretches are neighbours in a row of the batch; row r of the partial sums has the
/// stretches r, r + rows, ... All by the shape alone, so that every GPU adds alike. A row of sums has those of tap j of
/// channel c at j*E + c, of the bias behind, then those of A_log and of dt_bias.
struct Stretches {
  int32_t length;
  int32_t ofRow; ///< stretches of a row of the batch: one without tokens, too, as rows may precede it
  int64_t count; ///< of all rows of the batch
  int32_t rows;  ///< of partial sums
  int64_t width; ///< of a row of them
  float *partials;

  static constexpr int32_t kMostRows = 128;

  Stretches(const GatedDelta &in, int32_t length)
      : length(length), ofRow(static_cast<int32_t>(divideUp(std::max(in.M, 1), length))), count(int64_t(ofRow) * in.b),
        rows(static_cast<int32_t>(std::min<int64_t>(count, kMostRows))),
        width((in.taps + 1) * in.E + 2 * int64_t(in.valueHeads)), partials(nullptr) {}
  int64_t bytes() const { return rows * width * 4; }
  __device__ __forceinline__ float *row(int64_t r) const { return partials + r * width; }
};

/// Operands of the gradients of a head's gates at a token.
template <typename T>
struct GateTerms {
  GateInputs<T> inputs;
  T dBeta; ///< where that of x is asked for
  float dg;

  __device__ static __forceinline__ GateTerms load(const GatedDelta &in, const GatedDeltaGrads &grads, int64_t batch,
                                                   int64_t token, int64_t h) {
    const int64_t head = (batch * in.M + token) * in.valueHeads + h;
    return {GateInputs<T>::load(in, static_cast<const T *>(in.x) + in.xSteps.at(batch, token), h),
            grads.x ? static_cast<const T *>(grads.beta)[head] : T(), grads.g[head]};
  }
};

/// Gradients of beta and alpha of head h of a token, written; its terms of d_A_log and d_dt_bias.
template <typename T>
__device__ __forceinline__ float2 gateGradients(const GatedDelta &in, const GatedDeltaGrads &grads,
                                                const HeadParameters &head, GateTerms<T> terms, int64_t batch,
                                                int64_t token, int64_t h) {
  const float p = toFloat(terms.inputs.alpha) + head.dtBias;
  const float dAlpha = terms.dg * head.scale * softplusSlope(p, in.threshold);
  if (grads.x) {
    T *dx = static_cast<T *>(grads.x) + in.xSteps.at(batch, token);
    dx[in.betaChannel() + h] = fromFloat<T>(toFloat(terms.dBeta) * sigmoidSlope(toFloat(terms.inputs.beta)));
    dx[in.alphaChannel() + h] = fromFloat<T>(dAlpha);
  }
  return {terms.dg * (head.scale * softplus(p, in.threshold)), dAlpha};
}

/// Adds the rows of partial sums in their order, into the results.
cudaError_t addStretches(mhcrt_context &context, const GatedDelta &in, const GatedDeltaGrads &grads,
                         const Stretches &stretches);

bool gatedDeltaBwdRunsTake(const PreGatedDeltaRuleBwdArgs &a, Needs &needs);
cudaError_t gatedDeltaBwdRuns(mhcrt_context &context, const PreGatedDeltaRuleBwdArgs &a);

} // namespace mhcrt

#endif // MHCRT_CUDA_KERNELS_GATEDDELTABWD_CUH
