//===- ChecksGatedDelta.cpp - The front end of a gated delta net ---------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Checks.h"
#include "KernelCall.h"

#include <algorithm>

using namespace mhcrt;

namespace {

/// The most channels of a token, so that no product of sizes overflows.
constexpr int64_t kMostChannels = 1 << 24;

/// The sizes and options that the op and its gradient have alike, and what both read.
template <typename Args>
bool checkInputs(KernelCall &call, const Args &a, Ids ids) {
  const Types likeOrF32 = {a.qkvzba_type, MHCRT_F32};
  call.dim("M", a.M, 0, INT32_MAX).dim("b", a.b, 1, INT32_MAX).dim("k", a.k, 1, kMostTaps);
  call.dim("hv", a.hv, 1, kMostChannels).dim("dk", a.dk, 1, kMostChannels).dim("dv", a.dv, 1, kMostChannels);
  call.dim("num_key_heads", a.num_key_heads, 1, a.hv);
  call.multiple("hv", a.hv, "num_key_heads", a.num_key_heads);
  const int64_t value = saturatingMul(a.hv, a.dv), key = saturatingMul(2 * a.num_key_heads, a.dk);
  call.dim("E", a.E, 2, kMostChannels).equal("E", a.E, "2*num_key_heads*dk + hv*dv", saturatingAdd(key, value));
  call.equal("D", a.D, "E + hv*dv + 2*hv", saturatingAdd(a.E, saturatingAdd(value, 2 * a.hv)));
  call.attribute("qk_l2norm", a.qk_l2norm, 2).attribute("seq_layout", a.seq_layout, 2).attribute("impl", a.impl, 2);
  call.epsilon("l2_eps", a.l2_eps).finite("softplus_threshold", a.softplus_threshold);

  const int64_t tokens = saturatingMul(a.M, a.b);
  call.tensor("qkvzba", a.qkvzba, a.qkvzba_type, kFloats, tokens)
      .tensor("conv_weight", a.conv_weight, a.conv_weight_type, likeOrF32, a.E)
      .optional("conv_bias", a.conv_bias, a.conv_bias_type, likeOrF32, a.E)
      .tensor("A_log", a.A_log, a.A_log_type, likeOrF32, a.hv)
      .tensor("dt_bias", a.dt_bias, a.dt_bias_type, likeOrF32, a.hv)
      .optional("left_boundary", a.left_boundary, a.left_boundary_type, {a.qkvzba_type}, a.k > 1 ? a.b : 0);
  if (a.left_boundary_type != MHCRT_NONE)
    call.equal("p", a.p, "k - 1", a.k - 1);
  if (a.cu_seqlens_type == MHCRT_NONE)
    return call.optional("cu_seqlens", a.cu_seqlens, a.cu_seqlens_type, {MHCRT_I32}, 0).met();
  call.dim("s", a.s, 1, INT32_MAX).dim("b", a.b, 1, 1);
  call.absent("left_boundary", a.left_boundary_type, "cu_seqlens");
  if (ids == Ids::OnHost)
    call.cuts("cu_seqlens", a.cu_seqlens, a.cu_seqlens_type, a.s, a.M);
  else
    call.tensor("cu_seqlens", a.cu_seqlens, a.cu_seqlens_type, {MHCRT_I32}, a.s);
  return call.met();
}

} // namespace

bool mhcrt::checkPreGatedDeltaRule(CallState &state, const PreGatedDeltaRuleArgs &a, Ids ids) {
  KernelCall call(state, "mhcrt_pre_gated_delta_rule");
  if (!checkInputs(call, a, ids))
    return false;
  const int64_t tokens = a.M * a.b;
  const Types like = {a.qkvzba_type};
  call.tensor("query", a.query, a.query_type, like, tokens)
      .tensor("key", a.key, a.key_type, like, tokens)
      .tensor("value", a.value, a.value_type, like, tokens)
      .optional("gate", a.gate, a.gate_type, like, tokens)
      .tensor("beta", a.beta, a.beta_type, like, tokens)
      .tensor("g", a.g, a.g_type, kF32, tokens)
      .optional("silu", a.silu, a.silu_type, like, tokens);
  if (a.silu_type != MHCRT_NONE)
    call.equal("F", a.F, "2*num_key_heads*dk", 2 * a.num_key_heads * a.dk);
  return call.begin();
}

bool mhcrt::checkPreGatedDeltaRuleBwd(CallState &state, const PreGatedDeltaRuleBwdArgs &a, Ids ids) {
  KernelCall call(state, "mhcrt_pre_gated_delta_rule_bwd");
  if (!checkInputs(call, a, ids))
    return false;
  const int64_t tokens = a.M * a.b;
  const Types like = {a.qkvzba_type};
  call.tensor("d_query", a.d_query, a.d_query_type, like, tokens)
      .tensor("d_key", a.d_key, a.d_key_type, like, tokens)
      .tensor("d_value", a.d_value, a.d_value_type, like, tokens)
      .optional("d_gate", a.d_gate, a.d_gate_type, like, tokens)
      .tensor("d_beta", a.d_beta, a.d_beta_type, like, tokens)
      .tensor("d_g", a.d_g, a.d_g_type, kF32, tokens);
  call.optional("d_qkvzba", a.d_qkvzba, a.d_qkvzba_type, like, tokens)
      .optional("d_conv_weight", a.d_conv_weight, a.d_conv_weight_type, kF32, a.E)
      .optional("d_conv_bias", a.d_conv_bias, a.d_conv_bias_type, kF32, a.E)
      .optional("d_A_log", a.d_A_log, a.d_A_log_type, kF32, a.hv)
      .optional("d_dt_bias", a.d_dt_bias, a.d_dt_bias_type, kF32, a.hv)
      .optional("d_left_boundary", a.d_left_boundary, a.d_left_boundary_type, like, a.k > 1 ? a.b : 0);
  if (a.conv_bias_type == MHCRT_NONE)
    call.absent("d_conv_bias", a.d_conv_bias_type, "no conv_bias");
  if (a.left_boundary_type == MHCRT_NONE)
    call.absent("d_left_boundary", a.d_left_boundary_type, "no left_boundary");
  return call.begin();
}
