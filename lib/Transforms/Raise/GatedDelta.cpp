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
#include "mlir/Dialect/Tensor/IR/Tensor.h"

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
  for (Value value : values) {
    std::optional<Opened> opened = openValue(reading, value);
    if (!opened)
      continue;
    std::optional<GatedFault> miss;
    if (known.contains(opened->node)) {
      activatedValues.push_back({value, *opened});
    } else if (std::optional<ActivatedConvolution> conv = matchActivated(reading, *opened, miss)) {
      known.insert(opened->node);
      activatedValues.push_back({value, *opened});
      conv->value = value;
      activated.push_back(*conv);
    } else if (std::optional<Decay> decay = matchDecay(reading, *opened, miss)) {
      decays.push_back(*decay);
    }
    if (miss) {
      (miss->reason == Reason::gatedDeltaDecay ? seesDecay : seesConvolution) = true;
      if (!fault)
        fault = {value, *miss};
    }
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

/// The front end whose parts are all channels of `whole`, in the order of the op's.
std::optional<Front> GatedDeltaRaiser::findInside(const ActivatedConvolution &q, Value whole, bool isTokenFirst) {
  std::optional<Size> count = 1, rows = algebra.sizes.multiply(q.batch, q.tokens);
  for (Size size : reading.sizes(whole))
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
    return k.eps == q.eps && k.headSize == q.headSize && k.channels == qc && k.taps == q.taps && isPart(k.x, qc, qc);
  });
  if (k == activated.end())
    return std::nullopt;
  for (const Decay &decay : decays) {
    const int64_t heads = decay.heads, vc = (width->number() - 2 * qc - 2 * heads) / 2, convolved = 2 * qc + vc;
    bool fits = vc > 0 && convolved + vc + 2 * heads == width->number() && vc % heads == 0 && heads % q.heads() == 0;
    auto isAlpha = [&](const auto &alpha) { return isPart(alpha.alpha, width->number() - heads, heads); };
    auto v = llvm::find_if(activated, [&](const ActivatedConvolution &v) {
      return !v.eps && v.channels == vc && v.taps == q.taps && isPart(v.x, 2 * qc, vc);
    });
    if (!fits || v == activated.end() || llvm::none_of(decay.alphas, isAlpha))
      continue;
    Source source{{{Reading::Found{whole, read->second, 1}, width->number()}}};
    Front front{&q, &*k, &*v, &decay, q.batch, q.tokens, {}, source, isTokenFirst, {}};
    int64_t first = 0;
    for (int64_t count : {qc, qc, vc, vc, heads, heads}) {
      front.inputs.push_back({part(read->first, first, count), count});
      first += count;
    }
    return front;
  }
  return std::nullopt;
}

/// z: what has the sizes of v in its heads and is none of q, k and v.
std::optional<Expr> GatedDeltaRaiser::findGate(const Front &front) {
  for (Value value : values) {
    SmallVector<Size, 4> sizes = {front.batch, front.tokens, front.heads(), front.valueSize()};
    if (reading.sizes(value) != sizes || !algebra::singleFactor(reading.of(value)))
      continue;
    std::optional<Expr> z = algebra.substitute(reading.of(value), [&](Var var) {
      if (var < 2)
        return algebra::wholeVar(var == 0 ? gated::batch : gated::token, sizes[var]);
      Index index;
      index.pieces.push_back({gated::channel, var == 2 ? sizes[3] : Size(1), sizes[var], 1});
      return index;
    });
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
  for (Value value : values) {
    const algebra::Factor *factor = algebra::singleFactor(reading.of(value));
    if (!factor || reading.of(value)[0].coefficient != 1 || !factor->node()->isApply("sigmoid"))
      continue;
    SmallVector<Size, 4> wanted = {front.batch, front.tokens, front.heads()};
    if (reading.sizes(value) != wanted)
      continue;
    std::optional<Expr> b = algebra.part(factor->element);
    b = b ? algebra.substitute(*b,
                               [&](Var var) {
                                 const Var roles[] = {gated::batch, gated::token, gated::channel};
                                 return algebra::wholeVar(roles[var], wanted[var]);
                               })
          : b;
    if (b)
      return b;
  }
  return std::nullopt;
}

/// Whether some of the channels that are convolved are those of other heads.
bool GatedDeltaRaiser::contains(const ActivatedConvolution &all, const ActivatedConvolution &heads) {
  for (int64_t first = 0; first + heads.channels <= all.channels; first += heads.headSize)
    if (isSame(reading, part(all.x, first, heads.channels), heads.x))
      return true;
  return false;
}

/// The front end of parts that are not in one tensor, or not in the order of the op's. Each result is computed from its
/// own part, so that it does not matter which part is taken with which.
std::optional<Front> GatedDeltaRaiser::findApart(const ActivatedConvolution &q) {
  auto isLike = [&](const ActivatedConvolution &other) {
    return !used.contains(other.node) && other.node != q.node && other.taps == q.taps && other.batch == q.batch &&
           other.tokens == q.tokens && other.bias.empty() == q.bias.empty();
  };
  auto isPartOfQ = [&](const ActivatedConvolution &k) { return k.eps && k.channels < q.channels && contains(q, k); };
  if (llvm::any_of(activated, isPartOfQ)) // q and k, normed together
    return std::nullopt;
  auto k = llvm::find_if(activated, [&](const ActivatedConvolution &k) {
    return isLike(k) && k.eps == q.eps && k.headSize == q.headSize && k.channels == q.channels;
  });
  missing = "a norm of other heads for k";
  if (k == activated.end())
    return std::nullopt;
  missing = "g = -exp(A_log) * softplus(alpha + dt_bias) of its tokens";
  for (const Decay &decay : decays) {
    auto alpha = llvm::find_if(
        decay.alphas, [&](const Decay::Alpha &alpha) { return alpha.batch == q.batch && alpha.tokens == q.tokens; });
    auto v = llvm::find_if(activated, [&](const ActivatedConvolution &v) {
      return isLike(v) && !v.eps && v.channels % decay.heads == 0 && !contains(v, q) && !contains(v, *k);
    });
    if (alpha == decay.alphas.end() || decay.heads % q.heads() != 0)
      continue;
    missing = "v, a SiLU of a convolution with as many taps";
    if (v == activated.end())
      continue;
    missing = "beta, a sigmoid, or z of the size of v";
    Front front{&q, &*k, &*v, &decay, q.batch, q.tokens, {}, {}, false, {}};
    std::optional<Expr> z = findGate(front), beta = findBeta(front);
    if (!z || !beta)
      continue;
    const int64_t heads = decay.heads;
    front.inputs = {{q.x, q.channels}, {k->x, q.channels}, {v->x, v->channels},
                    {*z, v->channels}, {*beta, heads},     {alpha->alpha, heads}};
    std::optional<Source> source =
        sourceOf(front.inputs, {{gated::batch, q.batch}, {gated::token, q.tokens}, {gated::channel, 0}},
                 func.getBody().back().getTerminator());
    if (!source)
      continue;
    front.source = *source;
    return front;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Values that the results replace
//===----------------------------------------------------------------------===//

/// An expression of channels as one of heads of channels.
std::optional<Expr> GatedDeltaRaiser::inHeads(const Expr &expr, int64_t heads, int64_t size) {
  return algebra.substitute(expr, [&](Var var) {
    if (var != gated::channel)
      return sameVar(var);
    Index index;
    if (heads != 1)
      index.pieces.push_back({gated::channel, 1, heads, size});
    if (size != 1)
      index.pieces.push_back({gated::within, 1, size, 1});
    return index;
  });
}

/// All values of an expression, as a result of the dimensions `dims` has their elements.
bool GatedDeltaRaiser::addFound(const std::optional<Expr> &expr, ArrayRef<DimVars> dims, std::vector<Target> &targets) {
  for (const Reading::Found &found : expr ? reading.find(*expr) : std::vector<Reading::Found>()) {
    if (found.factor != 1)
      continue;
    Target target{found.value, {}, ownDims(reading, found.value)};
    for (const DimVars &dim : dims) {
      Index &index = target.from.emplace_back();
      for (auto [own, at] : llvm::enumerate(found.at))
        for (const algebra::Piece &piece : at.pieces)
          if (!dim.empty() && piece.var == dim[0].first)
            index.pieces.push_back({static_cast<Var>(own), piece.multiplier, piece.extent, piece.stride});
      normalise(algebra.sizes, index);
    }
    targets.push_back(target);
  }
  return !targets.empty();
}

/// Values that have each head of q or k as often as there are heads of v, next to each other: repeated the other way
/// round they are other heads.
bool GatedDeltaRaiser::addHeads(const ActivatedConvolution &heads, const Front &front, std::vector<Target> &targets) {
  for (auto &[value, opened] : activatedValues) {
    if (opened.node != heads.node)
      continue;
    auto at = [&](std::optional<Var> var) { return var ? opened.at[*var] : Index(); };
    Index head = at(heads.headVar());
    const int64_t times = front.repeats();
    auto isRead = [&](Var var) {
      return llvm::any_of(opened.at, [&](const Index &index) {
        return llvm::any_of(index.pieces, [&](const algebra::Piece &piece) { return piece.var == var; });
      });
    };
    SmallVector<IndexVars> own = ownDims(reading, value);
    auto repeat = llvm::find_if(own, [&](const IndexVars &dim) {
      return !dim.empty() && dim[0].second == Size(times) && !isRead(dim[0].first) &&
             llvm::all_of(head.pieces, [&](const algebra::Piece &piece) { return piece.var < dim[0].first; });
    });
    if (times != 1 && repeat != own.end()) {
      for (algebra::Piece &piece : head.pieces)
        piece.multiplier = *algebra.sizes.multiply(piece.multiplier, times);
      head.pieces.push_back({(*repeat)[0].first, 1, times, 1});
      normalise(algebra.sizes, head);
    } else if (times != 1) {
      std::optional<Size> stride =
          head.pieces.size() == 1 ? algebra.sizes.divide(head.pieces[0].stride, times) : std::nullopt;
      if (!stride)
        continue;
      head.pieces[0].stride = *stride;
      head.pieces[0].extent = front.heads();
    }
    Indices from = {at(heads.batchVar), at(heads.tokenVar), head, at(heads.channelVars.back().first)};
    targets.push_back({value, from, own, opened.coefficient / heads.coefficient});
  }
  return !targets.empty();
}

bool GatedDeltaRaiser::findTargets(Front &front) {
  const int64_t heads = front.heads(), size = front.valueSize();
  SmallVector<DimVars> perHead = {dimOf(gated::batch, front.batch), dimOf(gated::token, front.tokens),
                                  dimOf(gated::channel, heads)};
  SmallVector<DimVars> perChannel = perHead;
  perChannel.push_back(dimOf(gated::within, size));
  auto &targets = front.targets;
  addFound(inHeads(front.inputs[kGate].first, heads, size), perChannel, targets[kGate]);
  const Expr *alpha = &front.inputs.back().first;
  auto whole = llvm::find_if(front.decay->alphas, [&](const auto &own) { return isSame(reading, own.alpha, *alpha); });
  return addHeads(*front.q, front, targets[kQuery]) && addHeads(*front.k, front, targets[kKey]) &&
         addFound(inHeads(front.v->expr, heads, size), perChannel, targets[kValue]) &&
         addFound(algebra.apply("sigmoid", {front.inputs[kBeta].first}), perHead, targets[kBeta]) &&
         addFound(whole->whole, perHead, targets[kDecay]);
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
  missing = "each head of q and k repeated in a row, as many as there are of v";
  if (!findTargets(*front) || !build(*front))
    return false;
  for (const ActivatedConvolution *conv : {front->q, front->k, front->v})
    used.insert(conv->node);
  return true;
}

bool GatedDeltaRaiser::run() {
  readValues();
  auto mayBegin = [&](const ActivatedConvolution &q) { return q.eps && !used.contains(q.node) && sites.mayTake(); };
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
  bool isLike = (seesConvolution || !activated.empty()) && (seesDecay || !decays.empty());
  if (fault && isLike)
    decline(fault->first.getDefiningOp(), fault->second.reason, fault->second.found, fault->second.needed);
  else if (!missing.empty() && isLike)
    sites.note(func, "gated-delta-parts",
               "found the norm of q or k behind a causal convolution, but not " + Twine(missing));
  return false;
}

/// The value that was cut, cast and permuted.
static Value rootOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && (isa<tensor::ExtractSliceOp>(op) || showsOperand(op))) {
    value = op->getOperand(0);
    op = value.getDefiningOp();
  }
  return value;
}

/// The value behind the views and casts that are its one use: where sequences and tokens are dimensions of their own,
/// they can be told apart.
static Value shapedFrom(Value value) {
  while (value.hasOneUse() && isa<tensor::ExpandShapeOp, CastOpInterface>(*value.user_begin()))
    value = value.user_begin()->getResult(0);
  return value;
}

/// Values that are no part of a front end: products, and others whose tokens are moved, such as a product with a bias.
static llvm::DenseSet<Value> projections(func::FuncOp func, bool &movesTokens) {
  llvm::DenseSet<Value> made;
  movesTokens = false;
  func.walk([&](Operation *op) {
    if (isa<MatmulOp, BatchMatmulOp>(op))
      made.insert(shapedFrom(op->getResult(0)));
    if (!isa<tensor::PadOp, ShiftOp>(op))
      return;
    movesTokens = true;
    made.insert(shapedFrom(rootOf(op->getOperand(0))));
  });
  return made;
}

bool mhc::raiseGatedDelta(func::FuncOp func, Sites &sites) {
  bool movesTokens;
  llvm::DenseSet<Value> atoms = projections(func, movesTokens);
  if (!movesTokens)
    return false;
  Reading reading(func, algebra::Rounding::ignored, std::move(atoms));
  return GatedDeltaRaiser(func, reading, sites).run();
}
