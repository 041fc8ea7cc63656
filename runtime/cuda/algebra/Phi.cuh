//===- Phi.cuh - Weights of a projection ------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_ALGEBRA_PHI_CUH
#define MHCRT_CUDA_ALGEBRA_PHI_CUH

#include "cuda/tile/Element.cuh"
#include "mhcrt/kernels.h"

namespace mhcrt {

/// phi, [N,K] or [K,N], and norm_weight as they lie in memory.
struct Phi {
  const void *phi;
  const void *weight; ///< [K] or null
  int32_t type, weightType;
  int32_t layout;

  /// Phi of any kernel's arguments.
  template <typename Args>
  __host__ __device__ static Phi of(const Args &a) {
    return {a.phi, a.norm_weight, a.phi_type, a.norm_weight_type, a.phi_layout};
  }

  __host__ __device__ bool rowsFirst() const { return layout == MHCRT_PHI_LAYOUT_OUT_IN; }
};

/// Their single elements, of the types that Input reads.
template <typename Input>
struct PhiElements {
  Phi phi;
  int64_t N, K;

  __device__ __forceinline__ int64_t index(int64_t j, int64_t k) const {
    return phi.rowsFirst() ? j * K + k : k * N + j;
  }
  __device__ __forceinline__ float at(int64_t j, int64_t k) const { return Input{phi.phi, phi.type}[index(j, k)]; }
  __device__ __forceinline__ float scale(int64_t k) const {
    return phi.weight ? Input{phi.weight, phi.weightType}[k] : 1.0f;
  }
};

/// Elements of the phi of a call's arguments, with N columns.
template <typename Args>
__host__ __device__ PhiElements<AnyInput> phiElementsOf(const Args &a, int64_t N) {
  return {Phi::of(a), N, a.K};
}

} // namespace mhcrt

#endif // MHCRT_CUDA_ALGEBRA_PHI_CUH
