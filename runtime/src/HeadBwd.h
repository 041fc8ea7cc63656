//===- HeadBwd.h - Gradients of a head as those of pre ----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_HEADBWD_H
#define MHCRT_SRC_HEADBWD_H

#include "KernelArgs.h"

namespace mhcrt {

/// A pre without residual map and post gate, with n columns.
inline PreBwdArgs preBwdOf(const HeadBwdArgs &a) {
  PreBwdArgs pre = {};
  pre.d_u = a.d_out, pre.d_u_type = a.d_out_type;
  pre.d_h_pre = a.d_h_pre, pre.d_h_pre_type = a.d_h_pre_type;
  pre.x = a.x, pre.x_type = a.x_type;
  pre.phi = a.phi, pre.phi_type = a.phi_type;
  pre.norm_weight = a.norm_weight, pre.norm_weight_type = a.norm_weight_type;
  pre.alpha = a.alpha, pre.alpha_type = a.alpha_type;
  pre.beta = a.beta, pre.beta_type = a.beta_type;
  pre.proj = a.proj, pre.proj_type = a.proj_type;
  pre.stat = a.stat, pre.stat_type = a.stat_type;
  pre.d_x_in = a.d_x_in, pre.d_x_in_type = a.d_x_in_type;
  pre.d_phi_in = a.d_phi_in, pre.d_phi_in_type = a.d_phi_in_type;
  pre.d_norm_weight_in = a.d_norm_weight_in, pre.d_norm_weight_in_type = a.d_norm_weight_in_type;
  pre.d_alpha_in = a.d_alpha_in, pre.d_alpha_in_type = a.d_alpha_in_type;
  pre.d_beta_in = a.d_beta_in, pre.d_beta_in_type = a.d_beta_in_type;
  pre.d_x = a.d_x, pre.d_x_type = a.d_x_type;
  pre.d_phi = a.d_phi, pre.d_phi_type = a.d_phi_type;
  pre.d_norm_weight = a.d_norm_weight, pre.d_norm_weight_type = a.d_norm_weight_type;
  pre.d_alpha = a.d_alpha, pre.d_alpha_type = a.d_alpha_type;
  pre.d_beta = a.d_beta, pre.d_beta_type = a.d_beta_type;
  pre.M = a.M, pre.C = a.C, pre.n = a.n, pre.N = a.n, pre.K = a.K, pre.A = a.A;
  pre.layout = a.layout, pre.phi_layout = a.phi_layout, pre.norm = a.norm;
  pre.norm_eps = a.norm_eps, pre.pre_eps = a.pre_eps, pre.precision = a.precision;
  pre.h_pre_format = a.h_pre_format;
  return pre;
}

} // namespace mhcrt

#endif // MHCRT_SRC_HEADBWD_H
