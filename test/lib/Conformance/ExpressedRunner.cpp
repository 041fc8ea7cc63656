//===- ExpressedRunner.cpp - Raises what attributes can express -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The counterpart of near misses: another orientation, order, denominator or norm is no other mathematics, and the ops
// that are found say which it is.
//
//===----------------------------------------------------------------------===//
#include "Conformance/RandomCase.h"
#include "Conformance/Runner.h"
#include "mhc/IR/MhcOps.h"

#include <cmath>
#include <iomanip>
#include <ostream>

namespace mhc::conformance {

namespace {

/// An attribute of a found op beside what the program was written with.
class Comparison {
public:
  explicit Comparison(ExpressedCounts &counts) : counts(counts) {}

  void text(const std::string &name, llvm::StringRef found, const std::string &written) {
    note(name + " = " + written, found == written, found.str());
  }
  /// Constants are f32 in the program.
  void number(const std::string &name, double found, double written) {
    note(name, std::fabs(found - written) <= 1e-6 * std::fabs(written), std::to_string(found));
  }

  std::string problems;

private:
  void note(const std::string &row, bool right, const std::string &found) {
    counts.rows[row].found += 1;
    counts.rows[row].wrong += !right;
    if (!right)
      problems += "  " + row + ", found " + found + "\n";
  }

  ExpressedCounts &counts;
};

} // namespace

static void compare(Comparison &to, SinkhornOp op, const Attributes &attr) {
  // Over a plain sum, a maximum that is subtracted before exp drops out.
  if (attr.denom != "none" || attr.init == "log" || attr.init == "sigmoid")
    to.text("init", stringifyInit(op.getInit()), attr.init);
  to.text("order", stringifyOrder(op.getOrder()), attr.order);
  // One step of rows and one of columns divide alike.
  bool isAdd = attr.denom == "potentials" && attr.iters == 1;
  to.text("denom", stringifyDenom(op.getDenom()), isAdd ? "add" : attr.denom);
  to.number("eps", op.getEps().convertToDouble(), attr.denom == "none" ? 0 : attr.skEps);
  to.number("iters", op.getIters(), attr.iters);
}

static void compare(Comparison &to, GatesOp op, const Attributes &attr) {
  to.number("pre_eps", op.getPreEps().convertToDouble(), attr.preEps);
  to.number("post_mult", op.getPostMult().convertToDouble(), attr.postMult);
}

static void compare(Comparison &to, ProjectionOp op, const Attributes &attr) {
  to.text("norm", stringifyNorm(op.getNorm()), attr.norm);
  to.number("norm_eps", op.getNormEps().convertToDouble(), attr.normEps);
}

static std::string compare(mlir::ModuleOp module, const Attributes &attr, ExpressedCounts &counts) {
  Comparison to(counts);
  int64_t maps = 0, gates = 0, posts = 0;
  module->walk([&](mlir::Operation *op) {
    if (auto sinkhorn = mlir::dyn_cast<SinkhornOp>(op); sinkhorn && ++maps)
      compare(to, sinkhorn, attr);
    if (auto found = mlir::dyn_cast<GatesOp>(op); found && ++gates)
      compare(to, found, attr);
    if (auto projection = mlir::dyn_cast<ProjectionOp>(op))
      compare(to, projection, attr);
    if (auto post = mlir::dyn_cast<PostOp>(op); post && ++posts)
      to.text("orient", stringifyOrient(post.getOrient()), attr.resOrient);
  });
  if (maps != 1 || gates != 1 || posts != 1)
    to.problems += "  found " + std::to_string(maps) + " sinkhorn, " + std::to_string(gates) + " gates and " +
                   std::to_string(posts) + " post; needed one of each\n";
  return to.problems;
}

/// One sublayer with Sinkhorn in the words of a library, wide enough that streams and channels cannot be taken for each
/// other.
static void prepare(RandomCase &random, int64_t &channels) {
  std::vector<std::string> variants = modelVariants();
  bool known;
  random.spelling = spellingOf(variants[random.spelling.swapSeed % variants.size()], known);
  random.golden.op = "sublayer";
  Attributes &attr = random.golden.attributes;
  attr.n = std::max<int64_t>(2, attr.n);
  attr.res = "sinkhorn";
  if (attr.init == "softmax_eps" || attr.init == "sigmoid_eps") // the op has no other one
    attr.denom = "add";
  attr.foldPre = false;
  attr.normEps = std::max(attr.normEps, 1e-6);
  channels = std::max(channels, attr.n + 3);
}

ExpressedCounts runExpressed(const Options &options, std::ostream &out) {
  ExpressedCounts counts;
  for (uint64_t i = 0; i < options.count; ++i) {
    RandomCase random = randomCase(options.seed + i, prepare);
    Compiler compiler;
    auto module = compiler.parseText(random.ir);
    std::string problem;
    llvm::Error error = module ? compiler.run(**module, CompileOptions(), Phase::raise) : module.takeError();
    if (error)
      problem = "  " + llvm::toString(std::move(error)) + "\n";
    else
      problem = compare(**module, random.golden.attributes, counts);
    ++counts.programs;
    counts.right += problem.empty();
    if (!problem.empty())
      out << "WRONG attribute, number " << i << " of --seed=" << options.seed << "\n" << problem << random.ir << "\n";
  }
  out << "  found wrong  attribute\n";
  for (const auto &[name, row] : counts.rows)
    out << std::setw(7) << row.found << std::setw(6) << row.wrong << "  " << name << "\n";
  return counts;
}

} // namespace mhc::conformance
