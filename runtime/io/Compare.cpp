//===- Compare.cpp - Conversions and comparisons of tensors ---------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/io.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace mhcrt;

static bool isFloat(int32_t dtype) {
  return dtype == MHCRT_F32 || dtype == MHCRT_BF16 || dtype == MHCRT_F16 || dtype == MHCRT_F64;
}

static int64_t countOf(const mhcrt_tensor &tensor) {
  int64_t count = 1;
  for (int i = 0; i < tensor.rank; ++i)
    count *= tensor.dims[i];
  return count;
}

/// A binary format of 16 bits.
namespace {
struct Half {
  int mantissaBits;
  int leastExponent; ///< of normal numbers
  int mostExponent;
};
} // namespace
static constexpr Half kBf16 = {7, -126, 127};
static constexpr Half kF16 = {10, -14, 15};

static double fromHalf(uint16_t bits, const Half &format) {
  const int exponentBits = 15 - format.mantissaBits;
  const int exponent = (bits >> format.mantissaBits) & ((1 << exponentBits) - 1);
  const int mantissa = bits & ((1 << format.mantissaBits) - 1);
  const double sign = bits >> 15 ? -1.0 : 1.0;
  if (exponent == (1 << exponentBits) - 1)
    return mantissa ? std::nan("") : sign * INFINITY;
  if (exponent == 0)
    return sign * std::ldexp(mantissa, format.leastExponent - format.mantissaBits);
  return sign *
         std::ldexp(mantissa + (1 << format.mantissaBits), exponent - 1 + format.leastExponent - format.mantissaBits);
}

/// From f64 at once: going through f32 would round twice.
static uint16_t toHalf(double value, const Half &format) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const int exponentMask = (1 << (15 - format.mantissaBits)) - 1;
  const uint16_t infinity = static_cast<uint16_t>(exponentMask << format.mantissaBits);
  if (std::isnan(value))
    return sign | infinity | static_cast<uint16_t>(1 << (format.mantissaBits - 1));
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return sign | infinity;
  if (magnitude == 0)
    return sign; // zero has no exponent
  int exponent = 0;
  std::frexp(magnitude, &exponent); // magnitude = [0.5,1) * 2^exponent
  const int unit = std::max(exponent - 1, format.leastExponent) - format.mantissaBits;
  // In units of the last place; nearbyint rounds to even. A carry into the next exponent is right as it stands.
  const int64_t units = static_cast<int64_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
  const int64_t bits =
      units + (static_cast<int64_t>(unit + format.mantissaBits - format.leastExponent) << format.mantissaBits);
  return sign | static_cast<uint16_t>(std::min<int64_t>(bits, infinity));
}

double mhcrt::element(const mhcrt_tensor &tensor, int64_t i) {
  switch (tensor.dtype) {
  case MHCRT_F32:
    return static_cast<const float *>(tensor.data)[i];
  case MHCRT_F64:
    return static_cast<const double *>(tensor.data)[i];
  case MHCRT_BF16:
    return fromHalf(static_cast<const uint16_t *>(tensor.data)[i], kBf16);
  case MHCRT_F16:
    return fromHalf(static_cast<const uint16_t *>(tensor.data)[i], kF16);
  case MHCRT_I32:
    return static_cast<const int32_t *>(tensor.data)[i];
  case MHCRT_I64:
    return static_cast<double>(static_cast<const int64_t *>(tensor.data)[i]);
  default:
    return 0;
  }
}

bool mhcrt::convert(const mhcrt_tensor &from, int32_t dtype, HostTensor &to, std::string &error) {
  if (!isFloat(from.dtype) || !isFloat(dtype)) {
    error = "cannot convert " + typeName(from) + " to " + mhcrt_dtype_name(dtype) + ": both must be floats";
    return false;
  }
  if (!to.allocate(dtype, std::vector<int64_t>(from.dims, from.dims + from.rank), error))
    return false;
  const int64_t count = countOf(from);
  for (int64_t i = 0; i < count; ++i) {
    const double value = element(from, i);
    if (dtype == MHCRT_F64)
      static_cast<double *>(to.data())[i] = value;
    else if (dtype == MHCRT_F32)
      static_cast<float *>(to.data())[i] = static_cast<float>(value);
    else
      static_cast<uint16_t *>(to.data())[i] = toHalf(value, dtype == MHCRT_BF16 ? kBf16 : kF16);
  }
  return true;
}

double mhcrt::unitRoundoff(int32_t dtype) {
  if (!isFloat(dtype))
    return 0;
  return std::ldexp(1.0, dtype == MHCRT_BF16 ? -8 : dtype == MHCRT_F16 ? -11 : dtype == MHCRT_F32 ? -24 : -53);
}

Tolerance mhcrt::defaultTolerance(int32_t dtype) {
  if (!isFloat(dtype))
    return {};
  return {0, std::max(4 * unitRoundoff(dtype), 2e-5)};
}

static std::string indexText(const mhcrt_tensor &tensor, int64_t flat) {
  std::string text;
  for (int i = tensor.rank - 1; i >= 0; --i) {
    text = std::to_string(flat % tensor.dims[i]) + (text.empty() ? "" : ",") + text;
    flat /= tensor.dims[i];
  }
  return "[" + text + "]";
}

std::string mhcrt::describe(const Comparison &result, Tolerance tolerance) {
  char text[256];
  std::snprintf(
      text, sizeof(text),
      "largest error %.3g (%.3g of the largest value), allowed atol %.3g + rtol %.3g; %lld bad, first %s: got "
      "%.9g, want %.9g",
      result.maxAbs, result.maxRel, tolerance.absolute, tolerance.relative, static_cast<long long>(result.bad),
      result.firstIndex.c_str(), result.firstGot, result.firstWant);
  return text;
}

bool mhcrt::compare(const mhcrt_tensor &got, const mhcrt_tensor &want, Tolerance tolerance, Comparison &result,
                    std::string &error) {
  result = {};
  if (got.rank != want.rank || !std::equal(got.dims, got.dims + got.rank, want.dims)) {
    error = "shapes differ: got " + typeName(got) + ", expected " + typeName(want);
    return false;
  }
  const int64_t count = countOf(got);
  double largest = 0;
  for (int64_t i = 0; i < count; ++i)
    if (std::isfinite(element(want, i)))
      largest = std::max(largest, std::fabs(element(want, i)));
  const double allowed = tolerance.absolute + tolerance.relative * largest;
  for (int64_t i = 0; i < count; ++i) {
    const double g = element(got, i), w = element(want, i);
    if (g == w || (std::isnan(g) && std::isnan(w)))
      continue;
    const double difference = std::fabs(g - w);
    if (std::isnan(difference) || difference > result.maxAbs) // a NaN stays visible as the largest difference
      result.maxAbs = difference;
    if (difference <= allowed)
      continue;
    ++result.bad;
    if (result.firstBad < 0) {
      result.firstBad = i;
      result.firstIndex = indexText(got, i);
      result.firstGot = g;
      result.firstWant = w;
    }
  }
  result.maxRel = largest > 0 ? result.maxAbs / largest : result.maxAbs;
  result.pass = result.bad == 0;
  return true;
}
