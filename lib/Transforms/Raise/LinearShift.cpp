//===- LinearShift.cpp - Vectors that are added behind the norm of a group of rows ----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "LinearMatcher.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;

std::optional<OpenedSum> mhc::openSum(Algebra &algebra, const algebra::Factor &factor) {
  if (factor.halves != 2 || !factor.node()->isReduce("sum"))
    return std::nullopt;
  Algebra::Open open = algebra.open(*factor.node());
  std::optional<Expr> inner = algebra.part(factor.element, open.indices);
  return inner ? std::optional(OpenedSum{std::move(open.over), *inner}) : std::nullopt;
}

/// sum over f of (a[t, f] + shift[f]) * phi[k, f], as two sums.
std::optional<Expr> GroupMatcher::splitSum(const algebra::Factor &sum) {
  std::optional<OpenedSum> opened = openSum(algebra, sum);
  if (!opened || opened->inner.size() != 1)
    return std::nullopt;
  for (auto [place, factor] : llvm::enumerate(opened->inner[0].factors)) {
    bool isSum = factor.halves == 2 && factor.node()->kind == algebra::Node::Sum;
    std::optional<Expr> terms = isSum ? algebra.part(factor.element) : std::nullopt;
    Expr ofTokens, shift;
    for (const algebra::Term &term : terms.value_or(Expr()))
      (dependsOnAny(term, all) ? ofTokens : shift).push_back(term);
    if (ofTokens.empty() || shift.empty())
      continue;
    algebra::Term rest = opened->inner[0];
    rest.factors.erase(rest.factors.begin() + place);
    Expr both;
    for (const Expr &part : {ofTokens, shift}) {
      std::optional<Expr> product = algebra.multiply({rest}, part);
      std::optional<Expr> reduced = product ? algebra.reduce("sum", *product, opened->over) : std::nullopt;
      std::optional<Expr> next = reduced ? algebra.add(both, *reduced) : std::nullopt;
      if (!next)
        return std::nullopt;
      both = *next;
    }
    return both;
  }
  return std::nullopt;
}

/// The product of a vector that is added to all tokens is one of parameters alone. Whether there is such a vector.
bool GroupMatcher::splitShift(Expr &z) {
  for (auto [number, term] : llvm::enumerate(z))
    for (auto [place, factor] : llvm::enumerate(term.factors)) {
      std::optional<Expr> both = splitSum(factor);
      if (!both)
        continue;
      algebra::Term outer = term;
      outer.factors.erase(outer.factors.begin() + place);
      Expr others = z;
      others.erase(others.begin() + number);
      std::optional<Expr> products = algebra.multiply({outer}, *both);
      std::optional<Expr> all = products ? algebra.add(others, *products) : std::nullopt;
      if (!all)
        return false;
      z = *all;
      return true;
    }
  return false;
}
