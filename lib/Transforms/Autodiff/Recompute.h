//===- Recompute.h - Streams computed again in the backward pass ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_AUTODIFF_RECOMPUTE_H
#define MHC_LIB_TRANSFORMS_AUTODIFF_RECOMPUTE_H

#include "Split.h"
#include "mhc/Transforms/RecomputePlan.h"

namespace mhc {

/// Lets the backward pass of a joint function build the streams inside each group of layers again, by one mhc.rebuild
/// per group, instead of keeping them. The results have the same bits. Records the groups of each chain in the
/// attribute `mhc.recompute` of the function.
void recomputeStreams(JointFunction &joint, RecomputeMode mode);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_AUTODIFF_RECOMPUTE_H
