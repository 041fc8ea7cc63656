//===- rebuild.cu - Streams of several layers -----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   u[k]   = sum_i h_pre[k][i] * x[k][i]
//   x[k+1] = drop[k](h_post[k] * (f[k] + bias[k])) + A[k] x[k]      A = h_res (oi) or its transpose (io), x[0] = x
//
// Generic: the launches of aggregate and post, layer by layer, and so their bits.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Variants.h"
#include "cuda/kernels/Elementwise.h"
#include "cuda/kernels/Generic.h"
#include "src/Checks.h"

using namespace mhcrt;

static cudaError_t launchGeneric(mhcrt_context &context, const RebuildArgs &a) {
  const void *x = a.x;
  cudaError_t error = cudaSuccess;
  for (int64_t k = 0; k <= a.out_count && error == cudaSuccess; ++k) {
    if (k < a.u_count)
      error = generic::aggregate(context,
                                 {x, a.x_type, a.h_pre[k], a.h_pre_type, a.u[k], a.u_type, a.M, a.n, a.C, a.layout},
                                 generic::Units::scalar);
    if (k == a.out_count || error != cudaSuccess)
      break;
    error = generic::post(context, {a.f[k],
                                    a.f_type,
                                    a.bias_count ? a.bias[k] : nullptr,
                                    a.bias_type,
                                    a.h_post[k],
                                    a.h_post_type,
                                    x,
                                    a.x_type,
                                    a.h_res[k],
                                    a.h_res_type,
                                    a.seed_count ? a.seed[k] : nullptr,
                                    a.seed_type,
                                    a.out[k],
                                    a.out_type,
                                    a.M,
                                    a.C,
                                    a.n,
                                    a.S,
                                    a.layout,
                                    a.orient,
                                    a.rate,
                                    a.stream + k * a.stream_step});
    x = a.out[k];
  }
  return error;
}

static constexpr Variant<RebuildArgs> kVariants[] = {
    {"n4", 80, kAnyArch, rebuildN4Takes, [](mhcrt_context &c, const RebuildArgs &a) { return rebuildN4(a, c.stream); }},
    {"generic", 0, kAnyArch, nullptr, launchGeneric}};

mhcrt_status mhcrt::runRebuild(mhcrt_context &context, const RebuildArgs &args) {
  if (!checkRebuild(context, args))
    return context.status;
  return args.M ? launchVariant(context, "rebuild", kVariants, args) : context.status;
}
