//===- MixReadings.cpp - Readings of a value as a sum over streams ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//

#include "Mix.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;
using algebra::Indices;
using algebra::Size;

using Extent = IndexVars::value_type;

/// A mix, twice the streams themselves, a sublayer's output and a bias.
constexpr size_t kMostTerms = 5;

bool mhc::isStreamCount(Size extent) {
  return extent.isNumber() && extent.number() >= kMinStreams && extent.number() <= kMaxStreams;
}

/// Rows that are repeated for each stream and mixed as those: (sum over j of weights[t, j]) * rows[t, c].
void MixSite::readRepeated(const algebra::Term &outer, const Expr &inner, Extent stream, std::vector<Mix> &mixes) {
  for (const algebra::Factor &rows : outer.factors)
    for (const algebra::Reading::Found &found : reading.find(Algebra::of(rows.element), op)) {
      auto users = found.value.getUsers();
      auto user = llvm::find_if(users, llvm::IsaPred<ExpandOp>);
      auto expand = user == users.end() ? ExpandOp() : cast<ExpandOp>(*user);
      Operation *here = expand ? expand->getBlock()->findAncestorOpInBlock(*op) : nullptr;
      if (rows.halves != 2 || found.factor != 1 || !here || !expand->isBeforeInBlock(here))
        continue;
      // expand.x[at] is what the rows are.
      Indices at = {found.at[0], algebra::wholeVar(stream.first, stream.second), found.at[1]};
      if (expand.getLayout() == Layout::Cn)
        std::swap(at[1], at[2]);
      Expr streams = algebra.base(expand.getStreams(), reading.sizes(expand.getStreams()), at);
      algebra::Term rest = outer;
      llvm::erase_if(rest.factors, [&](const algebra::Factor &factor) { return factor.element == rows.element; });
      if (std::optional<Mix> mix = matchMix(streams[0].factors[0], rest, inner, stream, {}))
        mixes.push_back(*mix);
      return;
    }
}

/// The same for weights of several terms, each of which is summed: factor `sum` of a term is the sum of those.
void MixSite::readSums(const algebra::Term &term, size_t sum, std::vector<Mix> &mixes) {
  const algebra::Factor &sums = term.factors[sum];
  std::optional<Expr> parts = algebra.part(sums.element);
  std::optional<Extent> stream;
  std::optional<Expr> inner = Expr();
  for (const algebra::Term &part : parts.value_or(Expr())) {
    auto reduction = llvm::find_if(part.factors, [](const algebra::Factor &factor) {
      return factor.halves == 2 && factor.node()->isReduce("sum") && factor.node()->bound.size() == 1;
    });
    if (reduction == part.factors.end() || !isStreamCount(reduction->node()->bound[0]))
      return;
    stream = stream.value_or(Extent(algebra.freshVar(), reduction->node()->bound[0]));
    algebra::Term others = part;
    others.factors.erase(others.factors.begin() + (reduction - part.factors.begin()));
    std::optional<Expr> weight =
        reduction->node()->bound[0] == stream->second
            ? algebra.part(reduction->element, {algebra::wholeVar(stream->first, stream->second)})
            : std::nullopt;
    weight = weight ? algebra.multiply({others}, *weight) : std::nullopt;
    inner = weight ? algebra.add(*inner, *weight) : std::nullopt;
    if (!inner)
      return;
  }
  algebra::Term outer = term;
  outer.factors.erase(outer.factors.begin() + sum);
  if (stream)
    readRepeated(outer, *inner, *stream, mixes);
}

/// Variables for what a reduction is over, appended to `bound`.
Indices MixSite::openVars(const algebra::Factor &sum, IndexVars &bound) {
  const Algebra::Open open = algebra.open(*sum.node());
  bound.append(open.over);
  return open.indices;
}

/// The summand of a reduction, one term, over variables that are appended to `bound`.
std::optional<algebra::Term> MixSite::openSum(const algebra::Factor &sum, IndexVars &bound) {
  std::optional<Expr> inner = algebra.part(sum.element, openVars(sum, bound));
  return inner && inner->size() == 1 ? std::optional((*inner)[0]) : std::nullopt;
}

/// Sums of a term over the streams, which are one of the last `count` variables of `bound`.
void MixSite::readStreams(const algebra::Term &outer, const algebra::Term &inner, const IndexVars &bound, size_t count,
                          std::vector<Mix> &mixes) {
  for (const Extent &stream : ArrayRef(bound).take_back(count)) {
    if (!isStreamCount(stream.second))
      continue;
    IndexVars rest = bound;
    llvm::erase(rest, stream);
    for (auto [place, x] : llvm::enumerate(inner.factors)) {
      if (!dependsOn(x, stream.first))
        continue;
      algebra::Term others = inner;
      others.factors.erase(others.factors.begin() + place);
      if (std::optional<Mix> mix = matchMix(x, outer, {others}, stream, rest))
        mixes.push_back(*mix);
    }
  }
}

/// Factor `sum` of a term sums something over the streams, and what else the weights have inside.
void MixSite::readSum(const algebra::Term &term, size_t sum, std::vector<Mix> &mixes) {
  if (llvm::none_of(term.factors[sum].node()->bound, isStreamCount))
    return;
  IndexVars bound;
  const Indices over = openVars(term.factors[sum], bound);
  readSumOver(term, sum, bound, over, mixes);
  readDigits(term, sum, mixes);
}

void MixSite::readSumOver(const algebra::Term &term, size_t sum, const IndexVars &bound, ArrayRef<algebra::Index> over,
                          std::vector<Mix> &mixes) {
  std::optional<Expr> inner = algebra.part(term.factors[sum].element, over);
  if (!inner || inner->size() != 1)
    return;
  const algebra::Term &summand = (*inner)[0];
  algebra::Term outer = term;
  outer.factors.erase(outer.factors.begin() + sum);
  // Streams that were mixed: a (b x) is (a b) x.
  for (auto [place, mixed] : llvm::enumerate(summand.factors)) {
    if (mixed.halves != 2 || !mixed.node()->isReduce("sum") || !dependsOnAny(mixed, bound))
      continue;
    IndexVars all = bound;
    std::optional<algebra::Term> own = openSum(mixed, all);
    algebra::Term others = summand;
    others.factors.erase(others.factors.begin() + place);
    std::optional<Expr> product = own ? algebra.multiply({others}, {*own}) : std::nullopt;
    std::vector<Mix> unmixed;
    if (product && product->size() == 1)
      readStreams(outer, (*product)[0], all, all.size() - bound.size(), unmixed);
    llvm::copy_if(unmixed, std::back_inserter(mixes),
                  [&](const Mix &mix) { return findProduct(mix.weights, {mix.stream}); });
  }
  readStreams(outer, summand, bound, bound.size(), mixes);
  if (bound.size() == 1)
    readRepeated(outer, *inner, bound[0], mixes);
}

/// a (h x - x) -> a h x - a x: a sum that is a factor, of which a term is a mix of streams itself. Nothing where there
/// is none.
std::optional<Expr> MixSite::multipliedOut() {
  auto isMixed = [&](const algebra::Factor &factor) {
    return factor.node()->isReduce("sum") && llvm::any_of(factor.node()->bound, isStreamCount) &&
           llvm::all_of(vars, [&](const Extent &var) { return dependsOn(factor, var.first); });
  };
  for (auto [number, term] : llvm::enumerate(expr))
    for (auto [place, factor] : llvm::enumerate(term.factors)) {
      std::optional<Expr> terms =
          factor.halves == 2 && factor.node()->kind == algebra::Node::Sum ? algebra.part(factor.element) : std::nullopt;
      auto hasMix = [&](const algebra::Term &part) { return llvm::any_of(part.factors, isMixed); };
      if (!terms || expr.size() + terms->size() > kMostTerms + 1 || llvm::none_of(*terms, hasMix))
        continue;
      Expr rest = {term};
      rest[0].factors.erase(rest[0].factors.begin() + place);
      std::optional<Expr> sum = expr;
      sum->erase(sum->begin() + number);
      for (const algebra::Term &part : *terms) {
        std::optional<Expr> product = sum ? algebra.multiply(rest, {part}) : std::nullopt;
        sum = product ? algebra.add(*sum, *product) : std::nullopt;
      }
      return sum;
    }
  return std::nullopt;
}

/// x + (h - 1) x where x is a sum of which each term is added: x in their place. The longest sum, which may have others
/// as terms; nothing where there is none.
std::optional<Expr> MixSite::withWholeStreams() {
  std::optional<Expr> shortest;
  for (const algebra::Term &term : expr)
    for (const algebra::Factor &sum : term.factors) {
      IndexVars bound;
      std::optional<algebra::Term> inner =
          sum.halves == 2 && sum.node()->isReduce("sum") && sum.node()->bound.size() == 1 ? openSum(sum, bound)
                                                                                          : std::nullopt;
      if (!inner)
        continue;
      for (const algebra::Factor &streams : inner->factors)
        for (const Extent &output : vars) {
          if (streams.halves != 2 || streams.node()->kind != algebra::Node::Sum || output.second != bound[0].second ||
              dependsOn(streams, output.first))
            continue;
          std::optional<Expr> own = algebra.substitute(Algebra::of(streams.element), [&](algebra::Var var) {
            const auto *known = llvm::find_if(vars, [&](const Extent &other) { return other.first == var; });
            const Extent &to = known == vars.end() ? output : *known;
            return algebra::wholeVar(to.first, to.second);
          });
          const algebra::Factor *whole = own ? algebra::singleFactor(*own) : nullptr;
          std::optional<Expr> terms = whole ? algebra.part(whole->element) : std::nullopt;
          std::optional<Expr> rest = terms ? algebra.add(expr, Algebra::scale(*terms, -1)) : std::nullopt;
          if (rest && rest->size() + terms->size() == expr.size() &&
              rest->size() < (shortest ? shortest->size() - 1 : expr.size()))
            shortest = algebra.add(*rest, *own);
        }
    }
  return shortest;
}

std::vector<Mix> MixSite::readings() {
  if (std::optional<Expr> sum = multipliedOut())
    expr = *sum;
  if (std::optional<Expr> sum = withWholeStreams())
    expr = *sum;
  std::vector<Mix> mixes = readingsOf(expr);
  return countsByDigits && joinDigits() ? readingsOf(expr) : mixes;
}

std::vector<Mix> MixSite::readingsOf(const Expr &expr) {
  std::vector<Mix> mixes;
  if (expr.size() > kMostTerms)
    return mixes;
  for (auto [number, term] : llvm::enumerate(expr)) {
    size_t first = mixes.size();
    for (auto [place, factor] : llvm::enumerate(term.factors)) {
      if (factor.halves == 2 && factor.node()->isReduce("sum"))
        readSum(term, place, mixes);
      else if (factor.halves == 2 && factor.node()->kind == algebra::Node::Sum)
        readSums(term, place, mixes);
    }
    for (Mix &mix : llvm::drop_begin(mixes, first)) {
      mix.branches = expr;
      mix.branches.erase(mix.branches.begin() + number);
    }
  }
  // With as many channels as streams the residual matrix has the shape of the streams: what the function does with both
  // tells them apart or, where it does not, streams stand before channels.
  llvm::stable_sort(mixes, [](const Mix &a, const Mix &b) { return a.layout == Layout::nC && b.layout == Layout::Cn; });
  return mixes;
}

std::vector<Mix> MixSite::readingsOfTerms() {
  const algebra::Factor *sum = algebra::singleFactor(expr);
  IndexVars bound;
  std::optional<algebra::Term> inner =
      sum && sum->node()->isReduce("sum") && sum->node()->bound.size() == 1 ? openSum(*sum, bound) : std::nullopt;
  if (!inner || !isStreamCount(bound[0].second))
    return {};
  for (auto [place, x] : llvm::enumerate(inner->factors)) {
    Value made = x.halves == 2 && x.node()->kind == algebra::Node::Sum ? valueOf(x) : Value();
    if (!made || !keepsPrecision(root, made) || !isOnlyReader(behindViews(root).getDefiningOp(), made))
      continue;
    algebra::Term others = *inner;
    others.factors.erase(others.factors.begin() + place);
    std::optional<Expr> terms = algebra.part(x.element), sum = Expr();
    for (const algebra::Term &term : terms.value_or(Expr())) {
      std::optional<Expr> product = algebra.multiply({others}, {term});
      product = product ? algebra.reduce("sum", *product, bound) : std::nullopt;
      sum = sum && product ? algebra.add(*sum, *product) : std::nullopt;
    }
    if (terms && sum)
      return readingsOf(Algebra::scale(*sum, expr[0].coefficient));
  }
  return {};
}
