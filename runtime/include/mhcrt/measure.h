//===- measure.h - What this machine can do -------------------------*- C -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two speeds of the roofline, measured on the threads of a context. Each call takes a fraction of a second and
// returns the best of several runs; 0 with an error in the context when memory is not to be had.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_MEASURE_H
#define MHCRT_MEASURE_H

#include "mhcrt/mhcrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Bytes read plus bytes written per second by the best copy of a block that no cache holds.
double mhcrt_measure_copy_bandwidth(mhcrt_context *context);

/// f32 multiply-adds per second of independent chains in registers, all threads together.
double mhcrt_measure_fma_peak(mhcrt_context *context);

#ifdef __cplusplus
}
#endif

#endif // MHCRT_MEASURE_H
