//===- Pre.h - A call of pre or head ----------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_PRE_H
#define MHCRT_CPU_PRE_H

#include "cpu/Projection.h"
#include "cpu/Tokens.h"

namespace mhcrt {

/// Bytes of a tile's streams in scratch memory at most, half of a second-level cache.
constexpr int64_t kTileOfStreams = 512 << 10;

/// A call of pre or head: N columns, and streams mixed by h_pre into `mixed`.
template <typename Args>
struct MixingCall : Args {
  ProjectionCall projection;
  float *hPre;   ///< h_pre, or its place in scratch memory
  bool bypasses; ///< `mixed` bypasses the caches

  MixingCall(const mhcrt_context &context, const Args &a, int64_t N, const void *mixed)
      : Args(a), projection(projectionOf(a, N)), hPre(floats(a.h_pre)),
        bypasses(streams(mixed, a.M, a.C * mhcrt_dtype_bytes(a.x_type))) {
    projection.plan(context.pool.threads(), amxFor(context.amx, a.x_type, a.precision));
  }

  /// The kernel itself reads h_pre; a caller that does not want it gets it in scratch memory. `perThread` bytes more
  /// are behind a thread's own.
  bool reserve(mhcrt_context &context, const char *kernel, int64_t perThread = 0) {
    const int64_t packedBytes = projection.packedBytes();
    if (!context.reserveScratch(kernel, packedBytes + (hPre ? 0 : this->M * this->n * 4),
                                saturatingAdd(ProjectionScratch::bytes(projection), perThread)))
      return false;
    if (!hPre)
      hPre = reinterpret_cast<float *>(context.sharedScratch() + packedBytes);
    return true;
  }
};

struct PreCall : MixingCall<PreArgs> {
  PreCall(const mhcrt_context &context, const PreArgs &a) : MixingCall(context, a, a.N, a.u) {}
};

struct HeadCall : MixingCall<HeadArgs> {
  HeadCall(const mhcrt_context &context, const HeadArgs &a) : MixingCall(context, a, a.n, a.out) {}
};

} // namespace mhcrt

#endif // MHCRT_CPU_PRE_H
