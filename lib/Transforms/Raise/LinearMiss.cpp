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

namespace {
/// One of the rows that a tensor has along one dimension.
struct Row {
  int64_t number, count;
};
} // namespace

/// The row of a tensor that is read at `at`; nothing where that is all of it, or a part of several dimensions.
static std::optional<Row> rowAt(algebra::Reading &reading, Value tensor, ArrayRef<algebra::Index> at) {
  std::optional<Row> row;
  for (auto [index, size] : llvm::zip(at, reading.sizes(tensor))) {
    if (covers(reading.algebra().sizes, index, size))
      continue;
    int64_t extent = 1;
    for (const algebra::Piece &piece : index.pieces)
      extent *= piece.extent.isNumber() ? piece.extent.number() : 0;
    if (row || extent == 0 || !size.isNumber())
      return std::nullopt;
    row = Row{index.offset / extent, size.number() / extent};
  }
  return row;
}

/// Adds what the products of a term multiply a weight by.
void GroupMatcher::addProjected(const algebra::Term &term, std::vector<algebra::Factor> &projected) {
  for (const algebra::Factor &factor : term.factors) {
    std::optional<OpenedSum> sum = factor.node()->isReduce("sum") ? openSum(algebra, factor) : std::nullopt;
    if (!sum || sum->inner.size() != 1 || !dependsOnAny(factor, group.row))
      continue;
    const auto *read = llvm::find_if(sum->inner[0].factors, [&](const algebra::Factor &inner) {
      return inner.halves == 2 && dependsOnAny(inner, group.tokens);
    });
    if (read != sum->inner[0].factors.end())
      projected.push_back(*read);
  }
}

/// Declines products of all rows of streams that have a factor each.
bool GroupMatcher::declineFactors() {
  auto isOwn = [&](const algebra::Factor &factor) {
    auto isSame = [&](const algebra::Factor &other) {
      return other.element == factor.element && other.halves == factor.halves;
    };
    return dependsOnAny(factor, group.tokens) && !dependsOnAny(factor, group.row) &&
           llvm::any_of(group.beta, [&](const algebra::Term &term) { return llvm::none_of(term.factors, isSame); });
  };
  const auto *own = llvm::find_if(product.factors, isOwn);
  return own != product.factors.end() &&
         !decline(Reason::normPerStream, describe(valueOf(*own)), "one factor for each token", valueOf(*own));
}

/// Declines products of rows of one tensor that are added up, and are not each row once.
bool GroupMatcher::declineRows() {
  std::vector<algebra::Factor> projected = {group.x};
  for (const algebra::Term &term : group.beta)
    addProjected(term, projected);
  auto rowOf = [&](const algebra::Factor &factor) {
    Value tensor = factor.node()->value;
    return tensor ? rowAt(reading, tensor, factor.at()) : std::nullopt;
  };
  auto first = llvm::find_if(projected, rowOf);
  if (projected.size() == 1 || first == projected.end())
    return false;
  const int64_t count = rowOf(*first)->count;
  SmallVector<int64_t> rows;
  for (const algebra::Factor &factor : projected) {
    std::optional<Row> row = rowOf(factor);
    if (factor.node() == first->node() && (!row || row->count != count)) // beside a product of all rows
      return false;
    if (factor.node() == first->node())
      rows.push_back(row->number);
  }
  llvm::sort(rows);
  if (rows.size() == projected.size() && llvm::equal(rows, llvm::seq(count)))
    return declineFactors();
  std::string found = rows.size() == 1 ? "a product of row " : "products of rows ";
  llvm::raw_string_ostream os(found);
  llvm::interleaveComma(rows, os);
  Value tensor = first->node()->value;
  os << " of " << describe(tensor);
  if (const size_t others = projected.size() - rows.size(); others != 0)
    os << " and of " << counted(others, "other value");
  decline(Reason::projectionWidth, found, "a product of each of the " + std::to_string(count) + " rows", tensor);
  return true;
}

/// The value that a term adds for each token: a product of streams, or a factor.
std::string GroupMatcher::describeAdded(const algebra::Term &term) {
  auto isOfTokens = [&](const algebra::Factor &factor) { return dependsOnAny(factor, group.tokens); };
  for (const algebra::Factor &factor : term.factors) {
    const bool isProduct = factor.node()->isReduce("sum") && isOfTokens(factor) && valueOf(factor) == group.root;
    std::optional<OpenedSum> sum = isProduct ? openSum(algebra, factor) : std::nullopt;
    if (sum && sum->inner.size() == 1 && !sum->inner[0].factors.empty())
      return "a product of " + describeAdded(sum->inner[0]);
  }
  const auto *own = llvm::find_if(term.factors, isOfTokens);
  return describe(valueOf(own == term.factors.end() ? term.factors[0] : *own));
}

/// A bias that differs from token to token, or another product of the same streams, such as one of low rank.
void GroupMatcher::declineBias(const algebra::Term &bias) {
  if (declineRows())
    return;
  const std::string added = bias.factors.empty() ? "an exponential" : describeAdded(bias);
  auto isProjection = [&](const algebra::Factor &factor) {
    std::optional<OpenedSum> sum = openSum(algebra, factor);
    return sum && sum->inner.size() == 1 && sum->inner[0].factors.size() > 1 && isMadeOf(factor, group.x.node());
  };
  if (llvm::any_of(bias.factors, isProjection))
    decline(Reason::projectionForm, added + ", is added to the projection",
            "gates and logits of s * (x . phi) * alpha + beta");
  else
    decline(Reason::biasForm, added, "one value for each of the " + std::to_string(group.extent) + " rows");
}

/// x is no whole tensor of streams behind the tokens.
bool GroupMatcher::declineStreams() {
  Value x = group.x.node()->value;
  if (!x || declineRows())
    return false;
  auto isOfTokens = [&](const algebra::Piece &piece) {
    return llvm::any_of(group.tokens, [&](const auto &token) { return token.first == piece.var; });
  };
  // A part of the rows of a weight, where that was taken for the streams
  for (auto [index, size] : llvm::zip(group.x.at(), reading.sizes(x)))
    if (!covers(algebra.sizes, index, size) && llvm::any_of(index.pieces, isOfTokens))
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

/// Whether a factor of what is summed may be of each stream, such as its norm: functions of each element, as those of a
/// layer in front, have no sum of squares of fewer.
bool GroupMatcher::isOfStream(const algebra::Factor &factor) {
  auto squares = findSquares(*factor.node());
  const bool isNorm = squares && squares->first.node() == group.x.node() && squares->second < group.width();
  return isNorm || !llvm::all_of(group.flat, [&](const auto &var) { return dependsOn(factor, var.first); });
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
  if (isa_and_present<BlockArgument>(squared) && !x) // the streams are computed
    return decline(Reason::normOfOtherTensor, describe(squared), describe(valueOf(group.x)), factor);
  if (!squared || !x)
    return decline(Reason::normForm, describe(factor), "1/sqrt(mean over n*C = " + all + ")", factor);
  if (squared != x)
    return decline(Reason::normOfOtherTensor, describe(squared), describe(x), factor);
  bool isOneOfSeveral =
      llvm::any_of(group.beta, [&](const algebra::Term &term) { return dependsOnAny(term, group.tokens); });
  if (squares->second > group.width() && isOneOfSeveral)
    return !declineRows() && decline(Reason::projectionWidth, "several sums over " + counted(group.width(), "value"),
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
