//===- Reference.cu - The backward kernels in float64 loops ---------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Reference.h"
#include "cuda/prim/PhiView.cuh"

using namespace mhcrt;

static __device__ double sigmoid64(double z) { return 1 / (1 + exp(-z)); }
static __device__ int cell(bool rows, int line, int k) { return rows ? line * 4 + k : k * 4 + line; }

static __device__ double sumOf(const double *m, bool rows, int line) {
  double sum = 0;
  for (int k = 0; k < 4; ++k)
    sum += m[cell(rows, line, k)];
  return sum;
}

static __device__ double maxOf(const double *m, bool rows, int line) {
  double most = m[cell(rows, line, 0)];
  for (int k = 1; k < 4; ++k)
    most = fmax(most, m[cell(rows, line, k)]);
  return most;
}

static __device__ double divisorOf(const SinkhornOptions &o, double sum) {
  return o.denom == MHCRT_DENOM_ADD ? sum + o.eps : o.denom == MHCRT_DENOM_CLAMP ? fmax(sum, (double)o.eps) : sum;
}

/// history[s]: before step s; in log space the logarithms.
static __device__ void sinkhornReference(double *g, const double *z, const SinkhornOptions &o, double *history) {
  const bool log = o.init == MHCRT_INIT_LOG, softmax = o.init == MHCRT_INIT_SOFTMAX_EPS;
  const int steps = 2 * o.iters - (softmax ? 1 : 0);
  const bool shiftRows = o.init != MHCRT_INIT_EXP_COLMAX;
  auto byRows = [&](int s) { return (s % 2 == 0) == (!softmax && o.order == MHCRT_ORDER_ROW_COL); };
  double start[16];
  for (int line = 0; line < 4; ++line)
    for (int k = 0; k < 4; ++k) {
      const int at = cell(shiftRows, line, k);
      const double shift = o.init == MHCRT_INIT_EXP || log ? 0 : maxOf(z, shiftRows, line);
      start[at] = log ? z[at] : exp(z[at] - shift);
    }
  if (softmax)
    for (int line = 0; line < 4; ++line) {
      const double sum = sumOf(start, true, line);
      for (int k = 0; k < 4; ++k)
        start[line * 4 + k] /= sum;
    }
  for (int k = 0; k < 16; ++k)
    history[k] = start[k] + (softmax ? o.eps : 0);
  for (int s = 0; s < steps; ++s) {
    const double *m = history + 16 * s;
    double *next = history + 16 * (s + 1);
    for (int line = 0; line < 4; ++line) {
      const double most = maxOf(m, byRows(s), line);
      double sum = 0;
      for (int k = 0; k < 4; ++k)
        sum += log ? exp(m[cell(byRows(s), line, k)] - most) : m[cell(byRows(s), line, k)];
      for (int k = 0; k < 4; ++k) {
        const int at = cell(byRows(s), line, k);
        next[at] = log ? m[at] - most - ::log(sum) : m[at] / divisorOf(o, sum);
      }
    }
  }
  for (int k = 0; k < 16 && log; ++k)
    g[k] *= exp(history[16 * steps + k]);
  for (int s = steps - 1; s >= 0; --s) {
    const double *m = history + 16 * s, *y = history + 16 * (s + 1);
    for (int line = 0; line < 4; ++line) {
      const double sum = sumOf(m, byRows(s), line);
      double dot = 0;
      for (int k = 0; k < 4; ++k)
        dot += g[cell(byRows(s), line, k)] * (log ? 1 : y[cell(byRows(s), line, k)]);
      if (o.denom == MHCRT_DENOM_CLAMP && !log && sum <= o.eps)
        dot = 0;
      for (int k = 0; k < 4; ++k) {
        const int at = cell(byRows(s), line, k);
        g[at] = log ? g[at] - exp(y[at]) * dot : (g[at] - dot) / divisorOf(o, sum);
      }
    }
  }
  if (log)
    return;
  for (int k = 0; k < 16; ++k)
    g[k] *= start[k];
  for (int line = 0; line < 4 && o.init != MHCRT_INIT_EXP; ++line) {
    const double sum = sumOf(g, shiftRows, line), most = maxOf(z, shiftRows, line);
    double count = 0;
    for (int k = 0; k < 4; ++k)
      count += z[cell(shiftRows, line, k)] == most;
    for (int k = 0; k < 4; ++k) {
      const int at = cell(shiftRows, line, k);
      g[at] -= sum * (softmax ? start[at] : z[at] == most ? 1 / count : 0);
    }
  }
}

static __device__ double meanSquare64(const void *x, int64_t token, int64_t K) {
  double sum = 0;
  for (int64_t k = 0; k < K; ++k) {
    const double v = element(x, MHCRT_BF16, token * K + k);
    sum += v * v;
  }
  return sum / K;
}

static __device__ double factor64(const void *x, int64_t K, int32_t norm, double s, double dStat, int64_t m) {
  if (norm == MHCRT_NORM_NONE)
    return 0;
  if (norm == MHCRT_NORM_INSIDE)
    return -s * s * s / K * dStat;
  const double root = sqrt(meanSquare64(x, m, K));
  return root > 0 ? -s * s / (K * root) * dStat : 0;
}

/// One token: everything but the sums over tokens and d_x.
static __global__ void tokenReference(PreBwdOperands a, Expected e) {
  const int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= a.M)
    return;
  const double s = a.stat[m];
  double z[24], g[24] = {}, dStat = 0;
  for (int j = 0; j < 24; ++j)
    z[j] = s * a.proj[m * 24 + j] * a.alpha[j < 4 ? 0 : j < 8 ? 1 : 2] + a.beta[j];
  for (int i = 0; i < 4; ++i) {
    g[i] = a.dhPre ? a.dhPre[m * 4 + i] : 0;
    g[4 + i] = a.dhPost[m * 4 + i];
    for (int64_t c = 0; c < a.C; ++c)
      g[i] += (double)element(a.du, MHCRT_BF16, m * a.C + c) * element(a.x, MHCRT_BF16, (m * 4 + i) * a.C + c);
  }
  for (int o = 0; o < 4; ++o)
    for (int i = 0; i < 4; ++i) {
      g[8 + o * 4 + i] = a.dhRes[m * 16 + o * 4 + i];
      if (a.foldPre) {
        g[4 + o] -= g[8 + o * 4 + i] * (sigmoid64(z[i]) + a.preEps);
        g[i] -= g[8 + o * 4 + i] * a.postMult * sigmoid64(z[4 + o]);
      }
    }
  if (a.resMap == MHCRT_RES_MAP_SINKHORN)
    sinkhornReference(g + 8, z + 8, a.sinkhorn, e.history + m * (2 * a.sinkhorn.iters + 1) * 16);
  for (int j = 0; j < 24; ++j) {
    const double gate = sigmoid64(z[j]), alpha = a.alpha[j < 4 ? 0 : j < 8 ? 1 : 2], p = a.proj[m * 24 + j];
    const double dz = j < 4 ? g[j] * gate * (1 - gate) : j < 8 ? g[j] * a.postMult * gate * (1 - gate) : g[j];
    e.dz[m * 24 + j] = dz;
    e.scaled[m * 24 + j] = s * p;
    e.dProj[m * 24 + j] = dz * alpha * s;
    dStat += dz * alpha * p;
  }
  for (int i = 0; i < 4; ++i)
    e.scalars[m * 5 + i] = sigmoid64(z[i]) + a.preEps;
  e.scalars[m * 5 + 4] = factor64(a.x, 4 * a.C, a.norm, s, dStat, m);
}

static __global__ void projectionTokenReference(ProjectionBwdOperands a, Expected e) {
  const int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= a.M)
    return;
  for (int j = 0; j < 24; ++j)
    e.dProj[m * 24 + j] = a.dProj[m * 24 + j];
  for (int i = 0; i < 4; ++i)
    e.scalars[m * 5 + i] = 0;
  e.scalars[m * 5 + 4] = !a.dStat ? 0
                         : a.statForm == MHCRT_STAT_MEAN_SQUARE
                             ? 2.0 / (4 * a.C) * a.dStat[m]
                             : factor64(a.x, 4 * a.C, a.norm, a.stat[m], a.dStat[m], m);
}

/// The operands that both ops have.
struct Pass {
  const void *x, *du, *dxIn, *phi, *weight;
  const float *mix, *dPhiIn, *dWeightIn;
  int64_t M, C;
  int32_t phiType, weightType, phiLayout, orient;
};

static __device__ double weightAt(const Pass &p, int64_t k) {
  return p.weight ? element(p.weight, p.weightType, k) : 1.0;
}

static __global__ void dxReference(Pass p, Expected e) {
  const int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= p.M * 4 * p.C)
    return;
  const int64_t m = at / (4 * p.C), k = at % (4 * p.C), i = k / p.C, c = k % p.C;
  const PhiView phi = {p.phi, p.phiType, p.phiLayout, 4 * p.C, 24};
  double sum = e.scalars[m * 5 + 4] * element(p.x, MHCRT_BF16, at);
  if (p.du)
    sum += e.scalars[m * 5 + i] * element(p.du, MHCRT_BF16, m * p.C + c);
  if (p.dxIn && !p.mix)
    sum += element(p.dxIn, MHCRT_BF16, at);
  for (int o = 0; o < 4 && p.mix; ++o)
    sum += (double)p.mix[m * 16 + (p.orient == MHCRT_ORIENT_OI ? o * 4 + i : i * 4 + o)] *
           element(p.dxIn, MHCRT_BF16, (m * 4 + o) * p.C + c);
  for (int j = 0; j < 24; ++j)
    sum += e.dProj[m * 24 + j] * phi.at(j, k) * weightAt(p, k);
  e.dx[at] = sum;
}

static __global__ void productReference(Pass p, Expected e) {
  const int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const int64_t K = 4 * p.C, k = at / 24, j = at % 24;
  if (k >= K)
    return;
  double sum = 0;
  for (int64_t m = 0; m < p.M; ++m)
    sum += e.dProj[m * 24 + j] * element(p.x, MHCRT_BF16, m * K + k);
  e.dW[at] = sum;
}

static __global__ void weightReference(Pass p, Expected e) {
  const int64_t K = 4 * p.C, k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= K)
    return;
  const PhiView phi = {p.phi, p.phiType, p.phiLayout, K, 24};
  double sum = p.dWeightIn ? p.dWeightIn[k] : 0;
  for (int j = 0; j < 24; ++j) {
    const int64_t at = p.phiLayout == MHCRT_PHI_LAYOUT_OUT_IN ? j * K + k : k * 24 + j;
    e.dPhi[at] = (p.dPhiIn ? p.dPhiIn[at] : 0) + e.dW[k * 24 + j] * weightAt(p, k);
    sum += e.dW[k * 24 + j] * phi.at(j, k);
  }
  e.dWeight[k] = sum;
}

/// One thread per column.
static __global__ void gateReference(PreBwdOperands a, Expected e) {
  const int j = threadIdx.x;
  double beta = 0, alpha[3] = {};
  for (int64_t m = 0; m < a.M; ++m) {
    if (j < 24)
      beta += e.dz[m * 24 + j];
    if (j < 3)
      for (int k = j == 0 ? 0 : 4 * j; k < (j == 2 ? 24 : 4 * (j + 1)); ++k)
        alpha[j] += e.dz[m * 24 + k] * e.scaled[m * 24 + k];
  }
  if (j < 24)
    e.dBeta[j] = (a.dBetaIn ? a.dBetaIn[j] : 0) + beta;
  if (j < 3)
    e.dAlpha[j] = (a.dAlphaIn ? a.dAlphaIn[j] : 0) + alpha[j];
}

static void passReference(const Pass &pass, const Expected &expected) {
  auto blocks = [](int64_t count) { return static_cast<unsigned>((count + 127) / 128); };
  dxReference<<<blocks(pass.M * 4 * pass.C), 128>>>(pass, expected);
  productReference<<<blocks(4 * pass.C * 24), 128>>>(pass, expected);
  weightReference<<<blocks(4 * pass.C), 128>>>(pass, expected);
  CHECK(cudaDeviceSynchronize());
}

void referencePreBwd(const PreBwdOperands &a, const Expected &expected) {
  tokenReference<<<static_cast<unsigned>((a.M + 31) / 32), 32>>>(a, expected);
  gateReference<<<1, 32>>>(a, expected);
  passReference({a.x, a.du, a.dxIn, a.phi, a.weight, a.mix, a.dPhiIn, a.dWeightIn, a.M, a.C, a.phiType, a.weightType,
                 a.phiLayout, a.orient},
                expected);
}

void referenceProjectionBwd(const ProjectionBwdOperands &a, const Expected &expected) {
  projectionTokenReference<<<static_cast<unsigned>((a.M + 31) / 32), 32>>>(a, expected);
  passReference({a.x, nullptr, a.dxIn, a.phi, a.weight, nullptr, a.dPhiIn, a.dWeightIn, a.M, a.C, a.phiType,
                 a.weightType, a.phiLayout, 0},
                expected);
}
