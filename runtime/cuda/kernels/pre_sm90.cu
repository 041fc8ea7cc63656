//===- pre_sm90.cu - pre in one launch, on clusters of blocks -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RingKernel.cuh has formula, plan and rounding. x is read once: 10C bytes a token.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/Pre.h"
#include "cuda/ring/RingLaunch.cuh"

using namespace mhcrt;

bool mhcrt::preSm90Takes(const PreArgs &a, Needs &needs) {
  return ringTakes(a, needs) &&
         needs.that(a.res_map != MHCRT_RES_MAP_PERMUTATION, "another residual map than permutations") &&
         needs.aligned({a.u, a.h_in, a.h_pre, a.h_post, a.h_res}) && ringHasRoom<true>(a.C, needs);
}

cudaError_t mhcrt::preSm90(const PreArgs &a, cudaStream_t stream) {
  RingArgs args = ringArgsOf(a);
  args.alpha = static_cast<const float *>(a.alpha);
  args.beta = static_cast<const float *>(a.beta);
  args.u = a.u;
  args.hIn = static_cast<const float *>(a.h_in);
  args.hPre = static_cast<float *>(a.h_pre);
  args.hPost = static_cast<float *>(a.h_post);
  args.hRes = static_cast<float *>(a.h_res);
  args.preEps = static_cast<float>(a.pre_eps);
  args.postMult = static_cast<float>(a.post_mult);
  args.resMap = a.res_map;
  args.sinkhorn = {a.init, a.order, a.denom, static_cast<float>(a.sk_eps), a.iters, a.sk_format};
  args.foldPre = a.fold_pre != 0;
  args.hPreFormat = static_cast<int32_t>(a.h_pre_format);
  args.hPostFormat = static_cast<int32_t>(a.h_post_format);
  args.hResFormat = static_cast<int32_t>(a.h_res_format);
  return launchRingOf<true>(args, stream);
}
