//===- Entries.cpp - A call of every entry --------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Entries.h"
#include "../Call.h"

#include <algorithm>

using namespace mhcrt::test;

namespace {

constexpr int32_t F = MHCRT_F32, none = MHCRT_NONE;

/// Any address that all rows take: nothing reads it.
alignas(16) void *t = &t;
const void *const list[] = {t, t};
void *const results[] = {t, t};

/// The order of arguments is that of mhcrt/kernels.h.
const std::vector<Entry> all = {
    {"aggregate", [](auto *ctx, int64_t M, int64_t n,
                     int64_t C) { return call(mhcrt_aggregate, ctx, t, F, t, F, t, F, M, n, C, 0); }},
    {"aggregate_bwd",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return call(mhcrt_aggregate_bwd, ctx, t, F, t, F, t, F, t, F, t, F, t, F, M, C, n, 0);
     }},
    {"contract",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) { return call(mhcrt_contract, ctx, t, F, t, F, M, n, C, 1, 0); }},
    {"expand",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) { return call(mhcrt_expand, ctx, t, F, t, F, M, C, n, 1); }},
    {"post",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return call(mhcrt_post, ctx, t, F, t, F, t, F, t, F, t, F, nullptr, none, t, F, M, C, n, 0, 0, 0, 0, 0);
     }},
    {"post_bwd",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return call(mhcrt_post_bwd, ctx, t, F, t, F, t, F, t, F, t, F, t, F, nullptr, none, t, F, t, F, t, F, t, F, t, F,
                   t, F, t, F, M, n, C, 0, 0, 0, 0, 0);
     }},
    {"rebuild",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return call(mhcrt_rebuild, ctx, t, F, list, F, 2, list, F, 1, nullptr, none, 0, list, F, 1, list, F, 1, nullptr,
                   none, 0, results, F, 2, results, F, 1, M, n, C, 0, 0, 0, 0, 0, 0);
     }},
    {"gates",
     [](auto *ctx, int64_t M, int64_t n, int64_t) {
       return call(mhcrt_gates, ctx, t, F, t, F, t, F, t, F, t, F, t, F, t, F, M, 2 * n + n * n, 3, n, n * n, 0, 1e-6,
                   0, 2);
     }},
    {"gates_bwd",
     [](auto *ctx, int64_t M, int64_t n, int64_t) {
       return call(mhcrt_gates_bwd, ctx, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F,
                   M, n, n * n, 2 * n + n * n, 3, 0, 1e-6, 2);
     }},
    {"sinkhorn", [](auto *ctx, int64_t M, int64_t n,
                    int64_t) { return call(mhcrt_sinkhorn, ctx, t, F, t, F, M, n, 0, 0, 0, 1e-6, 20); }},
    {"sinkhorn_bwd", [](auto *ctx, int64_t M, int64_t n,
                        int64_t) { return call(mhcrt_sinkhorn_bwd, ctx, t, F, t, F, t, F, M, n, 0, 0, 0, 1e-6, 20); }},
    {"permutation_mix",
     [](auto *ctx, int64_t M, int64_t, int64_t) { return call(mhcrt_permutation_mix, ctx, t, F, t, F, M, 24, 4); }},
    {"permutation_mix_bwd", [](auto *ctx, int64_t M, int64_t,
                               int64_t) { return call(mhcrt_permutation_mix_bwd, ctx, t, F, t, F, t, F, M, 4, 24); }},
    {"projection",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return call(mhcrt_projection, ctx, t, F, t, F, t, F, t, F, t, F, M, n, C, 24, n * C, 0, 0, 0, 1e-6, 0, 2);
     }},
    {"projection_bwd",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return call(mhcrt_projection_bwd, ctx, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, M,
                   24, n, C, n * C, 0, 0, 0, 1e-6, 0, 2);
     }},
    {"pre",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return call(mhcrt_pre, ctx, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, M, n, C,
                   2 * n + n * n, n * C, 3, 0, 0, 0, 1e-6, 1e-6, 2, 0, 0, 0, 0, 1e-6, 20, 1, 2);
     }},
    {"pre_bwd",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return call(mhcrt_pre_bwd, ctx, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, nullptr, 0,
                   nullptr, 0, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, M, C, n, 2 * n + n * n,
                   n * C, 3, 0, 0, 0, 1e-6, 1e-6, 2, 0, 0, 0, 0, 1e-6, 20, 1, 0, 2);
     }},
    {"post_pre",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return call(mhcrt_post_pre, ctx, t, F, t, F, t, F, t, F, t, F, nullptr, 0, t, F, t, F, t, F, t, F, t, F, t, F, t,
                   F, t, F, t, F, t, F, t, F, t, F, M, C, n, 0, 2 * n + n * n, n * C, 3, 0, 0, 0.0, 0, 0, 0, 1e-6, 1e-6,
                   2.0, 0, 0, 0, 0, 1e-6, 20, 0, 2);
     }},
    {"post_pre_bwd",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return call(mhcrt_post_pre_bwd, ctx, t, F, t, F, t, F, t, F, nullptr, 0, t, F, nullptr, 0, nullptr, 0, t, F, t,
                   F, t, F, t, F, t, F, nullptr, 0, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t,
                   F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, M, C, n, 0, 2 * n + n * n, n * C, 3, 0, 0, 0.0, 0,
                   0, 0, 1e-6, 1e-6, 2.0, 0, 0, 0, 0, 1e-6, 20, 0, 0, 2);
     }},
    {"head",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return call(mhcrt_head, ctx, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, M, n, C, n * C, 1, 0, 0, 0,
                   1e-6, 1e-6, 2);
     }},
    {"post_head",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return call(mhcrt_post_head, ctx, t, F, t, F, t, F, t, F, t, F, nullptr, 0, t, F, t, F, t, F, t, F, t, F, t, F,
                   t, F, t, F, t, F, M, C, n, 0, n * C, 1, 0, 0, 0.0, 0, 0, 0, 1e-6, 1e-6, 2);
     }},
    {"head_bwd",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return call(mhcrt_head_bwd, ctx, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t,
                   F, t, F, t, F, t, F, t, F, t, F, M, C, n, n * C, 1, 0, 0, 0, 1e-6, 1e-6, 2);
     }},
    {"pre_gated_delta_rule",
     [](auto *ctx, int64_t M, int64_t, int64_t) {
       return call(mhcrt_pre_gated_delta_rule, ctx, t, F, t, F, t, F, t, F, t, F, nullptr, 0, nullptr, 0, t, F, t, F, t,
                   F, t, F, t, F, t, F, nullptr, 0, std::min<int64_t>(M, 1 << 30), 1, 100, 64, 4, 2, 0, 0, 16, 16, 0, 1,
                   1, 1e-6, 20.0, 0, 0);
     }},
    {"pre_gated_delta_rule_bwd",
     [](auto *ctx, int64_t M, int64_t, int64_t) {
       return call(mhcrt_pre_gated_delta_rule_bwd, ctx, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t,
                   F, nullptr, 0, nullptr, 0, t, F, t, F, t, F, t, F, t, F, nullptr, 0, 1,
                   std::min<int64_t>(M, 1 << 30), 2, 16, 16, 100, 64, 4, 0, 0, 1, 1, 1e-6, 20.0, 0, 0);
     }},
    {"take", [](auto *ctx, int64_t M, int64_t,
                int64_t C) { return call(mhcrt_take, ctx, t, F, t, MHCRT_I32, t, F, 50257, C, M); }},
    {"take_bwd", [](auto *ctx, int64_t M, int64_t,
                    int64_t C) { return call(mhcrt_take_bwd, ctx, t, F, t, MHCRT_I32, t, F, t, F, M, C, 50257); }},
    {"random",
     [](auto *ctx, int64_t M, int64_t, int64_t) { return call(mhcrt_random, ctx, t, MHCRT_I64, t, F, 2, M, 1, 0); }},
    {"dropout", [](auto *ctx, int64_t M, int64_t,
                   int64_t) { return call(mhcrt_dropout, ctx, t, F, t, MHCRT_I64, t, F, M, 1, 2, 0.1, 0); }},
    // cuBLASLt counts rows in 32 bits.
    {"matmul",
     [](auto *ctx, int64_t M, int64_t, int64_t) {
       return call(mhcrt_matmul, ctx, t, MHCRT_BF16, t, MHCRT_F16, t, MHCRT_BF16, std::min<int64_t>(M, INT32_MAX), 8,
                   16, 0, 0);
     }},
    {"batch_matmul",
     [](auto *ctx, int64_t M, int64_t, int64_t) {
       return call(mhcrt_batch_matmul, ctx, t, MHCRT_BF16, t, MHCRT_F16, t, MHCRT_BF16, 3,
                   std::min<int64_t>(M, INT32_MAX), 8, 16, 0, 0);
     }},
};

} // namespace

const std::vector<Entry> &mhcrt::test::entries() { return all; }
