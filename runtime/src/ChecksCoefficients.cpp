//===- ChecksCoefficients.cpp - gates and maps of residual logits --------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Checks.h"
#include "KernelCall.h"

#include <algorithm>

using namespace mhcrt;

bool mhcrt::checkGates(CallState &state, const GatesArgs &a) {
  KernelCall call(state, "mhcrt_gates");
  call.dim("M", a.M, 0).dim("n", a.n, 1, kMaxStreams).dim("R", a.R, 0, INT32_MAX);
  // A head has the first gate only.
  const bool head = a.logits_type == MHCRT_NONE;
  call.equal("N", a.N, head ? "n" : "2*n + R", head ? a.n : 2 * a.n + a.R)
      .equal("A", a.A, "one element of 'alpha' for each gate", head ? 1 : 3);
  call.attribute("stat_form", a.stat_form, 3).tensor("proj", a.proj, a.proj_type, kF32, a.M);
  if (a.stat_form == MHCRT_STAT_APPLIED)
    call.absent("stat", a.stat_type, "stat_form applied");
  else
    call.tensor("stat", a.stat, a.stat_type, kF32, a.M);
  call.tensor("alpha", a.alpha, a.alpha_type, kF32, a.A)
      .tensor("beta", a.beta, a.beta_type, kF32, a.N)
      .tensor("h_pre", a.h_pre, a.h_pre_type, kF32, a.M);
  if (head)
    call.absent("h_post", a.h_post_type, "absent logits");
  else
    call.tensor("h_post", a.h_post, a.h_post_type, kF32, a.M)
        .tensor("logits", a.logits, a.logits_type, kF32, std::min(a.M, a.R));
  call.epsilon("norm_eps", a.norm_eps).epsilon("pre_eps", a.pre_eps).finite("post_mult", a.post_mult);
  return call.begin();
}

bool mhcrt::checkGatesBwd(CallState &state, const GatesBwdArgs &a) {
  KernelCall call(state, "mhcrt_gates_bwd");
  call.dim("M", a.M, 0).dim("n", a.n, 1, kMaxStreams).attribute("stat_form", a.stat_form, 3);
  // A head has the first gate only.
  if (a.A == 1) {
    call.equal("N", a.N, "n", a.n)
        .absent("d_h_post", a.d_h_post_type, "one gate")
        .absent("d_logits", a.d_logits_type, "one gate");
  } else {
    call.equal("A", a.A, "one element of 'alpha' for each gate", 3).dim("N", a.N, 2 * a.n, INT32_MAX);
    if (a.d_logits_type != MHCRT_NONE)
      call.equal("N", a.N, "2*n + R", saturatingAdd(2 * a.n, a.R));
  }
  call.tensor("d_h_pre", a.d_h_pre, a.d_h_pre_type, kF32, a.M)
      .optional("d_h_post", a.d_h_post, a.d_h_post_type, kF32, a.M)
      .optional("d_logits", a.d_logits, a.d_logits_type, kF32, std::min(a.M, a.R))
      .tensor("proj", a.proj, a.proj_type, kF32, a.M);
  if (a.stat_form == MHCRT_STAT_APPLIED)
    call.absent("stat", a.stat_type, "stat_form applied").absent("d_stat", a.d_stat_type, "stat_form applied");
  else
    call.tensor("stat", a.stat, a.stat_type, kF32, a.M).optional("d_stat", a.d_stat, a.d_stat_type, kF32, a.M);
  call.tensor("alpha", a.alpha, a.alpha_type, kF32, a.A).tensor("beta", a.beta, a.beta_type, kF32, a.N);
  call.optional("d_proj", a.d_proj, a.d_proj_type, kF32, a.M)
      .optional("d_alpha", a.d_alpha, a.d_alpha_type, kF32, a.A)
      .optional("d_beta", a.d_beta, a.d_beta_type, kF32, a.N);
  call.start("d_alpha_in", a.d_alpha_in, a.d_alpha_in_type, kF32, a.A, "d_alpha", a.d_alpha_type);
  call.start("d_beta_in", a.d_beta_in, a.d_beta_in_type, kF32, a.N, "d_beta", a.d_beta_type);
  call.epsilon("norm_eps", a.norm_eps).finite("post_mult", a.post_mult);
  return call.begin();
}

bool mhcrt::checkSinkhorn(CallState &state, const SinkhornArgs &a) {
  KernelCall call(state, "mhcrt_sinkhorn");
  call.dim("M", a.M, 0).dim("n", a.n, 1, kMaxStreams);
  call.tensor("logits", a.logits, a.logits_type, kF32, a.M).tensor("mix", a.mix, a.mix_type, kF32, a.M);
  call.sinkhorn(a.init, a.order, a.denom, "eps", a.eps, a.iters)
      .sinkhornFormat("format", a.format, a.denom)
      .solver(a.solver, a.init, a.order, a.format);
  return call.begin();
}

bool mhcrt::checkSinkhornBwd(CallState &state, const SinkhornBwdArgs &a) {
  KernelCall call(state, "mhcrt_sinkhorn_bwd");
  call.dim("M", a.M, 0).dim("n", a.n, 1, kMaxStreams);
  call.tensor("d_mix", a.d_mix, a.d_mix_type, kF32, a.M)
      .tensor("logits", a.logits, a.logits_type, kF32, a.M)
      .tensor("d_logits", a.d_logits, a.d_logits_type, kF32, a.M);
  call.sinkhorn(a.init, a.order, a.denom, "eps", a.eps, a.iters).solver(a.solver, a.init, a.order, MHCRT_FORMAT_F32);
  return call.begin();
}

bool mhcrt::checkPermutationMix(CallState &state, const PermutationMixArgs &a) {
  KernelCall call(state, "mhcrt_permutation_mix");
  call.dim("M", a.M, 0).dim("n", a.n, 1, kMostPermuted).equal("R", a.R, "n!", factorial(a.n));
  call.tensor("logits", a.logits, a.logits_type, kF32, a.M).tensor("mix", a.mix, a.mix_type, kF32, a.M);
  return call.begin();
}

bool mhcrt::checkPermutationMixBwd(CallState &state, const PermutationMixBwdArgs &a) {
  KernelCall call(state, "mhcrt_permutation_mix_bwd");
  call.dim("M", a.M, 0).dim("n", a.n, 1, kMostPermuted).equal("R", a.R, "n!", factorial(a.n));
  call.tensor("d_mix", a.d_mix, a.d_mix_type, kF32, a.M)
      .tensor("logits", a.logits, a.logits_type, kF32, a.M)
      .tensor("d_logits", a.d_logits, a.d_logits_type, kF32, a.M);
  return call.begin();
}
