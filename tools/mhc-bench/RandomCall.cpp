//===- RandomCall.cpp - One random call of a kernel, and the truth ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomCall.h"
#include "KernelFunction.h"
#include "Oracle.h"
#include "RandomCase.h"
#include "mhcrt/io.h"
#include "mhcrt/kernels.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/DJB.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mhc;
using namespace mhc::bench;
using mhc::reference::HostTensor;
using mhc::reference::Rounding;

constexpr int64_t kAlignment = 256, kGuardBytes = 64;
constexpr char kGuard = 0x5A, kPoison = ~0; ///< of results: NaN in every type

//===----------------------------------------------------------------------===//
// Numbers and bytes
//===----------------------------------------------------------------------===//

static int64_t bytesOf(const CaseTensor &tensor) { return tensor.elements * mhcrt_dtype_bytes(tensor.dtype); }

/// Stores numbers in the type of the tensor, and returns what it holds then.
static std::vector<double> store(const CaseTensor &tensor, std::vector<double> values, char *to) {
  mhcrt_tensor wide = {values.data(), MHCRT_F64, 1, {tensor.elements}}, narrow = {to, tensor.dtype, 1, {}};
  for (int64_t i = 0; i < tensor.elements; ++i) {
    if (tensor.dtype == MHCRT_I32)
      reinterpret_cast<int32_t *>(to)[i] = static_cast<int32_t>(values[i]);
    if (tensor.dtype == MHCRT_I64)
      reinterpret_cast<int64_t *>(to)[i] = static_cast<int64_t>(values[i]);
  }
  if (tensor.dtype == MHCRT_I32 || tensor.dtype == MHCRT_I64)
    return values;
  mhcrt::HostTensor rounded;
  std::string error;
  if (mhcrt::convert(wide, tensor.dtype, rounded, error))
    std::memcpy(to, rounded.data(), bytesOf(tensor));
  for (int64_t i = 0; i < tensor.elements; ++i)
    values[i] = mhcrt::element(narrow, i);
  return values;
}

/// The multiplier of each token of x by the attributes: what a gradient is given as `stat`.
static std::vector<double> multipliers(const Case &c, llvm::ArrayRef<double> x, int64_t tokens) {
  double norm = 0, eps = 0;
  for (auto [attr, value] : llvm::zip(c.info->attrs, c.values.attrs)) {
    norm = attr.name == "norm" ? value : norm;
    eps = attr.name == "norm_eps" ? value : eps;
  }
  std::vector<double> result;
  for (int64_t m = 0, width = tokens ? x.size() / tokens : 0; m < tokens; ++m) {
    double square = 0;
    for (double value : x.slice(m * width, width))
      square += value * value / width;
    const double root = std::sqrt(square);
    result.push_back(norm == MHCRT_NORM_INSIDE    ? 1 / std::sqrt(square + eps)
                     : norm == MHCRT_NORM_OUTSIDE ? 1 / (root + eps)
                     : norm == MHCRT_NORM_CLAMP   ? 1 / std::max(root, eps)
                                                  : 1);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Results against the truth
//===----------------------------------------------------------------------===//

/// Error of f32 sums and products relative to the largest value of a token. bf16 results may come of products whose one
/// side has 11 bits; `precision` allows errors of products (mhc.projection), which add up like steps of a random walk.
static double sumError(const Case &c, int32_t dtype) {
  double products = 2e-5;
  for (auto [attr, value] : llvm::zip(c.info->attrs, c.values.attrs))
    if (attr.name == "precision")
      products = value == MHCRT_PRECISION_TF32 ? 0x1p-8 : value == MHCRT_PRECISION_BF16X3 ? 0x1p-13 : products;
  return dtype == MHCRT_BF16 ? std::max(0x1p-10, products) : products;
}

constexpr double kLargestF16 = 65504;

/// The dtype of the format that a result is rounded to, `<result>_format` or that of all the op does; MHCRT_F32 where
/// there is none.
static int32_t formatOf(const Case &c, llvm::StringRef result) {
  for (auto [attr, value] : llvm::zip(c.info->attrs, c.values.attrs))
    if (attr.name == "format" || (attr.name.ends_with("_format") && attr.name.drop_back(7) == result))
      return value == MHCRT_FORMAT_BF16 ? MHCRT_BF16 : value == MHCRT_FORMAT_F16 ? MHCRT_F16 : MHCRT_F32;
  return MHCRT_F32;
}

/// The unit roundoff of the coarsest format that the op rounds to on the way; 0 where it rounds to none.
static double formatUnit(const Case &c) {
  bool roundsInside = c.info->roundsInside;
  for (auto [attr, value] : llvm::zip(c.info->attrs, c.values.attrs))
    roundsInside |= attr.name == "contracted" && value != MHCRT_CONTRACTED_NONE; // streams are rounded first
  double unit = roundsInside && c.dtype != MHCRT_F32 ? mhcrt::unitRoundoff(c.dtype) : 0;
  for (auto [attr, value] : llvm::zip(c.info->attrs, c.values.attrs))
    if (attr.name.ends_with("format") && value != MHCRT_FORMAT_F32)
      unit = std::max(unit, mhcrt::unitRoundoff(value == MHCRT_FORMAT_BF16 ? MHCRT_BF16 : MHCRT_F16));
  return unit;
}

namespace {
/// Elements of a result in float64: with the roundings of the op's formats, without, and the chain in f32.
struct Truth {
  llvm::ArrayRef<double> wanted, exact, single;

  Truth slice(int64_t first, int64_t count) const {
    return {wanted.slice(first, count), exact.slice(first, count), single.slice(first, count)};
  }
};

/// Compares the results of one call with the truth.
class Comparison {
public:
  Comparison(const Case &c, Verdict &verdict) : c(c), verdict(verdict) {}

  /// A token with an operand that is not finite keeps that to itself; nothing else is promised of it.
  void noteOperand(unsigned index, const HostTensor &operand) {
    const int64_t width = hasTokens(*c.info, index) && operand.size() ? operand.size() / operand.shape().front() : 0;
    for (int64_t i = 0; i < operand.size() && width > 0; ++i)
      if (!std::isfinite(operand.data()[i]))
        special.insert(i / width);
  }
  /// Checks tensor `index`, or one in its list.
  void check(unsigned index, const char *bytes, const Truth &truth);

private:
  void checkRow(unsigned index, int64_t first, const mhcrt_tensor &got, const Truth &row, double floor);
  void checkFormat(unsigned index, const mhcrt_tensor &got);

  const Case &c;
  Verdict &verdict;
  llvm::SmallSet<int64_t, 2> special;
};
} // namespace

/// Number of terms of order one that an element may sum up.
static double termsOf(const Case &c, bool isTokenwise) {
  double tokens = 1, width = 1;
  for (auto [i, size] : llvm::enumerate(c.values.dims))
    (isTokenDim(*c.info, i) ? tokens : width) = std::max(isTokenDim(*c.info, i) ? tokens : width, size);
  return isTokenwise ? width : tokens * width;
}

static double largestOf(llvm::ArrayRef<double> row) {
  double largest = 0;
  for (double value : row)
    largest = std::max(largest, std::fabs(value));
  return largest;
}

/// Checks that a rounded result is representable in its format.
void Comparison::checkFormat(unsigned index, const mhcrt_tensor &got) {
  const int32_t format = formatOf(c, c.info->tensors[index].name);
  if (format == MHCRT_F32 || !verdict.problem.empty())
    return;
  std::vector<double> found;
  for (int64_t i = 0; i < got.dims[0]; ++i)
    found.push_back(mhcrt::element(got, i));
  std::vector<char> narrow(found.size() * mhcrt_dtype_bytes(format));
  const std::vector<double> kept = store({1, format, got.dims[0], 1, true}, found, narrow.data());
  for (auto [i, value, rounded] : llvm::enumerate(found, kept))
    if (value != rounded && !std::isnan(value) && verdict.problem.empty())
      verdict.problem = llvm::formatv("'{0}'[{1}] is {2:e8}, which is not rounded to {3}", c.info->tensors[index].name,
                                      i, value, mhcrt_dtype_name(format));
}

void Comparison::check(unsigned index, const char *bytes, const Truth &truth) {
  const bool isTokenwise = hasTokens(*c.info, index);
  const int64_t size = truth.exact.size();
  if (size == 0 || (!isTokenwise && !special.empty()))
    return;
  const double tokens = c.values.dims[c.info->tensors[index].dims.front()];
  const int64_t rows = isTokenwise ? static_cast<int64_t>(tokens) : 1, width = size / rows;
  std::vector<double> scales;
  for (int64_t row = 0; row < rows; ++row)
    scales.push_back(largestOf(truth.exact.slice(row * width, width)));
  std::nth_element(scales.begin(), scales.begin() + rows / 2, scales.end());
  const double typical = scales[rows / 2], sums = 0x1p-21 * std::sqrt(termsOf(c, isTokenwise));
  const mhcrt_tensor got = {const_cast<char *>(bytes), c.tensors[index].dtype, 1, {size}};
  for (int64_t row = 0; row < rows; ++row)
    if (!special.contains(row))
      checkRow(index, row * width, got, truth.slice(row * width, width), sumError(c, got.dtype) * typical + sums);
  checkFormat(index, got);
}

/// An element may be off by its rounding, by what sums lose beside the largest one, and by some times what the chain
/// itself loses in f32; `floor` is for sums whose terms cancel. Between the layers of a list, streams are rounded to
/// their type. What f32 loses may take the rounding of a coefficient to the other side: that is one unit in the last
/// place, and what roundings do to the row when several are. Where f32 or f16 cannot hold the values, or f32 leaves no
/// digit, anything may come out.
void Comparison::checkRow(unsigned index, int64_t first, const mhcrt_tensor &got, const Truth &row, double floor) {
  const CaseTensor &tensor = c.tensors[index];
  const bool isList = c.info->tensors[index].isList;
  const double unit = mhcrt::unitRoundoff(tensor.dtype), layers = isList ? 2 * tensor.count : 0;
  const double largest = largestOf(row.wanted), most = isList ? kLargestF16 / 64 : kLargestF16;
  double spread = 0, roundings = 2 * formatUnit(c) * largest;
  for (auto [wanted, exact, single] : llvm::zip(row.wanted, row.exact, row.single)) {
    spread = std::isfinite(single) && std::isfinite(exact) ? std::max(spread, std::fabs(single - exact)) : INFINITY;
    roundings = std::isfinite(wanted) ? std::max(roundings, 4 * std::fabs(wanted - exact)) : INFINITY;
  }
  if (std::isinf(spread) || std::isinf(roundings) || spread > largest + 1 ||
      (tensor.dtype == MHCRT_F16 && largest > most))
    return;
  const double perRow =
      sumError(c, tensor.dtype) * largest + 16 * spread + roundings + layers * unit * (largest + 8) + floor;
  for (auto [i, wanted] : llvm::enumerate(row.wanted)) {
    const double found = mhcrt::element(got, first + i), error = std::fabs(found - wanted);
    const double allowed = 1.01 * unit * std::fabs(wanted) + perRow;
    verdict.worst = std::max(verdict.worst, std::isnan(error) ? INFINITY : error / allowed);
    if (!(error <= allowed) && verdict.problem.empty())
      verdict.problem = llvm::formatv("'{0}'[{1}] is {2:e4}; needed {3:e4}, give or take {4:e1}",
                                      c.info->tensors[index].name, first + i, found, wanted, allowed);
  }
}

static bool isGuardIntact(const char *guard) {
  return std::all_of(guard, guard + kGuardBytes, [](char byte) { return byte == kGuard; });
}

//===----------------------------------------------------------------------===//
// One call
//===----------------------------------------------------------------------===//

RandomCaller::RandomCaller(const Runtime &runtime, const Options &options)
    : runtime(runtime), options(options), mlir(makeOracleContext()) {
  if (runtime.createContext(1, &context) != MHCRT_OK)
    context = nullptr;
}

RandomCaller::~RandomCaller() {
  if (memory)
    runtime.destroyBuffer(context, memory);
  if (context)
    runtime.destroyContext(context);
}

/// Tensors begin on a line of the cache; in one call of eight none does, and elements alone are aligned. A result
/// may lie on the operand whose memory it may take over.
std::vector<int64_t> RandomCaller::place(const Case &c, uint64_t seed) {
  std::vector<int64_t> places;
  int64_t end = 0;
  for (const CaseTensor &tensor : c.tensors) {
    const int64_t skew = seed % 8 == 0 && tensor.count ? mhcrt_dtype_bytes(tensor.dtype) : 0;
    places.push_back(end + skew);
    end = llvm::alignTo(places.back() + bytesOf(tensor) + kGuardBytes, kAlignment);
  }
  for (auto [i, record] : llvm::enumerate(c.info->tensors)) {
    if (record.takenOverBy < 0 || seed % 3 != 0)
      continue;
    const CaseTensor &giver = c.tensors[i], &taker = c.tensors[record.takenOverBy];
    if (giver.count && giver.count == taker.count && giver.dtype == taker.dtype)
      places[record.takenOverBy] = places[i];
  }
  host.assign(end, kGuard);
  return places;
}

/// So that it rarely grows: that waits for all contexts of a GPU.
static int64_t capacityOf(int64_t bytes) { return std::max<int64_t>(llvm::NextPowerOf2(bytes), 1 << 24); }

/// Runs the kernel on what `host` holds, and brings back what it left.
std::string RandomCaller::run(const Case &c, llvm::ArrayRef<int64_t> places) {
  const int64_t bytes = host.size();
  if (bytes > capacity) {
    if (memory)
      runtime.destroyBuffer(context, memory);
    memory = runtime.createBuffer(context, capacityOf(bytes));
    capacity = memory ? capacityOf(bytes) : 0;
  }
  std::vector<void *> data;
  for (auto [tensor, place] : llvm::zip(c.tensors, places))
    data.push_back(tensor.count ? static_cast<char *>(memory) + place : nullptr);
  KernelFunction function(c, runtime.kernel(c.info->symbol), context, data);
  mhcrt_status status = function.isFound() && memory ? MHCRT_OK : MHCRT_NOT_FOUND;
  if (status == MHCRT_OK)
    status = runtime.copy(context, memory, host.data(), bytes);
  if (status == MHCRT_OK)
    status = function();
  if (status == MHCRT_OK)
    status = runtime.copy(context, host.data(), memory, bytes);
  const mhcrt_status waited = runtime.synchronize(context);
  if (status == MHCRT_OK && waited == MHCRT_OK)
    return "";
  std::string error = runtime.lastError(context);
  runtime.clearError(context);
  return error.empty() ? "the call failed without a message" : error;
}

/// The second time, scratch memory has what the first one left.
std::string RandomCaller::runTwice(const Case &c, llvm::ArrayRef<int64_t> places) {
  const std::vector<char> before = host;
  std::string problem = run(c, places);
  const std::vector<char> first = std::exchange(host, before);
  if (problem.empty())
    problem = run(c, places);
  return problem.empty() && first != host ? "the second call has other bits" : problem;
}

/// A call on no tokens chooses none.
std::string RandomCaller::variantOf(const Case &c) const {
  const char *variant = runtime.chosen(context, c.kernel.c_str());
  return variant ? variant : "none";
}

static std::string sizesOf(const Case &c) {
  std::string text;
  for (auto [name, size] : llvm::zip(c.info->dims, c.values.dims))
    text += llvm::formatv("{0} = {1}, ", name, static_cast<int64_t>(size));
  return text;
}

/// Cases until one is legal; null when none is.
static std::unique_ptr<Oracle> drawLegal(mlir::MLIRContext &mlir, const KernelInfo &info, std::mt19937_64 &random,
                                         int64_t streams, Case &c) {
  constexpr int kTries = 10000;
  for (int i = 0; i < kTries; ++i) {
    c = randomCase(info, random, streams);
    if (auto oracle = std::make_unique<Oracle>(mlir, c); oracle->isLegal())
      return oracle;
  }
  return nullptr;
}

/// The post that made operand `y` of `c`.
static Case postOf(const Case &c) {
  Case post = makeCase(*lookupKernelInfo("mhc.post"), c.sizes, c.dtype, {});
  const auto take = [](auto &to, const auto &names, const auto &from, const auto &fromNames, auto nameOf) {
    for (auto [value, name] : llvm::zip(to, names))
      for (auto [other, otherName] : llvm::zip(from, fromNames))
        if (nameOf(otherName) == nameOf(name))
          value = other;
  };
  const auto nameOf = [](const auto &record) { return record.name == "out" ? llvm::StringRef("y") : record.name; };
  take(post.values.dims, post.info->dims, c.values.dims, c.info->dims, [](llvm::StringRef name) { return name; });
  take(post.values.attrs, post.info->attrs, c.values.attrs, c.info->attrs, nameOf);
  take(post.tensors, post.info->tensors, c.tensors, c.info->tensors, nameOf);
  return post;
}

/// That `y`, from what the operands of `c` hold. A kernel may make it again.
static std::vector<double> streamsMade(mlir::MLIRContext &mlir, const Case &c,
                                       llvm::ArrayRef<std::vector<double>> held) {
  const Case post = postOf(c);
  std::vector<HostTensor> operands;
  for (const KernelTensor &tensor : post.info->tensors)
    for (auto [i, record] : llvm::enumerate(c.info->tensors))
      if (record.name == tensor.name && !tensor.isResult && c.tensors[i].count)
        operands.emplace_back(Oracle::shapeOf(c, i), held[i]);
  return llvm::cantFail(Oracle(mlir, post).evaluate(operands, Rounding::None)).front().values();
}

/// Fills the operands on the host, and returns what they hold.
std::vector<std::pair<unsigned, HostTensor>> RandomCaller::fill(const Case &c, llvm::ArrayRef<int64_t> places,
                                                                std::mt19937_64 &random) {
  std::vector<std::vector<double>> held(c.tensors.size());
  const auto hold = [&](unsigned i, std::vector<double> values) {
    held[i] = store(c.tensors[i], std::move(values), host.data() + places[i]);
  };
  int streams = -1, y = -1, stat = -1; // `stat` is of the streams
  for (auto [i, record] : llvm::enumerate(c.info->tensors)) {
    const CaseTensor &tensor = c.tensors[i];
    if (tensor.count == 0)
      continue;
    if (record.isResult) { // one that lies on its start is full already
      if (!llvm::is_contained(places.take_front(i), places[i]))
        std::memset(host.data() + places[i], kPoison, bytesOf(tensor));
      continue;
    }
    hold(i, randomElements(c, i, random));
    y = record.name == "y" ? static_cast<int>(i) : y;
    stat = record.name == "stat" ? static_cast<int>(i) : stat;
    streams = record.name == "x" ? static_cast<int>(i) : streams;
  }
  if (y >= 0) {
    hold(y, streamsMade(*mlir, c, held));
    streams = y;
  }
  if (stat >= 0 && streams >= 0)
    hold(stat, multipliers(c, held[streams], c.tensors[stat].elements));
  std::vector<std::pair<unsigned, HostTensor>> operands;
  for (auto [i, record] : llvm::enumerate(c.info->tensors)) {
    const int64_t count = record.isResult ? 0 : c.tensors[i].count, each = count ? c.tensors[i].elements / count : 0;
    for (int64_t k = 0; k < count; ++k) {
      const auto first = held[i].begin() + k * each;
      operands.emplace_back(i, HostTensor(Oracle::shapeOf(c, i), std::vector<double>(first, first + each)));
    }
  }
  return operands;
}

Verdict RandomCaller::call(const KernelInfo &info, uint64_t seed) {
  std::mt19937_64 random(seed * 0x9E3779B97F4A7C15u + llvm::djbHash(info.opName));
  Case c;
  const std::unique_ptr<Oracle> oracle = drawLegal(*mlir, info, random, options.streams, c);
  if (!oracle)
    return {"", 0, "no random case is legal"};
  const std::vector<int64_t> places = place(c, seed);
  Verdict verdict;
  Comparison comparison(c, verdict);
  std::vector<HostTensor> operands;
  for (auto &[index, operand] : fill(c, places, random)) {
    comparison.noteOperand(index, operand);
    operands.push_back(std::move(operand));
  }
  if (runtime.pin) // one call in four takes the generic variant where a fast one would do
    runtime.pin(context, (c.kernel + (seed % 4 == 1 ? "=generic" : "=")).c_str());
  for (const std::string &pin : options.pins)
    runtime.pin(context, pin.c_str());
  verdict.problem = runTwice(c, places);
  if (runtime.pin && verdict.problem.find("no variant is called 'generic'") != std::string::npos) { // parts have theirs
    runtime.pin(context, (c.kernel + "=").c_str());
    verdict.problem = runTwice(c, places);
  }
  if (runtime.chosen && verdict.problem.empty())
    verdict.variant = variantOf(c);
  auto exact = oracle->evaluate(operands, Rounding::None), single = oracle->evaluate(operands, Rounding::ToF32);
  auto wanted = oracle->evaluate(operands, formatUnit(c) > 0 ? Rounding::Narrow : Rounding::None);
  if (!exact || !single || !wanted)
    verdict.problem =
        llvm::toString(llvm::joinErrors(exact.takeError(), llvm::joinErrors(single.takeError(), wanted.takeError())));
  size_t next = 0;
  for (unsigned i = 0; i < info.tensors.size() && verdict.problem.empty(); ++i) {
    const CaseTensor &tensor = c.tensors[i];
    const char *bytes = host.data() + places[i];
    if (tensor.count && !isGuardIntact(bytes + bytesOf(tensor)))
      verdict.problem = ("bytes behind '" + info.tensors[i].name + "' were written").str();
    for (int64_t k = 0; info.tensors[i].isResult && k < tensor.count; ++k, ++next)
      comparison.check(i, bytes + k * bytesOf(tensor) / tensor.count,
                       {(*wanted)[next].values(), (*exact)[next].values(), (*single)[next].values()});
  }
  if (!verdict.problem.empty())
    verdict.problem += "\n    " + sizesOf(c) + oracle->text();
  return verdict;
}
