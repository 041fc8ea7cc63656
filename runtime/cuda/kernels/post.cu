//===- post.cu - Write a layer output back to n streams -------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   out[m,o,c] = drop(h_post[m,o] * (f[m,c] + bias[c])) + sum_i A[m,o,i] * x[m,i,c]
//   A = h_res (oi) or its transpose (io); drop is the dropout of mhc.dropout on [M,n,C], or nothing
//   contracted: out[m,c] is the sum or the mean over o of those, each rounded
//
// Generic: one thread per channel of a token, which holds the channel's n values of x in registers, so that out may be
// x. f32: f + bias, times h_post, then the products in the order of i; one rounding. Bytes a token: (2n+1)*C of x's
// type.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Dropout.cuh"
#include "cuda/host/Launch.cuh"
#include "cuda/host/Variants.h"
#include "cuda/kernels/Elementwise.h"
#include "cuda/kernels/Generic.h"
#include "cuda/kernels/Parts.h"
#include "cuda/tile/Element.cuh"
#include "src/Checks.h"
#include "src/KernelCall.h"

using namespace mhcrt;

namespace {

template <typename T, bool kDrops>
__global__ void __launch_bounds__(kThreads) postKernel(PostArgs a, Dropout dropout) {
  const Dropper<kDrops> dropper(dropout);
  const AnyInput bias = {a.bias, a.bias_type};
  const int n = static_cast<int>(a.n);
  const bool channelsFirst = a.layout == MHCRT_LAYOUT_CN;
  // A[o,i] is mix[o * stepO + i * stepI].
  const int stepO = a.orient == MHCRT_ORIENT_OI ? n : 1, stepI = a.orient == MHCRT_ORIENT_OI ? 1 : n;
  const int64_t xStep = a.equal_x ? 0 : a.C;
  for (int64_t item = firstItem(); item < a.M * a.C; item += itemStep()) {
    const int64_t m = item / a.C, c = item % a.C, token = m * n * a.C;
    const float *h = static_cast<const float *>(a.h_post) + m * n;
    const float *mix = static_cast<const float *>(a.h_res) + m * n * n;
    const T *x = static_cast<const T *>(a.x) + (a.equal_x ? m * a.C : token);
    T *out = static_cast<T *>(a.out) + (a.contracted ? item : token);
    float branch = toFloat(static_cast<const T *>(a.f)[item]), in[kMaxStreams];
    if (bias)
      branch += bias[c];
#pragma unroll
    for (int i = 0; i < kMaxStreams; ++i) {
      if (i == n)
        break;
      in[i] = toFloat(x[streamIndex(i, c, n, xStep, channelsFirst && !a.equal_x)]);
    }
    float total = 0.0f;
    for (int o = 0; o < n; ++o) {
      float sum = dropper.element(token + streamIndex(o, c, n, a.C, channelsFirst), h[o] * branch);
#pragma unroll
      for (int i = 0; i < kMaxStreams; ++i) {
        if (i == n)
          break;
        sum = fmaf(mix[o * stepO + i * stepI], in[i], sum);
      }
      const T stream = fromFloat<T>(sum);
      if (a.contracted)
        total = o == 0 ? toFloat(stream) : total + toFloat(stream);
      else
        out[streamIndex(o, c, n, a.C, channelsFirst)] = stream;
    }
    if (a.contracted)
      *out = fromFloat<T>(a.contracted == MHCRT_CONTRACTED_MEAN ? total / n : total);
  }
}

} // namespace

cudaError_t generic::post(mhcrt_context &context, const PostArgs &a) {
  return withFloatType(a.x_type, [&](auto type) {
    using T = decltype(type);
    const auto kernel = a.seed ? postKernel<T, true> : postKernel<T, false>;
    return launchKernel(kernel, gridFor(context, a.M * a.C), kThreads, 0, context.stream, a,
                        Dropout(a.seed, a.rate, a.stream));
  });
}

static constexpr Variant<PostArgs> kVariants[] = {
    {"n4", 80, kAnyArch, postN4Takes, [](mhcrt_context &c, const PostArgs &a) { return postN4(a, c.stream); }},
    {"n2n8", 80, kAnyArch, postN2N8Takes, [](mhcrt_context &c, const PostArgs &a) { return postN2N8(a, c.stream); }},
    {"cn4", 80, kAnyArch, postCn4Takes, [](mhcrt_context &c, const PostArgs &a) { return postCn4(a, c.stream); }},
    {"generic", 0, kAnyArch, nullptr, generic::post}};

mhcrt_status mhcrt::launchPost(mhcrt_context &context, const PostArgs &args) {
  return args.M ? launchVariant(context, "post", kVariants, args) : context.status;
}

mhcrt_status mhcrt::runPost(mhcrt_context &context, const PostArgs &args) {
  return checkPost(context, args) ? launchPost(context, args) : context.status;
}
