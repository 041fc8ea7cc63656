//===- Head.h - Fast kernels of the learned contraction ---------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_KERNELS_HEAD_H
#define MHCRT_CUDA_KERNELS_HEAD_H

#include "cuda/host/Context.h"
#include "cuda/host/Needs.h"
#include "src/KernelArgs.h"

namespace mhcrt {

/// The call of pre that head is: n columns, one gate, no residual map.
inline PreArgs preOf(const HeadArgs &a) {
  PreArgs pre = {};
  pre.x = a.x, pre.x_type = a.x_type;
  pre.phi = a.phi, pre.phi_type = a.phi_type;
  pre.norm_weight = a.norm_weight, pre.norm_weight_type = a.norm_weight_type;
  pre.alpha = a.alpha, pre.alpha_type = a.alpha_type;
  pre.beta = a.beta, pre.beta_type = a.beta_type;
  pre.u = a.out, pre.u_type = a.out_type;
  pre.h_pre = a.h_pre, pre.h_pre_type = a.h_pre_type;
  pre.proj = a.proj, pre.proj_type = a.proj_type;
  pre.stat = a.stat, pre.stat_type = a.stat_type;
  pre.M = a.M, pre.n = a.n, pre.C = a.C, pre.N = a.n, pre.K = a.K, pre.A = a.A;
  pre.layout = a.layout, pre.phi_layout = a.phi_layout, pre.norm = a.norm;
  pre.norm_eps = a.norm_eps, pre.pre_eps = a.pre_eps, pre.precision = a.precision;
  pre.res_map = MHCRT_RES_MAP_IDENTITY, pre.h_pre_format = a.h_pre_format;
  return pre;
}

/// The kernels of pre, pre_bwd and post_pre for compute capability 9.0; see head_sm90.cu.
bool headSm90Takes(const HeadArgs &args, Needs &needs);
cudaError_t headSm90(mhcrt_context &context, const HeadArgs &args);
bool postHeadSm90Takes(const PostHeadArgs &args, Needs &needs);
cudaError_t postHeadSm90(mhcrt_context &context, const PostHeadArgs &args);
bool headBwdSm90Takes(const HeadBwdArgs &args, Needs &needs);
cudaError_t headBwdSm90(mhcrt_context &context, const HeadBwdArgs &args);

} // namespace mhcrt

#endif // MHCRT_CUDA_KERNELS_HEAD_H
