//===- Memory.cpp - Memory for results ------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Memory.h"
#include "MemoryLimit.h"

#include <torch/csrc/stable/ops.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mhcrt;
using torch::stable::Tensor;

constexpr int64_t kHugePage = 1 << 21;
/// The least size of a tensor from the pool: the allocator of the C library keeps smaller ones by itself.
constexpr int64_t kLeastBytes = 1 << 20;
/// One part in so many of a tensor's size may be left over in its block: batches are seldom of one size.
constexpr int64_t kMostUnused = 4;

/// A quarter of the memory, of which each process of this machine that trains has its share (torchrun says how many).
static int64_t mostKept() {
  const char *const ranks = std::getenv("LOCAL_WORLD_SIZE");
  const int64_t machine = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return memoryLimit(machine) / 4 / std::max<int64_t>(1, ranks ? std::atoll(ranks) : 1);
}

static int64_t roundUp(int64_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

namespace {

class Pool {
public:
  explicit Pool(int64_t most) : most(most) {}
  /// For the child of a fork, which may find the lock taken.
  void beginAnew() { new (this) Pool(most); }
  /// At least `bytes` bytes, which becomes the size of the block; null when there are none.
  void *take(int64_t &bytes);
  /// A block of the size that take() said.
  void give(void *block, int64_t bytes);
  void clear();
  int64_t bytes();

private:
  std::mutex mutex;
  std::multimap<int64_t, void *> blocks; ///< by their size
  int64_t kept = 0;
  const int64_t most;
};

} // namespace

void *Pool::take(int64_t &bytes) {
  bytes = roundUp(bytes);
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto found = blocks.lower_bound(bytes); found != blocks.end() && found->first <= bytes + bytes / kMostUnused) {
      void *block = found->second;
      bytes = found->first;
      blocks.erase(found);
      kept -= bytes;
      return block;
    }
  }
  void *block = std::aligned_alloc(kHugePage, bytes);
  if (!block) { // what is kept may be of other sizes
    clear();
    block = std::aligned_alloc(kHugePage, bytes);
  }
  if (block)
    madvise(block, bytes, MADV_HUGEPAGE); // a wish: without it, pages are small
  return block;
}

void Pool::give(void *block, int64_t bytes) {
  if (bytes > most) {
    std::free(block);
    return;
  }
  std::lock_guard<std::mutex> lock(mutex);
  // The largest go first: they are the rarest.
  while (!blocks.empty() && kept + bytes > most) {
    auto largest = std::prev(blocks.end());
    kept -= largest->first;
    std::free(largest->second);
    blocks.erase(largest);
  }
  blocks.emplace(bytes, block);
  kept += bytes;
}

void Pool::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  for (auto &[size, block] : blocks)
    std::free(block);
  blocks.clear();
  kept = 0;
}

int64_t Pool::bytes() {
  std::lock_guard<std::mutex> lock(mutex);
  return kept;
}

/// Never destroyed: tensors may outlive all else.
static Pool &pool() {
  static Pool *pool = [] {
    pthread_atfork(nullptr, nullptr, [] { ::pool().beginAnew(); });
    return new Pool(mostKept());
  }();
  return *pool;
}

static void giveBack(void *data, void *bytes) { pool().give(data, reinterpret_cast<intptr_t>(bytes)); }

Tensor mhcrt::makeTensor(const std::vector<int64_t> &sizes, int32_t dtype, TensorPlace place) {
  std::vector<int64_t> strides(sizes.size());
  int64_t elements = 1;
  bool overflows = false;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = elements;
    overflows |= __builtin_mul_overflow(elements, std::max<int64_t>(1, sizes[i]), &elements);
  }
  const bool isEmpty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  const int64_t bytes = elements * int64_t(aoti_torch_dtype_element_size(dtype));
  AtenTensorHandle handle = nullptr;
  int64_t blockBytes = bytes;
  void *block = place.isGpu() || overflows || isEmpty || bytes < kLeastBytes ? nullptr : pool().take(blockBytes);
  if (!block) {
    const int32_t failed =
        aoti_torch_empty_strided(sizes.size(), sizes.data(), strides.data(), dtype, place.type, place.index, &handle);
    return failed ? Tensor() : Tensor(handle);
  }
  TORCH_ERROR_CODE_CHECK(torch_from_blob(
      block, sizes.size(), sizes.data(), strides.data(), 0, dtype, aoti_torch_device_type_cpu(), /*device_index=*/-1,
      &handle, aoti_torch_layout_strided(), nullptr, 0, giveBack, reinterpret_cast<void *>(intptr_t(blockBytes))));
  return Tensor(handle);
}

void mhc_torch_empty_cache() { pool().clear(); }
int64_t mhc_torch_cached_bytes() { return pool().bytes(); }
