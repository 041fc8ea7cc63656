//===- Parts.h - Kernels as parts of others ---------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels without their checks, for those that consist of them.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_PARTS_H
#define MHCRT_CPU_PARTS_H

#include "src/Context.h"
#include "src/KernelArgs.h"

namespace mhcrt {

/// Streams of `count` tokens from `first` on, whose rows `args` has, to `to`.
void expandTokens(const ExpandArgs &args, int64_t first, int64_t count, void *to);
mhcrt_status computePost(mhcrt_context &context, const PostArgs &args);
mhcrt_status computePostBwd(mhcrt_context &context, const PostBwdArgs &args);
/// With `post`, d_x goes there and nowhere else, channels by channels: see ProjectionBwdCall::post.
mhcrt_status computePreBwd(mhcrt_context &context, const char *kernel, const PreBwdArgs &args,
                           const PostBwdArgs *post = nullptr);

} // namespace mhcrt

#endif // MHCRT_CPU_PARTS_H
