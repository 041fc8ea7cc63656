//===- Head.h - Fast kernels of the learned contraction ---------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_HEAD_H
#define MHCRT_CUDA_HEAD_H

#include "Context.h"
#include "Needs.h"
#include "src/KernelArgs.h"

namespace mhcrt {

/// The kernels of pre and pre_bwd for compute capability 9.0; see head_sm90.cu.
bool headSm90Takes(const HeadArgs &args, Needs &needs);
cudaError_t headSm90(mhcrt_context &context, const HeadArgs &args);
bool headBwdSm90Takes(const HeadBwdArgs &args, Needs &needs);
cudaError_t headBwdSm90(mhcrt_context &context, const HeadBwdArgs &args);

} // namespace mhcrt

#endif // MHCRT_CUDA_HEAD_H
