//===- CostModelTest.cpp ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Against the closed forms of math.md 9, with n = 4 streams of bf16 and f32 coefficients.
//
//===----------------------------------------------------------------------===//

#include "ParseModule.h"
#include "mhc/Analysis/CostReport.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mhc;
using mhc::test::Module;

namespace mhc {
void PrintTo(const Amount &amount, std::ostream *os) { *os << amount.perToken << "*M + " << amount.fixed; }
} // namespace mhc

namespace {
constexpr double C = 64, n = 4, K = n * C, N = 2 * n + n * n, a = 2 /*bf16*/, f = 4 /*f32*/;

/// An op and the arguments of a function around it. Tokens of arguments that no op relates are not the same.
struct OpText {
  const char *arguments, *text;
};
constexpr OpText kProjection = {"%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>", R"mlir(
  %a:2 = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>))mlir"};
constexpr OpText kGates = {
    "%proj: tensor<?x24xf32>, %stat: tensor<?xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>", R"mlir(
  %b:3 = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>) <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>))mlir"};
constexpr OpText kSinkhorn = {"%r: tensor<?x4x4xf32>", R"mlir(
  %c = mhc.sinkhorn(logits = %r : tensor<?x4x4xf32>)
    <init = exp, order = row_col, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<?x4x4xf32>))mlir"};
constexpr OpText kAggregate = {"%x: tensor<?x4x64xbf16>, %h: tensor<?x4xf32>", R"mlir(
  %d = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>))mlir"};
constexpr OpText kPost = {"%x: tensor<?x4x64xbf16>, %f: tensor<?x64xbf16>, %h: tensor<?x4xf32>, %r: tensor<?x4x4xf32>",
                          R"mlir(
  %e = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>))mlir"};
constexpr OpText kPostWithBias = {
    "%x: tensor<?x4x64xbf16>, %f: tensor<?x64xbf16>, %h: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %bias: tensor<64xf32>",
    R"mlir(
  %e = mhc.post(f = %f : tensor<?x64xbf16>, bias = %bias : tensor<64xf32>, h_post = %h : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = oi>
    -> (out : tensor<?x4x64xbf16>))mlir"};
constexpr OpText kPre = {
    "%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>", R"mlir(
  %g:3 = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
     fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>))mlir"};

// The backward ops as they stand in a chain: each adds to the gradient of the streams that it is given.
constexpr OpText kPostBwd = {"%dx: tensor<?x4x64xbf16>, %f: tensor<?x64xbf16>, %h: tensor<?x4xf32>, "
                             "%x: tensor<?x4x64xbf16>, %r: tensor<?x4x4xf32>",
                             R"mlir(
  %a:4 = mhc.post_bwd(d_out = %dx : tensor<?x4x64xbf16>, f = %f : tensor<?x64xbf16>, h_post = %h : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = oi>
    -> (d_f : tensor<?x64xbf16>, d_h_post : tensor<?x4xf32>, d_h_res : tensor<?x4x4xf32>, d_x : tensor<?x4x64xbf16>))mlir"};
constexpr OpText kPostBwdAlone = {kPostBwd.arguments, R"mlir(
  %a:3 = mhc.post_bwd(d_out = %dx : tensor<?x4x64xbf16>, f = %f : tensor<?x64xbf16>, h_post = %h : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = oi>
    -> (d_f : tensor<?x64xbf16>, d_h_post : tensor<?x4xf32>, d_h_res : tensor<?x4x4xf32>))mlir"};
constexpr OpText kAggregateBwd = {
    "%du: tensor<?x64xbf16>, %x: tensor<?x4x64xbf16>, %h: tensor<?x4xf32>, %sum: tensor<?x4x64xbf16>", R"mlir(
  %b:2 = mhc.aggregate_bwd(d_u = %du : tensor<?x64xbf16>, x = %x : tensor<?x4x64xbf16>, h_pre = %h : tensor<?x4xf32>,
      d_x_in = %sum : tensor<?x4x64xbf16>) <layout = nC> -> (d_x : tensor<?x4x64xbf16>, d_h_pre : tensor<?x4xf32>))mlir"};
constexpr OpText kSinkhornBwd = {"%dr: tensor<?x4x4xf32>, %r: tensor<?x4x4xf32>", R"mlir(
  %c = mhc.sinkhorn_bwd(d_mix = %dr : tensor<?x4x4xf32>, logits = %r : tensor<?x4x4xf32>)
    <init = exp, order = row_col, denom = none, eps = 0.0, iters = 20> -> (d_logits : tensor<?x4x4xf32>))mlir"};
constexpr OpText kPermutationMixBwd = {"%dr: tensor<?x4x4xf32>, %z: tensor<?x24xf32>", R"mlir(
  %c = mhc.permutation_mix_bwd(d_mix = %dr : tensor<?x4x4xf32>, logits = %z : tensor<?x24xf32>)
    -> (d_logits : tensor<?x24xf32>))mlir"};
constexpr OpText kGatesBwd = {
    "%dh: tensor<?x4xf32>, %dp: tensor<?x4xf32>, %dz: tensor<?x16xf32>, %p: tensor<?x24xf32>, "
    "%s: tensor<?xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>",
    R"mlir(
  %d:4 = mhc.gates_bwd(d_h_pre = %dh : tensor<?x4xf32>, d_h_post = %dp : tensor<?x4xf32>, d_logits = %dz : tensor<?x16xf32>,
      proj = %p : tensor<?x24xf32>, stat = %s : tensor<?xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 0.0, post_mult = 2.0>
    -> (d_proj : tensor<?x24xf32>, d_stat : tensor<?xf32>, d_alpha : tensor<3xf32>, d_beta : tensor<24xf32>))mlir"};
constexpr OpText kProjectionBwd = {"%dp: tensor<?x24xf32>, %ds: tensor<?xf32>, %x: tensor<?x4x64xbf16>, "
                                   "%phi: tensor<24x256xf32>, %s: tensor<?xf32>, %sum: tensor<?x4x64xbf16>",
                                   R"mlir(
  %e:2 = mhc.projection_bwd(d_proj = %dp : tensor<?x24xf32>, d_stat = %ds : tensor<?xf32>, x = %x : tensor<?x4x64xbf16>,
      phi = %phi : tensor<24x256xf32>, stat = %s : tensor<?xf32>, d_x_in = %sum : tensor<?x4x64xbf16>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (d_x : tensor<?x4x64xbf16>, d_phi : tensor<24x256xf32>))mlir"};
constexpr OpText kPreBwd = {
    "%du: tensor<?x64xbf16>, %dp: tensor<?x4xf32>, %dr: tensor<?x4x4xf32>, %x: tensor<?x4x64xbf16>, "
    "%phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %p: tensor<?x24xf32>, %s: tensor<?xf32>, "
    "%dx: tensor<?x4x64xbf16>, %r: tensor<?x4x4xf32>",
    R"mlir(
  %g:4 = mhc.pre_bwd(d_u = %du : tensor<?x64xbf16>, d_h_post = %dp : tensor<?x4xf32>, d_h_res = %dr : tensor<?x4x4xf32>,
      x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>, proj = %p : tensor<?x24xf32>, stat = %s : tensor<?xf32>,
      d_out = %dx : tensor<?x4x64xbf16>, h_res = %r : tensor<?x4x4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
     fold_pre = false, orient = oi>
    -> (d_x : tensor<?x4x64xbf16>, d_phi : tensor<24x256xf32>, d_alpha : tensor<3xf32>, d_beta : tensor<24xf32>))mlir"};
constexpr OpText kHeadBwd = {"%do: tensor<?x64xbf16>, %x: tensor<?x4x64xbf16>, %phi: tensor<4x256xf32>, "
                             "%alpha: tensor<1xf32>, %beta: tensor<4xf32>, %p: tensor<?x4xf32>, %s: tensor<?xf32>",
                             R"mlir(
  %h:4 = mhc.head_bwd(d_out = %do : tensor<?x64xbf16>, x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<4x256xf32>,
      alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>, proj = %p : tensor<?x4xf32>, stat = %s : tensor<?xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0>
    -> (d_x : tensor<?x4x64xbf16>, d_phi : tensor<4x256xf32>, d_alpha : tensor<1xf32>, d_beta : tensor<4xf32>))mlir"};

FunctionCost costOfText(const std::string &text) {
  Module module(text);
  EXPECT_TRUE(module.func()) << text;
  return module.func() ? costOf(module.func()) : FunctionCost();
}

FunctionCost costOfOp(OpText op) {
  return costOfText(std::string("func.func @f(") + op.arguments + ") {" + op.text + "\n  return\n}");
}
} // namespace

TEST(CostModel, Projection) {
  Cost cost = costOfOp(kProjection).total;
  EXPECT_EQ(cost.bytes(), (Amount{8 * C + 4 * (N + 1), 4 * N * K}));
  EXPECT_EQ(cost.bytesRead, (Amount{a * n * C, f * N * K}));
  EXPECT_EQ(cost.flops, (Amount{2 * K * N + 2 * K, 0}));
  EXPECT_EQ(cost.launches, 1);
}

TEST(CostModel, Gates) {
  Cost cost = costOfOp(kGates).total;
  EXPECT_EQ(cost.bytes(), (Amount{4 * (N + 1) + 4 * N, 4 * 3 + 4 * N}));
  EXPECT_EQ(cost.flops, (Amount{6 * N, 0}));
}

TEST(CostModel, Sinkhorn) {
  Cost cost = costOfOp(kSinkhorn).total;
  EXPECT_EQ(cost.bytes(), (Amount{4 * n * n + 4 * n * n, 0}));
  EXPECT_EQ(cost.flops, (Amount{4 * n * n * 20, 0}));
}

TEST(CostModel, Aggregate) { EXPECT_EQ(costOfOp(kAggregate).total.bytes(), (Amount{10 * C + 4 * n, 0})); }

TEST(CostModel, Post) {
  EXPECT_EQ(costOfOp(kPost).total.bytes(), (Amount{18 * C + 4 * (n + n * n), 0}));
  EXPECT_EQ(costOfOp(kPostWithBias).total.bytes(), (Amount{18 * C + 4 * (n + n * n), 4 * C}));
}

TEST(CostModel, PreIsCheaperThanItsParts) {
  Cost fused = costOfOp(kPre).total, parts;
  for (OpText part : {kProjection, kGates, kSinkhorn, kAggregate})
    parts += costOfOp(part).total;
  EXPECT_EQ(fused.bytes(), (Amount{10 * C + 4 * (n + n * n), 4 * N * K + 4 * 3 + 4 * N}));
  EXPECT_EQ(parts.bytes(), (Amount{18 * C + 8 * (N + 1) + 4 * N + 8 * n * n + 4 * n, 4 * N * K + 4 * 3 + 4 * N}));
  EXPECT_EQ(fused.flops, parts.flops);
  EXPECT_EQ(fused.launches, 1);
  EXPECT_EQ(parts.launches, 4);
}

TEST(CostModel, FusedLayer) {
  EXPECT_EQ((costOfOp(kPre).total.bytes() + costOfOp(kPost).total.bytes()).perToken, 28 * C + 8 * (n + n * n));
}

TEST(CostModel, BackwardOps) {
  EXPECT_EQ(costOfOp(kPostBwd).total.bytes(), (Amount{28 * C + 2 * 4 * (n + n * n), 0}));
  EXPECT_EQ(costOfOp(kPostBwdAlone).total.bytes(), (Amount{20 * C + 2 * 4 * (n + n * n), 0}));
  EXPECT_EQ(costOfOp(kPostBwd).total.flops, (Amount{4 * n * n * C + 4 * n * C, 0}));
  EXPECT_EQ(costOfOp(kPostBwdAlone).total.flops, (Amount{2 * n * n * C + 4 * n * C, 0}));
  EXPECT_EQ(costOfOp(kAggregateBwd).total.bytes(), (Amount{18 * C + 8 * C + 2 * 4 * n, 0}));
  EXPECT_EQ(costOfOp(kSinkhornBwd).total.bytes(), (Amount{12 * n * n, 0}));
  EXPECT_EQ(costOfOp(kPermutationMixBwd).total.bytes(), (Amount{4 * n * n + 2 * 4 * 24, 0}));
  EXPECT_EQ(costOfOp(kGatesBwd).total.bytes(), (Amount{4 * N + 2 * 4 * (N + 1), 2 * 4 * (3 + N)}));
  EXPECT_EQ(costOfOp(kProjectionBwd).total.bytes(), (Amount{16 * C + 8 * C + 4 * (N + 2), 2 * 4 * N * K}));
  EXPECT_EQ(costOfOp(kPreBwd).total.bytes(),
            (Amount{26 * C + 4 * (n + 2 * n * n) + 4 * (N + 1), 2 * 4 * (N * K + 3 + N)}));
  EXPECT_EQ(costOfOp(kHeadBwd).total.bytes(), (Amount{18 * C + 4 * (n + 1), 2 * 4 * (n * K + 1 + n)}));
}

/// The function of the ops of one sublayer's gradient.
static FunctionCost gradientCost(std::initializer_list<OpText> ops) {
  std::string arguments, body;
  int number = 0;
  for (OpText op : ops) { // every op has arguments of its own
    std::string suffix = "_" + std::to_string(number++), part = std::string(op.arguments) + "|" + op.text;
    for (size_t at = 0; (at = part.find('%', at)) != std::string::npos; at += suffix.size()) {
      at = part.find_first_not_of("abcdefghijklmnopqrstuvwxyz", at + 1);
      part.insert(at, suffix);
    }
    size_t middle = part.find('|');
    arguments += (arguments.empty() ? "" : ", ") + part.substr(0, middle);
    body += part.substr(middle + 1);
  }
  return costOfText("func.func @f(" + arguments + ") {" + body + "\n  return\n}");
}

// math.md 9 has 28C + 18C + 16C = 62C, and 32C for the sum of the three gradients of the streams. A kernel that adds to
// the sum reads it, 8C twice for a chain. pre_bwd computes post's share itself, reads x once instead of twice and
// writes d_x once.
TEST(CostModel, GradientsOfALayer) {
  EXPECT_EQ(separateBytesPerChannel(n, a), 28 + 18 + 16);
  EXPECT_EQ(addedBytesPerChannel(n, a), 62 + 32);
  EXPECT_EQ(chainBytesPerChannel(n, a), 62 + 8 + 8);
  EXPECT_EQ(layerBytesPerChannel(n, a), 20 + 26);

  FunctionCost chain = gradientCost({kPostBwd, kAggregateBwd, kSinkhornBwd, kGatesBwd, kProjectionBwd});
  FunctionCost layer = gradientCost({kPostBwdAlone, kPreBwd});
  ASSERT_TRUE(chain.streamGradients && layer.streamGradients);
  EXPECT_EQ(chain.streamGradients->bytesPerChannel, chainBytesPerChannel(n, a));
  EXPECT_EQ(layer.streamGradients->bytesPerChannel, layerBytesPerChannel(n, a));
  EXPECT_EQ(gradientCost({kPostBwdAlone, kPreBwd, kPostBwdAlone, kPreBwd}).streamGradients->bytesPerChannel,
            layerBytesPerChannel(n, a));
  EXPECT_EQ(layer.streamGradients->sublayers, 1);
  EXPECT_EQ(layer.streamGradients->streams, n);
  EXPECT_FALSE(gradientCost({kPreBwd}).streamGradients);
}

TEST(CostModel, ModelEntryAndExit) {
  Amount bytes = costOfText(R"mlir(func.func @f(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
    %s = mhc.expand(x = %x : tensor<?x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
    %y = mhc.contract(x = %s : tensor<?x4x64xbf16>) <layout = nC, mode = sum> -> (out : tensor<?x64xbf16>)
    return %y : tensor<?x64xbf16>
  })mlir")
                     .total.bytes();
  EXPECT_EQ(bytes, (Amount{10 * C + 10 * C, 0}));
}

// Every leaf op is a kernel of its own; views and constants are none.
TEST(CostModel, LeafOps) {
  FunctionCost cost =
      costOfText(R"mlir(func.func @f(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>) -> tensor<?x24xf32> {
    %c0 = arith.constant 0 : index
    %M = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
    %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xbf16> into tensor<?x256xbf16>
    %wide = arith.extf %flat : tensor<?x256xbf16> to tensor<?x256xf32>
    %proj = mhc.matmul %wide, %phi transpose_rhs : (tensor<?x256xf32>, tensor<24x256xf32>) -> tensor<?x24xf32>
    %square = arith.mulf %wide, %wide : tensor<?x256xf32>
    %sum = mhc.reduce sum %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
    %root = math.sqrt %sum : tensor<?xf32>
    %spread = mhc.broadcast %root dims = [0] : tensor<?xf32> -> tensor<?x24xf32>
    %out = arith.divf %proj, %spread : tensor<?x24xf32>
    return %out : tensor<?x24xf32>
  })mlir");
  ASSERT_EQ(cost.ops.size(), 7u);
  EXPECT_EQ(cost.ops[0].cost.bytes(), (Amount{(a + f) * K, 0})); // extf
  EXPECT_EQ(cost.ops[0].cost.flops, (Amount{0, 0}));
  EXPECT_EQ(cost.ops[1].cost.bytes(), (Amount{f * (K + N), f * N * K})); // matmul
  EXPECT_EQ(cost.ops[1].cost.flops, (Amount{2 * K * N, 0}));
  EXPECT_EQ(cost.ops[2].cost.bytes(), (Amount{f * 2 * K, 0})); // mulf reads %wide once
  EXPECT_EQ(cost.ops[2].cost.flops, (Amount{K, 0}));
  EXPECT_EQ(cost.ops[3].cost.bytes(), (Amount{f * (K + 1), 0})); // reduce
  EXPECT_EQ(cost.ops[3].cost.flops, (Amount{K, 0}));
  EXPECT_EQ(cost.ops[5].cost.bytes(), (Amount{f * (1 + N), 0})); // broadcast
  EXPECT_EQ(cost.total.launches, 7);
  EXPECT_TRUE(cost.isComplete());
}

// A fill reads nothing of what it writes; sums read what they start from.
TEST(CostModel, LinalgOps) {
  FunctionCost cost = costOfText(R"mlir(
  func.func @f(%x: tensor<?x64xbf16>, %w: tensor<64x24xf32>, %start: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %M = tensor.dim %x, %c0 : tensor<?x64xbf16>
    %empty = tensor.empty(%M) : tensor<?x24xf32>
    %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x24xf32>) -> tensor<?x24xf32>
    %product = linalg.matmul ins(%x, %w : tensor<?x64xbf16>, tensor<64x24xf32>) outs(%none : tensor<?x24xf32>) -> tensor<?x24xf32>
    %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                           iterator_types = ["parallel", "reduction"]}
        ins(%product : tensor<?x24xf32>) outs(%start : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %square = arith.mulf %a, %a : f32
      %next = arith.addf %b, %square : f32
      linalg.yield %next : f32
    } -> tensor<?xf32>
    return %sum : tensor<?xf32>
  })mlir");
  ASSERT_EQ(cost.ops.size(), 3u);
  EXPECT_EQ(cost.ops[0].cost.bytes(), (Amount{f * N, 0})); // fill
  EXPECT_EQ(cost.ops[0].cost.flops, (Amount{0, 0}));
  EXPECT_EQ(cost.ops[1].cost.bytesRead, (Amount{a * 64 + f * N, f * 64 * N})); // matmul adds to its start
  EXPECT_EQ(cost.ops[1].cost.flops, (Amount{2 * 64 * N, 0}));
  EXPECT_EQ(cost.ops[2].cost.bytesRead, (Amount{f * N + f, 0})); // generic
  EXPECT_EQ(cost.ops[2].cost.bytesWritten, (Amount{f, 0}));
  EXPECT_EQ(cost.ops[2].cost.flops, (Amount{2 * N, 0}));
  EXPECT_TRUE(cost.isComplete());
}

TEST(CostModel, SlicesAreViewsWhereContiguous) {
  FunctionCost cost = costOfText(R"mlir(func.func @f(%x: tensor<?x24xf32>, %y: tensor<3x8x4xf32>, %M: index) {
    %c0 = arith.constant 0 : index
    %m = tensor.dim %x, %c0 : tensor<?x24xf32>
    %whole = tensor.extract_slice %x[0, 0] [%m, 24] [1, 1] : tensor<?x24xf32> to tensor<?x24xf32>
    %rows = tensor.extract_slice %x[8, 0] [16, 24] [1, 1] : tensor<?x24xf32> to tensor<16x24xf32>
    %row = tensor.extract_slice %y[1, 2, 0] [1, 3, 4] [1, 1, 1] : tensor<3x8x4xf32> to tensor<3x4xf32>
    %columns = tensor.extract_slice %x[0, 4] [%m, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
    %planes = tensor.extract_slice %y[0, 2, 0] [3, 3, 4] [1, 1, 1] : tensor<3x8x4xf32> to tensor<3x3x4xf32>
    return
  })mlir");
  ASSERT_EQ(cost.ops.size(), 2u);
  EXPECT_EQ(cost.ops[0].cost.bytes(), (Amount{4 * 24 + 4 * 4, 0}));
  EXPECT_EQ(cost.ops[1].cost.bytes(), (Amount{0, 4 * 96 + 4 * 36}));
}

TEST(CostModel, ConstantsAreReadOnlyWhenTheyHoldATable) {
  FunctionCost cost = costOfText(R"mlir(func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %one = arith.constant dense<1.0> : tensor<2xf32>
    %table = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %a = arith.addf %x, %one : tensor<2xf32>
    %b = arith.addf %a, %table : tensor<2xf32>
    return %b : tensor<2xf32>
  })mlir");
  ASSERT_EQ(cost.ops.size(), 2u);
  EXPECT_EQ(cost.ops[0].cost.bytesRead, (Amount{0, 8}));
  EXPECT_EQ(cost.ops[1].cost.bytesRead, (Amount{0, 16}));
}

// A kernel that never runs has no bytes for each call.
TEST(CostModel, KernelsOfSublayersInALoop) {
  const auto kernels = [](const char *turns) {
    return costOfText(R"mlir(func.func @f(%x: tensor<?x4x64xbf16>, %h: tensor<?x4xf32>, %a: tensor<?x4x4xf32>,
                                          %f: tensor<?x64xbf16>) -> tensor<?x4x64xbf16> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %end = arith.constant )mlir" +
                      std::string(turns) + R"mlir( : index
      %last = scf.for %i = %c0 to %end step %c1 iter_args(%s = %x) -> tensor<?x4x64xbf16> {
        %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h : tensor<?x4xf32>, x = %s : tensor<?x4x64xbf16>,
          h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
        scf.yield %y : tensor<?x4x64xbf16>
      }
      return %last : tensor<?x4x64xbf16>
    })mlir")
        .sublayerKernels;
  };
  EXPECT_TRUE(kernels("0").empty());
  ASSERT_EQ(kernels("3").size(), 1u);
  EXPECT_EQ(kernels("3")[0].ops, 3);
  EXPECT_EQ(kernels("3")[0].closedForm, 3 * (2 * n + 1) * a);
  EXPECT_EQ(kernels("3")[0].counted, 3 * (2 * n + 1) * a);
}

TEST(CostModel, LoopsMultiply) {
  const char *text = R"mlir(func.func @f(%x: tensor<?x4xf32>, %end: index) {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c20 = arith.constant 20 : index
    %r = scf.for %i = %c0 to %c20 step %c3 iter_args(%a = %x) -> tensor<?x4xf32> {
      %b = math.exp %a : tensor<?x4xf32>
      scf.yield %b : tensor<?x4xf32>
    }
    %s = scf.for %i = %c0 to %end step %c3 iter_args(%a = %x) -> tensor<?x4xf32> {
      %b = math.exp %a : tensor<?x4xf32>
      scf.yield %b : tensor<?x4xf32>
    }
    return
  })mlir";
  FunctionCost cost = costOfText(text);
  ASSERT_EQ(cost.ops.size(), 2u);
  EXPECT_EQ(cost.ops[0].times, 7);
  EXPECT_EQ(cost.total.bytes(), (Amount{7 * 2 * 4 * 4, 0}));
  EXPECT_EQ(cost.total.launches, 7);
  EXPECT_EQ(cost.ops[1].unknown, "number of iterations");
  EXPECT_FALSE(cost.isComplete());
}

TEST(CostModel, OtherDynamicSizesAreNamed) {
  FunctionCost cost = costOfText(R"mlir(func.func @f(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) {
    %a = math.exp %x : tensor<?x?xf32>
    %b = mhc.matmul %x, %x transpose_rhs : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    return
  })mlir");
  ASSERT_EQ(cost.ops.size(), 2u);
  EXPECT_EQ(cost.ops[0].unknown, "M*d1");
  EXPECT_EQ(cost.ops[1].unknown, "M*d1, M*M, d1");
  EXPECT_EQ(cost.total.bytes(), (Amount{0, 0}));
}

// Four tensors are made: the argument and the result belong to the caller, and two temporaries meet at the addition.
TEST(CostModel, PeakMemory) {
  FunctionCost cost = costOfText(R"mlir(func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %a = math.exp %x : tensor<?x4xf32>
    %view = tensor.collapse_shape %a [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
    %b = math.sqrt %x : tensor<?x4xf32>
    %c = arith.addf %b, %b : tensor<?x4xf32>
    %s = mhc.reduce sum %view dims = [0] : tensor<?xf32> -> tensor<f32>
    %d = arith.mulf %c, %x : tensor<?x4xf32>
    return %d : tensor<?x4xf32>
  })mlir");
  EXPECT_EQ(cost.peakBytes, (Amount{3 * 16, 0}));
  EXPECT_FALSE(cost.plannedPeakBytes);
}

TEST(CostModel, PlannedMemory) {
  FunctionCost cost = costOfText(R"mlir(func.func @f() attributes {mhc.memory = [
      {per = "M", arena = 640, live = 600, all = 900}, {per = "", arena = 64, live = 64, all = 64}]} {
    return
  })mlir");
  EXPECT_EQ(cost.plannedPeakBytes, (Amount{640, 64}));
  EXPECT_TRUE(cost.temporaries.empty());
}

TEST(CostModel, PlannedTemporaries) {
  FunctionCost cost = costOfText(R"mlir(func.func @f() attributes {mhc.temporaries = [
      {bytes = "16*M", first = 2, last = 5, line = 7}, {bytes = "64", first = 5, last = 5, line = 0}]} {
    return
  })mlir");
  ASSERT_EQ(cost.temporaries.size(), 2u);
  EXPECT_EQ(cost.temporaries[0].bytes, "16*M");
  EXPECT_EQ(cost.temporaries[0].last, 5);
  std::string text;
  llvm::raw_string_ostream stream(text);
  printReport(stream, cost, cost, cost, CostReportOptions());
  for (const char *row : {"16*M                                         2               5         7\n",
                          "64                                           5               5         -\n"})
    EXPECT_NE(text.find(row), std::string::npos) << text;
}

TEST(Machine, TimeIsTheSlowerBoundPlusLaunches) {
  Machine machine{"toy", /*bytesPerSecond=*/100, /*flopsPerSecond=*/10, /*secondsPerLaunch=*/1};
  Cost bytes{{10, 0}, {10, 0}, {1, 0}, 1}, flops{{10, 0}, {10, 0}, {100, 0}, 2};
  EXPECT_EQ(machine.seconds(bytes, 5), 20 * 5 / 100.0 + 1);
  EXPECT_EQ(machine.seconds(flops, 5), 100 * 5 / 10.0 + 2);
  EXPECT_NE(lookupMachine("h200"), nullptr);
  EXPECT_NE(lookupMachine("cpu"), nullptr);
  EXPECT_EQ(lookupMachine("abacus"), nullptr);
}

TEST(CostReport, TextAndJson) {
  FunctionCost before = costOfOp(kProjection);
  FunctionCost after = costOfOp(kPre);
  std::string text;
  llvm::raw_string_ostream textStream(text);
  printReport(textStream, before, after, after, {});
  for (const char *part : {"@f, bounds for h200 at M = 16384", "mhc.projection", "bytes per token", "launches"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  llvm::json::Value json = reportJson(before, after, after, {});
  const llvm::json::Object &root = *json.getAsObject();
  const llvm::json::Object &total = *root.getObject("after")->getObject("total");
  EXPECT_EQ(total.getObject("bytes_written")->getNumber("per_token"), 2 * C + 4 * (n + n * n));
  EXPECT_EQ(total.getNumber("launches"), 1);
  EXPECT_EQ(root.getObject("before")->getArray("ops")->size(), 1u);
  llvm::json::Value totals = reportJson(before, after, after, {}, /*withOps=*/false);
  EXPECT_EQ(totals.getAsObject()->getObject("before")->getArray("ops"), nullptr);
}
