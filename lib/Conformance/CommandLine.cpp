//===- CommandLine.cpp - Command line of mhc-conformance ------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "mhc/Conformance/Runner.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>

namespace mhc::conformance {

static const char *const kUsage =
    R"(usage: mhc-conformance [options] DIR...

Writes every golden case below the folders as unfused IR, compiles and runs it, and compares the outputs with the
golden ones. Ends with a line "N passed, N failed"; the exit status is 1 when a case failed.

  --backend=cpu|cuda|reference     kernels, or the float64 reference (default: cpu); cuda is sm_90a, with --emit
  --fuse=none|chain|layer          how much is fused (default: layer)
  --what=forward|gradients|all     what is compared (default: all)
  --emit=DIR                       compile, and write DIR for mhc-run --check on another machine instead of running
  --random=N                       run N random programs against the reference instead of golden cases
  --mutate=N                       raise and fuse N random programs with random changes: their meaning must stay.
                                   Ends with a line "N programs, K raised, W wrong"
  --near-misses=N                  the same for N programs that miss the chain in one of the ways of a table. Ends with
                                   a line "N near misses of K kinds, at least L of each, R raised, W wrong, P rejected by the
                                   proof", which is on for the last number only
  --expressed=N                    raise N random programs: orientation, order, epsilons and the like must be found as
                                   written. Ends with a line "N programs, K with all attributes as written"
  --spellings=N                    raise and fuse N chains in random spellings, as leaf ops and as linalg: the ops of the
                                   plain spelling must be found. Ends with a line "N spellings, K raised, W of V words
                                   covered"; the exit status is 1 when a spelling was missed or a word not covered
  --random-gradients=N             differentiate N random graphs and compare with finite differences in float64
  --random-modules=N               compile N random graphs with mHC chains in them at every level of fusion, and compare
                                   them with the reference. Ends with a line "N passed, N failed; ..."
  --random-sizes=N                 compile N random programs of open sizes and their gradients at every level of fusion,
                                   and call them with each size of each argument changed. Ends with a line "N passed, N
                                   failed; W wrong calls; L lists differ from those without fusion"
  --seed=N                         seed of the first random program (default: 0)
)";

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

/// The number of random programs that an option asks for, or null.
static uint64_t *countOf(const std::string &name, Options &options) {
  return name == "--random"             ? &options.random
         : name == "--mutate"           ? &options.mutate
         : name == "--near-misses"      ? &options.nearMisses
         : name == "--expressed"        ? &options.expressed
         : name == "--spellings"        ? &options.spellings
         : name == "--random-gradients" ? &options.randomGradients
         : name == "--random-modules"   ? &options.randomModules
         : name == "--random-sizes"     ? &options.randomSizes
                                        : nullptr;
}

/// Sets one option. What was needed where the value is not it, "?" for an unknown option, else "".
static std::string setOption(const std::string &name, const std::string &value, Options &options) {
  if (name == "--backend")
    return choose(value, options.backend,
                  {{"cpu", Backend::Cpu}, {"cuda", Backend::Cuda}, {"reference", Backend::Reference}});
  if (name == "--fuse")
    return choose(value, options.fuse,
                  {{"none", FuseLevel::none}, {"chain", FuseLevel::chain}, {"layer", FuseLevel::layer}});
  if (name == "--what")
    return chooseWhat(value, options);
  if (name == "--emit") {
    options.emit = value;
    return value.empty() ? "a folder" : "";
  }
  if (uint64_t *const count = countOf(name, options))
    return number(value, 1, *count);
  return name == "--seed" ? number(value, 0, options.seed) : "?";
}

/// Takes one word of the command line; what is wrong with it, or "".
static std::string takeWord(const std::string &word, Options &options, std::set<std::string> &given) {
  if (word.empty() || word[0] != '-') {
    options.roots.push_back(word);
    return "";
  }
  const size_t equals = word.find('=');
  const std::string name = word.substr(0, equals), value = equals == word.npos ? "" : word.substr(equals + 1);
  const std::string needed = setOption(name, value, options);
  if (needed == "?")
    return "unknown option '" + name + "'; see --help";
  if (!needed.empty())
    return "'" + name + "' is '" + value + "'; needed " + needed;
  return given.insert(name).second ? "" : "'" + name + "' is given twice";
}

/// What the options lack of one another, or "".
static std::string checkNeeds(const Options &options, const std::set<std::string> &given) {
  const bool isGolden = !options.roots.empty();
  if (isGolden + (options.random > 0) + (options.mutate > 0) + (options.nearMisses > 0) + (options.expressed > 0) +
          (options.spellings > 0) + (options.randomGradients > 0) + (options.randomModules > 0) +
          (options.randomSizes > 0) !=
      1)
    return "give folders of golden cases, or one number of random programs; see --help";
  if (given.count("--seed") && isGolden)
    return "'--seed' needs a number of random programs";
  for (const char *option : {"--backend", "--fuse", "--what"})
    if (given.count(option) && !isGolden)
      return std::string("'") + option + "' needs folders of golden cases";
  if (given.count("--emit") && !isGolden && !options.random && !options.randomModules)
    return "'--emit' needs folders of golden cases, '--random' or '--random-modules'";
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

/// Prints the totals of a table; returns the exit status.
static int summarise(const NearMissCounts &counts) {
  NearMissCounts::Row total;
  uint64_t least = counts.rows.front().programs;
  for (const NearMissCounts::Row &row : counts.rows) {
    total.programs += row.programs;
    total.raised += row.raised;
    total.wrong += row.wrong;
    total.rejected += row.rejected;
    least = std::min(least, row.programs);
  }
  std::cout << total.programs << " near misses of " << counts.rows.size() << " kinds, at least " << least
            << " of each, " << total.raised << " raised, " << total.wrong << " wrong, " << total.rejected
            << " rejected by the proof\n";
  return total.wrong || total.rejected ? 1 : 0;
}

int conformanceMain(int argc, char **argv, const RunFunction &run) {
  Options options;
  std::set<std::string> given;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help") {
      std::cout << kUsage;
      return 0;
    }
    if (const std::string error = takeWord(word, options, given); !error.empty())
      return fail(error);
  }
  if (const std::string error = checkNeeds(options, given); !error.empty())
    return fail(error);
  if (options.nearMisses)
    return summarise(runNearMisses(options, std::cout));
  if (options.expressed) {
    ExpressedCounts counts = runExpressed(options, std::cout);
    std::cout << counts.programs << " programs, " << counts.right << " with all attributes as written\n";
    return counts.right == counts.programs ? 0 : 1;
  }
  if (options.mutate) {
    MutationCounts counts = runMutants(options, std::cout);
    std::cout << counts.programs << " programs, " << counts.raised << " raised, " << counts.wrong << " wrong\n";
    return counts.wrong ? 1 : 0;
  }
  if (options.randomModules) {
    ModuleCounts counts = runModules(options, std::cout);
    std::cout << counts.passed << " passed, " << counts.failed << " failed; mHC ops found in " << counts.raised << "; "
              << counts.unjudged << " of " << counts.results << " results not judged\n";
    return counts.failed ? 1 : 0;
  }
  if (options.randomSizes) {
    SizeCounts counts = runSizes(options, std::cout);
    std::cout << counts.passed << " passed, " << counts.failed << " failed; " << counts.wrongCalls << " wrong calls; "
              << counts.lists << " lists differ from those without fusion\n";
    return counts.failed ? 1 : 0;
  }
  if (options.spellings) {
    SpellingCounts counts = runSpellings(options, std::cout);
    std::cout << counts.programs << " spellings, " << counts.raised << " raised, " << counts.covered << " of "
              << counts.words << " words covered\n";
    return counts.raised == counts.programs && counts.covered == counts.words ? 0 : 1;
  }
  Counts counts = options.randomGradients ? runGradients(options, std::cout)
                  : options.random        ? runRandom(options, run, std::cout)
                                          : runGolden(options, run, std::cout);
  std::cout << counts.passed << (options.emit.empty() ? " passed, " : " written, ") << counts.failed << " failed\n";
  return counts.failed ? 1 : 0;
}

} // namespace mhc::conformance
