//===- NumericCheckTest.cpp ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/NumericCheck/NumericCheck.h"
#include "ParseModule.h"
#include "gtest/gtest.h"

using namespace mhc;
using mhc::test::Module;

/// The body of a function of %x, with ops tagged "was" and "becomes".
static std::string function(llvm::StringRef body) {
  return ("func.func @f(%x: tensor<?x4xf32>, %logits: tensor<?x4x4xf32>, %seed: tensor<2xi64>, "
          "%other: tensor<2xi64>) {" +
          body + "return }")
      .str();
}

static std::optional<std::string> difference(NumericCheck &numericCheck, llvm::StringRef body) {
  Module module(function(body));
  EXPECT_TRUE(module.func()) << body.str();
  return numericCheck.findDifference({module.value("was")}, {module.value("becomes")});
}

static const char *const kLogistic = R"mlir(
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %ones = tensor.splat %one[%M] : tensor<?x4xf32>
  %minus = arith.negf %x : tensor<?x4xf32>
  %exp = math.exp %minus : tensor<?x4xf32>
  %sum = arith.addf %exp, %ones : tensor<?x4xf32>
  %was = arith.divf %ones, %sum {tag = "was"} : tensor<?x4xf32>)mlir";

TEST(NumericCheck, AcceptsWhatIsEqual) {
  NumericCheck numericCheck;
  auto found = difference(numericCheck, std::string(kLogistic) + R"mlir(
    %becomes = mhc.sigmoid %x {tag = "becomes"} : tensor<?x4xf32>)mlir");
  EXPECT_EQ(found, std::nullopt) << *found;
  EXPECT_EQ(numericCheck.counts().compared, 1u);
  EXPECT_EQ(numericCheck.counts().evaluated, 1u);
  EXPECT_EQ(numericCheck.counts().unknown, 0u);
}

TEST(NumericCheck, FindsWhatDiffers) {
  NumericCheck numericCheck;
  auto found = difference(numericCheck, std::string(kLogistic) + R"mlir(
    %becomes = math.tanh %x {tag = "becomes"} : tensor<?x4xf32>)mlir");
  ASSERT_TRUE(found);
  EXPECT_NE(found->find(" in place of "), std::string::npos) << *found;
}

/// exp, then `steps`, beside a sinkhorn of two iterations with `eps`.
static std::string sinkhorn(llvm::StringRef steps, llvm::StringRef eps) {
  return ("%exp = math.exp %logits : tensor<?x4x4xf32>" + steps +
          R"mlir( %becomes = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
            <init = exp, order = row_col, denom = add, eps = )mlir" +
          eps + R"mlir(, iters = 2> -> (mix : tensor<?x4x4xf32>) {tag = "becomes"})mlir")
      .str();
}

static std::string step(llvm::StringRef from, llvm::StringRef to, llvm::StringRef eps, bool row,
                        llvm::StringRef tag = "none") {
  return ("%s" + to + " = mhc.reduce sum %" + from + " dims = [" + (row ? "2" : "1") +
          "] : tensor<?x4x4xf32> -> tensor<?x4xf32> %c" + to + " = arith.constant " + eps + " : f32 %z" + to +
          " = arith.constant 0 : index %M" + to + " = tensor.dim %x, %z" + to + " : tensor<?x4xf32> %e" + to +
          " = tensor.splat %c" + to + "[%M" + to + "] : tensor<?x4xf32> %a" + to + " = arith.addf %s" + to + ", %e" +
          to + " : tensor<?x4xf32> %b" + to + " = mhc.broadcast %a" + to + " dims = [0, " + (row ? "1" : "2") +
          "] : tensor<?x4xf32> -> tensor<?x4x4xf32> %" + to + " = arith.divf %" + from + ", %b" + to + " {tag = \"" +
          tag + "\"} : tensor<?x4x4xf32> ")
      .str();
}

static std::string fourSteps(llvm::StringRef thirdEps, bool thirdIsRow = true) {
  return step("exp", "r0", "1.0e-6", true) + step("r0", "c0", "1.0e-6", false) +
         step("c0", "r1", thirdEps, thirdIsRow) + step("r1", "c1", "1.0e-6", false, "was");
}

TEST(NumericCheck, SeesEveryStepOfSinkhorn) {
  NumericCheck numericCheck;
  auto found = difference(numericCheck, sinkhorn(fourSteps("1.0e-6"), "1.0e-6"));
  EXPECT_EQ(found, std::nullopt) << *found;
  EXPECT_TRUE(difference(numericCheck, sinkhorn(fourSteps("1.0e-5"), "1.0e-6"))) << "another epsilon in one step";
  EXPECT_TRUE(difference(numericCheck, sinkhorn(fourSteps("1.0e-6", false), "1.0e-6"))) << "columns twice";
  EXPECT_TRUE(difference(numericCheck, sinkhorn(fourSteps("1.0e-6"), "2.0e-6"))) << "another epsilon in all steps";
}

TEST(NumericCheck, EvaluatesWhatIsAlikeOnce) {
  NumericCheck numericCheck;
  Module module(function(R"mlir(
    %y = math.tanh %x : tensor<?x4xf32>
    %sum_x = arith.addf %x, %x : tensor<?x4xf32>
    %again_x = arith.addf %x, %x : tensor<?x4xf32>
    %sum_y = arith.addf %y, %y : tensor<?x4xf32>
    %again_y = arith.addf %y, %y : tensor<?x4xf32>
    %none_y = arith.subf %y, %y : tensor<?x4xf32>)mlir"));
  auto differ = [&](int was, int becomes) {
    auto first = module.func().front().begin();
    return numericCheck.findDifference({std::next(first, was)->getResult(0)},
                                       {std::next(first, becomes)->getResult(0)});
  };
  EXPECT_FALSE(differ(1, 2));
  EXPECT_FALSE(differ(3, 4));
  EXPECT_EQ(numericCheck.counts().compared, 2u);
  EXPECT_EQ(numericCheck.counts().evaluated, 1u);
  EXPECT_TRUE(differ(3, 5));
}

TEST(NumericCheck, FollowsSharedValuesWhereTheyMatter) {
  // 3x - 2x is 2x + 2x - 3x, which 2x and 3x by themselves do not say.
  NumericCheck numericCheck;
  auto found = difference(numericCheck, R"mlir(
    %two = arith.addf %x, %x : tensor<?x4xf32>
    %three = arith.addf %two, %x : tensor<?x4xf32>
    %was = arith.subf %three, %two {tag = "was"} : tensor<?x4xf32>
    %four = arith.addf %two, %two : tensor<?x4xf32>
    %becomes = arith.subf %four, %three {tag = "becomes"} : tensor<?x4xf32>)mlir");
  EXPECT_EQ(found, std::nullopt) << *found;
  EXPECT_EQ(numericCheck.counts().evaluated, 2u);
}

/// Numbering a block costs as much as the function is long, and what rewriting adds makes the numbers invalid.
TEST(NumericCheck, AsksForNoOrderOfTheBlock) {
  NumericCheck numericCheck;
  Module module(function(std::string(kLogistic) + R"mlir(
    %becomes = mhc.sigmoid %x {tag = "becomes"} : tensor<?x4xf32>
    %later = arith.addf %was, %becomes : tensor<?x4xf32>)mlir"));
  mlir::Value was = module.value("was"), becomes = module.value("becomes");
  module.func().front().invalidateOpOrder();
  EXPECT_FALSE(numericCheck.findDifference({was}, {becomes}));
  EXPECT_FALSE(numericCheck.findDifference({was, becomes}, {becomes, was}));
  EXPECT_EQ(numericCheck.counts().unknown, 0u);
  EXPECT_FALSE(module.func().front().isOpOrderValid());
}

TEST(NumericCheck, TellsSeedsApart) {
  NumericCheck numericCheck;
  EXPECT_TRUE(difference(numericCheck, R"mlir(
    %was = mhc.dropout(x = %x : tensor<?x4xf32>, seed = %seed : tensor<2xi64>) <rate = 0.5, stream = 0>
        -> (out : tensor<?x4xf32>) {tag = "was"}
    %becomes = mhc.dropout(x = %x : tensor<?x4xf32>, seed = %other : tensor<2xi64>) <rate = 0.5, stream = 0>
        -> (out : tensor<?x4xf32>) {tag = "becomes"})mlir"));
}

TEST(NumericCheck, CountsWhatItCannotEvaluate) {
  NumericCheck numericCheck;
  auto found = difference(numericCheck, R"mlir(
    %was = arith.bitcast %x {tag = "was"} : tensor<?x4xf32> to tensor<?x4xf32>
    %becomes = math.tanh %x {tag = "becomes"} : tensor<?x4xf32>)mlir");
  EXPECT_EQ(found, std::nullopt);
  EXPECT_EQ(numericCheck.counts().unknown, 1u);
  EXPECT_EQ(numericCheck.counts().evaluated, 1u);
}

TEST(NumericCheck, DoesNotTrustWhatItCannotEvaluate) {
  // They differ whatever the bits are, which the evaluator lacks.
  NumericCheck numericCheck;
  EXPECT_TRUE(difference(numericCheck, R"mlir(
    %bits = arith.bitcast %x : tensor<?x4xf32> to tensor<?x4xf32>
    %was = arith.addf %bits, %x {tag = "was"} : tensor<?x4xf32>
    %becomes = arith.subf %bits, %x {tag = "becomes"} : tensor<?x4xf32>)mlir"));
}
