//===- SpellingRunner.cpp - Raises one chain in many spellings ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever the words, raising and fusing end in the ops of the plain spelling, with its attributes and operands: from
// leaf ops, and from the linalg ops that they become.
//
//===----------------------------------------------------------------------===//
#include "Conformance/CaseIr.h"
#include "Conformance/RandomCase.h"
#include "Conformance/Rewrites.h"
#include "Conformance/Runner.h"
#include "Found.h"
#include "mhc/Conversion/Passes.h"
#include "mhc/Driver/Run.h"
#include "mlir/IR/Verifier.h"

#include <ostream>
#include <set>

namespace mhc::conformance {

static constexpr const char *kEntry = "case";
static constexpr int kMostRewrites = 12;
/// Relative to the largest value of a result: the evaluator computes in float64, but reads constants that f32 rounded.
static constexpr double kPrecision = 1e-5;

namespace {

/// One thing that a draw says otherwise than the plain form.
struct Change {
  const Word *word = nullptr;
  const Rewrite *rewrite = nullptr;
  const SignatureRewrite *signature = nullptr;
  uint64_t seed = 0; ///< of the places of a rewrite

  const char *name() const { return word ? word->name : rewrite ? rewrite->name : signature->name; }
};

using Draw = std::vector<Change>;
using Names = std::set<std::string>;

class SpellingChecker {
public:
  explicit SpellingChecker(uint64_t seed) : plain(isGatedDelta(seed) ? plainGatedDelta(seed) : plainCase(seed)) {}

  /// Those that say something of the chain.
  const std::vector<Word> &vocabulary() const { return plain.golden.op == "pre_gdn" ? gatedDeltaWords() : words(); }

  /// Errors of a draw; empty when its forms are raised to the same as the plain one.
  std::string check(const Draw &draw);
  /// The words of the draw that change the program.
  const Names &changing() const { return used; }
  /// The program of the draw last checked, for people to read.
  const std::string &text() const { return program; }

private:
  std::string ir(const Draw &draw) const;
  llvm::Expected<Compiler::Module> spell(const Draw &draw);
  llvm::Error sameNumbers(mlir::ModuleOp module);
  llvm::Expected<Found> raise(mlir::ModuleOp module, bool throughLinalg);

  RandomCase plain;
  Compiler compiler;
  Names used;
  std::string program;
};

} // namespace

//===----------------------------------------------------------------------===//
// One spelling
//===----------------------------------------------------------------------===//

std::string SpellingChecker::ir(const Draw &draw) const {
  Spelling how = plain.spelling;
  for (const Change &change : draw)
    if (change.word)
      change.word->say(how);
  return caseToIr(plain.golden, how, kEntry);
}

llvm::Error SpellingChecker::sameNumbers(mlir::ModuleOp module) {
  auto original = compiler.parseText(plain.ir);
  if (!original)
    return original.takeError();
  auto want = evaluate(compiler, **original, kEntry, plain.inputs),
       got = evaluate(compiler, module, kEntry, plain.inputs);
  if (llvm::Error error = llvm::joinErrors(want.takeError(), got.takeError()))
    return error;
  for (size_t i = 0; i < want->size(); ++i) {
    double difference = largestDifference((*want)[i], (*got)[i]), size = largestMagnitude((*want)[i]);
    if (!(difference <= kPrecision * size))
      return llvm::createStringError("it computes something else: '%s' differs by %g of %g",
                                     plain.golden.outputs[i].name.c_str(), difference, size);
  }
  return llvm::Error::success();
}

llvm::Expected<Compiler::Module> SpellingChecker::spell(const Draw &draw) {
  used.clear();
  std::string words = ir(draw);
  for (size_t i = 0; i < draw.size(); ++i) {
    Draw rest = draw;
    rest.erase(rest.begin() + i);
    if (draw[i].word && ir(rest) != words)
      used.insert(draw[i].name());
  }
  auto module = compiler.parseText(words);
  if (!module)
    return module;
  auto func = (*module)->lookupSymbol<mlir::func::FuncOp>(kEntry);
  for (const Change &change : draw)
    if (Random random(change.seed); change.rewrite && applyRewrite(*change.rewrite, func, random))
      used.insert(change.name());
  auto verifies = [&] { return succeeded(mlir::verify(**module)); };
  if (llvm::Error error = compiler.withDiagnostics("it does not verify", verifies))
    return error;
  if (llvm::Error error = sameNumbers(**module))
    return error;
  for (const Change &change : draw)
    if (change.signature && change.signature->apply(func))
      used.insert(change.name());
  if (llvm::Error error = compiler.withDiagnostics("it does not verify", verifies))
    return error;
  return module;
}

llvm::Expected<Found> SpellingChecker::raise(mlir::ModuleOp module, bool throughLinalg) {
  Compiler::Module copy(module.clone());
  if (throughLinalg)
    if (llvm::Error error = compiler.runPasses(
            *copy, [](mlir::PassManager &pm) { pm.addNestedPass<mlir::func::FuncOp>(createConvertMhcToLinalgPass()); }))
      return error;
  if (llvm::Error error = compiler.run(*copy, CompileOptions(), Phase::fuse))
    return error;
  return findOps(*copy);
}

/// Whether each site is a pre and a post, and a front end one op.
static bool isWhole(const Case &golden, const Found &found) {
  int64_t sites = golden.op == "stack" ? golden.attributes.sites : 1;
  auto count = [&](llvm::StringRef name) {
    return llvm::count_if(found, [&](llvm::StringRef line) { return line.starts_with(name); });
  };
  if (golden.op == "pre_gdn")
    return found.size() == 1 && count("mhc.pre_gated_delta_rule ") == 1;
  return count("mhc.pre ") == sites && count("mhc.post ") == sites;
}

std::string SpellingChecker::check(const Draw &draw) {
  auto original = compiler.parseText(plain.ir);
  auto module = spell(draw);
  if (llvm::Error error = llvm::joinErrors(original.takeError(), module.takeError()))
    return "  " + llvm::toString(std::move(error)) + "\n";
  program.clear();
  llvm::raw_string_ostream(program) << **module;
  auto expected = raise(**original, /*throughLinalg=*/false);
  std::string report = expected && !isWhole(plain.golden, *expected) ? "  the plain form is not found\n" : "";
  for (bool throughLinalg : {false, true}) {
    auto found = raise(**module, throughLinalg);
    if (!expected || !found)
      return "  " + llvm::toString(llvm::joinErrors(expected.takeError(), found.takeError())) + "\n";
    if (std::string difference = compare(*expected, *found); !difference.empty())
      report += std::string(throughLinalg ? "  as linalg:\n" : "  as leaf ops:\n") + difference;
  }
  return report;
}

//===----------------------------------------------------------------------===//
// Many spellings
//===----------------------------------------------------------------------===//

static Draw drawChanges(const std::vector<Word> &words, Random &random) {
  Draw draw;
  for (const Word &word : words)
    if (random.flip(0.25) && word.isFound)
      draw.push_back({&word});
  for (int64_t i = random.between(0, kMostRewrites); i > 0; --i) {
    auto index = random.between(0, static_cast<int64_t>(rewrites().size()) - 1);
    draw.push_back({nullptr, &rewrites()[index], nullptr, random.next()});
  }
  for (const SignatureRewrite &rewrite : signatureRewrites())
    if (random.flip(0.2))
      draw.push_back({nullptr, nullptr, &rewrite});
  return draw;
}

/// The draw without what a failure does not need.
static Draw minimise(SpellingChecker &checker, Draw draw) {
  for (size_t i = draw.size(); i-- > 0;) {
    Draw rest = draw;
    rest.erase(rest.begin() + i);
    if (!checker.check(rest).empty())
      draw = rest;
  }
  return draw;
}

static void report(SpellingChecker &checker, uint64_t seed, Draw draw, std::ostream &out) {
  draw = minimise(checker, draw);
  std::string problem = checker.check(draw);
  out << "MISSED spelling, --seed=" << seed << "\n";
  for (const Change &change : draw)
    out << "  " << change.name() << "\n";
  out << problem << checker.text() << "\n";
}

SpellingCounts runSpellings(const Options &options, std::ostream &out) {
  SpellingCounts counts;
  Names covered;
  for (uint64_t seed = options.seed; seed < options.seed + options.count; ++seed) {
    Random random(~seed);
    SpellingChecker checker(seed);
    Draw draw = drawChanges(checker.vocabulary(), random);
    ++counts.programs;
    if (checker.check(draw).empty()) {
      ++counts.raised;
      covered.insert(checker.changing().begin(), checker.changing().end());
    } else {
      report(checker, seed, draw, out);
    }
  }
  counts.covered = covered.size();
  auto count = [&](const char *name) {
    ++counts.words;
    if (!covered.count(name))
      out << "not covered: " << name << "\n";
  };
  for (const std::vector<Word> &vocabulary : {words(), gatedDeltaWords()})
    for (const Word &word : vocabulary)
      if (word.isFound)
        count(word.name);
  for (const Rewrite &rewrite : rewrites())
    count(rewrite.name);
  for (const SignatureRewrite &rewrite : signatureRewrites())
    count(rewrite.name);
  return counts;
}

} // namespace mhc::conformance
