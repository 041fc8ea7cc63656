//===- PreBwd.h - Options of the gradients of pre and head ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_PREBWD_H
#define MHCRT_CPU_PREBWD_H

#include "cpu/ProjectionBwd.h"

namespace mhcrt {

/// Tokens of one tile: enough tiles for many cores, and few partial sums.
constexpr int64_t kPreBwdTile = 64;

/// A head has no residual map.
inline bool isHead(const PreBwdArgs &a) { return a.d_h_res_type == MHCRT_NONE; }

/// Results of the first pass over x, in scratch memory.
struct PreBwdFirstPass {
  float *dProj; ///< [M,N]
  float *hPre;  ///< [M,n]; the sums of d_u * x at first
  float *dStat; ///< [M]
};

} // namespace mhcrt

#endif // MHCRT_CPU_PREBWD_H
