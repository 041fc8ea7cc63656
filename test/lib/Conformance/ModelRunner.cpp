//===- ModelRunner.cpp - Random models with their gradients ---------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models long enough to have many boundaries, in both directions, compared with the float64 evaluator's gradients of
// the model as it is written.
//
//===----------------------------------------------------------------------===//
#include "Conformance/Random.h"
#include "Conformance/RandomCase.h"
#include "Conformance/Runner.h"
#include "Expectation.h"
#include "Reduction.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>
#include <ostream>

namespace mhc::conformance {

static constexpr int64_t kMostSublayers = 12;
static constexpr const char *kEntry = "case", *kGradient = "case_grad";
static constexpr double kWordChance = 0.25;

namespace {

struct Level {
  const char *name;
  FuseLevel fuse;
};

/// One model, and its check on arguments that are the same for each smaller form of it.
class ModelCheck {
public:
  explicit ModelCheck(uint64_t seed);

  int64_t sublayers() const { return drawn.golden.attributes.sites; }
  llvm::Expected<Compiler::Module> parse() { return compiler.parseText(drawn.ir); }
  Verdict check(mlir::ModuleOp module, ModelCounts &counts);

private:
  Tensors argumentsOf(mlir::func::FuncOp gradient);
  Verdict checkLevel(Level level, mlir::ModuleOp module, Expectation &expectation, const Tensors &arguments,
                     ModelCounts &counts);
  llvm::Error countBoundaries(mlir::ModuleOp module, const CompileOptions &options, ModelCounts &counts);

  uint64_t seed;
  Compiler compiler;
  RandomCase drawn;
  std::string recompute;
};

} // namespace

static constexpr Level kLevels[] = {{"fuse=none", FuseLevel::none}, {"fuse=model", FuseLevel::model}};

ModelCheck::ModelCheck(uint64_t seed) : seed(seed) {
  Random random(seed * 0x9e3779b97f4a7c15u + 11);
  drawn = plainCase(seed, [&](RandomCase &model, int64_t &) {
    for (const Word &word : words())
      if (word.isFound && random.flip(kWordChance))
        word.say(model.spelling);
    model.golden.op = "stack";
    model.golden.attributes.sites = 1 + static_cast<int64_t>(seed % kMostSublayers);
  });
  recompute = random.pick<const char *>({"none", "none", "all", "auto", "groups=2"});
}

/// The model's own, and random cotangents, in the types of the function.
Tensors ModelCheck::argumentsOf(mlir::func::FuncOp gradient) {
  Random random(seed * 0x9e3779b97f4a7c15u + 13);
  const int64_t tokens = drawn.inputs.front().dims().front();
  Tensors arguments;
  std::string error;
  for (auto [i, argument] : llvm::enumerate(gradient.getArgumentTypes())) {
    auto type = llvm::cast<mlir::RankedTensorType>(argument);
    mhcrt::HostTensor numbers, tensor;
    if (i >= drawn.inputs.size()) {
      std::vector<int64_t> sizes(type.getShape().begin(), type.getShape().end());
      std::replace(sizes.begin(), sizes.end(), mlir::ShapedType::kDynamic, tokens);
      numbers.allocate(MHCRT_F64, sizes, error);
      for (int64_t element = 0; element < numbers.elements(); ++element)
        static_cast<double *>(numbers.data())[element] = random.normal();
    }
    copyInput(i < drawn.inputs.size() ? drawn.inputs[i] : numbers,
              type.getElementType().isBF16() ? MHCRT_BF16 : MHCRT_F32, tensor, error);
    arguments.push_back(std::move(tensor));
  }
  return arguments;
}

llvm::Error ModelCheck::countBoundaries(mlir::ModuleOp module, const CompileOptions &options, ModelCounts &counts) {
  Compiler::Module copy(module.clone());
  if (llvm::Error error = compiler.run(*copy, options, Phase::fuse))
    return error;
  copy->lookupSymbol(kGradient)->walk([&](mlir::Operation *op) {
    counts.boundaries += llvm::isa<PostPreOp>(op);
    counts.backward += llvm::isa<PostPreBwdOp>(op);
  });
  return llvm::Error::success();
}

/// Results and gradients, by the forward and the backward function.
static llvm::Expected<Tensors> runHalves(const mhcrt_model *model, const Tensors &arguments, size_t results) {
  int32_t forward;
  mhcrt_message message;
  if (mhcrt_model_find_entry(model, "case_fwd", &forward, &message) != MHCRT_OK)
    return llvm::createStringError(message.text);
  const size_t count = mhcrt_model_arguments(model, forward);
  auto made = runOnce(model, "case_fwd", copyOf(llvm::ArrayRef(arguments).take_front(count)), /*threads=*/1);
  if (!made)
    return made;
  auto inputs = backwardArguments(model, kEntry, arguments, *made);
  if (!inputs)
    return inputs;
  auto gradients = runOnce(model, "case_bwd", *inputs, /*threads=*/1);
  if (!gradients)
    return gradients;
  made->resize(results);
  for (mhcrt::HostTensor &gradient : *gradients)
    made->push_back(std::move(gradient));
  return made;
}

Verdict ModelCheck::checkLevel(Level level, mlir::ModuleOp module, Expectation &expectation, const Tensors &arguments,
                               ModelCounts &counts) {
  CompileOptions options;
  options.optLevel = 0; // loops compile ten times as fast
  options.fuse = level.fuse;
  options.grad = kEntry;
  options.recompute = recompute;
  const std::string where = level.name + (" recompute=" + recompute);
  if (llvm::Error error = countBoundaries(module, options, counts))
    return errorOf(where, std::move(error));
  const size_t results = module.lookupSymbol<mlir::func::FuncOp>(kEntry).getNumResults();
  Compiler::Module copy(module.clone());
  auto model = compiler.jit(*copy, options);
  if (!model)
    return errorOf(where, model.takeError());
  for (bool isWhole : {true, false}) {
    auto got = isWhole ? runOnce((*model)->get(), kGradient, arguments, /*threads=*/1)
                       : runHalves((*model)->get(), arguments, results);
    if (!got)
      return errorOf(where, got.takeError());
    auto problem = expectation.judge(*got, counts);
    if (!problem)
      return errorOf(where, problem.takeError());
    if (!problem->empty())
      return {Outcome::Wrong, "  " + where + (isWhole ? "" : ", by halves") + "\n" + *problem};
  }
  return {};
}

Verdict ModelCheck::check(mlir::ModuleOp module, ModelCounts &counts) {
  CompileOptions options;
  options.grad = kEntry;
  auto leafOps = toLeafOps(compiler, module, options);
  if (!leafOps)
    return errorOf("reference", leafOps.takeError());
  const Tensors arguments = argumentsOf((*leafOps)->lookupSymbol<mlir::func::FuncOp>(kGradient));
  Expectation expectation(**leafOps, kGradient, arguments);
  if (llvm::Error error = expectation.evaluate())
    return errorOf("reference", std::move(error));
  for (Level level : kLevels)
    if (Verdict verdict = checkLevel(level, module, expectation, arguments, counts); verdict.outcome != Outcome::Good)
      return verdict;
  return {};
}

static Verdict checkSeed(uint64_t seed, ModelCounts &counts) {
  ModelCheck model(seed);
  auto module = model.parse();
  if (!module)
    return errorOf("text", module.takeError());
  counts.sublayers += model.sublayers();
  Verdict verdict = model.check(**module, counts);
  if (verdict.outcome == Outcome::Good)
    return verdict;
  ModelCounts unused;
  auto smallest =
      reduce(**module, kEntry, [&](mlir::ModuleOp m) { return model.check(m, unused).outcome == verdict.outcome; });
  Verdict last = model.check(*smallest, unused);
  llvm::raw_string_ostream(verdict.problem) << "reduced:\n" << last.problem << *smallest << "\n";
  return verdict;
}

ModelCounts runModels(const Options &options, std::ostream &out) {
  ModelCounts counts;
  for (uint64_t seed = options.seed; seed < options.seed + options.count; ++seed) {
    Verdict verdict = checkSeed(seed, counts);
    ++(verdict.outcome == Outcome::Good ? counts.passed : counts.failed);
    if (verdict.outcome != Outcome::Good)
      out << "FAIL random model, --seed=" << seed << "\n" << verdict.problem << std::flush;
  }
  return counts;
}

} // namespace mhc::conformance
