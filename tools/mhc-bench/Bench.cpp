//===- Bench.cpp - Time the kernels ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"
#include "KernelFunction.h"
#include "mhcrt/measure.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/WithColor.h"
#include <chrono>

using namespace mhc;
using namespace mhc::bench;
using llvm::Expected;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// One measurement
//===----------------------------------------------------------------------===//

namespace {
struct FreeBuffer {
  void operator()(void *data) { std::free(data); }
};
using Buffer = std::unique_ptr<void, FreeBuffer>;
} // namespace

/// Even random numbers in [-scale, scale], or [0, scale]: the high half of an f32 is the bf16 with its leading bits.
static void fill(void *data, const CaseTensor &tensor, uint64_t seed) {
  uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (int64_t i = 0; i < tensor.elements; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    float value = static_cast<float>((static_cast<double>(state >> 32) / 2147483648.0 - 1.0) * tensor.scale);
    value = tensor.isNegativeToo ? value : std::fabs(value);
    if (tensor.dtype == MHCRT_I32) {
      static_cast<int32_t *>(data)[i] = (state >> 32) % tensor.rows;
    } else if (tensor.dtype == MHCRT_I64) {
      static_cast<int64_t *>(data)[i] = (state >> 32) % tensor.rows;
    } else if (tensor.dtype == MHCRT_F32) {
      static_cast<float *>(data)[i] = value;
    } else {
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      static_cast<uint16_t *>(data)[i] = bits >> 16;
    }
  }
}

/// Whether no element has the exponent of infinities and of what is no number.
static bool isFinite(const void *data, const CaseTensor &tensor) {
  auto upperHalf = [&](int64_t i) {
    bool isWide = tensor.dtype == MHCRT_F32;
    return static_cast<const uint16_t *>(data)[isWide ? 2 * i + 1 : i];
  };
  return llvm::all_of(llvm::seq<int64_t>(0, tensor.elements), [&](int64_t i) { return ~upperHalf(i) & 0x7F80; });
}

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// One call of the kernel, after one that brings memory and clock up.
static Expected<double> timeCall(KernelFunction &function, mhcrt_context *context) {
  double start = 0;
  for (int call = 0; call < 2; ++call) {
    start = now();
    if (function() != MHCRT_OK)
      return llvm::createStringError(mhcrt_last_error(context));
  }
  return now() - start;
}

constexpr int64_t kAlignment = 64;

static Expected<Buffer> allocate(int64_t bytes) {
  Buffer buffer(std::aligned_alloc(kAlignment, llvm::alignTo(bytes, kAlignment)));
  if (!buffer)
    return llvm::createStringError("no memory for " + std::to_string(bytes) + " bytes");
  return buffer;
}

static Expected<Measurement> measure(Case c, mhcrt_context *context, int rounds, void *copyFrom, void *copyTo) {
  std::vector<Buffer> buffers;
  std::vector<void *> data;
  for (auto [i, tensor] : llvm::enumerate(c.tensors)) {
    if (tensor.count == 0) {
      data.push_back(nullptr);
      continue;
    }
    Expected<Buffer> buffer = allocate(tensor.elements * mhcrt_dtype_bytes(tensor.dtype));
    if (!buffer)
      return buffer.takeError();
    if (!c.info->tensors[i].isResult)
      fill(buffer->get(), tensor, i);
    data.push_back(buffer->get());
    buffers.push_back(std::move(*buffer));
  }
  KernelFunction function(c, context, data);
  if (!function.isFound())
    return llvm::createStringError("the runtime has no '" + c.info->symbol + "'");
  Measurement best{std::move(c)};
  for (int round = 0; round < rounds; ++round) {
    Expected<double> seconds = timeCall(function, context);
    if (!seconds)
      return seconds.takeError();
    best.seconds = std::min(best.seconds, *seconds);
    best.copyBytesPerSecond =
        std::max(best.copyBytesPerSecond, mhcrt_measure_copy_bandwidth(context, copyFrom, copyTo));
    best.multiplyAddsPerSecond = std::max(best.multiplyAddsPerSecond, mhcrt_measure_fma_peak(context));
  }
  for (auto [i, tensor] : llvm::enumerate(best.c.tensors))
    if (tensor.count != 0 && !isFinite(data[i], tensor))
      return llvm::createStringError("'" + best.c.kernel + "' leaves '" + best.c.info->tensors[i].name +
                                     "' with values that are not finite");
  return best;
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

static void printHeader(llvm::raw_ostream &os, const Options &options, mhcrt_context *context) {
  os << formatv("{0} threads, {1}, M = {2}, n = {3}; best of {4} rounds\n\n", mhcrt_context_threads(context),
                mhcrt_context_amx(context) ? "AMX tiles" : "portable kernels", options.M, options.n, options.rounds);
  os << formatv("{0,-16}{1,-6}{2,6}{3,11}{4,9}{5,8}{6,8}{7,13}{8,13}{9,9}\n", "kernel", "dtype", "C", "ms", "GB/s",
                "copy", "% copy", "bytes need", "adds need", "/ bound");
}

static void printRow(llvm::raw_ostream &os, const Measurement &m) {
  os << formatv("{0,-16}{1,-6}{2,6}{3,11:f3}{4,9:f1}{5,8:f1}{6,8:f0}{7,10:f3} ms{8,10:f3} ms{9,9:f2}\n", m.c.kernel,
                mhcrt_dtype_name(m.c.dtype), m.c.sizes.C, 1e3 * m.seconds, m.bytesPerSecond() / 1e9,
                m.copyBytesPerSecond / 1e9, m.copyPercent(), 1e3 * m.byteBound(), 1e3 * m.arithmeticBound(),
                m.seconds / m.bound());
}

static llvm::json::Value toJson(const Measurement &m, bool amx) {
  return llvm::json::Object{{"kernel", m.c.kernel},
                            {"dtype", mhcrt_dtype_name(m.c.dtype)},
                            {"M", m.c.sizes.M},
                            {"C", m.c.sizes.C},
                            {"n", m.c.sizes.n},
                            {"amx", amx},
                            {"ms", 1e3 * m.seconds},
                            {"gbs", m.bytesPerSecond() / 1e9},
                            {"copy_gbs", m.copyBytesPerSecond / 1e9},
                            {"copy_percent", m.copyPercent()},
                            {"multiply_adds_per_second", m.multiplyAddsPerSecond},
                            {"byte_bound_ms", 1e3 * m.byteBound()},
                            {"arithmetic_bound_ms", 1e3 * m.arithmeticBound()},
                            {"bound_ratio", m.seconds / m.bound()}};
}

/// How much of `pre` its coefficients would take as kernels of their own.
static void printCoefficientShare(llvm::raw_ostream &os, const std::vector<Measurement> &all) {
  auto find = [&](llvm::StringRef kernel) {
    return llvm::find_if(all, [&](const Measurement &m) { return m.c.kernel == kernel; });
  };
  auto gates = find("gates"), sinkhorn = find("sinkhorn");
  if (gates == all.end() || sinkhorn == all.end())
    return;
  for (const Measurement &m : all)
    if (m.c.kernel == "pre")
      os << formatv("gates and sinkhorn are {0:f1} % of pre at C = {1}, {2}\n",
                    100 * (gates->seconds + sinkhorn->seconds) / m.seconds, m.c.sizes.C, mhcrt_dtype_name(m.c.dtype));
}

//===----------------------------------------------------------------------===//
// All cases
//===----------------------------------------------------------------------===//

static std::vector<Case> makeCases(const Options &options) {
  std::vector<Case> cases;
  for (const KernelInfo *info : allKernelInfos())
    for (int64_t C : options.channels)
      for (int32_t dtype : options.dtypes) {
        Case c = makeCase(*info, {options.M, C, options.n}, hasActivations(*info) ? dtype : int32_t(MHCRT_F32));
        bool isRepeat = (!hasActivations(*info) && dtype != options.dtypes.front()) ||
                        (!hasChannels(*info) && C != options.channels.front());
        if (!isRepeat && (options.kernel.empty() || options.kernel == c.kernel))
          cases.push_back(std::move(c));
      }
  return cases;
}

static llvm::Error run(const Options &options, mhcrt_context *context, llvm::raw_ostream &os) {
  if (options.rounds < 1)
    return llvm::createStringError("rounds is " + std::to_string(options.rounds) + "; needed at least 1");
  if (options.M < 1 || options.n < 1 || llvm::any_of(options.channels, [](int64_t C) { return C < 1; }))
    return llvm::createStringError("M, n and C are sizes; needed at least 1");
  std::vector<Case> cases = makeCases(options);
  if (cases.empty())
    return llvm::createStringError("there is no kernel '" + options.kernel + "'");
  Expected<Buffer> from = allocate(MHCRT_MEASURE_COPY_BYTES), to = allocate(MHCRT_MEASURE_COPY_BYTES);
  if (!from || !to)
    return llvm::joinErrors(from.takeError(), to.takeError());
  std::memset(from->get(), 0, MHCRT_MEASURE_COPY_BYTES);
  if (!options.json)
    printHeader(os, options, context);
  std::vector<Measurement> all;
  for (Case &c : cases) {
    Expected<Measurement> measurement = measure(std::move(c), context, options.rounds, from->get(), to->get());
    if (!measurement) { // a shape that the kernel does not take, such as n! permutations of many streams
      llvm::WithColor::warning(llvm::errs(), "mhc-bench") << llvm::toString(measurement.takeError()) << "\n";
      mhcrt_clear_error(context);
      continue;
    }
    if (!options.json)
      printRow(os, *measurement);
    all.push_back(std::move(*measurement));
  }
  if (options.json)
    os << formatv("{0:2}\n", llvm::json::Value(llvm::json::Array(llvm::map_range(
                                 all, [&](const Measurement &m) { return toJson(m, mhcrt_context_amx(context)); }))));
  else
    printCoefficientShare(os << "\n", all);
  return llvm::Error::success();
}

llvm::Error mhc::bench::run(const Options &options, llvm::raw_ostream &os) {
  mhcrt_context *context = nullptr;
  if (mhcrt_context_create(options.threads, &context) != MHCRT_OK)
    return llvm::createStringError("no context with " + std::to_string(options.threads) + " threads");
  if (!options.amx)
    mhcrt_context_set_amx(context, 0);
  llvm::Error error = ::run(options, context, os);
  mhcrt_context_destroy(context);
  return error;
}
