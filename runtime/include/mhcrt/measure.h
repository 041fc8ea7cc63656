//===- measure.h - What this machine can do -------------------------*- C -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two speeds of the roofline, on the threads of a context. A call takes some milliseconds and measures once: who
// wants to compare a kernel with them calls in turn and keeps the best of each.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_MEASURE_H
#define MHCRT_MEASURE_H

#include "mhcrt/mhcrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A multiple of 256 kB that no cache holds, for each side of a copy.
#define MHCRT_MEASURE_COPY_BYTES (256LL << 20)

/// Bytes read plus bytes written per second of one copy, past the caches or through them, whichever is faster. Both
/// sides have MHCRT_MEASURE_COPY_BYTES and an alignment of 64.
double mhcrt_measure_copy_bandwidth(mhcrt_context *context, const void *from, void *to);

/// f32 multiply-adds per second of independent chains in registers, all threads together.
double mhcrt_measure_fma_peak(mhcrt_context *context);

#ifdef __cplusplus
}
#endif

#endif // MHCRT_MEASURE_H
