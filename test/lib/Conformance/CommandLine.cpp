//===- CommandLine.cpp - Command line of mhc-conformance ------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Conformance/Runner.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>

namespace mhc::conformance {

namespace {

/// One thing that the program can do.
struct Command {
  const char *name;
  std::set<std::string> options;
  const char *help; ///< lines without indentation
  int (*run)(const Options &options, const RunFunction &run);
};

} // namespace

//===----------------------------------------------------------------------===//
// Commands. Each prints its totals in one line and returns the exit status.
//===----------------------------------------------------------------------===//

static int summarise(const Counts &counts, const Options &options) {
  std::cout << counts.passed << (options.emit.empty() ? " passed, " : " written, ") << counts.failed << " failed\n";
  return counts.failed ? 1 : 0;
}

static int golden(const Options &options, const RunFunction &run) {
  Counts counts = runGolden(options, run, std::cout);
  std::cout << counts.passed << (options.emit.empty() ? " passed, " : " written, ") << counts.failed << " failed, "
            << counts.skipped << " skipped\n";
  return counts.failed ? 1 : 0;
}

static int random(const Options &options, const RunFunction &run) {
  return summarise(runRandom(options, run, std::cout), options);
}

static int randomGradients(const Options &options, const RunFunction &) {
  return summarise(runGradients(options, std::cout), options);
}

static int randomModules(const Options &options, const RunFunction &) {
  ModuleCounts counts = runModules(options, std::cout);
  std::cout << counts.passed << " passed, " << counts.failed << " failed; mHC ops found in " << counts.raised << "; "
            << counts.unjudged << " of " << counts.results << " results not judged\n";
  return counts.failed ? 1 : 0;
}

static int randomModels(const Options &options, const RunFunction &) {
  ModelCounts counts = runModels(options, std::cout);
  std::cout << counts.passed << " passed, " << counts.failed << " failed; " << counts.sublayers << " sublayers, "
            << counts.boundaries << " boundaries in one kernel forward, " << counts.backward << " backward; "
            << counts.unjudged << " of " << counts.results << " results not judged\n";
  return counts.failed ? 1 : 0;
}

static int randomSizes(const Options &options, const RunFunction &) {
  SizeCounts counts = runSizes(options, std::cout);
  std::cout << counts.passed << " passed, " << counts.failed << " failed; " << counts.wrongCalls << " wrong calls; "
            << counts.lists << " lists differ from those without fusion\n";
  return counts.failed ? 1 : 0;
}

static int mutate(const Options &options, const RunFunction &) {
  MutationCounts counts = runMutants(options, std::cout);
  std::cout << counts.programs << " programs, " << counts.raised << " raised, " << counts.wrong << " wrong\n";
  return counts.wrong ? 1 : 0;
}

/// One in so many programs of one site may be told twice: where nothing tells that parts are of one site, such as an
/// iteration of parameters beside gates. One in so many may be told not at all: where too little is left to look like
/// a site.
static constexpr uint64_t kToldOtherwise = 500;

static int nearMisses(const Options &options, const RunFunction &) {
  NearMissCounts counts = runNearMisses(options, std::cout);
  NearMissCounts::Row total;
  uint64_t least = counts.rows.front().programs;
  for (const NearMissCounts::Row &row : counts.rows) {
    total.programs += row.programs;
    total.raised += row.raised;
    total.wrong += row.wrong;
    total.rejected += row.rejected;
    total.repeated += row.repeated;
    total.silent += row.silent;
    least = std::min(least, row.programs);
  }
  std::cout << total.programs << " near misses of " << counts.rows.size() << " kinds, at least " << least
            << " of each, " << total.raised << " raised, " << total.wrong << " wrong, " << total.rejected
            << " rejected by the numeric check, " << total.repeated << " with a second remark, " << total.silent
            << " without one\n";
  const uint64_t most = total.programs / kToldOtherwise;
  return total.wrong || total.rejected || total.repeated > most || total.silent > most ? 1 : 0;
}

static int expressed(const Options &options, const RunFunction &) {
  ExpressedCounts counts = runExpressed(options, std::cout);
  std::cout << counts.programs << " programs, " << counts.right << " with all attributes as written\n";
  return counts.right == counts.programs ? 0 : 1;
}

static int spellings(const Options &options, const RunFunction &) {
  SpellingCounts counts = runSpellings(options, std::cout);
  std::cout << counts.programs << " spellings, " << counts.raised << " raised, " << counts.covered << " of "
            << counts.words << " words covered\n";
  return counts.raised == counts.programs && counts.covered == counts.words ? 0 : 1;
}

static const std::vector<Command> &commands() {
  static const std::vector<Command> table = {
      {"golden",
       {"--backend", "--fuse", "--gdn-impl", "--what", "--emit"},
       "write every golden case below the folders DIR as unfused IR, compile and\n"
       "run it, and compare the outputs with the golden ones; those of gated delta\n"
       "also as the op. This is what a call without COMMAND does",
       golden},
      {"random",
       {"--count", "--seed", "--emit"},
       "run random programs at every level of fusion, against the reference",
       random},
      {"random-gradients",
       {"--count", "--seed"},
       "differentiate random graphs, against finite differences in float64",
       randomGradients},
      {"random-modules",
       {"--count", "--seed", "--emit"},
       "compile random graphs with mHC chains in them at every level of fusion,\n"
       "against the reference",
       randomModules},
      {"random-models",
       {"--count", "--seed"},
       "compile random models of 1 to 12 sublayers and their gradients without fusion\n"
       "and across sublayers, against the reference",
       randomModels},
      {"random-sizes",
       {"--count", "--seed"},
       "compile random programs of open sizes and their gradients at every level of\n"
       "fusion, and call them with each size of each argument changed",
       randomSizes},
      {"mutate",
       {"--count", "--seed"},
       "raise and fuse random programs with random changes: what they compute must\n"
       "stay",
       mutate},
      {"near-misses",
       {"--count", "--seed"},
       "the same for programs that miss the chain in one of the ways of a table; one\n"
       "remark should tell what a program of one site lacks; with the numeric check\n"
       "once more, for its number in the totals",
       nearMisses},
      {"expressed",
       {"--count", "--seed"},
       "raise random programs: orientation, order, epsilons and the like must be\n"
       "found as written",
       expressed},
      {"spellings",
       {"--count", "--seed"},
       "raise and fuse chains in random spellings, as leaf ops and as linalg: the\n"
       "ops of the plain spelling must be found, and every word must be needed",
       spellings},
  };
  return table;
}

static const char *const kOptions = R"(
options:
  --backend=cpu|cuda|reference     kernels, or the float64 reference (default: cpu); cuda is sm_90a, with --emit
  --fuse=none|chain|layer|model    how much is fused (default: layer)
  --gdn-impl=ref|streamed|fused    kernels of gated delta front ends (default: fused)
  --what=forward|gradients|all     what is compared (default: all)
  --emit=DIR                       compile, and write DIR for mhc-run --check on another machine instead of running
  --count=N                        how many random programs (default: 100)
  --seed=N                         seed of the first one (default: 0)
)";

static void printUsage() {
  std::cout
      << "usage: mhc-conformance COMMAND [options] [DIR...]\n"
         "       mhc-conformance --what=all [options] DIR...\n\n"
         "Compares what compiled programs compute with golden data, or with the float64 reference. Each command ends\n"
         "with a line of its totals; the exit status is 1 when something is wrong.\n\ncommands:\n";
  for (const Command &command : commands()) {
    std::string text = command.help, name = command.name;
    for (size_t end = text.find('\n'); end != text.npos; end = text.find('\n', end + 1))
      text.insert(end + 1, std::string(20, ' '));
    std::cout << "  " << name << std::string(18 - name.size(), ' ') << text << "\n" << std::string(19, ' ');
    for (const std::string &option : command.options)
      std::cout << " [" << option << "]";
    std::cout << "\n";
  }
  std::cout << kOptions;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Sets `field` to the value that belongs to `text`. What was needed where none does, else "".
template <typename T>
static std::string choose(const std::string &text, T &field,
                          std::initializer_list<std::pair<const char *, T>> choices) {
  std::string names;
  for (const auto &[name, value] : choices) {
    if (text == name) {
      field = value;
      return "";
    }
    names += std::string(names.empty() ? "'" : ", '") + name + "'";
  }
  return "one of " + names;
}

static std::string number(const std::string &text, uint64_t least, uint64_t &value) {
  constexpr size_t kMostDigits = 18;
  const bool isNumber =
      !text.empty() && text.size() <= kMostDigits && text.find_first_not_of("0123456789") == std::string::npos;
  value = isNumber ? std::stoull(text) : 0;
  return isNumber && value >= least ? "" : "a number of at least " + std::to_string(least);
}

static std::string chooseWhat(const std::string &value, Options &options) {
  options.forward = value == "forward" || value == "all";
  options.gradients = value == "gradients" || value == "all";
  return options.forward || options.gradients ? "" : "one of 'forward', 'gradients', 'all'";
}

/// Sets one option of some command. What was needed where the value is not it, "?" for an unknown option, else "".
static std::string setOption(const std::string &name, const std::string &value, Options &options) {
  if (name == "--backend")
    return choose(value, options.backend,
                  {{"cpu", Backend::Cpu}, {"cuda", Backend::Cuda}, {"reference", Backend::Reference}});
  if (name == "--fuse")
    return choose(value, options.fuse,
                  {{"none", FuseLevel::none},
                   {"chain", FuseLevel::chain},
                   {"layer", FuseLevel::layer},
                   {"model", FuseLevel::model}});
  if (name == "--gdn-impl")
    return choose(
        value, options.gdnImpl,
        {{"ref", std::string("ref")}, {"streamed", std::string("streamed")}, {"fused", std::string("fused")}});
  if (name == "--what")
    return chooseWhat(value, options);
  if (name == "--emit") {
    options.emit = value;
    return value.empty() ? "a folder" : "";
  }
  if (name == "--count")
    return number(value, 1, options.count);
  return name == "--seed" ? number(value, 0, options.seed) : "?";
}

/// Takes one word behind the command; returns an error or "".
static std::string takeWord(const std::string &word, const Command &command, Options &options,
                            std::set<std::string> &given) {
  if (word.empty() || word[0] != '-') {
    options.roots.push_back(word);
    return "";
  }
  const size_t equals = word.find('=');
  const std::string name = word.substr(0, equals), value = equals == word.npos ? "" : word.substr(equals + 1);
  const std::string needed = setOption(name, value, options);
  if (needed == "?")
    return "unknown option '" + name + "'; see --help";
  if (!command.options.count(name))
    return "'" + name + "' is no option of '" + command.name + "'; see --help";
  if (!needed.empty())
    return "'" + name + "' is '" + value + "'; needed " + needed;
  return given.insert(name).second ? "" : "'" + name + "' is given twice";
}

/// Checks the options together; returns an error or "".
static std::string check(const Command &command, const Options &options) {
  const bool isGolden = command.run == golden;
  if (isGolden && options.roots.empty())
    return "'golden' needs folders of golden cases";
  if (!isGolden && !options.roots.empty())
    return "'" + std::string(command.name) + "' takes no folder, and '" + options.roots.front() + "' is given";
  if (options.emit.empty() ? options.backend == Backend::Cuda : options.backend == Backend::Reference)
    return "'--backend=cuda' needs '--emit', and '--backend=reference' excludes it";
  for (const std::string &root : options.roots)
    if (findCases(root).empty())
      return "no manifest.json below '" + root + "'";
  return "";
}

static int fail(const std::string &error) {
  std::cerr << "mhc-conformance: error: " << error << "\n";
  return 2;
}

int conformanceMain(int argc, char **argv, const RunFunction &run) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (std::find(words.begin(), words.end(), "--help") != words.end()) {
    printUsage();
    return 0;
  }
  if (words.empty())
    return fail("give a command; see --help");
  const bool isNamed = words.front().empty() || words.front()[0] != '-'; // else golden, which is the first one
  auto command = std::find_if(commands().begin(), commands().end(),
                              [&](const Command &one) { return !isNamed || words.front() == one.name; });
  if (command == commands().end())
    return fail("unknown command '" + words.front() + "'; see --help");
  Options options;
  std::set<std::string> given;
  for (size_t i = isNamed; i < words.size(); ++i)
    if (const std::string error = takeWord(words[i], *command, options, given); !error.empty())
      return fail(error);
  if (const std::string error = check(*command, options); !error.empty())
    return fail(error);
  return command->run(options, run);
}

} // namespace mhc::conformance
