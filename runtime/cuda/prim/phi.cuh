//===- phi.cuh - Weights of a projection ------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PRIM_PHI_CUH
#define MHCRT_CUDA_PRIM_PHI_CUH

#include "cuda/prim/element.cuh"
#include "mhcrt/kernels.h"

namespace mhcrt {

/// phi and norm_weight of any kernel's arguments; N columns.
struct Phi {
  AnyInput phi, weight;
  int64_t N, K;
  bool rowsFirst; ///< [N,K]

  template <typename Args>
  __host__ __device__ Phi(const Args &a, int64_t N)
      : phi{a.phi, a.phi_type}, weight{a.norm_weight, a.norm_weight_type}, N(N), K(a.K),
        rowsFirst(a.phi_layout == MHCRT_PHI_LAYOUT_OUT_IN) {}

  __device__ int64_t at(int64_t j, int64_t k) const { return rowsFirst ? j * K + k : k * N + j; }
  __device__ float scale(int64_t k) const { return weight ? weight[k] : 1.0f; }
};

} // namespace mhcrt

#endif // MHCRT_CUDA_PRIM_PHI_CUH
