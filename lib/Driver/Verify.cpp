//===- Verify.cpp - Compare a compiled model with its reference ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"
#include "RandomArguments.h"
#include "mhcrt/file.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <optional>

using namespace mhc;
using llvm::StringRef;

static constexpr const char *kFuseNames[] = {"none", "chain", "layer", "model"};
/// Number of draws of the rounding.
static constexpr int kDraws = 3;
/// Relative to the largest value: a larger error is never called verified, whatever rounding may do.
static constexpr double kMostTolerance = 0.05;

/// The function of the source that has the entry's arguments first; null where there is none.
static mlir::func::FuncOp programOf(mlir::ModuleOp source, StringRef entry, StringRef grad) {
  auto own = source.lookupSymbol<mlir::func::FuncOp>(entry);
  return own || !entry.starts_with(grad) ? own : source.lookupSymbol<mlir::func::FuncOp>(grad);
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

//===----------------------------------------------------------------------===//
// One result
//===----------------------------------------------------------------------===//

namespace {
/// The results of an entry of the reference on some arguments, in float64.
struct Expectation {
  std::string entry;
  Tensors arguments, want;
  std::vector<Tensors> moved; ///< `want` where each op rounds at random, once a result asked for it
};

class Verifier {
public:
  Verifier(Compiler &compiler, mlir::ModuleOp source, const mhcrt_model *model, const DriverOptions &options)
      : compiler(compiler), source(source), model(model), options(options), grad(options.compile.grad) {}

  llvm::Expected<bool> run();

private:
  /// False where a result is not verified.
  llvm::Expected<bool> verifyEntry(int32_t entry);
  llvm::Expected<bool> verifyWhole(int32_t entry);
  llvm::Expected<bool> verifyForward(int32_t entry);
  llvm::Expected<bool> verifyBackward(int32_t entry);

  llvm::Expected<Expectation> expectationOf(int32_t entry);
  llvm::Expected<Expectation *> jointExpectation();
  llvm::Expected<Tensors> runEntry(int32_t entry, const Tensors &arguments);
  /// Compares results of the entry, from its first one on, with those of the reference from `first` on.
  llvm::Expected<bool> report(int32_t entry, llvm::ArrayRef<mhcrt::HostTensor> got, Expectation &expected,
                              size_t first = 0);
  llvm::Expected<bool> report(StringRef name, const mhcrt::HostTensor &got, Expectation &expected, size_t index);
  llvm::Expected<double> conditionedTolerance(Expectation &expected, size_t index);

  int32_t find(const std::string &name) const {
    int32_t entry = -1;
    mhcrt_message message;
    return mhcrt_model_find_entry(model, name.c_str(), &entry, &message) == MHCRT_OK ? entry : -1;
  }
  bool isEntry(int32_t entry, StringRef suffix) const {
    return !grad.empty() && mhcrt_model_entry_name(model, entry) == grad + suffix.str();
  }

  Compiler &compiler;
  mlir::ModuleOp source;
  const mhcrt_model *model;
  const DriverOptions &options;
  const std::string grad;
  std::optional<Expectation> joint; ///< of the gradients, once a half asked for it
};
} // namespace

static llvm::ArrayRef<double> valuesOf(const mhcrt::HostTensor &want) {
  return {static_cast<const double *>(want.data()), static_cast<size_t>(want.elements())};
}

static double largestFinite(const mhcrt::HostTensor &want) {
  double largest = 0;
  for (double value : valuesOf(want))
    largest = std::isfinite(value) ? std::max(largest, std::fabs(value)) : largest;
  return largest;
}

/// A deep model makes much of little, and one that rounds to narrow types inside makes little exact: how far the result
/// moves where the arguments and each op round at random.
llvm::Expected<double> Verifier::conditionedTolerance(Expectation &expected, size_t index) {
  if (expected.moved.empty()) {
    auto leafOps = toLeafOps(compiler, source, options.compile);
    if (!leafOps)
      return leafOps.takeError();
    auto results = evaluateRounded(**leafOps, expected.entry, expected.arguments, kDraws);
    if (!results)
      return results.takeError();
    expected.moved = std::move(*results);
  }
  const double largest = largestFinite(expected.want[index]);
  return largest == 0 ? 0 : roundingNoise(expected.want, expected.moved, index) / largest;
}

static int64_t countNaN(const mhcrt::HostTensor &want) {
  return llvm::count_if(valuesOf(want), [](double value) { return std::isnan(value); });
}

llvm::Expected<bool> Verifier::report(StringRef name, const mhcrt::HostTensor &got, Expectation &expected,
                                      size_t index) {
  const mhcrt::HostTensor &want = expected.want[index];
  const double given = options.runOptions.tolerance;
  mhcrt::Tolerance allowed = mhcrt::defaultTolerance(got.dtype());
  if (given >= 0)
    allowed = {0, given};
  mhcrt::Comparison result;
  std::string error, reason;
  auto passesWith = [&](double relative) {
    return mhcrt::compare(got.get(), want.get(), {allowed.absolute, relative}, result, error) && result.pass;
  };
  if (int64_t bad = countNaN(want)) {
    llvm::outs() << name << ": not judged: the reference has " << bad << " values that are no number\n";
    return false;
  }
  if (!passesWith(allowed.relative) && given < 0 && error.empty()) {
    auto conditioned = conditionedTolerance(expected, index);
    if (!conditioned)
      return conditioned.takeError();
    if (std::isnan(*conditioned))
      reason = "; the model overflows or underflows in its types";
    if (*conditioned > allowed.relative) {
      allowed.relative = *conditioned;
      reason = ", " + std::to_string(kRoundings) + " times what rounding does";
    }
  }
  const bool passes = passesWith(std::min(allowed.relative, kMostTolerance));
  const bool isJudged = passes || !passesWith(allowed.relative);
  if (!error.empty())
    return llvm::createStringError("result '" + name.str() + "': " + error);
  if (isJudged && allowed.relative > kMostTolerance) {
    allowed.relative = passes ? kMostTolerance : allowed.relative;
    reason = passes ? "; rounding may do more" : reason;
  }
  llvm::outs() << llvm::format("%s: %s, largest error %.3g, %.3g of the largest value (tolerance %.3g%s)\n",
                               name.str().c_str(),
                               passes     ? "verified"
                               : isJudged ? "WRONG"
                                          : "not judged",
                               result.maxAbs, result.maxRel, allowed.relative, reason.c_str());
  if (!isJudged)
    llvm::outs() << llvm::format("%s: a tolerance above %.3g would pass wrong results\n", name.str().c_str(),
                                 kMostTolerance);
  if (isJudged && !passes)
    llvm::outs() << llvm::format("%s: %lld values are wrong, the first at %s: got %.9g, expected %.9g\n",
                                 name.str().c_str(), static_cast<long long>(result.bad), result.firstIndex.c_str(),
                                 result.firstGot, result.firstWant);
  return passes;
}

llvm::Expected<bool> Verifier::report(int32_t entry, llvm::ArrayRef<mhcrt::HostTensor> got, Expectation &expected,
                                      size_t first) {
  bool good = true;
  for (auto [i, result] : llvm::enumerate(got)) {
    auto verdict = report(mhcrt_model_result(model, entry, i)->name, result, expected, first + i);
    if (!verdict)
      return verdict;
    good &= *verdict;
  }
  return good;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

llvm::Expected<Expectation> Verifier::expectationOf(int32_t entry) {
  const bool isGiven = options.runOptions.givesArguments();
  std::string name = mhcrt_model_entry_name(model, entry);
  // Where a program takes roots or logarithms of its arguments, negative ones tell nothing.
  for (double least : {-1.0, 0.0}) {
    auto arguments = isGiven ? givenArguments(model, entry, options.runOptions)
                             : randomArguments(model, entry, programOf(source, name, grad), options.sizes, least);
    if (!arguments)
      return arguments.takeError();
    auto want = evaluate(compiler, source, name, *arguments, options.compile);
    if (!want)
      return want.takeError();
    if (isGiven || least == 0 || llvm::all_of(*want, [](auto &result) { return countNaN(result) == 0; }))
      return Expectation{name, std::move(*arguments), std::move(*want), {}};
    llvm::outs() << "arguments of at least 0: with others the reference is no number\n";
  }
  llvm_unreachable("the second arguments are taken as they are");
}

llvm::Expected<Tensors> Verifier::runEntry(int32_t entry, const Tensors &arguments) {
  return runOnce(model, mhcrt_model_entry_name(model, entry), arguments, options.runOptions.threads,
                 options.runOptions.repetitions);
}

llvm::Expected<bool> Verifier::verifyWhole(int32_t entry) {
  if (mhcrt_model_results(model, entry) == 0) {
    llvm::outs() << mhcrt_model_entry_name(model, entry) << ": not judged: it has no results\n";
    return false;
  }
  auto expected = expectationOf(entry);
  if (!expected)
    return expected.takeError();
  auto got = runEntry(entry, expected->arguments);
  if (!got)
    return got.takeError();
  return report(entry, *got, *expected);
}

// The halves of a gradient. What they exchange depends on what was fused, and the reference saves other values. So the
// forward half is compared in its results, and what it saves by the gradients that the backward half makes of it.

llvm::Expected<Expectation *> Verifier::jointExpectation() {
  if (!joint) {
    auto expected = expectationOf(find(grad + "_grad"));
    if (!expected)
      return expected.takeError();
    joint = std::move(*expected);
  }
  return &*joint;
}

llvm::Expected<bool> Verifier::verifyForward(int32_t entry) {
  auto expected = jointExpectation();
  if (!expected)
    return expected.takeError();
  llvm::ArrayRef<mhcrt::HostTensor> arguments = (*expected)->arguments;
  auto got = runEntry(entry, copyOf(arguments.take_front(mhcrt_model_arguments(model, entry))));
  if (!got)
    return got.takeError();
  const size_t results = (*expected)->want.size() - mhcrt_model_results(model, find(grad + "_bwd"));
  auto good = report(entry, llvm::ArrayRef(*got).take_front(results), **expected);
  if (got->size() > results)
    llvm::outs() << mhcrt_model_result(model, entry, results)->name << " and what is saved behind it: judged by "
                 << grad << "_bwd\n";
  return good;
}

llvm::Expected<bool> Verifier::verifyBackward(int32_t entry) {
  auto expected = jointExpectation();
  if (!expected)
    return expected.takeError();
  const int32_t forward = find(grad + "_fwd");
  const llvm::ArrayRef<mhcrt::HostTensor> all = (*expected)->arguments;
  const auto arguments = all.take_front(mhcrt_model_arguments(model, forward));
  auto saved = runOnce(model, mhcrt_model_entry_name(model, forward), copyOf(arguments), options.runOptions.threads);
  if (!saved)
    return saved.takeError();
  auto inputs = backwardArguments(model, grad, all, *saved);
  if (!inputs)
    return inputs.takeError();
  auto got = runEntry(entry, *inputs);
  if (!got)
    return got.takeError();
  return report(entry, *got, **expected, (*expected)->want.size() - got->size());
}

llvm::Expected<bool> Verifier::verifyEntry(int32_t entry) {
  return isEntry(entry, "_fwd")   ? verifyForward(entry)
         : isEntry(entry, "_bwd") ? verifyBackward(entry)
                                  : verifyWhole(entry);
}

llvm::Expected<bool> Verifier::run() {
  std::vector<int32_t> entries(mhcrt_model_entries(model));
  std::iota(entries.begin(), entries.end(), 0);
  std::string error;
  if (entries.size() == 1 || !options.runOptions.entry.empty() || options.runOptions.givesArguments()) {
    entries.resize(1);
    if (!mhcrt::selectEntry(model, options.runOptions, entries[0], error))
      return llvm::createStringError(error);
  }
  llvm::outs() << "compared: the program as it is compiled (--fuse="
               << kFuseNames[static_cast<int>(options.compile.fuseLevel())]
               << ") with the same in float64, unfused, on "
               << (options.runOptions.givesArguments() ? "the given" : "random") << " arguments\n";
  bool good = true;
  for (int32_t entry : entries) {
    if (entries.size() > 1 || isEntry(entry, "_bwd"))
      llvm::outs() << "entry " << mhcrt_model_entry_name(model, entry)
                   << (isEntry(entry, "_bwd") ? ", on what " + grad + "_fwd saves" : "") << "\n";
    auto verdict = verifyEntry(entry);
    if (!verdict)
      return verdict;
    good &= *verdict;
  }
  return good;
}

llvm::Expected<bool> mhc::verify(Compiler &compiler, mlir::ModuleOp source, const mhcrt_model *model,
                                 const DriverOptions &options) {
  return Verifier(compiler, source, model, options).run();
}

llvm::Error mhc::measure(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options,
                         llvm::function_ref<void(StringRef entry)> announce) {
  constexpr int kRuns = 20;
  Compiler::Module module(source.clone());
  auto model = compiler.jit(*module, options.compile);
  if (!model)
    return model.takeError();
  for (int32_t entry = 0; entry < mhcrt_model_entries((*model)->get()); ++entry) {
    const std::string name = mhcrt_model_entry_name((*model)->get(), entry);
    auto arguments = randomArguments((*model)->get(), entry, programOf(source, name, options.compile.grad),
                                     options.sizes, /*least=*/-1);
    if (!arguments)
      return arguments.takeError();
    announce(name);
    const int repetitions = options.runOptions.repetitions ? options.runOptions.repetitions : kRuns;
    auto results = runOnce((*model)->get(), name, *arguments, options.runOptions.threads, repetitions);
    if (!results)
      return results.takeError();
    std::string lost; // standard output has two buffers
    if (!mhcrt::flushStandardOutput(lost))
      return llvm::createStringError(lost);
  }
  return llvm::Error::success();
}
