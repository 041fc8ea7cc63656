//===- AlgebraTest.cpp - Spellings of one expression --------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function returns two values. Those of `same` functions are one expression, those of `differ` functions are not.
// Long because each pair of spellings is a program.
//
//===------------------------------------------------------------------------===//
#include "ParseModule.h"
#include "mhc/Algebra/Reading.h"
#include "gtest/gtest.h"

using namespace mhc;
using namespace mhc::algebra;
using mhc::test::Module;

/// The two values that @f returns, as text.
static std::pair<std::string, std::string> read(llvm::StringRef text, Rounding rounding = Rounding::ignored) {
  Module module(text);
  mlir::func::FuncOp func = module.func();
  if (!func)
    return {"does not parse", ""};
  Reading reading(func, rounding);
  mlir::Operation *end = func.getBody().front().getTerminator();
  auto textOf = [&](mlir::Value value) { return reading.text(value); };
  return {textOf(end->getOperand(0)), textOf(end->getOperand(1))};
}

/// Whether the two values are one where sums over chosen positions are taken.
static bool areChosenAlike(llvm::StringRef text) {
  Module module(text);
  mlir::func::FuncOp func = module.func();
  Reading reading(func);
  mlir::Operation *end = func.getBody().front().getTerminator();
  auto chosen = [&](int i) { return reading.algebra().choose(reading.of(end->getOperand(i))); };
  std::optional<Expr> a = chosen(0), b = chosen(1);
  std::optional<Expr> ratio = a && b ? reading.algebra().divide(*a, *b) : std::nullopt;
  return ratio && numberOf(*ratio) == 1.0;
}

static void expectSame(llvm::StringRef text, Rounding rounding = Rounding::ignored) {
  auto [a, b] = read(text, rounding);
  EXPECT_EQ(a, b);
}

static void expectDifferent(llvm::StringRef text, Rounding rounding = Rounding::ignored) {
  auto [a, b] = read(text, rounding);
  EXPECT_NE(a, b);
}

TEST(Algebra, Sigmoids) {
  for (const char *spelling : {// 1 / (1 + exp(-x))
                               R"(%n = arith.negf %x : tensor<?x4xf32>
              %e = math.exp %n : tensor<?x4xf32>
              %s = arith.addf %e, %one : tensor<?x4xf32>
              %b = arith.divf %one, %s : tensor<?x4xf32>)",
                               // exp(x) / (1 + exp(x))
                               R"(%e = math.exp %x : tensor<?x4xf32>
              %s = arith.addf %one, %e : tensor<?x4xf32>
              %b = arith.divf %e, %s : tensor<?x4xf32>)",
                               // 1 - 1 / (1 + exp(x))
                               R"(%e = math.exp %x : tensor<?x4xf32>
              %s = arith.addf %one, %e : tensor<?x4xf32>
              %r = arith.divf %one, %s : tensor<?x4xf32>
              %b = arith.subf %one, %r : tensor<?x4xf32>)",
                               // exp(-log(1 + exp(-x)))
                               R"(%n = arith.negf %x : tensor<?x4xf32>
              %l = mhc.softplus %n : tensor<?x4xf32>
              %m = arith.negf %l : tensor<?x4xf32>
              %b = math.exp %m : tensor<?x4xf32>)",
                               // (1 + tanh(x / 2)) / 2
                               R"(%h = arith.mulf %x, %half : tensor<?x4xf32>
              %t = math.tanh %h : tensor<?x4xf32>
              %s = arith.addf %t, %one : tensor<?x4xf32>
              %b = arith.mulf %half, %s : tensor<?x4xf32>)"})
    expectSame((R"(func.func @f(%x: tensor<?x4xf32>, %M: index) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
      %c1 = arith.constant 1.0 : f32
      %ch = arith.constant 0.5 : f32
      %one = tensor.splat %c1[%M] : tensor<?x4xf32>
      %half = tensor.splat %ch[%M] : tensor<?x4xf32>
      %a = mhc.sigmoid %x : tensor<?x4xf32>
      )" + std::string(spelling) +
                R"(
      return %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
    })"));
}

TEST(Algebra, SigmoidOfAnotherSign) {
  expectDifferent(R"(func.func @f(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %a = mhc.sigmoid %x : tensor<?x4xf32>
    %n = arith.negf %x : tensor<?x4xf32>
    %b = mhc.sigmoid %n : tensor<?x4xf32>
    return %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
  })");
}

TEST(Algebra, SoftmaxWithAndWithoutMaximum) {
  expectSame(R"(func.func @f(%x: tensor<?x4x4xf32>) -> (tensor<?x4x4xf32>, tensor<?x4x4xf32>) {
    %a = mhc.softmax %x dim = 2 : tensor<?x4x4xf32>
    %m = mhc.reduce max %x dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %mb = mhc.broadcast %m dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %z = arith.subf %x, %mb : tensor<?x4x4xf32>
    %e = math.exp %z : tensor<?x4x4xf32>
    %s = mhc.reduce sum %e dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %sb = mhc.broadcast %s dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %b = arith.divf %e, %sb : tensor<?x4x4xf32>
    return %a, %b : tensor<?x4x4xf32>, tensor<?x4x4xf32>
  })");
}

TEST(Algebra, MaximumOfAMatrixByRows) {
  expectSame(R"(func.func @f(%x: tensor<?x4x4xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %a = mhc.reduce max %x dims = [1, 2] : tensor<?x4x4xf32> -> tensor<?xf32>
    %m = mhc.reduce max %x dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %b = mhc.reduce max %m dims = [1] : tensor<?x4xf32> -> tensor<?xf32>
    return %a, %b : tensor<?xf32>, tensor<?xf32>
  })");
}

TEST(Algebra, SoftmaxByLogarithms) {
  expectSame(R"(func.func @f(%x: tensor<?x4x4xf32>) -> (tensor<?x4x4xf32>, tensor<?x4x4xf32>) {
    %a = mhc.softmax %x dim = 1 : tensor<?x4x4xf32>
    %e = math.exp %x : tensor<?x4x4xf32>
    %s = mhc.reduce sum %e dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %l = math.log %s : tensor<?x4xf32>
    %lb = mhc.broadcast %l dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %z = arith.subf %x, %lb : tensor<?x4x4xf32>
    %b = math.exp %z : tensor<?x4x4xf32>
    return %a, %b : tensor<?x4x4xf32>, tensor<?x4x4xf32>
  })");
}

TEST(Algebra, SoftmaxOfTheOtherDimension) {
  expectDifferent(R"(func.func @f(%x: tensor<?x4x4xf32>) -> (tensor<?x4x4xf32>, tensor<?x4x4xf32>) {
    %a = mhc.softmax %x dim = 1 : tensor<?x4x4xf32>
    %b = mhc.softmax %x dim = 2 : tensor<?x4x4xf32>
    return %a, %b : tensor<?x4x4xf32>, tensor<?x4x4xf32>
  })");
}

/// Dividing rows, then columns, is scaling K by reciprocals of K v and of K^T u.
TEST(Algebra, SinkhornByDivisionsAndByFactors) {
  expectSame(R"(func.func @f(%x: tensor<?x4x4xf32>) -> (tensor<?x4x4xf32>, tensor<?x4x4xf32>) {
    %k = math.exp %x : tensor<?x4x4xf32>
    %r = mhc.reduce sum %k dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %rb = mhc.broadcast %r dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %p = arith.divf %k, %rb : tensor<?x4x4xf32>
    %c = mhc.reduce sum %p dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %cb = mhc.broadcast %c dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %q = arith.divf %p, %cb : tensor<?x4x4xf32>
    %s = mhc.reduce sum %q dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %sb = mhc.broadcast %s dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %a = arith.divf %q, %sb : tensor<?x4x4xf32>

    %one = arith.constant dense<1.0> : tensor<4xf32>
    %M = arith.constant 0 : index
    %d = tensor.dim %x, %M : tensor<?x4x4xf32>
    %v0 = mhc.broadcast %one[%d] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
    %u1 = arith.divf %v0, %r : tensor<?x4xf32>
    %u1r = tensor.expand_shape %u1 [[0], [1, 2]] output_shape [%d, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
    %v1i = mhc.batch_matmul %u1r, %k : (tensor<?x1x4xf32>, tensor<?x4x4xf32>) -> tensor<?x1x4xf32>
    %v1c = tensor.collapse_shape %v1i [[0], [1, 2]] : tensor<?x1x4xf32> into tensor<?x4xf32>
    %v1 = arith.divf %v0, %v1c : tensor<?x4xf32>
    %v1r = tensor.expand_shape %v1 [[0], [1, 2]] output_shape [%d, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
    %u2i = mhc.batch_matmul %k, %v1r : (tensor<?x4x4xf32>, tensor<?x4x1xf32>) -> tensor<?x4x1xf32>
    %u2b = mhc.broadcast %u2i dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
    %v1b = mhc.broadcast %v1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %kv = arith.mulf %k, %v1b : tensor<?x4x4xf32>
    %b = arith.divf %kv, %u2b : tensor<?x4x4xf32>
    return %a, %b : tensor<?x4x4xf32>, tensor<?x4x4xf32>
  })");
}

TEST(Algebra, RootMeanSquares) {
  expectSame(R"(func.func @f(%x: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
    %a = mhc.rms_norm %x eps = 1.0e-05 : tensor<?x64xf32>
    %x2 = arith.mulf %x, %x : tensor<?x64xf32>
    %s = mhc.reduce sum %x2 dims = [1] : tensor<?x64xf32> -> tensor<?xf32>
    %M = arith.constant 0 : index
    %d = tensor.dim %x, %M : tensor<?x64xf32>
    %c = arith.constant 64.0 : f32
    %eps = arith.constant 6.4e-4 : f32
    %w = arith.constant 8.0 : f32
    %epsb = tensor.splat %eps[%d] : tensor<?xf32>
    %sum = arith.addf %s, %epsb : tensor<?xf32>
    %root = math.sqrt %sum : tensor<?xf32>
    %rb = mhc.broadcast %root dims = [0] : tensor<?xf32> -> tensor<?x64xf32>
    %wb = tensor.splat %w[%d] : tensor<?x64xf32>
    %n = arith.divf %x, %rb : tensor<?x64xf32>
    %b = arith.mulf %wb, %n : tensor<?x64xf32>
    return %a, %b : tensor<?x64xf32>, tensor<?x64xf32>
  })");
}

TEST(Algebra, StreamsOneByOne) {
  std::string text = R"(func.func @f(%h: tensor<?x2xf32>, %x: tensor<?x2x8xf32>)
      -> (tensor<?x1x8xf32>, tensor<?x1x8xf32>) {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %x, %c0 : tensor<?x2x8xf32>
    %row = tensor.expand_shape %h [[0], [1, 2]] output_shape [%d, 1, 2] : tensor<?x2xf32> into tensor<?x1x2xf32>
    %a = mhc.batch_matmul %row, %x : (tensor<?x1x2xf32>, tensor<?x2x8xf32>) -> tensor<?x1x8xf32>
)";
  for (int stream : {0, 1}) {
    std::string i = std::to_string(stream);
    text += "%h" + i + " = tensor.extract_slice %row[0, 0, " + i +
            "] [%d, 1, 1] [1, 1, 1] : tensor<?x1x2xf32> to tensor<?x1x1xf32>\n%x" + i +
            " = tensor.extract_slice %x[0, " + i +
            ", 0] [%d, 1, 8] [1, 1, 1] : tensor<?x2x8xf32> to tensor<?x1x8xf32>\n%hb" + i + " = mhc.broadcast %h" + i +
            " dims = [0, 1, 2] : tensor<?x1x1xf32> -> tensor<?x1x8xf32>\n%p" + i + " = arith.mulf %hb" + i + ", %x" +
            i + " : tensor<?x1x8xf32>\n";
  }
  expectSame(text + R"(%b = arith.addf %p1, %p0 : tensor<?x1x8xf32>
    return %a, %b : tensor<?x1x8xf32>, tensor<?x1x8xf32>
  })");
  expectDifferent(text + R"(%b = arith.addf %p1, %p1 : tensor<?x1x8xf32>
    return %a, %b : tensor<?x1x8xf32>, tensor<?x1x8xf32>
  })");
}

/// A mean square of each part of a row, added up.
TEST(Algebra, SumsOfParts) {
  auto program = [](const std::string &parts) {
    return R"(func.func @f(%x: tensor<?x16xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %x, %c0 : tensor<?x16xf32>
    %a = mhc.reduce sum %x dims = [1] : tensor<?x16xf32> -> tensor<?xf32>
    %x0 = tensor.extract_slice %x[0, 0] [%d, 8] [1, 1] : tensor<?x16xf32> to tensor<?x8xf32>
    %x1 = tensor.extract_slice %x[0, )" +
           parts + R"(] [%d, 8] [1, 1] : tensor<?x16xf32> to tensor<?x8xf32>
    %s0 = mhc.reduce sum %x0 dims = [1] : tensor<?x8xf32> -> tensor<?xf32>
    %s1 = mhc.reduce sum %x1 dims = [1] : tensor<?x8xf32> -> tensor<?xf32>
    %b = arith.addf %s0, %s1 : tensor<?xf32>
    return %a, %b : tensor<?xf32>, tensor<?xf32>
  })";
  };
  expectSame(program("8"));
  expectDifferent(program("4"));
}

/// Rows of 5 * 4 are summed as 2 * 10, and what is left as 2 * 5: each cut is another one.
TEST(Algebra, SumOverAnotherCut) {
  auto program = [](const std::string &first, const std::string &second) {
    return R"(func.func @f(%x: tensor<?x5x4xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %x, %c0 : tensor<?x5x4xf32>
    %q = arith.mulf %x, %x : tensor<?x5x4xf32>
    %a = mhc.reduce sum %q dims = [1, 2] : tensor<?x5x4xf32> -> tensor<?xf32>
    %rows = tensor.collapse_shape %)" +
           first + R"( [[0], [1, 2]] : tensor<?x5x4xf32> into tensor<?x20xf32>
    %cut = tensor.expand_shape %rows [[0], [1, 2]] output_shape [%d, 2, 10] : tensor<?x20xf32> into tensor<?x2x10xf32>
    %halves = mhc.reduce sum %cut dims = [1] : tensor<?x2x10xf32> -> tensor<?x10xf32>
    %q2 = arith.mulf %halves, %halves : tensor<?x10xf32>
    %again = tensor.expand_shape %)" +
           second + R"( [[0], [1, 2]] output_shape [%d, 2, 5] : tensor<?x10xf32> into tensor<?x2x5xf32>
    %fourths = mhc.reduce sum %again dims = [1] : tensor<?x2x5xf32> -> tensor<?x5xf32>
    %b = mhc.reduce sum %fourths dims = [1] : tensor<?x5xf32> -> tensor<?xf32>
    return %a, %b : tensor<?xf32>, tensor<?xf32>
  })";
  };
  expectSame(program("q", "halves"));
  expectDifferent(program("x", "q2"));
}

TEST(Algebra, StackedParts) {
  expectSame(R"(func.func @f(%x: tensor<?x2x8xf32>) -> (tensor<?x2x8xf32>, tensor<?x2x8xf32>) {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %x, %c0 : tensor<?x2x8xf32>
    %a = math.absf %x : tensor<?x2x8xf32>
    %x0 = tensor.extract_slice %x[0, 0, 0] [%d, 1, 8] [1, 1, 1] : tensor<?x2x8xf32> to tensor<?x1x8xf32>
    %x1 = tensor.extract_slice %x[0, 1, 0] [%d, 1, 8] [1, 1, 1] : tensor<?x2x8xf32> to tensor<?x1x8xf32>
    %a0 = math.absf %x0 : tensor<?x1x8xf32>
    %a1 = math.absf %x1 : tensor<?x1x8xf32>
    %b = tensor.concat dim(1) %a0, %a1 : (tensor<?x1x8xf32>, tensor<?x1x8xf32>) -> tensor<?x2x8xf32>
    return %a, %b : tensor<?x2x8xf32>, tensor<?x2x8xf32>
  })");
}

TEST(Algebra, StackedPartsOfTwoSizes) {
  expectSame(R"(func.func @f(%x: tensor<?x3x8xf32>) -> (tensor<?x3x8xf32>, tensor<?x3x8xf32>) {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %x, %c0 : tensor<?x3x8xf32>
    %a = math.absf %x : tensor<?x3x8xf32>
    %x0 = tensor.extract_slice %x[0, 0, 0] [%d, 1, 8] [1, 1, 1] : tensor<?x3x8xf32> to tensor<?x1x8xf32>
    %x1 = tensor.extract_slice %x[0, 1, 0] [%d, 2, 8] [1, 1, 1] : tensor<?x3x8xf32> to tensor<?x2x8xf32>
    %a0 = math.absf %x0 : tensor<?x1x8xf32>
    %a1 = math.absf %x1 : tensor<?x2x8xf32>
    %b = tensor.concat dim(1) %a0, %a1 : (tensor<?x1x8xf32>, tensor<?x2x8xf32>) -> tensor<?x3x8xf32>
    return %a, %b : tensor<?x3x8xf32>, tensor<?x3x8xf32>
  })");
}

/// Each step reads the one before twice: parts are compared in as many steps as they have.
TEST(Algebra, SumOverUnlikeParts) {
  auto program = [](const std::string &right) {
    return R"(func.func @f(%a: tensor<?x4x4xf32>, %b: tensor<?x4x1xf32>, %c: tensor<?x4x8xf32>, %d: tensor<?x1x8xf32>)
        -> (tensor<?x4x8xf32>, tensor<?x4x8xf32>) {
      %l = tensor.concat dim(2) %a, %b : (tensor<?x4x4xf32>, tensor<?x4x1xf32>) -> tensor<?x4x5xf32>
      %r = tensor.concat dim(1) )" +
           right + R"( -> tensor<?x5x8xf32>
      %x = mhc.batch_matmul %l, %r : (tensor<?x4x5xf32>, tensor<?x5x8xf32>) -> tensor<?x4x8xf32>
      %p = mhc.batch_matmul %a, %c : (tensor<?x4x4xf32>, tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
      %q = mhc.batch_matmul %b, %d : (tensor<?x4x1xf32>, tensor<?x1x8xf32>) -> tensor<?x4x8xf32>
      %y = arith.addf %p, %q : tensor<?x4x8xf32>
      return %x, %y : tensor<?x4x8xf32>, tensor<?x4x8xf32>
    })";
  };
  expectSame(program("%c, %d : (tensor<?x4x8xf32>, tensor<?x1x8xf32>)"));
  expectDifferent(program("%d, %c : (tensor<?x1x8xf32>, tensor<?x4x8xf32>)"));
}

TEST(Algebra, SumOverAStack) {
  auto program = [](const std::string &sum) {
    return R"(func.func @f(%a: tensor<?x4x1xf32>, %b: tensor<?x4x1xf32>, %c: tensor<?x4x1xf32>)
        -> (tensor<?x4xf32>, tensor<?x4xf32>) {
      %e = math.exp %a : tensor<?x4x1xf32>
      %m = arith.mulf %b, %c : tensor<?x4x1xf32>
      %stack = tensor.concat dim(2) %e, %m, %c
        : (tensor<?x4x1xf32>, tensor<?x4x1xf32>, tensor<?x4x1xf32>) -> tensor<?x4x3xf32>
      %x = mhc.reduce sum %stack dims = [2] : tensor<?x4x3xf32> -> tensor<?x4xf32>
      %s = arith.addf %e, %m : tensor<?x4x1xf32>
      %t = arith.addf %s, )" +
           sum + R"( : tensor<?x4x1xf32>
      %y = tensor.collapse_shape %t [[0], [1, 2]] : tensor<?x4x1xf32> into tensor<?x4xf32>
      return %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
    })";
  };
  expectSame(program("%c"));
  expectDifferent(program("%b"));
}

TEST(Algebra, StackedPartsOfManySteps) {
  auto steps = [](const std::string &name, const std::string &type) {
    std::string text;
    for (int step = 0; step < 16; ++step) {
      std::string value = "%" + name + std::to_string(step), next = "%" + name + std::to_string(step + 1);
      text += next + "s = mhc.sigmoid " + value + " : " + type + "\n" + next + "t = math.tanh " + value + " : " + type +
              "\n" + next + " = arith.maximumf " + next + "s, " + next + "t : " + type + "\n";
    }
    return text;
  };
  const std::string whole = "tensor<3x2x8xf32>", part = "tensor<3x1x8xf32>";
  std::string text = "func.func @f(%x0: " + whole + ") -> (" + whole + ", " + whole + ") {\n" + steps("x", whole);
  for (std::string i : {"0", "1"})
    text += "%p" + i + "_0 = tensor.extract_slice %x0[0, " + i + ", 0] [3, 1, 8] [1, 1, 1] : " + whole + " to " + part +
            "\n" + steps("p" + i + "_", part);
  text += "%y = tensor.concat dim(1) %p0_16, %p1_16 : (" + part + ", " + part + ") -> " + whole + "\n";
  expectSame(text + "return %x16, %y : " + whole + ", " + whole + "\n}");
}

/// Each part several times in a row is what repeats it; in turn it is not.
TEST(Algebra, RepeatedParts) {
  const std::string text = R"(func.func @f(%x: tensor<?x2x8xf32>) -> (tensor<?x4x8xf32>, tensor<?x4x8xf32>) {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %x, %c0 : tensor<?x2x8xf32>
    %twice = mhc.broadcast %x dims = [0, 1, 3] : tensor<?x2x8xf32> -> tensor<?x2x2x8xf32>
    %a = tensor.collapse_shape %twice [[0], [1, 2], [3]] : tensor<?x2x2x8xf32> into tensor<?x4x8xf32>
    %x0 = tensor.extract_slice %x[0, 0, 0] [%d, 1, 8] [1, 1, 1] : tensor<?x2x8xf32> to tensor<?x1x8xf32>
    %x1 = tensor.extract_slice %x[0, 1, 0] [%d, 1, 8] [1, 1, 1] : tensor<?x2x8xf32> to tensor<?x1x8xf32>
  )";
  const std::string end =
      R"( : (tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>) -> tensor<?x4x8xf32>
    return %a, %b : tensor<?x4x8xf32>, tensor<?x4x8xf32>
  })";
  expectSame(text + "%b = tensor.concat dim(1) %x0, %x0, %x1, %x1" + end);
  expectDifferent(text + "%b = tensor.concat dim(1) %x0, %x1, %x0, %x1" + end);
  expectDifferent(text + "%b = tensor.concat dim(1) %x0, %x0, %x0, %x1" + end);
}

/// The last window lies in x alone, and is read there.
TEST(Algebra, StackedWindows) {
  expectSame(
      R"(func.func @f(%x: tensor<?x?x8xf32>, %left: tensor<?x2x8xf32>) -> (tensor<?x8x3xf32>, tensor<?x8x3xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %b = tensor.dim %x, %c0 : tensor<?x?x8xf32>
    %t = tensor.dim %x, %c1 : tensor<?x?x8xf32>
    %bt = arith.muli %b, %t : index
    %all = tensor.concat dim(1) %left, %x : (tensor<?x2x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
    %w0 = tensor.extract_slice %all[0, 0, 0] [%b, %t, 8] [1, 1, 1] : tensor<?x?x8xf32> to tensor<?x?x8xf32>
    %w1 = tensor.extract_slice %all[0, 1, 0] [%b, %t, 8] [1, 1, 1] : tensor<?x?x8xf32> to tensor<?x?x8xf32>
    %w2 = tensor.extract_slice %all[0, 2, 0] [%b, %t, 8] [1, 1, 1] : tensor<?x?x8xf32> to tensor<?x?x8xf32>
    %e0 = tensor.expand_shape %w0 [[0], [1], [2, 3]] output_shape [%b, %t, 8, 1] : tensor<?x?x8xf32> into tensor<?x?x8x1xf32>
    %e1 = tensor.expand_shape %w1 [[0], [1], [2, 3]] output_shape [%b, %t, 8, 1] : tensor<?x?x8xf32> into tensor<?x?x8x1xf32>
    %e2 = tensor.expand_shape %w2 [[0], [1], [2, 3]] output_shape [%b, %t, 8, 1] : tensor<?x?x8xf32> into tensor<?x?x8x1xf32>
    %windows = tensor.concat dim(3) %e0, %e1, %e2 : (tensor<?x?x8x1xf32>, tensor<?x?x8x1xf32>, tensor<?x?x8x1xf32>) -> tensor<?x?x8x3xf32>
    %apart = tensor.collapse_shape %windows [[0, 1], [2], [3]] : tensor<?x?x8x3xf32> into tensor<?x8x3xf32>
    %f0 = tensor.collapse_shape %w0 [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
    %f1 = tensor.collapse_shape %w1 [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
    %f2 = tensor.collapse_shape %w2 [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
    %g0 = tensor.expand_shape %f0 [[0], [1, 2]] output_shape [%bt, 8, 1] : tensor<?x8xf32> into tensor<?x8x1xf32>
    %g1 = tensor.expand_shape %f1 [[0], [1, 2]] output_shape [%bt, 8, 1] : tensor<?x8xf32> into tensor<?x8x1xf32>
    %g2 = tensor.expand_shape %f2 [[0], [1, 2]] output_shape [%bt, 8, 1] : tensor<?x8xf32> into tensor<?x8x1xf32>
    %flat = tensor.concat dim(2) %g0, %g1, %g2 : (tensor<?x8x1xf32>, tensor<?x8x1xf32>, tensor<?x8x1xf32>) -> tensor<?x8x3xf32>
    return %apart, %flat : tensor<?x8x3xf32>, tensor<?x8x3xf32>
  })");
}

TEST(Algebra, GenericsAndLeaves) {
  expectSame(R"(
  #x = affine_map<(t, c, k) -> (t, c)>
  #w = affine_map<(t, c, k) -> (c, k)>
  #y = affine_map<(t, c, k) -> (t, k)>
  func.func @f(%x: tensor<?x2x4xf32>, %w: tensor<8x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
    %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x2x4xf32> into tensor<?x8xf32>
    %a = mhc.matmul %flat, %w : (tensor<?x8xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %d = tensor.dim %x, %c0 : tensor<?x2x4xf32>
    %e = tensor.empty(%d) : tensor<?x3xf32>
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
    %b = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%flat, %w : tensor<?x8xf32>, tensor<8x3xf32>) outs(%init : tensor<?x3xf32>) {
      ^bb0(%l: f32, %r: f32, %o: f32):
        %p = arith.mulf %r, %l : f32
        %s = arith.addf %p, %o : f32
        linalg.yield %s : f32
    } -> tensor<?x3xf32>
    return %a, %b : tensor<?x3xf32>, tensor<?x3xf32>
  })");
}

/// Batches and tokens in two dimensions of unknown size, or in one.
TEST(Algebra, TokensInTwoDimensions) {
  expectSame(R"(func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x3xf32>, %B: index, %T: index)
      -> (tensor<?x3xf32>, tensor<?x3xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %b0 = tensor.dim %x, %c0 : tensor<?x?x8xf32>
    %t0 = tensor.dim %x, %c1 : tensor<?x?x8xf32>
    %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
    %a = mhc.matmul %flat, %w : (tensor<?x8xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
    %wb = mhc.broadcast %w[%b0] dims = [1, 2] : tensor<8x3xf32> -> tensor<?x8x3xf32>
    %y = mhc.batch_matmul %x, %wb : (tensor<?x?x8xf32>, tensor<?x8x3xf32>) -> tensor<?x?x3xf32>
    %b = tensor.collapse_shape %y [[0, 1], [2]] : tensor<?x?x3xf32> into tensor<?x3xf32>
    return %a, %b : tensor<?x3xf32>, tensor<?x3xf32>
  })");
}

TEST(Algebra, SlicesOfFunctions) {
  expectSame(R"(func.func @f(%x: tensor<?x24xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %x, %c0 : tensor<?x24xf32>
    %s = mhc.sigmoid %x : tensor<?x24xf32>
    %a = tensor.extract_slice %s[0, 8] [%d, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
    %p = tensor.extract_slice %x[0, 8] [%d, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
    %b = mhc.sigmoid %p : tensor<?x4xf32>
    return %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
  })");
}

/// sqrt(x^2) is no x.
TEST(Algebra, MaximumInTwoSteps) {
  expectSame(R"(func.func @f(%x: tensor<?x2x3xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %a = mhc.reduce max %x dims = [1, 2] : tensor<?x2x3xf32> -> tensor<?xf32>
    %m = mhc.reduce max %x dims = [1] : tensor<?x2x3xf32> -> tensor<?x3xf32>
    %b = mhc.reduce max %m dims = [1] : tensor<?x3xf32> -> tensor<?xf32>
    return %a, %b : tensor<?xf32>, tensor<?xf32>
  })");
}

TEST(Algebra, MaximumOfNegatedMaxima) {
  expectDifferent(R"(func.func @f(%x: tensor<?x2x3xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %n = arith.negf %x : tensor<?x2x3xf32>
    %a = mhc.reduce max %n dims = [1, 2] : tensor<?x2x3xf32> -> tensor<?xf32>
    %m = mhc.reduce max %x dims = [1] : tensor<?x2x3xf32> -> tensor<?x3xf32>
    %l = arith.negf %m : tensor<?x3xf32>
    %b = mhc.reduce max %l dims = [1] : tensor<?x3xf32> -> tensor<?xf32>
    return %a, %b : tensor<?xf32>, tensor<?xf32>
  })");
}

TEST(Algebra, MaximumOfNarrowNumbers) {
  expectSame(R"(func.func @f(%x: tensor<?x2x3xbf16>) -> (tensor<?xbf16>, tensor<?xbf16>) {
    %a = mhc.reduce max %x dims = [1, 2] : tensor<?x2x3xbf16> -> tensor<?xbf16>
    %m = mhc.reduce max %x dims = [1] : tensor<?x2x3xbf16> -> tensor<?x3xbf16>
    %b = mhc.reduce max %m dims = [1] : tensor<?x3xbf16> -> tensor<?xbf16>
    return %a, %b : tensor<?xbf16>, tensor<?xbf16>
  })",
             Rounding::seen);
}

TEST(Algebra, RoundedMaximumOfWideNumbers) {
  expectDifferent(R"(func.func @f(%x: tensor<?x4xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %a = mhc.reduce max %x dims = [1] : tensor<?x4xf32> -> tensor<?xf32>
    %r = arith.truncf %a : tensor<?xf32> to tensor<?xbf16>
    %b = arith.extf %r : tensor<?xbf16> to tensor<?xf32>
    return %a, %b : tensor<?xf32>, tensor<?xf32>
  })",
                  Rounding::seen);
}

/// 1e-6 is one of the small numbers of f16, of which it has few; in bf16 it keeps its digits, but for a rounding.
TEST(Algebra, NumbersThatAFormatHasFewDigitsFor) {
  expectSame(R"(func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %eps = arith.constant dense<1.0e-6> : tensor<4xf32>
    %r = arith.truncf %eps : tensor<4xf32> to tensor<4xf16>
    %w = arith.extf %r : tensor<4xf16> to tensor<4xf32>
    %a = arith.addf %x, %w : tensor<4xf32>
    %stored = arith.constant dense<1.01327896118164062e-6> : tensor<4xf32>
    %b = arith.addf %x, %stored : tensor<4xf32>
    return %a, %b : tensor<4xf32>, tensor<4xf32>
  })");
}

/// A guard that passes on what is no number, as the other value does; one that makes a number of it is another.
TEST(Algebra, GuardsOfWhatIsNoNumber) {
  auto guarded = [](const char *passed) {
    return R"(func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %zero = arith.constant dense<0.0> : tensor<4xf32>
      %same = arith.addf %x, %zero : tensor<4xf32>
      %a = math.exp %x : tensor<4xf32>
      %is = arith.cmpf une, %x, %same : tensor<4xf32>
      %b = arith.select %is, )" +
           std::string(passed) + R"(, %a : tensor<4xi1>, tensor<4xf32>
      return %a, %b : tensor<4xf32>, tensor<4xf32>
    })";
  };
  expectSame(guarded("%same"));
  expectDifferent(guarded("%zero"));
}

/// diag(u) k is u k, by products and by a choice of each element.
TEST(Algebra, DiagonalMatrices) {
  for (const char *diagonal :
       {R"(%eye = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
      %d = arith.mulf %ub, %eye : tensor<2x2xf32>)",
        R"(%p = arith.constant dense<[0, 1]> : tensor<2xi64>
      %rows = linalg.broadcast ins(%p : tensor<2xi64>) outs(%i : tensor<2x2xi64>) dimensions = [1]
      %columns = linalg.broadcast ins(%p : tensor<2xi64>) outs(%i : tensor<2x2xi64>) dimensions = [0]
      %is = arith.cmpi eq, %columns, %rows : tensor<2x2xi64>
      %d = arith.select %is, %ub, %zero : tensor<2x2xi1>, tensor<2x2xf32>)",
        R"(%is = linalg.generic {indexing_maps = [#both], iterator_types = ["parallel", "parallel"]}
          outs(%m : tensor<2x2xf32>) {
      ^bb0(%out: f32):
        %r = linalg.index 0 : index
        %c = linalg.index 1 : index
        %equal = arith.cmpi eq, %r, %c : index
        %one = arith.uitofp %equal : i1 to f32
        linalg.yield %one : f32
      } -> tensor<2x2xf32>
      %d = arith.mulf %ub, %is : tensor<2x2xf32>)"})
    EXPECT_TRUE(areChosenAlike((R"(#both = affine_map<(d0, d1) -> (d0, d1)>
    func.func @f(%u: tensor<2xf32>, %k: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
      %i = tensor.empty() : tensor<2x2xi64>
      %m = tensor.empty() : tensor<2x2xf32>
      %zero = arith.constant dense<0.0> : tensor<2x2xf32>
      %ub = mhc.broadcast %u dims = [0] : tensor<2xf32> -> tensor<2x2xf32>
      %a = arith.mulf %ub, %k : tensor<2x2xf32>
      )" + std::string(diagonal) +
                                R"(
      %b = mhc.matmul %d, %k : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      return %a, %b : tensor<2x2xf32>, tensor<2x2xf32>
    })")));
}

/// A row of the identity chooses one element; a part of its columns leaves some rows without any.
TEST(Algebra, PartsOfTheIdentity) {
  auto chosen = [](const char *vector) {
    return R"(func.func @f(%x: tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %eye = arith.constant dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf32>
      %row = tensor.extract_slice %x[2, 0] [1, 3] [1, 1] : tensor<3x3xf32> to tensor<1x3xf32>
      %a = tensor.collapse_shape %row [[0, 1]] : tensor<1x3xf32> into tensor<3xf32>
      )" + std::string(vector) +
           R"(
      %b = tensor.collapse_shape %y [[0, 1]] : tensor<1x3xf32> into tensor<3xf32>
      return %a, %b : tensor<3xf32>, tensor<3xf32>
    })";
  };
  EXPECT_TRUE(
      areChosenAlike(chosen(R"(%e = tensor.extract_slice %eye[2, 0] [1, 3] [1, 1] : tensor<3x3xf32> to tensor<1x3xf32>
      %y = mhc.matmul %e, %x : (tensor<1x3xf32>, tensor<3x3xf32>) -> tensor<1x3xf32>)")));
  EXPECT_FALSE(
      areChosenAlike(chosen(R"(%e = tensor.extract_slice %eye[2, 0] [1, 2] [1, 1] : tensor<3x3xf32> to tensor<1x2xf32>
      %two = tensor.extract_slice %x[0, 0] [2, 3] [1, 1] : tensor<3x3xf32> to tensor<2x3xf32>
      %y = mhc.matmul %e, %two : (tensor<1x2xf32>, tensor<2x3xf32>) -> tensor<1x3xf32>)")));
}

TEST(Algebra, SquareOfAMagnitude) {
  expectSame(R"(func.func @f(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %a = arith.mulf %x, %x : tensor<?x4xf32>
    %m = math.absf %x : tensor<?x4xf32>
    %b = arith.mulf %m, %m : tensor<?x4xf32>
    return %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
  })");
}

TEST(Algebra, RootOfASquare) {
  expectDifferent(R"(func.func @f(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %x2 = arith.mulf %x, %x : tensor<?x4xf32>
    %a = math.sqrt %x2 : tensor<?x4xf32>
    return %a, %x : tensor<?x4xf32>, tensor<?x4xf32>
  })");
}

/// A value that is made after the reading is a base until the next.
TEST(Algebra, ValuesMadeSince) {
  Module module(R"(func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %a = math.absf %x : tensor<?x4xf32>
    return %a : tensor<?x4xf32>
  })");
  mlir::func::FuncOp func = module.func();
  Reading reading(func);
  mlir::Operation *known = &func.getBody().front().front(), *made = known->clone();
  known->getBlock()->push_front(made);
  EXPECT_NE(reading.text(made->getResult(0)), reading.text(known->getResult(0)));
  reading.refresh();
  EXPECT_EQ(reading.text(made->getResult(0)), reading.text(known->getResult(0)));
}
