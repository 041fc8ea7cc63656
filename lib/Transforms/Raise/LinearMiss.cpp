//===- LinearMiss.cpp - Why a value is no group of rows ---------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "LinearMatcher.h"
#include "mhc/IR/Counted.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;
using algebra::Size;

bool GroupMatcher::decline(Reason reason, const std::string &found, const std::string &needed, Value at) {
  if (!miss && isOfStreams(group))
    miss = Miss{reason, opAtFault(at ? at : group.root, group.root.getDefiningOp()), found, needed, group.site()};
  return false;
}

Value GroupMatcher::valueOf(const algebra::Factor &factor) {
  if (Value base = factor.node()->value)
    return base;
  for (int halves : {factor.halves, 2})
    if (std::vector<algebra::Reading::Found> all = reading.find(Algebra::of(factor.element, halves)); !all.empty())
      return all.back().value; // the first that there is
  return group.root;
}

/// The gate of one stream is a number per token, sigmoid(alpha * x . phi + beta). Gates of other networks have no
/// alpha.
bool GroupMatcher::declineSingle() {
  Value x = valueOf(group.x), phi = valueOf(group.phi);
  if (!miss && hasAlpha && !group.beta.empty() && x != group.root && phi != group.root)
    miss = Miss{Reason::streamCount,
                opAtFault(x, group.root.getDefiningOp()),
                "1 stream in " + describe(x),
                "at least 2 streams",
                {x, phi}};
  return false;
}

/// x is no whole tensor of streams behind the tokens.
bool GroupMatcher::declineStreams() {
  Value x = group.x.node()->value;
  if (!x)
    return false;
  int64_t known = 1, tokens = 1;
  for (Size size : reading.sizes(x))
    known *= size.isNumber() ? size.number() : 1;
  for (const auto &[var, extent] : group.tokens)
    tokens *= extent.isNumber() ? extent.number() : 1;
  if (known != tokens * group.width())
    return decline(Reason::projectionWidth, "a sum over " + counted(group.width(), "value"),
                   "a sum over n*C = " + std::to_string(known / tokens), x);
  return decline(Reason::xNotWhole, describe(x), "n streams for the n gates or n*n logits, behind the tokens", x);
}

/// A sum of squares of one element, in what a norm is made of.
static std::optional<std::pair<algebra::Factor, int64_t>> findSquares(const algebra::Node &node) {
  if (node.isReduce("sum") && node.parts[0].size() == 1 && node.parts[0][0].factors.size() == 1 &&
      node.parts[0][0].factors[0].halves == 4) {
    int64_t width = 1;
    for (Size extent : node.bound)
      width *= extent.isNumber() ? extent.number() : 0;
    return std::pair(node.parts[0][0].factors[0], width);
  }
  for (const Expr &part : node.parts)
    for (const algebra::Term &term : part)
      for (const algebra::Factor &factor : term.factors)
        if (auto squares = findSquares(*factor.node()))
          return squares;
  return std::nullopt;
}

bool GroupMatcher::reads(const Expr &expr, const algebra::Element *wanted) {
  for (const algebra::Term &term : expr)
    for (const algebra::Factor &factor : term.factors) {
      if (factor.element == wanted)
        return true;
      bool isReduce = factor.node()->kind == algebra::Node::Reduce;
      for (unsigned number = 0; !isReduce && number < factor.node()->parts.size(); ++number)
        if (std::optional<Expr> part = algebra.part(factor.element, {}, number); part && reads(*part, wanted))
          return true;
    }
  return false;
}

bool GroupMatcher::declineNorm(const algebra::Term &ofToken) {
  const std::string all = std::to_string(group.width());
  if (ofToken.factors.size() > 1)
    return decline(Reason::scaleForm, counted(ofToken.factors.size(), "factor") + " per token",
                   "a factor per token * (x . phi) * alpha");
  const Value factor = valueOf(ofToken.factors[0]);
  auto squares = findSquares(*ofToken.factors[0].node());
  Value x = group.x.node()->value, squared = squares ? squares->first.node()->value : Value();
  if (!squared || !x)
    return decline(Reason::normForm, describe(factor), "1/sqrt(mean over n*C = " + all + ")", factor);
  if (squared != x)
    return decline(Reason::normOfOtherTensor, describe(squared), describe(x), factor);
  bool isOneOfSeveral =
      llvm::any_of(group.beta, [&](const algebra::Term &term) { return dependsOnAny(term, group.tokens); });
  if (squares->second > group.width() && isOneOfSeveral)
    return decline(Reason::projectionWidth, "several sums over " + counted(group.width(), "value"),
                   "a sum over n*C = " + std::to_string(squares->second), x);
  if (squares->second != group.width())
    return decline(Reason::normWidth, "a mean over " + counted(squares->second, "value"), "a mean over n*C = " + all,
                   factor);
  std::optional<Expr> own = group.squares(algebra);
  if (own && own->size() == 1 && reads({ofToken}, (*own)[0].factors[0].element))
    return decline(Reason::normForm, describe(factor), "1/sqrt(mean over n*C = " + all + ")", factor);
  return decline(Reason::normOfOtherTokens, "a mean that is not of the token's row",
                 "the mean of the row that it scales", factor);
}
