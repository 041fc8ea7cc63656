//===- KernelTest.cpp ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every CPU kernel against the chain that defines its op, evaluated in float64.
//
//===----------------------------------------------------------------------===//

#include "KernelCheck.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mhc::test;
using llvm::formatv;

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
          for (std::string dropout : kDropouts)
            for (int n : {1, 3, 4}) {
              Names operands = {{"f", tensor({M, C}, type)},
                                {"h_post", tensor({M, n})},
                                {"x", streams(layout, n, type)},
                                {"h_res", tensor({M, n, n})}};
              if (!bias.empty())
                operands.insert(operands.begin() + 1, {"bias", tensor({C}, bias)});
              if (!dropout.empty())
                operands.push_back({"seed", tensor({2}, "i64")});
              check(kernelText("post", operands, "<layout = " + layout + ", orient = " + orient + dropout + ">",
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
    for (std::string init :
         {"softmax_eps", "exp", "exp_rowmax", "exp_colmax", "exp_max", "sigmoid", "sigmoid_eps", "log"})
      for (std::string order : {"row_col", "col_row"})
        for (std::string denom : {"add", "clamp", "none", "potentials"})
          for (int iters : {0, 1, 7}) {
            if ((init == "softmax_eps" && (order == "col_row" || iters == 0)) || (init == "log" && denom != "none"))
              continue;
            check(kernelText(
                "sinkhorn", {{"logits", tensor({M, n, n})}},
                formatv("<init = {0}, order = {1}, denom = {2}, eps = 1.0e-1, iters = {3}>", init, order, denom, iters),
                {{"mix", tensor({M, n, n})}}));
          }
  for (int n : {1, 2, 3, 4, 8, 16})
    check(kernelText("sinkhorn", {{"logits", tensor({M, n, n})}},
                     "<init = log, order = row_col, denom = none, eps = 0.0, iters = 20, solver = newton>",
                     {{"mix", tensor({M, n, n})}}));
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

TEST(Kernel, Take) {
  for (const char *type : kTypes) {
    check(kernelText("take", {{"table", tensor({7, C}, type)}, {"ids", tensor({M}, "i32")}}, "",
                     {{"out", tensor({M, C}, type)}}));
    check(kernelText("take_bwd",
                     {{"d_out", tensor({M, C}, type)}, {"ids", tensor({M}, "i32")}, {"d_table_in", tensor({3, C})}}, "",
                     {{"d_table", tensor({3, C})}}));
  }
}

TEST(Kernel, Random) {
  for (std::string distribution : {"uniform", "normal"})
    for (int count : {1, 4, 4099})
      check(kernelText("random", {{"seed", tensor({2}, "i64")}}, "<distribution = " + distribution + ", stream = 7>",
                       {{"out", tensor({count})}}));
}

TEST(Kernel, Dropout) {
  for (const char *type : kTypes)
    for (std::string rate : {"0.0", "0.1", "0.5", "0.999"})
      for (int channels : {1, 3, 1000})
        check(kernelText("dropout", {{"x", tensor({M, channels}, type)}, {"seed", tensor({2}, "i64")}},
                         "<rate = " + rate + ", stream = 4294967295>", {{"out", tensor({M, channels}, type)}}));
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
