//===- KernelTest.cpp ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every CPU kernel against the chain that defines its op, evaluated in float64. No lowering is involved: kernels are
// called by their record.
//
//===----------------------------------------------------------------------===//

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
#include <random>

using namespace mhc;
using llvm::formatv;
using mhc::reference::HostTensor;
using mhc::test::Module;

namespace {
using Names = std::vector<std::pair<std::string, std::string>>; ///< name and type
constexpr int M = 5, C = 24;

//===----------------------------------------------------------------------===//
// The text of one op in a function
//===----------------------------------------------------------------------===//

std::string join(const Names &names, llvm::function_ref<std::string(const std::string &, const std::string &)> form) {
  std::vector<std::string> parts;
  for (auto &[name, type] : names)
    parts.push_back(form(name, type));
  return llvm::join(parts, ", ");
}

std::string functionText(const Names &operands, const Names &results, const std::string &op) {
  std::string types = join(results, [](auto &, auto &type) { return type; });
  std::string arguments = join(operands, [](auto &name, auto &type) { return "%" + name + ": " + type; });
  int next = 0;
  std::string returned = join(results, [&](auto &, auto &) { return "%r#" + std::to_string(next++); });
  return formatv("func.func @f({0}) -> ({1}) {{\n  %r:{2} = {3}\n  return {4} : {1}\n}", arguments, types,
                 results.size(), op, returned);
}

std::string kernelText(const std::string &op, const Names &operands, const std::string &attrs, const Names &results) {
  std::string in = join(operands, [](auto &name, auto &type) { return name + " = %" + name + " : " + type; });
  std::string out = join(results, [](auto &name, auto &type) { return name + " : " + type; });
  return functionText(operands, results, formatv("mhc.{0}({1}) {2} -> ({3})", op, in, attrs, out));
}

std::string tensor(std::initializer_list<int> shape, const std::string &type = "f32") {
  std::string text = "tensor<";
  for (int size : shape)
    text += std::to_string(size) + "x";
  return text + type + ">";
}

/// The streams in a layout.
std::string streams(const std::string &layout, int n, const std::string &type) {
  return layout == "nC" ? tensor({M, n, C}, type) : tensor({M, C, n}, type);
}

/// The projection weight in a layout.
std::string weight(const std::string &layout, int rows, int n) {
  return layout == "out_in" ? tensor({rows, n * C}) : tensor({n * C, rows});
}

//===----------------------------------------------------------------------===//
// Both sides
//===----------------------------------------------------------------------===//

const llvm::fltSemantics &semanticsOf(int32_t dtype) {
  return dtype == kF32    ? llvm::APFloat::IEEEsingle()
         : dtype == kBF16 ? llvm::APFloat::BFloat()
                          : llvm::APFloat::IEEEhalf();
}

/// Elements of a type in memory, and back.
void encode(double value, int32_t dtype, char *to) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(semanticsOf(dtype), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  uint64_t bits = number.bitcastToAPInt().getZExtValue();
  std::memcpy(to, &bits, mhcrt_dtype_bytes(dtype));
}

double decode(const char *from, int32_t dtype) {
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
      c.tensors.push_back({false, MHCRT_NONE, 0, 0});
      memory.emplace_back();
      return;
    }
    auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
    for (auto [dim, size] : llvm::zip(dims, type.getShape()))
      c.values.dims[dim] = size;
    c.tensors.push_back({true, elementCode(type.getElementType()), type.getNumElements(), 1});
    memory.emplace_back(type.getNumElements() * mhcrt_dtype_bytes(c.tensors.back().dtype));
  }

  /// Random elements, as they are in memory.
  HostTensor fillOperand(unsigned index, llvm::ArrayRef<int64_t> shape, std::mt19937 &random) {
    std::uniform_real_distribution<double> distribution(-1.5, 1.5);
    std::vector<double> values(c.tensors[index].elements);
    int64_t bytes = mhcrt_dtype_bytes(c.tensors[index].dtype);
    for (size_t i = 0; i < values.size(); ++i) {
      encode(distribution(random), c.tensors[index].dtype, &memory[index][i * bytes]);
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

/// Runs the kernel of the one op in `text` and the decomposed function on the same random operands.
void check(const std::string &text) {
  SCOPED_TRACE(text);
  Module module(text);
  auto func = module.func();
  ASSERT_TRUE(func);
  auto op = *func.getOps<KernelOpInterface>().begin();
  Call call(op);
  std::mt19937 random(1);
  std::vector<HostTensor> arguments;
  std::vector<void *> data;
  for (auto [i, record] : llvm::enumerate(call.c.info->tensors)) {
    if (!record.isResult && call.c.tensors[i].isPresent)
      arguments.push_back(
          call.fillOperand(i, llvm::cast<mlir::RankedTensorType>(op.getTensor(i).getType()).getShape(), random));
    data.push_back(call.c.tensors[i].isPresent ? call.memory[i].data() : nullptr);
  }

  mhcrt_context *context = nullptr;
  ASSERT_EQ(mhcrt_context_create(1, &context), MHCRT_OK);
  bench::KernelFunction function(call.c, context, data);
  ASSERT_TRUE(function.isFound());
  EXPECT_EQ(function(), MHCRT_OK) << mhcrt_last_error(context);
  mhcrt_context_destroy(context);

  mlir::PassManager passes(func.getContext());
  passes.addNestedPass<mlir::func::FuncOp>(createDecomposePass());
  ASSERT_TRUE(succeeded(passes.run(func->getParentOfType<mlir::ModuleOp>())));
  auto want = reference::evaluate(func, arguments);
  ASSERT_TRUE(static_cast<bool>(want)) << llvm::toString(want.takeError());
  unsigned result = 0;
  for (auto [i, record] : llvm::enumerate(call.c.info->tensors))
    if (record.isResult && call.c.tensors[i].isPresent)
      expectSame(call, i, (*want)[result++]);
}

const char *const kTypes[] = {"f32", "bf16", "f16"};
const char *const kLayouts[] = {"nC", "Cn"};
const char *const kPhiLayouts[] = {"out_in", "in_out"};
} // namespace

//===----------------------------------------------------------------------===//
// One test per stem
//===----------------------------------------------------------------------===//

TEST(Kernel, Expand) {
  for (const char *type : kTypes)
    for (std::string layout : kLayouts)
      for (int n : {1, 3, 4}) {
        check(kernelText("expand", {{"x", tensor({M, C}, type)}}, "<layout = " + layout + ">",
                         {{"streams", streams(layout, n, type)}}));
        for (std::string mode : {"sum", "mean"})
          check(kernelText("contract", {{"x", streams(layout, n, type)}},
                           "<layout = " + layout + ", mode = " + mode + ">", {{"out", tensor({M, C}, type)}}));
      }
}

TEST(Kernel, Aggregate) {
  for (const char *type : kTypes)
    for (std::string layout : kLayouts)
      for (int n : {1, 3, 4, 16})
        check(kernelText("aggregate", {{"x", streams(layout, n, type)}, {"h_pre", tensor({M, n})}},
                         "<layout = " + layout + ">", {{"u", tensor({M, C}, type)}}));
}

TEST(Kernel, Post) {
  for (const char *type : kTypes)
    for (std::string layout : kLayouts)
      for (std::string orient : {"oi", "io"})
        for (std::string bias : {"", "f32", type})
          for (int n : {1, 3, 4}) {
            Names operands = {{"f", tensor({M, C}, type)},
                              {"h_post", tensor({M, n})},
                              {"x", streams(layout, n, type)},
                              {"h_res", tensor({M, n, n})}};
            if (!bias.empty())
              operands.insert(operands.begin() + 1, {"bias", tensor({C}, bias)});
            check(kernelText("post", operands, "<layout = " + layout + ", orient = " + orient + ">",
                             {{"out", streams(layout, n, type)}}));
          }
}

TEST(Kernel, Projection) {
  for (const char *type : kTypes)
    for (std::string layout : kLayouts)
      for (std::string phiLayout : kPhiLayouts)
        for (std::string norm : {"inside", "outside", "none"})
          for (std::string stat : {"mean_square", "inv_rms", "applied"})
            for (bool hasWeight : {false, true}) {
              constexpr int n = 3, N = 15;
              Names operands = {{"x", streams(layout, n, type)}, {"phi", weight(phiLayout, N, n)}};
              if (hasWeight)
                operands.push_back({"norm_weight", tensor({n * C})});
              Names results = {{"proj", tensor({M, N})}};
              if (stat != "applied")
                results.push_back({"stat", tensor({M})});
              check(
                  kernelText("projection", operands,
                             formatv("<layout = {0}, phi_layout = {1}, norm = {2}, norm_eps = 1.0e-3, stat_form = {3}>",
                                     layout, phiLayout, norm, stat),
                             results));
            }
}

TEST(Kernel, Gates) {
  for (std::string stat : {"inv_rms", "applied"})
    for (int n : {1, 3, 4, 8}) {
      auto build = [&](int N, int groups, Names results) {
        Names operands = {{"proj", tensor({M, N})}, {"alpha", tensor({groups})}, {"beta", tensor({N})}};
        if (stat != "applied")
          operands.insert(operands.begin() + 1, {"stat", tensor({M})});
        check(kernelText("gates", operands,
                         "<stat_form = " + stat + ", norm_eps = 0.0, pre_eps = 1.0e-2, post_mult = 2.0>", results));
      };
      build(n, 1, {{"h_pre", tensor({M, n})}});
      build(2 * n + 6, 3, {{"h_pre", tensor({M, n})}, {"h_post", tensor({M, n})}, {"logits", tensor({M, 6})}});
    }
}

TEST(Kernel, Sinkhorn) {
  for (int n : {1, 2, 3, 4, 8})
    for (std::string init : {"softmax_eps", "exp", "exp_rowmax", "exp_colmax", "log"})
      for (std::string order : {"row_col", "col_row"})
        for (std::string denom : {"add", "clamp", "none"})
          for (int iters : {0, 1, 7}) {
            if ((init == "softmax_eps" && (order == "col_row" || iters == 0)) || (init == "log" && denom != "none"))
              continue;
            check(kernelText(
                "sinkhorn", {{"logits", tensor({M, n, n})}},
                formatv("<init = {0}, order = {1}, denom = {2}, eps = 1.0e-1, iters = {3}>", init, order, denom, iters),
                {{"mix", tensor({M, n, n})}}));
          }
  for (int n = 1, permutations = 1; n <= 5; ++n, permutations *= n)
    check(kernelText("permutation_mix", {{"logits", tensor({M, permutations})}}, "", {{"mix", tensor({M, n, n})}}));
}

TEST(Kernel, Pre) {
  for (const char *type : kTypes)
    for (std::string layout : kLayouts)
      for (std::string phiLayout : kPhiLayouts)
        for (std::string map : {"sinkhorn", "permutation", "identity"})
          for (bool hasOptional : {false, true}) {
            constexpr int n = 3;
            int N = 2 * n + (map == "permutation" ? 6 : n * n);
            Names operands = {{"x", streams(layout, n, type)},
                              {"phi", weight(phiLayout, N, n)},
                              {"alpha", tensor({3})},
                              {"beta", tensor({N})}};
            Names results = {{"u", tensor({M, C}, type)}, {"h_post", tensor({M, n})}, {"h_res", tensor({M, n, n})}};
            if (hasOptional) {
              operands.insert(operands.begin() + 2, {"norm_weight", tensor({n * C})});
              results.insert(results.begin() + 1, {"h_pre", tensor({M, n})});
            }
            check(kernelText("pre", operands,
                             formatv("<layout = {0}, phi_layout = {1}, norm = outside, norm_eps = 1.0e-3, "
                                     "pre_eps = 1.0e-2, post_mult = 2.0, res_map = {2}, init = softmax_eps, "
                                     "order = row_col, denom = add, sk_eps = 1.0e-2, iters = 5, fold_pre = {3}>",
                                     layout, phiLayout, map, hasOptional ? "true" : "false"),
                             results));
          }
}

TEST(Kernel, Head) {
  for (const char *type : kTypes)
    for (std::string layout : kLayouts)
      for (std::string phiLayout : kPhiLayouts)
        for (int n : {1, 4})
          check(
              kernelText("head",
                         {{"x", streams(layout, n, type)},
                          {"phi", weight(phiLayout, n, n)},
                          {"alpha", tensor({1})},
                          {"beta", tensor({n})}},
                         formatv("<layout = {0}, phi_layout = {1}, norm = inside, norm_eps = 1.0e-3, pre_eps = 1.0e-2>",
                                 layout, phiLayout),
                         {{"out", tensor({M, C}, type)}, {"h_pre", tensor({M, n})}}));
}

TEST(Kernel, Matmul) {
  for (bool left : {false, true})
    for (bool right : {false, true}) {
      auto build = [&](const char *op, std::string lhs, std::string rhs, std::string out) {
        check(functionText({{"a", lhs}, {"b", rhs}}, {{"out", out}},
                           formatv("mhc.{0} %a, %b {1} {2} : ({3}, {4}) -> {5}", op, left ? "transpose_lhs" : "",
                                   right ? "transpose_rhs" : "", lhs, rhs, out)));
      };
      build("matmul", left ? tensor({7, M}) : tensor({M, 7}), right ? tensor({3, 7}) : tensor({7, 3}), tensor({M, 3}));
      build("batch_matmul", left ? tensor({2, 7, M}) : tensor({2, M, 7}), right ? tensor({2, 3, 7}) : tensor({2, 7, 3}),
            tensor({2, M, 3}));
    }
}
