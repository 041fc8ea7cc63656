//===- CutFault.h - A report of a bad cut --------------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An IdFault of a cut has the position in the upper half of both words, so that threads that report at once leave the
// same cut in both. The lower half of the second is what was needed, which is not negative.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_HOST_CUTFAULT_H
#define MHCRT_CUDA_HOST_CUTFAULT_H

#include <stdint.h>

namespace mhcrt {

/// Beside what was needed: that is the least it may be.
constexpr uint32_t kCutBound = 1u << 31;

} // namespace mhcrt

#endif // MHCRT_CUDA_HOST_CUTFAULT_H
