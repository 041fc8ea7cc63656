//===- PostBwd.h - A call of post_bwd ---------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_POSTBWD_H
#define MHCRT_CPU_POSTBWD_H

#include "cpu/Entry.h"
#include "cpu/StreamPlaces.h"
#include "cpu/Tokens.h"
#include "src/Philox.h"

namespace mhcrt {

struct PostBwdCall : PostBwdArgs {
  Dropout drop;
  StreamPlaces xPlaces, dOutPlaces;
  bool isFour;             ///< all sums of a token fit the registers; d_x is wanted or not, the rest is
  bool bypasses;           ///< the caches
  int64_t tokensAhead = 1; ///< that rows of a few channels are asked for

  explicit PostBwdCall(const PostBwdArgs &a)
      : PostBwdArgs(a), drop(a.seed, a.rate, a.stream), xPlaces(a.layout, a.n, a.C, a.equal_x),
        dOutPlaces(a.layout, a.n, a.C, a.equal_d_out) {
    isFour = n == 4 && layout == MHCRT_LAYOUT_NC && d_f && d_h_post && d_h_res && x_type != MHCRT_F16 && !drop.isOn() &&
             (!d_x_in || d_x_in_type == d_x_type);
    // Where d_x starts from d_x_in, its lines are in the caches already. d_f goes the way of d_x, which is larger.
    const int64_t rowBytes = C * mhcrt_dtype_bytes(x_type);
    const bool streamsDx = !d_x || (!d_x_in && d_x_type == x_type && streams(d_x, M * n, rowBytes));
    bypasses = streamsDx && streams(d_f, d_x ? M * n : M, rowBytes);
  }
};

/// Sums of a token that isFour: those of d_h_res by output, then those of d_h_post.
constexpr int64_t kPostBwdSums = 20;

/// Where the matrix of four streams has A[o][i] of k = 4 * o + i.
inline int64_t placeInMix(int32_t orient, int64_t k) { return orient == MHCRT_ORIENT_OI ? k : k % 4 * 4 + k / 4; }

} // namespace mhcrt

#endif // MHCRT_CPU_POSTBWD_H
