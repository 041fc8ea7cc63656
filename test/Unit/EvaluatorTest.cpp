//===- EvaluatorTest.cpp ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Against numbers computed by hand.
//
//===----------------------------------------------------------------------===//

#include "mhc/Reference/Evaluator.h"
#include "ParseModule.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>
#include <regex>

using namespace mhc::reference;
using mhc::test::Module;

namespace {
struct Outcome {
  std::vector<HostTensor> results;
  std::string error;
};

Outcome run(llvm::StringRef text, std::vector<HostTensor> arguments) {
  Module module(text);
  if (!module.func())
    return {{}, "does not parse"};
  auto results = evaluate(module.func(), arguments);
  if (!results)
    return {{}, llvm::toString(results.takeError())};
  return {std::move(*results), ""};
}

/// Runs `body` as a function of %x and %y on the types given; its one result is %r.
Outcome runBody(llvm::StringRef body, llvm::StringRef types, llvm::StringRef result,
                std::vector<HostTensor> arguments) {
  auto [x, y] = types.split(';');
  std::string text = ("func.func @f(%x: " + x + (y.empty() ? "" : ", %y: " + y.str()) + ") -> " + result + " {\n" +
                      body + "\nreturn %r : " + result + "\n}")
                         .str();
  return run(text, std::move(arguments));
}

void expectTensor(const Outcome &outcome, Shape shape, std::vector<double> values) {
  ASSERT_EQ(outcome.error, "");
  ASSERT_EQ(outcome.results.size(), 1u);
  EXPECT_EQ(outcome.results[0].shape(), llvm::ArrayRef<int64_t>(shape));
  ASSERT_EQ(outcome.results[0].size(), static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_DOUBLE_EQ(outcome.results[0].data()[i], values[i]) << "at " << i;
}

const HostTensor kTwoByThree({2, 3}, {1, 2, 3, 4, 5, 6});
} // namespace

TEST(Evaluator, RoundsResultsOfOpsWhereAsked) {
  Module module("func.func @f(%x: f64, %i: index) -> (f64, index) {\n  %r = arith.addf %x, %x : f64\n"
                "  %j = arith.addi %i, %i : index\n  return %r, %j : f64, index\n}");
  const double fine = 1 + 0x1p-30, odd = (1 << 25) + 1;
  for (Rounding rounding : {Rounding::None, Rounding::ToF32}) {
    auto results = evaluate(module.func(), {HostTensor(fine), HostTensor(odd)}, rounding);
    ASSERT_TRUE(static_cast<bool>(results));
    EXPECT_EQ((*results)[0].scalar(), rounding == Rounding::None ? 2 * fine : 2);
    EXPECT_EQ((*results)[1].scalar(), 2 * odd); // integers stay
  }
}

TEST(Evaluator, MovesResultsByOneRoundoffWhereAsked) {
  Module module("func.func @f(%x: f16, %i: index) -> (f16, f16, index) {\n  %r = arith.addf %x, %x : f16\n"
                "  %big = arith.mulf %r, %r : f16\n  %still = arith.addf %big, %r : f16\n"
                "  %j = arith.addi %i, %i : index\n  return %r, %still, %j : f16, f16, index\n}");
  bool down = false, up = false;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto results = evaluate(module.func(), {HostTensor(160), HostTensor(3)}, Rounding::AtRandom, seed);
    ASSERT_TRUE(static_cast<bool>(results));
    const double sum = (*results)[0].scalar();
    const double moved = (sum - 320) / (320 * 0x1p-11);
    EXPECT_TRUE(std::fabs(moved) >= 0.5 && std::fabs(moved) <= 1) << moved;
    down |= moved < 0;
    up |= moved > 0;
    EXPECT_EQ((*results)[1].scalar(), INFINITY); // no f16 holds 320 squared; infinity stays
    EXPECT_EQ((*results)[2].scalar(), 6);        // integers stay
  }
  EXPECT_TRUE(down && up);
}

TEST(Evaluator, RoundsNumbersThatTheCodeRounds) {
  Module module("func.func @f(%x: f32) -> (bf16, bf16, f32) {\n  %c = arith.constant 1.01 : f32\n"
                "  %d = arith.constant 1.01 : f64\n  %a = arith.truncf %c : f32 to bf16\n"
                "  %b = arith.truncf %x : f32 to bf16\n  %e = arith.truncf %d : f64 to f32\n"
                "  return %a, %b, %e : bf16, bf16, f32\n}");
  auto results = evaluate(module.func(), {HostTensor(1.01)});
  ASSERT_TRUE(static_cast<bool>(results));
  EXPECT_EQ((*results)[0].scalar(), 1.0078125); // the bf16 next to 1.01
  EXPECT_EQ((*results)[1].scalar(), 1.01);      // computed values stay
  EXPECT_EQ((*results)[2].scalar(), 1.01);      // f32 is near enough
}

TEST(Evaluator, UnderflowsWhereAsked) {
  Module module("func.func @f(%x: f32) -> (f32, f32) {\n  %a = math.exp %x : f32\n"
                "  %b = arith.divf %a, %a : f32\n  return %a, %b : f32, f32\n}");
  auto results = evaluate(module.func(), {HostTensor(-200)}, Rounding::AtRandom);
  ASSERT_TRUE(static_cast<bool>(results));
  EXPECT_EQ((*results)[0].scalar(), 0); // no f32 holds exp(-200)
  EXPECT_TRUE(std::isnan((*results)[1].scalar()));
}

TEST(Evaluator, Arithmetic) {
  auto binary = [](llvm::StringRef op, double a, double b) {
    Outcome outcome = runBody(("%r = " + op + " %x, %y : f64").str(), "f64;f64", "f64", {HostTensor(a), HostTensor(b)});
    EXPECT_EQ(outcome.error, "");
    return outcome.results.empty() ? NAN : outcome.results[0].scalar();
  };
  EXPECT_EQ(binary("arith.addf", 3, 5), 8);
  EXPECT_EQ(binary("arith.subf", 3, 5), -2);
  EXPECT_EQ(binary("arith.mulf", 3, 5), 15);
  EXPECT_EQ(binary("arith.divf", 3, 4), 0.75);
  EXPECT_EQ(binary("arith.minimumf", 3, 4), 3);
  EXPECT_TRUE(std::isnan(binary("arith.maximumf", NAN, 4)));
  EXPECT_EQ(binary("arith.maxnumf", NAN, 4), 4);
  EXPECT_EQ(binary("arith.minnumf", 2, NAN), 2);
  EXPECT_EQ(binary("math.powf", 2, 10), 1024);
  auto unary = [](llvm::StringRef op, double a) {
    Outcome outcome =
        runBody(("%r = " + op + " %x : tensor<1xf32>").str(), "tensor<1xf32>", "tensor<1xf32>", {HostTensor({1}, {a})});
    EXPECT_EQ(outcome.error, "");
    return outcome.results.empty() ? NAN : outcome.results[0].data()[0];
  };
  EXPECT_DOUBLE_EQ(unary("math.exp", 1), M_E);
  EXPECT_DOUBLE_EQ(unary("math.rsqrt", 4), 0.5);
  EXPECT_DOUBLE_EQ(unary("math.log1p", 1e-20), 1e-20);
  EXPECT_DOUBLE_EQ(unary("arith.negf", 2), -2);
  EXPECT_DOUBLE_EQ(unary("mhc.sigmoid", 0), 0.5);
  EXPECT_DOUBLE_EQ(unary("mhc.sigmoid", -1000), 0);
  EXPECT_DOUBLE_EQ(unary("mhc.sigmoid", 1000), 1);
  EXPECT_DOUBLE_EQ(unary("mhc.silu", -1000), 0);
  EXPECT_DOUBLE_EQ(unary("mhc.softplus", 0), std::log(2.0));
  EXPECT_DOUBLE_EQ(unary("mhc.softplus", 1000), 1000);
}

TEST(Evaluator, CastsDoNotRound) {
  Outcome outcome = runBody("%b = arith.truncf %x : tensor<1xf32> to tensor<1xbf16>\n"
                            "%r = arith.extf %b : tensor<1xbf16> to tensor<1xf32>",
                            "tensor<1xf32>", "tensor<1xf32>", {HostTensor({1}, {1.0 / 3})});
  expectTensor(outcome, {1}, {1.0 / 3});
}

TEST(Evaluator, Constants) {
  expectTensor(run("func.func @f() -> tensor<2x2xf32> {\n%r = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : "
                   "tensor<2x2xf32>\nreturn %r : tensor<2x2xf32>\n}",
                   {}),
               {2, 2}, {1, 2, 3, 4});
  expectTensor(run("func.func @f() -> tensor<3xbf16> {\n%r = arith.constant dense<0.1> : tensor<3xbf16>\n"
                   "return %r : tensor<3xbf16>\n}",
                   {}),
               {3}, {0.10009765625, 0.10009765625, 0.10009765625});
}

TEST(Evaluator, Rows) {
  const char *take = "%r = mhc.take(table = %x : tensor<2x3xf32>, ids = %y : tensor<?xi32>) -> (out : tensor<?x3xf32>)";
  auto takeRows = [&](std::vector<double> ids) {
    int64_t count = ids.size();
    return runBody(take, "tensor<2x3xf32>;tensor<?xi32>", "tensor<?x3xf32>",
                   {kTwoByThree, HostTensor({count}, std::move(ids))});
  };
  expectTensor(takeRows({1, 0, 1}), {3, 3}, {4, 5, 6, 1, 2, 3, 4, 5, 6});
  expectTensor(takeRows({}), {0, 3}, {});
  EXPECT_NE(takeRows({0, 2}).error.find("'mhc.take' has row 2 at 1; the table has 2"), std::string::npos);
  EXPECT_NE(takeRows({-1}).error.find("'mhc.take' has row -1 at 0; the table has 2"), std::string::npos);
  const char *add = "%t = arith.constant dense<1.0> : tensor<3x3xf32>\n%r = mhc.take_bwd(d_out = %x : tensor<2x3xf32>, "
                    "ids = %y : tensor<2xi32>, d_table_in = %t : tensor<3x3xf32>) -> (d_table : tensor<3x3xf32>)";
  auto addRows = [&](std::vector<double> ids) {
    return runBody(add, "tensor<2x3xf32>;tensor<2xi32>", "tensor<3x3xf32>",
                   {kTwoByThree, HostTensor({2}, std::move(ids))});
  };
  expectTensor(addRows({2, 2}), {3, 3}, {1, 1, 1, 1, 1, 1, 6, 8, 10});
  EXPECT_NE(addRows({0, 3}).error.find("'mhc.take_bwd' has row 3 at 1; the table has 3"), std::string::npos);
}

/// Known answers of Random123 (philox4x32, 10 rounds).
TEST(Evaluator, RandomNumbers) {
  auto uniform = [](std::vector<double> seed, const char *stream, std::vector<uint32_t> words) {
    for (uint32_t &word : words)
      word >>= 8;
    std::vector<double> wanted;
    for (uint32_t word : words)
      wanted.push_back(word / 16777216.0);
    std::string op = std::string("%r = mhc.random(seed = %x : tensor<2xi64>) <distribution = uniform, stream = ") +
                     stream + "> -> (out : tensor<4xf32>)";
    expectTensor(runBody(op, "tensor<2xi64>", "tensor<4xf32>", {HostTensor({2}, std::move(seed))}), {4}, wanted);
  };
  uniform({0, 0}, "0", {0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8});
  expectTensor(
      runBody("%r = mhc.dropout(x = %x : tensor<1x4xf32>, seed = %y : tensor<2xi64>) <rate = 0.625, stream = 0> "
              "-> (out : tensor<1x4xf32>)",
              "tensor<1x4xf32>;tensor<2xi64>", "tensor<1x4xf32>",
              {HostTensor({1, 4}, {3, 3, 3, 3}), HostTensor({2}, {0, 0})}),
      {1, 4}, {0, 8, 8, 0});
}

TEST(Evaluator, Products) {
  HostTensor y({3, 2}, {1, 0, 0, 1, 1, 1});
  expectTensor(runBody("%r = mhc.matmul %x, %y : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>",
                       "tensor<2x3xf32>;tensor<3x2xf32>", "tensor<2x2xf32>", {kTwoByThree, y}),
               {2, 2}, {4, 5, 10, 11});
  expectTensor(runBody("%r = mhc.matmul %x, %y transpose_lhs transpose_rhs : (tensor<2x3xf32>, tensor<3x2xf32>) -> "
                       "tensor<3x3xf32>",
                       "tensor<2x3xf32>;tensor<3x2xf32>", "tensor<3x3xf32>", {kTwoByThree, y}),
               {3, 3}, {1, 4, 5, 2, 5, 7, 3, 6, 9});
  expectTensor(runBody("%r = mhc.batch_matmul %x, %y transpose_rhs : (tensor<2x1x3xf32>, tensor<2x1x3xf32>) -> "
                       "tensor<2x1x1xf32>",
                       "tensor<2x1x3xf32>;tensor<2x1x3xf32>", "tensor<2x1x1xf32>",
                       {kTwoByThree.reshaped({2, 1, 3}), kTwoByThree.reshaped({2, 1, 3})}),
               {2, 1, 1}, {14, 77});
}

TEST(Evaluator, Reductions) {
  auto reduce = [](const char *kind, const char *dims, const char *result, const HostTensor &x = kTwoByThree) {
    std::string body = llvm::formatv("%r = mhc.reduce {0} %x dims = {1} : tensor<?x3xf32> -> {2}", kind, dims, result);
    return runBody(body, "tensor<?x3xf32>", result, {x});
  };
  expectTensor(reduce("sum", "[1]", "tensor<?xf32>"), {2}, {6, 15});
  expectTensor(reduce("mean", "[0]", "tensor<3xf32>"), {3}, {2.5, 3.5, 4.5});
  expectTensor(reduce("max", "[0, 1]", "tensor<f32>"), {}, {6});
  expectTensor(reduce("max", "[0]", "tensor<3xf32>", HostTensor({0, 3}, {})), {3}, {-INFINITY, -INFINITY, -INFINITY});
}

TEST(Evaluator, SoftmaxAndNorm) {
  double e = M_E;
  expectTensor(runBody("%r = mhc.softmax %x dim = 0 : tensor<2x1xf32>", "tensor<2x1xf32>", "tensor<2x1xf32>",
                       {HostTensor({2, 1}, {1000, 1001})}),
               {2, 1}, {1 / (1 + e), e / (1 + e)});
  double s = 1 / std::sqrt(12.5 + 0.5);
  expectTensor(runBody("%r = mhc.rms_norm %x, %y eps = 0.5 : tensor<1x2xf32>, tensor<2xf32>",
                       "tensor<1x2xf32>;tensor<2xf32>", "tensor<1x2xf32>",
                       {HostTensor({1, 2}, {3, 4}), HostTensor({2}, {1, 10})}),
               {1, 2}, {3 * s, 40 * s});
}

TEST(Evaluator, MovingElements) {
  expectTensor(runBody("%r = mhc.transpose %x perm = [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>", "tensor<2x3xf32>",
                       "tensor<3x2xf32>", {kTwoByThree}),
               {3, 2}, {1, 4, 2, 5, 3, 6});
  expectTensor(runBody("%c = arith.constant 2 : index\n"
                       "%r = mhc.broadcast %x[%c] dims = [1] : tensor<3xf32> -> tensor<?x3xf32>",
                       "tensor<3xf32>", "tensor<?x3xf32>", {HostTensor({3}, {1, 2, 3})}),
               {2, 3}, {1, 2, 3, 1, 2, 3});
  expectTensor(runBody("%r = mhc.broadcast %x dims = [0, 1] : tensor<?x1xf32> -> tensor<?x2xf32>", "tensor<?x1xf32>",
                       "tensor<?x2xf32>", {HostTensor({2, 1}, {1, 2})}),
               {2, 2}, {1, 1, 2, 2});
  expectTensor(runBody("%r = tensor.extract_slice %x[0, 1] [2, 1] [1, 1] : tensor<2x3xf32> to tensor<2xf32>",
                       "tensor<2x3xf32>", "tensor<2xf32>", {kTwoByThree}),
               {2}, {2, 5});
  expectTensor(runBody("%r = tensor.extract_slice %x[0, 0] [2, 2] [1, 2] : tensor<2x3xf32> to tensor<2x2xf32>",
                       "tensor<2x3xf32>", "tensor<2x2xf32>", {kTwoByThree}),
               {2, 2}, {1, 3, 4, 6});
  expectTensor(runBody("%r = tensor.insert_slice %y into %x[0, 1] [2, 1] [1, 1] : tensor<2xf32> into tensor<2x3xf32>",
                       "tensor<2x3xf32>;tensor<2xf32>", "tensor<2x3xf32>", {kTwoByThree, HostTensor({2}, {8, 9})}),
               {2, 3}, {1, 8, 3, 4, 9, 6});
  expectTensor(runBody("%r = tensor.concat dim(1) %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>",
                       "tensor<2x3xf32>", "tensor<2x6xf32>", {kTwoByThree}),
               {2, 6}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
}

TEST(Evaluator, Shapes) {
  expectTensor(runBody("%c0 = arith.constant 0 : index\n%M = tensor.dim %x, %c0 : tensor<?x6xf32>\n"
                       "%e = tensor.expand_shape %x [[0], [1, 2]] output_shape [%M, 3, 2] : tensor<?x6xf32> into "
                       "tensor<?x3x2xf32>\n"
                       "%r = tensor.collapse_shape %e [[0, 1], [2]] : tensor<?x3x2xf32> into tensor<?x2xf32>",
                       "tensor<?x6xf32>", "tensor<?x2xf32>", {kTwoByThree.reshaped({1, 6})}),
               {3, 2}, {1, 2, 3, 4, 5, 6});
  expectTensor(runBody("%a = tensor.extract %y[%x] : tensor<2xf32>\n"
                       "%s = tensor.splat %a[%x] : tensor<?xf32>\n"
                       "%r = tensor.cast %s : tensor<?xf32> to tensor<1xf32>",
                       "index;tensor<2xf32>", "tensor<1xf32>", {HostTensor(1), HostTensor({2}, {5, 6})}),
               {1}, {6});
  expectTensor(runBody("%r = tensor.from_elements %x, %y : tensor<2xf32>", "f32;f32", "tensor<2xf32>",
                       {HostTensor(7), HostTensor(8)}),
               {2}, {7, 8});
}

// Elements that the body reads by index: rows 1 and 0 of each pair.
TEST(Evaluator, ElementsByIndexInBodies) {
  const char *body = R"(
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<2x3xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        outs(%e : tensor<2x3xf32>) {
    ^bb0(%out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %other = affine.apply affine_map<(d0)[s0] -> ((d0 + s0) mod 2)>(%i)[%c1]
      %x_ij = tensor.extract %x[%other, %j] : tensor<2x3xf32>
      linalg.yield %x_ij : f32
    } -> tensor<2x3xf32>)";
  expectTensor(runBody(body, "tensor<2x3xf32>", "tensor<2x3xf32>", {kTwoByThree}), {2, 3}, {4, 5, 6, 1, 2, 3});
  std::string beyond = std::regex_replace(body, std::regex("mod 2"), "mod 3");
  EXPECT_NE(runBody(beyond, "tensor<2x3xf32>", "tensor<2x3xf32>", {kTwoByThree})
                .error.find("'tensor.extract' reads index 2 of a dimension of size 2"),
            std::string::npos);
}

// A dimension that is read by a sum of loops: a convolution of 1 2 3 4 by 10 1.
TEST(Evaluator, SumsOfLoopsInMaps) {
  const char *body = R"(
    %w = arith.constant dense<[10.0, 1.0]> : tensor<2xf32>
    %e = arith.constant dense<0.0> : tensor<3xf32>
    %r = linalg.conv_1d ins(%x, %w : tensor<4xf32>, tensor<2xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>)";
  const HostTensor x({4}, {1, 2, 3, 4});
  expectTensor(runBody(body, "tensor<4xf32>", "tensor<3xf32>", {x}), {3}, {12, 23, 34});
  std::string longer = std::regex_replace(body, std::regex("3xf32"), "?xf32");
  longer = std::regex_replace(longer, std::regex("%e = .*"), R"(%c4 = arith.constant 4 : index
    %e = tensor.empty(%c4) : tensor<?xf32>)");
  EXPECT_NE(runBody(longer, "tensor<4xf32>", "tensor<?xf32>", {x})
                .error.find("'linalg.conv_1d' reads element 4 of a dimension that has 4"),
            std::string::npos);
}

// Either side of a branch in a body, which reads beyond its tensor where it is not taken: x0 x1 y0 y1.
TEST(Evaluator, BranchesInBodies) {
  const char *body = R"(
    %c2 = arith.constant 2 : index
    %e = tensor.empty() : tensor<4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        outs(%e : tensor<4xf32>) {
    ^bb0(%out: f32):
      %i = linalg.index 0 : index
      %first = arith.cmpi ult, %i, %c2 : index
      %z = scf.if %first -> f32 {
        %a = tensor.extract %x[%i] : tensor<2xf32>
        scf.yield %a : f32
      } else {
        %at = arith.subi %i, %c2 : index
        %b = tensor.extract %x[%at] : tensor<2xf32>
        %n = arith.negf %b : f32
        scf.yield %n : f32
      }
      linalg.yield %z : f32
    } -> tensor<4xf32>)";
  expectTensor(runBody(body, "tensor<2xf32>", "tensor<4xf32>", {HostTensor({2}, {5, 6})}), {4}, {5, 6, -5, -6});
  std::string beyond = std::regex_replace(body, std::regex("cmpi ult"), "cmpi ule");
  EXPECT_NE(runBody(beyond, "tensor<2xf32>", "tensor<4xf32>", {HostTensor({2}, {5, 6})})
                .error.find("'tensor.extract' reads index 2 of a dimension of size 2"),
            std::string::npos);
}

TEST(Evaluator, Padding) {
  expectTensor(runBody("%z = arith.constant 7.0 : f32\n%r = tensor.pad %x low[0, 1] high[1, 0] {\n"
                       "^bb0(%i: index, %j: index):\n  tensor.yield %z : f32\n} : tensor<2x3xf32> to tensor<3x4xf32>",
                       "tensor<2x3xf32>", "tensor<3x4xf32>", {kTwoByThree}),
               {3, 4}, {7, 1, 2, 3, 7, 4, 5, 6, 7, 7, 7, 7});
  // By a number that the program computes
  expectTensor(runBody("%z = tensor.extract %y[] : tensor<f32>\n%r = tensor.pad %x low[1] high[0] {\n"
                       "^bb0(%i: index):\n  tensor.yield %z : f32\n} : tensor<2xf32> to tensor<3xf32>",
                       "tensor<2xf32>;tensor<f32>", "tensor<3xf32>", {HostTensor({2}, {1, 2}), HostTensor({}, {7})}),
               {3}, {7, 1, 2});
}

TEST(Evaluator, FusedMultiplyAddAndPowersOfTwo) {
  expectTensor(runBody("%p = math.exp2 %x : tensor<2xf32>\n%r = math.fma %p, %y, %x : tensor<2xf32>",
                       "tensor<2xf32>;tensor<2xf32>", "tensor<2xf32>",
                       {HostTensor({2}, {1, 3}), HostTensor({2}, {5, 6})}),
               {2}, {11, 51});
}

TEST(Evaluator, Resources) {
  expectTensor(run("func.func @f() -> tensor<2xf32> {\n  %r = arith.constant dense_resource<w> : tensor<2xf32>\n"
                   "  return %r : tensor<2xf32>\n}\n"
                   "{-# dialect_resources: { builtin: { w: \"0x040000000000803F00000040\" } } #-}",
                   {}),
               {2}, {1, 2});
}

TEST(Evaluator, ReshapesBySizes) {
  // 4/-2 is -2, which has no larger one without a sign; with 6 more it is 4.
  expectTensor(runBody("%c4 = arith.constant 4 : i64\n%c6 = arith.constant 6 : i64\n%n = arith.constant -2 : i64\n"
                       "%a = arith.divsi %c4, %n : i64\n%u = arith.maxui %a, %c4 : i64\n"
                       "%v = arith.addi %u, %c6 : i64\n%b = arith.maxsi %v, %n : i64\n"
                       "%yes = arith.constant true\n%i = arith.extui %yes : i1 to i64\n"
                       "%s = tensor.from_elements %b, %i : tensor<2xi64>\n"
                       "%r = tensor.reshape %x(%s) : (tensor<2x2xf32>, tensor<2xi64>) -> tensor<?x?xf32>",
                       "tensor<2x2xf32>", "tensor<?x?xf32>", {HostTensor({2, 2}, {1, 2, 3, 4})}),
               {4, 1}, {1, 2, 3, 4});
  expectTensor(runBody("%c = arith.constant -1 : i8\n%w = arith.extui %c : i8 to i32\n"
                       "%r = arith.sitofp %w : i32 to f32",
                       "f32", "f32", {HostTensor(0)}),
               {}, {255});
}

TEST(Evaluator, WhileLoops) {
  const char *text = "func.func @f(%x: f32, %limit: f32) -> f32 {\n"
                     "%r = scf.while (%a = %x) : (f32) -> f32 {\n%more = arith.cmpf olt, %a, %limit : f32\n"
                     "scf.condition(%more) %a : f32\n} do {\n^bb0(%a: f32):\n%b = arith.addf %a, %a : f32\n"
                     "scf.yield %b : f32\n}\nreturn %r : f32\n}";
  expectTensor(run(text, {HostTensor(3), HostTensor(20)}), {}, {24});
  expectTensor(run(text, {HostTensor(3), HostTensor(2)}), {}, {3});
}

TEST(Evaluator, LoopsAndCalls) {
  Outcome outcome = run(R"mlir(
    func.func private @double(%x: tensor<?xf32>) -> tensor<?xf32> {
      %r = arith.addf %x, %x : tensor<?xf32>
      return %r : tensor<?xf32>
    }
    func.func @f(%x: tensor<?xf32>) -> (tensor<?xf32>, index) {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c5 = arith.constant 5 : index
      %r:2 = scf.for %i = %c0 to %c5 step %c2 iter_args(%a = %x, %n = %c0) -> (tensor<?xf32>, index) {
        %b = func.call @double(%a) : (tensor<?xf32>) -> tensor<?xf32>
        %m = arith.addi %n, %i : index
        scf.yield %b, %m : tensor<?xf32>, index
      }
      return %r#0, %r#1 : tensor<?xf32>, index
    })mlir",
                        {HostTensor({2}, {1, 3})});
  ASSERT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.results[0].values(), llvm::ArrayRef<double>({8, 24}));
  EXPECT_EQ(outcome.results[1].integer(), 0 + 2 + 4);
}

TEST(Evaluator, Branches) {
  const char *text = "func.func @f(%x: tensor<2xf32>, %y: f32) -> tensor<2xf32> {\n"
                     "%zero = arith.constant 0.0 : f32\n%positive = arith.cmpf ogt, %y, %zero : f32\n"
                     "%r = scf.if %positive -> tensor<2xf32> {\n%n = arith.negf %x : tensor<2xf32>\n"
                     "scf.yield %n : tensor<2xf32>\n} else {\nscf.yield %x : tensor<2xf32>\n}\n"
                     "return %r : tensor<2xf32>\n}";
  HostTensor x({2}, {1, 2});
  expectTensor(run(text, {x, HostTensor(1.0)}), {2}, {-1, -2});
  expectTensor(run(text, {x, HostTensor(0.0)}), {2}, {1, 2});
  expectTensor(run(text, {x, HostTensor(NAN)}), {2}, {1, 2});
}

TEST(Evaluator, ComparisonsAndSelect) {
  auto larger = [](llvm::StringRef predicate, double y) {
    Outcome outcome = runBody(("%c = arith.cmpf " + predicate + ", %x, %y : tensor<3xf32>\n" +
                               "%r = arith.select %c, %x, %y : tensor<3xi1>, tensor<3xf32>")
                                  .str(),
                              "tensor<3xf32>;tensor<3xf32>", "tensor<3xf32>",
                              {HostTensor({3}, {1, 2, 3}), HostTensor({3}, {y, y, y})});
    EXPECT_EQ(outcome.error, "");
    return outcome.results.empty() ? std::vector<double>() : outcome.results[0].values().vec();
  };
  using Values = std::vector<double>;
  EXPECT_EQ(larger("ogt", 2), (Values{2, 2, 3}));
  EXPECT_EQ(larger("ole", 2), (Values{1, 2, 2}));
  EXPECT_EQ(larger("une", NAN), (Values{1, 2, 3}));
  EXPECT_TRUE(std::isnan(larger("one", NAN)[0]));
  EXPECT_EQ(larger("uno", NAN), (Values{1, 2, 3}));
  expectTensor(runBody("%c = arith.cmpi slt, %x, %y : i64\n%r = arith.select %c, %y, %x : i64", "i64;i64", "i64",
                       {HostTensor(-3.0), HostTensor(2.0)}),
               {}, {2});
}

TEST(Evaluator, ErrorsNameTheOpAndWhatItFound) {
  auto expectError = [](const Outcome &outcome, const char *text) {
    EXPECT_NE(outcome.error.find(text), std::string::npos) << outcome.error;
  };
  HostTensor two({2}, {1, 2}), three({3}, {1, 2, 3});
  const char *add = "%r = arith.addf %x, %y : tensor<?xf32>";
  expectError(runBody(add, "tensor<?xf32>;tensor<?xf32>", "tensor<?xf32>", {two, three}),
              "'arith.addf' has operands of shape [2] and [3]; needed equal shapes");
  expectError(runBody(add, "tensor<?xf32>;tensor<?xf32>", "tensor<?xf32>", {two}), "'f' has 2 arguments; 1 were given");
  expectError(runBody("%r = arith.negf %x : tensor<?x4xf32>", "tensor<?x4xf32>", "tensor<?x4xf32>", {two}),
              "'f': argument 0 has shape [2] and 2 elements; needed tensor<?x4xf32>");
  expectError(runBody("%r = tensor.cast %x : tensor<?xf32> to tensor<5xf32>", "tensor<?xf32>", "tensor<5xf32>", {two}),
              "'tensor.cast' has a result of shape [2]; its type is tensor<5xf32>");
  expectError(
      runBody("%r = mhc.contract(x = %x : tensor<2x3x1xf32>) <layout = nC, mode = mean> -> (out : tensor<2x1xf32>)",
              "tensor<2x3x1xf32>", "tensor<2x1xf32>", {kTwoByThree.reshaped({2, 3, 1})}),
      "'mhc.contract' is not a leaf op; run mhc-decompose before the reference evaluator");
  expectError(runBody("%r = arith.bitcast %x : f32 to i32", "f32", "i32", {HostTensor(1)}),
              "'arith.bitcast' is unknown to the reference evaluator");
  expectError(
      runBody(
          "%c3 = arith.constant 3 : index\n%r = tensor.extract_slice %x[1] [%c3] [1] : tensor<?xf32> to tensor<?xf32>",
          "tensor<?xf32>", "tensor<?xf32>", {three}),
      "'tensor.extract_slice' takes offsets [1], sizes [3] and strides [1] of shape [3]");
  const char *asserted = "%zero = arith.constant 0.0 : f32\n%good = arith.cmpf one, %x, %zero : f32\n"
                         "cf.assert %good, \"zero\"\n%r = arith.negf %x : f32";
  expectTensor(runBody(asserted, "f32", "f32", {HostTensor(1)}), {}, {-1});
  expectError(runBody(asserted, "f32", "f32", {HostTensor(0)}), "'cf.assert' fails: zero");
  const char *assertedEach = "%zero = arith.constant 0.0 : f32\n"
                             "%r = linalg.map ins(%x : tensor<2xf32>) outs(%x : tensor<2xf32>) (%a: f32, %o: f32) {\n"
                             "%good = arith.cmpf one, %a, %zero : f32\ncf.assert %good, \"zero\"\n"
                             "%n = arith.negf %a : f32\nlinalg.yield %n : f32\n}";
  expectTensor(runBody(assertedEach, "tensor<2xf32>", "tensor<2xf32>", {two}), {2}, {-1, -2});
  expectError(runBody(assertedEach, "tensor<2xf32>", "tensor<2xf32>", {HostTensor({2}, {1, 0})}),
              "'cf.assert' fails: zero");
}
