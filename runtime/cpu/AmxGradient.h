//===- AmxGradient.h - Gradients of a projection in matrix tiles -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two products of a projection's gradients, for a group of tokens and a block of K. Numbers are sums of bf16 terms
// as in Amx.h.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_AMXGRADIENT_H
#define MHCRT_CPU_AMXGRADIENT_H

#include "cpu/Amx.h"

namespace mhcrt {

/// Tokens of a group: four tiles of d_x share each load of phi, two steps of d_phi each load of its sums.
constexpr int64_t kAmxGroup = 64;
constexpr int64_t kAmxGroupSteps = kAmxGroup / kAmxStep;

/// Rows in memory that will be read soon.
struct AmxAhead {
  const char *rows; ///< the first one
  int64_t stride, bytes, count;
};

/// sums[row][k] += sum over a group's tokens of d_proj[token][row] * x[token][k].
struct AmxTokenSum {
  const uint16_t *gradient; ///< [term of 3][row][token]
  const uint16_t *x;        ///< [pair of tokens][term][k][2]
  int64_t xTerms;           ///< 1 to 3
  int64_t rows;             ///< whole tiles
  int64_t elements;         ///< of K, a multiple of two tiles
  float *sums;              ///< [row][elements]
};

/// sums[token][k] = sum over q of gradient[token][q] * phi[q][k]; q runs over rows and terms.
struct AmxPhiProduct {
  const uint16_t *gradient; ///< [token][steps * kAmxStep]
  const uint16_t *phi;      ///< [tile of k][step][pair of q][k][2]
  int64_t steps;
  int64_t elements; ///< of K, a multiple of a tile
  float *sums;      ///< [kAmxGroup][elements]
  AmxAhead ahead[2];
};

/// Gradient operations on this machine's tiles, between AmxUnit's begin() and end().
struct AmxGradientUnit {
  void (*sumTokens)(const AmxTokenSum &sum);
  void (*multiplyPhi)(const AmxPhiProduct &product);
};

} // namespace mhcrt

#endif // MHCRT_CPU_AMXGRADIENT_H
