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

/// A tile of an elementwise kernel moves this many bytes at least, so that taking it costs nothing, and at most: what a
/// core asked for ahead is lost where its tile ends.
constexpr int64_t kTileBytes = 256 << 10;
constexpr int64_t kMostTileBytes = 2 << 20;

/// Tiles for each thread, where they are neither too short nor too long: the threads end together.
constexpr int64_t kTilesPerThread = 16;

/// Outputs from this size on bypass the caches: their reader would not find them there anyway.
constexpr int64_t kStreamBytes = 8 << 20;

/// Calls body(first, last) for tiles of tokens, which depend on the number of threads: body takes each token by itself.
template <typename Function>
void forTokens(mhcrt_context &context, int64_t M, int64_t bytesPerToken, Function body) {
  const int64_t share = saturatingMul(M, bytesPerToken) / (context.pool.threads() * kTilesPerThread);
  const int64_t bytes = std::clamp(share, kTileBytes, kMostTileBytes);
  const int64_t tokens = std::max<int64_t>(1, bytes / std::max<int64_t>(1, bytesPerToken));
  context.parallelFor(divideUp(M, tokens),
                      [&](int64_t tile, int) { body(tile * tokens, std::min(M, (tile + 1) * tokens)); });
}

/// May rows of `rowBytes` at `data` be written by streaming stores?
inline bool streams(const void *data, int64_t rows, int64_t rowBytes) {
  return reinterpret_cast<uintptr_t>(data) % kAlignment == 0 && rowBytes % kAlignment == 0 &&
         saturatingMul(rows, rowBytes) >= kStreamBytes;
}

} // namespace mhcrt

#endif // MHCRT_CPU_TOKENS_H
