//===- DimAnalysisTest.cpp ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/DimAnalysis.h"
#include "ParseModule.h"
#include "gtest/gtest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mhc;
using mhc::test::Module;

TEST(DimAnalysis, KernelOpsRelateByLabels) {
  Module module(R"mlir(
    func.func @f(%x: tensor<?x4x64xbf16>, %h: tensor<?x4xf32>, %f: tensor<?x64xbf16>, %p: tensor<?x4xf32>,
                 %r: tensor<?x4x4xf32>, %other: tensor<?xf32>) -> tensor<?x4x64xbf16> {
      %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h : tensor<?x4xf32>) <layout = nC>
        -> (u : tensor<?x64xbf16>) {tag = "u"}
      %out = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
          h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>) {tag = "out"}
      return %out : tensor<?x4x64xbf16>
    })mlir");
  auto func = module.func();
  ASSERT_TRUE(func);
  DimAnalysis dims(func);
  EXPECT_TRUE(dims.sameSize(module.value("u"), 0, func.getArgument(1), 0));
  EXPECT_TRUE(dims.sameSize(module.value("u"), 0, func.getArgument(4), 0));
  EXPECT_FALSE(dims.sameSize(module.value("u"), 0, func.getArgument(5), 0));
  EXPECT_FALSE(dims.sameSize(module.value("u"), 0, module.value("u"), 1));
  EXPECT_TRUE(dims.sameSize(module.value("out"), 1, func.getArgument(4), 2));
  EXPECT_EQ(dims.symbol(module.value("out"), 0), "M");
  EXPECT_EQ(dims.symbol(module.value("out"), 2), "64");
  EXPECT_EQ(dims.symbol(func.getArgument(5), 0), "d1");
  EXPECT_EQ(dims.constantSize(module.value("u"), 1), 64);
  EXPECT_EQ(dims.constantSize(module.value("u"), 0), std::nullopt);
  EXPECT_EQ(dims.argumentDim(module.value("out"), 0), std::make_pair(0u, 0));
}

TEST(DimAnalysis, SizesFlowThroughIndexValues) {
  Module module(R"mlir(
    func.func @f(%x: tensor<?x4x8xf32>, %w: tensor<8xf32>) -> tensor<?x4x8xf32> {
      %c0 = arith.constant 0 : index
      %M = tensor.dim %x, %c0 : tensor<?x4x8xf32>
      %flat = tensor.collapse_shape %x [[0], [1, 2]] {tag = "flat"} : tensor<?x4x8xf32> into tensor<?x32xf32>
      %back = tensor.expand_shape %flat [[0], [1, 2]] output_shape [%M, 4, 8] {tag = "back"}
        : tensor<?x32xf32> into tensor<?x4x8xf32>
      %wide = mhc.broadcast %w[%M] dims = [2] {tag = "wide"} : tensor<8xf32> -> tensor<?x1x8xf32>
      %one = arith.constant 1.0 : f32
      %ones = tensor.splat %one[%M] {tag = "ones"} : tensor<?xf32>
      %part = tensor.extract_slice %x[0, 1, 0] [%M, 1, 8] [1, 1, 1] {tag = "part"}
        : tensor<?x4x8xf32> to tensor<?x8xf32>
      %squeezed = tensor.collapse_shape %wide [[0, 1], [2]] {tag = "squeezed"} : tensor<?x1x8xf32> into tensor<?x8xf32>
      %both = tensor.concat dim(1) %part, %squeezed {tag = "both"} : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x16xf32>
      %sum = arith.addf %back, %x {tag = "sum"} : tensor<?x4x8xf32>
      return %sum : tensor<?x4x8xf32>
    })mlir");
  auto func = module.func();
  ASSERT_TRUE(func);
  DimAnalysis dims(func);
  for (const char *tag : {"flat", "back", "wide", "ones", "part", "squeezed", "both", "sum"})
    EXPECT_EQ(dims.symbol(module.value(tag), 0), "M") << tag;
  EXPECT_EQ(dims.symbol(module.value("both"), 1), "16");
}

// Streams folded into the tokens and taken apart again.
TEST(DimAnalysis, ProductsWithConstants) {
  Module module(R"mlir(
    func.func @f(%x: tensor<?x4x8xf32>, %M: index) -> tensor<?x4x8xf32> {
      %a = tensor.collapse_shape %x [[0, 1], [2]] {tag = "a"} : tensor<?x4x8xf32> into tensor<?x8xf32>
      %b = math.exp %a : tensor<?x8xf32>
      %c = tensor.collapse_shape %x [[0, 1, 2]] {tag = "c"} : tensor<?x4x8xf32> into tensor<?xf32>
      %d = tensor.collapse_shape %b [[0, 1]] {tag = "d"} : tensor<?x8xf32> into tensor<?xf32>
      %out = tensor.expand_shape %b [[0, 1], [2]] output_shape [%M, 4, 8] {tag = "out"}
        : tensor<?x8xf32> into tensor<?x4x8xf32>
      return %out : tensor<?x4x8xf32>
    })mlir");
  ASSERT_TRUE(module.func());
  DimAnalysis dims(module.func());
  EXPECT_EQ(dims.symbol(module.value("a"), 0), "?");
  EXPECT_EQ(dims.factors(module.value("a"), 0), std::make_pair(int64_t(4), std::string("M")));
  EXPECT_EQ(dims.factors(module.value("c"), 0), std::make_pair(int64_t(32), std::string("M")));
  EXPECT_EQ(dims.factors(module.value("d"), 0), std::make_pair(int64_t(32), std::string("M")));
  EXPECT_EQ(dims.factors(module.value("a"), 1), std::make_pair(int64_t(8), std::string()));
  EXPECT_EQ(dims.symbol(module.value("out"), 0), "M");
}

// Tokens that are sequences and batches.
TEST(DimAnalysis, ProductsOfUnknownSizes) {
  Module module(R"mlir(
    func.func @f(%x: tensor<?x?x4x8xf32>, %y: tensor<?x?x8xf32>, %s: index, %b: index) -> tensor<?x?x8xf32> {
      %a = tensor.collapse_shape %x [[0, 1], [2], [3]] {tag = "a"} : tensor<?x?x4x8xf32> into tensor<?x4x8xf32>
      %c = tensor.collapse_shape %a [[0, 1], [2]] {tag = "c"} : tensor<?x4x8xf32> into tensor<?x8xf32>
      %d = tensor.collapse_shape %x [[0, 1, 2], [3]] {tag = "d"} : tensor<?x?x4x8xf32> into tensor<?x8xf32>
      %z = tensor.collapse_shape %y [[0, 1], [2]] {tag = "z"} : tensor<?x?x8xf32> into tensor<?x8xf32>
      %out = tensor.expand_shape %z [[0, 1], [2]] output_shape [%s, %b, 8] {tag = "out"}
        : tensor<?x8xf32> into tensor<?x?x8xf32>
      return %out : tensor<?x?x8xf32>
    })mlir");
  auto func = module.func();
  ASSERT_TRUE(func);
  DimAnalysis dims(func);
  mlir::Value x = func.getArgument(0), y = func.getArgument(1), a = module.value("a");
  EXPECT_EQ(dims.factors(a, 0), std::make_pair(int64_t(1), std::string("M*d1")));
  EXPECT_EQ(dims.factors(module.value("c"), 0), std::make_pair(int64_t(4), std::string("M*d1")));
  EXPECT_EQ(dims.symbol(a, 0), "?"); // no argument has it
  EXPECT_TRUE(dims.sameSize(module.value("c"), 0, module.value("d"), 0));
  EXPECT_FALSE(dims.sameSize(a, 0, module.value("z"), 0));
  EXPECT_TRUE(dims.isProduct(a, 0, 1, {{x, 0}, {x, 1}}));
  EXPECT_TRUE(dims.isProduct(a, 0, 1, {{x, 1}, {x, 0}}));
  EXPECT_TRUE(dims.isProduct(module.value("d"), 0, 4, {{x, 0}, {x, 1}}));
  EXPECT_TRUE(dims.isProduct(module.value("d"), 0, 4, {{a, 0}}));
  EXPECT_FALSE(dims.isProduct(module.value("d"), 0, 1, {{x, 0}, {x, 1}}));
  EXPECT_FALSE(dims.isProduct(a, 0, 1, {{x, 0}, {y, 1}}));
  EXPECT_FALSE(dims.isProduct(a, 0, 1, {{x, 0}}));
  EXPECT_TRUE(dims.isProduct(module.value("z"), 0, 1, {{module.value("out"), 0}, {module.value("out"), 1}}));
}

TEST(DimAnalysis, CastsTellSizes) {
  Module module(R"mlir(
    func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
      %y = tensor.cast %x : tensor<?xf32> to tensor<7xf32>
      %z = tensor.cast %y {tag = "z"} : tensor<7xf32> to tensor<?xf32>
      return %z : tensor<?xf32>
    })mlir");
  ASSERT_TRUE(module.func());
  DimAnalysis dims(module.func());
  EXPECT_EQ(dims.constantSize(module.value("z"), 0), 7);
  EXPECT_EQ(dims.symbol(module.func().getArgument(0), 0), "7");
}

TEST(DimAnalysis, LoopsKeepSizesOnlyWhenTheBodyDoes) {
  Module module(R"mlir(
    func.func @f(%x: tensor<?xf32>, %n: index, %c: i1) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %same = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?xf32> {
        %b = arith.addf %a, %a : tensor<?xf32>
        scf.yield %b : tensor<?xf32>
      } {tag = "same"}
      %grown = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?xf32> {
        %b = tensor.concat dim(0) %a, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        scf.yield %b : tensor<?xf32>
      } {tag = "grown"}
      %either = scf.if %c -> tensor<?xf32> {
        scf.yield %x : tensor<?xf32>
      } else {
        scf.yield %same : tensor<?xf32>
      } {tag = "either"}
      %mixed = scf.if %c -> tensor<?xf32> {
        scf.yield %x : tensor<?xf32>
      } else {
        scf.yield %grown : tensor<?xf32>
      } {tag = "mixed"}
      return
    })mlir");
  ASSERT_TRUE(module.func());
  DimAnalysis dims(module.func());
  EXPECT_EQ(dims.symbol(module.value("same"), 0), "M");
  EXPECT_EQ(dims.symbol(module.value("grown"), 0), "?");
  EXPECT_EQ(dims.symbol(module.value("either"), 0), "M");
  EXPECT_EQ(dims.symbol(module.value("mixed"), 0), "?");
}

TEST(DimAnalysis, SumsOfSizes) {
  Module module(R"mlir(
    func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>, %w: tensor<?xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %m = tensor.dim %x, %c0 : tensor<?xf32>
      %k = tensor.dim %y, %c0 : tensor<?xf32>
      %a = tensor.concat dim(0) %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      %b = tensor.concat dim(0) %a, %x {tag = "b"} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      %first = arith.addi %k, %m : index
      %c2 = arith.constant 2 : index
      %twice = arith.muli %m, %c2 : index
      %size = arith.addi %twice, %k : index
      %same = tensor.empty(%size) {tag = "same"} : tensor<?xf32>
      %less = arith.subi %size, %first : index
      %rest = tensor.empty(%less) {tag = "rest"} : tensor<?xf32>
      %z = arith.addf %a, %w : tensor<?xf32>
      return %z : tensor<?xf32>
    })mlir");
  ASSERT_TRUE(module.func());
  DimAnalysis dims(module.func());
  EXPECT_TRUE(dims.sameSize(module.value("b"), 0, module.value("same"), 0));
  EXPECT_TRUE(dims.sameSize(module.value("rest"), 0, module.func().getArgument(0), 0));
  EXPECT_EQ(dims.symbol(module.value("b"), 0), "?"); // no argument has it
  EXPECT_EQ(dims.symbol(module.func().getArgument(2), 0), "M+d1");
  EXPECT_TRUE(dims.conditions(module.func().getContext()).empty());
}

// Stated sizes hold though no op implies them any more; an attribute that is no list of texts is ignored.
TEST(DimAnalysis, ReadsWhatIsWrittenDown) {
  Module module(R"mlir(
    func.func @f(%x: tensor<?x?xf32> {mhc.dims = ["a", "b"]}, %y: tensor<?x?xf32> {mhc.dims = ["b", "4"]},
                 %z: tensor<?xf32> {mhc.dims = ["2*a*b-1"]}, %u: tensor<?xf32> {mhc.dims = ["?"]},
                 %v: tensor<?xf32> {mhc.dims = ["?"]}, %bad: tensor<?xf32> {mhc.dims = [1]})
        attributes {mhc.conditions = ["a*b=2*a+1"]} {
      return
    })mlir");
  auto func = module.func();
  ASSERT_TRUE(func);
  DimAnalysis dims(func);
  auto symbol = [&](unsigned argument, int dim) { return dims.symbol(func.getArgument(argument), dim); };
  EXPECT_EQ(symbol(0, 0), "M");
  EXPECT_EQ(symbol(0, 1), "d1");
  EXPECT_EQ(symbol(1, 0), "d1");
  EXPECT_EQ(symbol(1, 1), "4");
  EXPECT_EQ(symbol(2, 0), "2*M*d1-1");
  EXPECT_NE(symbol(3, 0), symbol(4, 0));
  EXPECT_EQ(symbol(5, 0), "d4");
  ASSERT_EQ(dims.conditions(func.getContext()).size(), 1u);
  EXPECT_EQ(mlir::cast<mlir::StringAttr>(dims.conditions(func.getContext())[0]).getValue(), "M*d1=2*M+1");
}

// A size that is a product of itself ends no search.
TEST(DimAnalysis, SizesThatFollowFromThemselves) {
  Module module(R"mlir(
    func.func @f(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %a = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
      %b = arith.addf %a, %y : tensor<?xf32>
      %rows = mhc.reduce sum %x dims = [1] : tensor<?x?xf32> -> tensor<?xf32>
      %c = arith.addf %b, %rows : tensor<?xf32>
      return %c : tensor<?xf32>
    })mlir");
  auto func = module.func();
  ASSERT_TRUE(func);
  DimAnalysis dims(func);
  EXPECT_EQ(dims.symbol(func.getArgument(1), 0), "M");
  ASSERT_EQ(dims.conditions(func.getContext()).size(), 1u);
  EXPECT_EQ(mlir::cast<mlir::StringAttr>(dims.conditions(func.getContext())[0]).getValue(), "M=M*d1");
}

// A pass makes values after the analysis, and erases others.
TEST(DimAnalysis, LearnsAndForgetsValues) {
  Module module(R"mlir(
    func.func @f(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %a = arith.negf %x {tag = "a"} : tensor<?x4xf32>
      return %a : tensor<?x4xf32>
    })mlir");
  ASSERT_TRUE(module.func());
  DimAnalysis dims(module.func());
  mlir::Value a = module.value("a"), x = module.func().getArgument(0);
  mlir::OpBuilder builder(module.func().getBody().front().getTerminator());
  mlir::Value b = mlir::arith::NegFOp::create(builder, a.getLoc(), a);
  mlir::Value c = mlir::arith::NegFOp::create(builder, a.getLoc(), b);
  EXPECT_FALSE(dims.sameSize(c, 0, x, 0));
  dims.learn(c);
  EXPECT_TRUE(dims.sameSize(c, 0, x, 0));
  EXPECT_TRUE(dims.sameSize(b, 0, a, 0));
  EXPECT_FALSE(dims.sameSize(c, 0, module.func().getArgument(1), 0));
  EXPECT_EQ(dims.argumentDim(c, 0), std::make_pair(0u, 0));
  dims.forget(c.getDefiningOp());
  EXPECT_FALSE(dims.sameSize(c, 0, x, 0));
  EXPECT_TRUE(dims.sameSize(b, 0, x, 0));
}

// Code that takes 4 for 5 does not run, and tells nothing about the sizes of other code.
TEST(DimAnalysis, NumbersStayApart) {
  Module module(R"mlir(
    func.func @f(%x: tensor<?xf32>, %y: tensor<5xf32>, %c: i1) {
      scf.if %c {
        %four = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
      } else {
        %five = tensor.cast %x : tensor<?xf32> to tensor<5xf32>
      }
      return
    })mlir");
  ASSERT_TRUE(module.func());
  DimAnalysis dims(module.func());
  EXPECT_EQ(dims.constantSize(module.func().getArgument(1), 0), 5);
}
