//===- Support.h - Buffers, errors and times on the GPU ---------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_CUDA_SUPPORT_H
#define MHCRT_TEST_CUDA_SUPPORT_H

#include "mhcrt/mhcrt.h"

#include <cuda_runtime_api.h>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mhcrt::test {

/// Ends the program with the call's name when it failed.
void check(cudaError_t error, const char *what);

/// A tensor on the GPU. Copies share it.
struct Buffer {
  std::shared_ptr<void> memory;
  int32_t type = MHCRT_NONE;
  int64_t count = 0;

  Buffer() = default;
  Buffer(int32_t type, int64_t count);
  int64_t bytes() const { return count * mhcrt_dtype_bytes(type); }
  void *data() const { return memory.get(); }
  float *floats() const { return static_cast<float *>(data()); }
  const double *doubles() const { return static_cast<const double *>(data()); }
};

/// Normal numbers times `scale` plus `shift`; `seed` decides.
Buffer random(int32_t type, int64_t count, uint64_t seed, float scale = 1, float shift = 0);
/// Fills with NaN.
void poison(const Buffer &buffer);
/// A hash of the first `count` elements' bits.
uint64_t hash(const Buffer &buffer, int64_t count);
/// Relative L2 distance of the first `count` elements; infinite where one is not finite.
double error(const Buffer &out, const Buffer &reference, int64_t count);

/// Microseconds of a call: median over replays of a graph of all calls, several times over.
double microseconds(const std::vector<std::function<void(cudaStream_t)>> &calls, double expected);
/// Bytes read and written per microsecond by a copy of 1 GiB.
double copySpeed();

} // namespace mhcrt::test

#endif // MHCRT_TEST_CUDA_SUPPORT_H
