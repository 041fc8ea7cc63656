//===- Vec.cuh - 16-byte vectors of elements as f32 -------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_TILE_VEC_CUH
#define MHCRT_CUDA_TILE_VEC_CUH

#include "cuda/ptx/Global.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

namespace mhcrt {

/// Elements of T in 16 bytes.
template <typename T>
constexpr int kLanesOf = 16 / sizeof(T);

// Element i of a vector; i is a constant of an unrolled loop.
__device__ __forceinline__ uint32_t part(const uint4 &v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}
__device__ __forceinline__ uint32_t part(const uint2 &v, int i) { return i == 0 ? v.x : v.y; }
__device__ __forceinline__ float part(const float4 &v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

__device__ __forceinline__ void widen(uint4 v, float (&to)[4], float) {
  to[0] = __uint_as_float(v.x);
  to[1] = __uint_as_float(v.y);
  to[2] = __uint_as_float(v.z);
  to[3] = __uint_as_float(v.w);
}

__device__ __forceinline__ void widen(uint4 v, float (&to)[8], __nv_bfloat16) {
  const uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    to[2 * k] = __uint_as_float(words[k] << 16);
    to[2 * k + 1] = __uint_as_float(words[k] & 0xffff0000u);
  }
}

__device__ __forceinline__ void widen(uint4 v, float (&to)[8], __half) {
  const uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float2 pair = __half22float2(reinterpret_cast<const __half2 &>(words[k]));
    to[2 * k] = pair.x;
    to[2 * k + 1] = pair.y;
  }
}

/// Rounds once, to nearest even.
__device__ __forceinline__ uint4 narrow(const float (&v)[4], float) {
  return make_uint4(__float_as_uint(v[0]), __float_as_uint(v[1]), __float_as_uint(v[2]), __float_as_uint(v[3]));
}

__device__ __forceinline__ uint4 narrow(const float (&v)[8], __nv_bfloat16) {
  uint32_t words[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(v[2 * k], v[2 * k + 1]);
    words[k] = reinterpret_cast<const uint32_t &>(pair);
  }
  return make_uint4(words[0], words[1], words[2], words[3]);
}

__device__ __forceinline__ uint4 narrow(const float (&v)[8], __half) {
  uint32_t words[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const __half2 pair = __floats2half2_rn(v[2 * k], v[2 * k + 1]);
    words[k] = reinterpret_cast<const uint32_t &>(pair);
  }
  return make_uint4(words[0], words[1], words[2], words[3]);
}

} // namespace mhcrt

#endif // MHCRT_CUDA_TILE_VEC_CUH
