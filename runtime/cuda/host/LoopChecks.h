//===- LoopChecks.h - Checks that loops of a model make ---------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_HOST_LOOPCHECKS_H
#define MHCRT_CUDA_HOST_LOOPCHECKS_H

#include "cuda/host/Context.h"

namespace mhcrt {

/// Makes errors of the checks that have failed in loop kernels, once they are done, and frees their records. Waits for
/// copies from images that have a record.
void reportLoopChecks(mhcrt_context &context, const char *what);

} // namespace mhcrt

#endif // MHCRT_CUDA_HOST_LOOPCHECKS_H
