//===- Range.cpp - NVTX ranges around calls -------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVTX is headers alone: it finds a profiler, where one runs, by itself.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Context.h"
#include "mhcrt/cuda.h"

#include <cstdio>
#include <nvtx3/nvToolsExt.h>

using namespace mhcrt;

void Range::open(const mhcrt_context &context, const char *op) {
  char text[256];
  std::snprintf(text, sizeof(text), "%s %s", op, context.location);
  nvtxRangePushA(context.location[0] ? text : op);
}

void Range::close() { nvtxRangePop(); }

void mhcrt_cuda_set_ranges(mhcrt_context *context, int32_t ranges) { context->hasRanges = ranges != 0; }
