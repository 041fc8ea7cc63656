//===- Element.cuh - Elements of tensors as f32 -----------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_TILE_ELEMENT_CUH
#define MHCRT_CUDA_TILE_ELEMENT_CUH

#include "cuda/ptx/Mma.cuh"
#include "mhcrt/mhcrt.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace mhcrt {

using Bf16 = __nv_bfloat16;
using F16 = __half;

__device__ inline float toFloat(float value) { return value; }
__device__ inline float toFloat(Bf16 value) { return __bfloat162float(value); }
__device__ inline float toFloat(F16 value) { return __half2float(value); }

/// Rounds once, to nearest even.
template <typename T>
__device__ inline T fromFloat(float value);
template <>
__device__ inline float fromFloat<float>(float value) {
  return value;
}
template <>
__device__ inline Bf16 fromFloat<Bf16>(float value) {
  return __float2bfloat16_rn(value);
}
template <>
__device__ inline F16 fromFloat<F16>(float value) {
  return __float2half_rn(value);
}

/// Calls body(T()) with the C++ type of `dtype`, one of f32, bf16 and f16, and returns its result.
template <typename Body>
auto withFloatType(int32_t dtype, Body body) {
  if (dtype == MHCRT_BF16)
    return body(Bf16());
  if (dtype == MHCRT_F16)
    return body(F16());
  return body(float());
}

/// A tensor whose element type is known only when the kernel runs: for what is read beside something larger. Null where
/// it is absent.
struct AnyInput {
  const void *data;
  int32_t type;

  __device__ explicit operator bool() const { return data != nullptr; }
  __device__ float operator[](int64_t index) const {
    if (type == MHCRT_F32)
      return static_cast<const float *>(data)[index];
    if (type == MHCRT_BF16)
      return toFloat(static_cast<const Bf16 *>(data)[index]);
    return toFloat(static_cast<const F16 *>(data)[index]);
  }
};

/// The same of f32 or bf16.
struct WideOrBf16Input {
  const void *data;
  int32_t type;

  __device__ __forceinline__ float operator[](int64_t index) const {
    if (type == MHCRT_F32)
      return static_cast<const float *>(data)[index];
    return lowBf16(static_cast<const unsigned short *>(data)[index]);
  }
};

struct AnyOutput {
  void *data;
  int32_t type;

  __device__ explicit operator bool() const { return data != nullptr; }
  __device__ void store(int64_t index, float value) const {
    if (type == MHCRT_F32)
      static_cast<float *>(data)[index] = value;
    else if (type == MHCRT_BF16)
      static_cast<Bf16 *>(data)[index] = fromFloat<Bf16>(value);
    else
      static_cast<F16 *>(data)[index] = fromFloat<F16>(value);
  }
};

/// Offset of element c of stream i in one token's streams.
__device__ inline int64_t streamIndex(int64_t i, int64_t c, int64_t n, int64_t C, bool channelsFirst) {
  return channelsFirst ? c * n + i : i * C + c;
}

} // namespace mhcrt

#endif // MHCRT_CUDA_TILE_ELEMENT_CUH
