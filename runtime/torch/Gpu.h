//===- Gpu.h - The CUDA backend in PyTorch's process ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libmhcrt_cuda.so stands beside this library and is loaded at the first call with tensors of a GPU. PyTorch's
// functions for streams and memory are those of its CUDA library, which a PyTorch without CUDA lacks.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TORCH_GPU_H
#define MHCRT_TORCH_GPU_H

#include "Contexts.h"

namespace mhcrt {

/// Throws, at each call, where the library or a function of PyTorch is missing.
const Backend &gpuBackend();

/// PyTorch's present stream on the GPU.
void *currentStream(TensorPlace place);

/// A context on this GPU and stream, whose scratch memory comes from PyTorch's allocator for the time of each call.
mhcrt_context *createOnGpu(TensorPlace place, void *stream);

/// Launches as for a GPU of multiprocessors() from now on.
void useMultiprocessors(mhcrt_context *context);

using Kernel = mhcrt_status (*)(mhcrt_context *context, const void *args);
/// The function of this name, "mhcrt_pre".
Kernel gpuKernel(const char *name);

} // namespace mhcrt

#endif // MHCRT_TORCH_GPU_H
