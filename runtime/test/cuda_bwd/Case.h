//===- Case.h - Random operands of the backward kernels ---------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_CUDA_BWD_CASE_H
#define MHCRT_TEST_CUDA_BWD_CASE_H

#include "Reference.h"
#include "mhcrt/kernels.h"

#include <string>
#include <vector>

enum class Start { kNone, kAdd, kMix };

struct Options {
  int64_t M = 1, C = 128;
  Start start = Start::kAdd;
  int32_t norm = MHCRT_NORM_INSIDE, phiLayout = MHCRT_PHI_LAYOUT_OUT_IN, phiType = MHCRT_F32;
  bool weight = false, sums = false, dhPre = false, fold = false;
  int32_t resMap = MHCRT_RES_MAP_SINKHORN, orient = MHCRT_ORIENT_OI;
  mhcrt::SinkhornOptions sinkhorn = {MHCRT_INIT_SOFTMAX_EPS, MHCRT_ORDER_ROW_COL, MHCRT_DENOM_ADD, 1e-6f, 20};
  float xScale = 1.0f, logitScale = 1.0f;
  bool meanSquare = false; ///< projection_bwd: the statistic is the mean square
};

/// Device memory that lives as long as the case.
class Case {
public:
  Case(const Options &options, uint32_t seed);
  ~Case();
  Case(const Case &) = delete;

  mhcrt::PreBwdOperands pre;
  mhcrt::ProjectionBwdOperands projection;
  void *scratch;
  int64_t scratchBytes;

  /// Fills outputs and scratch memory with NaN, so that nothing stays from an earlier run.
  void poison();
  /// All outputs, one after another.
  std::vector<char> outputs() const;

private:
  void *allocate(int64_t bytes);
  float *floats(int64_t count, float scale, float offset = 0.0f);
  void *halves(int64_t count, float scale);

  Options options;
  uint32_t seed;
  std::vector<void *> blocks;
};

int multiprocessors();

/// The greatest relative L2 error of `got` (bf16 or f32) against float64, and the greatest error of one element beyond
/// bf16's rounding over the root mean square.
struct Error {
  double relative, excess;
};
Error compare(const void *got, int32_t type, const double *expected, int64_t count);

#endif // MHCRT_TEST_CUDA_BWD_CASE_H
