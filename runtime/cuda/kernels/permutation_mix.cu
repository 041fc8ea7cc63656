//===- permutation_mix.cu - Logits to mixtures of permutations ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   mix[m] = sum_p softmax(logits[m])[p] * permutation_p     p = 0 .. n!-1 in lexicographic order
//
// Generic: one thread per token, whose n*n sums are in shared memory; a block is one warp. One pass for the largest
// logit, one that adds exp(logit) to the n cells of its permutation. All f32. Bytes a token: 4*(n! + n*n).
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Permutation.cuh"
#include "cuda/host/Variants.h"
#include "cuda/kernels/Generic.h"
#include "cuda/tile/Sum.cuh"
#include "src/Checks.h"

using namespace mhcrt;

namespace {

__global__ void __launch_bounds__(kWarp) permutationMixKernel(PermutationMixArgs a) {
  extern __shared__ float cells[]; // [n*n][kWarp]
  const int n = static_cast<int>(a.n), lane = threadIdx.x;
  for (int64_t m = firstItem(); m < a.M; m += itemStep()) {
    const float *logits = static_cast<const float *>(a.logits) + m * a.R;
    float most = logits[0], sum = 0;
    for (int64_t p = 1; p < a.R; ++p)
      most = fmaxf(most, logits[p]);
    for (int k = 0; k < n * n; ++k)
      cells[k * kWarp + lane] = 0;
    Permutation order(n);
    for (int64_t p = 0; p < a.R; ++p, order.advance()) {
      const float e = expf(logits[p] - most);
      sum += e;
      for (int r = 0; r < n; ++r)
        cells[(r * n + order[r]) * kWarp + lane] += e;
    }
    for (int k = 0; k < n * n; ++k)
      static_cast<float *>(a.mix)[m * n * n + k] = cells[k * kWarp + lane] / sum;
  }
}

} // namespace

cudaError_t generic::permutationMix(mhcrt_context &context, const PermutationMixArgs &a) {
  const auto bytes = static_cast<size_t>(a.n * a.n * kWarp * 4);
  return launchKernel(permutationMixKernel, gridForBlocks(context, divideUp(a.M, kWarp)), kWarp, bytes, context.stream,
                      a);
}

static constexpr Variant<PermutationMixArgs> kVariants[] = {{"generic", 0, kAnyArch, nullptr, generic::permutationMix}};

mhcrt_status mhcrt::runPermutationMix(mhcrt_context &context, const PermutationMixArgs &args) {
  if (!checkPermutationMix(context, args))
    return context.status;
  return args.M ? launchVariant(context, "permutation_mix", kVariants, args) : context.status;
}
