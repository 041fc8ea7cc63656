//===- GatedDeltaMatch.cpp - The parts of a gated delta front end ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GatedDeltaMatch.h"
#include "Bounds.h"
#include "mhc/Algebra/Build.h"

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

/// Puts the variables of what is found in place of a node's own.
static std::optional<Expr> renamed(Reading &reading, const CausalConvolution &conv, const Expr &expr, int rank) {
  return reading.algebra().substitute(expr, [&](Var var) {
    if (var == rank + gated::tap)
      return algebra::wholeVar(gated::tap, conv.taps);
    if (var == rank + gated::row)
      return algebra::wholeVar(gated::row, conv.left.rows);
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
  // Products, such as with the step of a state space model, are no norms.
  if (llvm::none_of(norm[0].factors, [](const Factor &factor) { return factor.halves < 0; }))
    return false;
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
  auto isNormOver = [&](const algebra::DimVars &over) {
    std::optional<Expr> sum = algebra.multiply(u, u);
    sum = sum && !over.empty() ? algebra.reduce("sum", *sum, over) : sum;
    sum = sum ? algebra.add(*sum, Algebra::number(*eps)) : std::nullopt;
    std::optional<Expr> inverse = sum ? algebra.power(*sum, -1) : std::nullopt;
    std::optional<Expr> product = inverse ? algebra.multiply(u, *inverse) : std::nullopt;
    return product && isSame(reading, *product, whole);
  };
  const bool hasChannels = !made.channelVars.empty();
  auto [within, size] = hasChannels ? made.channelVars.back() : std::pair<Var, int64_t>(0, 1);
  // Heads of one channel have no dimension for it.
  const bool isOfOne = !hasChannels || !isNormOver({{within, dims[within]}});
  if (isOfOne && !isNormOver({}))
    return decline(kOther);
  made.eps = *eps;
  made.headSize = isOfOne ? 1 : size;
  return made.channelVars.size() <= (isOfOne ? 1 : 2) || decline("several dimensions of heads");
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
  if (std::optional<double> number = algebra::numberOf(*rest); number && *number != 1)
    return std::nullopt; // a step on the way, such as u (1 + tanh(u / 2)) in front of the half, and no other norm
  ArrayRef<Size> dims = value.node->dims;
  std::optional<CausalConvolution> conv = matchConvolution(reading, value, *a, fault);
  if (!conv)
    return std::nullopt;
  ActivatedConvolution made;
  static_cast<CausalConvolution &>(made) = *conv;
  made.node = value.node;
  made.coefficient = value.coefficient;
  if (algebra::numberOf(*rest) != 1.0 && !setNorm(reading, dims, value.expr, *u, *rest, made, fault))
    return std::nullopt;
  const int rank = dims.size();
  for (Expr *part : {&made.x, &made.weight, &made.bias, &made.starts, &made.left.tokens}) {
    std::optional<Expr> own = renamed(reading, *conv, *part, rank);
    if (!own)
      return std::nullopt;
    *part = *own;
  }
  std::optional<Expr> whole = renamed(reading, *conv, value.expr, rank);
  if (!whole)
    return std::nullopt;
  made.expr = *whole;
  return made;
}
