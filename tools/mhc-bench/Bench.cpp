//===- Bench.cpp - Time the kernels ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"
#include "Operands.h"
#include "Probe.h"
#include "Report.h"
#include "Tail.h"
#include "Torch.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"
#include <algorithm>

using namespace mhc;
using namespace mhc::bench;
using llvm::Error;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// One measurement
//===----------------------------------------------------------------------===//

using OperandSets = std::vector<std::unique_ptr<Operands>>;

/// On a GPU, as many sets as exceed three times the largest second-level cache, so that each run finds none of its
/// operands there.
static Expected<OperandSets> makeSets(const Session &session, const Program &program) {
  constexpr double kCaches = 150e6;
  constexpr int kMostSets = 40;
  const int count =
      session.isOnGpu() ? std::clamp(static_cast<int>(kCaches / std::max(program.bytes(), 1.0)) + 1, 2, kMostSets) : 1;
  OperandSets sets;
  auto first = Operands::make(session, program);
  if (!first)
    return first.takeError();
  sets.push_back(std::move(*first));
  while (static_cast<int>(sets.size()) < count) {
    auto next = sets.front()->copy();
    if (!next)
      return next.takeError();
    sets.push_back(std::move(*next));
  }
  return sets;
}

namespace {
/// Runs of a program on its sets in turn, which a GPU replays as one graph: long enough for its clock.
struct Turns {
  OperandSets &sets;
  int rounds;

  static mhcrt_status run(void *self) {
    auto &turns = *static_cast<Turns *>(self);
    mhcrt_status status = MHCRT_OK;
    for (int round = 0; round < turns.rounds; ++round)
      for (auto &set : turns.sets)
        if (status == MHCRT_OK)
          status = set->run();
    return status;
  }
  double count() const { return static_cast<double>(rounds) * sets.size(); }
};
} // namespace

static Turns makeTurns(const Session &session, const Program &program, OperandSets &sets) {
  constexpr double kSeconds = 2e-3, kShortest = 4e-6, kFastest = 4e12; // of one replay; of one run; bytes a second
  const double expected = std::max(program.bytes() / kFastest, kShortest * program.cases.size());
  return {sets, session.isOnGpu() ? std::max(1, static_cast<int>(kSeconds / (expected * sets.size()))) : 1};
}

static std::string variantsOf(const Session &session, const Program &program) {
  std::vector<std::string> names;
  for (const Case &c : program.cases)
    if (const char *name = session.isOnGpu() ? session.runtime.chosen(session.context, c.kernel.c_str()) : nullptr)
      names.push_back(name);
  return llvm::join(names, ", ");
}

static Expected<Measurement> measure(const Session &session, const Program &program, int rounds, void *copyFrom,
                                     void *copyTo, int64_t copyBytes) {
  const Runtime &runtime = session.runtime;
  auto sets = makeSets(session, program);
  if (!sets)
    return sets.takeError();
  Turns turns = makeTurns(session, program, *sets);
  Measurement best{program};
  for (int round = 0; round < rounds; ++round) {
    const double seconds = runtime.measureCall(session.context, Turns::run, &turns);
    if (seconds < 0)
      return session.error();
    best.seconds = std::min(best.seconds, seconds / turns.count());
    best.copyBytesPerSecond =
        std::max(best.copyBytesPerSecond, runtime.measureCopy(session.context, copyFrom, copyTo, copyBytes));
    best.multiplyAddsPerSecond = std::max(best.multiplyAddsPerSecond, runtime.measureMultiplyAdds(session.context));
  }
  if (Error error = sets->front()->checkFinite())
    return error;
  best.variant = variantsOf(session, program);
  return best;
}

//===----------------------------------------------------------------------===//
// All programs
//===----------------------------------------------------------------------===//

/// Kernels that know no activations or no channels are timed once.
static bool isRepeat(const Options &options, const Program &program, bool isFirstType) {
  const KernelInfo &info = *program.cases.front().info;
  const Sizes sizes = program.sizes();
  const bool isFirstWidth = sizes.C == llvm::find_if(options.shapes, [&](Sizes s) { return s.M == sizes.M; })->C;
  return (!hasActivations(info) && !isFirstType) || (!hasChannels(info) && !isFirstWidth);
}

static std::vector<Program> makeAllPrograms(const Options &options) {
  std::vector<Program> all;
  for (Sizes sizes : options.shapes)
    for (int32_t dtype : options.dtypes)
      for (Program &program : makePrograms(sizes, dtype, options.kernels))
        if (!isRepeat(options, program, dtype == options.dtypes.front()))
          all.push_back(std::move(program));
  llvm::stable_sort(all, [](const Program &a, const Program &b) { return a.name < b.name; });
  return all;
}

/// Compares the last tokens of every program; prints a line for each.
static Error checkTails(const Options &options, const Session &session, llvm::ArrayRef<Program> programs,
                        llvm::raw_ostream &os) {
  int failures = 0, rows = 0;
  for (const Program &program : programs) {
    const Sizes sizes = program.sizes();
    if (!hasTail(program) || sizes.M <= options.tail)
      continue;
    ++rows;
    Error error = checkTail(session, program, options.tail);
    failures += error ? 1 : 0;
    os << llvm::formatv("{0,-34}{1,-6}{2,8}x{3,-6} {4}{5}\n", program.name, mhcrt_dtype_name(program.dtype()), sizes.M,
                        sizes.C, error ? "FAIL " + llvm::toString(std::move(error)) : "same bits",
                        session.isOnGpu() ? ", " + variantsOf(session, program) : "");
    os.flush();
  }
  if (rows == 0)
    return llvm::createStringError("tail is " + std::to_string(options.tail) +
                                   "; needed fewer than the tokens of a row");
  return failures == 0
             ? Error::success()
             : llvm::createStringError(std::to_string(failures) + " of " + std::to_string(rows) + " rows failed");
}

static Error run(const Options &options, const Session &session, llvm::raw_ostream &os) {
  std::vector<std::string> names;
  for (const Program &program : makePrograms(options.shapes.front(), options.dtypes.front(), /*kernels=*/{}))
    names.push_back(program.name);
  if (Error error = checkNames(options.kernels, names))
    return error;
  std::vector<Program> programs = makeAllPrograms(options);
  if (options.tail > 0)
    return checkTails(options, session, programs, os);
  const int64_t copyBytes = session.isOnGpu() ? 1 << 30 : 256 << 20;
  Buffer from(session, copyBytes), to(session, copyBytes);
  if (!from.get() || !to.get())
    return session.error();
  std::vector<char> zeros(copyBytes); // memory that was never written may be one page, many times over
  session.runtime.copy(session.context, from.get(), zeros.data(), zeros.size());
  if (session.runtime.synchronize(session.context) != MHCRT_OK)
    return session.error();
  std::vector<TorchRow> torch;
  if (options.comparesTorch) {
    auto rows = timeTorch(options);
    if (!rows)
      return rows.takeError();
    torch = std::move(*rows);
    llvm::erase_if(programs, [&](const Program &program) {
      return llvm::none_of(torch, [&](const TorchRow &row) { return row.kernel == program.name; });
    });
  }
  Report report(options, session, std::move(torch), os);
  for (const Program &program : programs) {
    Expected<Measurement> measurement = measure(session, program, options.rounds, from.get(), to.get(), copyBytes);
    if (measurement)
      report.add(std::move(*measurement));
    else // a shape that the kernel does not take, such as n! permutations of many streams
      llvm::WithColor::warning(llvm::errs(), "mhc-bench") << llvm::toString(measurement.takeError()) << "\n";
  }
  if (report.isEmpty())
    return llvm::createStringError("no kernel could be timed");
  report.finish();
  return options.probe ? compareBits(session, os) : Error::success();
}

/// Why kernels that have a fast variant took a slower one.
static void warnOfFallbacks(const Session &session) {
  for (int32_t i = 0; i < session.runtime.choices(session.context); ++i) {
    mhcrt_cuda_choice choice;
    session.runtime.choiceAt(session.context, i, &choice);
    if (choice.fallback[0])
      llvm::WithColor::warning(llvm::errs(), "mhc-bench")
          << llvm::formatv("'{0}' takes its variant '{1}'. {2}\n", choice.op, choice.variant, choice.fallback);
  }
}

static std::string whyNoContext(const Runtime &runtime, const Options &options) {
  mhcrt_cuda_machine machine = {};
  if (runtime.describe)
    runtime.describe(&machine);
  return "no context" + (*machine.problem ? std::string(": ") + machine.problem
                                          : " of " + std::to_string(options.threads) + " threads");
}

Error mhc::bench::run(const Options &options, llvm::raw_ostream &os) {
  Expected<Runtime> runtime = Runtime::open(options.backend);
  if (!runtime)
    return runtime.takeError();
  Session session{*runtime};
  if (runtime->createContext(options.threads, &session.context) != MHCRT_OK)
    return llvm::createStringError(whyNoContext(*runtime, options));
  if (!options.amx)
    runtime->setAmx(session.context, 0);
  if (options.strict)
    runtime->setStrict(session.context, 1);
  if (options.probe)
    printMachine(session, os);
  Error error = session.pin(options.pins);
  if (!error)
    error = options.bits ? printBits(session, options.kernels, os) : ::run(options, session, os);
  if (session.isOnGpu())
    warnOfFallbacks(session);
  runtime->destroyContext(session.context);
  return error;
}
