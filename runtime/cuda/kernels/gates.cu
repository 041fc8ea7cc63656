//===- gates.cu - Projections to coefficients -----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   z = s * proj * a + beta           a = alpha[0], alpha[1], alpha[2] on the columns of pre, post and res
//   h_pre = sigmoid(z_pre) + pre_eps, h_post = post_mult * sigmoid(z_post), logits = z_res
//   s = 1/sqrt(stat + norm_eps) for mean_square, stat for inv_rms, 1 for applied
//
// Generic: one thread per column of a token. All f32. Bytes a token: 4*(2*N + 1). The bits are those of pre: its rings
// have the same sigmoid.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Format.cuh"
#include "cuda/algebra/Gate.cuh"
#include "cuda/algebra/Norm.cuh"
#include "cuda/host/Launch.cuh"
#include "cuda/host/Variants.h"
#include "cuda/kernels/Generic.h"
#include "src/Checks.h"

using namespace mhcrt;

namespace {

__global__ void gatesKernel(GatesArgs a, generic::GateFormats formats) {
  const float *proj = static_cast<const float *>(a.proj), *alpha = static_cast<const float *>(a.alpha);
  const float *beta = static_cast<const float *>(a.beta);
  for (int64_t item = firstItem(); item < a.M * a.N; item += itemStep()) {
    const int64_t m = item / a.N, j = item % a.N;
    const float s = tokenMultiplier(a.stat, m, a.stat_form, static_cast<float>(a.norm_eps));
    const int group = gateGroup(j, a.n);
    const float z = fmaf(s * proj[item], alpha[group], beta[j]);
    if (group == 0)
      static_cast<float *>(a.h_pre)[m * a.n + j] =
          roundedTo(fastSigmoid(z) + static_cast<float>(a.pre_eps), static_cast<int32_t>(formats.pre));
    else if (group == 1)
      static_cast<float *>(a.h_post)[m * a.n + j - a.n] =
          roundedTo(static_cast<float>(a.post_mult) * fastSigmoid(z), static_cast<int32_t>(formats.post));
    else
      static_cast<float *>(a.logits)[m * a.R + j - 2 * a.n] = roundedTo(z, static_cast<int32_t>(formats.logits));
  }
}

} // namespace

cudaError_t generic::gates(mhcrt_context &context, const GatesArgs &a, GateFormats formats) {
  return launchKernel(gatesKernel, gridFor(context, a.M * a.N), kThreads, 0, context.stream, a, formats);
}

static constexpr Variant<GatesArgs> kVariants[] = {
    {"generic", 0, kAnyArch, nullptr, [](mhcrt_context &c, const GatesArgs &a) { return generic::gates(c, a); }}};

mhcrt_status mhcrt::runGates(mhcrt_context &context, const GatesArgs &args) {
  if (!checkGates(context, args))
    return context.status;
  return args.M ? launchVariant(context, "gates", kVariants, args) : context.status;
}
