//===- GatedDeltaOneToken.cpp - The convolution of one token ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of decoding: the one token and the k - 1 before it, which are kept from step to step, each times its column of
// the weight. There is no dimension of tokens.
//
//===----------------------------------------------------------------------===//

#include "GatedDeltaMatch.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;
using algebra::Factor;
using algebra::Index;
using algebra::Reading;
using algebra::Size;
using algebra::Term;
using algebra::Var;

std::optional<Expr> mhc::spread(Reading &reading, ArrayRef<Expr> elements, Var var) {
  Algebra &algebra = reading.algebra();
  auto of = [](const Expr &expr) { return algebra::singleFactor(expr)->element; };
  if (!llvm::all_of(elements, [](const Expr &expr) { return algebra::singleFactor(expr); }))
    return std::nullopt;
  algebra::Indices at(of(elements[0])->at);
  if (elements.size() > 1 && of(elements[0])->node == of(elements[1])->node)
    for (auto [dim, index] : llvm::enumerate(at))
      if (int64_t step = of(elements[1])->at[dim].offset - index.offset; step > 0) {
        index.pieces.push_back({var, 1, Size(elements.size()), step});
        normalise(algebra.sizes, index);
      }
  std::optional<Expr> whole = algebra.element(of(elements[0])->node, at);
  for (auto [place, element] : llvm::enumerate(elements)) {
    Index fixed;
    fixed.offset = place;
    std::optional<Expr> own =
        whole ? algebra.substitute(*whole, [&](Var other) { return other == var ? fixed : sameVar(other); }) : whole;
    if (!own || !isSame(reading, *own, element))
      return std::nullopt;
  }
  return whole;
}

/// The sums over a window, written out.
static Expr writtenOut(Algebra &algebra, const Expr &sum) {
  Expr all;
  for (const Term &term : sum) {
    auto isShort = [](const algebra::Node &node) {
      return node.isReduce("sum") && node.bound.size() == 1 && node.bound[0].isNumber() &&
             node.bound[0].number() < kMostTaps;
    };
    if (!algebra::singleFactor({term}) || term.coefficient != 1 || !isShort(*term.factors[0].node())) {
      all.push_back(term);
      continue;
    }
    for (Index place; place.offset < term.factors[0].node()->bound[0].number(); ++place.offset)
      llvm::append_range(all, algebra.part(term.factors[0].element, {place}).value_or(Expr()));
  }
  return all;
}

std::optional<CausalConvolution> mhc::matchOneToken(Reading &reading, size_t rank, const Expr &sum) {
  Expr terms = writtenOut(reading.algebra(), sum);
  auto isProduct = [](const Term &term) {
    return term.factors.size() == 2 && term.coefficient == 1 && term.exponent.empty() && term.factors[0].halves == 2 &&
           term.factors[1].halves == 2;
  };
  auto first = llvm::find_if(terms, isProduct);
  for (unsigned side : {0, 1}) {
    if (first == terms.end())
      break;
    const algebra::Node *node = first->factors[side].node();
    CausalConvolution made;
    SmallVector<std::pair<Factor, Factor>> taps; // of the weight, and what it multiplies
    for (const Term &term : terms) {
      auto *weight = llvm::find_if(term.factors, [&](const Factor &factor) { return factor.node() == node; });
      if (isProduct(term) && weight != term.factors.end())
        taps.push_back({*weight, term.factors[weight == term.factors.begin() ? 1 : 0]});
      else if (made.bias.empty() && term.coefficient == 1 && algebra::singleFactor({term}))
        made.bias = {term};
      else
        taps.clear(), made.bias = {term, term}; // of neither kind
    }
    if (taps.size() < 2 || taps.size() > kMostTaps || made.bias.size() > 1)
      continue;
    auto place = [](const Factor &factor) {
      int64_t sum = 0;
      for (const Index &index : factor.at())
        sum += index.offset;
      return sum;
    };
    llvm::stable_sort(taps, [&](const auto &a, const auto &b) { return place(a.first) < place(b.first); });
    auto weights = llvm::map_to_vector(taps, [](const auto &tap) { return Algebra::of(tap.first.element); });
    auto tokens = llvm::map_to_vector(taps, [](const auto &tap) { return Algebra::of(tap.second.element); });
    made.x = tokens.pop_back_val();
    made.taps = taps.size();
    made.tokenVar = static_cast<Var>(rank) + gated::token;
    made.left.rows = made.taps - 1;
    std::optional<Expr> weight = spread(reading, weights, static_cast<Var>(rank) + gated::tap);
    std::optional<Expr> left = spread(reading, tokens, static_cast<Var>(rank) + gated::row);
    if (!weight || !left)
      continue;
    made.weight = *weight;
    made.left.tokens = *left;
    return made;
  }
  return std::nullopt;
}
