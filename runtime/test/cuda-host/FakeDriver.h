//===- FakeDriver.h - A GPU that only takes notes ---------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FakeDriver.cpp defines the functions of cudart and of dlopen that the backend calls. Nothing runs: addresses of the
// device are numbers, and a launch is a note.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_CUDA_HOST_FAKEDRIVER_H
#define MHCRT_TEST_CUDA_HOST_FAKEDRIVER_H

#include <cuda_runtime_api.h>
#include <map>
#include <string>
#include <vector>

namespace mhcrt::test {

struct Launch {
  std::string kernel; ///< mangled
  dim3 grid, block;
  size_t sharedBytes;
  cudaStream_t stream;
};

struct FakeDriver {
  int major = 9, minor = 0, multiprocessors = 132;
  size_t memory = size_t{1} << 62; ///< of the device
  cudaError_t launchError = cudaSuccess, recordError = cudaSuccess;
  bool hasBlas = true;

  std::map<void *, size_t> blocks; ///< allocated
  std::vector<Launch> launches;
  std::vector<std::string> calls; ///< "malloc", "free", "memset", "copy", "load", "launch NAME", ...
  std::vector<unsigned char> copiedToHost;

  size_t used() const;
  int count(const std::string &call) const;
};

/// A library that NVTX may be told to use: it makes notes of ranges.
inline constexpr const char *kRangeNotes = "range-notes";

/// The one that the functions below use.
FakeDriver &driver();

} // namespace mhcrt::test

#endif // MHCRT_TEST_CUDA_HOST_FAKEDRIVER_H
