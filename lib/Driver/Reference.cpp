//===- Reference.cpp - The same in float64 ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Driver/Run.h"
#include "mhc/Reference/Evaluator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <random>

using namespace mhc;

static reference::HostTensor widen(const mhcrt::HostTensor &tensor) {
  std::vector<double> elements(tensor.elements());
  for (int64_t i = 0; i < tensor.elements(); ++i)
    elements[i] = mhcrt::element(tensor.get(), i);
  std::vector<int64_t> dims = tensor.dims();
  return reference::HostTensor(reference::Shape(dims.begin(), dims.end()), std::move(elements));
}

static llvm::Expected<mhcrt::HostTensor> store(const reference::HostTensor &value) {
  mhcrt::HostTensor tensor;
  std::string error;
  if (!tensor.allocate(MHCRT_F64, std::vector<int64_t>(value.shape().begin(), value.shape().end()), error))
    return llvm::createStringError(error);
  std::copy(value.data(), value.data() + value.size(), static_cast<double *>(tensor.data()));
  return tensor;
}

llvm::Expected<Compiler::Module> mhc::toLeafOps(Compiler &compiler, mlir::ModuleOp module,
                                                const CompileOptions &options) {
  Compiler::Module copy(module.clone());
  PipelineOptions unfused;
  unfused.fuse = FuseLevel::none;
  unfused.grad = options.grad;
  if (llvm::Error error = compiler.runPasses(*copy, [&](mlir::PassManager &pm) {
        buildPipeline(pm, unfused, Phase::fuse);
        pm.addNestedPass<mlir::func::FuncOp>(createDecomposePass());
      }))
    return error;
  return copy;
}

static llvm::Expected<Tensors> evaluateEntry(mlir::ModuleOp module, llvm::StringRef entry, const Tensors &arguments,
                                             reference::Rounding rounding, uint64_t seed) {
  auto func = module.lookupSymbol<mlir::func::FuncOp>(entry);
  if (!func)
    return llvm::createStringError("no entry '" + entry.str() + "'");
  std::vector<reference::HostTensor> wide;
  for (const mhcrt::HostTensor &argument : arguments)
    wide.push_back(widen(argument));
  auto values = reference::evaluate(func, wide, rounding, seed);
  if (!values)
    return values.takeError();
  Tensors results;
  for (const reference::HostTensor &value : *values) {
    auto tensor = store(value);
    if (!tensor)
      return tensor.takeError();
    results.push_back(std::move(*tensor));
  }
  return results;
}

llvm::Expected<Tensors> mhc::evaluateLeafOps(mlir::ModuleOp module, llvm::StringRef entry, const Tensors &arguments,
                                             bool roundNarrow) {
  return evaluateEntry(module, entry, arguments, roundNarrow ? reference::Rounding::Narrow : reference::Rounding::None,
                       0);
}

llvm::Expected<std::vector<Tensors>> mhc::evaluateRounded(mlir::ModuleOp module, llvm::StringRef entry,
                                                          const Tensors &arguments, int draws) {
  std::vector<Tensors> all;
  for (int seed = 0; seed < draws; ++seed) {
    // Arguments as well: what they are summed to is rounded on the way.
    auto results = evaluateEntry(module, entry, disturbed(arguments, seed), reference::Rounding::AtRandom, seed);
    if (!results)
      return results.takeError();
    all.push_back(std::move(*results));
  }
  return all;
}

llvm::Expected<Tensors> mhc::evaluate(Compiler &compiler, mlir::ModuleOp module, llvm::StringRef entry,
                                      const Tensors &arguments, const CompileOptions &options) {
  auto copy = toLeafOps(compiler, module, options);
  if (!copy)
    return copy.takeError();
  return evaluateLeafOps(**copy, entry, arguments);
}

Tensors mhc::disturbed(const Tensors &arguments, unsigned seed) {
  std::mt19937 random(seed);
  Tensors result(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string error;
    result[i].allocate(MHCRT_F64, arguments[i].dims(), error);
    const double roundoff = mhcrt::unitRoundoff(arguments[i].dtype()); // 0 for integers
    for (int64_t j = 0; j < result[i].elements(); ++j)
      static_cast<double *>(result[i].data())[j] =
          mhcrt::element(arguments[i].get(), j) * (1 + (random() % 2 ? roundoff : -roundoff));
  }
  return result;
}

static llvm::ArrayRef<double> elements(const mhcrt::HostTensor &tensor) {
  return {static_cast<const double *>(tensor.data()), static_cast<size_t>(tensor.elements())};
}

/// NaN where one of them is.
static double larger(double a, double b) { return std::isnan(a) || a >= b ? a : b; }

double mhc::largestDifference(const mhcrt::HostTensor &a, const mhcrt::HostTensor &b) {
  double result = 0;
  for (auto [x, y] : llvm::zip_equal(elements(a), elements(b)))
    if (x != y && !(std::isnan(x) && std::isnan(y)))
      result = larger(result, std::fabs(x - y));
  return result;
}

double mhc::roundingNoise(const Tensors &want, llvm::ArrayRef<Tensors> rounded, size_t result) {
  double noise = 0;
  for (const Tensors &results : rounded)
    noise = larger(noise, largestDifference(want[result], results[result]));
  return kRoundings * noise;
}

double mhc::largestMagnitude(const mhcrt::HostTensor &tensor) {
  double result = 0;
  for (double value : elements(tensor))
    result = larger(result, std::fabs(value));
  return result;
}
