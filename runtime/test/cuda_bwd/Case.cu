//===- Case.cu - Random operands of the backward kernels ------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Case.h"
#include "cuda/prim/PhiView.cuh"

#include <algorithm>

using namespace mhcrt;

int multiprocessors() {
  int count = 0;
  CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return count;
}

static __device__ uint32_t hash(uint32_t v) {
  v = (v ^ 61) ^ (v >> 16);
  v *= 9;
  v ^= v >> 4;
  v *= 0x27d4eb2d;
  return v ^ (v >> 15);
}

static __device__ float normal(uint32_t seed, int64_t at) {
  const uint32_t a = hash(hash(static_cast<uint32_t>(at)) + seed * 0x9e3779b9u + static_cast<uint32_t>(at >> 32));
  const float u = (a + 1.0f) / 4294967808.0f, v = hash(a + 0x85ebca6bu) / 4294967296.0f;
  return sqrtf(-2.0f * logf(u)) * cospif(2.0f * v);
}

static __global__ void fillFloats(float *out, int64_t count, uint32_t seed, float scale, float offset) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = normal(seed, i) * scale + offset;
}

static __global__ void fillHalves(unsigned short *out, int64_t count, uint32_t seed, float scale) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = static_cast<unsigned short>(packBf16(normal(seed, i) * scale, 0.0f));
}

/// The multiplier of every token, from its x.
static __global__ void fillStatistic(float *stat, const void *x, int64_t M, int64_t K, int32_t norm, float eps) {
  const int64_t m = blockIdx.x;
  double sum = 0;
  for (int64_t k = threadIdx.x; k < K; k += 32) {
    const double v = element(x, MHCRT_BF16, m * K + k);
    sum += v * v;
  }
  for (int offset = 16; offset; offset /= 2)
    sum += __shfl_xor_sync(~0u, sum, offset);
  const double ms = sum / K;
  if (threadIdx.x == 0)
    stat[m] = norm == MHCRT_NORM_INSIDE ? 1 / sqrt(ms + eps) : norm == MHCRT_NORM_OUTSIDE ? 1 / (sqrt(ms) + eps) : 1.0;
}

static unsigned blocksOf(int64_t count) { return static_cast<unsigned>((count + 255) / 256); }

void *Case::allocate(int64_t bytes) {
  void *block = nullptr;
  CHECK(cudaMalloc(&block, std::max<int64_t>(bytes, 256)));
  blocks.push_back(block);
  return block;
}

float *Case::floats(int64_t count, float scale, float offset) {
  auto *out = static_cast<float *>(allocate(count * 4));
  fillFloats<<<blocksOf(count), 256>>>(out, count, ++seed, scale, offset);
  return out;
}

void *Case::halves(int64_t count, float scale) {
  auto *out = static_cast<unsigned short *>(allocate(count * 2));
  fillHalves<<<blocksOf(count), 256>>>(out, count, ++seed, scale);
  return out;
}

Case::Case(const Options &o, uint32_t first) : options(o), seed(first * 1000) {
  const int64_t M = o.M, C = o.C, K = 4 * C;
  const float phiScale = 1.0f / std::sqrt(static_cast<float>(K));
  pre = {};
  pre.M = M, pre.C = C, pre.n = 4, pre.N = 24;
  pre.type = pre.dxType = MHCRT_BF16, pre.layout = MHCRT_LAYOUT_NC;
  pre.phiType = o.phiType, pre.phiLayout = o.phiLayout, pre.norm = o.norm;
  pre.normEps = 1e-6f, pre.preEps = 1e-6f, pre.postMult = 2.0f;
  pre.resMap = o.resMap, pre.sinkhorn = o.sinkhorn, pre.foldPre = o.fold, pre.orient = o.orient;
  pre.x = halves(M * K, o.xScale), pre.du = halves(M * C, 1.0f);
  pre.phi = o.phiType == MHCRT_BF16 ? halves(24 * K, phiScale) : static_cast<void *>(floats(24 * K, phiScale));
  if (o.weight)
    pre.weight = floats(K, 0.3f, 1.0f), pre.weightType = MHCRT_F32;
  if (o.dhPre)
    pre.dhPre = floats(M * 4, 1.0f);
  pre.dhPost = floats(M * 4, 1.0f), pre.dhRes = floats(M * 16, 1.0f);
  pre.alpha = floats(3, 0.1f, o.logitScale), pre.beta = floats(24, 0.5f);
  pre.proj = floats(M * 24, o.xScale);
  auto *stat = static_cast<float *>(allocate(M * 4));
  fillStatistic<<<static_cast<unsigned>(M), 32>>>(stat, pre.x, M, K, o.norm, pre.normEps);
  pre.stat = stat;
  if (o.start != Start::kNone)
    pre.dxIn = halves(M * K, 1.0f), pre.dxInType = MHCRT_BF16;
  if (o.start == Start::kMix)
    pre.mix = floats(M * 16, 0.3f, 0.25f);
  if (o.sums) {
    pre.dPhiIn = floats(24 * K, 10.0f), pre.dWeightIn = floats(K, 10.0f);
    pre.dAlphaIn = floats(3, 1.0f), pre.dBetaIn = floats(24, 1.0f);
  }
  pre.dx = allocate(M * K * 2), pre.dPhi = static_cast<float *>(allocate(24 * K * 4));
  pre.dWeight = o.weight ? static_cast<float *>(allocate(K * 4)) : nullptr;
  pre.dAlpha = static_cast<float *>(allocate(12)), pre.dBeta = static_cast<float *>(allocate(96));

  projection = {};
  projection.dProj = floats(M * 24, 1.0f), projection.dStat = floats(M, 1.0f);
  projection.x = pre.x, projection.phi = pre.phi, projection.weight = pre.weight, projection.stat = pre.stat;
  projection.dxIn = pre.dxIn, projection.dPhiIn = pre.dPhiIn, projection.dWeightIn = pre.dWeightIn;
  projection.dx = pre.dx, projection.dPhi = pre.dPhi, projection.dWeight = pre.dWeight;
  projection.type = pre.type, projection.phiType = pre.phiType, projection.weightType = pre.weightType;
  projection.dxInType = pre.dxInType, projection.dxType = pre.dxType;
  projection.M = M, projection.N = 24, projection.n = 4, projection.C = C;
  projection.layout = pre.layout, projection.phiLayout = pre.phiLayout, projection.norm = pre.norm;
  projection.normEps = pre.normEps;
  projection.statForm = o.meanSquare ? MHCRT_STAT_MEAN_SQUARE : MHCRT_STAT_INV_RMS;

  const int count = multiprocessors();
  scratchBytes = std::max(preBwdRows(pre, nullptr, count).bytes, projectionBwdScratchBytes(projection, count));
  scratch = allocate(scratchBytes);
  CHECK(cudaGetLastError());
}

Case::~Case() {
  for (void *block : blocks)
    cudaFree(block);
}

void Case::poison() {
  CHECK(cudaMemset(scratch, 0xff, scratchBytes));
  CHECK(cudaMemset(pre.dx, 0xff, options.M * options.C * 8));
  CHECK(cudaMemset(pre.dPhi, 0xff, options.C * 4 * 96));
  if (pre.dWeight)
    CHECK(cudaMemset(pre.dWeight, 0xff, options.C * 16));
  CHECK(cudaMemset(pre.dAlpha, 0xff, 12));
  CHECK(cudaMemset(pre.dBeta, 0xff, 96));
}

std::vector<char> Case::outputs() const {
  std::vector<char> all;
  auto add = [&](const void *from, int64_t bytes) {
    const size_t at = all.size();
    all.resize(at + bytes);
    CHECK(cudaMemcpy(all.data() + at, from, bytes, cudaMemcpyDeviceToHost));
  };
  add(pre.dx, options.M * options.C * 8);
  add(pre.dPhi, options.C * 4 * 96);
  if (pre.dWeight)
    add(pre.dWeight, options.C * 16);
  add(pre.dAlpha, 12);
  add(pre.dBeta, 96);
  return all;
}

/// sums: squared differences, squares; `most`: bits of the greatest excess, which order as the numbers do.
static __global__ void compareKernel(const void *got, int32_t type, const double *expected, int64_t count, double *sums,
                                     unsigned long long *most) {
  double difference = 0, square = 0, excess = 0;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x) {
    const double g = element(got, type, i), e = expected[i], d = isfinite(g) ? g - e : 1e300;
    difference += fmin(d * d, 1e200);
    square += e * e;
    excess = fmax(excess, fabs(d) - (type == MHCRT_BF16 ? fabs(e) / 256 : 0));
  }
  atomicAdd(sums, difference);
  atomicAdd(sums + 1, square);
  atomicMax(most, static_cast<unsigned long long>(__double_as_longlong(fmax(excess, 0.0))));
}

Error compare(const void *got, int32_t type, const double *expected, int64_t count) {
  double *sums = nullptr, host[3];
  CHECK(cudaMalloc(&sums, 24));
  CHECK(cudaMemset(sums, 0, 24));
  compareKernel<<<256, 256>>>(got, type, expected, count, sums, reinterpret_cast<unsigned long long *>(sums + 2));
  CHECK(cudaMemcpy(host, sums, 24, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(sums));
  const double scale = std::sqrt(host[1] / count);
  return {std::sqrt(host[0] / host[1]), host[2] / scale};
}
