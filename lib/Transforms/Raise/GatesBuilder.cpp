//===- GatesBuilder.cpp - Builds the gates of one site --------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The weights are joined to one phi, with the rows of h_pre, h_post and the logits in that order.
//
//===------------------------------------------------------------------------===//

#include "GatesBuilder.h"
#include "GateOrder.h"
#include "Normalise.h"
#include "Places.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;
using algebra::Indices;
using algebra::Size;
using algebra::Var;

using Extent = IndexVars::value_type;

/// The streams of x, [tokens, n, C] or [tokens, C, n]. Rows that are flat do not say which; either projects the same,
/// and the function's own shapes decide.
Value GatesBuilder::buildStreams() {
  const int64_t n = lead.extent, width = lead.width();
  const Expr x = lead.streams();
  if (width % n != 0 || width == n)
    return {};
  if (lead.flat.size() == 2) {
    bool isInner = lead.flat[1].second == Size(n) && lead.flat[0].second != Size(n);
    if (!isInner && lead.flat[0].second != Size(n))
      return {};
    layout = isInner ? Layout::Cn : Layout::nC;
    return mhc::buildStreams(reading, builder, user, x,
                             {lead.tokens, IndexVars{lead.flat[0]}, IndexVars{lead.flat[1]}});
  }
  if (lead.flat.size() == 1)
    for (const algebra::Reading::Found &shown : reading.find(x)) {
      ArrayRef<int64_t> shape = cast<RankedTensorType>(shown.value.getType()).getShape();
      bool isInner = shape.size() >= 3 && shape.back() == n && shape[shape.size() - 2] == width / n;
      if (isInner && n != width / n)
        layout = Layout::Cn;
    }
  Value rows = mhc::buildStreams(reading, builder, user, x, {lead.tokens, lead.flat});
  if (!rows)
    return {};
  int64_t outer = layout == Layout::nC ? n : width / n;
  return leaf.split(rows, 1, {outer, width / outer});
}

/// The dimensions of a weight as a group reads them: rows as -1, the flat variables by their numbers. Two groups may
/// read one square tensor, and one of them its transpose.
static SmallVector<SmallVector<int64_t>> readingOrder(const LinearGroup &group) {
  SmallVector<SmallVector<int64_t>> dims;
  for (const algebra::Index &index : group.weightAt) {
    SmallVector<int64_t> &dim = dims.emplace_back();
    for (const algebra::Piece &piece : index.pieces) {
      auto isPiece = [&](const Extent &var) { return var.first == piece.var; };
      auto flat = llvm::find_if(group.flat, isPiece);
      int64_t number = flat == group.flat.end() ? -1 : flat - group.flat.begin();
      if (number >= 0 || dim.empty() || dim.back() >= 0)
        dim.push_back(number);
    }
  }
  return dims;
}

SmallVector<GatesBuilder::Run> GatesBuilder::runs() const {
  SmallVector<Run> runs;
  for (const LinearGroup &group : groups) {
    const LinearGroup *first = runs.empty() || group.isAbsent() ? nullptr : runs.back().first;
    bool continues = first && group.weight == first->weight && group.offset == first->offset + runs.back().extent &&
                     readingOrder(group) == readingOrder(*first) && isSameProjection(group, *first);
    if (continues)
      runs.back().extent += group.extent;
    else
      runs.push_back({group.isAbsent() ? nullptr : &group, group.extent});
  }
  return runs;
}

/// Rows in the place of an absent gate's, so that the others are where mhc.gates has them. Nothing reads the gate that
/// becomes of them: streams are mixed by the program's own, as in the single-pass form. A bias that is its logit would
/// do as well but where x is infinite, and 0 * x no number.
Value GatesBuilder::zeroRows(Value like, int64_t axis, int64_t count) {
  auto type = cast<RankedTensorType>(like.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = count;
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(type.clone(shape))));
}

Value GatesBuilder::buildPhi() {
  SmallVector<Value> parts;
  std::optional<PhiLayout> first;
  const SmallVector<Run> all = runs();
  for (const Run &run : all) {
    if (!run.first) {
      parts.push_back({});
      continue;
    }
    const LinearGroup &group = *run.first;
    // All rows of the weight as one variable
    Indices at = group.weightAt;
    IndexVars rowVars = group.row;
    SmallVector<Size, 4> sizes = reading.sizes(group.weight);
    auto isRow = [&](const algebra::Piece &piece) {
      return llvm::any_of(group.row, [&](const Extent &row) { return row.first == piece.var; });
    };
    if (!group.hasAllRows())
      rowVars.clear();
    size_t rowDim = 0, flatDim = 0;
    for (auto [dim, index] : llvm::enumerate(at)) {
      bool isFixed = index.pieces.empty() && sizes[dim] != Size(1);
      if (isFixed || llvm::any_of(index.pieces, isRow)) {
        rowDim = dim;
        if (!group.hasAllRows()) {
          rowVars.push_back({algebra.freshVar(), sizes[dim]});
          index = algebra::wholeVar(rowVars.back().first, sizes[dim]);
        }
      } else if (!index.pieces.empty()) {
        flatDim = dim;
      }
    }
    PhiLayout own = rowDim < flatDim ? PhiLayout::out_in : PhiLayout::in_out;
    first = first ? *first : own;
    phiLayout = *first;
    SmallVector<IndexVars> groupsOfVars = {rowVars, group.flat};
    if (phiLayout == PhiLayout::in_out)
      std::swap(groupsOfVars[0], groupsOfVars[1]);
    Value weight = arrange(reading, builder, loc, group.weight, at, groupsOfVars);
    if (!weight)
      return {};
    int64_t axis = phiLayout == PhiLayout::out_in ? 0 : 1;
    weight = slice(weight, axis, group.offset, run.extent);
    if (foldsGammas() && group.gamma) {
      Value gamma = buildGamma(group);
      if (!gamma)
        return {};
      const LeafBuilder::Sizes shape = leaf.sizesOf(weight);
      gamma = leaf.broadcast(leaf.toF32(gamma), shape, {1 - axis});
      weight = leaf.mul(leaf.toF32(weight), gamma);
    }
    parts.push_back(weight);
  }
  const Value like = *llvm::find_if(parts, [](Value part) { return part != nullptr; });
  const int64_t axis = phiLayout == PhiLayout::out_in ? 0 : 1;
  for (auto [part, run] : llvm::zip(parts, all))
    if (!part)
      part = zeroRows(like, axis, run.extent);
  if (llvm::any_of(parts, [&](Value part) { return getElementTypeOrSelf(part) != getElementTypeOrSelf(like); }))
    llvm::for_each(parts, [&](Value &part) { part = leaf.toF32(part); });
  return leaf.concat(parts, axis);
}

/// Whether the groups have weights of their norms for themselves: s * (x gamma) . phi is s * x . (gamma phi).
bool GatesBuilder::foldsGammas() const {
  return llvm::any_of(groups,
                      [&](const LinearGroup &group) { return !group.isAbsent() && !isSameProjection(group, lead); });
}

/// The weight of a group's norm, repeated where streams or channels share its elements.
Value GatesBuilder::buildGamma(const LinearGroup &group) {
  IndexVars own;
  SmallVector<int64_t> dims;
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, var] : llvm::enumerate(group.flat)) {
    sizes.push_back(builder.getIndexAttr(var.second.number()));
    if (!dependsOnAny((*group.gamma)[0], var))
      continue;
    own.push_back(var);
    dims.push_back(dim);
  }
  if (own == group.flat)
    return build(reading, builder, user, *group.gamma, {own});
  SmallVector<IndexVars> dimsApart;
  for (const Extent &var : own)
    dimsApart.push_back({var});
  Value shared = build(reading, builder, user, *group.gamma, dimsApart);
  return shared ? leaf.join(leaf.broadcast(shared, sizes, dims), 0, sizes.size()) : Value();
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

/// Finds what is replaced, and where: behind as many inputs as there can be, and before the first reader.
bool GatesBuilder::placeBuilder() {
  roots = gateRoots(reading, gates, preEps, postMult);
  if (groups.size() > 2)
    roots.push_back(groups[2].root);
  Block *block = llvm::find_if(roots, [](Value root) { return root != nullptr; })->getParentBlock();
  Operation *last = nullptr, *reader = nullptr;
  for (Value root : roots) {
    if (!root)
      continue;
    Operation *op = root.getDefiningOp();
    if (!op || op->getBlock() != block)
      return false;
    if (!last || last->isBeforeInBlock(op))
      last = op;
    for (Operation *user : root.getUsers())
      if (Operation *at = block->findAncestorOpInBlock(*user); at && (!reader || at->isBeforeInBlock(reader)))
        reader = at;
  }
  user = reader ? reader : last;
  builder.setInsertionPoint(user);
  return true;
}

/// The places that tokens and channels have in x, in the order in which a group reads them.
static SmallVector<size_t> orderIn(const LinearGroup &group) {
  const auto vars = varsOf(group.x.at());
  SmallVector<size_t> order;
  for (const IndexVars &own : {group.tokens, group.flat})
    for (const Extent &var : own)
      order.push_back(llvm::find(vars, var.first) - vars.begin());
  return order;
}

/// A weight may be shaped behind the first reader: reads what is there before. All groups read x in one order then.
bool GatesBuilder::readAtBuilder() {
  for (LinearGroup &group : groups) {
    if (group.isAbsent())
      continue;
    std::optional<LinearGroup> read = matchLinearGroup(reading, group.root, user);
    if (!read)
      return false;
    group = *read;
  }
  return lead.isGiven || llvm::all_of(groups, [&](const LinearGroup &group) {
           return group.isAbsent() || orderIn(group) == orderIn(lead);
         });
}

/// An input that is made behind the builder; null for none.
Value GatesBuilder::lateInput() const {
  SmallVector<Value> inputs;
  for (const LinearGroup &group : groups) {
    if (group.isAbsent())
      continue;
    inputs.push_back(group.weight);
    for (const Expr &expr : {group.streams(), group.alpha, group.beta}) {
      std::vector<algebra::Reading::Found> all = reading.find(expr);
      if (!all.empty())
        inputs.push_back(all.back().value); // the first that there is
      for (const algebra::Term &term : expr)
        for (const algebra::Factor &factor : term.factors)
          inputs.push_back(factor.node()->value);
    }
  }
  auto late = llvm::find_if(inputs, [&](Value input) { return input && !reading.isBefore(input, user); });
  return late == inputs.end() ? Value() : *late;
}

/// The first of what the gates read that no tensor could be made for.
void GatesBuilder::declineInput(StringRef name, Value value, StringRef needed) {
  auto quoted = [](Operation *op) { return "'" + op->getName().getStringRef().str() + "'"; };
  Value late = lateInput();
  if (Operation *maker = late ? late.getDefiningOp() : nullptr)
    return sites.decline("gates", {Reason::gateUsedEarly, user, quoted(user) + " before " + quoted(maker),
                                   quoted(maker) + " before " + quoted(user), lead.site()});
  sites.decline("gates", {Reason::storedForm, opAtFault(value, lead.root.getDefiningOp()),
                          name.str() + ": " + describe(value), needed.str(), lead.site()});
}

bool GatesBuilder::replaceRoots(GatesOp made) {
  SmallVector<Value> was, becomes;
  for (auto [root, group, result] : llvm::zip(roots, groups, made->getResults())) {
    if (!root)
      continue;
    std::optional<Indices> from = indicesIn(algebra.sizes, {group.tokens, group.row}, group.rootAt);
    // Rounded first, so that transposes behind each other meet.
    Value rounded = leaf.cast(result, getElementTypeOrSelf(root));
    Value shaped = from ? arrange(reading, builder, loc, rounded, *from, ownDims(reading, group.root)) : Value();
    if (!shaped)
      return false;
    if (shaped.getType() != root.getType())
      shaped = tensor::CastOp::create(builder, loc, root.getType(), shaped);
    was.push_back(root);
    becomes.push_back(shaped);
  }
  if (!mayReplace(sites, made, was, becomes))
    return false;
  for (auto [root, shaped] : llvm::zip(was, becomes)) {
    addPlaces(projection ? ArrayRef<Operation *>{made, projection} : ArrayRef<Operation *>{made}, root);
    root.replaceAllUsesWith(shaped);
  }
  return true;
}

/// The projection that all groups share, with its multiplier.
bool GatesBuilder::buildProjection() {
  Value x = buildStreams();
  Value phi = x ? buildPhi() : Value();
  const bool hasGamma = lead.gamma && !foldsGammas();
  Value gamma = phi && hasGamma ? buildGamma(lead) : Value();
  if (!phi || (hasGamma && !gamma) || isWide(x) || isWide(phi) || (gamma && isWide(gamma)))
    return false;
  auto inTypeOf = [&](Value weight) { // exactly: a narrow type is another one than that of x
    return !weight || getElementTypeOrSelf(weight) == getElementTypeOrSelf(x) ? weight : leaf.toF32(weight);
  };
  int64_t tokens = cast<RankedTensorType>(x.getType()).getDimSize(0);
  ProjectionOp::Fields fields;
  fields.proj = RankedTensorType::get({tokens, rows()}, builder.getF32Type());
  fields.stat = RankedTensorType::get({tokens}, builder.getF32Type());
  fields.x = x;
  fields.phi = inTypeOf(phi);
  fields.norm_weight = inTypeOf(gamma);
  fields.layout = layout;
  fields.phi_layout = phiLayout;
  fields.norm = lead.norm;
  fields.norm_eps = lead.eps;
  fields.stat_form = lead.stat ? Stat::mean_square : Stat::inv_rms;
  projection = fields.create(builder, loc);
  proj = projection.getProj();
  stat = projection.getStat();
  return true;
}

/// A projection that the function already has, without padding.
bool GatesBuilder::takeProjection() {
  Indices at = lead.weightAt;
  IndexVars rowVars = lead.row;
  SmallVector<Size, 4> sizes = reading.sizes(lead.weight);
  if (lead.extent != lead.rows) {
    auto isRow = [&](const algebra::Index &index) {
      return llvm::any_of(index.pieces, [&](const algebra::Piece &piece) {
        return llvm::any_of(lead.row, [&](const Extent &row) { return row.first == piece.var; });
      });
    };
    auto dim = llvm::find_if(at, isRow);
    if (std::any_of(std::next(dim), at.end(), isRow))
      return false;
    Var whole = algebra.freshVar();
    Size extent = sizes[dim - at.begin()];
    *dim = algebra::wholeVar(whole, extent);
    rowVars = IndexVars{Extent(whole, extent)};
  }
  proj = arrange(reading, builder, loc, lead.weight, at, {lead.tokens, rowVars});
  if (!proj)
    return false;
  proj = leaf.toF32(proj);
  SmallVector<Value> parts;
  for (const Run &run : runs())
    parts.push_back(slice(proj, 1, run.first->offset, run.extent));
  proj = leaf.concat(parts, 1);
  return !lead.stat || buildStat();
}

/// Puts the projection's mean square in the place of sums and means of squares that the program has, scaled as they
/// are.
void GatesBuilder::mapSquares(IRMapping &known) {
  std::optional<Expr> sum = lead.squares(algebra);
  for (const algebra::Reading::Found &found : reading.find(sum.value_or(Expr()), user)) {
    SmallVector<IndexVars> own;
    for (const algebra::Index &index : found.at) {
      IndexVars &vars = own.emplace_back();
      for (const algebra::Piece &piece : index.pieces)
        vars.push_back({piece.var, piece.extent});
    }
    Value squares = leaf.scale(projection.getStat(), static_cast<double>(lead.width()) / found.factor);
    squares = arrange(reading, builder, loc, squares, indicesOf(algebra.sizes, {lead.tokens}), own);
    squares = squares ? leaf.cast(squares, getElementTypeOrSelf(found.value)) : Value();
    if (squares && squares.getType() == found.value.getType())
      known.map(found.value, squares);
  }
}

/// A value computed once more of what is known, as far as it depends on that.
static Value recompute(OpBuilder &builder, Value value, IRMapping &known) {
  if (Value made = known.lookupOrNull(value))
    return made;
  known.map(value, value);
  Operation *op = value.getDefiningOp();
  if (!op || !(isElementwise(op) || isReshape(op) || isa<BroadcastOp>(op)))
    return value;
  bool isOfKnown = false;
  for (Value operand : op->getOperands())
    isOfKnown |= recompute(builder, operand, known) != operand;
  if (isOfKnown)
    builder.clone(*op, known);
  return known.lookup(value);
}

/// The program's own statistic, or one over what it divides by; of the projection's mean square, where that is made.
bool GatesBuilder::buildStat() {
  stat = build(reading, builder, user, *lead.stat, {lead.tokens});
  const algebra::Factor *divisor = stat ? nullptr : algebra::singleFactor(*lead.stat, -2);
  if (Value value = divisor ? build(reading, builder, user, Algebra::of(divisor->element), {lead.tokens}) : Value()) {
    value = leaf.toF32(value);
    stat = leaf.div(leaf.splat(1, value), value);
  }
  stat = stat ? leaf.toF32(stat) : Value();
  if (stat && projection) {
    IRMapping known;
    mapSquares(known);
    stat = recompute(builder, stat, known);
  }
  return stat != nullptr;
}

constexpr StringLiteral kNeededInputs = "x [M, n, C] or [M, C, n], of f32, bf16 or f16";

void GatesBuilder::run() {
  if (!placeBuilder())
    return;
  if (!readAtBuilder())
    return declineInput("x or phi", lead.weight, kNeededInputs);
  if (lead.isGiven && !takeProjection())
    return declineInput("the projection", lead.weight, "all rows of all tokens, with their statistic");
  if (!lead.isGiven && isWide(lead.weight))
    return sites.decline("gates", {Reason::projectionType, opAtFault(lead.weight, lead.root.getDefiningOp()),
                                   describe(lead.weight), "a product of f32, bf16 or f16", lead.site()});
  if (!lead.isGiven && (!buildProjection() || (lead.stat && !buildStat())))
    return declineInput("x or phi", lead.weight, kNeededInputs);
  Value alpha = buildAlpha(), beta = alpha ? buildBeta() : Value();
  if (!beta)
    return declineInput(alpha ? "beta" : "alpha", lead.root,
                        alpha ? "one value for each row of the projection" : "one number for each group");
  int64_t tokens = cast<RankedTensorType>(proj.getType()).getDimSize(0);
  GatesOp::Fields fields;
  Type *types[] = {&fields.h_pre, &fields.h_post, &fields.logits};
  for (auto [type, group] : llvm::zip(types, groups))
    *type = RankedTensorType::get({tokens, group.extent}, builder.getF32Type());
  fields.proj = proj;
  fields.stat = stat;
  fields.alpha = alpha;
  fields.beta = beta;
  fields.stat_form = lead.statForm;
  fields.norm_eps = lead.eps;
  fields.pre_eps = preEps;
  fields.post_mult = postMult;
  GatesOp made = fields.create(builder, loc);
  if (replaceRoots(made))
    takeRaised(sites, made,
               Twine(lead.extent) + " streams, " + Twine(lead.rows) + " rows, norm " + stringifyNorm(lead.norm));
}
