//===- Runner.h - Runs cases and counts ----------------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiling and running is somebody else's: the caller hands in a function. This library writes IR, prepares tensors
// and judges results.
//
//===----------------------------------------------------------------------===//
#ifndef MHC_CONFORMANCE_RUNNER_H
#define MHC_CONFORMANCE_RUNNER_H

#include "Conformance/Case.h"
#include "mhc/Driver/Driver.h"
#include "mhcrt/io.h"

#include <functional>
#include <iosfwd>
#include <map>

namespace mhc::conformance {

enum class Backend { Cpu, Cuda, Reference };

struct RunRequest {
  std::string ir;    ///< a module of unfused IR
  std::string entry; ///< its function
  /// The function's arguments in order, token axes collapsed to one. All f64 for Backend::Reference, else in the
  /// argument's element type.
  std::vector<mhcrt::HostTensor> inputs;
  Backend backend = Backend::Cpu;
  FuseLevel fuse = FuseLevel::layer;
  std::string gdnImpl; ///< as of CompileOptions
  std::string grad;    ///< the function to differentiate; empty for none
};

/// Compiles and runs. Fills the function's results in order, in any float type; or returns false and sets `error`.
using RunFunction =
    std::function<bool(const RunRequest &request, std::vector<mhcrt::HostTensor> &results, std::string &error)>;

struct Options {
  Backend backend = Backend::Cpu;
  FuseLevel fuse = FuseLevel::layer;
  std::string gdnImpl; ///< as of CompileOptions
  bool forward = true, gradients = true;
  std::string emit;               ///< write what mhc-run --check needs into this folder instead of running
  uint64_t count = 100;           ///< of random programs
  uint64_t seed = 0;              ///< of the first random program
  std::vector<std::string> roots; ///< folders of golden cases
};

struct Counts {
  int64_t passed = 0, failed = 0;
  int64_t skipped = 0; ///< golden cases that there is no way to write
};

/// Runs every golden case below the roots. Prints what fails and what is not covered.
Counts runGolden(const Options &options, const RunFunction &run, std::ostream &out);

/// Runs random programs at every fusion level and on the reference, and compares them with each other.
Counts runRandom(const Options &options, const RunFunction &run, std::ostream &out);

/// Differentiates random graphs and compares the gradient along a random direction with a finite difference, in
/// float64. The forward and backward functions must agree with the joint one.
Counts runGradients(const Options &options, std::ostream &out);

struct JudgedCounts {
  int64_t results = 0, unjudged = 0; ///< of all levels; the latter depend on rounding alone
};

struct ModuleCounts : JudgedCounts {
  int64_t passed = 0, failed = 0, raised = 0;
};

/// Compiles random modules with mHC chains in them at every fusion level and compares what they compute with the
/// float64 evaluator. The tolerance follows from how far results move when every op of the module rounds at random.
/// Prints modules that fail, reduced.
ModuleCounts runModules(const Options &options, std::ostream &out);

struct ModelCounts : JudgedCounts {
  int64_t passed = 0, failed = 0;
  int64_t sublayers = 0;                ///< of all models
  int64_t boundaries = 0, backward = 0; ///< between two of them: in one kernel forward, and backward
};

/// Compiles random models of 1 to 12 sublayers and their gradients without fusion and across sublayers, with any
/// choice of what is computed again, and compares gradients, as one function and as two, as runModules does.
ModelCounts runModels(const Options &options, std::ostream &out);

struct SizeCounts {
  int64_t passed = 0, failed = 0;
  int64_t wrongCalls = 0; ///< that had to fail
  int64_t lists = 0;      ///< of sizes that differ from those without fusion
};

/// Compiles random programs of open sizes and their gradients at every fusion level, and calls them with each size of
/// each argument changed: what the float64 evaluator does not take must be an error.
SizeCounts runSizes(const Options &options, std::ostream &out);

struct MutationCounts {
  int64_t programs = 0, raised = 0, wrong = 0;
};

/// Changes random programs at random, and compares what raising and fusing make of them with what they were, in
/// float64. The tolerance follows from how much a result moves when the arguments do in the last place of f32. Prints
/// programs whose meaning is not kept.
MutationCounts runMutants(const Options &options, std::ostream &out);

struct NearMissCounts {
  struct Row {
    uint64_t programs = 0, raised = 0, wrong = 0;
    uint64_t rejected = 0; ///< where the numeric check, which is off otherwise, has an objection
    uint64_t repeated = 0; ///< with more than one remark on their one site
    uint64_t silent = 0;   ///< with no remark at all
  };
  std::vector<Row> rows; ///< one for each kind
};

/// Changes random programs in one of the ways that NearMiss.h knows, each as often as the others, and compares what
/// raising and fusing make of them with what they are, as runMutants does. Prints programs whose meaning is not kept or
/// whose one site is told more than once or not at all, and a table.
NearMissCounts runNearMisses(const Options &options, std::ostream &out);

struct ExpressedCounts {
  struct Row {
    uint64_t found = 0, wrong = 0;
  };
  uint64_t programs = 0, right = 0;
  std::map<std::string, Row> rows; ///< by attribute, and by value where it has few
};

/// Raises random programs and compares the attributes of the ops that are found with those that the programs were
/// written with. Prints what differs, and a table.
ExpressedCounts runExpressed(const Options &options, std::ostream &out);

struct SpellingCounts {
  int64_t programs = 0, raised = 0, words = 0, covered = 0;
};

/// Says random chains in random words, and compares what is found in them with what is found in the plain form. Prints
/// what differs with the words that it takes, and which words no chain needed.
SpellingCounts runSpellings(const Options &options, std::ostream &out);

/// Command line of mhc-conformance; returns the exit status.
int conformanceMain(int argc, char **argv, const RunFunction &run);

} // namespace mhc::conformance

#endif // MHC_CONFORMANCE_RUNNER_H
