//===- GatedDeltaConvolution.cpp - The convolution of a gated delta net ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A token before is read as a sum over all tokens of what is at the one whose position is equal (Algebra), whether the
// program pads, cuts or shifts; behind other tokens it is the element of a concatenation.
//
//===----------------------------------------------------------------------===//

#include "GatedDeltaMatch.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Element;
using algebra::Expr;
using algebra::Factor;
using algebra::Index;
using algebra::Node;
using algebra::Piece;
using algebra::Reading;
using algebra::Size;
using algebra::Term;
using algebra::Var;

namespace {
/// x, some tokens before.
struct Shifted {
  const Element *element; ///< that this is
  Expr x;                 ///< at the token itself
  Var token;
  Size tokens;
  int64_t by;
  LeftBoundary left;
  bool isCut = false; ///< whether x has only the tokens that are moved to others, and `left` only as many
  Expr starts = {};
  const Element *isInSequence = nullptr; ///< what reads the starts
};

class ConvolutionMatcher {
public:
  ConvolutionMatcher(Reading &reading, const Opened &value, std::optional<GatedFault> &fault)
      : reading(reading), algebra(reading.algebra()), value(value), dims(value.node->dims), fault(fault) {}
  std::optional<CausalConvolution> run(const Expr &sum);

private:
  std::optional<Shifted> readShifted(const Term &term);
  std::optional<Shifted> readMoved(const Factor &factor);
  std::optional<Shifted> readBehind(const Element *element);
  std::optional<Expr> unrolled(const Term &term);
  std::optional<Expr> unrolled(const Term &rest, const Element *element);
  Expr unrolled(const Expr &sum);
  std::optional<Expr> xBeside(const Expr &sum, Var token);
  bool findTokens(const Expr &sum);
  bool findPointwise(const Expr &sum);
  bool hasColumns(const Expr &sum);
  bool hasWindow(const Expr &sum);
  bool addTerm(const Term &term);
  bool isOfX(const Shifted &shifted);
  bool addSequence(const Shifted &shifted);
  bool isLeft(const Shifted &shifted);
  bool checkSequence();
  bool setWeight();
  bool setRoles();
  bool isToken(const Piece &piece) const {
    return piece.var >= 0 && static_cast<size_t>(piece.var) < dims.size() && dims[piece.var] == piece.extent;
  }
  Var varBehind(int number) const { return static_cast<Var>(dims.size()) + number; }
  bool declined(const Twine &found, const char *needed) {
    fault = GatedFault{Reason::gatedDeltaTaps, found.str(), needed};
    return false;
  }

  Reading &reading;
  Algebra &algebra;
  const Opened &value;
  ArrayRef<Size> dims;
  std::optional<GatedFault> &fault;
  CausalConvolution made;
  std::map<int64_t, Expr> columns; ///< of the weight, by the tokens before
};
} // namespace

static bool isWholeVar(const Index &index) {
  return index.pieces.size() == 1 && index.pieces[0].stride == Size(1) && index.pieces[0].multiplier == Size(1);
}

/// position - by, where `expr` is that; the variable of the position, which it is whole.
static std::optional<std::pair<Piece, int64_t>> readPosition(const Expr &expr) {
  if (expr.empty() || expr.size() > 2)
    return std::nullopt;
  const Index *index = algebra::positionOf({expr[0]});
  double offset = expr.size() == 2 ? algebra::numberOf({expr[1]}).value_or(0.5) : 0;
  if (!index || index->offset != 0 || !isWholeVar(*index) || offset != std::nearbyint(offset))
    return std::nullopt;
  return std::pair(index->pieces[0], -static_cast<int64_t>(offset));
}

//===----------------------------------------------------------------------===//
// Tokens before
//===----------------------------------------------------------------------===//

/// The element of a concatenation of other tokens, or of zeros, and x.
std::optional<Shifted> ConvolutionMatcher::readBehind(const Element *element) {
  const Algebra::Joined *joined = algebra.partsOf(element->node);
  if (!joined || joined->parts.size() < 2 || !joined->extents[0].isNumber())
    return std::nullopt;
  const Index &index = element->at[joined->dim];
  if (!isWholeVar(index) || !isToken(index.pieces[0]))
    return std::nullopt;
  const Piece token = index.pieces[0];
  const int64_t rows = joined->extents[0].number();
  const bool isCut = joined->parts.size() == 2 && index.offset == 0 &&
                     algebra.sizes.subtract(token.extent, rows) == joined->extents[1];
  if (!isCut && joined->extents[1] != token.extent)
    return std::nullopt;
  auto partAt = [&](unsigned number, Index at) {
    return algebra.substitute(joined->parts[number],
                              [&](Var var) { return var == static_cast<Var>(joined->dim) ? at : element->at[var]; });
  };
  std::optional<Expr> left = partAt(0, algebra::wholeVar(varBehind(gated::row), rows));
  std::optional<Expr> x = partAt(1, algebra::wholeVar(token.var, joined->extents[1]));
  if (!left || !x)
    return std::nullopt;
  LeftBoundary boundary = algebra::numberOf(*left) == 0.0 ? LeftBoundary() : LeftBoundary{*left, rows};
  return Shifted{element, *x, token.var, token.extent, rows - index.offset, boundary, isCut};
}

std::optional<Shifted> ConvolutionMatcher::readMoved(const Factor &factor) {
  const Node &node = *factor.node();
  if (factor.halves != 2 || !node.isReduce("sum") || node.parts[0].size() != 1)
    return std::nullopt;
  auto [at, bound] = algebra.open(node);
  std::optional<Expr> summand = algebra.part(factor.element, at);
  if (!summand || summand->size() != 1)
    return std::nullopt;
  Term rest = summand->front();
  auto *equal = llvm::find_if(rest.factors, [](const Factor &factor) { return factor.node()->isApply("equal"); });
  if (equal == rest.factors.end() || equal->halves != 2)
    return std::nullopt;
  std::optional<Expr> from = algebra.part(equal->element, {}, 0), to = algebra.part(equal->element, {}, 1);
  auto there = from ? readPosition(*from) : std::nullopt, here = to ? readPosition(*to) : std::nullopt;
  if (!there || !here || there->second != 0 || !isToken(here->first))
    return std::nullopt;
  const auto *read = llvm::find(bound, std::pair(there->first.var, there->first.extent));
  if (read == bound.end())
    return std::nullopt;
  const Piece token = here->first;
  const int64_t by = here->second;
  // Tokens of which none is in front of the first one, nor behind the last: all that is read is there.
  std::optional<Size> more = algebra.sizes.subtract(read->second, token.extent);
  bool isInside = read->second != token.extent;
  if (isInside && (by > 0 || !more || !more->isNumber() || more->number() < -by))
    return std::nullopt;
  Index place = algebra::wholeVar(token.var, token.extent);
  place.offset = isInside ? -by : 0;
  rest.factors.erase(equal);
  auto moved = [&](Var var) { return var == read->first ? place : sameVar(var); };
  std::optional<Expr> x = algebra.substitute({rest}, moved);
  bound.erase(bound.begin() + (read - bound.begin()));
  if (x && !bound.empty())
    x = algebra.reduce("sum", *x, bound);
  if (!x)
    return std::nullopt;
  const Factor *behind = isInside ? algebra::singleFactor(*x) : nullptr;
  std::optional<Shifted> shifted = behind && (*x)[0].coefficient == 1 ? readBehind(behind->element) : std::nullopt;
  if (shifted)
    shifted->element = factor.element;
  return shifted ? shifted : Shifted{factor.element, *x, token.var, token.extent, isInside ? 0 : by, {}};
}

std::optional<Shifted> ConvolutionMatcher::readShifted(const Term &term) {
  std::optional<Shifted> shifted;
  for (const Factor &factor : term.factors) {
    shifted = readMoved(factor);
    if (!shifted && factor.halves == 2)
      shifted = readBehind(factor.element);
    if (shifted)
      break;
  }
  for (const Factor &factor : term.factors) {
    if (!shifted || !factor.node()->isApply(algebra::kSameSequence))
      continue;
    std::optional<Expr> start = algebra.part(factor.element, {}, 0), from = algebra.part(factor.element, {}, 1);
    auto place = from ? readPosition(*from) : std::nullopt;
    if (start && place && place->first.var == shifted->token && place->second == shifted->by) {
      shifted->starts = *start;
      shifted->isInSequence = factor.element;
    }
  }
  return shifted;
}

/// A sum over a window, written out: one term for each of its places.
std::optional<Expr> ConvolutionMatcher::unrolled(const Term &rest, const Element *element) {
  const auto [at, bound] = algebra.open(*element->node);
  std::optional<Expr> summand = algebra.part(element, at);
  for (auto [window, extent] : bound) {
    if (!summand || !extent.isNumber() || extent.number() > kMostTaps)
      continue;
    auto others =
        llvm::to_vector(llvm::make_filter_range(bound, [&, own = window](auto &var) { return var.first != own; }));
    Expr sum;
    for (Index place; place.offset < extent.number(); ++place.offset) {
      auto fixed = [&, own = window](Var var) { return var == own ? place : sameVar(var); };
      std::optional<Expr> term = algebra.substitute(*summand, fixed);
      term = term && !others.empty() ? algebra.reduce("sum", *term, others) : term;
      term = term ? algebra.multiply({rest}, *term) : term;
      if (!term || (place.offset == 0 && !term->empty() &&
                    llvm::none_of(*term, [&](const Term &part) { return readShifted(part); })))
        break;
      llvm::append_range(sum, *term);
      if (place.offset + 1 == extent.number())
        return sum;
    }
  }
  return std::nullopt;
}

std::optional<Expr> ConvolutionMatcher::unrolled(const Term &term) {
  for (const Factor &factor : term.factors) {
    if (factor.halves != 2 || !factor.node()->isReduce("sum"))
      continue;
    Term rest = term;
    rest.factors.erase(rest.factors.begin() + (&factor - term.factors.begin()));
    if (std::optional<Expr> sum = unrolled(rest, factor.element))
      return sum;
  }
  return std::nullopt;
}

Expr ConvolutionMatcher::unrolled(const Expr &sum) {
  Expr all;
  for (const Term &term : sum)
    llvm::append_range(all, readShifted(term) ? Expr{term} : unrolled(term).value_or(Expr{term}));
  return all;
}

//===----------------------------------------------------------------------===//
// The convolution
//===----------------------------------------------------------------------===//

/// x of the tap that is not moved: what depends on the token.
std::optional<Expr> ConvolutionMatcher::xBeside(const Expr &sum, Var token) {
  for (const Term &term : sum) {
    if (!term.exponent.empty() || !algebra::dependsOn(term, token) || readShifted(term))
      continue;
    Term x;
    llvm::copy_if(term.factors, std::back_inserter(x.factors),
                  [&](const Factor &factor) { return algebra::dependsOn(factor, token); });
    return Expr{x};
  }
  return std::nullopt;
}

/// Finds the tokens, and x, by the first of them that is read before its place.
bool ConvolutionMatcher::findTokens(const Expr &sum) {
  for (const Term &term : sum)
    if (std::optional<Shifted> shifted = readShifted(term); shifted && shifted->by != 0) {
      std::optional<Expr> x = shifted->isCut ? xBeside(sum, shifted->token) : shifted->x;
      made.x = x.value_or(Expr());
      made.tokenVar = shifted->token;
      made.tokens = shifted->tokens;
      return x || declined("taps without one of the token itself", "weight[c,k-1] * x[t,c]");
    }
  return hasColumns(sum) ? declined("taps of several tensors or dimensions", "taps of one tensor along its tokens")
                         : findPointwise(sum);
}

/// Whether each term but a bias is another tensor times another column of one.
bool ConvolutionMatcher::hasColumns(const Expr &sum) {
  llvm::SmallDenseSet<const Element *> columns, tensors;
  const Node *weight = nullptr;
  for (const Term &term : sum) {
    if (term.factors.size() != 2)
      continue;
    auto column = llvm::find_if(term.factors, [&](const Factor &factor) {
      return factor.node()->value && isa<BlockArgument>(factor.node()->value);
    });
    if (column == term.factors.end() || (weight && weight != column->node()))
      return false;
    weight = column->node();
    columns.insert(column->element);
    tensors.insert(term.factors[column == term.factors.begin() ? 1 : 0].element);
  }
  return columns.size() > 1 && columns.size() + 1 >= sum.size() && tensors.size() == columns.size();
}

/// Whether a term sums a few things that were joined, each times its own column of a weight.
bool ConvolutionMatcher::hasWindow(const Expr &sum) {
  auto isJoined = [&](const Factor &part) { return algebra.partsOf(part.node()); };
  auto isWindow = [&](const Factor &factor) {
    const Node &node = *factor.node();
    return node.isReduce("sum") && node.bound.size() == 1 && node.bound[0].isNumber() &&
           node.bound[0].number() <= kMostTaps && node.parts[0].size() == 1 && node.parts[0][0].factors.size() == 2 &&
           llvm::any_of(node.parts[0][0].factors, isJoined);
  };
  return llvm::any_of(sum, [&](const Term &term) { return llvm::any_of(term.factors, isWindow); });
}

/// An expression of the variable `var` from `first` on, of `extent` values.
static std::optional<Expr> cut(Algebra &algebra, const Expr &expr, Var var, int64_t first, Size extent) {
  Index place = algebra::wholeVar(var, extent);
  place.offset = first;
  return algebra.substitute(expr, [&](Var other) { return other == var ? place : sameVar(other); });
}

/// Whether a tap reads x, in its place or moved.
bool ConvolutionMatcher::isOfX(const Shifted &shifted) {
  if (shifted.token != made.tokenVar)
    return false;
  std::optional<Size> count = shifted.isCut ? algebra.sizes.subtract(made.tokens, shifted.by) : made.tokens;
  std::optional<Expr> x = count ? cut(algebra, made.x, made.tokenVar, 0, *count) : std::nullopt;
  return x && isSame(reading, *x, shifted.x);
}

/// One tap: x times a number for each channel.
bool ConvolutionMatcher::findPointwise(const Expr &sum) {
  for (const Term &term : sum) {
    if (term.factors.size() != 2 || !term.exponent.empty())
      continue;
    for (unsigned side : {0, 1}) {
      const Factor &weight = term.factors[side], &x = term.factors[1 - side];
      SmallVector<Var> others;
      bool isWhole = weight.halves == 2 && x.halves == 2;
      for (Var var = 0; var < varBehind(0); ++var) {
        isWhole = isWhole && algebra::dependsOn(x, var);
        if (!algebra::dependsOn(weight, var))
          others.push_back(var);
      }
      if (!isWhole || others.empty() || others.size() > 2)
        continue;
      // Sequences come before their tokens. It makes no difference to one tap.
      auto placeOf = [&](Var var) { return value.at[var].pieces.empty() ? -1 : value.at[var].pieces[0].var; };
      made.x = {Term{1, {}, {x}}};
      made.tokenVar = *llvm::max_element(others, [&](Var a, Var b) { return placeOf(a) < placeOf(b); });
      made.tokens = dims[made.tokenVar];
      return true;
    }
  }
  return false;
}

/// Whether what is before the first token is what other taps have there, of which each may have only what it reads.
bool ConvolutionMatcher::isLeft(const Shifted &shifted) {
  LeftBoundary more = shifted.left, fewer = made.left;
  if (more.rows < fewer.rows)
    std::swap(more, fewer);
  std::optional<Expr> last = cut(algebra, more.tokens, varBehind(gated::row), more.rows - fewer.rows, fewer.rows);
  made.left = more;
  return last && isSame(reading, *last, fewer.tokens) && (fewer.rows == 0) == (more.rows == 0);
}

/// Sequences and tokens before the first one are one thing for all taps of tokens before.
bool ConvolutionMatcher::addSequence(const Shifted &shifted) {
  if (shifted.by == 0)
    return true;
  bool isFirst = columns.empty() || (columns.size() == 1 && columns.begin()->first == 0);
  if (isFirst) {
    made.starts = shifted.starts;
    made.left = shifted.left;
  }
  if (!isSame(reading, shifted.starts, made.starts))
    return declined("taps of several sequences", "the same starts of sequences for all taps of tokens before");
  return isLeft(shifted) || declined("taps behind several other tensors", "the same k - 1 tokens before the first one");
}

/// Takes a term for a tap, or for the bias.
bool ConvolutionMatcher::addTerm(const Term &term) {
  if (!dependsOn(Expr{term}, made.tokenVar)) {
    if (!made.bias.empty() || !algebra::singleFactor({term}) || term.coefficient != 1)
      return declined("a bias that is a sum or a product", "one vector");
    made.bias = {term};
    return true;
  }
  std::optional<Expr> column;
  int64_t by = 0;
  if (std::optional<Shifted> shifted = readShifted(term)) {
    if (!isOfX(*shifted))
      return declined("taps of several tensors or dimensions", "taps of one tensor along its tokens");
    if (!addSequence(*shifted))
      return false;
    by = shifted->by;
    column = algebra.divide({term}, Algebra::of(shifted->element));
    if (column && shifted->isInSequence) {
      llvm::SmallVector<Factor, 2> &factors = (*column)[0].factors;
      llvm::erase_if(factors, [&](const Factor &factor) { return factor.element == shifted->isInSequence; });
    }
  } else {
    column = algebra.divide({term}, made.x);
  }
  const Factor *weight = column ? algebra::singleFactor(*column) : nullptr;
  if (!weight || (*column)[0].coefficient != 1 || algebra::dependsOn(*weight, made.tokenVar))
    return declined("a tap that is no product of a token and a weight", "weight[c,j] * x[t-(k-1)+j,c]");
  if (!columns.try_emplace(by, *column).second)
    return declined("two taps of the token " + Twine(by) + " before", "one");
  return true;
}

/// One expression for the columns of all taps, the last of which is that of the token itself.
bool ConvolutionMatcher::setWeight() {
  made.taps = columns.size();
  if (made.taps > kMostTaps)
    return declined(Twine(made.taps) + " taps", "1 to 8");
  if (columns.begin()->first != 0 || columns.rbegin()->first != made.taps - 1) {
    bool isLater = columns.begin()->first < 0;
    int64_t other = isLater ? -columns.begin()->first : columns.rbegin()->first;
    return declined("a tap of the token " + Twine(other) + (isLater ? " behind" : " before"),
                    "one tap for each of the k - 1 tokens before and for the token itself");
  }
  auto inOrder = llvm::map_to_vector(llvm::reverse(columns), [](const auto &column) { return column.second; });
  std::optional<Expr> weight = spread(reading, inOrder, varBehind(gated::tap));
  if (!weight)
    return declined("weights in another order than that of the taps",
                    "column j of the weight for the token k - 1 - j before");
  made.weight = *weight;
  return true;
}

/// The channels are what the weight reads, in its order.
bool ConvolutionMatcher::setRoles() {
  made.channels = 1;
  for (const Index &index : made.weight[0].factors[0].at())
    for (const Piece &piece : index.pieces) {
      if (piece.var >= varBehind(0))
        continue; // the taps
      if (piece.stride != Size(1) || dims[piece.var] != piece.extent || !piece.extent.isNumber())
        return declined("a weight that reads a part of the channels", "one row for each channel");
      made.channelVars.push_back({piece.var, piece.extent.number()});
      made.channels *= piece.extent.number();
    }
  for (auto [var, extent] : llvm::enumerate(dims)) {
    const Var own = var;
    if (own == made.tokenVar || llvm::any_of(made.channelVars, [&](auto channel) { return channel.first == own; }))
      continue;
    if (made.batchVar)
      return declined("several dimensions beside tokens and channels", "one of sequences, tokens and channels");
    made.batchVar = own;
    made.batch = extent;
  }
  return true;
}

/// Whether the op has what lies before the tokens.
bool ConvolutionMatcher::checkSequence() {
  if (made.left.rows != 0 && made.left.rows != made.taps - 1)
    return declined(Twine(made.left.rows) + " tokens before the first one", "k - 1");
  if (made.starts.empty())
    return true;
  if (made.left.rows != 0)
    return declined("sequences in a row behind other tokens", "either of them");
  const Factor *start = algebra::singleFactor(made.starts);
  if (!start || !start->node()->value || !start->node()->value.getDefiningOp<SequenceStartsOp>() ||
      !isWholeVar(start->at()[0]) || start->at()[0].pieces[0].var != made.tokenVar)
    return declined("starts of sequences that are computed in another way", "mhc.sequence_starts of cu_seqlens");
  return made.batch == Size(1) || declined("a batch of rows of sequences", "one row");
}

std::optional<CausalConvolution> ConvolutionMatcher::run(const Expr &sum) {
  Expr terms = unrolled(sum);
  if (!llvm::any_of(terms, [&](const Term &term) { return readShifted(term); }))
    if (std::optional<CausalConvolution> one = matchOneToken(reading, dims.size(), terms)) {
      made = *one;
      return setRoles() ? std::optional(made) : std::nullopt;
    }
  if (!findTokens(terms) && !fault && hasWindow(terms))
    declined("windows of other tokens than those before, or of tokens and sequences that are open",
             "windows of the k - 1 tokens before and the token itself");
  if (made.x.empty() || !llvm::all_of(terms, [&](const Term &term) { return addTerm(term); }) || !setWeight() ||
      !setRoles() || !checkSequence())
    return std::nullopt;
  return made;
}

std::optional<CausalConvolution> mhc::matchConvolution(Reading &reading, const Opened &value, const Expr &sum,
                                                       std::optional<GatedFault> &fault) {
  return ConvolutionMatcher(reading, value, fault).run(sum);
}
