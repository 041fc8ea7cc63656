//===- NearMissRunner.cpp - Raises programs that miss the chain -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A near miss counts only when its results differ from those of the program that it was made from, so that a matcher
// that overlooks the change is caught.
//
//===----------------------------------------------------------------------===//
#include "Baseline.h"
#include "Conformance/NearMiss.h"
#include "Conformance/Runner.h"
#include "mhc/IR/MhcOps.h"
#include "llvm/ADT/StringExtras.h"

#include <iomanip>
#include <ostream>

namespace mhc::conformance {

static constexpr int kPrograms = 40, kPlaces = 4;
static constexpr double kLuck = 4;

namespace {

/// One program and what it means. It is done for by raising.
struct Program {
  std::unique_ptr<Compiler> compiler;
  Compiler::Module module;
  Tensors arguments;
  Baseline baseline;
  Tensors rounded; ///< of a near miss that rounds: the results when values in narrow types round
  bool hasOneSite; ///< which one remark may tell at most
};

} // namespace

/// The largest difference of each result, beside its tolerance.
static bool differs(const Baseline &baseline, const Tensors &other) { return !describeChange(baseline, other).empty(); }

/// A random program that has the chain in it.
static std::optional<Program> makeProgram(const NearMiss &miss, uint64_t seed, Random &random, int64_t &streams) {
  auto prepare = [&](RandomCase &drawn, int64_t &channels) {
    Attributes &attr = drawn.golden.attributes;
    attr.n = std::max<int64_t>(2, attr.n);
    if (miss.prepare)
      miss.prepare(drawn, channels);
    streams = attr.n;
  };
  RandomCase original = miss.isGatedDelta ? plainGatedDelta(seed, prepare) : randomCase(seed, prepare);
  auto compiler = std::make_unique<Compiler>();
  auto module = compiler->parseText(original.ir);
  auto arguments = toF32(original.inputs);
  if (llvm::errorToBool(llvm::joinErrors(module.takeError(), arguments.takeError())))
    return std::nullopt;
  std::optional<Baseline> baseline = baselineOf(*compiler, **module, *arguments, random);
  if (!baseline)
    return std::nullopt;
  const Attributes &attr = original.golden.attributes;
  bool hasOneSite = original.golden.op != "stack" || (attr.sites == 1 && attr.contract != "head");
  return Program{std::move(compiler), std::move(*module), std::move(*arguments), std::move(*baseline), {}, hasOneSite};
}

/// Whether the change shows in the results: rounding does when values in narrow types round.
static bool shows(const NearMiss &miss, const Baseline &before, const Tensors &arguments, Program &changed) {
  if (!miss.rounds)
    return differs(before, changed.baseline.results) && differs(changed.baseline, before.results);
  auto rounded = evaluateLeafOps(*changed.baseline.leafOps, kEntry, arguments, /*roundNarrow=*/true);
  if (!rounded) {
    llvm::consumeError(rounded.takeError());
    return false;
  }
  changed.rounded = std::move(*rounded);
  return differs(changed.baseline, changed.rounded);
}

/// A near miss of that kind; nothing where none was found.
static std::optional<Program> makeNearMiss(const NearMiss &miss, uint64_t seed) {
  Random random(~seed);
  for (int i = 0; i < kPrograms; ++i) {
    int64_t streams = 0;
    std::optional<Program> program = makeProgram(miss, random.next(), random, streams);
    for (int place = 0; program && place < kPlaces; ++place) {
      Compiler::Module copy(program->module->clone());
      if (!applyNearMiss(miss, copy->lookupSymbol<mlir::func::FuncOp>(kEntry), streams, random))
        continue;
      std::optional<Baseline> baseline = baselineOf(*program->compiler, *copy, program->arguments, random);
      if (!baseline)
        continue;
      Program changed{nullptr, std::move(copy), {}, std::move(*baseline), {}, program->hasOneSite};
      if (!shows(miss, program->baseline, program->arguments, changed))
        continue;
      changed.compiler = std::move(program->compiler);
      changed.arguments = std::move(program->arguments);
      return changed;
    }
  }
  return std::nullopt;
}

/// Raising may leave a rounding out. It must not move a result further from what it is without any than the roundings
/// of the program do, but for luck: of a few roundings that lead through several layers, others are left.
static std::string describeRounding(const Program &program, const Tensors &after) {
  std::string report;
  for (size_t i = 0; i < after.size(); ++i) {
    const mhcrt::HostTensor &exact = program.baseline.results[i];
    double difference = largestDifference(exact, after[i]), needed = largestDifference(exact, program.rounded[i]);
    if (!(difference <= kLuck * needed + program.baseline.tolerances[i]))
      report += "  result " + std::to_string(i) + " is off by " + std::to_string(difference) + "; as written by " +
                std::to_string(needed) + "\n";
  }
  return report;
}

/// Whether what the program looks like was found: the whole front end, or a part of mHC.
static bool isFound(const NearMiss &miss, mlir::ModuleOp module) {
  if (!miss.isGatedDelta)
    return isRaised(module);
  return module->walk([](PreGatedDeltaRuleOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
}

/// Whether a remark says why something was not found; the totals of a function do not.
static bool isReason(const CompileRemark &remark) {
  bool isNote = remark.kind == CompileRemark::note && !llvm::StringRef(remark.text).starts_with("made ");
  return isNote || remark.kind == CompileRemark::missed;
}

/// Errors of raising; empty when the results are kept. `remarks` are those on what was missed; `isTold` says whether
/// there is one, or nothing was missed.
static std::string check(const NearMiss &miss, Program &program, std::vector<std::string> &remarks, bool &isTold) {
  std::string problem;
  llvm::cantFail(program.compiler->withRemarks(/*path=*/"", [&] {
    raiseAndFuse(*program.compiler, *program.module, problem);
    return llvm::Error::success();
  }));
  if (!problem.empty())
    return problem;
  isTold = isFound(miss, *program.module) || llvm::any_of(program.compiler->remarks(), isReason);
  for (const CompileRemark &remark : program.compiler->remarks())
    if (remark.kind == CompileRemark::missed)
      remarks.push_back(remark.text);
  auto leafOps = toLeafOps(*program.compiler, *program.module, CompileOptions());
  if (!leafOps)
    return "  " + llvm::toString(leafOps.takeError()) + "\n";
  auto results = evaluateLeafOps(**leafOps, kEntry, program.arguments, miss.rounds);
  if (!results)
    return "  " + llvm::toString(results.takeError()) + "\n";
  return miss.rounds ? describeRounding(program, *results) : describeChange(program.baseline, *results);
}

static std::string print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

/// Whether the numeric check lets less be raised than is raised without it.
static bool isRejected(Compiler &compiler, mlir::ModuleOp source, mlir::ModuleOp raised) {
  Compiler::Module checked(source.clone());
  CompileOptions options;
  options.numericCheck = true;
  if (llvm::errorToBool(compiler.run(*checked, options, Phase::fuse)))
    return true;
  return print(*checked) != print(raised);
}

static void printRow(const NearMiss &miss, const NearMissCounts::Row &row, std::ostream &out) {
  out << std::setw(6) << row.programs << std::setw(6) << row.raised << std::setw(6) << row.wrong << std::setw(9)
      << row.rejected << std::setw(9) << row.repeated << "  " << miss.name << "\n";
}

NearMissCounts runNearMisses(const Options &options, std::ostream &out) {
  NearMissCounts counts;
  llvm::ArrayRef<NearMiss> kinds = nearMisses();
  counts.rows.resize(kinds.size());
  for (uint64_t i = 0; i < options.count; ++i) {
    const NearMiss &miss = kinds[i % kinds.size()];
    NearMissCounts::Row &row = counts.rows[i % kinds.size()];
    std::optional<Program> program = makeNearMiss(miss, options.seed + i);
    if (!program)
      continue;
    Compiler::Module source(program->module->clone());
    std::vector<std::string> remarks;
    bool isTold = false;
    std::string problem = check(miss, *program, remarks, isTold);
    ++row.programs;
    row.raised += isFound(miss, *program->module);
    row.wrong += !problem.empty();
    bool rejected = isRejected(*program->compiler, *source, *program->module);
    row.rejected += rejected;
    bool isRepeated = program->hasOneSite && remarks.size() > 1;
    row.repeated += isRepeated;
    row.silent += !isTold;
    auto report = [&](const char *what, const std::string &text) {
      out << what << " near miss, " << miss.name << ", number " << i << " of --seed=" << options.seed << "\n"
          << text << print(*source) << "\n";
    };
    if (!problem.empty())
      report("WRONG", problem);
    if (rejected)
      report("REJECTED by the numeric check, a", "");
    if (!isTold)
      report("NO REMARK on a", "");
    if (isRepeated)
      report("REPEATED remarks on one site of a", "  " + llvm::join(remarks, "\n  ") + "\n");
  }
  out << "  made raised wrong rejected repeated  kind\n";
  for (auto [miss, row] : llvm::zip(kinds, counts.rows))
    printRow(miss, row, out);
  return counts;
}

} // namespace mhc::conformance
