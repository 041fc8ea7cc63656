//===- Linear.cpp - Gates and logits as groups of rows of a projection --------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//

#include "LinearMatcher.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;
using algebra::Indices;
using algebra::Piece;
using algebra::Size;
using algebra::Var;

using Extent = IndexVars::value_type;

/// More rows are no gates and logits.
constexpr int64_t kMaxGroupRows = 1024;
/// More terms are no group: a product, its biases, and what scales them.
constexpr size_t kMaxGroupTerms = 8;
/// More factors are no group: the sum, factors of tokens, and those of parameters.
constexpr size_t kMaxGroupFactors = 8;

SmallVector<int64_t, 2> mhc::logitsOf(int64_t n) {
  SmallVector<int64_t, 2> counts = {n * n};
  if (n <= kMaxPermuted)
    counts.push_back(factorial(n));
  return counts;
}

bool mhc::isOfStreams(const LinearGroup &group) {
  for (int64_t n = kMinStreams; n <= kMaxStreams; ++n) {
    auto isStreams = [&](const Extent &var) { return var.second == Size(n); };
    // A head's weight, or one of three.
    bool isWhole = group.hasAllRows() && group.flat.size() > 1 && llvm::any_of(group.flat, isStreams);
    for (int64_t logits : logitsOf(n))
      if ((isWhole || group.rows == 2 * n + logits) && (group.extent == n || group.extent == logits))
        return true;
  }
  return false;
}

bool mhc::isOfStreamsOrAll(const LinearGroup &group) {
  auto hasAll = [&](const Extent &dim) {
    const int64_t n = dim.second.isNumber() ? dim.second.number() : 0;
    return n >= kMinStreams && n <= kMaxStreams && group.hasAllRows() && group.extent == n * (n + 2);
  };
  return isOfStreams(group) || llvm::any_of(group.flat, hasAll);
}

/// Whether what is summed may be streams of which the group is gates or logits; flat rows do not say.
static bool hasStreams(const LinearGroup &group) {
  return group.flat.size() != 2 || !isOfStreams(group) || llvm::any_of(group.flat, [&](const Extent &var) {
           int64_t n = var.second.isNumber() ? var.second.number() : 0;
           return n <= kMaxStreams && (group.extent == n || llvm::is_contained(logitsOf(n), group.extent));
         });
}

/// z in the variables of its node: each stands for dimensions that nothing tells apart.
bool GroupMatcher::readVars(Expr &z) {
  std::optional<Algebra::Closed> closed = algebra.close(reading.of(group.root));
  if (!closed || llvm::any_of(closed->at, [](const algebra::Index &index) { return index.pieces.empty(); }))
    return false;
  group.rootAt = closed->at;
  Indices own;
  for (auto [var, extent] : llvm::enumerate(closed->node->dims)) {
    all.push_back({static_cast<Var>(var), extent});
    own.push_back(algebra::wholeVar(var, extent));
  }
  z = closed->node->kind == algebra::Node::Sum ? closed->node->parts[0]
                                               : Algebra::of(algebra.elementAt(closed->node, own));
  z = Algebra::scale(z, closed->coefficient);
  return true;
}

static bool isShort(const Expr &z) {
  return z.size() <= kMaxGroupTerms && llvm::all_of(z, [](const algebra::Term &term) {
           return term.factors.size() <= kMaxGroupFactors && term.exponent.size() <= kMaxGroupTerms;
         });
}

/// (a + b) * c -> a * c + b * c
bool GroupMatcher::multiplyOut(Expr &z) {
  for (size_t number = 0; number < z.size(); ++number)
    for (auto [place, factor] : llvm::enumerate(z[number].factors)) {
      if (factor.halves != 2 || factor.node()->kind != algebra::Node::Sum)
        continue;
      std::optional<Expr> terms = algebra.part(factor.element);
      if (!terms || z.size() + terms->size() > kMaxGroupTerms || !isShort(*terms))
        return false;
      algebra::Term rest = z[number];
      rest.factors.erase(rest.factors.begin() + place);
      Expr sum = z;
      sum.erase(sum.begin() + number);
      for (const algebra::Term &term : *terms) {
        std::optional<Expr> product = algebra.multiply({rest}, {term});
        std::optional<Expr> next = product ? algebra.add(sum, *product) : std::nullopt;
        if (!next)
          return false;
        sum = *next;
      }
      z = sum;
      number = -1;
      break;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

bool GroupMatcher::matchProduct(const algebra::Term &term) {
  for (auto [place, factor] : llvm::enumerate(term.factors)) {
    if (factor.halves != 2 || !factor.node()->isReduce("sum"))
      continue;
    algebra::Term outer = term;
    outer.factors.erase(outer.factors.begin() + place);
    hasAlpha = llvm::any_of(outer.factors, [&](const algebra::Factor &other) { return !dependsOnAny(other, all); });
    if (matchSum(outer, factor))
      return true;
  }
  return false;
}

static bool isMaximum(const algebra::Term &term) {
  return llvm::any_of(term.factors, [](const algebra::Factor &factor) { return factor.node()->isReduce("max"); });
}

bool GroupMatcher::matchSum(const algebra::Term &outer, const algebra::Factor &sum) {
  std::optional<OpenedSum> opened = openSum(algebra, sum);
  if (!opened || opened->inner.size() != 1 || !opened->inner[0].exponent.empty())
    return false;
  const IndexVars &bound = opened->over;
  if (!llvm::all_of(bound, [](const Extent &var) { return var.second.isNumber(); }))
    return false;
  const algebra::Term &term = opened->inner[0];
  auto isInner = [&](const algebra::Factor &factor) {
    return llvm::all_of(bound, [&](const Extent &var) { return dependsOn(factor, var.first); });
  };
  // Without a norm nothing else tells the streams from their weight: a bias of the tokens is one of the rows.
  auto isOfTokens = [&](const algebra::Term &part) {
    return dependsOnAny(part, group.tokens) && !dependsOnAny(part, group.row) && !isMaximum(part);
  };
  std::optional<LinearGroup> swapped;
  for (auto [i, x] : llvm::enumerate(term.factors))
    for (auto [j, phi] : llvm::enumerate(term.factors)) {
      if (i == j || x.halves != 2 || phi.halves != 2 || !isInner(x) || !isInner(phi))
        continue;
      algebra::Term rest = term;
      rest.factors.erase(rest.factors.begin() + std::max(i, j));
      rest.factors.erase(rest.factors.begin() + std::min(i, j));
      group.flat = bound;
      if (!assign(x, phi, rest) || !splitOuter(outer))
        continue;
      if (llvm::none_of(group.beta, isOfTokens))
        return true;
      swapped = swapped ? swapped : group;
    }
  if (!swapped)
    return false;
  group = *swapped;
  miss.reset();
  return true;
}

using Nodes = llvm::SmallPtrSet<const algebra::Node *, 16>;

static bool isMadeOf(const Expr &expr, const algebra::Node *wanted, Nodes &seen) {
  auto isWanted = [&](const Expr &part) { return isMadeOf(part, wanted, seen); };
  auto hasWanted = [&](const algebra::Factor &factor) {
    return factor.node() == wanted ||
           (seen.insert(factor.node()).second && llvm::any_of(factor.node()->parts, isWanted));
  };
  return llvm::any_of(expr, [&](const algebra::Term &term) {
    return isWanted(term.exponent) || llvm::any_of(term.factors, hasWanted);
  });
}

bool mhc::isMadeOf(const algebra::Factor &factor, const algebra::Node *wanted) {
  Nodes seen;
  return ::isMadeOf(Algebra::of(factor.element), wanted, seen);
}

/// The order of the variables that x is read in. A weight that has streams and channels apart is read in any: it does
/// not count how a product transposes x.
llvm::SmallSetVector<Var, 4> GroupMatcher::orderOfStreams(const algebra::Reading::Found &read) {
  auto isFlat = [&](Var var) {
    return llvm::any_of(group.flat, [&](const Extent &flat) { return flat.first == var; });
  };
  auto hasOneAtMost = [&](const algebra::Index &index) {
    return llvm::count_if(index.pieces, [&](const Piece &piece) { return isFlat(piece.var); }) <= 1;
  };
  std::optional<algebra::Reading::Found> stored = llvm::all_of(group.weightAt, hasOneAtMost)
                                                      ? findStreams(reading, group.streams(), user, /*stored=*/true)
                                                      : std::nullopt;
  auto order = varsOf(stored ? stored->at : read.at);
  bool tokensFirst = std::is_partitioned(order.begin(), order.end(), [&](Var var) { return !isFlat(var); });
  return tokensFirst ? order : varsOf(read.at);
}

/// x has the tokens, phi has the rows, and a row has a known number of values.
bool GroupMatcher::assign(const algebra::Factor &x, const algebra::Factor &phi, const algebra::Term &rest) {
  group.tokens.clear();
  group.row.clear();
  group.extent = 1;
  for (const Extent &var : all) {
    bool ofX = dependsOn(x, var.first), ofPhi = dependsOn(phi, var.first);
    if (ofX == ofPhi)
      return false;
    (ofX ? group.tokens : group.row).push_back(var);
    if (ofPhi && !var.second.isNumber())
      return false;
    if (ofPhi)
      group.extent *= var.second.number();
  }
  group.x = x;
  group.number = 1;
  group.phi = phi;
  if (group.row.empty())
    return declineSingle();
  scale = rest.coefficient;
  if (group.extent > kMaxGroupRows || !findWeight())
    return false;
  if (llvm::any_of(rest.factors, [&](const algebra::Factor &factor) { return dependsOnAny(factor, group.row); }))
    return false;
  for (const algebra::Factor &factor : rest.factors)
    if (dependsOnAny(factor, all) || isMadeOf(factor, x.node()))
      return isOfStream(factor) &&
             decline(Reason::normPerStream, describe(valueOf(factor)), "one factor for each token", valueOf(factor));
  // In the order in which x is stored
  std::optional<algebra::Reading::Found> stored = findStreams(reading, group.streams(), user), scaled;
  if (!stored && (scaled = nearest(reading, group.streams(), user, /*anyFactor=*/true))) {
    group.number = scaled->factor;
    scale *= group.number;
    stored = findStreams(reading, group.streams(), user);
  }
  if (!stored || !hasStreams(group))
    return declineStreams();
  auto order = orderOfStreams(*stored);
  auto sort = [&](IndexVars &vars) {
    llvm::stable_sort(vars, [&](const Extent &a, const Extent &b) {
      return llvm::find(order, a.first) < llvm::find(order, b.first);
    });
  };
  sort(group.tokens);
  sort(group.flat);
  group.gamma = rest.factors.empty() ? std::nullopt : std::optional(Expr{rest});
  if (group.gamma)
    (*group.gamma)[0].coefficient = 1;
  return true;
}

/// Whether x is one token's: nothing else tells it from parameters where there is no factor of the token.
bool GroupMatcher::isOfOneToken() {
  auto isOfToken = [](Value value) {
    auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
    return type && type.getRank() >= 3 && type.getDimSize(0) == 1;
  };
  return !group.isGiven && isOfToken(group.x.node()->value) && !isOfToken(group.weight);
}

/// The factors before the sum: a factor per token, and numbers.
bool GroupMatcher::splitOuter(const algebra::Term &outer) {
  algebra::Term ofToken, numbers;
  numbers.coefficient = outer.coefficient * scale;
  for (const algebra::Factor &factor : outer.factors) {
    if (dependsOnAny(factor, group.row))
      return decline(Reason::alphaPerColumn, describe(valueOf(factor)), "one number for each group", valueOf(factor));
    bool isOfToken = dependsOnAny(factor, group.tokens) || (group.tokens.empty() && matchNorm({1, {}, {factor}}));
    (isOfToken ? ofToken : numbers).factors.push_back(factor);
  }
  if (group.tokens.empty() && ofToken.factors.size() != 1 && !isOfOneToken())
    return false;
  if (llvm::any_of(outer.exponent, [&](const algebra::Term &part) { return dependsOnAny(part, all); }))
    return false;
  numbers.exponent = outer.exponent;
  scale = 1;
  group.norm = Norm::none;
  group.eps = 0;
  group.stat.reset();
  if (!ofToken.factors.empty() &&
      !(group.isGiven ? matchStatistic(ofToken) : matchNorm(ofToken) || takeOwnFactor(ofToken)))
    return !group.isGiven && declineNorm(ofToken);
  numbers.coefficient *= scale;
  if (isNear(numbers.coefficient, 1))
    numbers.coefficient = 1;
  group.alpha = {numbers};
  return true;
}

//===----------------------------------------------------------------------===//
// A given projection
//===----------------------------------------------------------------------===//

/// The sum is a tensor of tokens and rows. The bias tells which are which.
bool GroupMatcher::matchGiven(const algebra::Term &term) {
  group.tokens.clear();
  group.row.clear();
  group.flat.clear();
  group.gamma.reset();
  group.extent = 1;
  for (const Extent &var : all) {
    bool isRow = llvm::any_of(group.beta, [&](const algebra::Term &part) { return dependsOn(part, var.first); });
    (isRow ? group.row : group.tokens).push_back(var);
    if (isRow && !var.second.isNumber())
      return false;
    if (isRow)
      group.extent *= var.second.number();
  }
  if (group.row.empty() || group.tokens.empty() || group.extent > kMaxGroupRows)
    return false;
  for (auto [place, factor] : llvm::enumerate(term.factors)) {
    Value base = factor.node()->value;
    auto isRead = [&, &sum = factor](const Extent &var) { return dependsOn(sum, var.first); };
    if (factor.halves != 2 || !base || !llvm::all_of(all, isRead) || !reading.isBefore(base, user) ||
        !placeRows(base, factor.at()))
      continue;
    algebra::Term outer = term;
    outer.factors.erase(outer.factors.begin() + place);
    group.isGiven = true;
    group.stat.reset();
    group.statForm = Stat::applied;
    group.x = factor;
    group.number = 1;
    scale = 1;
    if (splitOuter(outer))
      return true;
    group.isGiven = false;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The group
//===----------------------------------------------------------------------===//

/// a * (x . phi) + b * (x . phi): alpha is a + b.
bool GroupMatcher::takeAlphas(const algebra::Term &product) {
  const Expr first = group.alpha;
  for (size_t number = 0; number < group.beta.size();) {
    const algebra::Term &term = group.beta[number];
    std::optional<Expr> ratio = dependsOnAny(term, all) ? algebra.divide({term}, {product}) : std::nullopt;
    if (!ratio || llvm::any_of(*ratio, [&](const algebra::Term &part) { return dependsOnAny(part, all); })) {
      ++number;
      continue;
    }
    std::optional<Expr> more = algebra.multiply(first, *ratio);
    std::optional<Expr> sum = more ? algebra.add(group.alpha, *more) : std::nullopt;
    if (!sum)
      return false;
    group.alpha = *sum;
    group.beta.erase(group.beta.begin() + number);
  }
  return true;
}

std::optional<LinearGroup> GroupMatcher::match() {
  Expr z;
  if (!readVars(z) || !isShort(z) || !multiplyOut(z))
    return std::nullopt;
  // A vector that is added behind the norm hides it. Without a norm, the streams are what it was added to.
  std::optional<LinearGroup> whole = matchTerms(z), behindNorm;
  if (whole && (whole->isGiven || whole->norm != Norm::none || whole->stat))
    return whole;
  std::optional<Miss> first = std::exchange(miss, std::nullopt);
  if (splitShift(z) && isShort(z) && multiplyOut(z))
    behindNorm = matchTerms(z);
  miss = first;
  return behindNorm && behindNorm->norm != Norm::none ? behindNorm : whole;
}

/// The values that the largest sum in a term adds up.
static int64_t summedWidth(const algebra::Term &term) {
  int64_t widest = 0;
  for (const algebra::Factor &factor : term.factors) {
    int64_t width = factor.node()->isReduce("sum") ? 1 : 0;
    for (Size extent : factor.node()->bound)
      width *= extent.isNumber() ? extent.number() : 1;
    widest = std::max(widest, width);
  }
  return widest;
}

/// The terms by what they add up, most first: streams have more values than what is added to their projection.
static SmallVector<size_t> widestFirst(const Expr &z) {
  auto order = llvm::to_vector(llvm::seq<size_t>(0, z.size()));
  llvm::stable_sort(order, [&](size_t a, size_t b) { return summedWidth(z[a]) > summedWidth(z[b]); });
  return order;
}

std::optional<LinearGroup> GroupMatcher::matchTerms(const Expr &z) {
  for (bool isGiven : {false, true})
    for (size_t number : widestFirst(z)) {
      if (miss)
        break;
      product = z[number];
      group.beta = z;
      group.beta.erase(group.beta.begin() + number);
      if (isGiven ? !matchGiven(z[number]) : !matchProduct(z[number]))
        continue;
      if (!takeAlphas(z[number]))
        return std::nullopt;
      auto isNoBias = [&](const algebra::Term &term) {
        bool isOnlyMaximum = isMaximum(term) && term.factors.size() == 1;
        return dependsOnAny(term, group.tokens) || (isOnlyMaximum && isMadeOf(term.factors[0], group.x.node()));
      };
      auto term = llvm::find_if(group.beta, isNoBias);
      if (term == group.beta.end())
        return group;
      // A maximum that is subtracted, of one token or of all, belongs to the residual map.
      if (!isGiven && !isMaximum(*term))
        declineBias(*term);
      return std::nullopt;
    }
  return std::nullopt;
}

std::optional<LinearGroup> mhc::matchLinearGroup(algebra::Reading &reading, Value root, Operation *user,
                                                 std::optional<Miss> *miss) {
  auto type = dyn_cast<RankedTensorType>(root.getType());
  if (!type || type.getRank() == 0)
    return std::nullopt;
  GroupMatcher matcher(reading, root, user);
  std::optional<LinearGroup> group = matcher.match();
  if (miss && !group)
    *miss = matcher.miss;
  return group;
}

/// An element with its variables named by the order in which x has them, as that is read from any value; the rows are
/// one name.
static Indices renamed(ArrayRef<algebra::Index> at, const LinearGroup &group) {
  llvm::SmallSetVector<Var, 4> names;
  if (group.isGiven)
    names.insert_range(llvm::make_first_range(group.tokens));
  else
    names = varsOf(group.x.at());
  Indices result(at.begin(), at.end());
  for (algebra::Index &index : result)
    for (Piece &piece : index.pieces) {
      const auto *name = llvm::find(names, piece.var);
      piece.var = name == names.end() ? -1 : static_cast<Var>(name - names.begin());
    }
  return result;
}

bool mhc::areApart(const LinearGroup &a, const LinearGroup &b) {
  return a.weight != b.weight || a.offset + a.extent <= b.offset || b.offset + b.extent <= a.offset;
}

bool mhc::isSameProjection(const LinearGroup &a, const LinearGroup &b, Gammas gammas) {
  auto isSameFactor = [&](const algebra::Factor &left, const algebra::Factor &right) {
    return left.node() == right.node() && left.halves == right.halves &&
           renamed(left.at(), a) == renamed(right.at(), b);
  };
  auto isSameGamma = [&] {
    if (!a.gamma || !b.gamma)
      return !a.gamma && !b.gamma;
    const auto &left = (*a.gamma)[0].factors, &right = (*b.gamma)[0].factors;
    return left.size() == right.size() && llvm::all_of(llvm::zip(left, right), [&](auto pair) {
             return isSameFactor(std::get<0>(pair), std::get<1>(pair));
           });
  };
  const bool isSameStat = a.stat && b.stat ? isSameFactor((*a.stat)[0].factors[0], (*b.stat)[0].factors[0])
                                           : a.stat.has_value() == b.stat.has_value();
  auto isSameSum = [&] {
    auto tokensOf = [](const LinearGroup &group) {
      Indices at = renamed(group.weightAt, group);
      for (algebra::Index &index : at)
        llvm::erase_if(index.pieces, [](const Piece &piece) { return piece.var < 0; });
      return at;
    };
    return a.weight == b.weight && tokensOf(a) == tokensOf(b) && a.statForm == b.statForm;
  };
  return a.isGiven == b.isGiven && Value(a.root).getParentBlock() == Value(b.root).getParentBlock() &&
         a.norm == b.norm && a.eps == b.eps && isSameStat &&
         (a.isGiven ? isSameSum() : isSameFactor(a.x, b.x) && (gammas == Gammas::any || isSameGamma()));
}
