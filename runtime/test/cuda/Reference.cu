//===- Reference.cu - The ops in f64, as loops ----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block per token where there are sums over channels, else a thread per channel.
//
//===------------------------------------------------------------------------===//
#include "Reference.h"

#include "Element.cuh"

#include <algorithm>

using namespace mhcrt;
using namespace mhcrt::test;

static constexpr int kThreads = 128;

/// The sum over the block, in all its threads.
static __device__ double blockSum(double value) {
  __shared__ double shared[kThreads];
  __syncthreads();
  shared[threadIdx.x] = value;
  __syncthreads();
  double sum = 0;
  for (int k = 0; k < kThreads; ++k)
    sum += shared[k];
  return sum;
}

static unsigned blocksOf(int64_t M) { return static_cast<unsigned>(M); }
static double *out(const Buffer &buffer) { return static_cast<double *>(buffer.data()); }

//===------------------------------------------------------------------------===//
// pre
//===------------------------------------------------------------------------===//

static __global__ void projectKernel(PreArgs a, double *proj, double *meanSquare) {
  const int64_t m = blockIdx.x;
  double sums[25] = {};
  for (int64_t k = threadIdx.x; k < a.K; k += kThreads) {
    const double x = loadElement(a.x, a.x_type, m * a.K + k);
    const double scale = a.norm_weight ? loadElement(a.norm_weight, a.norm_weight_type, k) : 1;
    for (int j = 0; j < 24; ++j)
      sums[j] += x * scale *
                 loadElement(a.phi, a.phi_type, a.phi_layout == MHCRT_PHI_LAYOUT_OUT_IN ? j * a.K + k : k * a.N + j);
    sums[24] += x * x;
  }
  for (int j = 0; j < 25; ++j) {
    const double sum = blockSum(sums[j]);
    if (threadIdx.x == 0)
      (j < 24 ? proj[m * 24 + j] : meanSquare[m]) = j < 24 ? sum : sum / a.K;
  }
}

static __device__ double sigmoid(double z) { return 1 / (1 + exp(-z)); }

static __device__ void line(double (&m)[16], bool rows, int index, const PreArgs &a, bool log, bool eps) {
  double *at[4];
  for (int k = 0; k < 4; ++k)
    at[k] = rows ? &m[4 * index + k] : &m[4 * k + index];
  if (log) {
    const double most = fmax(fmax(*at[0], *at[1]), fmax(*at[2], *at[3]));
    double sum = 0;
    for (double *v : at)
      sum += exp(*v - most);
    for (double *v : at)
      *v -= most + ::log(sum);
    return;
  }
  double sum = *at[0] + *at[1] + *at[2] + *at[3];
  if (eps && a.denom == MHCRT_DENOM_ADD)
    sum += a.sk_eps;
  if (eps && a.denom == MHCRT_DENOM_CLAMP)
    sum = fmax(sum, a.sk_eps);
  for (double *v : at)
    *v /= sum;
}

static __device__ void expLines(double (&m)[16], bool rows, bool shift) {
  for (int index = 0; index < 4; ++index) {
    double *at[4], most = -1e300;
    for (int k = 0; k < 4; ++k) {
      at[k] = rows ? &m[4 * index + k] : &m[4 * k + index];
      most = fmax(most, *at[k]);
    }
    for (double *v : at)
      *v = exp(*v - (shift ? most : 0));
  }
}

static __device__ void sinkhorn(double (&m)[16], const PreArgs &a) {
  const bool log = a.init == MHCRT_INIT_LOG, softmax = a.init == MHCRT_INIT_SOFTMAX_EPS;
  if (!log)
    expLines(m, a.init != MHCRT_INIT_EXP_COLMAX, a.init != MHCRT_INIT_EXP);
  if (softmax) {
    for (int r = 0; r < 4; ++r)
      line(m, true, r, a, false, false);
    for (double &v : m)
      v += a.sk_eps;
  }
  for (int64_t step = softmax ? 1 : 0; step < 2 * a.iters; ++step) {
    const bool rows = (step % 2 == 0) == (softmax || a.order == MHCRT_ORDER_ROW_COL);
    for (int index = 0; index < 4; ++index)
      line(m, rows, index, a, log, true);
  }
  if (log)
    for (double &v : m)
      v = exp(v);
}

static __global__ void coefficientKernel(PreArgs a, const double *proj, const double *meanSquare, double *applied,
                                         double *multiplier, double *hPre, double *hPost, double *hRes) {
  const int64_t m = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (m >= a.M)
    return;
  const float *alpha = static_cast<const float *>(a.alpha), *beta = static_cast<const float *>(a.beta);
  double s = 1;
  if (a.norm == MHCRT_NORM_INSIDE)
    s = 1 / sqrt(meanSquare[m] + a.norm_eps);
  if (a.norm == MHCRT_NORM_OUTSIDE)
    s = 1 / (sqrt(meanSquare[m]) + a.norm_eps);
  multiplier[m] = s;
  for (int j = 0; j < 24; ++j)
    applied[m * 24 + j] = s * proj[m * 24 + j];
  double z[24], pre[4], post[4], mix[16];
  for (int j = 0; j < 24; ++j)
    z[j] = s * proj[m * 24 + j] * alpha[j < 4 ? 0 : j < 8 ? 1 : 2] + beta[j];
  for (int i = 0; i < 4; ++i) {
    hPre[m * 4 + i] = pre[i] = sigmoid(z[i]) + a.pre_eps;
    hPost[m * 4 + i] = post[i] = a.post_mult * sigmoid(z[4 + i]);
  }
  for (int k = 0; k < 16; ++k)
    mix[k] = z[8 + k];
  if (a.res_map == MHCRT_RES_MAP_SINKHORN)
    sinkhorn(mix, a);
  for (int k = 0; k < 16; ++k)
    hRes[m * 16 + k] = a.fold_pre ? mix[k] - post[k / 4] * pre[k % 4] : mix[k];
}

static __global__ void weighKernel(const void *x, int32_t type, const double *h, const float *floats, double *u,
                                   int64_t C) {
  const int64_t m = blockIdx.x;
  for (int64_t c = threadIdx.x; c < C; c += kThreads) {
    double sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += (h ? h[m * 4 + i] : floats[m * 4 + i]) * loadElement(x, type, (m * 4 + i) * C + c);
    u[m * C + c] = sum;
  }
}

PreResults mhcrt::test::reference(const PreArgs &a) {
  const auto make = [&](int64_t perToken) { return Buffer(MHCRT_F64, a.M * perToken); };
  PreResults r = {make(a.C), make(4), make(4), make(16), make(24), make(24), make(1), make(1)};
  projectKernel<<<blocksOf(a.M), kThreads>>>(a, out(r.proj), out(r.meanSquare));
  if (a.alpha) {
    coefficientKernel<<<blocksOf((a.M + 127) / 128), 128>>>(a, out(r.proj), out(r.meanSquare), out(r.applied),
                                                            out(r.multiplier), out(r.hPre), out(r.hPost), out(r.hRes));
    weighKernel<<<blocksOf(a.M), kThreads>>>(a.x, a.x_type, out(r.hPre), nullptr, out(r.u), a.C);
  }
  check(cudaGetLastError(), "reference of pre");
  return r;
}

Buffer mhcrt::test::reference(const AggregateArgs &a) {
  Buffer u(MHCRT_F64, a.M * a.C);
  weighKernel<<<blocksOf(a.M), kThreads>>>(a.x, a.x_type, nullptr, static_cast<const float *>(a.h_pre), out(u), a.C);
  check(cudaGetLastError(), "reference of aggregate");
  return u;
}

//===------------------------------------------------------------------------===//
// post and the gradients
//===------------------------------------------------------------------------===//

static __device__ double branchAt(const void *f, int32_t type, const void *bias, int32_t biasType, int64_t m, int64_t C,
                                  int64_t c) {
  return loadElement(f, type, m * C + c) + (bias ? loadElement(bias, biasType, c) : 0);
}

static __device__ double mixAt(const void *hRes, int32_t orient, int64_t m, int o, int i) {
  return static_cast<const float *>(hRes)[m * 16 + (orient == MHCRT_ORIENT_OI ? o * 4 + i : i * 4 + o)];
}

static __global__ void postKernel(PostArgs a, double *to) {
  const int64_t m = blockIdx.x;
  for (int64_t c = threadIdx.x; c < a.C; c += kThreads)
    for (int o = 0; o < 4; ++o) {
      double sum =
          static_cast<const float *>(a.h_post)[m * 4 + o] * branchAt(a.f, a.f_type, a.bias, a.bias_type, m, a.C, c);
      for (int i = 0; i < 4; ++i)
        sum += mixAt(a.h_res, a.orient, m, o, i) * loadElement(a.x, a.x_type, (m * 4 + i) * a.C + c);
      to[(m * 4 + o) * a.C + c] = sum;
    }
}

Buffer mhcrt::test::reference(const PostArgs &a) {
  Buffer result(MHCRT_F64, a.M * 4 * a.C);
  postKernel<<<blocksOf(a.M), kThreads>>>(a, out(result));
  check(cudaGetLastError(), "reference of post");
  return result;
}

static __global__ void postBwdKernel(PostBwdArgs a, double *df, double *dhPost, double *dhRes, double *dx) {
  const int64_t m = blockIdx.x;
  const float *hPost = static_cast<const float *>(a.h_post);
  double sums[20] = {};
  for (int64_t c = threadIdx.x; c < a.C; c += kThreads) {
    const double f = branchAt(a.f, a.f_type, a.bias, a.bias_type, m, a.C, c);
    double sum = 0, g[4];
    for (int o = 0; o < 4; ++o) {
      g[o] = loadElement(a.d_out, a.d_out_type, (m * 4 + o) * a.C + c);
      sum += hPost[m * 4 + o] * g[o];
      sums[16 + o] += g[o] * f;
    }
    df[m * a.C + c] = sum;
    for (int i = 0; i < 4; ++i) {
      const double x = loadElement(a.x, a.x_type, (m * 4 + i) * a.C + c);
      double back = 0;
      for (int o = 0; o < 4; ++o) {
        sums[a.orient == MHCRT_ORIENT_OI ? o * 4 + i : i * 4 + o] += g[o] * x;
        back += mixAt(a.h_res, a.orient, m, o, i) * g[o];
      }
      dx[(m * 4 + i) * a.C + c] = back;
    }
  }
  for (int k = 0; k < 20; ++k) {
    const double sum = blockSum(sums[k]);
    if (threadIdx.x == 0)
      (k < 16 ? dhRes[m * 16 + k] : dhPost[m * 4 + k - 16]) = sum;
  }
}

PostBwdResults mhcrt::test::reference(const PostBwdArgs &a) {
  const auto make = [&](int64_t perToken) { return Buffer(MHCRT_F64, a.M * perToken); };
  PostBwdResults r = {make(a.C), make(4), make(16), make(4 * a.C)};
  postBwdKernel<<<blocksOf(a.M), kThreads>>>(a, out(r.df), out(r.dhPost), out(r.dhRes), out(r.dx));
  check(cudaGetLastError(), "reference of post_bwd");
  return r;
}

static __global__ void aggregateBwdKernel(AggregateBwdArgs a, double *dx, double *dhPre) {
  const int64_t m = blockIdx.x;
  double sums[4] = {};
  for (int64_t c = threadIdx.x; c < a.C; c += kThreads) {
    const double du = loadElement(a.d_u, a.d_u_type, m * a.C + c);
    for (int i = 0; i < 4; ++i) {
      const int64_t at = (m * 4 + i) * a.C + c;
      sums[i] += du * loadElement(a.x, a.x_type, at);
      dx[at] = (a.d_x_in ? loadElement(a.d_x_in, a.d_x_in_type, at) : 0) +
               static_cast<const float *>(a.h_pre)[m * 4 + i] * du;
    }
  }
  for (int i = 0; i < 4; ++i) {
    const double sum = blockSum(sums[i]);
    if (threadIdx.x == 0)
      dhPre[m * 4 + i] = sum;
  }
}

AggregateBwdResults mhcrt::test::reference(const AggregateBwdArgs &a) {
  AggregateBwdResults r = {Buffer(MHCRT_F64, a.M * 4 * a.C), Buffer(MHCRT_F64, a.M * 4)};
  aggregateBwdKernel<<<blocksOf(a.M), kThreads>>>(a, out(r.dx), out(r.dhPre));
  check(cudaGetLastError(), "reference of aggregate_bwd");
  return r;
}
