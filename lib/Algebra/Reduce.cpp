//===- Reduce.cpp - Sums and maxima over variables -----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Close.h"
#include "Order.h"
#include "mhc/Algebra/Expr.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mhc;
using namespace mhc::algebra;
using llvm::ArrayRef;

static bool dependsOn(const Index &index, ArrayRef<std::pair<Var, Size>> vars) {
  return llvm::any_of(index.pieces, [&](const Piece &piece) {
    return llvm::any_of(vars, [&](const auto &var) { return var.first == piece.var; });
  });
}

static bool dependsOn(const Term &term, ArrayRef<std::pair<Var, Size>> vars) {
  bool found = false;
  forEachElement({term}, [&](const Element *element) {
    found = found || llvm::any_of(element->at, [&](const Index &index) { return dependsOn(index, vars); });
  });
  return found;
}

std::optional<Expr> Algebra::sumOf(Term term, ArrayRef<std::pair<Var, Size>> over) {
  Term outer, inner;
  outer.coefficient = term.coefficient;
  for (const Factor &factor : term.factors) {
    bool isInner = llvm::any_of(factor.at(), [&](const Index &index) { return dependsOn(index, over); });
    (isInner ? inner : outer).factors.push_back(factor);
  }
  for (const Term &part : term.exponent)
    (dependsOn(part, over) ? inner : outer).exponent.push_back(part);
  llvm::SmallVector<std::pair<Var, Size>> all(over.begin(), over.end());
  // A sum of sums is one sum.
  if (inner.exponent.empty() && inner.factors.size() == 1 && inner.factors[0].halves == 2 &&
      inner.factors[0].node()->isReduce("sum")) {
    const Factor &sum = inner.factors[0];
    Open open = this->open(*sum.node(), sum.at());
    all.append(open.over);
    std::optional<Expr> body = substitute(sum.node()->parts[0], [&](Var var) { return open.indices[var]; });
    std::optional<Expr> whole = body && body->size() == 1 ? sumOf((*body)[0], all) : std::nullopt;
    return whole ? multiply({outer}, *whole) : std::nullopt;
  }
  Expr result = {outer};
  // A sum over terms is the sum of their sums.
  if (inner.exponent.empty() && inner.factors.size() == 1 && inner.factors[0].halves == 2 &&
      inner.factors[0].node()->kind == Node::Sum) {
    std::optional<Expr> terms = part(inner.factors[0].element);
    std::optional<Expr> sum = terms && terms->size() > 1 ? reduce("sum", *terms, over) : std::nullopt;
    if (sum)
      return multiply(result, *sum);
  }
  Size unused = 1;
  if (inner.factors.empty() && inner.exponent.empty()) {
    for (auto [var, extent] : over) {
      std::optional<Size> count = sizes.multiply(unused, extent);
      if (!count)
        return std::nullopt;
      unused = *count;
    }
    return multiply(result, this->extent(unused));
  }
  std::vector<Expr> parts = {{inner}};
  Closer closer(*this, parts, over);
  if (!closer.run())
    return std::nullopt;
  Node node(Node::Reduce, closer.dims);
  node.bound = closer.bound;
  node.label = mlir::StringAttr::get(context, "sum");
  node.parts = parts;
  std::optional<Expr> times = multiply(result, extent(closer.unused));
  return times ? multiply(*times, closed(node, closer.at)) : std::nullopt;
}

std::optional<Expr> Algebra::maximumOf(const Expr &expr, ArrayRef<std::pair<Var, Size>> over) {
  if (!llvm::any_of(expr, [&](const Term &term) { return dependsOn(term, over); }))
    return expr;
  std::vector<Expr> parts = {expr};
  Closer closer(*this, parts, over);
  if (!closer.run())
    return std::nullopt;
  Node node(Node::Reduce, closer.dims);
  node.bound = closer.bound;
  node.label = mlir::StringAttr::get(context, "max");
  node.parts = parts;
  return closed(node, closer.at);
}

std::optional<Expr> Algebra::reduce(llvm::StringRef kind, const Expr &expr, ArrayRef<std::pair<Var, Size>> over) {
  if (kind == "max")
    return maximumOf(expr, over);
  Expr sum;
  for (const Term &term : expr) {
    std::optional<Expr> part = sumOf(term, over);
    std::optional<Expr> next = part ? add(sum, *part) : std::nullopt;
    if (!next)
      return std::nullopt;
    sum = *next;
  }
  return sum;
}
