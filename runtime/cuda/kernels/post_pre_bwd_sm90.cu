//===- post_pre_bwd_sm90.cu - Gradients across a boundary, two passes -----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plan    pre_bwd_reduce_sm90.cu on y (10C bytes per token), boundary_bwd_sm90.cu (30C with a start of dy), the sums of
//         weights and of tokens. All but the first are launched early and wait for the memory of the one before. The
//         second-level cache keeps the end of d_u for the second and the first tokens' sums for the last.
// Needs   those of the rows of pre_bwd and post_bwd, but that there may be d_bias with a bias; y, d_u, d_f and d_x; no
//         dropout.
// Time    one H100, us with a tensor as the start, and percent of 40C bytes per token by the copy there: 137 (82) at
//         8192x1024, 196 (86) at 8192x1536, 322 (87) at 8192x2560, 494 (91) at 8192x4096, 635 (88) at 8192x5120,
//         846 (92) at 8192x7168, 93 at 4096x1280, 1949 at 32768x4096, 772 at 65536x768, 79 at 1024x4096.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Context.h"
#include "cuda/kernels/Elementwise.h"
#include "cuda/kernels/PostPreBwd.h"
#include "cuda/kernels/PreBwd.h"
#include "cuda/stream/BoundaryBwd.h"
#include "src/PostPre.h"

using namespace mhcrt;

/// Both gradients as they would be apart: d_x stands for the gradient of y, which nobody stores.
bool mhcrt::postPreBwdSm90Takes(const PostPreBwdArgs &a, Needs &needs) {
  PostBwdArgs post = postBwdOf(a, a.d_x);
  post.d_bias = nullptr;
  // The kernel that reads no bias sums none of its gradients.
  return needs.equal("n", a.n, 4) && needs.given("d_u", a.d_u) && needs.given("d_x", a.d_x) &&
         needs.that(a.bias || !a.d_bias, "a bias beside its gradient") &&
         preBwdTakes(preBwdOperands(preBwdOf(a, a.y, a.d_x)), needs, "d_y") &&
         needs.type("d_x", a.d_x_type, a.x_type) && postBwdSm90Takes(post, needs);
}

/// Whether all that a call moves is little for the second-level cache, which need not be told what to keep: 128 tokens
/// of 4096 channels take 30.8 us for 31.7 so, but 256 of them 41.5 for 40.4.
static bool isKeptAnyhow(const PostPreBwdArgs &a) { return 40 * a.M * a.C <= kCacheBytes / 2; }

static BoundaryBwdArgs boundaryOf(const PostPreBwdArgs &a, const PreBwdOperands &pre, const PreBwdRows &rows,
                                  float *sums, float *biasSums) {
  BoundaryBwdArgs to = {streamOf(pre, rows)};
  to.x = a.x, to.equalX = a.equal_x, to.dx = a.d_x;
  to.f = a.f, to.df = a.d_f;
  to.rows = rows.boundary.rows, to.inputFirst = rows.boundary.inputFirst;
  to.sums = sums;
  to.keptSums =
      isKeptAnyhow(a) ? 0 : kKeptSums / (rows.division.slices * kTokenSums * static_cast<int64_t>(sizeof(float)));
  to.division = rows.division;
  to.bias = a.bias, to.biasType = a.bias_type, to.biasSums = a.d_bias ? biasSums : nullptr;
  return to;
}

cudaError_t mhcrt::postPreBwdSm90(mhcrt_context &context, const PostPreBwdArgs &a) {
  const PreBwdOperands pre = preBwdOperands(preBwdOf(a, a.y, a.d_x));
  const StreamDivision division = boundaryDivision(a.M, a.C, a.bias);
  const int64_t slots = (a.M + kSlotTokens - 1) / kSlotTokens;
  const int64_t preBytes = preBwdRows(pre, division, nullptr).bytes;
  const int64_t rowBytes = alignBytes(slots * kSlotTokens * boundaryRowBytes(pre.mix));
  const int64_t sumBytes = a.M * division.slices * kTokenSums * static_cast<int64_t>(sizeof(float));
  const int64_t biasBytes = a.d_bias ? division.mostGroups() * a.C * static_cast<int64_t>(sizeof(float)) : 0;
  auto *scratch =
      static_cast<char *>(context.reserveScratch("mhcrt_post_pre_bwd", preBytes + rowBytes + sumBytes + biasBytes));
  if (!scratch)
    return cudaSuccess;
  PreBwdRows rows = preBwdRows(pre, division, scratch);
  rows.boundary = {reinterpret_cast<BoundaryRow *>(scratch + preBytes), static_cast<const float *>(a.h_post),
                   static_cast<const float *>(a.h_res), a.orient == MHCRT_ORIENT_IO,
                   isKeptAnyhow(a) ? a.M : a.M - kKeptBranch / (a.C * static_cast<int64_t>(sizeof(uint16_t)))};
  auto *sums = reinterpret_cast<float *>(scratch + preBytes + rowBytes);
  const BoundaryBwdArgs stream = boundaryOf(a, pre, rows, sums, sums + sumBytes / sizeof(float));
  cudaError_t error = preBwdReduce(pre, rows, context.stream);
  if (!error)
    error = boundaryBwd(stream, context.stream);
  const WeightGradArgs weights = weightsOf(pre, rows, stream);
  if (!error)
    error = weightGrad(weights, context.stream);
  const bool hasWeights = weights.partials || weights.gatePartials;
  const TokenSumResults results = {static_cast<float *>(a.d_h_res), static_cast<float *>(a.d_h_post),
                                   static_cast<float *>(a.d_bias), static_cast<const float *>(a.d_bias_in)};
  return error ? error : tokenSums(stream, results, hasWeights, context.stream);
}
