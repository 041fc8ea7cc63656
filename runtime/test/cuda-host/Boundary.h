//===- Boundary.h - Calls of boundaries that fast rows take -----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_CUDA_HOST_BOUNDARY_H
#define MHCRT_TEST_CUDA_HOST_BOUNDARY_H

#include "mhcrt/kernels.h"

namespace mhcrt::test {

constexpr int32_t F = MHCRT_F32, B = MHCRT_BF16, H = MHCRT_F16, none = MHCRT_NONE;

/// Nothing reads it.
alignas(256) inline char memory[256];
inline void *const t = memory, *const odd = memory + 4;

/// A call that the one launch takes, with the types and widths that it takes.
inline mhcrt_post_pre_args postPreArgs(int32_t type, int64_t C) {
  mhcrt_post_pre_args args = {};
  args.size = sizeof(args);
  args.f = args.x = args.h_post = args.h_res = args.phi = args.alpha = args.beta = t;
  args.f_type = args.x_type = args.y_type = args.u_type = type;
  args.h_post_type = args.h_res_type = args.phi_type = args.alpha_type = args.beta_type = F;
  args.y = args.u = args.h_pre = args.next_h_post = args.next_h_res = args.proj = args.stat = t;
  args.h_pre_type = args.next_h_post_type = args.next_h_res_type = args.proj_type = args.stat_type = F;
  args.M = 100, args.C = C, args.n = 4, args.N = 24, args.K = 4 * C, args.A = 3;
  args.norm_eps = args.pre_eps = args.sk_eps = 1e-6, args.post_mult = 2;
  args.iters = 20, args.precision = MHCRT_PRECISION_BF16X3;
  return args;
}

/// A call that the two launches take, with the types and widths that they take: a tensor is the start of the gradient
/// of y.
inline mhcrt_post_pre_bwd_args postPreBwdArgs(int32_t type, int64_t C) {
  mhcrt_post_pre_bwd_args args = {};
  args.size = sizeof(args);
  args.d_u = args.d_h_pre = args.d_next_h_post = args.d_next_h_res = args.d_y = args.y = t;
  args.f = args.x = args.h_post = args.h_res = args.phi = args.alpha = args.beta = args.proj = args.stat = t;
  args.d_f = args.d_x = args.d_h_post = args.d_h_res = args.d_phi = args.d_alpha = args.d_beta = t;
  args.d_u_type = args.d_y_type = args.y_type = args.f_type = args.x_type = args.d_f_type = args.d_x_type = type;
  args.d_h_pre_type = args.d_next_h_post_type = args.d_next_h_res_type = args.h_post_type = args.h_res_type = F;
  args.phi_type = args.alpha_type = args.beta_type = args.proj_type = args.stat_type = F;
  args.d_h_post_type = args.d_h_res_type = args.d_phi_type = args.d_alpha_type = args.d_beta_type = F;
  args.M = 100, args.C = C, args.n = 4, args.N = 24, args.K = 4 * C, args.A = 3;
  args.norm_eps = args.pre_eps = args.sk_eps = 1e-6, args.post_mult = 2;
  args.iters = 20, args.precision = MHCRT_PRECISION_BF16X3;
  return args;
}

} // namespace mhcrt::test

#endif // MHCRT_TEST_CUDA_HOST_BOUNDARY_H
