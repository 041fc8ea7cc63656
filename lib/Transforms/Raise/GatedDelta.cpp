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
      seesNorm = seesNorm || conv->eps;
      activated.push_back(*conv);
    } else if (std::optional<Decay> decay = matchDecay(reading, *opened, miss)) {
      decays.push_back(*decay);
    }
    if (miss) {
      (miss->reason == Reason::gatedDeltaDecay ? seesDecay : seesConvolution) = true;
      seesNorm = seesNorm || miss->reason == Reason::gatedDeltaNorm;
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

/// Whether two convolutions are one of the channels of both.
bool GatedDeltaRaiser::isAlike(const ActivatedConvolution &a, const ActivatedConvolution &b) {
  return a.taps == b.taps && a.batch == b.batch && a.tokens == b.tokens && a.bias.empty() == b.bias.empty() &&
         isSame(reading, a.starts, b.starts) && a.left.rows == b.left.rows;
}

/// The heads of q and k; nothing where there are none of which each serves as many as the others. Without a norm, heads
/// are told by how often values have them: the fewest are what the program has last.
std::optional<int64_t> GatedDeltaRaiser::keyHeadsOf(const ActivatedConvolution &q, const ActivatedConvolution &k,
                                                    int64_t heads) {
  if (q.eps)
    return heads % q.heads() == 0 ? std::optional(q.heads()) : std::nullopt;
  for (int64_t keyHeads = 1; keyHeads <= heads; ++keyHeads) {
    if (heads % keyHeads != 0 || q.channels % keyHeads != 0)
      continue;
    if (!headsIn(q, keyHeads, heads).empty() && !headsIn(k, keyHeads, heads).empty())
      return keyHeads;
  }
  return std::nullopt;
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
    auto isAlpha = [&](const auto &alpha) { return isPart(alpha.alpha, width->number() - heads, heads); };
    auto v = llvm::find_if(activated, [&](const ActivatedConvolution &v) {
      return !v.eps && v.channels == vc && isAlike(v, q) && isPart(v.x, 2 * qc, vc);
    });
    if (!fits || v == activated.end() || llvm::none_of(decay.alphas, isAlpha))
      continue;
    Source source{{{Reading::Found{whole, read->second, 1}, width->number()}}};
    std::optional<int64_t> keyHeads = keyHeadsOf(q, *k, heads);
    if (!keyHeads)
      continue;
    Front front{&q, &*k, &*v, &decay, *keyHeads, q.batch, q.tokens, {}, source, isTokenFirst, {}};
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
  // Without a norm, any layer with a convolution and a decay would miss something.
  auto miss = [&](StringRef part) { missing = q.eps ? part : missing; };
  miss("a norm of other heads for k");
  if (k == activated.end())
    return std::nullopt;
  miss("g = -exp(A_log) * softplus(alpha + dt_bias) of its tokens");
  for (const Decay &decay : decays) {
    auto alpha = llvm::find_if(
        decay.alphas, [&](const Decay::Alpha &alpha) { return alpha.batch == q.batch && alpha.tokens == q.tokens; });
    auto v = llvm::find_if(activated, [&](const ActivatedConvolution &v) {
      return isLike(v) && v.node != k->node && !v.eps && v.channels % decay.heads == 0 && isApart(v, q) &&
             isApart(v, *k);
    });
    if (alpha == decay.alphas.end())
      continue;
    miss("v, a SiLU of a convolution with as many taps");
    if (v == activated.end())
      continue;
    miss("beta, a sigmoid, or z of the size of v");
    Front front{&q, &*k, &*v, &decay, 1, q.batch, q.tokens, {}, {}, false, {}};
    std::optional<Expr> z = findGate(front), beta = findBeta(front);
    if (!z || !beta)
      continue;
    missing = kRepeated;
    std::optional<int64_t> keyHeads = keyHeadsOf(q, *k, decay.heads);
    if (!keyHeads)
      continue;
    front.keyHeads = *keyHeads;
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

/// Extends a digit by the one of `times` values below it, where no index reads that.
static bool addDigitBelow(ArrayRef<Index> at, algebra::Piece &digit, int64_t times) {
  if (!digit.stride.isNumber() || digit.stride.number() % times != 0)
    return false;
  const int64_t end = digit.stride.number(), begin = end / times;
  auto reads = [&](const algebra::Piece &piece) {
    return piece.var == digit.var && piece.stride.isNumber() && piece.extent.isNumber() &&
           piece.stride.number() < end && piece.stride.number() * piece.extent.number() > begin;
  };
  if (llvm::any_of(at, [&](const Index &index) { return llvm::any_of(index.pieces, reads); }))
    return false;
  digit.stride = begin;
  digit.extent = digit.extent.number() * times;
  return true;
}

/// Values that have each of `keyHeads` heads as often as there are heads of v for it, next to each other: repeated the
/// other way round they are other heads.
std::vector<Target> GatedDeltaRaiser::headsIn(const ActivatedConvolution &conv, int64_t keyHeads, int64_t heads) {
  std::vector<Target> targets;
  const int64_t size = conv.channels / keyHeads, times = heads / keyHeads;
  for (auto &[value, opened] : activatedValues) {
    if (opened.node != conv.node)
      continue;
    auto at = [&](std::optional<Var> var) { return var ? opened.at[*var] : Index(); };
    Index whole;
    int64_t stride = conv.channels;
    for (auto [var, extent] : conv.channelVars)
      addScaled(algebra.sizes, whole, at(var), stride /= extent);
    normalise(algebra.sizes, whole);
    std::optional<Index> head = extract(algebra.sizes, whole, size, keyHeads);
    std::optional<Index> within = extract(algebra.sizes, whole, 1, size);
    if (!head || !within)
      continue;
    auto isRead = [&](Var var) {
      return llvm::any_of(opened.at, [&](const Index &index) {
        return llvm::any_of(index.pieces, [&](const algebra::Piece &piece) { return piece.var == var; });
      });
    };
    SmallVector<IndexVars> own = ownDims(reading, value);
    auto repeat = llvm::find_if(own, [&](const IndexVars &dim) {
      return !dim.empty() && dim[0].second == Size(times) && !isRead(dim[0].first) &&
             llvm::all_of(head->pieces, [&](const algebra::Piece &piece) { return piece.var < dim[0].first; });
    });
    if (times != 1 && repeat != own.end()) {
      for (algebra::Piece &piece : head->pieces)
        piece.multiplier = *algebra.sizes.multiply(piece.multiplier, times);
      head->pieces.push_back({(*repeat)[0].first, 1, times, 1});
      normalise(algebra.sizes, *head);
    } else if (times != 1) {
      if (head->pieces.size() != 1 || !addDigitBelow(opened.at, head->pieces[0], times))
        continue;
    }
    Indices from = {at(conv.batchVar), at(conv.tokenVar), *head, *within};
    targets.push_back({value, from, own, opened.coefficient / conv.coefficient});
  }
  return targets;
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
  targets[kQuery] = headsIn(*front.q, front.keyHeads, heads);
  targets[kKey] = headsIn(*front.k, front.keyHeads, heads);
  return !targets[kQuery].empty() && !targets[kKey].empty() &&
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
  missing = kRepeated;
  if (!findTargets(*front) || !build(*front))
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
  bool isLike = (seesConvolution || !activated.empty()) && (seesDecay || !decays.empty());
  if (fault && isLike)
    decline(fault->first.getDefiningOp(), fault->second.reason, fault->second.found, fault->second.needed);
  else if (!missing.empty() && isLike)
    sites.note(func, "gated-delta-parts",
               "found " + Twine(seesNorm ? "the norm of q or k" : "SiLU") + " behind a causal convolution, but not " +
                   missing);
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

/// The values that are cut, joined and permuted.
static void addRoots(Value value, llvm::DenseSet<Value> &roots) {
  Value root = rootOf(value);
  Operation *op = root.getDefiningOp();
  if (!isa_and_nonnull<tensor::ConcatOp, tensor::InsertSliceOp>(op)) {
    roots.insert(shapedFrom(root));
    return;
  }
  for (Value part : op->getOperands())
    if (isa<RankedTensorType>(part.getType()))
      addRoots(part, roots);
}

/// A product, or one with a bias: all parts of a front end have it, so that one that is added to a part is another.
static Value withBias(Value product) {
  Operation *user = product.hasOneUse() ? *product.user_begin() : nullptr;
  bool hasBias = isa_and_nonnull<arith::AddFOp>(user) &&
                 llvm::any_of(user->getOperands(), [](Value part) { return part.getDefiningOp<BroadcastOp>(); });
  auto isView = [](Operation *reader) { return isa<tensor::ExtractSliceOp>(reader) || showsOperand(reader); };
  return hasBias && llvm::any_of(user->getUsers(), isView) ? user->getResult(0) : product;
}

/// Values that are no part of a front end: products, and others whose tokens are moved.
static llvm::DenseSet<Value> projections(func::FuncOp func) {
  llvm::DenseSet<Value> made;
  func.walk([&](Operation *op) {
    if (isa<MatmulOp, BatchMatmulOp>(op))
      made.insert(shapedFrom(withBias(shapedFrom(op->getResult(0)))));
    if (isa<tensor::PadOp, ShiftOp>(op))
      addRoots(op->getOperand(0), made);
  });
  return made;
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
  Reading reading(func, algebra::Rounding::ignored, projections(func));
  return GatedDeltaRaiser(func, reading, sites).run();
}
