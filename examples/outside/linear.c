//===- linear.c - A sublayer in C ----------------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that model.mlir calls and has not, for a CPU: f = u w^T and its gradients, in f32.
//
//     cc -O2 -shared -fPIC -I PREFIX/include examples/outside/linear.c -o linear.so
//     mhcc examples/outside/model.mlir --grad=model -o model.so
//     mhc-run model.so --functions linear.so ...
//
// linear_cublaslt.cpp is the same for a GPU.
//
//===------------------------------------------------------------------------===//
#include "mhcrt/functions.h"

#include <string.h>

const char linear_type[] = "f32[M,64], f32[64,64] -> f32[M,64]";
const char linear_vjp_type[] = "f32[M,64], f32[64,64], f32[M,64] -> f32[M,64], f32[64,64]";

mhcrt_status linear(void *user, const mhcrt_call *call) {
  const float *u = call->arguments[0].data, *w = call->arguments[1].data;
  float *f = call->results[0].data;
  const int64_t M = call->arguments[0].dims[0], K = call->arguments[0].dims[1], N = call->arguments[1].dims[0];
  (void)user;
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = 0; n < N; ++n) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k)
        sum += u[m * K + k] * w[n * K + k];
      f[m * N + n] = sum;
    }
  return MHCRT_OK;
}

/// Results have any values at first.
mhcrt_status linear_vjp(void *user, const mhcrt_call *call) {
  const float *u = call->arguments[0].data, *w = call->arguments[1].data, *d_f = call->arguments[2].data;
  float *d_u = call->results[0].data, *d_w = call->results[1].data;
  const int64_t M = call->arguments[0].dims[0], K = call->arguments[0].dims[1], N = call->arguments[1].dims[0];
  (void)user;
  memset(d_u, 0, sizeof(float) * M * K);
  memset(d_w, 0, sizeof(float) * N * K);
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = 0; n < N; ++n)
      for (int64_t k = 0; k < K; ++k) {
        d_u[m * K + k] += d_f[m * N + n] * w[n * K + k];
        d_w[n * K + k] += d_f[m * N + n] * u[m * K + k];
      }
  return MHCRT_OK;
}
