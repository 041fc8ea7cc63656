//===- Dropout.cuh - Dropout of what a thread has in registers --*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_ALGEBRA_DROPOUT_CUH
#define MHCRT_CUDA_ALGEBRA_DROPOUT_CUH

#include "src/Philox.h"

namespace mhcrt {

/// Keeps all lanes.
struct KeepAll {
  __device__ __forceinline__ float operator()(int, float value) const { return value; }
};

/// Drops from lanes whose numbers are at hand: one word each.
template <int kLanes>
struct DropLanes {
  __device__ __forceinline__ float operator()(int lane, float value) const {
    return dropout(words[lane / 4][lane % 4], value);
  }

  const Dropout &dropout;
  Words words[kLanes / 4];
};

/// The dropout of a kernel, with its seed in registers. Without kOn there is none, and it costs nothing.
template <bool kOn>
struct Dropper {
  __device__ __forceinline__ explicit Dropper(const Dropout &) {}
  __device__ __forceinline__ float element(int64_t, float value) const { return value; }
  template <int kLanes>
  __device__ __forceinline__ KeepAll lanes(int64_t) const {
    return {};
  }
};

template <>
struct Dropper<true> {
  __device__ __forceinline__ explicit Dropper(const Dropout &dropout)
      : dropout(dropout), numbers(dropout.philox.load()) {}

  /// Element `at`.
  __device__ __forceinline__ float element(int64_t at, float value) const {
    const Words words = numbers(at / 4);
    const int k = at % 4;
    return dropout(k == 0 ? words[0] : k == 1 ? words[1] : k == 2 ? words[2] : words[3], value);
  }
  /// The elements from at * kLanes on.
  template <int kLanes>
  __device__ __forceinline__ DropLanes<kLanes> lanes(int64_t at) const {
    DropLanes<kLanes> drop = {dropout, {}};
#pragma unroll
    for (int k = 0; k < kLanes / 4; ++k)
      drop.words[k] = numbers(at * (kLanes / 4) + k);
    return drop;
  }

  const Dropout &dropout;
  PhiloxNumbers numbers;
};

} // namespace mhcrt

#endif // MHCRT_CUDA_ALGEBRA_DROPOUT_CUH
