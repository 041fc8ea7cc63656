//===- FakeDriver.h - A GPU that only takes notes ---------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FakeDriver.cpp defines the functions of cudart and of dlopen that the backend calls. Nothing runs: addresses of the
// device are numbers, and a launch is a note. Devices, the order of streams, captures and the last error are those of
// CUDA, so far as the backend could break their rules.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_CUDA_HOST_FAKEDRIVER_H
#define MHCRT_TEST_CUDA_HOST_FAKEDRIVER_H

#include <cuda_runtime_api.h>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace mhcrt::test {

struct Launch {
  std::string kernel; ///< mangled
  dim3 grid, block;
  size_t sharedBytes;
  cudaStream_t stream;
  bool overlaps = false; ///< may start while the kernel before it ends
};

/// Enqueued work: a kernel, a product, a copy or a memset.
struct Work {
  std::string what;
  int device, capture;
  std::set<size_t> after; ///< the numbers of the work that ends before it
};

struct Block {
  size_t bytes;
  int device;

  bool operator==(const Block &other) const { return bytes == other.bytes && device == other.device; }
};

struct Stream {
  int device = 0;
  bool isBlocking = true;          ///< the legacy stream waits for it, and it for that one
  int capture = 0;                 ///< the number of the capture that it is in; 0 where it is in none
  std::set<size_t> done, captured; ///< what ends before the next work, outside of the capture and in it
};

struct Event {
  int capture = 0;
  std::set<size_t> done;
};

struct FakeDriver {
  int device = 0, devices = 2; ///< the current one, and their number
  cudaError_t lastError = cudaSuccess;
  std::set<int> devicesUsed;          ///< that were current when something was asked of them
  std::function<void()> duringLaunch; ///< called in the middle of each

  std::vector<Work> work;
  std::map<cudaStream_t, Stream> streams;
  std::map<cudaEvent_t, Event> events;
  int captures = 0;            ///< so far
  std::set<int> endedCaptures; ///< by a call that they forbid

  int major = 9, minor = 0, multiprocessors = 132;
  size_t memory = size_t{1} << 62; ///< of the device
  cudaError_t launchError = cudaSuccess, recordError = cudaSuccess, copyError = cudaSuccess;
  bool hasBlas = true;
  int clusters = 7; ///< that find room at once
  cudaError_t clustersError = cudaSuccess;

  std::map<void *, Block> blocks; ///< allocated
  std::vector<Launch> launches;
  std::vector<std::string> calls;               ///< "malloc", "free", "memset", "copy", "load", "launch NAME", ...
  std::map<const void *, std::string> contents; ///< memory of the device, for copies to the host, by its address
  std::map<std::string, void *> globals;        ///< of every image, by name; their contents are as long as they

  /// A stream of another program.
  cudaStream_t makeStream(int device = 0);
  /// Work that ends before the next work of a stream.
  std::set<size_t> &doneOn(cudaStream_t stream);
  bool isCapturing() const;
  /// Whether the stream is the legacy one and would wait for a capture.
  bool wouldWaitForCapture(cudaStream_t stream) const;
  void enqueue(const std::string &what, cudaStream_t stream);

  size_t used() const;
  int count(const std::string &call) const;
};

/// A library that NVTX may be set to use: it records ranges.
inline constexpr const char *kRangeNotes = "range-notes";

/// The one that the functions below use.
FakeDriver &driver();

} // namespace mhcrt::test

#endif // MHCRT_TEST_CUDA_HOST_FAKEDRIVER_H
