//===- SizeRunner.cpp - Calls with wrong sizes ----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled program takes the sizes that the float64 evaluator takes, at every level of fusion, and no others.
//
//===----------------------------------------------------------------------===//
#include "Conformance/Runner.h"
#include "SizeGraph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <ostream>

namespace mhc::conformance {

namespace {

struct Level {
  const char *name;
  FuseLevel fuse;
};

/// A program, its gradient, and what the evaluator says of their arguments.
class SizeCheck {
public:
  SizeCheck(Compiler &compiler, SizeGraph &graph, SizeCounts &counts)
      : compiler(compiler), graph(graph), counts(counts) {}

  /// Runs the check. Returns its errors; empty when there are none.
  llvm::Expected<std::string> run();

private:
  llvm::Error evaluate();
  std::string checkLevel(Level level, const mhcrt_model *model);
  std::string checkCalls(Level level, const mhcrt_model *model, const char *entry, const Tensors &arguments);
  /// Whether the entry takes arguments of these shapes.
  bool isRight(const Tensors &arguments);

  Compiler &compiler;
  SizeGraph &graph;
  SizeCounts &counts;
  Compiler::Module leafOps;
  Tensors results, gradientArguments; ///< of the call that is right
  std::string listed;                 ///< the sizes without fusion
};

} // namespace

static constexpr Level kLevels[] = {{"fuse=none", FuseLevel::none},
                                    {"fuse=chain", FuseLevel::chain},
                                    {"fuse=layer", FuseLevel::layer},
                                    {"fuse=model", FuseLevel::model}};

static const std::string kGradient = std::string(kGraph) + "_grad";

static mhcrt::HostTensor ones(std::vector<int64_t> dims) {
  mhcrt::HostTensor tensor;
  std::string error;
  tensor.allocate(MHCRT_F32, std::move(dims), error);
  std::fill_n(static_cast<float *>(tensor.data()), tensor.elements(), 1.0f);
  return tensor;
}

static Tensors copyOf(const Tensors &tensors) {
  Tensors copy;
  for (const mhcrt::HostTensor &tensor : tensors)
    copy.push_back(ones(tensor.dims()));
  return copy;
}

llvm::Error SizeCheck::evaluate() {
  CompileOptions options;
  auto module = toLeafOps(compiler, *graph.module, options);
  if (!module)
    return module.takeError();
  leafOps = std::move(*module);
  auto values = evaluateLeafOps(*leafOps, kGraph, graph.arguments);
  if (!values)
    return values.takeError();
  results = std::move(*values);
  gradientArguments = copyOf(graph.arguments);
  for (const mhcrt::HostTensor &result : results)
    gradientArguments.push_back(ones(result.dims()));
  return llvm::Error::success();
}

bool SizeCheck::isRight(const Tensors &arguments) {
  Tensors own;
  for (size_t i = 0; i < graph.arguments.size(); ++i)
    own.push_back(ones(arguments[i].dims()));
  auto values = evaluateLeafOps(*leafOps, kGraph, own);
  if (!values) {
    llvm::consumeError(values.takeError());
    return false;
  }
  // A cotangent has the shape of its result.
  for (size_t i = own.size(); i < arguments.size(); ++i)
    if (arguments[i].dims() != (*values)[i - own.size()].dims())
      return false;
  return true;
}

/// Calls the entry as it is right, and then with each open size of each argument changed.
std::string SizeCheck::checkCalls(Level level, const mhcrt_model *model, const char *entry, const Tensors &arguments) {
  std::string report;
  auto call = [&](const Tensors &tensors, bool isGood, const std::string &what) {
    auto got = runOnce(model, entry, tensors, /*threads=*/1);
    if (static_cast<bool>(got) != isGood)
      report += std::string("  ") + level.name + ", " + entry + " with " + what +
                (isGood ? " fails: " + llvm::toString(got.takeError()) : std::string(" is taken")) + "\n";
    else if (!got)
      llvm::consumeError(got.takeError());
    return got && isGood;
  };
  if (!call(arguments, true, "its own sizes"))
    return report;
  int32_t number;
  mhcrt_message message;
  mhcrt_model_find_entry(model, entry, &number, &message);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const mhcrt_tensor_info &info = *mhcrt_model_argument(model, number, i);
    for (int32_t dim = 0; dim < info.rank; ++dim)
      for (int64_t change : {-1, 1}) {
        Tensors changed = copyOf(arguments);
        std::vector<int64_t> dims = arguments[i].dims();
        dims[dim] += change;
        changed[i] = ones(dims);
        bool good = isRight(changed);
        counts.wrongCalls += !good;
        call(changed, good,
             "dimension " + std::to_string(dim) + " of argument " + std::to_string(i) + " = " +
                 std::to_string(dims[dim]));
      }
  }
  return report;
}

static std::string listOf(const mhcrt_model *model, const char *entry) {
  int32_t number;
  mhcrt_message message;
  if (mhcrt_model_find_entry(model, entry, &number, &message) != MHCRT_OK)
    return message.text;
  std::string list;
  for (int32_t i = 0; const mhcrt_tensor_info *info = mhcrt_model_argument(model, number, i); ++i)
    list += std::string(" ") + info->type;
  list += " ->";
  for (int32_t i = 0; const mhcrt_tensor_info *info = mhcrt_model_result(model, number, i); ++i)
    list += std::string(" ") + info->type;
  for (int32_t i = 0; const char *equality = mhcrt_model_equality(model, number, i); ++i)
    list += std::string(", ") + equality;
  return list;
}

std::string SizeCheck::checkLevel(Level level, const mhcrt_model *model) {
  std::string list = listOf(model, kGraph) + "\n" + listOf(model, kGradient.c_str()), report;
  if (level.fuse == FuseLevel::none)
    listed = list;
  if (list != listed) {
    ++counts.lists;
    report += std::string("  ") + level.name + " lists\n" + list + "\n  and fuse=none\n" + listed + "\n";
  }
  report += checkCalls(level, model, kGraph, graph.arguments);
  return report + checkCalls(level, model, kGradient.c_str(), gradientArguments);
}

llvm::Expected<std::string> SizeCheck::run() {
  if (llvm::Error error = evaluate())
    return error;
  CompileOptions options;
  options.optLevel = 0;
  options.grad = kGraph;
  std::string report;
  for (Level level : kLevels) {
    options.fuse = level.fuse;
    Compiler::Module copy(graph.module->clone());
    auto model = compiler.jit(*copy, options);
    if (!model)
      return llvm::createStringError(std::string(level.name) + ": " + llvm::toString(model.takeError()));
    report += checkLevel(level, (*model)->get());
  }
  return report;
}

SizeCounts runSizes(const Options &options, std::ostream &out) {
  SizeCounts counts;
  for (uint64_t seed = options.seed; seed < options.seed + options.count; ++seed) {
    Compiler compiler;
    Random random(seed * 0x9e3779b97f4a7c15u + 5);
    SizeGraph graph = randomSizeGraph(compiler, random);
    std::string text;
    llvm::raw_string_ostream(text) << *graph.module;
    auto problem = SizeCheck(compiler, graph, counts).run();
    std::string message = problem ? *problem : "  " + llvm::toString(problem.takeError()) + "\n";
    ++(message.empty() ? counts.passed : counts.failed);
    if (!message.empty())
      out << "FAIL random sizes, --seed=" << seed << "\n" << message << text << "\n" << std::flush;
  }
  return counts;
}

} // namespace mhc::conformance
