//===- Bench.cpp - Time the kernels ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"
#include "KernelFunction.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/WithColor.h"
#include <utility>

using namespace mhc;
using namespace mhc::bench;
using llvm::Expected;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// One measurement
//===----------------------------------------------------------------------===//

namespace {
/// A runtime and a context of it.
struct Session {
  Runtime runtime;
  const Options &options;
  mhcrt_context *context = nullptr;

  llvm::Error error() const {
    llvm::Error error = llvm::createStringError(runtime.lastError(context));
    runtime.clearError(context);
    return error;
  }
  /// Fixes the variants that the options name.
  llvm::Error pin() const {
    for (const std::string &pin : options.pins)
      if (runtime.pin(context, pin.c_str()) != MHCRT_OK)
        return error();
    return llvm::Error::success();
  }
};

/// Memory where the kernels of a session work.
class Buffer {
public:
  Buffer(const Session &session, int64_t bytes)
      : session(&session), data(session.runtime.createBuffer(session.context, bytes)) {}
  Buffer(Buffer &&other) : session(other.session), data(std::exchange(other.data, nullptr)) {}
  Buffer &operator=(Buffer &&) = delete;
  ~Buffer() {
    if (data)
      session->runtime.destroyBuffer(session->context, data);
  }
  void *get() const { return data; }

private:
  const Session *session;
  void *data;
};
} // namespace

/// Elements that are made on the host; a longer tensor repeats them.
constexpr int64_t kFillElements = 1 << 22;

/// Even random numbers in [-scale, scale], or [0, scale]: the high half of an f32 is the bf16 with its leading bits.
static void fill(void *data, const CaseTensor &tensor, int64_t elements, uint64_t seed) {
  uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (int64_t i = 0; i < elements; ++i) {
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

static llvm::Error fill(const Session &session, void *buffer, const CaseTensor &tensor, uint64_t seed) {
  const int64_t each = mhcrt_dtype_bytes(tensor.dtype), count = std::min(tensor.elements, kFillElements);
  std::vector<char> host(count * each);
  fill(host.data(), tensor, count, seed);
  for (int64_t first = 0; first < tensor.elements; first += count)
    session.runtime.copy(session.context, static_cast<char *>(buffer) + first * each, host.data(),
                         std::min(count, tensor.elements - first) * each);
  return session.runtime.synchronize(session.context) == MHCRT_OK ? llvm::Error::success() : session.error();
}

static Expected<std::vector<char>> fetch(const Session &session, const CaseTensor &tensor, const void *data) {
  std::vector<char> host(tensor.elements * mhcrt_dtype_bytes(tensor.dtype));
  session.runtime.copy(session.context, host.data(), data, host.size());
  if (session.runtime.synchronize(session.context) != MHCRT_OK)
    return session.error();
  return host;
}

/// The results of the last call, by the number of the tensor; those of other tensors are empty.
static Expected<std::vector<std::vector<char>>> fetchResults(const Session &session, const Case &c,
                                                             llvm::ArrayRef<void *> data) {
  std::vector<std::vector<char>> results(c.tensors.size());
  for (auto [i, tensor] : llvm::enumerate(c.tensors)) {
    if (tensor.count == 0 || !c.info->tensors[i].isResult)
      continue;
    auto host = fetch(session, tensor, data[i]);
    if (!host)
      return host.takeError();
    if (!isFinite(host->data(), tensor))
      return llvm::createStringError("'" + c.kernel + "' leaves '" + c.info->tensors[i].name +
                                     "' with values that are not finite");
    results[i] = std::move(*host);
  }
  return results;
}

static double valueAt(const std::vector<char> &data, int32_t dtype, int64_t i) {
  uint32_t bits = 0;
  if (dtype == MHCRT_F32)
    std::memcpy(&bits, data.data() + 4 * i, 4);
  else
    std::memcpy(reinterpret_cast<char *>(&bits) + 2, data.data() + 2 * i, 2);
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// The largest difference over the largest value.
static double difference(const CaseTensor &tensor, const std::vector<char> &a, const std::vector<char> &b) {
  double most = 0, scale = 0;
  for (int64_t i = 0; i < tensor.elements; ++i) {
    const double x = valueAt(a, tensor.dtype, i), y = valueAt(b, tensor.dtype, i);
    most = std::max(most, std::fabs(x - y));
    scale = std::max(scale, std::fabs(y));
  }
  return scale > 0 ? most / scale : most;
}

/// Four roundings of bf16; sums in f32 may go another way in another order.
static double tolerance(int32_t dtype) { return dtype == MHCRT_F32 ? 5e-5 : 4.0 / 256; }

/// Whether a fast variant agrees with the generic one, on the same operands.
static llvm::Error compareWithGeneric(const Session &session, const Case &c, KernelFunction &function,
                                      llvm::ArrayRef<void *> data, const std::vector<std::vector<char>> &results) {
  session.runtime.pin(session.context, (c.kernel + "=generic").c_str());
  const mhcrt_status status = function();
  session.runtime.pin(session.context, (c.kernel + "=").c_str());
  if (status != MHCRT_OK)
    return session.error();
  if (llvm::Error error = session.pin())
    return error;
  auto generic = fetchResults(session, c, data);
  if (!generic)
    return generic.takeError();
  for (auto [i, tensor] : llvm::enumerate(c.tensors)) {
    if (results[i].empty())
      continue;
    const double found = difference(tensor, results[i], (*generic)[i]);
    if (!(found <= tolerance(tensor.dtype)))
      return llvm::createStringError(formatv("'{0}' of '{1}' differs from the generic variant's by {2:e1} of its "
                                             "largest value; needed at most {3:e1}",
                                             c.info->tensors[i].name, c.kernel, found, tolerance(tensor.dtype)));
  }
  return llvm::Error::success();
}

static Expected<Measurement> measure(const Session &session, Case c, int rounds, void *copyFrom, void *copyTo) {
  const Runtime &runtime = session.runtime;
  mhcrt_context *context = session.context;
  std::vector<Buffer> buffers;
  std::vector<void *> data;
  for (auto [i, tensor] : llvm::enumerate(c.tensors)) {
    data.push_back(nullptr);
    if (tensor.count == 0)
      continue;
    data.back() = buffers.emplace_back(session, tensor.elements * mhcrt_dtype_bytes(tensor.dtype)).get();
    if (!data.back())
      return session.error();
    if (!c.info->tensors[i].isResult)
      if (llvm::Error error = fill(session, data.back(), tensor, i))
        return error;
  }
  KernelFunction function(c, runtime.kernel(c.info->symbol), context, data);
  if (!function.isFound())
    return llvm::createStringError("the runtime has no '" + c.info->symbol + "'");
  Measurement best{std::move(c)};
  auto call = [](void *kernel) { return (*static_cast<KernelFunction *>(kernel))(); };
  for (int round = 0; round < rounds; ++round) {
    const double seconds = runtime.measureCall(context, call, &function);
    if (seconds < 0)
      return session.error();
    best.seconds = std::min(best.seconds, seconds);
    best.copyBytesPerSecond = std::max(best.copyBytesPerSecond, runtime.measureCopy(context, copyFrom, copyTo));
    best.multiplyAddsPerSecond = std::max(best.multiplyAddsPerSecond, runtime.measureMultiplyAdds(context));
  }
  auto results = fetchResults(session, best.c, data);
  if (!results)
    return results.takeError();
  if (runtime.chosen)
    best.variant = runtime.chosen(context, best.c.kernel.c_str());
  if (!best.variant.empty() && best.variant != "generic")
    if (llvm::Error error = compareWithGeneric(session, best.c, function, data, *results))
      return error;
  return best;
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

static void printHeader(llvm::raw_ostream &os, const Options &options, const Session &session) {
  std::string place = "the GPU, L2 cleared before each graph replay";
  if (!session.runtime.chosen)
    place = formatv("{0} threads, {1}", session.runtime.threads(session.context),
                    session.runtime.amx(session.context) ? "AMX tiles" : "portable kernels");
  os << formatv("{0}, M = {1}, n = {2}; best of {3} rounds\n\n", place, options.M, options.n, options.rounds);
  os << formatv("{0,-16}{1,-6}{2,6}{3,11}{4,9}{5,8}{6,8}{7,13}{8,13}{9,9}{10}\n", "kernel", "dtype", "C", "ms", "GB/s",
                "copy", "% copy", "bytes need", "adds need", "/ bound", session.runtime.chosen ? "  variant" : "");
}

static void printRow(llvm::raw_ostream &os, const Measurement &m) {
  os << formatv("{0,-16}{1,-6}{2,6}{3,11:f3}{4,9:f1}{5,8:f1}{6,8:f0}{7,10:f3} ms{8,10:f3} ms{9,9:f2}{10}\n", m.c.kernel,
                mhcrt_dtype_name(m.c.dtype), m.c.sizes.C, 1e3 * m.seconds, m.bytesPerSecond() / 1e9,
                m.copyBytesPerSecond / 1e9, m.copyPercent(), 1e3 * m.byteBound(), 1e3 * m.arithmeticBound(),
                m.seconds / m.bound(), m.variant.empty() ? "" : "  " + m.variant);
}

static llvm::json::Value toJson(const Measurement &m, bool amx) {
  return llvm::json::Object{{"kernel", m.c.kernel},
                            {"dtype", mhcrt_dtype_name(m.c.dtype)},
                            {"M", m.c.sizes.M},
                            {"C", m.c.sizes.C},
                            {"n", m.c.sizes.n},
                            {"amx", amx},
                            {"variant", m.variant},
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

/// Why kernels that have a fast variant took the generic one.
static void warnOfFallbacks(const Session &session) {
  for (int32_t i = 0; i < session.runtime.choices(session.context); ++i) {
    mhcrt_cuda_choice choice;
    session.runtime.choiceAt(session.context, i, &choice);
    if (choice.fallback[0])
      llvm::WithColor::warning(llvm::errs(), "mhc-bench")
          << formatv("'{0}' takes its variant '{1}'. {2}\n", choice.op, choice.variant, choice.fallback);
  }
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

static llvm::Error run(const Options &options, const Session &session, llvm::raw_ostream &os) {
  if (options.rounds < 1)
    return llvm::createStringError("rounds is " + std::to_string(options.rounds) + "; needed at least 1");
  if (options.M < 1 || options.n < 1 || llvm::any_of(options.channels, [](int64_t C) { return C < 1; }))
    return llvm::createStringError("M, n and C are sizes; needed at least 1");
  std::vector<Case> cases = makeCases(options);
  if (cases.empty())
    return llvm::createStringError("there is no kernel '" + options.kernel + "'");
  Buffer from(session, MHCRT_MEASURE_COPY_BYTES), to(session, MHCRT_MEASURE_COPY_BYTES);
  if (!from.get() || !to.get())
    return session.error();
  std::vector<char> zeros(MHCRT_MEASURE_COPY_BYTES); // memory that was never written may be one page, many times over
  session.runtime.copy(session.context, from.get(), zeros.data(), zeros.size());
  if (session.runtime.synchronize(session.context) != MHCRT_OK)
    return session.error();
  if (!options.json)
    printHeader(os, options, session);
  std::vector<Measurement> all;
  for (Case &c : cases) {
    Expected<Measurement> measurement = measure(session, std::move(c), options.rounds, from.get(), to.get());
    if (!measurement) { // a shape that the kernel does not take, such as n! permutations of many streams
      llvm::WithColor::warning(llvm::errs(), "mhc-bench") << llvm::toString(measurement.takeError()) << "\n";
      continue;
    }
    if (!options.json)
      printRow(os, *measurement);
    all.push_back(std::move(*measurement));
  }
  if (options.json)
    os << formatv("{0:2}\n", llvm::json::Value(llvm::json::Array(llvm::map_range(all, [&](const Measurement &m) {
                    return toJson(m, session.runtime.amx(session.context));
                  }))));
  else
    printCoefficientShare(os << "\n", all);
  return llvm::Error::success();
}

llvm::Error mhc::bench::run(const Options &options, llvm::raw_ostream &os) {
  Expected<Runtime> runtime = Runtime::open(options.backend);
  if (!runtime)
    return runtime.takeError();
  if (!runtime->pin && (!options.pins.empty() || options.strict))
    return llvm::createStringError("'--pin' and '--strict' need '--backend=cuda'");
  Session session{*runtime, options};
  if (runtime->createContext(options.threads, &session.context) != MHCRT_OK)
    return llvm::createStringError(options.backend == "cpu"
                                       ? "no context with " + std::to_string(options.threads) + " threads"
                                       : "no context: the CUDA driver or a GPU is missing");
  if (!options.amx)
    runtime->setAmx(session.context, 0);
  if (options.strict)
    runtime->setStrict(session.context, 1);
  llvm::Error error = session.pin();
  if (!error)
    error = ::run(options, session, os);
  if (runtime->choices)
    warnOfFallbacks(session);
  runtime->destroyContext(session.context);
  return error;
}
