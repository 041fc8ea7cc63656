//===- Verify.cpp - Compare a compiled model with its reference ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <optional>
#include <random>

using namespace mhc;

static constexpr int64_t kDefaultTokens = 13, kDefaultSize = 8;

/// Uniform in [-1, 1], the same for every run.
static void fillRandom(mhcrt::HostTensor &tensor, std::mt19937 &generator) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int64_t i = 0; i < tensor.elements(); ++i)
    static_cast<double *>(tensor.data())[i] = uniform(generator);
}

/// 0 and 1: numbers of rows that all but the smallest tables have.
static void fillIndices(mhcrt::HostTensor &tensor, std::mt19937 &generator) {
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (tensor.dtype() == MHCRT_I32)
      static_cast<int32_t *>(tensor.data())[i] = generator() % 2;
    else
      static_cast<int64_t *>(tensor.data())[i] = generator() % 2;
}

static llvm::Expected<Tensors> randomArguments(const mhcrt_model *model, int32_t entry,
                                               const std::map<std::string, int64_t> &sizes) {
  std::mt19937 generator(1);
  Tensors arguments(mhcrt_model_arguments(model, entry));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const mhcrt_tensor_info &info = *mhcrt_model_argument(model, entry, i);
    std::vector<int64_t> dims;
    for (int32_t dim = 0; dim < info.rank; ++dim) {
      std::string symbol = info.symbols[dim] ? info.symbols[dim] : "";
      auto given = sizes.find(symbol);
      dims.push_back(symbol.empty()         ? info.sizes[dim]
                     : given != sizes.end() ? given->second
                     : symbol == "M"        ? kDefaultTokens
                                            : kDefaultSize);
    }
    mhcrt::HostTensor wide;
    std::string error;
    bool isInteger = info.dtype == MHCRT_I32 || info.dtype == MHCRT_I64;
    if (!(isInteger ? arguments[i].allocate(info.dtype, dims, error) : wide.allocate(MHCRT_F64, dims, error)))
      return llvm::createStringError(error);
    if (isInteger) {
      fillIndices(arguments[i], generator);
      continue;
    }
    fillRandom(wide, generator);
    if (!mhcrt::convert(wide.get(), info.dtype, arguments[i], error))
      return llvm::createStringError("argument '" + std::string(info.name) + "' cannot be made at random: " + error);
  }
  return arguments;
}

static llvm::Expected<Tensors> givenArguments(const mhcrt_model *model, int32_t entry,
                                              const mhcrt::RunOptions &options) {
  Tensors arguments;
  std::string notes, error;
  if (!mhcrt::readArguments({model, entry, false}, options, arguments, notes, error))
    return llvm::createStringError(error);
  llvm::errs() << notes;
  return arguments;
}

namespace {
/// One entry on some arguments, here and in float64.
struct Verification {
  Compiler &compiler;
  mlir::ModuleOp source;
  const CompileOptions &options;
  const mhcrt_model *model;
  int32_t entry;
  const Tensors &arguments;
  Tensors got, want;
  std::vector<Tensors> moved; ///< `want` where each op rounds at random, once a result asked for it

  llvm::Expected<bool> report(size_t result, double tolerance);
  llvm::Expected<double> conditionedTolerance(size_t result);
};
} // namespace

static constexpr int kDraws = 3;

/// A deep model makes much of little, and one that rounds to narrow types inside makes little exact: how far the result
/// moves where the arguments and each op round at random.
llvm::Expected<double> Verification::conditionedTolerance(size_t result) {
  if (moved.empty()) {
    auto leafOps = toLeafOps(compiler, source, options);
    if (!leafOps)
      return leafOps.takeError();
    auto results = evaluateRounded(**leafOps, mhcrt_model_entry_name(model, entry), arguments, kDraws);
    if (!results)
      return results.takeError();
    moved = std::move(*results);
  }
  return roundingNoise(want, moved, result) / largestMagnitude(want[result]);
}

/// With a negative tolerance, the default one of the dtype.
llvm::Expected<bool> Verification::report(size_t index, double tolerance) {
  const char *name = mhcrt_model_result(model, entry, index)->name;
  mhcrt::Tolerance allowed = mhcrt::defaultTolerance(got[index].dtype());
  if (tolerance >= 0)
    allowed = {0, tolerance};
  mhcrt::Comparison result;
  std::string error;
  auto compare = [&] { return mhcrt::compare(got[index].get(), want[index].get(), allowed, result, error); };
  if (!compare())
    return llvm::createStringError("result '" + std::string(name) + "': " + error);
  std::string reason;
  if (!result.pass && tolerance < 0) {
    auto conditioned = conditionedTolerance(index);
    if (!conditioned)
      return conditioned.takeError();
    if (std::isnan(*conditioned))
      reason = "; the model overflows or underflows in its types";
    if (*conditioned > allowed.relative) {
      allowed.relative = *conditioned;
      reason = ", " + std::to_string(kRoundings) + " times what rounding does";
      compare();
    }
  }
  llvm::outs() << llvm::format("%s: %s, largest error %.3g, %.3g of the largest value (tolerance %.3g%s)\n", name,
                               result.pass ? "verified" : "WRONG", result.maxAbs, result.maxRel, allowed.relative,
                               reason.c_str());
  if (!result.pass)
    llvm::outs() << llvm::format("%s: %lld values are wrong, the first at %s: got %.9g, expected %.9g\n", name,
                                 static_cast<long long>(result.bad), result.firstIndex.c_str(), result.firstGot,
                                 result.firstWant);
  return result.pass;
}

static llvm::Expected<bool> verifyEntry(Compiler &compiler, mlir::ModuleOp source, const mhcrt_model *model,
                                        int32_t entry, const DriverOptions &options) {
  auto arguments = options.runOptions.givesArguments() ? givenArguments(model, entry, options.runOptions)
                                                       : randomArguments(model, entry, options.sizes);
  if (!arguments)
    return arguments.takeError();
  const char *name = mhcrt_model_entry_name(model, entry);
  auto got = runOnce(model, name, *arguments, options.runOptions.threads, options.runOptions.repetitions);
  if (!got)
    return got.takeError();
  auto want = evaluate(compiler, source, name, *arguments, options.compile);
  if (!want)
    return want.takeError();
  Verification verification{compiler,   source,          options.compile,  model, entry,
                            *arguments, std::move(*got), std::move(*want), {}};
  bool good = true;
  for (size_t i = 0; i < verification.got.size(); ++i) {
    auto verdict = verification.report(i, options.runOptions.tolerance);
    if (!verdict)
      return verdict;
    good &= *verdict;
  }
  return good;
}

/// What the halves of a gradient exchange depends on what was fused; the reference has other saved values.
static bool isHalf(llvm::StringRef entry, llvm::StringRef grad) {
  return !grad.empty() && entry.consume_front(grad) && (entry == "_fwd" || entry == "_bwd");
}

llvm::Expected<bool> mhc::verify(Compiler &compiler, mlir::ModuleOp source, const mhcrt_model *model,
                                 const DriverOptions &options) {
  int32_t entries = mhcrt_model_entries(model), entry;
  std::string error;
  bool all = entries > 1 && options.runOptions.entry.empty() && !options.runOptions.givesArguments();
  if (!all) {
    if (!mhcrt::selectEntry(model, options.runOptions, entry, error))
      return llvm::createStringError(error);
    return verifyEntry(compiler, source, model, entry, options);
  }
  bool good = true;
  for (entry = 0; entry < entries; ++entry) {
    if (isHalf(mhcrt_model_entry_name(model, entry), options.compile.grad))
      continue;
    llvm::outs() << "entry " << mhcrt_model_entry_name(model, entry) << "\n";
    auto verdict = verifyEntry(compiler, source, model, entry, options);
    if (!verdict)
      return verdict;
    good &= *verdict;
  }
  return good;
}
