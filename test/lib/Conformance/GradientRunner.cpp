//===- GradientRunner.cpp - Gradients against finite differences ----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For L(x) = sum of cotangents times results, the gradient along a direction v is compared with
// (L(x + hv) - L(x - hv)) / 2h. A random direction finds an error in any element.
//
//===----------------------------------------------------------------------===//
#include "Conformance/RandomCase.h"
#include "Conformance/RandomGraph.h"
#include "Conformance/Runner.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>
#include <ostream>

namespace mhc::conformance {

/// Where a step crosses the kink of a maximum or an absolute value, a smaller one does not.
static constexpr double kSteps[] = {1e-5, 1e-6, 1e-7};
/// Precision left of a difference of doubles, relative to the terms of the sum; it gets worse with a smaller step.
static constexpr double kTolerance = 1e-6, kFirstStep = kSteps[0];
/// One graph in so many is a whole mHC chain.
static constexpr uint64_t kChainEvery = 16;
/// The backward function repeats what the joint function does, but sums may be rebuilt from other values.
static constexpr double kSplitTolerance = 1e-12;

static llvm::ArrayRef<double> elements(const mhcrt::HostTensor &tensor) {
  return {static_cast<const double *>(tensor.data()), static_cast<size_t>(tensor.elements())};
}

static mhcrt::HostTensor copyOf(const mhcrt::HostTensor &tensor) {
  mhcrt::HostTensor copy;
  std::string error;
  mhcrt::convert(tensor.get(), MHCRT_F64, copy, error);
  return copy;
}

/// Tensors of the same shapes with random numbers.
static Tensors randomLike(const Tensors &tensors, Random &random) {
  Tensors result;
  for (const mhcrt::HostTensor &tensor : tensors) {
    result.push_back(copyOf(tensor));
    for (int64_t i = 0; i < tensor.elements(); ++i)
      static_cast<double *>(result.back().data())[i] = random.normal();
  }
  return result;
}

static Tensors moved(const Tensors &arguments, const Tensors &direction, double step) {
  Tensors result;
  for (size_t i = 0; i < arguments.size(); ++i) {
    result.push_back(copyOf(arguments[i]));
    for (int64_t j = 0; j < arguments[i].elements(); ++j)
      static_cast<double *>(result.back().data())[j] += step * elements(direction[i])[j];
  }
  return result;
}

namespace {

/// A sum, and the sum of what its terms measure.
struct Sum {
  double value = 0, size = 0;

  void addProduct(const mhcrt::HostTensor &a, const mhcrt::HostTensor &b) {
    for (auto [x, y] : llvm::zip_equal(elements(a), elements(b))) {
      value += x * y;
      size += std::fabs(x * y);
    }
  }
};

/// One function with its derivatives, in leaf ops.
class Derivatives {
public:
  Derivatives(mlir::ModuleOp module, llvm::StringRef entry) : module(module), entry(entry) {}

  llvm::Expected<Tensors> results(const Tensors &arguments) { return evaluateLeafOps(module, entry, arguments); }

  /// Results and gradients.
  llvm::Expected<Tensors> joint(const Tensors &arguments, const Tensors &cotangents) {
    Tensors inputs;
    for (const Tensors *tensors : {&arguments, &cotangents})
      for (const mhcrt::HostTensor &tensor : *tensors)
        inputs.push_back(copyOf(tensor));
    return evaluateLeafOps(module, entry + "_grad", inputs);
  }

  /// The same by the forward and the backward function.
  llvm::Expected<Tensors> halves(const Tensors &arguments, const Tensors &cotangents) {
    mlir::func::FuncOp forward = function("_fwd"), backward = function("_bwd"), whole = function("_grad");
    auto produced = evaluateLeafOps(module, entry + "_fwd", arguments);
    if (!produced)
      return produced;
    std::map<std::string, const mhcrt::HostTensor *> known;
    for (size_t i = 0; i < produced->size(); ++i)
      known[nameOf(forward.getResultAttr(i, "mhc.name"))] = &(*produced)[i];
    for (size_t i = 0; i < arguments.size(); ++i)
      known[nameOf(forward.getArgAttr(i, "mhc.name"))] = &arguments[i];
    for (size_t i = 0; i < cotangents.size(); ++i)
      known[nameOf(whole.getArgAttr(arguments.size() + i, "mhc.name"))] = &cotangents[i];
    Tensors inputs;
    for (unsigned i = 0; i < backward.getNumArguments(); ++i)
      inputs.push_back(copyOf(*known.at(nameOf(backward.getArgAttr(i, "mhc.name")))));
    auto gradients = evaluateLeafOps(module, entry + "_bwd", inputs);
    if (!gradients)
      return gradients;
    produced->resize(whole.getNumResults() - gradients->size());
    for (mhcrt::HostTensor &gradient : *gradients)
      produced->push_back(std::move(gradient));
    return produced;
  }

  /// For each argument with a gradient, its number.
  std::vector<size_t> differentiated() {
    std::vector<size_t> numbers;
    mlir::func::FuncOp source = function("");
    for (unsigned i = 0; i < source.getNumArguments(); ++i)
      if (!source.getArgAttr(i, "mhc.no_grad"))
        numbers.push_back(i);
    return numbers;
  }

private:
  static std::string nameOf(mlir::Attribute name) { return llvm::cast<mlir::StringAttr>(name).str(); }
  mlir::func::FuncOp function(const char *suffix) { return module.lookupSymbol<mlir::func::FuncOp>(entry + suffix); }

  mlir::ModuleOp module;
  std::string entry;
};

} // namespace

/// L(x + hv) - L(x - hv), over 2h.
static llvm::Expected<double> difference(Derivatives &derivatives, const Tensors &arguments, const Tensors &direction,
                                         const Tensors &cotangents, double step) {
  Sum sums[2];
  for (int side : {0, 1}) {
    auto results = derivatives.results(moved(arguments, direction, side ? -step : step));
    if (!results)
      return results.takeError();
    for (size_t i = 0; i < results->size(); ++i)
      sums[side].addProduct((*results)[i], cotangents[i]);
  }
  return (sums[0].value - sums[1].value) / (2 * step);
}

/// Errors in the halves; empty when they agree with the joint function.
static std::string compareHalves(const Tensors &joint, const Tensors &halves) {
  mhcrt::Comparison verdict;
  std::string error;
  for (size_t i = 0; i < joint.size(); ++i)
    if (!mhcrt::compare(halves[i].get(), joint[i].get(), {1e-300, kSplitTolerance}, verdict, error) || !verdict.pass)
      return "  output " + std::to_string(i) + " of the halves differs by " + std::to_string(verdict.maxRel) + " " +
             error + "\n";
  return "";
}

/// Errors in the gradients of the function `entry` of a graph; empty when there are none.
static llvm::Expected<std::string> checkGradients(Compiler &compiler, const RandomGraph &graph,
                                                  const std::string &entry, Random &random) {
  const Tensors &arguments = graph.arguments;
  CompileOptions options;
  options.grad = entry;
  auto module = toLeafOps(compiler, *graph.module, options);
  if (!module)
    return module.takeError();
  defineExternals(**module, *graph.externals);
  Derivatives derivatives(**module, entry);
  auto results = derivatives.results(arguments);
  if (!results)
    return results.takeError();
  Tensors cotangents = randomLike(*results, random), direction = randomLike(arguments, random);
  auto joint = derivatives.joint(arguments, cotangents);
  if (!joint)
    return joint.takeError();
  auto halves = derivatives.halves(arguments, cotangents);
  if (!halves)
    return halves.takeError();
  if (std::string problem = compareHalves(*joint, *halves); !problem.empty())
    return problem;

  Sum gradient;
  std::vector<size_t> wanted = derivatives.differentiated();
  Tensors along = moved(direction, direction, -1); // zeros where no gradient is wanted
  for (size_t i = 0; i < wanted.size(); ++i) {
    gradient.addProduct((*joint)[results->size() + i], direction[wanted[i]]);
    along[wanted[i]] = copyOf(direction[wanted[i]]);
  }
  double got = 0;
  for (double step : kSteps) {
    auto slope = difference(derivatives, arguments, along, cotangents, step);
    if (!slope)
      return slope.takeError();
    got = *slope;
    if (std::fabs(gradient.value - got) <= kTolerance * kFirstStep / step * std::fmax(1, gradient.size))
      return std::string();
  }
  return "  the gradient along a direction is " + std::to_string(gradient.value) + "; the finite difference is " +
         std::to_string(got) + "\n";
}

/// A graph of leaf ops, or a whole chain.
static llvm::Expected<std::string> checkSeed(Compiler &compiler, uint64_t seed, std::string &text) {
  Random random(seed * 0x9e3779b97f4a7c15u + 7);
  bool isChain = seed % kChainEvery == 0;
  RandomGraph graph;
  if (isChain) {
    RandomCase chain = randomCase(seed);
    auto module = compiler.parseText(chain.ir);
    if (!module)
      return module.takeError();
    auto noExternals = Compiler::Module(mlir::ModuleOp::create((*module)->getLoc()));
    graph = {std::move(*module), std::move(noExternals), std::move(chain.inputs)};
  } else {
    graph = randomGraph(compiler, random);
  }
  llvm::raw_string_ostream(text) << *graph.module;
  return checkGradients(compiler, graph, isChain ? "case" : kGraph, random);
}

Counts runGradients(const Options &options, std::ostream &out) {
  Counts counts;
  Compiler compiler;
  for (uint64_t seed = options.seed; seed < options.seed + options.count; ++seed) {
    std::string text;
    auto problem = checkSeed(compiler, seed, text);
    std::string message = problem ? *problem : "  " + llvm::toString(problem.takeError()) + "\n";
    ++(message.empty() ? counts.passed : counts.failed);
    if (!message.empty())
      out << "FAIL random graph, --seed=" << seed << "\n" << message << text << "\n";
  }
  return counts;
}

} // namespace mhc::conformance
