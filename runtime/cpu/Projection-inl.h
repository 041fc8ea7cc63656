//===- Projection-inl.h - The two variants of a projection ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_PROJECTION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_PROJECTION_INL_H
#undef MHCRT_CPU_PROJECTION_INL_H
#else
#define MHCRT_CPU_PROJECTION_INL_H
#endif

#include "cpu/ProjectionAmx-inl.h"
#include "cpu/ProjectionFma-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// Chunk `chunk` of phi * norm_weight, to its place behind `packed`.
HWY_INLINE void packPhi(const ProjectionCall &args, int64_t chunk, char *packed) {
  char *to = packed + chunk * args.chunkBytes();
  if (args.amx)
    packTiles(args, chunk, reinterpret_cast<uint16_t *>(to));
  else
    packChunk(args, chunk, reinterpret_cast<float *>(to));
}

/// Tokens [first, first+count) of x: fills scratch.proj and scratch.stat.
template <typename T>
HWY_INLINE void projectTile(const ProjectionCall &args, const char *packed, int64_t first, int64_t count,
                            const ProjectionScratch &scratch) {
  if (args.amx)
    projectByAmx<T>(args, packed, first, count, scratch);
  else
    projectByFma<T>(
        args,
        [&](int64_t chunk) HWY_ATTR { return reinterpret_cast<const float *>(packed + chunk * args.chunkBytes()); },
        first, count, scratch);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_PROJECTION_INL_H
