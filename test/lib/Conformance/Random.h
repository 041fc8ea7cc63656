//===- Random.h - Random numbers that are the same everywhere - -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_CONFORMANCE_RANDOM_H
#define MHC_CONFORMANCE_RANDOM_H

#include <cstdint>
#include <initializer_list>

namespace mhc::conformance {

/// splitmix64, and what is drawn from it. Standard distributions differ between libraries; these do not.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// In [low, high].
  int64_t between(int64_t low, int64_t high) { return low + static_cast<int64_t>(next() % (high - low + 1)); }
  bool flip(double chance = 0.5) { return uniform() < chance; }
  /// About normal: the sum of twelve uniforms has mean 6 and variance 1.
  double normal() {
    double sum = 0;
    for (int i = 0; i < 12; ++i)
      sum += uniform();
    return sum - 6;
  }
  template <typename T>
  T pick(std::initializer_list<T> choices) {
    return *(choices.begin() + between(0, static_cast<int64_t>(choices.size()) - 1));
  }

private:
  uint64_t state;
};

} // namespace mhc::conformance

#endif // MHC_CONFORMANCE_RANDOM_H
