//===- Post.h - A call of post ----------------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_POST_H
#define MHCRT_CPU_POST_H

#include "cpu/Entry.h"
#include "cpu/StreamPlaces.h"
#include "cpu/Tokens.h"
#include "src/Philox.h"

namespace mhcrt {

struct PostCall : PostArgs {
  Dropout drop;
  bool isFour;   ///< everything of a pair of vectors of channels fits the registers
  bool bypasses; ///< the caches, which out does
  StreamPlaces xPlaces;

  explicit PostCall(const PostArgs &a)
      : PostArgs(a), drop(a.seed, a.rate, a.stream), xPlaces(a.layout, a.n, a.C, a.equal_x) {
    isFour = n == 4 && layout == MHCRT_LAYOUT_NC && !drop.isOn() && !contracted;
    bypasses = (isFour || contracted) && streams(out, outRows() * M, C * mhcrt_dtype_bytes(x_type));
  }

  /// Rows of a token in out.
  int64_t outRows() const { return contracted ? 1 : n; }
};

} // namespace mhcrt

#endif // MHCRT_CPU_POST_H
