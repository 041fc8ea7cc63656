//===- Regions.h - Places buffers by their lifetimes ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_PLAN_REGIONS_H
#define MHC_LIB_TRANSFORMS_PLAN_REGIONS_H

#include <cstdint>
#include <map>
#include <set>

namespace mhc {

/// A range of addresses that grows as needed. Freed ranges are reused, the smallest that fits first.
class RegionAllocator {
public:
  int64_t allocate(int64_t size) {
    auto fit = bySize.lower_bound({size, 0});
    if (fit == bySize.end())
      return extend(size);
    auto [free, offset] = *fit;
    remove(offset, free);
    if (free > size)
      insert(offset + size, free - size);
    return offset;
  }

  void release(int64_t offset, int64_t size) {
    auto next = byOffset.lower_bound(offset);
    if (next != byOffset.end() && next->first == offset + size) {
      size += next->second;
      remove(next->first, next->second);
    }
    auto previous = byOffset.lower_bound(offset);
    if (previous != byOffset.begin() && (--previous)->first + previous->second == offset) {
      auto [start, length] = *previous;
      remove(start, length);
      offset = start;
      size += length;
    }
    insert(offset, size);
  }

  /// Bytes of the region.
  int64_t size() const { return top; }

private:
  /// Takes the free range at the end, if there is one, and what is missing behind it.
  int64_t extend(int64_t size) {
    int64_t offset = top;
    if (!byOffset.empty()) {
      auto [start, length] = *byOffset.rbegin();
      if (start + length == top) {
        remove(start, length);
        offset = start;
      }
    }
    top = offset + size;
    return offset;
  }
  void insert(int64_t offset, int64_t size) {
    byOffset[offset] = size;
    bySize.insert({size, offset});
  }
  void remove(int64_t offset, int64_t size) {
    byOffset.erase(offset);
    bySize.erase({size, offset});
  }

  int64_t top = 0;
  std::map<int64_t, int64_t> byOffset;
  std::set<std::pair<int64_t, int64_t>> bySize;
};

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_PLAN_REGIONS_H
