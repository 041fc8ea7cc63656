//===- PostCases.cpp - Calls of post and of gradients on random data ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Cases.h"
#include "Reference.h"
#include "cuda/Elementwise.h"

using namespace mhcrt;
using namespace mhcrt::test;

static double rounding(int32_t type) { return type == MHCRT_BF16 ? 2.5e-3 : type == MHCRT_F16 ? 4e-4 : 2e-6; }
static constexpr double kSums = 5e-6;

/// What post reads.
struct PostInputs {
  Buffer f, bias, hPost, x, hRes;

  PostInputs(int64_t M, int64_t C, const Options &o)
      : f(random(o.type, M * C, o.seed)), hPost(random(MHCRT_F32, M * 4, o.seed + 1)),
        x(random(o.type, M * 4 * C, o.seed + 2)), hRes(random(MHCRT_F32, M * 16, o.seed + 3, 0.5f)) {
    if (o.biasType != MHCRT_NONE)
      bias = random(o.biasType, C, o.seed + 4);
  }
};

Case mhcrt::test::postCase(int64_t M, int64_t C, const Options &o) {
  const PostInputs in(M, C, o);
  const Buffer out(o.type, M * 4 * C);
  const PostArgs args = {
      in.f.data(), o.type,          in.bias.data(), o.biasType, in.hPost.data(), MHCRT_F32, in.x.data(),
      o.type,      in.hRes.data(),  MHCRT_F32,      out.data(), o.type,          M,         C,
      4,           MHCRT_LAYOUT_NC, o.orient};
  const double bytes = double(M) * (9 * C * mhcrt_dtype_bytes(o.type) + 80);
  Case result = {"post", M, C, bytes, {{"out", out, 4 * C, rounding(o.type)}}, {}, {}, {}};
  result.launch = [=](int64_t tokens, cudaStream_t stream) {
    (void)in;
    PostArgs call = args;
    call.M = tokens;
    return postN4(call, stream);
  };
  result.reference = [=] { return std::vector<Buffer>{reference(args)}; };
  result.takes = missOf(postN4Takes, args);
  return result;
}

Case mhcrt::test::postBwdCase(int64_t M, int64_t C, const Options &o) {
  const PostInputs in(M, C, o);
  const Buffer dOut = random(o.type, M * 4 * C, o.seed + 5), df(o.type, M * C), dhPost(MHCRT_F32, M * 4),
               dhRes(MHCRT_F32, M * 16);
  const Buffer dx = o.wantsDx ? Buffer(o.type, M * 4 * C) : Buffer();
  const PostBwdArgs args = {
      dOut.data(), o.type,          in.f.data(), o.type,         in.bias.data(), o.biasType, in.hPost.data(),
      MHCRT_F32,   in.x.data(),     o.type,      in.hRes.data(), MHCRT_F32,      nullptr,    MHCRT_NONE,
      nullptr,     MHCRT_NONE,      df.data(),   o.type,         dhPost.data(),  MHCRT_F32,  dhRes.data(),
      MHCRT_F32,   dx.data(),       dx.type,     nullptr,        MHCRT_NONE,     M,          4,
      C,           MHCRT_LAYOUT_NC, o.orient};
  const double bytes = double(M) * ((o.wantsDx ? 14 : 10) * C * mhcrt_dtype_bytes(o.type) + 160);
  Case result = {std::string("post_bwd") + (o.wantsDx ? " with d_x" : ""), M, C, bytes, {}, {}, {}, {}};
  result.outputs = {{"d_f", df, C, rounding(o.type)}, {"d_h_post", dhPost, 4, kSums}, {"d_h_res", dhRes, 16, kSums}};
  if (o.wantsDx)
    result.outputs.push_back({"d_x", dx, 4 * C, rounding(o.type)});
  result.launch = [=](int64_t tokens, cudaStream_t stream) {
    (void)in, (void)dOut;
    PostBwdArgs call = args;
    call.M = tokens;
    return !o.anyArch && missOf(postBwdSm90Takes, call).empty() ? postBwdSm90(call, o.multiprocessors, stream)
                                                                : postBwdN4(call, o.multiprocessors, stream);
  };
  result.reference = [=] {
    const PostBwdResults r = reference(args);
    std::vector<Buffer> all = {r.df, r.dhPost, r.dhRes};
    if (o.wantsDx)
      all.push_back(r.dx);
    return all;
  };
  result.takes = missOf(postBwdN4Takes, args);
  return result;
}

Case mhcrt::test::aggregateBwdCase(int64_t M, int64_t C, const Options &o) {
  const Buffer du = random(o.type, M * C, o.seed), x = random(o.type, M * 4 * C, o.seed + 1),
               h = random(MHCRT_F32, M * 4, o.seed + 2), dhPre(MHCRT_F32, M * 4);
  const Buffer dx = o.wantsDx ? Buffer(o.type, M * 4 * C) : Buffer();
  const Buffer start = o.startsDx ? random(o.type, M * 4 * C, o.seed + 3) : Buffer();
  const AggregateBwdArgs args = {du.data(),  o.type,         x.data(), o.type,       h.data(),  MHCRT_F32, start.data(),
                                 start.type, dx.data(),      dx.type,  dhPre.data(), MHCRT_F32, M,         C,
                                 4,          MHCRT_LAYOUT_NC};
  const int elements = 5 + (o.wantsDx ? 4 : 0) + (o.startsDx ? 4 : 0);
  const double bytes = double(M) * (elements * C * mhcrt_dtype_bytes(o.type) + 32);
  Case result = {std::string("aggregate_bwd") + (o.startsDx  ? " adding"
                                                 : o.wantsDx ? ""
                                                             : " without d_x"),
                 M,
                 C,
                 bytes,
                 {{"d_h_pre", dhPre, 4, kSums}},
                 {},
                 {},
                 {}};
  if (o.wantsDx)
    result.outputs.push_back({"d_x", dx, 4 * C, rounding(o.type)});
  result.launch = [=](int64_t tokens, cudaStream_t stream) {
    (void)du, (void)x, (void)h, (void)start;
    AggregateBwdArgs call = args;
    call.M = tokens;
    return aggregateBwdN4(call, stream);
  };
  result.reference = [=] {
    const AggregateBwdResults r = reference(args);
    return o.wantsDx ? std::vector<Buffer>{r.dhPre, r.dx} : std::vector<Buffer>{r.dhPre};
  };
  result.takes = missOf(aggregateBwdN4Takes, args);
  return result;
}
