//===- DialectVersionTest.cpp - Bytecode of other versions of the dialect ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/DialectVersion.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mhc;
using namespace mlir;

namespace {
constexpr llvm::StringLiteral kPreBwd = R"mlir(
  func.func @f(%d_u: tensor<?x64xf32>, %d_h_post: tensor<?x4xf32>, %d_h_res: tensor<?x4x4xf32>,
               %x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
               %proj: tensor<?x24xf32>, %stat: tensor<?xf32>) -> tensor<24xf32> {
    %d_beta = mhc.pre_bwd(d_u = %d_u : tensor<?x64xf32>, d_h_post = %d_h_post : tensor<?x4xf32>,
        d_h_res = %d_h_res : tensor<?x4x4xf32>, x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>,
        alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>,
        stat = %stat : tensor<?xf32>)
      <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
       res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
       fold_pre = false, orient = io>
      -> (d_beta : tensor<24xf32>)
    return %d_beta : tensor<24xf32>
  })mlir";

constexpr llvm::StringLiteral kPosts = R"mlir(
  func.func @f(%f: tensor<?x64xf32>, %b: tensor<64xf32>, %p: tensor<?x4xf32>, %x: tensor<?x4x64xf32>,
               %r: tensor<?x4x4xf32>) -> (tensor<?x4x64xf32>, tensor<?x4x64xf32>, tensor<64xf32>) {
    %0 = mhc.post(f = %f : tensor<?x64xf32>, h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x4x64xf32>,
        h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x64xf32>)
    %1 = mhc.post(f = %f : tensor<?x64xf32>, bias = %b : tensor<64xf32>, h_post = %p : tensor<?x4xf32>,
        x = %0 : tensor<?x4x64xf32>, h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = io>
      -> (out : tensor<?x4x64xf32>)
    %2, %3 = mhc.post_bwd(d_out = %1 : tensor<?x4x64xf32>, f = %f : tensor<?x64xf32>, bias = %b : tensor<64xf32>,
        h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x4x64xf32>, h_res = %r : tensor<?x4x4xf32>,
        d_x_in = %x : tensor<?x4x64xf32>, d_bias_in = %b : tensor<64xf32>) <layout = nC, orient = io>
      -> (d_x : tensor<?x4x64xf32>, d_bias : tensor<64xf32>)
    %4 = mhc.post_bwd(d_out = %2 : tensor<?x4x64xf32>, f = %f : tensor<?x64xf32>, h_post = %p : tensor<?x4xf32>,
        x = %x : tensor<?x4x64xf32>, h_res = %r : tensor<?x4x4xf32>, d_bias_in = %3 : tensor<64xf32>)
      <layout = nC, orient = io> -> (d_bias : tensor<64xf32>)
    %5:4 = mhc.rebuild(x = %x : tensor<?x4x64xf32>, h_pre = [%p, %p] : tensor<?x4xf32>,
        f = [%f, %f] : tensor<?x64xf32>, bias = [%b, %b] : tensor<64xf32>, h_post = [%p, %p] : tensor<?x4xf32>,
        h_res = [%r, %r] : tensor<?x4x4xf32>) <layout = nC, orient = io>
      -> (u : 2 of tensor<?x64xf32>, out : 2 of tensor<?x4x64xf32>)
    return %5#2, %5#3, %4 : tensor<?x4x64xf32>, tensor<?x4x64xf32>, tensor<64xf32>
  })mlir";

constexpr llvm::StringLiteral kPres = R"mlir(
  func.func @f(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %w: tensor<256xf32>, %alpha: tensor<3xf32>,
               %beta: tensor<24xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
    %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>,
        alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
      <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
       res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
      -> (u : tensor<?x64xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
    %v, %post, %res = mhc.pre(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>,
        norm_weight = %w : tensor<256xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
      <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
       res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
      -> (u : tensor<?x64xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
    return %u, %v : tensor<?x64xf32>, tensor<?x64xf32>
  })mlir";

constexpr llvm::StringLiteral kPostPres = R"mlir(
  func.func @f(%f: tensor<?x64xf32>, %bias: tensor<64xf32>, %h: tensor<?x4xf32>, %x: tensor<?x4x64xf32>,
               %m: tensor<?x4x4xf32>, %seed: tensor<2xi64>, %phi: tensor<24x256xf32>, %w: tensor<256xf32>,
               %alpha: tensor<3xf32>, %beta: tensor<24xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
    %y, %u, %post, %res = mhc.post_pre(f = %f : tensor<?x64xf32>, h_post = %h : tensor<?x4xf32>,
        x = %x : tensor<?x4x64xf32>, h_res = %m : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
        norm_weight = %w : tensor<256xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
      <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
       res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
      -> (y : tensor<?x4x64xf32>, u : tensor<?x64xf32>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
    %y2, %v, %post2, %res2 = mhc.post_pre(f = %u : tensor<?x64xf32>, bias = %bias : tensor<64xf32>,
        h_post = %post : tensor<?x4xf32>, x = %y : tensor<?x4x64xf32>, h_res = %res : tensor<?x4x4xf32>,
        seed = %seed : tensor<2xi64>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
        beta = %beta : tensor<24xf32>, h_in = %post : tensor<?x4xf32>)
      <layout = nC, orient = oi, rate = 0.1, stream = 0, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06,
       pre_eps = 0.0, post_mult = 2.0, res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06,
       iters = 20, fold_pre = false>
      -> (y : tensor<?x4x64xf32>, u : tensor<?x64xf32>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
    return %u, %v : tensor<?x64xf32>, tensor<?x64xf32>
  })mlir";

class DialectVersionTest : public testing::Test {
protected:
  DialectVersionTest() {
    context.loadDialect<MhcDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(kPreBwd, &context);
  }

  PreBwdOp op() { return *module->lookupSymbol<func::FuncOp>("f").getOps<PreBwdOp>().begin(); }

  /// Writes the module for the version `number` and reads it again; what is wrong goes to `errors`.
  void roundTrip(uint64_t number, bool attributesByName) {
    BytecodeWriterConfig config;
    config.setDialectVersion<MhcDialect>(std::make_unique<MhcDialectVersion>(number));
    if (attributesByName)
      config.setDesiredBytecodeVersion(4);
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    ASSERT_TRUE(succeeded(writeBytecodeToFile(*module, stream, config)));
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { errors += diagnostic.str(); });
    module = parseSourceString<ModuleOp>(bytes, &context);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string errors;
};
} // namespace

TEST_F(DialectVersionTest, TheCurrentOneIsReadAsWritten) {
  ASSERT_TRUE(module);
  roundTrip(MhcDialectVersion::kCurrent, /*attributesByName=*/false);
  ASSERT_TRUE(module) << errors;
  EXPECT_EQ(op().getOrient(), Orient::io);
}

TEST_F(DialectVersionTest, OlderOnesAreUpgraded) {
  ASSERT_TRUE(module);
  op()->removeAttr("orient");
  roundTrip(0, /*attributesByName=*/true);
  ASSERT_TRUE(module) << errors;
  EXPECT_EQ(op().getOrient(), Orient::oi);
}

/// Operand counts of each kind, as MLIR reads them of ops that have more kinds than the file.
template <typename Op>
static void forgetOperands(ModuleOp module) {
  module.walk([](Op op) { op.getProperties().operandSegmentSizes.fill(0); });
}

TEST_F(DialectVersionTest, OperandsOfOlderOnesAreCounted) {
  const auto text = [&] {
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  };
  for (auto [program, version] : {std::pair(kPosts, 1), {kPres, 3}, {kPostPres, 6}}) {
    module = parseSourceString<ModuleOp>(program, &context);
    ASSERT_TRUE(module);
    const std::string before = text();
    forgetOperands<PreOp>(*module);
    forgetOperands<PostPreOp>(*module);
    forgetOperands<PostOp>(*module);
    forgetOperands<PostBwdOp>(*module);
    forgetOperands<RebuildOp>(*module);
    roundTrip(version, /*attributesByName=*/true);
    ASSERT_TRUE(module) << errors;
    EXPECT_EQ(text(), before);
  }
}

TEST_F(DialectVersionTest, ACurrentFileIsNotUpgraded) {
  ASSERT_TRUE(module);
  op()->removeAttr("orient");
  roundTrip(MhcDialectVersion::kCurrent, /*attributesByName=*/true);
  EXPECT_FALSE(module);
  EXPECT_NE(errors.find("requires attribute 'orient'"), std::string::npos) << errors;
}

TEST_F(DialectVersionTest, NewerOnesAreRefused) {
  ASSERT_TRUE(module);
  roundTrip(MhcDialectVersion::kCurrent + 1, /*attributesByName=*/false);
  EXPECT_FALSE(module);
  EXPECT_NE(errors.find("the file has version 8 of the mhc dialect; this program reads versions up to 7"),
            std::string::npos)
      << errors;
}
