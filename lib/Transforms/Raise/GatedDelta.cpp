//===- GatedDelta.cpp - The front end of a gated delta net layer ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One tensor qkvzba holds the channels of q, k, v, z, beta and alpha in this order. What the function has of each is
// found as an expression of that tensor:
//
//   query, key = u / sqrt(sum u^2 + eps) of SiLU of a convolution, each head repeated; value = u; gate = z
//   beta = sigmoid(b); g = -exp(A_log) * softplus(alpha + dt_bias)
//
// Where the parts are of several tensors, or lie in another order, they are concatenated first.
//
//===----------------------------------------------------------------------===//

#include "GatedDelta.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <numeric>

using namespace mlir;
using namespace mhc;
using namespace mhc::gated;
using algebra::DimVars;
using algebra::Expr;
using algebra::Index;
using algebra::Indices;
using algebra::Reading;
using algebra::Size;
using algebra::Var;

static constexpr llvm::StringLiteral kKind = "pre_gated_delta_rule";
static constexpr llvm::StringLiteral kRepeated = "each head of q and k repeated in a row, as many as there are of v";
static constexpr llvm::StringLiteral kNorms = "u / sqrt(sum of u^2 + eps) over the channels of a head, of q and of k";
static constexpr llvm::StringLiteral kStored = "all of its inputs and weights as values, or parts of them";

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

void GatedDeltaRaiser::readValues() {
  auto add = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && isa<FloatType>(type.getElementType()) && !isWide(value))
      values.push_back(value);
  };
  llvm::for_each(func.getArguments(), add);
  func.walk([&](Operation *op) { llvm::for_each(op->getResults(), add); });
  llvm::SmallPtrSet<const algebra::Node *, 16> known;
  std::optional<std::pair<Value, GatedFault>> positive, scaled; // which may be negated, or be another layer's
  for (Value value : values) {
    std::optional<Opened> opened = openValue(reading, value);
    if (!opened)
      continue;
    std::optional<GatedFault> miss;
    std::optional<Decay> decay;
    if (known.contains(opened->node)) {
      activatedValues.push_back({value, *opened});
    } else if (std::optional<ActivatedConvolution> conv = matchActivated(reading, *opened, miss)) {
      known.insert(opened->node);
      activatedValues.push_back({value, *opened});
      conv->value = value;
      seesNorm = seesNorm || conv->eps;
      activated.push_back(*conv);
    } else if ((decay = matchDecay(reading, *opened, miss))) {
      if (decay->isNegative)
        decays.push_back(*decay);
      else if (!positive)
        positive = {value, {Reason::gatedDeltaDecay, "exp(A_log) times softplus", "-exp(A_log) times it"}};
    } else if (!scaled && isScaledSoftplus(reading, *opened)) {
      scaled = {value, {Reason::gatedDeltaDecay, "a softplus times what is no exponential", "-exp(A_log) times it"}};
    }
    if (miss) {
      (miss->reason == Reason::gatedDeltaDecay ? seesDecay : seesConvolution) = true;
      seesNorm = seesNorm || miss->reason == Reason::gatedDeltaNorm;
      if (!fault)
        fault = {value, *miss};
    }
  }
  positive = positive || !seesNorm ? positive : scaled;
  if (positive && decays.empty() && !seesDecay) {
    seesDecay = true;
    fault = fault ? fault : positive;
  }
}

/// Channels [first, first + count) of an expression.
Expr GatedDeltaRaiser::part(const Expr &whole, int64_t first, int64_t count) {
  std::optional<Expr> part = algebra.substitute(whole, [&](Var var) {
    if (var != gated::channel)
      return sameVar(var);
    Index index = algebra::wholeVar(var, count);
    index.offset = first;
    return index;
  });
  return part.value_or(Expr());
}

/// A value as an expression of these variables, whose elements it has in their order; and its indices.
std::optional<std::pair<Expr, Indices>> GatedDeltaRaiser::readAs(Value value, ArrayRef<VarSize> order) {
  SmallVector<Size, 4> extents = reading.sizes(value);
  Index place;
  Size count = 1, stride = 1;
  for (auto [var, extent] : llvm::reverse(order)) {
    std::optional<Size> next = algebra.sizes.multiply(count, extent);
    if (!next || !addScaled(algebra.sizes, place, algebra::wholeVar(var, extent), count))
      return std::nullopt;
    count = *next;
  }
  normalise(algebra.sizes, place);
  Indices at(extents.size());
  for (size_t dim = extents.size(); dim-- > 0;) {
    std::optional<Index> digit = extract(algebra.sizes, place, stride, extents[dim]);
    std::optional<Size> next = algebra.sizes.multiply(stride, extents[dim]);
    if (!digit || !next)
      return std::nullopt;
    at[dim] = *digit;
    stride = *next;
  }
  std::optional<Expr> expr =
      stride == count ? algebra.substitute(reading.of(value), [&](Var var) { return at[var]; }) : std::nullopt;
  return expr ? std::optional(std::pair(*expr, at)) : std::nullopt;
}

/// Whether two convolutions are one of the channels of both.
bool GatedDeltaRaiser::isAlike(const ActivatedConvolution &a, const ActivatedConvolution &b) {
  return a.taps == b.taps && a.batch == b.batch && a.tokens == b.tokens && a.bias.empty() == b.bias.empty() &&
         isSame(reading, a.starts, b.starts) && a.left.rows == b.left.rows;
}

/// The alpha of a decay in the sequences and tokens of a convolution: where it has them as one row, that is cut
/// in either order.
std::vector<Decay::Alpha> GatedDeltaRaiser::alphasOf(const Decay &decay, const ActivatedConvolution &conv) {
  std::vector<Decay::Alpha> found;
  for (const Decay::Alpha &own : decay.alphas) {
    if (own.batch == conv.batch && own.tokens == conv.tokens) {
      found.push_back(own);
      continue;
    }
    if (own.batch != Size(1) || algebra.sizes.multiply(conv.batch, conv.tokens) != own.tokens)
      continue;
    for (bool isTokenFirst : {false, true}) {
      Index row;
      addScaled(algebra.sizes, row, algebra::wholeVar(gated::batch, conv.batch), isTokenFirst ? Size(1) : conv.tokens);
      addScaled(algebra.sizes, row, algebra::wholeVar(gated::token, conv.tokens), isTokenFirst ? conv.batch : Size(1));
      normalise(algebra.sizes, row);
      auto inRow = [&](Var var) { return var == gated::token ? row : sameVar(var); };
      std::optional<Expr> alpha = algebra.substitute(own.alpha, inRow), whole = algebra.substitute(own.whole, inRow);
      if (alpha && whole)
        found.push_back({*alpha, *whole, conv.batch, conv.tokens});
    }
  }
  return found;
}

/// The front end whose parts are all channels of `whole`, in the order of the op's.
std::optional<Front> GatedDeltaRaiser::findInside(const ActivatedConvolution &q, Value whole, bool isTokenFirst) {
  std::optional<Size> count = 1, rows = algebra.sizes.multiply(q.batch, q.tokens);
  SmallVector<Size, 4> sizes = reading.sizes(whole);
  // One sequence is in both orders: it stays as it lies.
  if (!isTokenFirst && q.batch == Size(1) && sizes.size() == 3 && sizes[0] == q.tokens)
    return std::nullopt;
  for (Size size : sizes)
    count = count ? algebra.sizes.multiply(*count, size) : std::nullopt;
  std::optional<Size> width = count && rows ? algebra.sizes.divide(*count, *rows) : std::nullopt;
  const int64_t qc = q.channels;
  if (!width || !width->isNumber() || width->number() <= 2 * qc)
    return std::nullopt;
  SmallVector<VarSize> order = {{gated::batch, q.batch}, {gated::token, q.tokens}, {gated::channel, *width}};
  if (isTokenFirst)
    std::swap(order[0], order[1]);
  auto read = readAs(whole, order);
  if (!read || !isSame(reading, part(read->first, 0, qc), q.x))
    return std::nullopt;
  auto isPart = [&](const Expr &expr, int64_t first, int64_t count) {
    return isSame(reading, part(read->first, first, count), expr);
  };
  auto k = llvm::find_if(activated, [&](const ActivatedConvolution &k) {
    return k.eps == q.eps && k.headSize == q.headSize && k.channels == qc && isAlike(k, q) && isPart(k.x, qc, qc);
  });
  if (k == activated.end())
    return std::nullopt;
  for (const Decay &decay : decays) {
    const int64_t heads = decay.heads, vc = (width->number() - 2 * qc - 2 * heads) / 2, convolved = 2 * qc + vc;
    bool fits = vc > 0 && convolved + vc + 2 * heads == width->number() && vc % heads == 0;
    std::vector<Decay::Alpha> alphas = alphasOf(decay, q);
    auto alpha =
        llvm::find_if(alphas, [&](const auto &alpha) { return isPart(alpha.alpha, width->number() - heads, heads); });
    auto v = llvm::find_if(activated, [&](const ActivatedConvolution &v) {
      return !v.eps && v.channels == vc && isAlike(v, q) && isPart(v.x, 2 * qc, vc);
    });
    if (!fits || v == activated.end() || alpha == alphas.end())
      continue;
    Source source{{{Reading::Found{whole, read->second, 1}, width->number()}}};
    std::optional<int64_t> keyHeads = keyHeadsOf(q, *k, heads);
    if (!keyHeads)
      continue;
    Front front{&q, &*k, &*v, &decay, alpha->whole, *keyHeads, q.batch, q.tokens, {}, source, isTokenFirst, {}};
    int64_t first = 0;
    for (int64_t count : {qc, qc, vc, vc, heads, heads}) {
      front.inputs.push_back({part(read->first, first, count), count});
      first += count;
    }
    return front;
  }
  return std::nullopt;
}

/// A value whose dimensions of more than one element are of these sizes, sequences before tokens or behind them, as an
/// expression of the places that belong to the sizes.
static std::optional<Expr> readIn(Reading &reading, Value value, ArrayRef<std::pair<Index, Size>> places) {
  SmallVector<Size, 4> sizes = reading.sizes(value);
  SmallVector<std::pair<Index, Size>, 4> order(places);
  for (bool isSwapped : {false, true}) {
    if (isSwapped)
      std::swap(order[0], order[1]);
    Indices at(sizes.size());
    size_t next = 0;
    for (auto [index, size] : llvm::zip(at, sizes)) {
      while (next < order.size() && order[next].second == Size(1))
        ++next;
      if (size == Size(1))
        continue;
      if (next == order.size() || order[next].second != size)
        break;
      index = order[next++].first;
    }
    while (next < order.size() && order[next].second == Size(1))
      ++next;
    const bool isWhole = llvm::count_if(at, [](const Index &index) { return !index.pieces.empty(); }) ==
                         llvm::count_if(sizes, [](Size size) { return size != Size(1); });
    if (next == order.size() && isWhole)
      return reading.algebra().substitute(reading.of(value), [&](Var var) { return at[var]; });
  }
  return std::nullopt;
}

/// z: what has the sizes of v in its heads and is none of q, k and v.
std::optional<Expr> GatedDeltaRaiser::findGate(const Front &front) {
  const std::pair<Index, Size> places[] = {
      {algebra::wholeVar(gated::batch, front.batch), front.batch},
      {algebra::wholeVar(gated::token, front.tokens), front.tokens},
      {strided(gated::channel, front.valueSize(), front.heads()), front.heads()},
      {strided(gated::channel, 1, front.valueSize()), front.valueSize()},
  };
  for (Value value : values) {
    std::optional<Expr> z = algebra::singleFactor(reading.of(value)) ? readIn(reading, value, places) : std::nullopt;
    const algebra::Factor *factor = z ? algebra::singleFactor(*z) : nullptr;
    bool isValue = factor && (*z)[0].coefficient == 1 &&
                   (factor->node()->kind == algebra::Node::Base || factor->node()->isReduce("sum"));
    if (isValue && !isSame(reading, *z, front.v->x))
      return z;
  }
  return std::nullopt;
}

/// The argument of a sigmoid of one number for each head.
std::optional<Expr> GatedDeltaRaiser::findBeta(const Front &front) {
  const std::pair<Index, Size> places[] = {
      {algebra::wholeVar(gated::batch, front.batch), front.batch},
      {algebra::wholeVar(gated::token, front.tokens), front.tokens},
      {algebra::wholeVar(gated::channel, front.heads()), front.heads()},
  };
  for (Value value : values) {
    std::optional<Expr> beta = algebra::singleFactor(reading.of(value)) ? readIn(reading, value, places) : std::nullopt;
    const algebra::Factor *factor = beta ? algebra::singleFactor(*beta) : nullptr;
    if (factor && factor->halves == 2 && factor->node()->isApply("sigmoid"))
      return algebra.part(factor->element);
  }
  return std::nullopt;
}

/// Whether some of the channels that are convolved are those of other heads.
bool GatedDeltaRaiser::contains(const ActivatedConvolution &all, const ActivatedConvolution &heads) {
  const int64_t step = heads.eps ? heads.headSize : std::gcd(all.channels, heads.channels);
  for (int64_t first = 0; first + heads.channels <= all.channels; first += step)
    if (isSame(reading, part(all.x, first, heads.channels), heads.x))
      return true;
  return false;
}

/// The front end of parts that are not in one tensor, or not in the order of the op's. Each result is computed from its
/// own part, so that it does not matter which part is taken with which.
std::optional<Front> GatedDeltaRaiser::findApart(const ActivatedConvolution &q) {
  auto isLike = [&](const ActivatedConvolution &other) {
    return !used.contains(other.node) && other.node != q.node && isAlike(other, q);
  };
  auto isPartOfQ = [&](const ActivatedConvolution &k) {
    return k.eps == q.eps && k.channels < q.channels && contains(q, k);
  };
  if (llvm::any_of(activated, isPartOfQ)) // q and k together
    return std::nullopt;
  auto isApart = [&](const ActivatedConvolution &a, const ActivatedConvolution &b) {
    return !contains(a, b) && (q.eps || !contains(b, a));
  };
  auto k = llvm::find_if(activated, [&](const ActivatedConvolution &k) {
    return isLike(k) && k.eps == q.eps && k.headSize == q.headSize && k.channels == q.channels;
  });
  // Without a norm, any layer with a convolution and a decay would miss something. Heads are looked at last.
  auto miss = [&](StringRef part) { missing = q.eps && missing != kRepeated ? part : missing; };
  miss("a norm of other heads for k");
  if (k == activated.end())
    return std::nullopt;
  miss("g = -exp(A_log) * softplus(alpha + dt_bias) of its tokens");
  for (const Decay &decay : decays) {
    std::vector<Decay::Alpha> alphas = alphasOf(decay, q);
    auto v = llvm::find_if(activated, [&](const ActivatedConvolution &v) {
      return isLike(v) && v.node != k->node && !v.eps && v.channels % decay.heads == 0 && isApart(v, q) &&
             isApart(v, *k);
    });
    if (alphas.empty())
      continue;
    miss("v, a SiLU of a convolution with as many taps");
    if (v == activated.end())
      continue;
    miss("beta, a sigmoid");
    const Decay::Alpha &alpha = alphas.front();
    Front front{&q, &*k, &*v, &decay, alpha.whole, 1, q.batch, q.tokens, {}, {}, false, {}};
    std::optional<Expr> z = findGate(front), beta = findBeta(front);
    if (!beta)
      continue;
    std::optional<int64_t> keyHeads = keyHeadsOf(q, *k, decay.heads);
    if (!keyHeads) {
      missing = kRepeated;
      continue;
    }
    front.keyHeads = *keyHeads;
    const int64_t heads = decay.heads;
    front.inputs = {{q.x, q.channels}, {k->x, q.channels},  {v->x, v->channels}, {z ? *z : v->x, v->channels},
                    {*beta, heads},    {alpha.alpha, heads}};
    auto add = [&](ArrayRef<Part> parts) {
      std::optional<Source> source =
          sourceOf(parts, {{gated::batch, q.batch}, {gated::token, q.tokens}, {gated::channel, 0}},
                   func.getBody().back().getTerminator());
      if (source)
        llvm::append_range(front.source.parts, source->parts);
      return source.has_value();
    };
    ArrayRef<Part> inputs = front.inputs;
    bool isStored = add(z ? inputs : inputs.take_front(kGate));
    if (!z) {
      front.source.gateAt = front.source.parts.size();
      front.source.gateChannels = v->channels;
      isStored = isStored && add(inputs.drop_front(kGate + 1));
    }
    if (!isStored) {
      miss(kStored);
      continue;
    }
    return front;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// All of a function
//===----------------------------------------------------------------------===//

void GatedDeltaRaiser::decline(Operation *at, Reason reason, const Twine &found, const Twine &needed) {
  sites.decline(kKind, {reason, at, found.str(), needed.str(), {}});
}

bool GatedDeltaRaiser::take(std::optional<Front> front) {
  if (!front)
    return false;
  missing = kRepeated;
  if (!findTargets(*front))
    return false;
  missing = kStored;
  if (!build(*front))
    return false;
  for (const ActivatedConvolution *conv : {front->q, front->k, front->v})
    used.insert(conv->node);
  return true;
}

bool GatedDeltaRaiser::run() {
  readValues();
  auto mayBegin = [&](const ActivatedConvolution &q) {
    return q.eps.has_value() == seesNorm && !used.contains(q.node) && sites.mayTake();
  };
  for (const ActivatedConvolution &q : activated)
    for (Value whole : values)
      for (bool isTokenFirst : {false, true})
        if (mayBegin(q))
          take(findInside(q, whole, isTokenFirst));
  const bool isInside = !used.empty() || !missing.empty();
  for (const ActivatedConvolution &q : activated)
    if (!isInside && mayBegin(q))
      take(findApart(q));
  if (!used.empty())
    return true;
  // One of both alone is another layer.
  const bool hasConvolution = seesConvolution || !activated.empty(), hasDecay = seesDecay || !decays.empty();
  // Where all is there but the repeated heads, what else a program does with its parts is no fault of them.
  if (fault && hasConvolution && hasDecay && missing != kRepeated)
    decline(fault->first.getDefiningOp(), fault->second.reason, fault->second.found, fault->second.needed);
  else if (hasConvolution && (hasDecay || seesNorm))
    sites.note(func, "gated-delta-parts",
               "found " + Twine(seesNorm ? "the norm of q or k" : "SiLU") + " behind a causal convolution, but not " +
                   (missing.empty() ? StringRef(kNorms) : missing));
  return false;
}

/// Whether a function moves tokens, or has what a softplus consists of.
static bool mayHaveFront(func::FuncOp func) {
  auto isPart = [](Operation *op) {
    bool found = isa<tensor::PadOp, ShiftOp, SoftplusOp, math::Log1pOp, math::LogOp>(op);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  };
  return func.walk(isPart).wasInterrupted();
}

bool mhc::raiseGatedDelta(func::FuncOp func, Sites &sites) {
  if (!mayHaveFront(func))
    return false;
  Reading reading(func, algebra::Rounding::ignored, projections(func), /*chooses=*/true);
  return GatedDeltaRaiser(func, reading, sites).run();
}
