//===- Mix.cpp - Sums over streams ----------------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//

#include "Mix.h"
#include "Places.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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

SmallVector<IndexVars> Mix::groups(Var var) const {
  IndexVars streams = {{var, stream.second}};
  if (layout == Layout::nC)
    return {tokens, streams, channels};
  return {tokens, channels, streams};
}

unsigned mhc::widthOf(Value value) { return getElementTypeOrSelf(value).getIntOrFloatBitWidth(); }

bool mhc::keepsPrecision(Value value, Value x) { return widthOf(value) <= widthOf(x); }

bool mhc::dependsOnAny(const algebra::Factor &factor, ArrayRef<Extent> vars) {
  return llvm::any_of(vars, [&](const Extent &var) { return dependsOn(factor, var.first); });
}

bool mhc::dependsOnAny(const algebra::Term &term, ArrayRef<Extent> vars) {
  return llvm::any_of(vars, [&](const Extent &var) { return dependsOn(term, var.first); });
}

std::optional<algebra::Reading::Found> mhc::findStreams(algebra::Reading &reading, const Expr &x, Operation *user,
                                                        bool stored, unsigned bits) {
  std::optional<algebra::Reading::Found> streams = nearest(reading, x, user);
  if (!streams)
    return std::nullopt;
  std::vector<algebra::Reading::Found> all = reading.find(x, user);
  auto shown = streams;
  while (shown) {
    Operation *maker = shown->value.getDefiningOp();
    Value before = maker && maker->getNumOperands() > 0 ? maker->getOperand(0) : Value();
    // Streams that are projected or mixed narrow are kept so.
    bool isKept = before && (isa<BlockArgument>(before) || !singleUser(before) || !singleUser(behindReshapes(before)) ||
                             (isa<arith::TruncFOp>(maker) && widthOf(before) <= bits));
    if (isa_and_nonnull<arith::TruncFOp>(maker) && (!isKept || areStreams(shown->value)))
      break;
    auto found = llvm::find_if(all, [&](const auto &other) { return other.value == before && other.factor == 1; });
    if (found == all.end())
      break;
    shown = *found;
    if (stored || isa<arith::TruncFOp>(maker))
      streams = shown;
  }
  // Streams that are projected are aggregated as they are projected, not as a product transposes it.
  auto isProjected = [&](const algebra::Reading::Found &other) {
    return other.factor == 1 && isProjectedOrMade(other.value) &&
           getElementTypeOrSelf(other.value) == getElementTypeOrSelf(streams->value);
  };
  auto projected = isProjected(*streams) ? all.end() : llvm::find_if(all, isProjected);
  return projected == all.end() ? streams : *projected;
}

Value mhc::buildStreams(algebra::Reading &reading, OpBuilder &builder, Operation *user, const Expr &x,
                        ArrayRef<IndexVars> groups) {
  std::optional<algebra::Reading::Found> streams = findStreams(reading, x, user);
  return streams ? buildFrom(reading, builder, user, x, *streams, groups) : Value();
}

//===----------------------------------------------------------------------===//
// The value
//===----------------------------------------------------------------------===//

/// Whether the first piece of `a` comes before that of `b` in the dimensions of a value.
static bool isBefore(algebra::Sizes &sizes, const algebra::Index &a, const algebra::Index &b) {
  const Piece &first = a.pieces.front(), &second = b.pieces.front();
  if (first.var != second.var)
    return first.var < second.var;
  std::optional<Size> end = sizes.multiply(second.stride, second.extent);
  return first.stride != second.stride && end && sizes.divides(*end, first.stride);
}

/// An expression with the rows that streams repeat in place of those streams; nothing where it names none.
static std::optional<Expr> inRows(algebra::Reading &reading, const Expr &expr) {
  bool hasRows = false;
  std::optional<Expr> rows = reading.algebra().replace(expr, [&](const algebra::Element *element) {
    const Value value = element->node->value;
    auto expand = value ? value.getDefiningOp<ExpandOp>() : ExpandOp();
    if (!expand)
      return std::optional<Expr>();
    hasRows = true;
    const algebra::Index &channel = element->at[expand.getLayout() == Layout::nC ? 2 : 1];
    return reading.algebra().substitute(reading.of(expand.getX()),
                                        [&](Var var) { return var == 0 ? element->at[0] : channel; });
  });
  return hasRows ? rows : std::nullopt;
}

MixSite::MixSite(algebra::Reading &reading, Sites &sites, Value root)
    : reading(reading), algebra(reading.algebra()), root(root), op(root.getDefiningOp()), builder(op),
      leaf(builder, op->getLoc()), sites(sites) {
  const Expr &read = reading.of(root);
  std::optional<Expr> spread = algebra.spread(read); // x + (h - 1) x
  std::optional<Expr> rows = spread || read.size() == 1 ? std::nullopt : inRows(reading, read);
  if (rows) // where only one of the two is read of the streams
    spread = algebra.spread(*rows);
  std::optional<Algebra::Closed> closed = algebra.close(spread ? *spread : read);
  if (!closed || llvm::any_of(closed->at, [](const algebra::Index &index) { return index.pieces.empty(); }))
    return;
  at = closed->at;
  Indices own;
  for (auto [var, extent] : llvm::enumerate(closed->node->dims)) {
    vars.push_back({static_cast<Var>(var), extent});
    own.push_back(algebra::wholeVar(var, extent));
  }
  expr = closed->node->kind == algebra::Node::Sum ? closed->node->parts[0]
                                                  : Algebra::of(algebra.elementAt(closed->node, own));
  expr = Algebra::scale(expr, closed->coefficient);
  llvm::stable_sort(
      vars, [&](const Extent &a, const Extent &b) { return isBefore(algebra.sizes, at[a.first], at[b.first]); });
}

Value MixSite::buildStreams(const Mix &mix) {
  Value x = algebra::buildFrom(reading, builder, op, mix.x, {mix.streams, mix.at, 1}, mix.groups());
  const bool isOpen = x && cast<RankedTensorType>(x.getType()).isDynamicDim(mix.layout == Layout::nC ? 1 : 2);
  return isOpen ? Value() : x;
}

SmallVector<IndexVars> mhc::ownDims(algebra::Reading &reading, Value value) {
  SmallVector<IndexVars> own;
  for (auto [dim, size] : llvm::enumerate(reading.sizes(value)))
    own.push_back(size == Size(1) ? IndexVars() : IndexVars{{static_cast<Var>(dim), size}});
  return own;
}

Value mhc::replaceRoot(algebra::Reading &reading, Sites &sites, OpBuilder &builder, Operation *made,
                       ArrayRef<algebra::Index> from, ArrayRef<IndexVars> own, Value root) {
  Value shaped = arrange(reading, builder, root.getLoc(), made->getResult(0), from, own);
  if (!shaped)
    return {};
  auto type = cast<RankedTensorType>(root.getType());
  shaped = LeafBuilder(builder, root.getLoc()).cast(shaped, type.getElementType());
  if (shaped.getType() != type) // sizes that one of the types leaves open
    shaped = tensor::CastOp::create(builder, root.getLoc(), type, shaped);
  if (!mayReplace(sites, made, root, shaped))
    return {};
  addPlaces(made, root);
  root.replaceAllUsesWith(shaped);
  return shaped;
}

Value mhc::finishMix(algebra::Reading &reading, Sites &sites, OpBuilder &builder, Operation *made,
                     ArrayRef<algebra::Index> from, ArrayRef<IndexVars> own, Value root, const Twine &detail) {
  Value shaped = replaceRoot(reading, sites, builder, made, from, own, root);
  if (shaped)
    takeRaised(sites, made, detail);
  return shaped;
}

std::optional<Indices> mhc::indicesIn(algebra::Sizes &sizes, ArrayRef<IndexVars> groups, ArrayRef<algebra::Index> at) {
  Indices indices;
  for (const algebra::Index &index : indicesOf(sizes, groups)) {
    std::optional<algebra::Index> moved = substitute(sizes, index, [&](Var var) { return at[var]; });
    if (!moved)
      return std::nullopt;
    indices.push_back(*moved);
  }
  return indices;
}

bool MixSite::finish(Operation *made, ArrayRef<IndexVars> groups, const Twine &detail, Value scaled) {
  std::optional<Indices> from = indicesIn(algebra.sizes, groups, at);
  if (from)
    replacement = replaceRoot(reading, sites, builder, scaled ? scaled.getDefiningOp() : made, *from,
                              ownDims(reading, root), root);
  if (replacement)
    takeRaised(sites, made, detail);
  return replacement != nullptr;
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

/// A value that an element is made of; null for none.
static Value firstValue(const algebra::Node *node, llvm::SmallPtrSetImpl<const algebra::Node *> &seen) {
  if (node->value || !seen.insert(node).second)
    return node->value;
  for (const Expr &part : node->parts)
    for (const algebra::Term &term : part)
      for (const algebra::Factor &factor : term.factors)
        if (Value value = firstValue(factor.node(), seen))
          return value;
  return {};
}

/// An element that no value of the program has: by a value that it is a part of, or is made of.
static std::string describeElement(const algebra::Factor &factor) {
  llvm::SmallPtrSet<const algebra::Node *, 16> seen;
  Value value = firstValue(factor.node(), seen);
  if (!value)
    return "an expression";
  return (factor.node()->value ? "a part of " : "an expression of ") + describe(value);
}

/// The known part of an element: the value that it is read of.
std::string MixSite::describeTerm(const algebra::Term &term) {
  std::string text = describe(term.coefficient);
  if (!term.exponent.empty())
    text += " * exp(...)";
  for (const algebra::Factor &factor : term.factors) {
    Value value = valueOf(factor);
    text += " * " + (value ? describe(value) : describeElement(factor));
  }
  return text;
}

/// Gates and residual maps, as they were found.
static bool isMap(const algebra::Node *node) {
  return node->kind == algebra::Node::Base && node->value &&
         isa_and_nonnull<GatesOp, SinkhornOp, PermutationMixOp>(node->value.getDefiningOp());
}

static bool isCoefficient(const algebra::Node *node) {
  if (node->kind != algebra::Node::Sum)
    return isMap(node);
  // With an epsilon, less another, or beside the identity
  auto isPlain = [](const algebra::Factor &factor) { return factor.at().empty() || factor.node()->isApply("equal"); };
  bool hasMap = false;
  for (const algebra::Term &term : node->parts[0]) {
    const bool isAlone = term.factors.size() == 1 && term.exponent.empty() && isCoefficient(term.factors[0].node());
    if (isAlone || llvm::any_of(term.factors, [](const algebra::Factor &factor) { return isMap(factor.node()); }))
      hasMap = true;
    else if (!term.exponent.empty() || !llvm::all_of(term.factors, isPlain))
      return false;
  }
  return hasMap;
}

Value MixSite::coefficients(const Mix &mix) {
  for (const algebra::Factor &factor : mix.weights[0].factors)
    if (isCoefficient(factor.node()))
      if (Value base = factor.node()->value ? factor.node()->value : valueOf(factor))
        return base;
  return {};
}

/// Whether an op scales a sum that other code reads as well, as a norm scales the streams: the sum has its own remarks.
static bool scalesSum(Operation *op) {
  llvm::SmallSetVector<Operation *, 8> scales;
  scales.insert(op);
  for (size_t i = 0; i < scales.size(); ++i) {
    if (!isReshape(scales[i]) && !isa<arith::MulFOp, arith::DivFOp, arith::ExtFOp, arith::TruncFOp>(scales[i]))
      continue;
    for (Value operand : scales[i]->getOperands()) {
      auto sum = operand.getDefiningOp<arith::AddFOp>();
      if (sum && !operand.hasOneUse())
        return true;
      if (Operation *maker = operand.getDefiningOp())
        scales.insert(maker);
    }
  }
  return false;
}

void MixSite::decline(StringRef kind, const Mix &mix, Reason reason, Value at, const std::string &found,
                      const std::string &needed) {
  if (scalesSum(op))
    return;
  Value weight;
  for (const algebra::Factor &factor : mix.weights[0].factors)
    weight = weight ? weight : valueOf(factor);
  MixSource source = sourceOf(mix);
  auto site = source.coefficients ? std::pair(source.coefficients, Value()) : std::pair(mix.streams, weight);
  declined.push_back({kind.str(), source, op, {reason, opAtFault(at, op), found, needed, site}});
}

void MixSite::declineWidth(StringRef kind, const Mix &mix, Reason reason, Value wider) {
  decline(kind, mix, reason, wider, describe(wider), "elements of " + describe(getElementTypeOrSelf(mix.streams)));
}

//===----------------------------------------------------------------------===//
// Tokens, streams and channels
//===----------------------------------------------------------------------===//

bool mhc::isProjectedOrMade(Value value) {
  return isa_and_nonnull<PostOp, ExpandOp>(value.getDefiningOp()) ||
         llvm::any_of(value.getUsers(), [&](Operation *user) {
           auto post = dyn_cast<PostOp>(user);
           return isa<ProjectionOp>(user) || (post && post.getX() == value) ||
                  (isReshape(user) && isProjectedOrMade(user->getResult(0)));
         });
}

llvm::SmallSetVector<Var, 4> mhc::varsOf(ArrayRef<algebra::Index> at) {
  llvm::SmallSetVector<Var, 4> vars;
  for (const algebra::Index &index : at)
    for (const Piece &piece : index.pieces)
      vars.insert(piece.var);
  return vars;
}

bool mhc::areStreams(Value value) {
  return isProjectedOrMade(value) || llvm::any_of(value.getUsers(), [](Operation *user) {
           return rearranges(user) && areStreams(user->getResult(0));
         });
}

/// Tells the variables of the streams apart, which are stored in the order of `at`.
bool MixSite::splitVars(Mix &mix, ArrayRef<algebra::Index> at) {
  auto order = varsOf(at);
  order.remove(mix.stream.first);
  auto extentOf = [&](Var var) {
    return *llvm::find_if(vars, [&](const Extent &known) { return known.first == var; });
  };
  if (llvm::any_of(order, [&](Var var) { return var >= Algebra::kFirstFresh; }))
    return false;
  auto isWeighed = [&](Var var) { return dependsOn(mix.weights[0], var); };
  bool isWeighedAtAll = llvm::any_of(order, isWeighed);
  auto all = varsOf(at);
  size_t position = llvm::find(all, mix.stream.first) - all.begin();
  mix.layout = position + 1 < all.size() ? Layout::nC : Layout::Cn;
  for (auto [place, var] : llvm::enumerate(order)) {
    bool isToken = isWeighed(var);
    if (mix.layout == Layout::nC && position > 0)
      isToken |= place < position;
    else if (!isWeighedAtAll) // the channels are the last dimension beside the streams
      isToken = place + 1 < order.size();
    (isToken ? mix.tokens : mix.channels).push_back(extentOf(var));
  }
  // Streams in front of their tokens are told by what else is done with them.
  bool isFirst = position == 0 && !mix.tokens.empty();
  if (isFirst && !coefficients(mix) && !areStreams(mix.streams))
    return false;
  // A dimension of one token has no variable, and need not be there where its streams are known.
  ArrayRef<int64_t> shape = cast<RankedTensorType>(mix.streams.getType()).getShape();
  const bool mayHaveNone = shape.size() == 2 || (shape.size() >= 3 && llvm::is_contained(shape, 1));
  const bool hasOneToken =
      shape.size() >= 2 &&
      (shape.front() == 1 || (mayHaveNone && (coefficients(mix) || isProjectedOrMade(mix.streams))));
  return !mix.channels.empty() && (!mix.tokens.empty() || hasOneToken) &&
         llvm::none_of(mix.channels, [&](const Extent &var) { return isWeighed(var.first); });
}

//===----------------------------------------------------------------------===//
// Readings
//===----------------------------------------------------------------------===//

/// The number of streams that an op which makes, projects or combines a value says it has, in whatever shape; 0 where
/// none says it.
static int64_t knownStreams(Value value) {
  Value source = behindViews(value);
  SmallVector<Operation *> ops;
  usersThroughViews(source, ops);
  if (Operation *maker = source.getDefiningOp())
    ops.push_back(maker);
  auto countOf = [](Value streams, Layout layout) {
    return cast<RankedTensorType>(streams.getType()).getDimSize(layout == Layout::nC ? 1 : 2);
  };
  for (Operation *op : ops) {
    if (auto post = dyn_cast<PostOp>(op); post && (post.getOut() == source || behindViews(post.getX()) == source))
      return countOf(post.getX(), post.getLayout());
    if (auto expand = dyn_cast<ExpandOp>(op); expand && expand.getStreams() == source)
      return countOf(source, expand.getLayout());
    if (auto projection = dyn_cast<ProjectionOp>(op); projection && behindViews(projection.getX()) == source)
      return countOf(projection.getX(), projection.getLayout());
  }
  return 0;
}

/// Whether nothing else says that what the mix takes for streams are weights, or the other way round, or that there are
/// more or fewer: as many channels as streams may be are summed by a product, too.
bool MixSite::isConsistent(const Mix &mix) {
  const int64_t known = knownStreams(mix.streams);
  return (!known || Size(known) == mix.stream.second) && !isCoefficient(mix.x[0].factors[0].node()) &&
         llvm::none_of(mix.weights[0].factors, [&](const algebra::Factor &weight) {
           Value value = valueOf(weight);
           return value && isProjectedOrMade(value);
         });
}

std::optional<Mix> MixSite::matchMix(const algebra::Factor &x, const algebra::Term &outer, const Expr &inner,
                                     Extent stream, const IndexVars &rest) {
  Mix mix;
  mix.x = Algebra::of(x.element);
  mix.stream = stream;
  if (x.halves != 2 || dependsOnAny(x, rest))
    return std::nullopt;
  std::optional<Expr> weights = inner;
  if (!rest.empty())
    weights = algebra.reduce("sum", *weights, rest);
  weights = weights ? algebra.multiply({outer}, *weights) : std::nullopt;
  if (weights && weights->size() > 1) { // which is one factor
    std::optional<Algebra::Closed> sum = algebra.close(*weights);
    weights = sum ? std::optional(Algebra::scale(Algebra::of(algebra.elementAt(sum->node, sum->at)), sum->coefficient))
                  : std::nullopt;
  }
  if (!weights || weights->size() != 1)
    return std::nullopt;
  mix.weights = *weights;
  // Weights of all tokens do not tell tokens from channels: the order in which streams are stored does.
  auto isWeighed = [&](Var var) { return var != stream.first && dependsOn(mix.weights[0], var); };
  bool isStatic = llvm::none_of(varsOf(x.at()), isWeighed);
  auto find = [&](const Expr &x) { return findStreams(reading, x, op, isStatic, widthOf(root)); };
  std::optional<algebra::Reading::Found> streams;
  // A number is of the streams where they are a value with it, such as the n-th part of a token.
  if (double &number = mix.weights[0].coefficient; number != 1 && (streams = find(Algebra::scale(mix.x, number)))) {
    mix.x = Algebra::scale(mix.x, number);
    number = 1;
  }
  // A number that all terms have is in part of the streams, and in part of the weights.
  if (std::optional<algebra::Reading::Found> scaled;
      !streams && !(streams = find(mix.x)) && (scaled = nearest(reading, mix.x, op, /*anyFactor=*/true))) {
    mix.x = Algebra::scale(mix.x, 1 / scaled->factor);
    mix.weights[0].coefficient *= scaled->factor;
    streams = find(mix.x);
  }
  if (!streams)
    return std::nullopt;
  mix.streams = streams->value;
  mix.at = streams->at;
  if (!splitVars(mix, streams->at) || !isConsistent(mix))
    return std::nullopt;
  return mix;
}
