//===- Check.cpp - Random calls of the kernels against their meaning ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "Probe.h"
#include "RandomCall.h"
#include "llvm/Support/FormatVariadic.h"
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

using namespace mhc;
using namespace mhc::bench;
using llvm::formatv;

namespace {
/// All calls of one kernel.
struct Tally {
  int64_t calls = 0, failures = 0;
  double worst = 0;
  std::map<std::string, int64_t> variants;
};

static std::string nameOf(const KernelInfo *info) { return info->opName.drop_front(strlen("mhc.")).str(); }

/// Calls of all kernels, taken one after the other by several threads.
class Checks {
public:
  Checks(const Options &options, const Runtime &runtime, llvm::raw_ostream &os)
      : options(options), runtime(runtime), os(os) {
    for (const KernelInfo *info : allKernelInfos())
      if (options.kernels.empty() || llvm::is_contained(options.kernels, nameOf(info)))
        kernels.push_back(info);
    tallies.resize(kernels.size());
  }

  llvm::Error checkReads() const;
  void run();
  /// The number of failures.
  int64_t print() const;

private:
  void work();
  void note(size_t kernel, uint64_t seed, const Verdict &verdict);

  const Options &options;
  const Runtime &runtime;
  llvm::raw_ostream &os;
  std::vector<const KernelInfo *> kernels;
  std::vector<Tally> tallies;
  std::atomic<int64_t> next{0};
  std::mutex mutex;
};
} // namespace

void Checks::note(size_t kernel, uint64_t seed, const Verdict &verdict) {
  const std::lock_guard lock(mutex);
  Tally &tally = tallies[kernel];
  ++tally.calls;
  ++tally.variants[verdict.variant];
  tally.worst = std::max(tally.worst, verdict.worst);
  if (verdict.problem.empty())
    return;
  constexpr int kShown = 5;
  if (++tally.failures <= kShown)
    os << formatv("FAIL --kernel={0} --check=1 --seed={1}{2} {3}: {4}\n", nameOf(kernels[kernel]), seed,
                  options.streams ? " -n " + std::to_string(options.streams) : "", verdict.variant, verdict.problem);
  os.flush();
}

llvm::Error Checks::checkReads() const {
  Session session{runtime};
  if (runtime.createContext(1, &session.context) != MHCRT_OK)
    return llvm::Error::success(); // each call says so
  llvm::Error error = session.pin(options.pins);
  if (!error)
    error = bench::checkReads(session, kernels, os);
  runtime.destroyContext(session.context);
  return error;
}

void Checks::work() {
  RandomCaller caller(runtime, options);
  const int64_t all = options.check * static_cast<int64_t>(kernels.size());
  for (int64_t job = next++; job < all; job = next++) {
    const size_t kernel = job / options.check;
    const uint64_t seed = options.seed + job % options.check;
    note(kernel, seed,
         caller.problem().empty() ? caller.call(*kernels[kernel], seed) : Verdict{"", 0, caller.problem()});
  }
}

void Checks::run() {
  const int count = options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([this] { work(); });
  for (std::thread &thread : threads)
    thread.join();
}

int64_t Checks::print() const {
  int64_t failures = 0;
  os << formatv("{0,-26}{1,8}{2,8}{3,12}  {4}\n", "kernel", "calls", "failed", "of allowed", "variants");
  for (auto [info, tally] : llvm::zip(kernels, tallies)) {
    os << formatv("{0,-26}{1,8}{2,8}{3,12:f3} ", info->opName.drop_front(strlen("mhc.")), tally.calls, tally.failures,
                  tally.worst);
    for (auto &[variant, count] : tally.variants)
      os << (variant.empty() ? "" : formatv(" {0} {1}", variant, count).str());
    os << "\n";
    failures += tally.failures;
  }
  return failures;
}

llvm::Error mhc::bench::check(const Options &options, llvm::raw_ostream &os) {
  llvm::Expected<Runtime> runtime = Runtime::open(options.backend);
  if (!runtime)
    return runtime.takeError();
  if (llvm::Error error = checkNames(options.kernels, llvm::map_to_vector(allKernelInfos(), nameOf)))
    return error;
  Checks checks(options, *runtime, os);
  const auto start = std::chrono::steady_clock::now();
  if (llvm::Error error = checks.checkReads())
    return error;
  checks.run();
  const int64_t failures = checks.print();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  os << formatv("{0:f1} s, seeds from {1}\n", seconds.count(), options.seed);
  return failures == 0 ? llvm::Error::success()
                       : llvm::createStringError("of the random calls, " + std::to_string(failures) + " failed");
}
