//===- Reference.h - The backward kernels in float64 loops ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device memory that every process of the harness shares, and references without any of the kernels' tricks.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_CUDA_BWD_REFERENCE_H
#define MHCRT_TEST_CUDA_BWD_REFERENCE_H

#include "cuda/PreBwd.h"
#include "cuda/ProjectionBwd.h"

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    const cudaError_t error = (call);                                                                                  \
    if (error != cudaSuccess) {                                                                                        \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));                   \
      std::exit(2);                                                                                                    \
    }                                                                                                                  \
  } while (0)

/// What the reference makes, all in float64.
struct Expected {
  double *dx, *dPhi, *dWeight, *dAlpha, *dBeta; ///< dPhi in the layout of phi
  double *dProj, *scalars;                      ///< [M,24], [M,5]: h_pre and what d_x gets per unit of x
  double *dW, *dz, *scaled;                     ///< [4C,24], [M,24], [M,24]
  double *history;                              ///< [M][steps + 1][16]
};

/// From the outputs' starts on: d_x_in, mix, d_phi_in and the others count.
void referencePreBwd(const mhcrt::PreBwdOperands &args, const Expected &expected);
/// expected.dProj and scalars are made from the arguments.
void referenceProjectionBwd(const mhcrt::ProjectionBwdOperands &args, const Expected &expected);

#endif // MHCRT_TEST_CUDA_BWD_REFERENCE_H
