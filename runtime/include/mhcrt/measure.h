//===- measure.h - Speed of this machine ------------------------ -*- C -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time of a kernel and the two speeds of the roofline, on the threads or the GPU of a context. A call takes some
// milliseconds: who wants to compare a kernel with the speeds calls in turn and keeps the best of each.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_MEASURE_H
#define MHCRT_MEASURE_H

#include "mhcrt/mhcrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Seconds that the kernels of call(user) take, after a first turn that brings memory and clock up; negative when it
/// fails. On a GPU the call is captured into a graph, and this is the median of its replays: a call that enqueues for a
/// millisecond or more, on operands that exceed the caches, is timed well.
double mhcrt_measure_call(mhcrt_context *context, mhcrt_status (*call)(void *user), void *user);

/// Bytes read plus bytes written per second of one copy of `bytes` bytes, past the caches or through them, whichever is
/// faster; on a GPU the driver's. `bytes` is a multiple of 256 kB that no cache holds; a GPU reaches its speed from 1
/// GiB on. Both sides are buffers with an alignment of 64.
double mhcrt_measure_copy_bandwidth(mhcrt_context *context, const void *from, void *to, int64_t bytes);

/// f32 multiply-adds per second of independent chains in registers, all threads together. Matrix units are not asked.
double mhcrt_measure_fma_peak(mhcrt_context *context);

/// The instruction set that the CPU's kernels use on this machine, such as "AVX3".
const char *mhcrt_cpu_target(void);

#ifdef __cplusplus
}
#endif

#endif // MHCRT_MEASURE_H
