//===- Support.h - Tensors and contexts for the tests ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_SUPPORT_H
#define MHCRT_TEST_SUPPORT_H

#include "mhcrt/kernels.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace mhcrt::test {

using Doubles = std::vector<double>;

/// Instrumented code, which tests look at memory with, and not at bits, has a hundredth of the speed.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MHCRT_SANITIZED
#endif
#endif
#ifdef MHCRT_SANITIZED
constexpr bool kInstrumented = true;
#else
constexpr bool kInstrumented = false;
#endif

/// Runs that must have the same bits.
constexpr int kRuns = kInstrumented ? 3 : 100;

/// Conversions one value at a time, written for clarity, and not those of the runtime.
uint16_t toBf16(float value);
float fromBf16(uint16_t bits);
uint16_t toF16(float value);
float fromF16(uint16_t bits);

/// Memory that a kernel sees: storage of some dtype, with guard bytes behind it that no kernel may touch. The bytes are
/// on the host and, from the first data() on, in memory of the backend under test; what kernels wrote comes back when
/// it is looked at.
class Buffer {
public:
  Buffer() = default;
  Buffer(int32_t type, int64_t elements);
  Buffer(int32_t type, const Doubles &values);
  explicit Buffer(const std::vector<int32_t> &values);
  explicit Buffer(const std::vector<int64_t> &values);
  Buffer(const Buffer &other) : dtype(other.dtype), elements(other.elements), bytes(other.host()) {}
  Buffer(Buffer &&) = default;
  Buffer &operator=(Buffer other);

  /// The address for kernels, 16-byte aligned.
  void *data();
  /// The bytes on the host, until the next data().
  float *floats() { return reinterpret_cast<float *>(host().data()); }
  uint16_t *halves() { return reinterpret_cast<uint16_t *>(host().data()); }
  int32_t type() const { return dtype; }
  int64_t size() const { return elements; }
  /// The stored values, exactly.
  Doubles values() const;
  bool guardIntact() const;
  bool operator==(const Buffer &other) const { return host() == other.host(); }
  /// Elements [first, first+count) as a buffer of their own.
  Buffer slice(int64_t first, int64_t count) const;

private:
  struct Release {
    void operator()(unsigned char *memory) const;
  };
  using Bytes = std::vector<unsigned char>;

  /// After all kernels that this thread's contexts have run.
  Bytes &host() const;

  int32_t dtype = MHCRT_NONE;
  int64_t elements = 0;
  mutable Bytes bytes;
  mutable bool isStale = false; ///< whether a kernel may have written since `bytes` was read
  std::unique_ptr<unsigned char, Release> memory;
};

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  int64_t integer(int64_t least, int64_t most) { return std::uniform_int_distribution<int64_t>(least, most)(engine); }
  template <typename T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[integer(0, static_cast<int64_t>(values.size()) - 1)];
  }
  Buffer buffer(int32_t type, int64_t elements, double scale = 1.0);

private:
  std::mt19937_64 engine;
};

class Context {
public:
  explicit Context(int threads = 2);
  Context(int threads, bool amx) : Context(threads) { EXPECT_EQ(mhcrt_context_set_amx(context, amx), MHCRT_OK); }
  ~Context();
  operator mhcrt_context *() const { return context; }
  std::string error() const { return mhcrt_last_error(context); }

private:
  mhcrt_context *context = nullptr;
};

/// Whether to use AMX: no, and yes where the machine has it.
std::vector<bool> variants();

/// Runs `body` with every instruction set that this machine has, where the backend has several. The name is that of the
/// set.
void forEachInstructionSet(const std::function<void(const std::string &name)> &body);

/// Runs `body` with contexts that divide their work in different ways: among some numbers of threads, or as for smaller
/// and larger GPUs.
void forEachDivision(const std::function<void(mhcrt_context *)> &body);

/// Tokens, channels and type of streams whose sums over tokens are the longest that this backend makes in seconds.
std::vector<std::tuple<int64_t, int64_t, int32_t>> manyTokens();

/// Half a unit in the last place, relative: the rounding of one store.
double roundoff(int32_t type);

/// |got - want| <= tolerance[i] for all i, NaN where NaN is wanted and the same infinity where one is, and the guard
/// bytes are as they were.
void expectClose(const Buffer &got, const Doubles &want, const Doubles &tolerance, const std::string &what);

} // namespace mhcrt::test

#endif // MHCRT_TEST_SUPPORT_H
