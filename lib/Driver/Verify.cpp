//===- Verify.cpp - Compare a compiled model with its reference ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"
#include "llvm/Support/Format.h"
#include <random>

using namespace mhc;

static constexpr int64_t kDefaultTokens = 13, kDefaultSize = 8;

/// Uniform in [-1, 1], the same for every run.
static void fillRandom(mhcrt::HostTensor &tensor, std::mt19937 &generator) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int64_t i = 0; i < tensor.elements(); ++i)
    static_cast<double *>(tensor.data())[i] = uniform(generator);
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
    if (!wide.allocate(MHCRT_F64, dims, error))
      return llvm::createStringError(error);
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

static llvm::Expected<bool> report(const char *name, const mhcrt::HostTensor &got, const mhcrt::HostTensor &want,
                                   double tolerance) {
  mhcrt::Tolerance allowed = mhcrt::defaultTolerance(got.dtype());
  if (tolerance >= 0)
    allowed = {0, tolerance};
  mhcrt::Comparison result;
  std::string error;
  if (!mhcrt::compare(got.get(), want.get(), allowed, result, error))
    return llvm::createStringError("result '" + std::string(name) + "': " + error);
  llvm::outs() << llvm::format("%s: %s, largest error %.3g, %.3g of the largest value (tolerance %.3g)\n", name,
                               result.pass ? "verified" : "WRONG", result.maxAbs, result.maxRel, allowed.relative);
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
  auto want = evaluate(compiler, source, name, *arguments);
  if (!want)
    return want.takeError();
  bool good = true;
  for (size_t i = 0; i < got->size(); ++i) {
    auto verdict =
        report(mhcrt_model_result(model, entry, i)->name, (*got)[i], (*want)[i], options.runOptions.tolerance);
    if (!verdict)
      return verdict;
    good &= *verdict;
  }
  return good;
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
    llvm::outs() << "entry " << mhcrt_model_entry_name(model, entry) << "\n";
    auto verdict = verifyEntry(compiler, source, model, entry, options);
    if (!verdict)
      return verdict;
    good &= *verdict;
  }
  return good;
}
