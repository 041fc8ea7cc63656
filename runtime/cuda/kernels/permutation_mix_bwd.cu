//===- permutation_mix_bwd.cu - Gradient of mixtures of permutations ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   g_p = sum_r d_mix[r, permutation_p(r)]      d_logits[p] = w_p * (g_p - sum_q w_q g_q), w = softmax(logits)
//
// Generic: one thread per token, three passes over its logits. All f32. Bytes a token: 4*(2*n! + n*n).
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Permutation.cuh"
#include "cuda/host/Launch.cuh"
#include "cuda/host/Variants.h"
#include "cuda/kernels/Generic.h"
#include "src/Checks.h"

using namespace mhcrt;

namespace {

/// The sum of a matrix's cells that the permutation has.
__device__ inline float cellSum(const float *matrix, const Permutation &order, int n) {
  float sum = matrix[order[0]];
  for (int r = 1; r < n; ++r)
    sum += matrix[r * n + order[r]];
  return sum;
}

__global__ void __launch_bounds__(kThreads) permutationMixBwdKernel(PermutationMixBwdArgs a) {
  const int n = static_cast<int>(a.n);
  for (int64_t m = firstItem(); m < a.M; m += itemStep()) {
    const float *logits = static_cast<const float *>(a.logits) + m * a.R;
    const float *grad = static_cast<const float *>(a.d_mix) + m * n * n;
    float most = logits[0], sum = 0, weighted = 0;
    for (int64_t p = 1; p < a.R; ++p)
      most = fmaxf(most, logits[p]);
    Permutation order(n);
    for (int64_t p = 0; p < a.R; ++p, order.advance()) {
      const float e = expf(logits[p] - most);
      sum += e;
      weighted = fmaf(e, cellSum(grad, order, n), weighted);
    }
    const float mean = weighted / sum;
    Permutation again(n);
    for (int64_t p = 0; p < a.R; ++p, again.advance())
      static_cast<float *>(a.d_logits)[m * a.R + p] = expf(logits[p] - most) / sum * (cellSum(grad, again, n) - mean);
  }
}

} // namespace

cudaError_t generic::permutationMixBwd(mhcrt_context &context, const PermutationMixBwdArgs &a) {
  return launchKernel(permutationMixBwdKernel, gridFor(context, a.M), kThreads, 0, context.stream, a);
}

static constexpr Variant<PermutationMixBwdArgs> kVariants[] = {
    {"generic", 0, kAnyArch, nullptr, generic::permutationMixBwd}};

mhcrt_status mhcrt::runPermutationMixBwd(mhcrt_context &context, const PermutationMixBwdArgs &args) {
  if (!checkPermutationMixBwd(context, args))
    return context.status;
  return args.M ? launchVariant(context, "permutation_mix_bwd", kVariants, args) : context.status;
}
