//===- RandomArguments.cpp - Arguments of an entry, drawn ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomArguments.h"
#include "DefaultSizes.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/MhcOps.h"
#include <optional>
#include <random>

using namespace mhc;

using Sizes = std::map<std::string, int64_t>;

/// Uniform up to 1, the same for every run.
static void fillRandom(mhcrt::HostTensor &tensor, double least, std::mt19937 &generator) {
  std::uniform_real_distribution<double> uniform(least, 1);
  for (int64_t i = 0; i < tensor.elements(); ++i)
    static_cast<double *>(tensor.data())[i] = uniform(generator);
}

/// 0 and 1: numbers of rows that all but the smallest tables have.
static void fillIndices(mhcrt::HostTensor &tensor, std::mt19937 &generator) {
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (tensor.dtype() == MHCRT_I32)
      static_cast<int32_t *>(tensor.data())[i] = generator() % 2;
    else
      static_cast<int64_t *>(tensor.data())[i] = generator() % 2;
}

/// The tensor and its dimension that a kernel cuts at the numbers `cuts`; null where they are none.
static std::pair<mlir::Value, int64_t> whatIsCut(KernelOpInterface op, mlir::Value cuts) {
  const KernelInfo &info = op.getKernelInfo();
  for (auto [i, record] : llvm::enumerate(info.tensors)) {
    if (record.cutsOf < 0 || op.getTensor(i) != cuts)
      continue;
    for (unsigned other = 0; other < info.tensors.size(); ++other)
      for (auto [axis, dim] : llvm::enumerate(op.getTensorDims(other)))
        if (op.getTensor(other) && static_cast<int>(dim) == record.cutsOf)
          return {op.getTensor(other), axis};
  }
  return {};
}

static int64_t valueOfSymbol(void *sizes, const char *symbol) { return static_cast<Sizes *>(sizes)->at(symbol); }

static llvm::Expected<std::vector<int64_t>> shapeOf(const mhcrt_tensor_info &info, Sizes &sizes) {
  std::vector<int64_t> dims(info.sizes, info.sizes + info.rank);
  for (int32_t dim = 0; dim < info.rank; ++dim)
    if (info.symbols[dim] && !mhcrt_size_value(info.symbols[dim], valueOfSymbol, &sizes, &dims[dim]))
      return llvm::createStringError("argument '" + std::string(info.name) + "' is " + info.type + "; '" +
                                     info.symbols[dim] + "' is no size with those that '--size' gives");
  return dims;
}

/// The number of tokens that an integer argument of the program cuts into sequences; nothing for other arguments.
static std::optional<int64_t> cutTokens(mlir::BlockArgument argument, const Sizes &sizes) {
  for (mlir::OpOperand &use : argument.getUses()) {
    mlir::Value tensor;
    int64_t dim = 0;
    if (auto starts = llvm::dyn_cast<SequenceStartsOp>(use.getOwner()))
      tensor = starts.getStarts();
    else if (auto kernel = llvm::dyn_cast<KernelOpInterface>(use.getOwner()))
      std::tie(tensor, dim) = whatIsCut(kernel, argument);
    if (!tensor)
      continue;
    auto [factor, symbol] =
        DimAnalysis(llvm::cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp())).factors(tensor, dim);
    auto size = sizes.find(symbol);
    if (symbol.empty() || size != sizes.end())
      return symbol.empty() ? factor : factor * size->second;
  }
  return std::nullopt;
}

/// Ends of sequences of an even length, the second of which is empty, where there are three.
static void fillCuts(mhcrt::HostTensor &tensor, int64_t tokens) {
  auto *cuts = static_cast<int32_t *>(tensor.data());
  const int64_t count = tensor.elements();
  for (int64_t i = 0; i < count; ++i)
    cuts[i] = i * tokens / std::max<int64_t>(count - 1, 1);
  if (count > 3)
    cuts[2] = cuts[1];
}

/// Whether an integer argument of the program says of each token where its sequence starts.
static bool holdsStarts(mlir::BlockArgument argument) {
  return llvm::any_of(argument.getUsers(), [&](mlir::Operation *user) {
    auto shift = llvm::dyn_cast<ShiftOp>(user);
    return shift && shift.getStarts() == argument;
  });
}

/// Two sequences, the first of which has half of the tokens.
static void fillStarts(mhcrt::HostTensor &tensor) {
  auto *starts = static_cast<int32_t *>(tensor.data());
  for (int64_t i = 0, second = tensor.elements() / 2; i < tensor.elements(); ++i)
    starts[i] = i < second ? 0 : second;
}

static void fillIntegers(mhcrt::HostTensor &tensor, mlir::BlockArgument argument, const Sizes &sizes,
                         std::mt19937 &generator) {
  std::optional<int64_t> tokens = argument ? cutTokens(argument, sizes) : std::nullopt;
  if (tokens)
    fillCuts(tensor, *tokens);
  else if (argument && holdsStarts(argument))
    fillStarts(tensor);
  else
    fillIndices(tensor, generator);
}

llvm::Expected<Tensors> mhc::randomArguments(const mhcrt_model *model, int32_t entry, mlir::func::FuncOp program,
                                             const Sizes &given, double least) {
  std::mt19937 generator(1);
  Tensors arguments(mhcrt_model_arguments(model, entry));
  auto sizes = chooseSizes(model, entry, given);
  if (!sizes)
    return sizes.takeError();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const mhcrt_tensor_info &info = *mhcrt_model_argument(model, entry, i);
    auto dims = shapeOf(info, *sizes);
    if (!dims)
      return dims.takeError();
    mhcrt::HostTensor wide;
    std::string error;
    bool isInteger = info.dtype == MHCRT_I32 || info.dtype == MHCRT_I64;
    if (!(isInteger ? arguments[i].allocate(info.dtype, *dims, error) : wide.allocate(MHCRT_F64, *dims, error)))
      return llvm::createStringError(error);
    if (isInteger) {
      const bool isKnown = program && i < program.getNumArguments();
      fillIntegers(arguments[i], isKnown ? program.getArgument(i) : mlir::BlockArgument(), *sizes, generator);
      continue;
    }
    fillRandom(wide, least, generator);
    if (!mhcrt::convert(wide.get(), info.dtype, arguments[i], error))
      return llvm::createStringError("argument '" + std::string(info.name) + "' cannot be made at random: " + error);
  }
  return arguments;
}
