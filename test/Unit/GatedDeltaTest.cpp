//===- GatedDeltaTest.cpp ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The front end of a gated delta net: the CPU kernels against the chain that defines the op, the gradient's chain
// against differences of it, both in float64. Types of 16 bits, which round on the way, are for mhc-bench --check.
//
//===----------------------------------------------------------------------===//

#include "KernelCheck.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mhc::test;

namespace {
enum class Start { Zeros, Boundary, Cuts };

/// One case of the op.
struct Form {
  std::string layout;
  int b, k, keyHeads, heads, dk, dv;
  bool hasBias, hasNorm;
  Start start;

  int convolved() const { return 2 * keyHeads * dk + heads * dv; }
  std::string tokens(int count, int channels) const {
    return layout == "MbD" ? tensor({count, b, channels}) : tensor({b, count, channels});
  }

  Names operands() const {
    Names names = {{"qkvzba", tokens(M, convolved() + heads * dv + 2 * heads)},
                   {"conv_weight", tensor({convolved(), k})}};
    if (hasBias)
      names.push_back({"conv_bias", tensor({convolved()})});
    names.insert(names.end(), {{"A_log", tensor({heads})}, {"dt_bias", tensor({heads})}});
    if (start == Start::Cuts)
      names.push_back({"cu_seqlens", tensor({4}, "i32")});
    if (start == Start::Boundary)
      names.push_back({"left_boundary", tokens(k - 1, convolved())});
    return names;
  }
  Names results(const std::string &prefix = "") const {
    std::string keys = tensor({b, M, heads, dk}), values = tensor({b, M, heads, dv}), each = tensor({b, M, heads});
    return {{prefix + "query", keys},  {prefix + "key", keys},  {prefix + "value", values},
            {prefix + "gate", values}, {prefix + "beta", each}, {prefix + "g", each}};
  }
  /// The threshold is one that random numbers reach.
  std::string attrs() const {
    return llvm::formatv("<num_key_heads = {0}, qk_l2norm = {1}, l2_eps = 1.0e-2, softplus_threshold = 0.5, "
                         "seq_layout = {2}>",
                         keyHeads, hasNorm ? "true" : "false", layout);
  }

  Names backwardOperands() const {
    Names names = results("d_"), own = operands();
    names.insert(names.end(), own.begin(), own.end());
    return names;
  }
  Names gradients() const {
    Names names;
    for (auto &[name, type] : operands())
      if (name != "cu_seqlens")
        names.push_back({"d_" + name, type});
    return names;
  }
};

std::vector<Form> forms() {
  std::vector<Form> all;
  for (std::string layout : {"MbD", "bMD"})
    for (Start start : {Start::Zeros, Start::Boundary, Start::Cuts})
      for (bool hasNorm : {false, true}) {
        const int b = start == Start::Cuts ? 1 : 2;
        all.push_back({layout, b, 4, 1, 2, 8, 8, hasNorm, hasNorm, start});
        all.push_back({layout, b, 2, 2, 2, 16, 5, !hasNorm, hasNorm, start});
        all.push_back({layout, b, start == Start::Boundary ? 8 : 1, 1, 3, 3, 1, true, hasNorm, start});
      }
  return all;
}
} // namespace

TEST(GatedDelta, Forward) {
  for (const Form &form : forms()) {
    Names results = form.results();
    results.push_back({"silu", tensor({form.b, M, 2 * form.keyHeads * form.dk})});
    check(kernelText("pre_gated_delta_rule", form.operands(), form.attrs(), results));
  }
}

TEST(GatedDelta, Backward) {
  for (const Form &form : forms()) {
    check(kernelText("pre_gated_delta_rule_bwd", form.backwardOperands(), form.attrs(), form.gradients()));
    for (auto &gradient : form.gradients())
      check(kernelText("pre_gated_delta_rule_bwd", form.backwardOperands(), form.attrs(), {gradient}));
  }
}

TEST(GatedDelta, GradientIsThatOfTheChain) {
  for (const Form &form : forms())
    checkGradient("pre_gated_delta_rule", {form.operands(), form.attrs(), form.results()},
                  {form.backwardOperands(), form.attrs(), form.gradients()});
}
