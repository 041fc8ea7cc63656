//===- Tiles-inl.h - Loops that several kernels share -----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function for each instruction set, in the file of the kernel that it belongs to: compiled once, and the same bits
// wherever it is called.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_TILES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_TILES_INL_H
#undef MHCRT_CPU_TILES_INL_H
#else
#define MHCRT_CPU_TILES_INL_H
#endif

#include "cpu/AggregateBwd.h"
#include "cpu/Post.h"
#include "cpu/PostBwd.h"
#include "cpu/Pre.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// Tokens [first, first+count) of x: fills scratch.proj and scratch.stat.
void projectTile(const ProjectionCall &args, const char *packed, int64_t first, int64_t count,
                 const ProjectionScratch &scratch);

/// Tokens [first, first+count), whose streams are at `x`. `base` is a thread's scratch memory.
void preTile(const PreCall &args, const char *packed, int64_t first, int64_t count, char *base, const void *x);

/// The same of head.
void headTile(const HeadCall &args, const char *packed, int64_t first, int64_t count, char *base, const void *x);

/// Tokens [first, last), whose streams behind go to `out`.
void postTile(const PostCall &args, int64_t first, int64_t last, void *out, void *kept);

/// Channels [c, c+count) of token m of a call that isFour; `dOut` has those of its streams at args.dOutPlaces, `sums`
/// kPostBwdSums vectors, which it adds to.
void postBwdChannels(const PostBwdCall &args, int64_t m, int64_t c, int64_t count, const void *dOut, float *dBias,
                     float *sums);

void aggregateBwdTokens(const AggregateBwdCall &args, int64_t first, int64_t last);

/// In place: planes of logits become the doubly stochastic matrix, planes[r*n + c][lane].
void sinkhornPlanes(float *planes, int64_t n, const SinkhornOptions &options);

/// In place: planes of the mix's gradient become the logits'. `logits` is overwritten. `history` has
/// sinkhornHistoryBytes().
void sinkhornBwdPlanes(float *planes, float *logits, int64_t n, const SinkhornOptions &options, float *history);

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_TILES_INL_H
