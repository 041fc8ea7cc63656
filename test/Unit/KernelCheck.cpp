//===- KernelCheck.cpp - One kernel against the chain that defines its op ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No lowering is involved: kernels are called by their record.
//
//===----------------------------------------------------------------------===//

#include "KernelCheck.h"
#include "../../tools/mhc-bench/KernelFunction.h"
#include "ParseModule.h"
#include "mhc/IR/ElementTypes.h"
#include "mhc/IR/MhcOps.h"
#include "mhc/Reference/Evaluator.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <map>
#include <random>

using namespace mhc;
using namespace mhc::test;
using llvm::formatv;
using mhc::reference::HostTensor;

//===----------------------------------------------------------------------===//
// The text of one op in a function
//===----------------------------------------------------------------------===//

static std::string join(const Names &names,
                        llvm::function_ref<std::string(const std::string &, const std::string &)> form) {
  std::vector<std::string> parts;
  for (auto &[name, type] : names)
    parts.push_back(form(name, type));
  return llvm::join(parts, ", ");
}

std::string mhc::test::functionText(const Names &operands, const Names &results, const std::string &op) {
  std::string types = join(results, [](auto &, auto &type) { return type; });
  std::string arguments = join(operands, [](auto &name, auto &type) { return "%" + name + ": " + type; });
  int next = 0;
  std::string returned = join(results, [&](auto &, auto &) { return "%r#" + std::to_string(next++); });
  return formatv("func.func @f({0}) -> ({1}) {{\n  %r:{2} = {3}\n  return {4} : {1}\n}", arguments, types,
                 results.size(), op, returned);
}

std::string mhc::test::kernelText(const std::string &op, const Names &operands, const std::string &attrs,
                                  const Names &results) {
  std::string in = join(operands, [](auto &name, auto &type) { return name + " = %" + name + " : " + type; });
  std::string out = join(results, [](auto &name, auto &type) { return name + " : " + type; });
  return functionText(operands, results, formatv("mhc.{0}({1}) {2} -> ({3})", op, in, attrs, out));
}

std::string mhc::test::tensor(std::initializer_list<int> shape, const std::string &type) {
  std::string text = "tensor<";
  for (int size : shape)
    text += std::to_string(size) + "x";
  return text + type + ">";
}

std::string mhc::test::streams(const std::string &layout, int n, const std::string &type) {
  return layout == "nC" ? tensor({M, n, C}, type) : tensor({M, C, n}, type);
}

std::string mhc::test::weight(const std::string &layout, int rows, int n) {
  return layout == "out_in" ? tensor({rows, n * C}) : tensor({n * C, rows});
}

//===----------------------------------------------------------------------===//
// Both sides
//===----------------------------------------------------------------------===//

namespace {

const llvm::fltSemantics &semanticsOf(int32_t dtype) {
  return dtype == kF32    ? llvm::APFloat::IEEEsingle()
         : dtype == kBF16 ? llvm::APFloat::BFloat()
                          : llvm::APFloat::IEEEhalf();
}

/// Elements of a type in memory, and back.
void encode(double value, int32_t dtype, char *to) {
  if (dtype == kI32 || dtype == kI64) { // the lowest byte is the first
    int64_t number = static_cast<int64_t>(value);
    std::memcpy(to, &number, mhcrt_dtype_bytes(dtype));
    return;
  }
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(semanticsOf(dtype), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  uint64_t bits = number.bitcastToAPInt().getZExtValue();
  std::memcpy(to, &bits, mhcrt_dtype_bytes(dtype));
}

double decode(const char *from, int32_t dtype) {
  if (dtype == kI32 || dtype == kI64) { // of those that encode stores, none is negative
    int64_t number = 0;
    std::memcpy(&number, from, mhcrt_dtype_bytes(dtype));
    return number;
  }
  uint64_t bits = 0;
  std::memcpy(&bits, from, mhcrt_dtype_bytes(dtype));
  llvm::APFloat number(semanticsOf(dtype), llvm::APInt(8 * mhcrt_dtype_bytes(dtype), bits));
  bool losesInfo;
  number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

/// Relative error of one rounding to the type, twice that for the sums before it.
double tolerance(int32_t dtype) { return dtype == kBF16 ? 0x1p-8 : dtype == kF16 ? 0x1p-10 : 2e-5; }

/// A kernel call described by an op, with its operands and results in memory.
struct Call {
  explicit Call(KernelOpInterface op) {
    c.info = &op.getKernelInfo();
    c.values.dims.resize(c.info->dims.size(), 0);
    for (unsigned i = 0; i < c.info->tensors.size(); ++i)
      addTensor(op.getTensor(i), op.getTensorDims(i));
    for (const KernelAttr &attr : c.info->attrs)
      c.values.attrs.push_back(kernelAttrValue(attr, op->getAttr(attr.name)));
  }

  void addTensor(mlir::Value value, llvm::ArrayRef<unsigned> dims) {
    if (!value) {
      c.tensors.push_back({0, MHCRT_NONE, 0, 0});
      memory.emplace_back();
      return;
    }
    auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
    for (auto [dim, size] : llvm::zip(dims, type.getShape()))
      c.values.dims[dim] = size;
    c.tensors.push_back({1, elementCode(type.getElementType()), type.getNumElements(), 1});
    memory.emplace_back(type.getNumElements() * mhcrt_dtype_bytes(c.tensors.back().dtype));
  }

  /// Random elements, as they are in memory.
  HostTensor fillOperand(unsigned index, llvm::ArrayRef<int64_t> shape, std::mt19937 &random) {
    const KernelTensor &record = c.info->tensors[index];
    double rows = record.indexOf < 0 ? 0x1p40 : c.values.dims[record.indexOf];
    std::uniform_real_distribution<double> distribution(record.integerBits ? 0 : -1.5, record.integerBits ? rows : 1.5);
    std::vector<double> values(c.tensors[index].elements);
    for (double &value : values)
      value = distribution(random);
    if (record.cutsOf >= 0) { // into an empty run, one of a token, and others
      std::fill(values.begin(), values.end(), 0.0);
      std::fill(values.begin() + values.size() / 2, values.end(), 1.0);
      values.back() = c.values.dims[record.cutsOf];
    }
    return setOperand(index, shape, std::move(values));
  }

  /// These elements, rounded to what memory holds.
  HostTensor setOperand(unsigned index, llvm::ArrayRef<int64_t> shape, std::vector<double> values) {
    int64_t bytes = mhcrt_dtype_bytes(c.tensors[index].dtype);
    for (size_t i = 0; i < values.size(); ++i) {
      encode(values[i], c.tensors[index].dtype, &memory[index][i * bytes]);
      values[i] = decode(&memory[index][i * bytes], c.tensors[index].dtype);
    }
    return HostTensor(reference::Shape(shape), std::move(values));
  }

  bench::Case c{};
  std::vector<std::vector<char>> memory;
};

void expectSame(const Call &call, unsigned index, const HostTensor &want) {
  int32_t dtype = call.c.tensors[index].dtype;
  for (int64_t i = 0; i < want.size(); ++i) {
    double got = decode(&call.memory[index][i * mhcrt_dtype_bytes(dtype)], dtype), wanted = want.data()[i];
    double allowed = 2e-5 + tolerance(dtype) * std::fabs(wanted);
    ASSERT_LE(std::fabs(got - wanted), allowed)
        << call.c.info->tensors[index].name.str() << "[" << i << "] is " << got << "; needed " << wanted;
  }
}

} // namespace

/// The multiplier of each token of x, by the name of the norm.
static std::vector<double> multipliers(const HostTensor &x, const std::string &norm, double eps) {
  std::vector<double> result;
  int64_t tokens = x.shape()[0], width = x.size() / tokens;
  for (int64_t m = 0; m < tokens; ++m) {
    double square = 0;
    for (double value : x.values().slice(m * width, width))
      square += value * value / width;
    result.push_back(norm == "inside"    ? 1 / std::sqrt(square + eps)
                     : norm == "outside" ? 1 / (std::sqrt(square) + eps)
                                         : 1);
  }
  return result;
}

static void decompose(mlir::func::FuncOp func) {
  mlir::PassManager passes(func.getContext());
  passes.addNestedPass<mlir::func::FuncOp>(createDecomposePass());
  ASSERT_TRUE(succeeded(passes.run(func->getParentOfType<mlir::ModuleOp>())));
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MHC_SANITIZED
#endif
#endif

/// Instrumented code, a hundredth of the speed, takes every fifth of the combinations, which differ little in their
/// memory; no list that makes them has a multiple of five.
static bool isLeftOut() {
#ifdef MHC_SANITIZED
  static int count = 0;
  return count++ % 5 != 0;
#else
  return false;
#endif
}

void mhc::test::check(const std::string &text, const std::string &norm, double normEps) {
  if (isLeftOut())
    return;
  SCOPED_TRACE(text);
  Module module(text);
  auto func = module.func();
  ASSERT_TRUE(func);
  auto op = *func.getOps<KernelOpInterface>().begin();
  Call call(op);
  std::mt19937 random(1);
  std::vector<HostTensor> arguments;
  std::vector<void *> data;
  HostTensor x;
  for (auto [i, record] : llvm::enumerate(call.c.info->tensors)) {
    data.push_back(call.c.tensors[i].count ? call.memory[i].data() : nullptr);
    if (record.isResult || call.c.tensors[i].count == 0)
      continue;
    auto shape = llvm::cast<mlir::RankedTensorType>(op.getTensor(i).getType()).getShape();
    arguments.push_back(call.fillOperand(i, shape, random));
    if (record.name == "x")
      x = arguments.back();
    if (record.name == "stat" && !norm.empty())
      arguments.back() = call.setOperand(i, shape, multipliers(x, norm, normEps));
  }

  mhcrt_context *context = nullptr;
  ASSERT_EQ(mhcrt_context_create(1, &context), MHCRT_OK);
  auto runtime = bench::Runtime::open("cpu");
  ASSERT_TRUE(static_cast<bool>(runtime));
  bench::KernelFunction function(call.c, runtime->kernel(call.c.info->symbol), context, data);
  ASSERT_TRUE(function.isFound());
  EXPECT_EQ(function(), MHCRT_OK) << mhcrt_last_error(context);
  mhcrt_context_destroy(context);

  decompose(func);
  auto want = reference::evaluate(func, arguments);
  ASSERT_TRUE(static_cast<bool>(want)) << llvm::toString(want.takeError());
  unsigned result = 0;
  for (auto [i, record] : llvm::enumerate(call.c.info->tensors))
    if (record.isResult && call.c.tensors[i].count)
      expectSame(call, i, (*want)[result++]);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

namespace {
using Values = std::map<std::string, HostTensor>;

/// A decomposed op as a function of named values.
class Chain {
public:
  Chain(const std::string &op, const OpText &text)
      : text(text), module(kernelText(op, text.operands, text.attrs, text.results)) {
    if (module.func())
      decompose(module.func());
  }
  bool isValid() { return module.func() != nullptr; }

  Values operator()(const Values &values) {
    std::vector<HostTensor> arguments;
    for (auto &operand : text.operands)
      arguments.push_back(values.at(operand.first));
    Values results;
    auto got = reference::evaluate(module.func(), arguments);
    if (!got) {
      ADD_FAILURE() << llvm::toString(got.takeError());
      return results;
    }
    for (auto [result, value] : llvm::zip(text.results, *got))
      results[result.first] = value;
    return results;
  }

  HostTensor randomOperand(unsigned index, std::mt19937 &random) {
    std::uniform_real_distribution<double> distribution(-1.5, 1.5);
    auto shape = llvm::cast<mlir::RankedTensorType>(module.func().getArgumentTypes()[index]).getShape();
    std::vector<double> values(reference::numElements(shape));
    for (double &value : values)
      value = distribution(random);
    return HostTensor(reference::Shape(shape), std::move(values));
  }

private:
  OpText text;
  Module module;
};

double dot(const HostTensor &a, const HostTensor &b) {
  double sum = 0;
  for (auto [left, right] : llvm::zip(a.values(), b.values()))
    sum += left * right;
  return sum;
}

HostTensor moved(const HostTensor &from, const HostTensor &direction, double step) {
  std::vector<double> values(from.values());
  for (auto [value, along] : llvm::zip(values, direction.values()))
    value += step * along;
  return HostTensor(reference::Shape(from.shape()), std::move(values));
}
} // namespace

void mhc::test::checkGradient(const std::string &op, const OpText &forward, const OpText &backward) {
  if (isLeftOut())
    return;
  SCOPED_TRACE(kernelText(op + "_bwd", backward.operands, backward.attrs, backward.results));
  Chain function(op, forward), gradient(op + "_bwd", backward);
  ASSERT_TRUE(function.isValid() && gradient.isValid());
  std::mt19937 random(1);
  Values values, cotangents;
  for (auto [i, operand] : llvm::enumerate(forward.operands))
    values[operand.first] = function.randomOperand(i, random);
  Values all = values;
  for (auto &[name, value] : function(values))
    all[name] = value;
  for (auto [i, operand] : llvm::enumerate(backward.operands))
    if (operand.first.substr(0, 2) == "d_")
      all[operand.first] = cotangents[operand.first.substr(2)] = gradient.randomOperand(i, random);
  Values gradients = gradient(all);
  constexpr double kStep = 1e-5;
  for (auto &[name, type] : backward.results) {
    std::string operand = name.substr(2);
    unsigned index =
        llvm::find_if(forward.operands, [&](auto &o) { return o.first == operand; }) - forward.operands.begin();
    HostTensor direction = function.randomOperand(index, random);
    double slope = 0;
    for (double side : {1.0, -1.0}) {
      Values near = values;
      near[operand] = moved(values[operand], direction, side * kStep);
      for (auto &[result, value] : function(near))
        if (auto cotangent = cotangents.find(result); cotangent != cotangents.end())
          slope += side * dot(cotangent->second, value) / (2 * kStep);
    }
    double got = dot(gradients[name], direction);
    EXPECT_NEAR(got, slope, 1e-6 * (1 + std::fabs(slope))) << name;
  }
}
