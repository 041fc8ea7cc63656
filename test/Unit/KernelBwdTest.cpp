//===- KernelBwdTest.cpp ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every backward kernel against the chain that defines its op, and every such chain against differences of the forward
// op's chain, for every combination of attributes.
//
//===----------------------------------------------------------------------===//

#include "KernelCheck.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mhc::test;
using llvm::formatv;

namespace {
/// Element types of d_x_in and d_x for streams of a type; empty where there is none.
using Pair = std::pair<std::string, std::string>;
std::vector<Pair> gradientTypes(const std::string &type) {
  return {{"", type}, {type, type}, {"f32", "f32"}, {"f32", type}, {type, "f32"}, {"", "f32"}, {"", ""}};
}
} // namespace

TEST(KernelBwd, Post) {
  for (std::string type : kTypes)
    for (std::string layout : kLayouts)
      for (std::string orient : {"oi", "io"})
        for (std::string bias : {std::string(), std::string("f32"), type})
          for (auto &[start, grad] : gradientTypes(type))
            for (int n : {1, 3, 4, 16}) {
              Names operands = {{"d_out", streams(layout, n, type)}, {"f", tensor({M, C}, type)}};
              if (!bias.empty())
                operands.push_back({"bias", tensor({C}, bias)});
              operands.insert(
                  operands.end(),
                  {{"h_post", tensor({M, n})}, {"x", streams(layout, n, type)}, {"h_res", tensor({M, n, n})}});
              std::string dropout = kDropouts[start.empty() != grad.empty()];
              if (!dropout.empty())
                operands.push_back({"seed", tensor({2}, "i64")});
              if (!start.empty())
                operands.push_back({"d_x_in", streams(layout, n, start)});
              if (bias == "f32")
                operands.push_back({"d_bias_in", tensor({C})});
              Names results = {
                  {"d_f", tensor({M, C}, type)}, {"d_h_post", tensor({M, n})}, {"d_h_res", tensor({M, n, n})}};
              if (!grad.empty())
                results.push_back({"d_x", streams(layout, n, grad)});
              if (!bias.empty())
                results.push_back({"d_bias", tensor({C})});
              check(kernelText("post_bwd", operands, "<layout = " + layout + ", orient = " + orient + dropout + ">",
                               results));
            }
}

// A result that is not wanted is not computed, and the others do not change.
TEST(KernelBwd, PostParts) {
  Names operands = {{"d_out", streams("nC", 4, "bf16")},
                    {"f", tensor({M, C}, "bf16")},
                    {"h_post", tensor({M, 4})},
                    {"x", streams("nC", 4, "bf16")},
                    {"h_res", tensor({M, 4, 4})}};
  Names results = {{"d_f", tensor({M, C}, "bf16")},
                   {"d_h_post", tensor({M, 4})},
                   {"d_h_res", tensor({M, 4, 4})},
                   {"d_x", streams("nC", 4, "bf16")},
                   {"d_bias", tensor({C})}};
  for (auto &result : results)
    check(kernelText("post_bwd", operands, "<layout = nC, orient = io>", {result}));
}

TEST(Gradient, Post) {
  for (std::string layout : kLayouts)
    for (std::string orient : {"oi", "io"})
      for (bool hasBias : {false, true})
        for (std::string dropout : kDropouts) {
          constexpr int n = 3;
          Names operands = {{"f", tensor({M, C})},
                            {"h_post", tensor({M, n})},
                            {"x", streams(layout, n, "f32")},
                            {"h_res", tensor({M, n, n})}};
          Names results = {{"d_f", tensor({M, C})},
                           {"d_h_post", tensor({M, n})},
                           {"d_h_res", tensor({M, n, n})},
                           {"d_x", streams(layout, n, "f32")}};
          if (hasBias) {
            operands.insert(operands.begin() + 1, {"bias", tensor({C})});
            results.push_back({"d_bias", tensor({C})});
          }
          if (!dropout.empty())
            operands.push_back({"seed", tensor({2}, "i64")});
          Names inputs = operands;
          inputs.insert(inputs.begin(), {"d_out", streams(layout, n, "f32")});
          std::string attrs = "<layout = " + layout + ", orient = " + orient + dropout + ">";
          checkGradient("post", {operands, attrs, {{"out", streams(layout, n, "f32")}}}, {inputs, attrs, results});
        }
}

TEST(KernelBwd, Aggregate) {
  for (std::string type : kTypes)
    for (std::string layout : kLayouts)
      for (auto &[start, grad] : gradientTypes(type))
        for (int n : {1, 3, 4, 16}) {
          Names operands = {{"d_u", tensor({M, C}, type)}, {"x", streams(layout, n, type)}, {"h_pre", tensor({M, n})}};
          if (!start.empty())
            operands.push_back({"d_x_in", streams(layout, n, start)});
          Names results;
          if (!grad.empty())
            results.push_back({"d_x", streams(layout, n, grad)});
          if (start.empty())
            results.push_back({"d_h_pre", tensor({M, n})});
          check(kernelText("aggregate_bwd", operands, "<layout = " + layout + ">", results));
        }
}

TEST(Gradient, Aggregate) {
  for (std::string layout : kLayouts) {
    constexpr int n = 3;
    Names operands = {{"x", streams(layout, n, "f32")}, {"h_pre", tensor({M, n})}};
    checkGradient("aggregate", {operands, "<layout = " + layout + ">", {{"u", tensor({M, C})}}},
                  {{{"d_u", tensor({M, C})}, operands[0], operands[1]},
                   "<layout = " + layout + ">",
                   {{"d_x", streams(layout, n, "f32")}, {"d_h_pre", tensor({M, n})}}});
  }
}

TEST(KernelBwd, Sinkhorn) {
  for (int n : {1, 2, 3, 4, 8})
    for (std::string init :
         {"softmax_eps", "exp", "exp_rowmax", "exp_colmax", "exp_max", "sigmoid", "sigmoid_eps", "log"})
      for (std::string order : {"row_col", "col_row"})
        for (std::string denom : {"add", "clamp", "none", "potentials"})
          for (int iters : {0, 1, 2, 7}) {
            if ((init == "softmax_eps" && (order == "col_row" || iters == 0)) || (init == "log" && denom != "none"))
              continue;
            // Between the sums that occur: some divisors are clamped.
            std::string attrs =
                formatv("<init = {0}, order = {1}, denom = {2}, eps = 8.0e-1, iters = {3}>", init, order, denom, iters);
            std::string matrix = tensor({M, n, n});
            check(kernelText("sinkhorn_bwd", {{"d_mix", matrix}, {"logits", matrix}}, attrs, {{"d_logits", matrix}}));
            checkGradient("sinkhorn", {{{"logits", matrix}}, attrs, {{"mix", matrix}}},
                          {{{"d_mix", matrix}, {"logits", matrix}}, attrs, {{"d_logits", matrix}}});
          }
}

TEST(KernelBwd, SinkhornLimit) {
  for (int n : {1, 2, 3, 4, 8, 16}) {
    std::string attrs = "<init = log, order = row_col, denom = none, eps = 0.0, iters = 20, solver = newton>";
    std::string matrix = tensor({M, n, n});
    check(kernelText("sinkhorn_bwd", {{"d_mix", matrix}, {"logits", matrix}}, attrs, {{"d_logits", matrix}}));
    checkGradient("sinkhorn", {{{"logits", matrix}}, attrs, {{"mix", matrix}}},
                  {{{"d_mix", matrix}, {"logits", matrix}}, attrs, {{"d_logits", matrix}}});
  }
}

TEST(KernelBwd, PermutationMix) {
  for (int n = 1, count = 1; n <= 5; count *= ++n) {
    std::string matrix = tensor({M, n, n}), logits = tensor({M, count});
    check(kernelText("permutation_mix_bwd", {{"d_mix", matrix}, {"logits", logits}}, "", {{"d_logits", logits}}));
    checkGradient("permutation_mix", {{{"logits", logits}}, "", {{"mix", matrix}}},
                  {{{"d_mix", matrix}, {"logits", logits}}, "", {{"d_logits", logits}}});
  }
}

TEST(KernelBwd, Gates) {
  for (std::string stat : {"inv_rms", "applied"})
    for (bool isHead : {false, true})
      for (bool hasStart : {false, true})
        for (int present : {0, 1, 2, 3}) // d_h_post, d_logits
          for (int n : {1, 3, 4, 8}) {
            if (isHead && present)
              continue;
            int N = isHead ? n : 2 * n + 6, groups = isHead ? 1 : 3;
            Names cotangents = {{"d_h_pre", tensor({M, n})}};
            if (present & 1)
              cotangents.push_back({"d_h_post", tensor({M, n})});
            if (present & 2)
              cotangents.push_back({"d_logits", tensor({M, 6})});
            Names operands = {{"proj", tensor({M, N})}}, results = {{"d_proj", tensor({M, N})}};
            if (stat != "applied") {
              operands.push_back({"stat", tensor({M})});
              results.push_back({"d_stat", tensor({M})});
            }
            operands.insert(operands.end(), {{"alpha", tensor({groups})}, {"beta", tensor({N})}});
            results.insert(results.end(), {{"d_alpha", tensor({groups})}, {"d_beta", tensor({N})}});
            Names inputs = cotangents;
            inputs.insert(inputs.end(), operands.begin(), operands.end());
            std::string attrs = "<stat_form = " + stat + ", norm_eps = 0.0, post_mult = 2.0>";
            Names outputs = {{"h_pre", tensor({M, n})}};
            if (!isHead)
              outputs.insert(outputs.end(), {{"h_post", tensor({M, n})}, {"logits", tensor({M, 6})}});
            checkGradient(
                "gates",
                {operands, "<stat_form = " + stat + ", norm_eps = 0.0, pre_eps = 1.0e-2, post_mult = 2.0>", outputs},
                {inputs, attrs, results});
            if (hasStart)
              inputs.insert(inputs.end(), {{"d_alpha_in", tensor({groups})}, {"d_beta_in", tensor({N})}});
            check(kernelText("gates_bwd", inputs, attrs, results));
          }
}

TEST(KernelBwd, Projection) {
  for (std::string type : kTypes)
    for (std::string layout : kLayouts)
      for (std::string phiLayout : kPhiLayouts)
        for (std::string norm : {"inside", "outside", "none"})
          for (std::string stat : {"mean_square", "inv_rms"})
            for (bool hasWeight : {false, true})
              for (auto &[start, grad] : gradientTypes(type)) {
                constexpr int n = 3, N = 15;
                Names operands = {{"d_proj", tensor({M, N})},
                                  {"d_stat", tensor({M})},
                                  {"x", streams(layout, n, type)},
                                  {"phi", weight(phiLayout, N, n)}};
                if (hasWeight)
                  operands.push_back({"norm_weight", tensor({n * C})});
                if (stat == "inv_rms")
                  operands.push_back({"stat", tensor({M})});
                if (!start.empty())
                  operands.push_back({"d_x_in", streams(layout, n, start)});
                if (start == "f32")
                  operands.push_back({"d_phi_in", weight(phiLayout, N, n)});
                if (start == "f32" && hasWeight)
                  operands.push_back({"d_norm_weight_in", tensor({n * C})});
                Names results;
                if (!grad.empty())
                  results.push_back({"d_x", streams(layout, n, grad)});
                if (start == "f32" || grad.empty())
                  results.push_back({"d_phi", weight(phiLayout, N, n)});
                if (hasWeight)
                  results.push_back({"d_norm_weight", tensor({n * C})});
                // A large eps: 1/s - eps is then taken from x again.
                for (std::string eps : {"1.0e-3", "1.0"})
                  check(kernelText(
                            "projection_bwd", operands,
                            formatv("<layout = {0}, phi_layout = {1}, norm = {2}, norm_eps = {3}, stat_form = {4}>",
                                    layout, phiLayout, norm, eps, stat),
                            results),
                        norm, std::stod(eps));
              }
}

TEST(Gradient, Projection) {
  for (std::string layout : kLayouts)
    for (std::string phiLayout : kPhiLayouts)
      for (std::string norm : {"inside", "outside", "none"})
        for (std::string stat : {"mean_square", "inv_rms"})
          for (bool hasWeight : {false, true})
            for (bool hasStatGradient : {false, true}) {
              constexpr int n = 3, N = 15;
              std::string x = streams(layout, n, "f32"), phi = weight(phiLayout, N, n),
                          attrs = formatv(
                              "<layout = {0}, phi_layout = {1}, norm = {2}, norm_eps = 1.0e-1, stat_form = {3}>",
                              layout, phiLayout, norm, stat);
              Names operands = {{"x", x}, {"phi", phi}}, results = {{"d_x", x}, {"d_phi", phi}};
              if (hasWeight) {
                operands.push_back({"norm_weight", tensor({n * C})});
                results.push_back({"d_norm_weight", tensor({n * C})});
              }
              Names inputs = {{"d_proj", tensor({M, N})}};
              if (hasStatGradient)
                inputs.push_back({"d_stat", tensor({M})});
              inputs.insert(inputs.end(), operands.begin(), operands.end());
              inputs.push_back({"stat", tensor({M})});
              checkGradient("projection", {operands, attrs, {{"proj", tensor({M, N})}, {"stat", tensor({M})}}},
                            {inputs, attrs, results});
            }
}

namespace {
/// One mhc.pre, or mhc.head, which has no residual map.
struct PreForm {
  std::string op, layout, phiLayout, norm, resMap, sinkhorn;
  bool hasWeight, foldPre;
  int n;

  int groups() const { return op == "head" ? 1 : 3; }
  int rows() const { return op == "head" ? n : 2 * n + (resMap == "permutation" ? 6 : n * n); }
  std::string attrs() const {
    std::string projection = formatv("layout = {0}, phi_layout = {1}, norm = {2}, norm_eps = 1.0e-3, pre_eps = 1.0e-2",
                                     layout, phiLayout, norm);
    if (op == "head")
      return "<" + projection + ">";
    return formatv("<{0}, post_mult = 2.0, res_map = {1}, {2}, fold_pre = {3}>", projection, resMap, sinkhorn,
                   foldPre ? "true" : "false");
  }
  Names operands(const std::string &type) const {
    Names names = {{"x", streams(layout, n, type)}, {"phi", weight(phiLayout, rows(), n)}};
    if (hasWeight)
      names.push_back({"norm_weight", tensor({n * C})});
    names.insert(names.end(), {{"alpha", tensor({groups()})}, {"beta", tensor({rows()})}});
    return names;
  }
  Names outputs() const {
    Names names = {{op == "head" ? "out" : "u", tensor({M, C})}, {"h_pre", tensor({M, n})}};
    if (op == "pre")
      names.insert(names.end(), {{"h_post", tensor({M, n})}, {"h_res", tensor({M, n, n})}});
    names.insert(names.end(), {{"proj", tensor({M, rows()})}, {"stat", tensor({M})}});
    return names;
  }
  /// The gradients that are sums over tokens.
  Names sums() const {
    Names names = {{"d_phi", weight(phiLayout, rows(), n)}};
    if (hasWeight)
      names.push_back({"d_norm_weight", tensor({n * C})});
    names.insert(names.end(), {{"d_alpha", tensor({groups()})}, {"d_beta", tensor({rows()})}});
    return names;
  }
};

const char *const kSinkhorns[] = {
    "init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-2, iters = 3",
    "init = exp_rowmax, order = col_row, denom = clamp, sk_eps = 8.0e-1, iters = 2",
    "init = log, order = row_col, denom = none, sk_eps = 0.0, iters = 2",
    "init = exp_max, order = row_col, denom = potentials, sk_eps = 8.0e-1, iters = 3",
    "solver = newton, init = log, order = row_col, denom = none, sk_eps = 0.0, iters = 20",
};

std::vector<PreForm> preForms() {
  std::vector<PreForm> forms;
  for (std::string layout : kLayouts)
    for (std::string phiLayout : kPhiLayouts)
      for (std::string norm : {"inside", "outside", "none"})
        for (bool hasWeight : {false, true}) {
          PreForm form = {"pre", layout, phiLayout, norm, "sinkhorn", "", hasWeight, false, 4};
          for (std::string sinkhorn : kSinkhorns)
            forms.push_back(form), forms.back().sinkhorn = sinkhorn, forms.back().n = sinkhorn == kSinkhorns[1] ? 3 : 4;
          form.sinkhorn = kSinkhorns[0];
          for (std::string map : {"sinkhorn", "permutation", "identity"})
            forms.push_back(form), forms.back().resMap = map, forms.back().n = 3, forms.back().foldPre = true;
          form.op = "head";
          forms.push_back(form);
        }
  return forms;
}

/// The attributes of the gradient op, for both orientations of what mhc.post mixes.
std::string gradientAttrs(const PreForm &form, llvm::StringRef orient = "oi") {
  std::string attrs = form.attrs();
  return form.op == "head" ? attrs : attrs.substr(0, attrs.size() - 1) + ", orient = " + orient.str() + ">";
}

/// The gradients of all results, and the other operands of the gradient op. Without `d_h_pre` where x has a weight.
Names preGradientOperands(const PreForm &form, const std::string &type) {
  Names operands = {{form.op == "head" ? "d_out" : "d_u", tensor({M, C}, type)}};
  if (!form.hasWeight)
    operands.push_back({"d_h_pre", tensor({M, form.n})});
  if (form.op == "pre")
    operands.insert(operands.end(), {{"d_h_post", tensor({M, form.n})}, {"d_h_res", tensor({M, form.n, form.n})}});
  Names forward = form.operands(type);
  operands.insert(operands.end(), forward.begin(), forward.end());
  operands.insert(operands.end(), {{"proj", tensor({M, form.rows()})}, {"stat", tensor({M})}});
  return operands;
}
} // namespace

TEST(KernelBwd, Pre) {
  for (PreForm form : preForms())
    for (std::string type : kTypes)
      for (auto &[start, grad] : gradientTypes(type)) {
        Names operands = preGradientOperands(form, type);
        bool hasStarts = start == "f32", hasPost = form.op == "pre" && hasStarts && form.hasWeight && !grad.empty();
        if (hasPost)
          operands.insert(operands.end(),
                          {{"d_out", streams(form.layout, form.n, type)}, {"h_res", tensor({M, form.n, form.n})}});
        else if (!start.empty())
          operands.push_back({"d_x_in", streams(form.layout, form.n, start)});
        Names sums = form.sums();
        for (auto &[name, sumType] : sums)
          if (hasStarts)
            operands.push_back({name + "_in", sumType});
        Names results;
        if (!grad.empty())
          results.push_back({"d_x", streams(form.layout, form.n, grad)});
        if (hasStarts || grad.empty())
          results.insert(results.end(), sums.begin(), sums.end());
        std::string attrs = gradientAttrs(form, form.phiLayout == kPhiLayouts[0] ? "oi" : "io");
        check(kernelText(form.op + "_bwd", operands, attrs, results), form.norm, 1e-3);
      }
}

TEST(Gradient, Pre) {
  for (PreForm form : preForms()) {
    Names results = {{"d_x", streams(form.layout, form.n, "f32")}}, sums = form.sums();
    results.insert(results.end(), sums.begin(), sums.end());
    checkGradient(form.op, {form.operands("f32"), form.attrs(), form.outputs()},
                  {preGradientOperands(form, "f32"), gradientAttrs(form), results});
  }
}
