//===- post_bwd.cu - Gradients of post ------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_f[m,c]    = sum_o h_post[m,o] * drop(d_out[m,o,c])          d_bias[c]  = sum_m d_f[m,c]
//   d_h_post[o] = sum_c drop(d_out[m,o,c]) * (f[m,c] + bias[c])   drop is that of mhc.post
//   d_x[m,i,c]  = d_x_in[m,i,c] + sum_o A[m,o,i] * d_out[m,o,c]
//   dA[m,o,i]   = sum_c d_out[m,o,c] * x[m,i,c]                   A = h_res (oi) or its transpose (io)
//
// Generic: one launch for d_f and d_x, a thread per channel of a token; one for the sums over channels, a block per
// token and four output streams at a time, whose sums are in registers; two for d_bias, whose partial sums have runs of
// tokens. f32 sums, those of d_bias compensated; one rounding at the store; d_bias adds d_f before it is rounded. d_x
// may be d_x_in. Bytes a token, n=4: (4n+3)*C of x's type, n*C more for d_x_in and for d_bias.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Dropout.cuh"
#include "cuda/host/Variants.h"
#include "cuda/kernels/Elementwise.h"
#include "cuda/kernels/Generic.h"
#include "cuda/kernels/Parts.h"
#include "cuda/tile/Element.cuh"
#include "cuda/tile/Sum.cuh"
#include "src/Checks.h"
#include "src/CompensatedSum.h"
#include "src/KernelCall.h"

using namespace mhcrt;

namespace {

/// Output streams whose sums are in registers at a time.
constexpr int kOutputs = 4;
constexpr int64_t kLeastRun = 64, kMostRuns = 128;

/// Offset of A[o,i] in a token's h_res.
__device__ inline int mixIndex(const PostBwdArgs &a, int o, int i) {
  const int n = static_cast<int>(a.n);
  return a.orient == MHCRT_ORIENT_OI ? o * n + i : i * n + o;
}

/// d_out, and what the dropout of mhc.post leaves of it.
struct OutputGradient {
  float whole, kept;
};

template <typename T, bool kDrops>
__device__ inline OutputGradient outputGradient(const PostBwdArgs &a, const Dropper<kDrops> &dropper, int64_t m,
                                                int64_t o, int64_t c) {
  const int64_t at = m * a.n * a.C + streamIndex(o, c, a.n, a.C, a.layout == MHCRT_LAYOUT_CN);
  const float whole = toFloat(static_cast<const T *>(a.d_out)[a.equal_d_out ? m * a.C + c : at]);
  return {whole, dropper.element(at, whole)};
}

/// d_f of a channel, before it is rounded.
template <typename T, bool kDrops>
__device__ inline float branchGradient(const PostBwdArgs &a, const Dropper<kDrops> &dropper, int64_t m, int64_t c) {
  float df = 0;
#pragma unroll 1
  for (int64_t o = 0; o < a.n; ++o)
    df = fmaf(static_cast<const float *>(a.h_post)[m * a.n + o], outputGradient<T>(a, dropper, m, o, c).kept, df);
  return df;
}

template <typename T, bool kDrops>
__global__ void __launch_bounds__(kThreads) postBwdElementsKernel(PostBwdArgs a, Dropout dropout) {
  const Dropper<kDrops> dropper(dropout);
  const AnyInput dxIn = {a.d_x_in, a.d_x_in_type};
  const AnyOutput dx = {a.d_x, a.d_x_type};
  const int n = static_cast<int>(a.n);
  for (int64_t item = firstItem(); item < a.M * a.C; item += itemStep()) {
    const int64_t m = item / a.C, c = item % a.C;
    const float *h = static_cast<const float *>(a.h_post) + m * n;
    const float *mix = static_cast<const float *>(a.h_res) + m * n * n;
    float grad[kMaxStreams], df = 0;
#pragma unroll
    for (int o = 0; o < kMaxStreams; ++o) {
      if (o == n)
        break;
      grad[o] = outputGradient<T>(a, Dropper<false>(dropout), m, o, c).whole;
      if constexpr (!kDrops)
        df = fmaf(h[o], grad[o], df);
    }
    if constexpr (kDrops) // their rounds would take too many registers above
      df = branchGradient<T>(a, dropper, m, c);
    if (a.d_f)
      static_cast<T *>(a.d_f)[item] = fromFloat<T>(df);
    if (!dx)
      continue;
    for (int i = 0; i < n; ++i) {
      const int64_t at = m * n * a.C + streamIndex(i, c, n, a.C, a.layout == MHCRT_LAYOUT_CN);
      float sum = dxIn ? dxIn[at] : 0.0f;
#pragma unroll
      for (int o = 0; o < kMaxStreams; ++o) {
        if (o == n)
          break;
        sum = fmaf(mix[mixIndex(a, o, i)], grad[o], sum);
      }
      dx.store(at, sum);
    }
  }
}

/// Sums over the channels of token m for outputs o0 .. o0+3: d_h_post in the last column, dA in the others.
template <typename T, bool kDrops>
__device__ inline void addChannels(const PostBwdArgs &a, const Dropper<kDrops> &dropper, int64_t m, int o0,
                                   float (&sums)[kOutputs * (kMaxStreams + 1)]) {
  const AnyInput bias = {a.bias, a.bias_type};
  const int n = static_cast<int>(a.n);
  const bool channelsFirst = a.layout == MHCRT_LAYOUT_CN;
  const T *x = static_cast<const T *>(a.x) + m * (a.equal_x ? 1 : n) * a.C;
  const int64_t xStep = a.equal_x ? 0 : channelsFirst ? 1 : a.C, xChannel = !a.equal_x && channelsFirst ? n : 1;
  for (int64_t c = threadIdx.x; c < a.C; c += kThreads) {
    const float branch = toFloat(static_cast<const T *>(a.f)[m * a.C + c]) + (bias ? bias[c] : 0.0f);
    float grad[kOutputs];
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) {
      const OutputGradient g = o0 + o < n ? outputGradient<T>(a, dropper, m, o0 + o, c) : OutputGradient{};
      grad[o] = g.whole;
      float &sum = sums[o * (kMaxStreams + 1) + kMaxStreams];
      sum = fmaf(g.kept, branch, sum);
    }
    if (!a.d_h_res)
      continue;
#pragma unroll
    for (int i = 0; i < kMaxStreams; ++i) {
      if (i == n)
        break;
      const float in = toFloat(x[i * xStep + c * xChannel]);
#pragma unroll
      for (int o = 0; o < kOutputs; ++o) {
        float &sum = sums[o * (kMaxStreams + 1) + i];
        sum = fmaf(grad[o], in, sum);
      }
    }
  }
}

template <typename T, bool kDrops>
__global__ void __launch_bounds__(kThreads) postBwdSumsKernel(PostBwdArgs a, Dropout dropout) {
  const Dropper<kDrops> dropper(dropout);
  constexpr int kColumns = kMaxStreams + 1;
  __shared__ BlockRoom<kOutputs * kColumns> room;
  const int n = static_cast<int>(a.n);
  float *dhPost = static_cast<float *>(a.d_h_post), *dhRes = static_cast<float *>(a.d_h_res);
  for (int64_t m = blockIdx.x; m < a.M; m += gridDim.x)
    for (int o0 = 0; o0 < n; o0 += kOutputs) {
      float sums[kOutputs * kColumns] = {};
      addChannels<T>(a, dropper, m, o0, sums);
      blockSum(sums, room);
      const int o = o0 + static_cast<int>(threadIdx.x) / kColumns, i = threadIdx.x % kColumns;
      if (threadIdx.x >= kOutputs * kColumns || o >= n)
        continue;
      if (i == kMaxStreams && dhPost)
        dhPost[m * n + o] = room.totals[threadIdx.x];
      else if (i < n && dhRes)
        dhRes[m * n * n + mixIndex(a, o, i)] = room.totals[threadIdx.x];
    }
}

/// One run's part of d_bias: a thread per channel.
template <typename T, bool kDrops>
__global__ void postBwdBiasKernel(PostBwdArgs a, Dropout dropout, int64_t length, int64_t runs, float *partials) {
  const Dropper<kDrops> dropper(dropout);
  for (int64_t item = firstItem(); item < runs * a.C; item += itemStep()) {
    const int64_t run = item / a.C, c = item % a.C, last = min(a.M, (run + 1) * length);
    CompensatedSum sum;
    for (int64_t m = run * length; m < last; ++m)
      sum.add(branchGradient<T>(a, dropper, m, c));
    partials[item] = sum.value();
  }
}

template <typename T, bool kDrops>
cudaError_t launchBias(mhcrt_context &context, const PostBwdArgs &a, const Dropout &dropout) {
  const generic::TokenRuns runs(a.M, kLeastRun, kMostRuns);
  generic::ScratchPlan plan;
  plan.addFloats(runs.count, a.C);
  auto *partials = static_cast<float *>(context.reserveScratch("mhcrt_post_bwd", plan.bytes()));
  if (!partials)
    return cudaSuccess;
  const cudaError_t error = launchKernel(postBwdBiasKernel<T, kDrops>, gridFor(context, runs.count * a.C), kThreads, 0,
                                         context.stream, a, dropout, runs.length, runs.count, partials);
  return error == cudaSuccess ? generic::addPartials(context, partials, runs.count, a.C, a.C, a.d_bias_in, a.d_bias)
                              : error;
}

template <typename T, bool kDrops>
cudaError_t launchAs(mhcrt_context &context, const PostBwdArgs &a) {
  const Dropout dropout(a.seed, a.rate, a.stream);
  cudaError_t error = cudaSuccess;
  if (a.d_f || a.d_x)
    error = launchKernel(postBwdElementsKernel<T, kDrops>, gridFor(context, a.M * a.C), kThreads, 0, context.stream, a,
                         dropout);
  if (error == cudaSuccess && (a.d_h_post || a.d_h_res))
    error = launchKernel(postBwdSumsKernel<T, kDrops>, gridForBlocks(context, a.M), kThreads, 0, context.stream, a,
                         dropout);
  return error == cudaSuccess && a.d_bias ? launchBias<T, kDrops>(context, a, dropout) : error;
}

cudaError_t launchGeneric(mhcrt_context &context, const PostBwdArgs &a) {
  return withFloatType(a.x_type, [&](auto type) {
    using T = decltype(type);
    return a.seed ? launchAs<T, true>(context, a) : launchAs<T, false>(context, a);
  });
}

} // namespace

static constexpr Variant<PostBwdArgs> kVariants[] = {
    {"sm90", 90, 90, postBwdSm90Takes, postBwdSm90},
    {"n4", 80, kAnyArch, postBwdN4Takes,
     [](mhcrt_context &c, const PostBwdArgs &a) { return postBwdN4(a, c.multiprocessors, c.stream); }},
    {"n2n8", 80, kAnyArch, postBwdN2N8Takes,
     [](mhcrt_context &c, const PostBwdArgs &a) { return postBwdN2N8(a, c.stream); }},
    {"cn4", 80, kAnyArch, postBwdCn4Takes, postBwdCn4},
    {"generic", 0, kAnyArch, nullptr, launchGeneric}};

mhcrt_status mhcrt::launchPostBwd(mhcrt_context &context, const PostBwdArgs &args) {
  return launchVariant(context, "post_bwd", kVariants, args);
}

mhcrt_status mhcrt::runPostBwd(mhcrt_context &context, const PostBwdArgs &args) {
  return checkPostBwd(context, args) ? launchPostBwd(context, args) : context.status;
}
