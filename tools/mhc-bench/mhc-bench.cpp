//===- mhc-bench.cpp - Time the kernels of the runtime ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "mhc/Support/Output.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

namespace cl = llvm::cl;
using namespace mhc::bench;

namespace {
/// Made after the options of libLLVM are gone: one of them is called 'threads', too. Gone is the category of options
/// without one as well, so that the help would not list them.
struct CommandLine {
  cl::OptionCategory category{"mhc-bench options"};
  cl::opt<int64_t> tokens{"M", cl::desc("Tokens"), cl::init(4096), cl::cat(category)};
  cl::opt<int64_t> streams{"n", cl::desc("Residual streams, 1 to 16"), cl::init(4), cl::cat(category)};
  cl::list<int64_t> channels{"C", cl::desc("Channels of one stream (default: 1280,2560,4096,7168)"), cl::CommaSeparated,
                             cl::cat(category)};
  cl::list<std::string> shapes{"shapes",
                               cl::desc("Tokens and channels, such as 8192x4096,128x4096, instead of M and C "
                                        "(default on a GPU: thirteen from decoding to long contexts)"),
                               cl::CommaSeparated, cl::cat(category)};
  cl::list<std::string> kernels{"kernel", cl::CommaSeparated,
                                cl::desc("Only these rows, such as 'pre,post' or 'sublayer forward'"),
                                cl::cat(category)};
  cl::list<mhcrt_dtype> dtypes{
      "dtype", cl::desc("Types of the activations (default: f32,bf16; on a GPU bf16)"), cl::CommaSeparated,
      cl::values(clEnumValN(MHCRT_F32, "f32", "32 bits"), clEnumValN(MHCRT_BF16, "bf16", "16 bits")),
      cl::cat(category)};
  cl::opt<int> threads{"threads", cl::desc("Threads; 0 is one per core"), cl::init(0), cl::cat(category)};
  cl::opt<int> rounds{"rounds", cl::desc("Measurements per row, of which the best counts (default: 15; on a GPU 2)"),
                      cl::init(15), cl::cat(category)};
  cl::opt<bool> portable{"portable", cl::desc("Vector instructions only, where kernels have a variant for AMX"),
                         cl::cat(category)};
  cl::opt<bool> json{"json", cl::desc("Print one JSON array"), cl::cat(category)};
  cl::opt<std::string> backend{"backend", cl::desc("Where kernels run: cpu or cuda"), cl::init("cpu"),
                               cl::cat(category)};
  cl::list<std::string> pins{"pin", cl::desc("On a GPU: time this variant of a kernel, such as post=generic"),
                             cl::cat(category)};
  cl::opt<bool> strict{"strict", cl::desc("On a GPU: a call that no fast variant of its kernel takes is an error"),
                       cl::cat(category)};
  cl::opt<std::string> compare{"compare",
                               cl::desc("With 'torch', time PyTorch on the rows that it has, eager and "
                                        "compiled; needs python3 that imports torch"),
                               cl::cat(category)};
  cl::opt<int64_t> check{"check",
                         cl::desc("Instead of timing, compare this many random calls of each kernel with the "
                                  "decomposition of its op in float64"),
                         cl::cat(category)};
  cl::opt<int64_t> tail{"tail",
                        cl::desc("Instead of timing, compare the last tokens of each row, as many as this, with a "
                                 "call on them alone: bit by bit"),
                        cl::cat(category)};
  cl::opt<bool> probe{"probe",
                      cl::desc("Say what this machine is, time the kernels around a sublayer, or those named, and "
                               "compare the bits of results with those that are stored"),
                      cl::cat(category)};
  cl::opt<bool> bits{"bits", cl::desc("Instead of timing, print the bits of results as they are stored"),
                     cl::cat(category)};
  cl::opt<uint64_t> seed{"seed", cl::desc("Seed of the first random call; the next ones count up"), cl::init(1),
                         cl::cat(category)};

  llvm::Expected<Options> options() {
    Options options;
    const bool isOnGpu = backend == "cuda";
    if (llvm::Error error = checkNumbers())
      return error;
    if (llvm::Error error = checkNeeds())
      return error;
    if (llvm::Error error = addShapes(options, isOnGpu))
      return error;
    options.dtypes = {dtypes.begin(), dtypes.end()};
    if (options.dtypes.empty())
      options.dtypes =
          isOnGpu || probe ? std::vector<int32_t>{MHCRT_BF16} : std::vector<int32_t>{MHCRT_F32, MHCRT_BF16};
    options.kernels = {kernels.begin(), kernels.end()};
    if (probe && options.kernels.empty())
      options.kernels = {"pre", "post", "post_bwd", "pre_bwd"};
    options.threads = threads;
    options.rounds = isOnGpu && !rounds.getNumOccurrences() ? 2 : rounds;
    options.json = json;
    options.amx = !portable;
    options.backend = backend;
    options.pins = {pins.begin(), pins.end()};
    options.strict = strict;
    if (llvm::is_contained(kernels, ""))
      return llvm::createStringError("kernel is ''; needed a name");
    if (compare.getNumOccurrences() && compare != "torch")
      return llvm::createStringError("compare is '" + compare + "'; needed 'torch'");
    options.comparesTorch = !compare.empty();
    options.tail = tail;
    options.check = check;
    options.seed = seed;
    options.streams = streams.getNumOccurrences() ? int64_t(streams) : 0;
    options.probe = probe;
    options.bits = bits;
    return options;
  }

private:
  llvm::Error checkNumbers() const {
    struct Number {
      const char *name;
      const cl::Option &option;
      int64_t value, least, most;
    };
    const Number numbers[] = {{"threads", threads, threads, 0, 1024}, {"rounds", rounds, rounds, 1, 1000000},
                              {"check", check, check, 1, 1000000000}, {"tail", tail, tail, 1, kMostSize},
                              {"n", streams, streams, 1, 16},         {"M", tokens, tokens, 1, kMostSize}};
    for (const Number &number : numbers)
      if (number.option.getNumOccurrences() && (number.value < number.least || number.value > number.most))
        return outOfRange(number.name, number.value, number.least, number.most);
    for (int64_t C : channels)
      if (C < 1 || C > kMostSize)
        return outOfRange("C", C, 1, kMostSize);
    return llvm::Error::success();
  }

  static llvm::Error outOfRange(llvm::StringRef name, int64_t value, int64_t least, int64_t most) {
    return llvm::createStringError(name + " is " + llvm::Twine(value) + "; needed " + llvm::Twine(least) + " to " +
                                   llvm::Twine(most));
  }

  /// Options that would do nothing with or without another one are errors.
  llvm::Error checkNeeds() const {
    const bool checks = check.getNumOccurrences(), comparesTails = tail.getNumOccurrences();
    if (checks && comparesTails)
      return llvm::createStringError("'--check' and '--tail' exclude each other");
    if ((probe || bits) && (checks || comparesTails || json || (probe && bits)))
      return llvm::createStringError("'--probe', '--bits', '--check', '--tail' and '--json' exclude each other");
    if (checks && strict)
      return llvm::createStringError("'--check' and '--strict' exclude each other");
    if ((!pins.empty() || strict) && backend != "cuda")
      return llvm::createStringError("'--pin' and '--strict' need '--backend=cuda'");
    if (seed.getNumOccurrences() && !checks)
      return llvm::createStringError("'--seed' needs '--check'");
    if (shapes.getNumOccurrences() && (tokens.getNumOccurrences() || channels.getNumOccurrences()))
      return llvm::createStringError("'--shapes' excludes '--M' and '--C'");
    const cl::Option *const ofTimes[] = {&rounds, &json, &compare};
    for (const cl::Option *option : ofTimes)
      if (option->getNumOccurrences() && (checks || comparesTails))
        return llvm::createStringError("'--" + option->ArgStr + "' is of times, which '" +
                                       (checks ? "--check" : "--tail") + "' does not take");
    return llvm::Error::success();
  }

  llvm::Error addShapes(Options &options, bool isOnGpu) {
    for (llvm::StringRef text : shapes) {
      Sizes sizes = {0, 0, streams};
      auto [first, second] = text.split('x');
      if (first.getAsInteger(10, sizes.M) || second.getAsInteger(10, sizes.C) || sizes.M < 1 || sizes.C < 1 ||
          sizes.M > kMostSize || sizes.C > kMostSize)
        return llvm::createStringError("shape is '" + text + "'; needed tokens and channels, such as 8192x4096");
      options.shapes.push_back(sizes);
    }
    const bool hasSizes = tokens.getNumOccurrences() || channels.getNumOccurrences();
    if (options.shapes.empty() && probe && !hasSizes)
      options.shapes.push_back(isOnGpu ? Sizes{8192, 4096, streams} : Sizes{1024, 1280, streams});
    if (options.shapes.empty() && isOnGpu && !hasSizes)
      for (Sizes sizes : kGpuShapes)
        options.shapes.push_back({sizes.M, sizes.C, streams});
    if (!options.shapes.empty())
      return llvm::Error::success();
    const std::vector<int64_t> widths =
        channels.empty() ? std::vector<int64_t>{1280, 2560, 4096, 7168} : std::vector<int64_t>(channels);
    for (int64_t C : widths)
      options.shapes.push_back({tokens, C, streams});
    return llvm::Error::success();
  }

  static constexpr int64_t kMostSize = int64_t(1) << 40;

  /// Decoding, training of small and large models, long contexts, and many tokens of few channels.
  static constexpr Sizes kGpuShapes[] = {{128, 4096},   {1024, 4096},  {4096, 1280}, {4096, 4096}, {8192, 1280},
                                         {8192, 2560},  {8192, 4096},  {8192, 5120}, {8192, 7168}, {16384, 4096},
                                         {32768, 4096}, {32768, 7168}, {65536, 768}};
};
} // namespace

static llvm::Error runTool(CommandLine &line) {
  llvm::Expected<Options> options = line.options();
  if (!options)
    return options.takeError();
  return options->check > 0 ? check(*options, llvm::outs()) : run(*options, llvm::outs());
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ResetCommandLineParser();
  CommandLine line;
  cl::HideUnrelatedOptions(line.category);
  cl::ParseCommandLineOptions(argc, argv, "times every kernel of the runtime against the speed of this machine\n");
  llvm::Error error = runTool(line);
  if (!error)
    return mhc::finishOutput("mhc-bench", 0);
  llvm::WithColor::error(llvm::errs(), "mhc-bench") << llvm::toString(std::move(error)) << "\n";
  return mhc::finishOutput("mhc-bench", 1);
}
