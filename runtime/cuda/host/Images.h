//===- Images.h - The GPUs that the library has code for --------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_HOST_IMAGES_H
#define MHCRT_CUDA_HOST_IMAGES_H

namespace mhcrt {

/// The architectures of the build in CMake's words, "80-real 90-virtual".
extern const char *const kImages;

/// Whether a GPU of compute capability `arch`, times ten, runs one of the images: machine code of its own major version
/// that is not newer, or else PTX that is not newer.
bool hasCodeFor(const char *images, int arch);

} // namespace mhcrt

#endif // MHCRT_CUDA_HOST_IMAGES_H
