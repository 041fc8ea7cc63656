//===- Tokens.h - Tiles of tokens --------------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_TOKENS_H
#define MHCRT_CPU_TOKENS_H

#include "src/Context.h"

namespace mhcrt {

/// A tile of an elementwise kernel moves about this many bytes: long enough that taking a tile costs nothing, short
/// enough that the threads end together.
constexpr int64_t kTileBytes = 256 << 10;

/// Outputs from this size on bypass the caches: their reader would not find them there anyway.
constexpr int64_t kStreamBytes = 8 << 20;

/// Calls body(first, last) for runs of tokens that move kTileBytes each.
template <typename Function>
void forTokens(mhcrt_context *context, int64_t M, int64_t bytesPerToken, Function body) {
  const int64_t tokens = std::max<int64_t>(1, kTileBytes / std::max<int64_t>(1, bytesPerToken));
  context->parallelFor(divideUp(M, tokens),
                       [&](int64_t tile, int) { body(tile * tokens, std::min(M, (tile + 1) * tokens)); });
}

/// May rows of `rowBytes` at `data` be written by streaming stores?
inline bool streams(const void *data, int64_t rows, int64_t rowBytes) {
  return reinterpret_cast<uintptr_t>(data) % kAlignment == 0 && rowBytes % kAlignment == 0 &&
         saturatingMul(rows, rowBytes) >= kStreamBytes;
}

} // namespace mhcrt

#endif // MHCRT_CPU_TOKENS_H
