//===- ChecksStreams.cpp - expand, contract, aggregate, post, rebuild ----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Checks.h"
#include "KernelCall.h"

using namespace mhcrt;

bool mhcrt::checkExpand(CallState &state, const ExpandArgs &a) {
  KernelCall call(state, "mhcrt_expand");
  call.dim("M", a.M, 0).dim("C", a.C, 1).dim("n", a.n, 1, kMaxStreams);
  call.tensor("x", a.x, a.x_type, kFloats, a.M).tensor("streams", a.streams, a.streams_type, {a.x_type}, a.M);
  call.attribute("layout", a.layout, 2);
  return call.begin();
}

bool mhcrt::checkContract(CallState &state, const ContractArgs &a) {
  KernelCall call(state, "mhcrt_contract");
  call.dim("M", a.M, 0).dim("n", a.n, 1, kMaxStreams).dim("C", a.C, 1);
  call.tensor("x", a.x, a.x_type, kFloats, a.M).tensor("out", a.out, a.out_type, {a.x_type}, a.M);
  call.attribute("layout", a.layout, 2).attribute("mode", a.mode, 2);
  return call.begin();
}

bool mhcrt::checkAggregate(CallState &state, const AggregateArgs &a) {
  KernelCall call(state, "mhcrt_aggregate");
  call.dim("M", a.M, 0).dim("n", a.n, 1, kMaxStreams).dim("C", a.C, 1);
  call.tensor("x", a.x, a.x_type, kFloats, a.M)
      .tensor("h_pre", a.h_pre, a.h_pre_type, kF32, a.M)
      .tensor("u", a.u, a.u_type, {a.x_type}, a.M);
  call.attribute("layout", a.layout, 2);
  return call.begin();
}

bool mhcrt::checkAggregateBwd(CallState &state, const AggregateBwdArgs &a) {
  KernelCall call(state, "mhcrt_aggregate_bwd");
  call.dim("M", a.M, 0).dim("C", a.C, 1).dim("n", a.n, 1, kMaxStreams);
  call.tensor("x", a.x, a.x_type, kFloats, a.M).tensor("d_u", a.d_u, a.d_u_type, {a.x_type}, a.M);
  call.tensor("h_pre", a.h_pre, a.h_pre_type, kF32, a.M);
  call.optional("d_x", a.d_x, a.d_x_type, {MHCRT_F32, a.x_type}, a.M)
      .optional("d_h_pre", a.d_h_pre, a.d_h_pre_type, kF32, a.M);
  call.start("d_x_in", a.d_x_in, a.d_x_in_type, {MHCRT_F32, a.x_type}, a.M, "d_x", a.d_x_type);
  call.attribute("layout", a.layout, 2);
  return call.begin();
}

bool mhcrt::checkPost(CallState &state, const PostArgs &a) {
  KernelCall call(state, "mhcrt_post");
  call.dim("M", a.M, 0).dim("C", a.C, 1).dim("n", a.n, 1, kMaxStreams);
  call.tensor("f", a.f, a.f_type, kFloats, a.M)
      .tensor("x", a.x, a.x_type, {a.f_type}, a.M)
      .tensor("out", a.out, a.out_type, {a.f_type}, a.M);
  if (a.f_type == MHCRT_F32)
    call.optional("bias", a.bias, a.bias_type, kF32, a.C);
  else
    call.optional("bias", a.bias, a.bias_type, {MHCRT_F32, a.f_type}, a.C);
  call.tensor("h_post", a.h_post, a.h_post_type, kF32, a.M).tensor("h_res", a.h_res, a.h_res_type, kF32, a.M);
  call.optionalDropout(a.seed, a.seed_type, a.S, a.rate, a.stream, streamElements(a.M, a.n, a.C));
  call.attribute("layout", a.layout, 2).attribute("orient", a.orient, 2).attribute("equal_x", a.equal_x, 2);
  call.attribute("contracted", a.contracted, 3);
  return call.begin();
}

bool mhcrt::checkPostBwd(CallState &state, const PostBwdArgs &a) {
  KernelCall call(state, "mhcrt_post_bwd");
  call.dim("M", a.M, 0).dim("n", a.n, 1, kMaxStreams).dim("C", a.C, 1);
  call.tensor("x", a.x, a.x_type, kFloats, a.M)
      .tensor("d_out", a.d_out, a.d_out_type, {a.x_type}, a.M)
      .tensor("f", a.f, a.f_type, {a.x_type}, a.M);
  call.optional("bias", a.bias, a.bias_type, {MHCRT_F32, a.x_type}, a.C);
  call.tensor("h_post", a.h_post, a.h_post_type, kF32, a.M).tensor("h_res", a.h_res, a.h_res_type, kF32, a.M);
  call.optional("d_f", a.d_f, a.d_f_type, {a.x_type}, a.M)
      .optional("d_h_post", a.d_h_post, a.d_h_post_type, kF32, a.M)
      .optional("d_h_res", a.d_h_res, a.d_h_res_type, kF32, a.M)
      .optional("d_x", a.d_x, a.d_x_type, {MHCRT_F32, a.x_type}, a.M)
      .optional("d_bias", a.d_bias, a.d_bias_type, kF32, a.C);
  call.start("d_x_in", a.d_x_in, a.d_x_in_type, {MHCRT_F32, a.x_type}, a.M, "d_x", a.d_x_type);
  call.start("d_bias_in", a.d_bias_in, a.d_bias_in_type, kF32, a.C, "d_bias", a.d_bias_type);
  call.optionalDropout(a.seed, a.seed_type, a.S, a.rate, a.stream, streamElements(a.M, a.n, a.C));
  call.attribute("layout", a.layout, 2).attribute("orient", a.orient, 2);
  call.attribute("equal_x", a.equal_x, 2).attribute("equal_d_out", a.equal_d_out, 2);
  return call.begin();
}

bool mhcrt::checkRebuild(CallState &state, const RebuildArgs &a) {
  KernelCall call(state, "mhcrt_rebuild");
  call.dim("M", a.M, 0).dim("n", a.n, 1, kMaxStreams).dim("C", a.C, 1).dim("out_count", a.out_count, 1);
  call.equal("f_count", a.f_count, "out_count", a.out_count)
      .equal("h_post_count", a.h_post_count, "out_count", a.out_count)
      .equal("h_res_count", a.h_res_count, "out_count", a.out_count)
      .dim("u_count", a.u_count, 0, a.out_count + 1)
      .equal("h_pre_count", a.h_pre_count, "u_count", a.u_count);
  if (a.bias_count != 0)
    call.equal("bias_count", a.bias_count, "out_count", a.out_count);
  if (a.seed_count != 0)
    call.equal("seed_count", a.seed_count, "out_count", a.out_count);
  call.tensor("x", a.x, a.x_type, kFloats, a.M).list("out", a.out, a.out_type, a.out_count, {a.x_type}, a.M);
  call.list("f", a.f, a.f_type, a.f_count, {a.x_type}, a.M).list("u", a.u, a.u_type, a.u_count, {a.x_type}, a.M);
  call.list("bias", a.bias, a.bias_type, a.bias_count, {MHCRT_F32, a.x_type}, a.C);
  call.list("h_pre", a.h_pre, a.h_pre_type, a.h_pre_count, kF32, a.M)
      .list("h_post", a.h_post, a.h_post_type, a.h_post_count, kF32, a.M)
      .list("h_res", a.h_res, a.h_res_type, a.h_res_count, kF32, a.M);
  call.layerDropouts(a.seed, a.seed_type, a.seed_count, a.S, a.rate, a.stream, a.stream_step,
                     streamElements(a.M, a.n, a.C));
  call.attribute("layout", a.layout, 2).attribute("orient", a.orient, 2);
  return call.begin();
}
