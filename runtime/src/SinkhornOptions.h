//===- SinkhornOptions.h - Attributes of mhc.sinkhorn -----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_SINKHORNOPTIONS_H
#define MHCRT_SRC_SINKHORNOPTIONS_H

#include "mhcrt/kernels.h"

namespace mhcrt {

struct SinkhornOptions {
  int32_t init, order, denom;
  float eps;
  int64_t iters;
  int64_t format = MHCRT_FORMAT_F32; ///< of the iteration forwards; backwards it runs in f32
  int64_t solver = MHCRT_SOLVER_SINKHORN;

  constexpr bool isSigmoid() const { return init == MHCRT_INIT_SIGMOID || init == MHCRT_INIT_SIGMOID_EPS; }
  /// Whether the start has eps in each element.
  constexpr bool addsEps() const { return init == MHCRT_INIT_SOFTMAX_EPS || init == MHCRT_INIT_SIGMOID_EPS; }
  /// Whether the start is kept, and factors of its rows and columns change.
  constexpr bool hasPotentials() const { return denom == MHCRT_DENOM_POTENTIALS && init != MHCRT_INIT_LOG; }

  constexpr bool isNewton() const { return solver == MHCRT_SOLVER_NEWTON; }

  /// The softmax is the first row step, so that the steps behind it begin with the columns.
  constexpr int64_t steps() const { return 2 * iters - (init == MHCRT_INIT_SOFTMAX_EPS ? 1 : 0); }
  constexpr bool rowsAt(int64_t step) const {
    const bool isSoftmax = init == MHCRT_INIT_SOFTMAX_EPS;
    return (step % 2 == 0) == (!isSoftmax && order == MHCRT_ORDER_ROW_COL);
  }
};

} // namespace mhcrt

#endif // MHCRT_SRC_SINKHORNOPTIONS_H
