//===- ChecksProjection.cpp - projection, pre, head ----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Checks.h"
#include "KernelCall.h"

using namespace mhcrt;

/// Checks of every kernel that reads x, phi and norm_weight; N columns.
template <typename Args>
static void checkWeights(KernelCall &call, const Args &a, int64_t N) {
  call.dim("M", a.M, 0).dim("n", a.n, 1, kMaxStreams).dim("C", a.C, 1);
  call.equal("K", a.K, "n*C", saturatingMul(a.n, a.C)).dim("N", N, 1, INT32_MAX);
  call.tensor("x", a.x, a.x_type, kFloats, a.M);
  if (a.x_type == MHCRT_F32)
    call.tensor("phi", a.phi, a.phi_type, kF32, N)
        .optional("norm_weight", a.norm_weight, a.norm_weight_type, kF32, a.K);
  else
    call.tensor("phi", a.phi, a.phi_type, {MHCRT_F32, a.x_type}, N)
        .optional("norm_weight", a.norm_weight, a.norm_weight_type, {MHCRT_F32, a.x_type}, a.K);
  call.attribute("layout", a.layout, 2).attribute("phi_layout", a.phi_layout, 2).attribute("norm", a.norm, 4);
  call.attribute("precision", a.precision, 4).epsilon("norm_eps", a.norm_eps);
}

/// Gradients of phi and norm_weight, and what they start from.
template <typename Args>
static void checkWeightGradients(KernelCall &call, const Args &a, int64_t N) {
  call.optional("d_phi", a.d_phi, a.d_phi_type, kF32, N);
  if (a.norm_weight_type == MHCRT_NONE)
    call.absent("d_norm_weight", a.d_norm_weight_type, "absent norm_weight");
  else
    call.optional("d_norm_weight", a.d_norm_weight, a.d_norm_weight_type, kF32, a.K);
  call.start("d_phi_in", a.d_phi_in, a.d_phi_in_type, kF32, N, "d_phi", a.d_phi_type);
  call.start("d_norm_weight_in", a.d_norm_weight_in, a.d_norm_weight_in_type, kF32, a.K, "d_norm_weight",
             a.d_norm_weight_type);
}

/// The gradient of x as well.
template <typename Args>
static void checkGradients(KernelCall &call, const Args &a, int64_t N) {
  call.optional("d_x", a.d_x, a.d_x_type, {MHCRT_F32, a.x_type}, a.M);
  call.start("d_x_in", a.d_x_in, a.d_x_in_type, {MHCRT_F32, a.x_type}, a.M, "d_x", a.d_x_type);
  checkWeightGradients(call, a, N);
}

/// The number of gates, their parameters, and for a backward kernel the gradients of those.
template <typename Args>
static void checkGateParameters(KernelCall &call, const Args &a, int64_t gates, int64_t N) {
  call.equal("A", a.A, "one element of 'alpha' for each gate", gates);
  call.tensor("alpha", a.alpha, a.alpha_type, kF32, a.A).tensor("beta", a.beta, a.beta_type, kF32, N);
}

template <typename Args>
static void checkGateGradients(KernelCall &call, const Args &a, int64_t N) {
  call.optional("d_h_pre", a.d_h_pre, a.d_h_pre_type, kF32, a.M);
  call.tensor("proj", a.proj, a.proj_type, kF32, a.M).tensor("stat", a.stat, a.stat_type, kF32, a.M);
  call.optional("d_alpha", a.d_alpha, a.d_alpha_type, kF32, a.A).optional("d_beta", a.d_beta, a.d_beta_type, kF32, N);
  call.start("d_alpha_in", a.d_alpha_in, a.d_alpha_in_type, kF32, a.A, "d_alpha", a.d_alpha_type);
  call.start("d_beta_in", a.d_beta_in, a.d_beta_in_type, kF32, N, "d_beta", a.d_beta_type);
}

/// The residual map of pre and its backward, which decides N.
template <typename Args>
static void checkResidual(KernelCall &call, const Args &a) {
  call.attribute("res_map", a.res_map, 3).attribute("fold_pre", a.fold_pre, 2);
  if (a.res_map == MHCRT_RES_MAP_PERMUTATION)
    call.dim("n", a.n, 1, kMostPermuted).equal("N", a.N, "2*n + n!", saturatingAdd(2 * a.n, factorial(a.n)));
  else
    call.equal("N", a.N, "2*n + n*n", 2 * a.n + a.n * a.n);
  if (a.res_map == MHCRT_RES_MAP_SINKHORN)
    call.sinkhorn(a.init, a.order, a.denom, "sk_eps", a.sk_eps, a.iters)
        .sinkhornFormat("sk_format", a.sk_format, a.denom)
        .solver(a.solver, a.init, a.order, a.sk_format);
  else
    call.attribute("solver", a.solver, 1);
  call.format("h_pre_format", a.h_pre_format).format("h_post_format", a.h_post_format);
}

bool mhcrt::checkProjection(CallState &state, const ProjectionArgs &a) {
  KernelCall call(state, "mhcrt_projection");
  checkWeights(call, a, a.N);
  call.tensor("proj", a.proj, a.proj_type, kF32, a.M).attribute("stat_form", a.stat_form, 3);
  if (a.stat_form == MHCRT_STAT_APPLIED)
    call.absent("stat", a.stat_type, "stat_form applied");
  else
    call.tensor("stat", a.stat, a.stat_type, kF32, a.M);
  return call.begin();
}

bool mhcrt::checkProjectionBwd(CallState &state, const ProjectionBwdArgs &a) {
  KernelCall call(state, "mhcrt_projection_bwd");
  checkWeights(call, a, a.N);
  call.attribute("stat_form", a.stat_form, 2).tensor("d_proj", a.d_proj, a.d_proj_type, kF32, a.M);
  call.optional("d_stat", a.d_stat, a.d_stat_type, kF32, a.M);
  if (a.d_stat && a.stat_form == MHCRT_STAT_INV_RMS)
    call.tensor("stat", a.stat, a.stat_type, kF32, a.M);
  checkGradients(call, a, a.N);
  return call.begin();
}

/// Checks that pre and post_pre share.
template <typename Args>
static void checkInputs(KernelCall &call, const Args &a) {
  checkWeights(call, a, a.N);
  checkResidual(call, a);
  checkGateParameters(call, a, 3, a.N);
  call.optional("u", a.u, a.u_type, {a.x_type}, a.M).optional("h_pre", a.h_pre, a.h_pre_type, kF32, a.M);
  if (a.u_type == MHCRT_NONE)
    call.absent("h_in", a.h_in_type, "absent u");
  else if (a.fold_pre)
    call.absent("h_in", a.h_in_type, "fold_pre");
  else
    call.optional("h_in", a.h_in, a.h_in_type, kF32, a.M);
  call.optional("proj", a.proj, a.proj_type, kF32, a.M).optional("stat", a.stat, a.stat_type, kF32, a.M);
  call.epsilon("pre_eps", a.pre_eps).finite("post_mult", a.post_mult).format("h_res_format", a.h_res_format);
}

/// A weight that may be absent: of x's type, or f32.
template <typename Args>
static void checkOptionalWeight(KernelCall &call, const Args &a, const char *name, const void *weight, int32_t type,
                                int64_t size) {
  if (a.x_type == MHCRT_F32)
    call.optional(name, weight, type, kF32, size);
  else
    call.optional(name, weight, type, {MHCRT_F32, a.x_type}, size);
}

/// The operands of post in ops that it is a part of.
template <typename Args>
static void checkBranch(KernelCall &call, const Args &a) {
  call.tensor("f", a.f, a.f_type, {a.x_type}, a.M);
  checkOptionalWeight(call, a, "bias", a.bias, a.bias_type, a.C);
  call.tensor("h_post", a.h_post, a.h_post_type, kF32, a.M).tensor("h_res", a.h_res, a.h_res_type, kF32, a.M);
  call.optionalDropout(a.seed, a.seed_type, a.S, a.rate, a.stream, streamElements(a.M, a.n, a.C));
  call.attribute("orient", a.orient, 2).attribute("equal_x", a.equal_x, 2);
}

bool mhcrt::checkPre(CallState &state, const PreArgs &a) {
  KernelCall call(state, "mhcrt_pre");
  checkInputs(call, a);
  call.tensor("h_post", a.h_post, a.h_post_type, kF32, a.M).tensor("h_res", a.h_res, a.h_res_type, kF32, a.M);
  call.attribute("equal_x", a.equal_x, 2);
  return call.begin();
}

bool mhcrt::checkPostPre(CallState &state, const PostPreArgs &a) {
  KernelCall call(state, "mhcrt_post_pre");
  checkInputs(call, a);
  checkBranch(call, a);
  call.tensor("y", a.y, a.y_type, {a.x_type}, a.M)
      .tensor("next_h_post", a.next_h_post, a.next_h_post_type, kF32, a.M)
      .tensor("next_h_res", a.next_h_res, a.next_h_res_type, kF32, a.M);
  if (a.u_type == MHCRT_NONE)
    call.absent("u_norm_weight", a.u_norm_weight_type, "absent u");
  else
    checkOptionalWeight(call, a, "u_norm_weight", a.u_norm_weight, a.u_norm_weight_type, a.C);
  if (a.u_norm_weight_type == MHCRT_NONE)
    call.zero("u_norm_eps", a.u_norm_eps, "u_norm_weight");
  else
    call.epsilon("u_norm_eps", a.u_norm_eps);
  return call.begin();
}

bool mhcrt::checkPreBwd(CallState &state, const PreBwdArgs &a) {
  KernelCall call(state, "mhcrt_pre_bwd");
  checkWeights(call, a, a.N);
  checkResidual(call, a);
  checkGateParameters(call, a, 3, a.N);
  call.optional("d_u", a.d_u, a.d_u_type, {a.x_type}, a.M);
  call.tensor("d_h_post", a.d_h_post, a.d_h_post_type, kF32, a.M)
      .tensor("d_h_res", a.d_h_res, a.d_h_res_type, kF32, a.M);
  checkGateGradients(call, a, a.N);
  checkGradients(call, a, a.N);
  call.start("d_out", a.d_out, a.d_out_type, {a.x_type}, a.M, "d_x", a.d_x_type);
  if (a.d_out_type == MHCRT_NONE)
    call.absent("h_res", a.h_res_type, "absent d_out");
  else
    call.tensor("h_res", a.h_res, a.h_res_type, kF32, a.M)
        .attribute("orient", a.orient, 2)
        .absent("d_x_in", a.d_x_in_type, "d_out");
  call.epsilon("pre_eps", a.pre_eps).finite("post_mult", a.post_mult);
  call.attribute("equal_x", a.equal_x, 2).attribute("equal_d_out", a.equal_d_out, a.d_out_type == MHCRT_NONE ? 1 : 2);
  return call.begin();
}

bool mhcrt::checkPostPreBwd(CallState &state, const PostPreBwdArgs &a) {
  KernelCall call(state, "mhcrt_post_pre_bwd");
  checkWeights(call, a, a.N);
  checkResidual(call, a);
  checkGateParameters(call, a, 3, a.N);
  checkBranch(call, a);
  call.optional("d_u", a.d_u, a.d_u_type, {a.x_type}, a.M);
  call.tensor("d_next_h_post", a.d_next_h_post, a.d_next_h_post_type, kF32, a.M)
      .tensor("d_next_h_res", a.d_next_h_res, a.d_next_h_res_type, kF32, a.M)
      .optional("y", a.y, a.y_type, {a.x_type}, a.M);
  checkGateGradients(call, a, a.N);
  checkWeightGradients(call, a, a.N);
  call.optional("d_out", a.d_out, a.d_out_type, {a.x_type}, a.M);
  if (a.d_out_type == MHCRT_NONE)
    call.absent("next_h_res", a.next_h_res_type, "absent d_out")
        .optional("d_y", a.d_y, a.d_y_type, {MHCRT_F32, a.x_type}, a.M);
  else
    call.tensor("next_h_res", a.next_h_res, a.next_h_res_type, kF32, a.M)
        .attribute("next_orient", a.next_orient, 2)
        .absent("d_y", a.d_y_type, "d_out");
  call.optional("d_f", a.d_f, a.d_f_type, {a.x_type}, a.M)
      .optional("d_h_post", a.d_h_post, a.d_h_post_type, kF32, a.M)
      .optional("d_h_res", a.d_h_res, a.d_h_res_type, kF32, a.M)
      .optional("d_x", a.d_x, a.d_x_type, {MHCRT_F32, a.x_type}, a.M)
      .optional("d_bias", a.d_bias, a.d_bias_type, kF32, a.C)
      .start("d_bias_in", a.d_bias_in, a.d_bias_in_type, kF32, a.C, "d_bias", a.d_bias_type);
  call.epsilon("pre_eps", a.pre_eps).finite("post_mult", a.post_mult);
  call.attribute("equal_d_out", a.equal_d_out, a.d_out_type == MHCRT_NONE ? 1 : 2);
  return call.begin();
}

/// Checks that head and post_head share.
template <typename Args>
static void checkContraction(KernelCall &call, const Args &a) {
  checkWeights(call, a, a.n);
  checkGateParameters(call, a, 1, a.n);
  call.tensor("out", a.out, a.out_type, {a.x_type}, a.M)
      .optional("h_pre", a.h_pre, a.h_pre_type, kF32, a.M)
      .optional("proj", a.proj, a.proj_type, kF32, a.M)
      .optional("stat", a.stat, a.stat_type, kF32, a.M)
      .epsilon("pre_eps", a.pre_eps)
      .format("h_pre_format", a.h_pre_format);
}

bool mhcrt::checkHead(CallState &state, const HeadArgs &a) {
  KernelCall call(state, "mhcrt_head");
  checkContraction(call, a);
  return call.begin();
}

bool mhcrt::checkPostHead(CallState &state, const PostHeadArgs &a) {
  KernelCall call(state, "mhcrt_post_head");
  checkContraction(call, a);
  checkBranch(call, a);
  call.optional("y", a.y, a.y_type, {a.x_type}, a.M);
  return call.begin();
}

bool mhcrt::checkHeadBwd(CallState &state, const HeadBwdArgs &a) {
  KernelCall call(state, "mhcrt_head_bwd");
  checkWeights(call, a, a.n);
  checkGateParameters(call, a, 1, a.n);
  call.tensor("d_out", a.d_out, a.d_out_type, {a.x_type}, a.M);
  checkGateGradients(call, a, a.n);
  checkGradients(call, a, a.n);
  call.epsilon("pre_eps", a.pre_eps).format("h_pre_format", a.h_pre_format);
  return call.begin();
}
