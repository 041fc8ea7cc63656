//===- ChecksModel.cpp - matmul, take, random, dropout -------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Checks.h"
#include "KernelCall.h"
#include "Philox.h"

#include <algorithm>

using namespace mhcrt;

/// One product is a batch of one.
static bool checkProduct(KernelCall &call, const BatchMatmulArgs &a) {
  call.dim("B", a.B, 0, INT32_MAX).dim("M", a.M, 0, INT32_MAX).dim("K", a.K, 0, INT32_MAX).dim("N", a.N, 0, INT32_MAX);
  const int64_t written = std::min(a.B, std::min(a.M, a.N)), read = std::min(written, a.K);
  call.tensor("lhs", a.lhs, a.lhs_type, kFloats, read)
      .tensor("rhs", a.rhs, a.rhs_type, kFloats, read)
      .tensor("out", a.out, a.out_type, kFloats, written);
  call.attribute("transpose_lhs", a.transpose_lhs, 2).attribute("transpose_rhs", a.transpose_rhs, 2);
  return call.begin();
}

bool mhcrt::checkMatmul(CallState &state, const MatmulArgs &a) {
  KernelCall call(state, "mhcrt_matmul");
  return checkProduct(call, {a.lhs, a.lhs_type, a.rhs, a.rhs_type, a.out, a.out_type, 1, a.M, a.K, a.N, a.transpose_lhs,
                             a.transpose_rhs});
}

bool mhcrt::checkBatchMatmul(CallState &state, const BatchMatmulArgs &a) {
  KernelCall call(state, "mhcrt_batch_matmul");
  return checkProduct(call, a);
}

static void checkIds(KernelCall &call, const void *ids, int32_t type, int64_t count, int64_t size, Ids place) {
  if (place == Ids::OnHost)
    call.indices("ids", ids, type, count, size);
  else
    call.tensor("ids", ids, type, {MHCRT_I32}, count);
}

bool mhcrt::checkTake(CallState &state, const TakeArgs &a, Ids ids) {
  KernelCall call(state, "mhcrt_take");
  call.dim("V", a.V, 0).dim("C", a.C, 1).dim("M", a.M, 0);
  call.tensor("table", a.table, a.table_type, kFloats, a.V);
  checkIds(call, a.ids, a.ids_type, a.M, a.V, ids);
  call.tensor("out", a.out, a.out_type, {a.table_type}, a.M);
  return call.begin();
}

bool mhcrt::checkTakeBwd(CallState &state, const TakeBwdArgs &a, Ids ids) {
  KernelCall call(state, "mhcrt_take_bwd");
  call.dim("M", a.M, 0).dim("C", a.C, 1).dim("V", a.V, 0);
  call.tensor("d_out", a.d_out, a.d_out_type, kFloats, a.M);
  checkIds(call, a.ids, a.ids_type, a.M, a.V, ids);
  call.tensor("d_table_in", a.d_table_in, a.d_table_in_type, kF32, a.V)
      .tensor("d_table", a.d_table, a.d_table_type, kF32, a.V);
  return call.begin();
}

bool mhcrt::checkRandom(CallState &state, const RandomArgs &a) {
  KernelCall call(state, "mhcrt_random");
  call.equal("S", a.S, 2).dim("E", a.E, 0, kMostRandom).dim("stream", a.stream, 0, UINT32_MAX);
  call.tensor("seed", a.seed, a.seed_type, {MHCRT_I64}, a.S).tensor("out", a.out, a.out_type, kF32, a.E);
  call.attribute("distribution", a.distribution, 2);
  return call.begin();
}

bool mhcrt::checkDropout(CallState &state, const DropoutArgs &a) {
  KernelCall call(state, "mhcrt_dropout");
  call.dim("M", a.M, 0).dim("C", a.C, 1).equal("S", a.S, 2);
  call.tensor("x", a.x, a.x_type, kFloats, a.M).tensor("out", a.out, a.out_type, {a.x_type}, a.M);
  call.tensor("seed", a.seed, a.seed_type, {MHCRT_I64}, a.S);
  call.dropout(a.rate, a.stream, "M*C", saturatingMul(a.M, a.C));
  return call.begin();
}
