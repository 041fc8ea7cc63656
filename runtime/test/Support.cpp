//===- Support.cpp - Tensors and contexts for the tests -------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Support.h"

#include <algorithm>
#include <mutex>

using namespace mhcrt::test;

static constexpr size_t kGuardBytes = 64;
static constexpr unsigned char kGuard = 0xA5;
/// Memory of the backend starts on a cache line; a tensor need not.
static constexpr size_t kLead = 16;

/// Contexts of this thread: their kernels may have written a buffer that it looks at.
static thread_local std::vector<mhcrt_context *> contexts;
static std::mutex transferMutex;

/// The context that allocates and copies, made at its first use and never destroyed: buffers may outlive everything.
static mhcrt_context *transfers() {
  static mhcrt_context *context = [] {
    mhcrt_context *fresh = nullptr;
    EXPECT_EQ(mhcrt_context_create(1, &fresh), MHCRT_OK);
    return fresh;
  }();
  return context;
}

static void transfer(void *to, const void *from, size_t bytes) {
  const std::lock_guard lock(transferMutex);
  mhcrt_copy(transfers(), to, from, static_cast<int64_t>(bytes));
  EXPECT_EQ(mhcrt_synchronize(transfers()), MHCRT_OK) << mhcrt_last_error(transfers());
}

Context::Context(int threads) {
  EXPECT_EQ(mhcrt_context_create(threads, &context), MHCRT_OK);
  contexts.push_back(context);
}

Context::~Context() {
  mhcrt_synchronize(context); // buffers are read later
  contexts.erase(std::find(contexts.begin(), contexts.end(), context));
  mhcrt_context_destroy(context);
}

void Buffer::Release::operator()(unsigned char *memory) const {
  const std::lock_guard lock(transferMutex);
  mhcrt_buffer_destroy(transfers(), memory);
}

Buffer &Buffer::operator=(Buffer other) {
  dtype = other.dtype, elements = other.elements, isStale = other.isStale;
  bytes = std::move(other.bytes), memory = std::move(other.memory);
  return *this;
}

void *Buffer::data() {
  if (bytes.empty())
    return nullptr;
  if (!memory) {
    const std::lock_guard lock(transferMutex);
    memory.reset(
        static_cast<unsigned char *>(mhcrt_buffer_create(transfers(), static_cast<int64_t>(kLead + bytes.size()))));
  }
  if (!isStale)
    transfer(memory.get() + kLead, bytes.data(), bytes.size());
  isStale = true;
  return memory.get() + kLead;
}

Buffer::Bytes &Buffer::host() const {
  if (!isStale)
    return bytes;
  for (mhcrt_context *context : contexts)
    mhcrt_synchronize(context);
  transfer(bytes.data(), memory.get() + kLead, bytes.size());
  isStale = false;
  return bytes;
}

uint16_t mhcrt::test::toBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (std::isnan(value))
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  const uint32_t rest = bits & 0xFFFF;
  uint32_t kept = bits >> 16;
  if (rest > 0x8000 || (rest == 0x8000 && (kept & 1)))
    ++kept;
  return static_cast<uint16_t>(kept);
}

float mhcrt::test::fromBf16(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

float mhcrt::test::fromF16(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  const float sign = bits >> 15 ? -1.0f : 1.0f;
  if (exponent == 31)
    return mantissa ? NAN : sign * INFINITY;
  return sign * (exponent ? std::ldexp(1024.0f + mantissa, exponent - 25) : std::ldexp(1.0f * mantissa, -24));
}

uint16_t mhcrt::test::toF16(float value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return 0x7E00;
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520)
    return sign | 0x7C00;
  // The spacing of f16 at this magnitude; nearbyint rounds to even.
  int exponent;
  std::frexp(magnitude, &exponent);
  const int spacing = std::max(exponent - 11, -24);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(magnitude, -spacing)), spacing);
  if (rounded < std::ldexp(1.0, -14))
    return sign | static_cast<uint16_t>(std::ldexp(rounded, 24));
  const double fraction = std::frexp(rounded, &exponent);
  return sign | static_cast<uint16_t>(((exponent + 14) << 10) + (std::ldexp(fraction, 11) - 1024));
}

Buffer::Buffer(int32_t type, int64_t elements)
    : dtype(type), elements(elements), bytes(elements * mhcrt_dtype_bytes(type) + kGuardBytes, kGuard) {}

Buffer::Buffer(int32_t type, const Doubles &values) : Buffer(type, static_cast<int64_t>(values.size())) {
  for (size_t i = 0; i < values.size(); ++i) {
    const float value = static_cast<float>(values[i]);
    if (type == MHCRT_F32)
      std::memcpy(&bytes[i * 4], &value, 4);
    const uint16_t half = type == MHCRT_BF16 ? toBf16(value) : toF16(value);
    if (type != MHCRT_F32)
      std::memcpy(&bytes[i * 2], &half, 2);
  }
}

template <typename T>
static std::vector<unsigned char> bytesOf(const std::vector<T> &values) {
  std::vector<unsigned char> bytes(values.size() * sizeof(T) + kGuardBytes, kGuard);
  std::memcpy(bytes.data(), values.data(), values.size() * sizeof(T));
  return bytes;
}

Buffer::Buffer(const std::vector<int32_t> &values)
    : dtype(MHCRT_I32), elements(static_cast<int64_t>(values.size())), bytes(bytesOf(values)) {}

Buffer::Buffer(const std::vector<int64_t> &values)
    : dtype(MHCRT_I64), elements(static_cast<int64_t>(values.size())), bytes(bytesOf(values)) {}

Doubles Buffer::values() const {
  Doubles result(elements);
  const Bytes &bytes = host();
  for (int64_t i = 0; i < elements; ++i) {
    float value;
    uint16_t half;
    if (dtype == MHCRT_F32) {
      std::memcpy(&value, &bytes[i * 4], 4);
    } else {
      std::memcpy(&half, &bytes[i * 2], 2);
      value = dtype == MHCRT_BF16 ? fromBf16(half) : fromF16(half);
    }
    result[i] = value;
  }
  return result;
}

bool Buffer::guardIntact() const {
  const Bytes &bytes = host();
  for (size_t i = bytes.size() - kGuardBytes; i < bytes.size(); ++i)
    if (bytes[i] != kGuard)
      return false;
  return true;
}

Buffer Buffer::slice(int64_t first, int64_t count) const {
  Buffer result(dtype, count);
  const int64_t size = mhcrt_dtype_bytes(dtype);
  std::memcpy(result.bytes.data(), host().data() + first * size, count * size);
  return result;
}

Buffer Random::buffer(int32_t type, int64_t elements, double scale) {
  std::normal_distribution<double> normal(0, scale);
  Doubles values(elements);
  for (double &value : values)
    value = normal(engine);
  return Buffer(type, values);
}

std::vector<bool> mhcrt::test::variants() {
  return mhcrt_context_amx(Context(1)) ? std::vector<bool>{false, true} : std::vector<bool>{false};
}

double mhcrt::test::roundoff(int32_t type) {
  return std::ldexp(1.0, type == MHCRT_F32 ? -24 : type == MHCRT_BF16 ? -8 : -11);
}

void mhcrt::test::expectClose(const Buffer &got, const Doubles &want, const Doubles &tolerance,
                              const std::string &what) {
  ASSERT_EQ(got.size(), static_cast<int64_t>(want.size())) << what;
  EXPECT_TRUE(got.guardIntact()) << what << ": bytes behind the result were written";
  const Doubles values = got.values();
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_TRUE(std::isnan(want[i]) ? std::isnan(values[i])
                                    : values[i] == want[i] || std::fabs(values[i] - want[i]) <= tolerance[i])
        << what << ": element " << i << " is " << values[i] << ", wanted " << want[i];
}
