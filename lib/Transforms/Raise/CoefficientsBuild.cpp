//===- CoefficientsBuild.cpp - The ops of a site ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bounds.h"
#include "Coefficients.h"
#include "GateOrder.h"
#include "Places.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

namespace {
/// Operands of the gates: the projection and its statistic.
struct GateInputs {
  Value proj, stat;
  Stat statForm = Stat::inv_rms;
};
} // namespace

static Value sliceUnlessWhole(LeafBuilder &leaf, Value value, int64_t dim, int64_t begin, int64_t size) {
  bool whole = cast<RankedTensorType>(value.getType()).getDimSize(dim) == size;
  return whole ? value : leaf.slice(value, dim, begin, size);
}

/// A vector of one base, of which the parts are consecutive elements: what they have together.
static Value commonPart(FormBuilder &forms, OpBuilder &builder, Location loc,
                        ArrayRef<std::pair<const Factor *, Vars>> parts) {
  Factor whole = *parts.front().first;
  if (whole.index.empty() ||
      llvm::any_of(ArrayRef(whole.index).drop_back(), [](auto &index) { return !index.vars.empty(); }))
    return {};
  int64_t begin = whole.index.back().offset, next = begin;
  for (auto [factor, vars] : parts) {
    if (factor->base != whole.base || factor->index.back().offset != next ||
        ArrayRef(factor->index).drop_back() != ArrayRef(whole.index).drop_back())
      return {};
    next += forms.extent(vars);
  }
  whole.index.back() = forms.freshIndices(whole.base).back();
  Value vector = forms.rebuild(builder, loc, whole, {whole.index.back().vars});
  LeafBuilder leaf(builder, loc);
  return vector ? leaf.toF32(sliceUnlessWhole(leaf, vector, 0, begin, next - begin)) : Value();
}

/// Joins per-group vectors.
static Value joinParts(FormBuilder &forms, OpBuilder &builder, Location loc,
                       ArrayRef<std::pair<const Factor *, Vars>> parts) {
  if (Value common = commonPart(forms, builder, loc, parts))
    return common;
  LeafBuilder leaf(builder, loc);
  SmallVector<Value> values;
  for (auto [factor, vars] : parts) {
    Value value = forms.rebuild(builder, loc, *factor, {vars});
    if (!value)
      return {};
    values.push_back(leaf.toF32(value));
  }
  return leaf.concat(values, 0);
}

static Value buildBeta(FormBuilder &forms, OpBuilder &builder, Location loc, ArrayRef<const Linear *> groups) {
  SmallVector<std::pair<const Factor *, Vars>> parts;
  for (const Linear *group : groups)
    parts.emplace_back(&group->beta, group->row);
  return joinParts(forms, builder, loc, parts);
}

/// The numbers that groups are scaled by, besides what is stored.
static Value buildNumbers(OpBuilder &builder, Location loc, ArrayRef<const Linear *> groups) {
  auto type = RankedTensorType::get({static_cast<int64_t>(groups.size())}, builder.getF32Type());
  auto numbers = llvm::map_to_vector(
      groups, [](const Linear *group) -> float { return static_cast<float>(group->multiplier.factor); });
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
}

/// The stored alpha, times the numbers.
static Value buildAlpha(FormBuilder &forms, OpBuilder &builder, Location loc, ArrayRef<const Linear *> groups) {
  SmallVector<std::pair<const Factor *, Vars>> parts;
  for (const Linear *group : groups)
    if (group->alpha)
      parts.emplace_back(&*group->alpha, Vars());
  if (parts.empty())
    return buildNumbers(builder, loc, groups);
  Value stored = parts.size() == groups.size() ? joinParts(forms, builder, loc, parts) : Value();
  bool scaled = llvm::any_of(groups, [](const Linear *group) { return group->multiplier.factor != 1; });
  return stored && scaled ? LeafBuilder(builder, loc).mul(stored, buildNumbers(builder, loc, groups)) : stored;
}

static int64_t rowsOf(ArrayRef<const Linear *> groups) {
  int64_t rows = 0;
  for (const Linear *group : groups)
    rows += group->extent;
  return rows;
}

/// Whether groups are consecutive rows of one weight.
static bool areConsecutive(ArrayRef<const Linear *> groups) {
  int64_t next = groups.front()->offset;
  return llvm::all_of(groups, [&](const Linear *group) {
    bool follows = group->phi->base == groups.front()->phi->base && group->offset == next;
    next += group->extent;
    return follows;
  });
}

/// The rows of all groups, without those that others read or nobody: of one weight, or of parts that are joined.
static std::optional<std::pair<Value, PhiLayout>> joinPhi(FormBuilder &forms, OpBuilder &builder, Location loc,
                                                          ArrayRef<const Linear *> groups) {
  LeafBuilder leaf(builder, loc);
  bool apart = !areConsecutive(groups);
  SmallVector<Value> parts;
  std::optional<PhiLayout> layout;
  int64_t axis = 0;
  for (const Linear *group : apart ? groups : groups.take_front()) {
    auto phi = buildPhi(forms, builder, loc, *group->phi, group->row, group->flat);
    if (!phi || (layout && phi->second != *layout))
      return std::nullopt;
    layout = phi->second;
    axis = *layout == PhiLayout::out_in ? 0 : 1;
    int64_t rows = apart ? group->extent : rowsOf(groups);
    parts.push_back(sliceUnlessWhole(leaf, phi->first, axis, group->offset, rows));
  }
  return std::make_pair(leaf.concat(parts, axis), *layout);
}

/// The projection that all groups of a site share, with its multiplier.
static GateInputs buildProjection(FormBuilder &forms, OpBuilder &builder, Location loc,
                                  ArrayRef<const Linear *> groups) {
  const Linear &linear = *groups.front();
  int64_t n = linear.extent, rows = rowsOf(groups);
  Type f32 = builder.getF32Type();
  auto streams = buildStreams(forms, builder, loc, *linear.x, linear.tokens, linear.flat, n);
  auto phi = joinPhi(forms, builder, loc, groups);
  Value gamma;
  if (linear.gamma && !(gamma = forms.rebuild(builder, loc, *linear.gamma, {linear.flat})))
    return {};
  if (!streams || !phi)
    return {};
  Type x = getElementTypeOrSelf(streams->value);
  auto fits = [&](Value weight) {
    return !weight || getElementTypeOrSelf(weight) == x || getElementTypeOrSelf(weight) == f32;
  };
  if (!fits(phi->first) || !fits(gamma))
    return {};
  int64_t tokens = cast<RankedTensorType>(streams->value.getType()).getDimSize(0);
  auto projection = ProjectionOp::create(builder, loc, RankedTensorType::get({tokens, rows}, f32),
                                         RankedTensorType::get({tokens}, f32), streams->value, phi->first, gamma,
                                         streams->layout, phi->second, linear.multiplier.norm,
                                         APFloat(linear.multiplier.eps), Stat::inv_rms, /*precision=*/{});
  return {projection.getProj(), projection.getStat(), Stat::inv_rms};
}

/// A user of one of the values that stands before the builder, or null.
static Operation *earlyUser(OpBuilder &builder, ArrayRef<Value> values) {
  for (Value value : values)
    for (Operation *user : value.getUsers()) {
      Operation *at = builder.getBlock()->findAncestorOpInBlock(*user);
      if (at && at->isBeforeInBlock(&*builder.getInsertionPoint()))
        return user;
    }
  return nullptr;
}

/// `early` reads a gate before what stands in front of the builder makes an input of the gates.
static void declineEarly(Sites &sites, OpBuilder &builder, const Linear &pre, Operation *early) {
  auto quoted = [](Operation *op) { return "'" + op->getName().getStringRef().str() + "'"; };
  std::string input = quoted(&*std::prev(builder.getInsertionPoint()));
  sites.decline("gates", {Reason::gateUsedEarly, early, quoted(early) + " before " + input,
                          input + " before " + quoted(early), pre.site()});
}

/// The first of what the gates read that no tensor could be made for.
static Miss notReadable(const Linear &pre, const GateInputs &inputs, Value alpha, Value beta) {
  auto [name, value, needed] =
      !alpha        ? std::tuple("alpha", pre.alpha ? pre.alpha->base : pre.root, "one number for each group")
      : !beta       ? std::tuple("beta", pre.beta.base, "one value for each row of the projection")
      : pre.proj    ? std::tuple("the projection", pre.proj->base, "all rows of all tokens, with their statistic")
      : inputs.proj ? std::tuple("the statistic", pre.stat->base, "one value for each token")
                    : std::tuple("x or phi", pre.phi->base, "x [M, n, C] or [M, C, n], and phi in its type or in f32");
  return {Reason::storedForm, opAtFault(value, pre.root.getDefiningOp()), name + (": " + describe(value)), needed,
          pre.site()};
}

/// A projection that the function already has: only the leading token dimensions need joining, and padding goes.
static GateInputs takeProjection(FormBuilder &forms, OpBuilder &builder, Location loc,
                                 ArrayRef<const Linear *> groups) {
  const Linear &pre = *groups.front();
  GateInputs inputs;
  inputs.statForm = pre.statForm;
  LeafBuilder leaf(builder, loc);
  Value proj = pre.proj->base;
  if (forms.flatten(pre.proj->index.back().vars) == pre.row) {
    int64_t leading = pre.proj->index.size() - 1;
    proj = leaf.toF32(leading == 1 ? proj : leaf.join(proj, 0, leading));
    inputs.proj = sliceUnlessWhole(leaf, proj, 1, pre.offset, rowsOf(groups));
  }
  if (pre.stat)
    if (Value stat = forms.rebuild(builder, loc, *pre.stat, {pre.tokens}))
      inputs.stat = leaf.toF32(stat);
  return inputs;
}

/// The place of a group in the function: the value that the result of the gates replaces.
static SmallVector<Value> findRoots(ArrayRef<const Linear *> groups, double &preEps, double &postMult) {
  SmallVector<SigmoidOp> gates;
  for (const Linear *group : groups.take_front(2))
    gates.push_back(sigmoidOf(group->root));
  SmallVector<Value> roots = gateRoots(gates, preEps, postMult);
  if (groups.size() > 2)
    roots.push_back(groups[2]->root);
  return roots;
}

/// `value`, a result of the gates, in the shape and type of the root of a group. Null when it cannot be.
static Value shapedAs(FormBuilder &forms, OpBuilder &builder, Value root, const Linear &group, Value value) {
  SmallVector<Vars> own;
  for (const Index &index : group.index)
    own.push_back(forms.flatten(index.vars));
  Value shaped = forms.relayout(builder, root.getLoc(), value, {group.tokens, group.row}, own);
  return shaped ? LeafBuilder(builder, root.getLoc()).cast(shaped, getElementTypeOrSelf(root)) : Value();
}

/// Puts the results of the gates in the place of the roots of the groups. False where the check has an objection.
static bool replaceRoots(FormBuilder &forms, Sites &sites, OpBuilder &builder, ArrayRef<Value> roots,
                         ArrayRef<const Linear *> groups, ArrayRef<Operation *> made) {
  SmallVector<Value> was, becomes;
  for (auto [root, group, result] : llvm::zip(roots, groups, made[0]->getResults()))
    if (Value shaped = shapedAs(forms, builder, root, *group, result)) {
      was.push_back(root);
      becomes.push_back(shaped);
    }
  if (!mayReplace(sites, made[0], was, becomes))
    return false;
  for (auto [root, shaped] : llvm::zip(was, becomes)) {
    addPlaces(made, root);
    root.replaceAllUsesWith(shaped);
  }
  return true;
}

void mhc::raiseSite(FormBuilder &forms, Sites &sites, ArrayRef<const Linear *> groups) {
  const Linear &pre = *groups.front();
  SmallVector<Value> inputs;
  for (const Linear *group : groups)
    for (const std::optional<Factor> &factor :
         {group->x, group->phi, group->gamma, group->proj, group->alpha, group->stat, std::optional(group->beta)})
      if (factor)
        inputs.push_back(factor->base);
  OpBuilder builder(pre.loc().getContext());
  setAfterInputs(builder, pre.block(), inputs);
  Location loc = pre.loc();
  double preEps = 0, postMult = 1;
  SmallVector<Value> roots = findRoots(groups, preEps, postMult);
  if (Operation *early = earlyUser(builder, roots))
    return declineEarly(sites, builder, pre, early);
  GateInputs given = pre.x ? buildProjection(forms, builder, loc, groups) : takeProjection(forms, builder, loc, groups);
  Value alpha = buildAlpha(forms, builder, loc, groups), beta = buildBeta(forms, builder, loc, groups);
  if (!given.proj || !alpha || !beta || (given.statForm != Stat::applied && !given.stat))
    return sites.decline("gates", notReadable(pre, given, alpha, beta));
  int64_t tokens = cast<RankedTensorType>(given.proj.getType()).getDimSize(0);
  SmallVector<Type> types(3);
  for (auto [type, group] : llvm::zip(types, groups))
    type = RankedTensorType::get({tokens, group->extent}, builder.getF32Type());
  auto gates = GatesOp::create(builder, loc, types[0], types[1], types[2], given.proj, given.stat, alpha, beta,
                               given.statForm, APFloat(pre.multiplier.eps), APFloat(preEps), APFloat(postMult));
  SmallVector<Operation *> made = {gates};
  if (pre.x)
    made.push_back(given.proj.getDefiningOp());
  if (!replaceRoots(forms, sites, builder, roots, groups, made))
    return;
  takeRaised(sites, gates,
             Twine(pre.extent) + " streams, " + Twine(pre.rows) + " rows, norm " + stringifyNorm(pre.multiplier.norm));
}
