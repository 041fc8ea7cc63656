//===- Pre.h - A call of pre ------------------------------------*- C++ -*-===//
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

struct PreCall : PreArgs {
  ProjectionCall projection;
  float *hPre;   ///< h_pre, or its place in scratch memory
  bool bypasses; ///< u bypasses the caches

  PreCall(const mhcrt_context &context, const PreArgs &a)
      : PreArgs(a), projection(projectionOf(a, a.N)), hPre(floats(a.h_pre)),
        bypasses(streams(a.u, a.M, a.C * mhcrt_dtype_bytes(a.x_type))) {
    projection.plan(context.pool.threads(), amxFor(context.amx, a.x_type, a.precision));
  }

  /// The kernel itself reads h_pre; a caller that does not want it gets it in scratch memory. `perThread` bytes more
  /// are behind a thread's own.
  bool reserve(mhcrt_context &context, const char *kernel, int64_t perThread = 0) {
    const int64_t packedBytes = projection.packedBytes();
    if (!context.reserveScratch(kernel, packedBytes + (h_pre ? 0 : M * n * 4),
                                saturatingAdd(ProjectionScratch::bytes(projection), perThread)))
      return false;
    if (!h_pre)
      hPre = reinterpret_cast<float *>(context.sharedScratch() + packedBytes);
    return true;
  }
};

} // namespace mhcrt

#endif // MHCRT_CPU_PRE_H
