//===- sinkhorn.cu - Logits to doubly stochastic matrices -----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generic: 4 or 16 lanes a token, a row each (Sinkhorn.cuh; Newton.cuh for the limit). All f32, or every result rounded
// to the format. Bytes a token: 8*n*n.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Newton.cuh"
#include "cuda/host/Launch.cuh"
#include "cuda/host/Variants.h"
#include "cuda/kernels/Generic.h"
#include "cuda/kernels/Residual.h"
#include "src/Checks.h"

using namespace mhcrt;

namespace {

/// Potentials have kernels of their own, whose registers the others do not need.
template <int kWidth, bool kPotentials, typename Round>
__global__ void __launch_bounds__(kThreads, 3)
    sinkhornKernel(const float *logits, float *mix, int64_t M, int64_t n, SinkhornOptions options, Round round) {
  constexpr int kGroups = kThreads / kWidth;
  const SinkhornGroup<kWidth> group(n);
  // All lanes of a warp stay together: a group without a token computes on zeros.
  for (int64_t first = int64_t(blockIdx.x) * kGroups; first < M; first += int64_t(gridDim.x) * kGroups) {
    const int64_t token = first + threadIdx.x / kWidth;
    const bool isRow = token < M && group.row < n;
    const int64_t at = token * n * n + group.row * n;
    float m[kWidth];
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      m[c] = isRow && c < n ? logits[at + c] : 0.0f;
    group.start(m, options, round);
    if (options.addsEps())
#pragma unroll
      for (int c = 0; c < kWidth; ++c)
        m[c] = round(m[c] + round(options.eps));
    if constexpr (kPotentials)
      group.scaleByPotentials(m, options);
    for (int64_t step = 0; step < options.steps() && !kPotentials; ++step) {
      if (options.rowsAt(step))
        group.template step<true>(m, options, round);
      else
        group.template step<false>(m, options, round);
    }
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      if (isRow && c < n)
        mix[at + c] = options.init == MHCRT_INIT_LOG ? round(expf(m[c])) : m[c];
  }
}

template <int kWidth>
__global__ void __launch_bounds__(kThreads)
    newtonKernel(const float *logits, float *mix, int64_t M, int64_t n, int64_t iters) {
  constexpr int kGroups = kThreads / kWidth;
  const NewtonGroup<kWidth> group(n);
  for (int64_t first = int64_t(blockIdx.x) * kGroups; first < M; first += int64_t(gridDim.x) * kGroups) {
    const int64_t token = first + threadIdx.x / kWidth;
    const bool isRow = token < M && group.row < n;
    const int64_t at = token * n * n + group.row * n;
    float m[kWidth];
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      m[c] = isRow && c < n ? logits[at + c] : 0.0f;
    group.limit(m, iters);
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      if (isRow && c < n)
        mix[at + c] = m[c];
  }
}

template <int kWidth>
cudaError_t launchWidth(mhcrt_context &context, const SinkhornArgs &a) {
  const SinkhornOptions options = {a.init, a.order, a.denom, static_cast<float>(a.eps), a.iters, a.format, a.solver};
  if (options.isNewton())
    return launchKernel(newtonKernel<kWidth>, gridFor(context, a.M * kWidth), kThreads, 0, context.stream,
                        static_cast<const float *>(a.logits), static_cast<float *>(a.mix), a.M, a.n, a.iters);
  const auto start = [&](auto kernel, auto round) {
    return launchKernel(kernel, gridFor(context, a.M * kWidth), kThreads, 0, context.stream,
                        static_cast<const float *>(a.logits), static_cast<float *>(a.mix), a.M, a.n, options, round);
  };
  const auto launch = [&](auto round) { return start(sinkhornKernel<kWidth, false, decltype(round)>, round); };
  if (options.hasPotentials())
    return start(sinkhornKernel<kWidth, true, KeepF32>, KeepF32());
  return a.format == MHCRT_FORMAT_F32 ? launch(KeepF32()) : launch(RoundTo{static_cast<int32_t>(a.format)});
}

} // namespace

cudaError_t generic::sinkhorn(mhcrt_context &context, const SinkhornArgs &a) {
  return a.n <= 4 ? launchWidth<4>(context, a) : launchWidth<16>(context, a);
}

static constexpr Variant<SinkhornArgs> kVariants[] = {
    {"n4", 0, kAnyArch, sinkhornN4Takes,
     [](mhcrt_context &c, const SinkhornArgs &a) { return sinkhornN4(a, c.stream); }},
    {"n2n8", 0, kAnyArch, sinkhornN2N8Takes,
     [](mhcrt_context &c, const SinkhornArgs &a) { return sinkhornN4(a, c.stream); }},
    {"generic", 0, kAnyArch, nullptr, generic::sinkhorn}};

mhcrt_status mhcrt::runSinkhorn(mhcrt_context &context, const SinkhornArgs &args) {
  if (!checkSinkhorn(context, args))
    return context.status;
  return args.M ? launchVariant(context, "sinkhorn", kVariants, args) : context.status;
}
