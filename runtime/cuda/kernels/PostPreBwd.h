//===- PostPreBwd.h - Rows of post_pre_bwd's table ------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_KERNELS_POSTPREBWD_H
#define MHCRT_CUDA_KERNELS_POSTPREBWD_H

#include "cuda/host/Needs.h"
#include "src/KernelArgs.h"

#include <cuda_runtime_api.h>

namespace mhcrt {

bool postPreBwdSm90Takes(const PostPreBwdArgs &args, Needs &needs);
cudaError_t postPreBwdSm90(mhcrt_context &context, const PostPreBwdArgs &args);

} // namespace mhcrt

#endif // MHCRT_CUDA_KERNELS_POSTPREBWD_H
