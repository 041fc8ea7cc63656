//===- Support.cu - Buffers, errors and times on the GPU ------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Support.h"

#include "Element.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

using namespace mhcrt::test;

void mhcrt::test::check(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return;
  std::printf("FAILED %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

Buffer::Buffer(int32_t type, int64_t count) : type(type), count(count) {
  void *data = nullptr;
  check(cudaMalloc(&data, std::max<int64_t>(1, bytes())), "cudaMalloc");
  memory.reset(data, [](void *p) { cudaFree(p); });
}

static __device__ uint64_t mix(uint64_t v) {
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
  return v ^ (v >> 31);
}

static __global__ void randomKernel(void *to, int32_t type, int64_t count, uint64_t seed, float scale, float shift) {
  for (int64_t k = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; k < count; k += int64_t(gridDim.x) * blockDim.x) {
    const uint64_t bits = mix(seed * 0x9e3779b97f4a7c15u + k);
    const float a = (uint32_t(bits) + 1.0f) * 0x1p-32f, b = uint32_t(bits >> 32) * 0x1p-32f;
    storeElement(to, type, k, sqrtf(-2 * logf(fminf(a, 1.0f))) * cospif(2 * b) * scale + shift);
  }
}

Buffer mhcrt::test::random(int32_t type, int64_t count, uint64_t seed, float scale, float shift) {
  Buffer buffer(type, count);
  randomKernel<<<2048, 256>>>(buffer.data(), type, count, seed, scale, shift);
  check(cudaGetLastError(), "random");
  return buffer;
}

void mhcrt::test::poison(const Buffer &buffer) { check(cudaMemset(buffer.data(), 0xff, buffer.bytes()), "cudaMemset"); }

static __global__ void hashKernel(const uint16_t *from, int64_t count, unsigned long long *sum) {
  uint64_t mine = 0;
  for (int64_t k = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; k < count; k += int64_t(gridDim.x) * blockDim.x)
    mine += mix(uint64_t(k) * 65536 + from[k]);
  atomicAdd(sum, static_cast<unsigned long long>(mine));
}

uint64_t mhcrt::test::hash(const Buffer &buffer, int64_t count) {
  static const Buffer sum(MHCRT_I64, 1);
  check(cudaMemset(sum.data(), 0, 8), "cudaMemset");
  hashKernel<<<1024, 256>>>(static_cast<const uint16_t *>(buffer.data()), count * mhcrt_dtype_bytes(buffer.type) / 2,
                            static_cast<unsigned long long *>(sum.data()));
  uint64_t result;
  check(cudaMemcpy(&result, sum.data(), 8, cudaMemcpyDeviceToHost), "hash");
  return result;
}

/// sums: squared distance, square of the reference, values that are not finite.
static __global__ void errorKernel(const void *out, int32_t type, const double *reference, int64_t count,
                                   double *sums) {
  double mine[3] = {};
  for (int64_t k = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; k < count; k += int64_t(gridDim.x) * blockDim.x) {
    const double a = loadElement(out, type, k), b = reference[k];
    mine[0] += (a - b) * (a - b);
    mine[1] += b * b;
    mine[2] += isfinite(a) ? 0 : 1;
  }
  for (int i = 0; i < 3; ++i)
    atomicAdd(sums + i, mine[i]);
}

double mhcrt::test::error(const Buffer &out, const Buffer &reference, int64_t count) {
  static const Buffer sums(MHCRT_F64, 3);
  check(cudaMemset(sums.data(), 0, 24), "cudaMemset");
  errorKernel<<<1024, 256>>>(out.data(), out.type, reference.doubles(), count, static_cast<double *>(sums.data()));
  double result[3];
  check(cudaMemcpy(result, sums.data(), 24, cudaMemcpyDeviceToHost), "error");
  if (result[2] > 0)
    return std::numeric_limits<double>::infinity();
  return result[1] > 0 ? std::sqrt(result[0] / result[1]) : std::sqrt(result[0]);
}

double mhcrt::test::microseconds(const std::vector<std::function<void(cudaStream_t)>> &calls, double expected) {
  constexpr int kReplays = 9;
  const int rounds = std::max(1, static_cast<int>(1500 / (expected * calls.size())));
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t run;
  cudaEvent_t first, last;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  for (const auto &call : calls)
    call(stream); // what is set up at the first call is not captured
  check(cudaStreamSynchronize(stream), "first calls");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  for (int round = 0; round < rounds; ++round)
    for (const auto &call : calls)
      call(stream);
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&run, graph, 0), "cudaGraphInstantiate");
  check(cudaEventCreate(&first), "cudaEventCreate");
  check(cudaEventCreate(&last), "cudaEventCreate");
  std::vector<double> times;
  for (int replay = 0; replay <= kReplays; ++replay) {
    check(cudaEventRecord(first, stream), "cudaEventRecord");
    check(cudaGraphLaunch(run, stream), "cudaGraphLaunch");
    check(cudaEventRecord(last, stream), "cudaEventRecord");
    check(cudaEventSynchronize(last), "replay");
    float ms;
    check(cudaEventElapsedTime(&ms, first, last), "cudaEventElapsedTime");
    if (replay > 0) // the first one warms up
      times.push_back(ms * 1e3 / (double(rounds) * calls.size()));
  }
  cudaEventDestroy(first);
  cudaEventDestroy(last);
  cudaGraphExecDestroy(run);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

double mhcrt::test::copySpeed() {
  constexpr int kCopies = 4, kTurns = 9;
  const Buffer from = random(MHCRT_F32, 1 << 28, 1), to(MHCRT_F32, 1 << 28);
  cudaEvent_t first, last;
  check(cudaEventCreate(&first), "cudaEventCreate");
  check(cudaEventCreate(&last), "cudaEventCreate");
  std::vector<float> times(kTurns);
  for (float &ms : times) {
    check(cudaEventRecord(first), "cudaEventRecord");
    for (int k = 0; k < kCopies; ++k)
      check(cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice), "copy");
    check(cudaEventRecord(last), "cudaEventRecord");
    check(cudaEventSynchronize(last), "copy");
    check(cudaEventElapsedTime(&ms, first, last), "cudaEventElapsedTime");
  }
  std::sort(times.begin(), times.end());
  return 2.0 * kCopies * from.bytes() / (times[kTurns / 2] * 1e3);
}
