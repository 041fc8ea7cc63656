//===- GatedDeltaMatch.cpp - The parts of a gated delta front end ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A token before is read as a sum over all tokens of what is at the one whose position is equal (Algebra), whether the
// program pads, cuts or shifts.
//
//===----------------------------------------------------------------------===//

#include "GatedDeltaMatch.h"
#include "Bounds.h"

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

constexpr int64_t kMostTaps = 8;

Index mhc::sameVar(Var var) { return algebra::wholeVar(var, algebra::kAnyExtent); }

Index mhc::strided(Var var, int64_t stride, int64_t extent) {
  Index index;
  index.pieces.push_back({var, stride, extent, 1});
  return index;
}

bool mhc::isSame(Reading &reading, const Expr &a, const Expr &b) {
  std::optional<Expr> difference = reading.algebra().add(a, Algebra::scale(b, -1));
  return difference && algebra::numberOf(*difference) == 0.0;
}

std::optional<Opened> mhc::openValue(Reading &reading, Value value) {
  Algebra &algebra = reading.algebra();
  std::optional<Algebra::Closed> closed = algebra.close(reading.of(value));
  if (!closed)
    return std::nullopt;
  algebra::Indices own;
  for (auto [var, extent] : llvm::enumerate(closed->node->dims))
    own.push_back(algebra::wholeVar(var, extent));
  const Node &node = *closed->node;
  Expr expr = node.kind == Node::Sum ? node.parts[0] : Algebra::of(algebra.elementAt(&node, own));
  return Opened{&node, closed->at, Algebra::scale(expr, closed->coefficient), closed->coefficient};
}

bool mhc::dependsOn(const Expr &expr, Var var) {
  return llvm::any_of(expr, [&](const Term &term) { return algebra::dependsOn(term, var); });
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
/// x, some tokens before.
struct Shifted {
  Expr x; ///< at the token itself
  Var token;
  Size tokens;
  int64_t by;
};

class ConvolutionMatcher {
public:
  ConvolutionMatcher(Reading &reading, ArrayRef<Size> dims, std::optional<GatedFault> &fault)
      : reading(reading), algebra(reading.algebra()), dims(dims), fault(fault) {}
  std::optional<CausalConvolution> run(const Expr &sum);

private:
  std::optional<Shifted> readShifted(const Factor &factor);
  bool findTokens(const Expr &sum);
  bool addTerm(const Term &term);
  bool setWeight();
  bool setRoles();
  bool declined(const Twine &found, const char *needed) {
    fault = GatedFault{Reason::gatedDeltaTaps, found.str(), needed};
    return false;
  }

  Reading &reading;
  Algebra &algebra;
  ArrayRef<Size> dims;
  std::optional<GatedFault> &fault;
  CausalConvolution made;
  std::map<int64_t, Expr> columns; ///< of the weight, by the tokens before
};
} // namespace

/// position - by, where `expr` is that; the variable of the position, which it is whole.
static std::optional<std::pair<Piece, int64_t>> readPosition(const Expr &expr) {
  if (expr.empty() || expr.size() > 2)
    return std::nullopt;
  const Index *index = algebra::positionOf({expr[0]});
  double offset = expr.size() == 2 ? algebra::numberOf({expr[1]}).value_or(0.5) : 0;
  bool isWhole = index && index->offset == 0 && index->pieces.size() == 1 && index->pieces[0].stride == Size(1) &&
                 index->pieces[0].multiplier == Size(1);
  if (!isWhole || offset != std::nearbyint(offset))
    return std::nullopt;
  return std::pair(index->pieces[0], -static_cast<int64_t>(offset));
}

std::optional<Shifted> ConvolutionMatcher::readShifted(const Factor &factor) {
  const Node &node = *factor.node();
  if (factor.halves != 2 || !node.isReduce("sum") || node.parts[0].size() != 1)
    return std::nullopt;
  SmallVector<std::pair<Var, Size>> bound;
  algebra::Indices at;
  for (Size extent : node.bound) {
    bound.push_back({algebra.freshVar(), extent});
    at.push_back(algebra::wholeVar(bound.back().first, extent));
  }
  std::optional<Expr> summand = algebra.part(factor.element, at);
  if (!summand || summand->size() != 1)
    return std::nullopt;
  Term rest = summand->front();
  auto *equal = llvm::find_if(rest.factors, [](const Factor &factor) { return factor.node()->isApply("equal"); });
  if (equal == rest.factors.end() || equal->halves != 2)
    return std::nullopt;
  std::optional<Expr> from = algebra.part(equal->element, {}, 0), to = algebra.part(equal->element, {}, 1);
  auto there = from ? readPosition(*from) : std::nullopt, here = to ? readPosition(*to) : std::nullopt;
  if (!there || !here || there->second != 0 || there->first.extent != here->first.extent)
    return std::nullopt;
  const auto *read = llvm::find(bound, std::pair(there->first.var, there->first.extent));
  const Var token = here->first.var;
  if (read == bound.end() || token < 0 || static_cast<size_t>(token) >= dims.size() ||
      dims[token] != here->first.extent)
    return std::nullopt;
  rest.factors.erase(equal);
  auto moved = [&](Var var) { return var == read->first ? algebra::wholeVar(token, read->second) : sameVar(var); };
  std::optional<Expr> x = algebra.substitute({rest}, moved);
  bound.erase(bound.begin() + (read - bound.begin()));
  if (x && !bound.empty())
    x = algebra.reduce("sum", *x, bound);
  return x ? std::optional(Shifted{*x, token, here->first.extent, here->second}) : std::nullopt;
}

/// Finds the tokens, and x, by the first of them that is read before its place.
bool ConvolutionMatcher::findTokens(const Expr &sum) {
  for (const Term &term : sum)
    for (const Factor &factor : term.factors)
      if (std::optional<Shifted> shifted = readShifted(factor)) {
        made.x = shifted->x;
        made.tokenVar = shifted->token;
        made.tokens = shifted->tokens;
        return true;
      }
  return false;
}

/// Takes a term for a tap, or for the bias.
bool ConvolutionMatcher::addTerm(const Term &term) {
  if (!dependsOn(Expr{term}, made.tokenVar)) {
    if (!made.bias.empty() || !algebra::singleFactor({term}) || term.coefficient != 1)
      return declined("a bias that is a sum or a product", "one vector");
    made.bias = {term};
    return true;
  }
  std::optional<Expr> column = algebra.divide({term}, made.x);
  int64_t by = 0;
  for (const Factor &factor : term.factors) {
    std::optional<Shifted> shifted = readShifted(factor);
    if (!shifted)
      continue;
    if (shifted->token != made.tokenVar || !isSame(reading, shifted->x, made.x))
      return declined("taps of several tensors or dimensions", "taps of one tensor along its tokens");
    by = shifted->by;
    column = algebra.divide({term}, Algebra::of(factor.element));
    break;
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
  if (made.taps < 2 || made.taps > kMostTaps)
    return declined(Twine(made.taps) + " taps", "2 to 8");
  if (columns.begin()->first != 0 || columns.rbegin()->first != made.taps - 1) {
    bool isLater = columns.begin()->first < 0;
    int64_t other = isLater ? -columns.begin()->first : columns.rbegin()->first;
    return declined("a tap of the token " + Twine(other) + (isLater ? " behind" : " before"),
                    "one tap for each of the k - 1 tokens before and for the token itself");
  }
  const Element *first = columns[made.taps - 1][0].factors[0].element;
  const Element *next = columns[made.taps - 2][0].factors[0].element;
  algebra::Indices at(first->at);
  if (first->node == next->node)
    for (auto [dim, index] : llvm::enumerate(at))
      if (int64_t step = next->at[dim].offset - index.offset; step > 0) {
        index.pieces.push_back({gated::tap + static_cast<Var>(dims.size()), 1, Size(made.taps), step});
        normalise(algebra.sizes, index);
      }
  const Var tapVar = gated::tap + static_cast<Var>(dims.size());
  std::optional<Expr> weight = algebra.element(first->node, at);
  for (auto &[by, column] : columns) {
    Index fixed;
    fixed.offset = made.taps - 1 - by;
    std::optional<Expr> own =
        weight ? algebra.substitute(*weight, [&](Var var) { return var == tapVar ? fixed : sameVar(var); }) : weight;
    if (!own || !isSame(reading, *own, column))
      return declined("weights in another order than that of the taps",
                      "column j of the weight for the token k - 1 - j before");
  }
  made.weight = *weight;
  return true;
}

/// The channels are what the weight reads, in its order.
bool ConvolutionMatcher::setRoles() {
  made.channels = 1;
  for (const Index &index : made.weight[0].factors[0].at())
    for (const Piece &piece : index.pieces) {
      if (static_cast<size_t>(piece.var) >= dims.size())
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
  return !made.channelVars.empty();
}

std::optional<CausalConvolution> ConvolutionMatcher::run(const Expr &sum) {
  if (!findTokens(sum))
    return std::nullopt;
  if (!llvm::all_of(sum, [&](const Term &term) { return addTerm(term); }) || !setWeight() || !setRoles())
    return std::nullopt;
  return made;
}

/// Puts the variables of what is found in place of a node's own.
static std::optional<Expr> renamed(Reading &reading, const CausalConvolution &conv, const Expr &expr, Var tapVar) {
  return reading.algebra().substitute(expr, [&](Var var) {
    if (var == tapVar)
      return algebra::wholeVar(gated::tap, conv.taps);
    if (var == conv.tokenVar)
      return algebra::wholeVar(gated::token, conv.tokens);
    if (var == conv.batchVar)
      return algebra::wholeVar(gated::batch, conv.batch);
    int64_t stride = conv.channels;
    for (auto [channel, extent] : conv.channelVars) {
      stride /= extent;
      if (channel == var)
        return strided(gated::channel, stride, extent);
    }
    return Index();
  });
}

//===----------------------------------------------------------------------===//
// SiLU and norm
//===----------------------------------------------------------------------===//

/// 1 / sqrt(sum of u^2 + eps) over the last of the channels, where the factors beside u are that.
static bool setNorm(Reading &reading, ArrayRef<Size> dims, const Expr &whole, const Expr &u, const Expr &norm,
                    ActivatedConvolution &made, std::optional<GatedFault> &fault) {
  Algebra &algebra = reading.algebra();
  const char *kOther = "another root, such as that of a mean";
  auto decline = [&](const char *found) {
    fault = GatedFault{Reason::gatedDeltaNorm, found, "u / sqrt(sum of u^2 + eps) over the channels of a head"};
    return false;
  };
  const Factor *root = algebra::singleFactor(norm, -1);
  if (!root || norm[0].coefficient != 1 || root->node()->kind != Node::Sum)
    return decline(root ? kOther : "another factor of u");
  std::optional<Expr> inside = algebra.part(root->element);
  std::optional<double> eps = inside && inside->size() == 2 ? algebra::numberOf({inside->back()}) : std::nullopt;
  if (!eps || !isEps(*eps))
    return decline(kOther);
  auto [within, size] = made.channelVars.back();
  std::optional<Expr> square = algebra.multiply(u, u);
  std::optional<Expr> sum = square ? algebra.reduce("sum", *square, {{within, dims[within]}}) : std::nullopt;
  sum = sum ? algebra.add(*sum, Algebra::number(*eps)) : std::nullopt;
  std::optional<Expr> inverse = sum ? algebra.power(*sum, -1) : std::nullopt;
  std::optional<Expr> product = inverse ? algebra.multiply(u, *inverse) : std::nullopt;
  if (!product || !isSame(reading, *product, whole))
    return decline(kOther);
  made.eps = *eps;
  made.headSize = size;
  return made.channelVars.size() <= 2 || decline("several dimensions of heads");
}

std::optional<ActivatedConvolution> mhc::matchActivated(Reading &reading, const Opened &value,
                                                        std::optional<GatedFault> &fault) {
  Algebra &algebra = reading.algebra();
  if (value.expr.size() != 1)
    return std::nullopt;
  const Term &product = value.expr[0];
  const auto *gate = llvm::find_if(
      product.factors, [](const Factor &factor) { return factor.halves == 2 && factor.node()->isApply("sigmoid"); });
  if (gate == product.factors.end() || product.factors.size() < 2)
    return std::nullopt;
  std::optional<Expr> a = algebra.part(gate->element);
  std::optional<Expr> u = a ? algebra.multiply(*a, Algebra::of(gate->element)) : std::nullopt;
  std::optional<Expr> rest = u ? algebra.divide(value.expr, *u) : std::nullopt;
  if (!rest || rest->size() != 1 ||
      llvm::any_of((*rest)[0].factors, [&](const Factor &factor) { return factor.element == gate->element; }))
    return std::nullopt;
  ArrayRef<Size> dims = value.node->dims;
  std::optional<CausalConvolution> conv = ConvolutionMatcher(reading, dims, fault).run(*a);
  if (!conv)
    return std::nullopt;
  ActivatedConvolution made;
  static_cast<CausalConvolution &>(made) = *conv;
  made.node = value.node;
  made.coefficient = value.coefficient;
  if (algebra::numberOf(*rest) != 1.0 && !setNorm(reading, dims, value.expr, *u, *rest, made, fault))
    return std::nullopt;
  const Var tapVar = gated::tap + static_cast<Var>(dims.size());
  for (Expr *part : {&made.x, &made.weight, &made.bias}) {
    std::optional<Expr> own = renamed(reading, *conv, *part, tapVar);
    if (!own)
      return std::nullopt;
    *part = *own;
  }
  std::optional<Expr> whole = renamed(reading, *conv, value.expr, tapVar);
  if (!whole)
    return std::nullopt;
  made.expr = *whole;
  return made;
}
