//===- Choice.h - Calls of all ops on a driver that takes notes -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_CUDA_HOST_CHOICE_H
#define MHCRT_TEST_CUDA_HOST_CHOICE_H

#include "../Call.h"
#include "Boundary.h"
#include "FakeDriver.h"

#include "mhcrt/cuda.h"

#include <gtest/gtest.h>

namespace mhcrt::test {

/// A row of an op's table.
template <typename Args>
struct Row {
  const char *op, *name;
  mhcrt_status (*kernel)(mhcrt_context *, const Args *);
};

class CudaChoice : public testing::Test {
protected:
  CudaChoice() {
    driver() = FakeDriver();
    EXPECT_EQ(mhcrt_context_create(0, &context), MHCRT_OK);
  }
  ~CudaChoice() override { mhcrt_context_destroy(context); }

  std::string chosen(const char *op) {
    EXPECT_EQ(mhcrt_last_status(context), MHCRT_OK) << mhcrt_last_error(context);
    const char *name = mhcrt_cuda_chosen(context, op);
    return name ? name : "none";
  }

  /// Why the first call that took the last row of `op` did so.
  std::string fallback(const char *op) {
    mhcrt_cuda_choice choice = {};
    for (int32_t index = 0; index < mhcrt_cuda_choices(context); ++index) {
      mhcrt_cuda_choice_at(context, index, &choice);
      if (choice.op == std::string(op) && *choice.fallback)
        return choice.fallback;
    }
    return "";
  }
  /// The need of a row that the call does not meet, in words; "" where the row takes it.
  template <typename Args>
  std::string miss(const Row<Args> &row, const Args &args) {
    const std::string op = row.op;
    const std::string refusal = "mhcrt_" + op + ": the pinned variant '" + row.name + "' does not take this call: ";
    mhcrt_cuda_pin(context, (op + "=" + row.name).c_str());
    row.kernel(context, &args);
    const std::string text = mhcrt_last_error(context);
    mhcrt_clear_error(context);
    mhcrt_cuda_pin(context, (op + "=").c_str());
    return text.rfind(refusal, 0) == 0 ? text.substr(refusal.size()) : text;
  }

  std::string sinkhorn(int64_t n, void *logits = t) {
    call(mhcrt_sinkhorn, context, logits, F, t, F, 100, n, 0, 0, 0, 1e-6, 20);
    return chosen("sinkhorn");
  }
  std::string sinkhornBwd(int64_t n, int64_t iters) {
    call(mhcrt_sinkhorn_bwd, context, t, F, t, F, t, F, 100, n, 0, 0, 0, 1e-6, iters);
    return chosen("sinkhorn_bwd");
  }
  std::string rebuild(int32_t type, int64_t n, int64_t C, int32_t layout = MHCRT_LAYOUT_NC, int64_t layers = 2,
                      void *f = t) {
    const std::vector<const void *> in(layers, t), fs(layers, f);
    const std::vector<void *> out(layers, t);
    call(mhcrt_rebuild, context, t, type, in.data(), F, layers, fs.data(), type, layers, nullptr, none, 0, in.data(), F,
         layers, in.data(), F, layers, nullptr, none, 0, out.data(), type, layers, out.data(), type, layers, 100, n, C,
         0, layout, 0, 0, 0, 0);
    return chosen("rebuild");
  }
  /// Variants of aggregate, post, expand, contract and aggregate_bwd.
  std::string streams(int32_t type, int64_t C, int32_t layout, int64_t n = 4) {
    call(mhcrt_aggregate, context, t, type, t, F, t, type, 100, n, C, layout);
    call(mhcrt_post, context, t, type, nullptr, none, t, F, t, type, t, F, nullptr, none, t, type, 100, C, n, 0, layout,
         0, 0, 0);
    call(mhcrt_expand, context, t, type, t, type, 100, C, n, layout);
    call(mhcrt_contract, context, t, type, t, type, 100, n, C, layout, 0);
    call(mhcrt_aggregate_bwd, context, t, type, t, type, t, F, nullptr, none, t, type, t, F, 100, C, n, layout);
    return chosen("aggregate") + " " + chosen("post") + " " + chosen("expand") + " " + chosen("contract") + " " +
           chosen("aggregate_bwd");
  }
  std::string postBwd(int32_t type, int64_t C, int32_t layout, void *dBias, void *seed = nullptr, int64_t n = 4) {
    call(mhcrt_post_bwd, context, t, type, t, type, nullptr, none, t, F, t, type, t, F, seed, seed ? MHCRT_I64 : none,
         nullptr, none, nullptr, none, t, type, t, F, t, F, t, type, dBias, dBias ? F : none, 100, n, C, seed ? 2 : 0,
         layout, 0, 0, 0);
    return chosen("post_bwd");
  }
  std::string projection(int32_t type, int64_t C, int64_t N, int64_t n = 4, int32_t layout = MHCRT_LAYOUT_NC) {
    call(mhcrt_projection, context, t, type, t, F, t, F, t, F, t, F, 100, n, C, N, n * C, layout, 0, 0, 1e-6,
         MHCRT_STAT_INV_RMS, precision);
    return chosen("projection");
  }
  std::string projectionBwd(int32_t type, int64_t C, int64_t N, int32_t dxType, int64_t n = 4) {
    call(mhcrt_projection_bwd, context, t, F, t, F, t, type, t, F, t, F, t, F, nullptr, none, t, F, t, F, t, dxType, t,
         F, t, F, 100, N, n, C, n * C, 0, 0, 0, 1e-6, MHCRT_STAT_INV_RMS, precision);
    return chosen("projection_bwd");
  }
  std::string pre(int32_t type, int64_t C, int32_t map = MHCRT_RES_MAP_SINKHORN, int64_t n = 4,
                  int32_t layout = MHCRT_LAYOUT_NC) {
    const int64_t N = map == MHCRT_RES_MAP_PERMUTATION ? 32 : n * n + 2 * n;
    call(mhcrt_pre, context, t, type, t, F, t, F, t, F, t, F, t, type, t, F, t, F, t, F, t, F, t, F, 100, n, C, N,
         n * C, 3, layout, 0, 0, 1e-6, 1e-6, 2, map, 0, 0, 0, 1e-6, 20, 0, precision);
    return chosen("pre");
  }
  void callPostPre(int32_t type, int64_t C, void *seed = nullptr) {
    mhcrt_post_pre_args args = postPreArgs(type, C);
    args.precision = precision;
    if (seed)
      args.seed = seed, args.seed_type = MHCRT_I64, args.S = 2;
    mhcrt_post_pre(context, &args);
  }
  std::string postPre(int32_t type, int64_t C, void *seed = nullptr) {
    callPostPre(type, C, seed);
    return chosen("post_pre");
  }
  /// With the norm of u.
  std::string postPreNormed(int64_t C, int32_t weightType) {
    mhcrt_post_pre_args args = postPreArgs(B, C);
    args.u_norm_weight = t, args.u_norm_weight_type = weightType, args.u_norm_eps = 1e-6;
    mhcrt_post_pre(context, &args);
    return chosen("post_pre");
  }
  std::string preBwd(int32_t type, int64_t C, int64_t n = 4) {
    call(mhcrt_pre_bwd, context, t, type, t, F, t, F, t, F, t, type, t, F, t, F, t, F, t, F, t, F, t, F, nullptr, none,
         nullptr, none, t, type, t, F, t, F, t, F, t, F, t, type, t, F, t, F, t, F, t, F, 100, C, n, 2 * n + n * n,
         n * C, 3, 0, 0, 0, 1e-6, 1e-6, 2, 0, 0, 0, 0, 1e-6, 20, 0, 0, precision);
    return chosen("pre_bwd");
  }
  /// Without those of y, bias and seed that are null.
  std::string postPreBwd(int32_t type, int64_t C, void *y = t, void *bias = nullptr, void *seed = nullptr,
                         void *dBias = nullptr) {
    mhcrt_post_pre_bwd_args args = postPreBwdArgs(type, C);
    args.precision = precision;
    args.y = y, args.y_type = y ? type : none;
    args.bias = bias, args.bias_type = bias ? F : none;
    args.d_bias = dBias, args.d_bias_type = dBias ? F : none;
    if (seed)
      args.seed = seed, args.seed_type = MHCRT_I64, args.S = 2;
    mhcrt_post_pre_bwd(context, &args);
    return chosen("post_pre_bwd");
  }
  std::string head(int32_t type, int64_t C) {
    call(mhcrt_head, context, t, type, t, F, t, F, t, F, t, F, t, type, t, F, t, F, t, F, 100, 4, C, 4 * C, 1, 0, 0, 0,
         1e-6, 1e-6, precision);
    return chosen("head");
  }
  std::string postHead(int32_t type, int64_t C, void *y = t, void *seed = nullptr) {
    call(mhcrt_post_head, context, t, type, nullptr, none, t, F, t, type, t, F, seed, seed ? MHCRT_I64 : none, t, F, t,
         F, t, F, t, F, y, y ? type : none, t, type, t, F, t, F, t, F, 100, C, 4, seed ? 2 : 0, 4 * C, 1, 0, 0, 0.0, 0,
         0, 0, 1e-6, 1e-6, precision);
    return chosen("post_head");
  }
  std::string headBwd(int32_t type, int64_t C) {
    call(mhcrt_head_bwd, context, t, type, t, F, t, type, t, F, t, F, t, F, t, F, t, F, t, F, t, type, t, F, t, F, t, F,
         t, F, t, type, t, F, t, F, t, F, t, F, 100, C, 4, 4 * C, 1, 0, 0, 0, 1e-6, 1e-6, precision);
    return chosen("head_bwd");
  }

  mhcrt_context *context = nullptr;
  int32_t precision = MHCRT_PRECISION_BF16X3;
};

} // namespace mhcrt::test

#endif // MHCRT_TEST_CUDA_HOST_CHOICE_H
