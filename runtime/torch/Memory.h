//===- Memory.h - Memory for results ----------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On the CPU a fresh result of many megabytes costs more in page faults than its kernel takes. Large results come from
// blocks of huge pages that are kept when PyTorch frees them, in all processes of a machine up to a quarter of the
// memory that they may have.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TORCH_MEMORY_H
#define MHCRT_TORCH_MEMORY_H

#include "Contexts.h"

#include <torch/csrc/stable/library.h>

#include <vector>

namespace mhcrt {

/// A contiguous tensor with elements of PyTorch's `dtype`, not set; an undefined one where PyTorch cannot make it.
torch::stable::Tensor makeTensor(const std::vector<int64_t> &sizes, int32_t dtype, TensorPlace place);

} // namespace mhcrt

/// Gives back all blocks that no tensor has. For Python.
extern "C" __attribute__((visibility("default"))) void mhc_torch_empty_cache();
/// Bytes of such blocks.
extern "C" __attribute__((visibility("default"))) int64_t mhc_torch_cached_bytes();

#endif // MHCRT_TORCH_MEMORY_H
