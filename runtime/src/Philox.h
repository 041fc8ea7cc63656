//===- Philox.h - Random numbers by counter ----------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox 4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_PHILOX_H
#define MHCRT_SRC_PHILOX_H

#include <array>
#include <cstdint>

#ifdef __CUDACC__
#define MHCRT_HOST_DEVICE __host__ __device__
#else
#define MHCRT_HOST_DEVICE
#endif

namespace mhcrt {

using Words = std::array<uint32_t, 4>;

/// Ten rounds of the counter under a key of two words.
MHCRT_HOST_DEVICE inline Words philox(Words counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t(0xD2511F53) * counter[0], b = uint64_t(0xCD9E8D57) * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(a)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

/// The elements of one op: its seed, offset and stream.
struct PhiloxStream {
  const int64_t *seed; ///< and the offset behind it
  int64_t stream;

  /// The words of elements 4*block to 4*block + 3.
  MHCRT_HOST_DEVICE Words operator()(int64_t block) const {
    const uint64_t key = seed[0], offset = seed[1];
    return philox({static_cast<uint32_t>(block), static_cast<uint32_t>(stream), static_cast<uint32_t>(offset),
                   static_cast<uint32_t>(offset >> 32)},
                  static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32));
  }
};

/// A counter has one word for the number of a block of four elements.
constexpr int64_t kMostRandom = int64_t(4) << 32;

/// Uniform numbers have 24 bits.
constexpr int kUniformBits = 24;
MHCRT_HOST_DEVICE inline uint32_t uniformBits(uint32_t word) { return word >> (32 - kUniformBits); }

} // namespace mhcrt

#endif // MHCRT_SRC_PHILOX_H
