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
#include <cmath>
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

/// The numbers under a seed, an offset and a stream.
struct PhiloxNumbers {
  uint64_t key, offset;
  uint32_t stream;

  /// The words of elements 4*block to 4*block + 3.
  MHCRT_HOST_DEVICE Words operator()(int64_t block) const {
    return philox(
        {static_cast<uint32_t>(block), stream, static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32)},
        static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32));
  }
};

/// The same with the seed in memory.
struct PhiloxStream {
  const int64_t *seed; ///< and the offset behind it
  int64_t stream;

  MHCRT_HOST_DEVICE PhiloxNumbers load() const {
    return {static_cast<uint64_t>(seed[0]), static_cast<uint64_t>(seed[1]), static_cast<uint32_t>(stream)};
  }
  MHCRT_HOST_DEVICE Words operator()(int64_t block) const { return load()(block); }
};

/// A counter has one word for the number of a block of four elements.
constexpr int64_t kMostRandom = int64_t(4) << 32;

/// Uniform numbers have 24 bits.
constexpr int kUniformBits = 24;
MHCRT_HOST_DEVICE inline uint32_t uniformBits(uint32_t word) { return word >> (32 - kUniformBits); }

/// The elements that a dropout keeps, and their factor.
struct Dropout {
  PhiloxStream philox = {nullptr, 0}; ///< its seed is null where there is no dropout
  uint32_t threshold = 0;             ///< of uniformBits: the first that is kept
  float scale = 1;

  Dropout() = default;
  Dropout(const void *seed, double rate, int64_t stream)
      : philox{static_cast<const int64_t *>(seed), stream},
        // In f64, as the reference: a float next to the rate would drop other elements.
        threshold(static_cast<uint32_t>(std::ceil(std::ldexp(rate, kUniformBits)))),
        scale(static_cast<float>(1 / (1 - rate))) {}

  bool isOn() const { return philox.seed; }
  MHCRT_HOST_DEVICE bool keeps(uint32_t word) const { return uniformBits(word) >= threshold; }
  MHCRT_HOST_DEVICE float operator()(uint32_t word, float value) const { return keeps(word) ? value * scale : 0.0f; }
};

} // namespace mhcrt

#endif // MHCRT_SRC_PHILOX_H
