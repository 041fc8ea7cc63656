//===- Coefficients.cpp - Gates and residual logits with their projection ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Long because matching the groups of a site and building its ops share one description of them.
//
//===----------------------------------------------------------------------===//

#include "Raise.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

namespace {
/// z = s * P * alpha + beta on some rows of the projection.
struct Linear {
  Value root;       ///< the value that is z
  Indices index;    ///< of the root
  Vars tokens, row; ///< variables of the root
  Term product;     ///< s * P * alpha
  /// Either x and phi (and gamma) with the summed variables in the order of x ...
  std::optional<Factor> x, phi, gamma;
  Vars flat;
  /// ... or an already projected value.
  std::optional<Factor> proj;
  std::optional<Factor> alpha;
  Factor beta;
  /// What the token-only factors make.
  Multiplier multiplier{Norm::none, 0, {}, {}};
  std::optional<Factor> stat; ///< with `proj`: the given statistic
  Stat statForm = Stat::applied;
  int64_t offset = 0, rows = 0; ///< first row, and the number of rows of all of phi or proj
  int64_t extent = 0;
};

class CoefficientRaiser {
public:
  explicit CoefficientRaiser(func::FuncOp func) : func(func), forms(func) {}
  void run();

private:
  std::optional<Linear> matchLinear(Value root, std::string &reason);
  bool classify(Linear &linear, std::string &reason);
  bool matchStat(Linear &linear, std::vector<Factor> scales);
  void raise(ArrayRef<Linear> site);
  bool sameSource(const Linear &a, const Linear &b) const;
  bool isLogitsOf(const Linear &other, const Linear &pre) const {
    return other.offset == 2 * pre.extent && other.extent == pre.rows - 2 * pre.extent && sameSource(other, pre);
  }
  std::optional<Linear> findLogits(const Linear &pre);
  Value buildBeta(OpBuilder &builder, Location loc, ArrayRef<const Linear *> groups);
  Value buildAlpha(OpBuilder &builder, Location loc, ArrayRef<const Linear *> groups);
  std::pair<Value, Value> buildProjection(OpBuilder &builder, Location loc, const Linear &linear, int64_t n);

  func::FuncOp func;
  FormBuilder forms;
  std::optional<std::vector<Linear>> others; ///< all values of the form, once they were searched
};
} // namespace

//===----------------------------------------------------------------------===//
// Matching z
//===----------------------------------------------------------------------===//

std::optional<Linear> CoefficientRaiser::matchLinear(Value root, std::string &reason) {
  Linear linear;
  linear.root = root;
  linear.index = forms.freshIndices(root);
  Form form = forms.at(root, linear.index);
  forms.resolve(form);
  if (form.terms.size() != 2)
    return std::nullopt;
  Vars all;
  for (const Index &index : linear.index)
    llvm::append_range(all, forms.flatten(index.vars));
  // The bias is the term of one factor that no token enters: its variables are the row.
  for (int bias : {0, 1}) {
    const Term &term = form.terms[bias];
    if (term.factors.size() != 1 || !term.sums.empty() || term.coefficient != 1 || term.factors[0].power != 1)
      continue;
    Vars row = varsOf(forms, term.factors[0]);
    if (row.empty() || row.size() >= all.size() || Vars(all.end() - row.size(), all.end()) != row)
      continue;
    linear.row = row;
    linear.tokens.assign(all.begin(), all.end() - row.size());
    linear.beta = term.factors[0];
    linear.product = form.terms[1 - bias];
    linear.extent = forms.extent(row);
    if (classify(linear, reason))
      return linear;
    return std::nullopt;
  }
  return std::nullopt;
}

/// Sorts the factors of the product by the variables they depend on.
bool CoefficientRaiser::classify(Linear &linear, std::string &reason) {
  std::vector<Factor> scales;
  const Vars &sums = linear.product.sums;
  for (const Factor &factor : linear.product.factors) {
    Vars vars = varsOf(forms, factor);
    bool token = containsAny(vars, linear.tokens), row = containsAny(vars, linear.row), sum = containsAny(vars, sums);
    std::optional<Factor> *slot = nullptr;
    if (sum)
      slot = token && !row ? &linear.x : row && !token ? &linear.phi : !row && !token ? &linear.gamma : nullptr;
    else if (token && row)
      slot = &linear.proj;
    else if (!token)
      slot = &linear.alpha;
    else {
      scales.push_back(factor);
      continue;
    }
    if (!slot || slot->has_value() || factor.power != 1 || factor.role != Factor::Value)
      return false;
    *slot = factor;
  }
  if (linear.alpha && containsAny(varsOf(forms, *linear.alpha), linear.row)) {
    reason = "the scale differs from column to column; expected one alpha per group of gates";
    return false;
  }
  const Factor *source = linear.proj ? &*linear.proj : linear.phi ? &*linear.phi : nullptr;
  if (!source || linear.proj.has_value() == linear.x.has_value() || linear.x.has_value() != linear.phi.has_value())
    return false;
  for (auto [dim, slot] : llvm::enumerate(source->index))
    if (forms.flatten(slot.vars) == linear.row) {
      linear.offset = slot.offset;
      linear.rows = cast<RankedTensorType>(source->base.getType()).getDimSize(dim);
    }
  if (linear.rows <= 0)
    return false;
  if (linear.proj)
    return sums.empty() && !linear.gamma && matchStat(linear, scales);
  std::optional<Vars> x = forms.fullVars(*linear.x);
  if (!x || x->size() <= linear.tokens.size() || Vars(x->begin(), x->begin() + linear.tokens.size()) != linear.tokens) {
    reason = "x is transposed or sliced before the projection";
    return false;
  }
  linear.flat.assign(x->begin() + linear.tokens.size(), x->end());
  if (linear.flat.size() != sums.size() || !std::is_permutation(sums.begin(), sums.end(), linear.flat.begin())) {
    reason = "the projection does not run over all of a token's streams";
    return false;
  }
  std::optional<Multiplier> multiplier = matchMultiplier(forms, scales, linear.product.coefficient);
  bool normed = multiplier && multiplier->x.base;
  if (!multiplier || (normed && multiplier->x.base != linear.x->base)) {
    reason = multiplier ? "the root mean square is of another tensor than the projected one"
                        : "the factor of a token is no reciprocal root mean square over n*C values";
    return false;
  }
  if (normed && forms.extent(multiplier->sums) != forms.extent(linear.flat)) {
    reason = "the root mean square runs over " + std::to_string(forms.extent(multiplier->sums)) +
             " values; expected n*C = " + std::to_string(forms.extent(linear.flat));
    return false;
  }
  if (normed && !averagesRow(forms, *multiplier, linear.tokens)) {
    reason = "the root mean square is of other tokens than those that it scales";
    return false;
  }
  linear.multiplier = *multiplier;
  return true;
}

/// With a given projection: what the token-only factors say of the statistic.
bool CoefficientRaiser::matchStat(Linear &linear, std::vector<Factor> scales) {
  if (linear.product.coefficient != 1 || scales.size() > 1)
    return false;
  // Of the projection, some columns of all tokens are read.
  Factor whole = *linear.proj;
  Index columns = forms.freshIndices(whole.base).back();
  std::swap(whole.index.back(), columns);
  if (forms.flatten(columns.vars) != linear.row || !coversRow(forms, whole, linear.tokens, whole.index.back().vars))
    return false;
  if (scales.empty())
    return true;
  Factor stat = scales[0];
  linear.statForm = Stat::inv_rms;
  // 1/sqrt(stat + eps) of a plain mean square
  Operation *op = stat.base.getDefiningOp();
  if (op && (op->getName().getStringRef() == (stat.power == 1 ? "math.rsqrt" : "math.sqrt"))) {
    Form inner = forms.at(op->getOperand(0), stat.index);
    forms.resolve(inner);
    std::optional<double> eps = forms.takeConstant(inner);
    if (inner.terms.size() == 1 && inner.terms[0].factors.size() == 1 && inner.terms[0].coefficient == 1 &&
        inner.terms[0].sums.empty() && inner.terms[0].factors[0].power == 1) {
      linear.statForm = Stat::mean_square;
      linear.multiplier.eps = eps.value_or(0);
      stat = inner.terms[0].factors[0];
    }
  }
  if (!coversRow(forms, stat, linear.tokens, {}))
    return false;
  linear.stat = stat;
  return true;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

std::optional<Streams> mhc::buildStreams(FormBuilder &forms, OpBuilder &builder, Location loc, const Factor &x,
                                         const Vars &tokens, const Vars &flat, int64_t n) {
  int64_t width = forms.extent(flat);
  if (ShapedType::isDynamic(width) || width % n != 0)
    return std::nullopt;
  // Inner streams are told by the shape; flat rows do not say, and either reading projects the same.
  bool inner = flat.size() == 2 && forms.extent(flat[1]) == n && forms.extent(flat[0]) != n;
  Layout layout = inner ? Layout::Cn : Layout::nC;
  if (flat.size() == 2 && (inner || forms.extent(flat[0]) == n)) {
    Value value = forms.rebuild(builder, loc, x, {tokens, {flat[0]}, {flat[1]}});
    return value ? std::optional(Streams{value, layout}) : std::nullopt;
  }
  Value value = forms.rebuild(builder, loc, x, {tokens, flat});
  if (!value)
    return std::nullopt;
  return Streams{LeafBuilder(builder, loc).split(value, 1, {n, width / n}), layout};
}

/// Joins per-group vectors, or takes the whole base when the groups are its consecutive parts.
static Value joinParts(FormBuilder &forms, OpBuilder &builder, Location loc,
                       ArrayRef<std::pair<const Factor *, Vars>> parts) {
  LeafBuilder leaf(builder, loc);
  const Factor *first = parts.front().first;
  int64_t next = 0;
  bool whole = true;
  for (auto [factor, vars] : parts) {
    int64_t extent = forms.extent(vars);
    whole = whole && factor->base == first->base && factor->index.size() == 1 && factor->index[0].offset == next;
    next += extent;
  }
  auto type = cast<RankedTensorType>(first->base.getType());
  if (whole && type.getRank() == 1 && type.getDimSize(0) == next)
    return leaf.toF32(first->base);
  SmallVector<Value> values;
  for (auto [factor, vars] : parts) {
    Value value = forms.rebuild(builder, loc, *factor, {vars});
    if (!value)
      return {};
    values.push_back(leaf.toF32(value));
  }
  if (values.size() == 1)
    return values[0];
  return tensor::ConcatOp::create(builder, loc, 0, values);
}

Value CoefficientRaiser::buildBeta(OpBuilder &builder, Location loc, ArrayRef<const Linear *> groups) {
  SmallVector<std::pair<const Factor *, Vars>> parts;
  for (const Linear *group : groups)
    parts.emplace_back(&group->beta, group->row);
  return joinParts(forms, builder, loc, parts);
}

Value CoefficientRaiser::buildAlpha(OpBuilder &builder, Location loc, ArrayRef<const Linear *> groups) {
  if (llvm::none_of(groups, [](const Linear *group) { return group->alpha.has_value(); })) {
    auto type = RankedTensorType::get({static_cast<int64_t>(groups.size())}, builder.getF32Type());
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, 1.0f));
  }
  SmallVector<std::pair<const Factor *, Vars>> parts;
  for (const Linear *group : groups) {
    if (!group->alpha)
      return {};
    parts.emplace_back(&*group->alpha, Vars());
  }
  return joinParts(forms, builder, loc, parts);
}

/// phi as [N,K] or [K,N].
static std::optional<std::pair<Value, PhiLayout>> buildPhi(FormBuilder &forms, OpBuilder &builder, Location loc,
                                                           const Factor &phi, const Vars &row, const Vars &flat) {
  // All rows of phi, not only those of this group.
  auto type = cast<RankedTensorType>(phi.base.getType());
  std::optional<size_t> rowDim;
  Vars rest;
  for (auto [dim, slot] : llvm::enumerate(phi.index)) {
    if (forms.flatten(slot.vars) == row) {
      rowDim = dim;
      continue;
    }
    Factor only{phi.base, {slot}};
    if (slot.offset != 0 || forms.extent(forms.flatten(slot.vars)) != type.getDimSize(dim))
      return std::nullopt;
    llvm::append_range(rest, forms.flatten(slot.vars));
  }
  if (!rowDim || rest != flat || (*rowDim != 0 && *rowDim + 1 != phi.index.size()))
    return std::nullopt;
  LeafBuilder leaf(builder, loc);
  PhiLayout layout = *rowDim == 0 ? PhiLayout::out_in : PhiLayout::in_out;
  int64_t columns = type.getRank() - 1;
  Value value = columns == 1 ? phi.base : leaf.join(phi.base, layout == PhiLayout::out_in ? 1 : 0, columns);
  return std::make_pair(value, layout);
}

std::pair<Value, Value> CoefficientRaiser::buildProjection(OpBuilder &builder, Location loc, const Linear &linear,
                                                           int64_t n) {
  Type f32 = builder.getF32Type();
  auto streams = buildStreams(forms, builder, loc, *linear.x, linear.tokens, linear.flat, n);
  auto phi = buildPhi(forms, builder, loc, *linear.phi, linear.row, linear.flat);
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
  auto projection =
      ProjectionOp::create(builder, loc, RankedTensorType::get({tokens, linear.rows}, f32),
                           RankedTensorType::get({tokens}, f32), streams->value, phi->first, gamma, streams->layout,
                           phi->second, linear.multiplier.norm, APFloat(linear.multiplier.eps), Stat::inv_rms);
  remarkRaised(projection, "projection",
               (Twine(linear.rows) + " rows, norm " + stringifyNorm(linear.multiplier.norm)).str());
  return {projection.getProj(), projection.getStat()};
}

/// `value`, or its only user when that adds (or multiplies by) one number: the number goes into `number`.
template <typename Op>
static Value followConstant(Value value, double &number) {
  auto op = dyn_cast_or_null<Op>(singleUser(value));
  if (!op)
    return value;
  Value other = op.getLhs() == value ? op.getRhs() : op.getLhs();
  std::optional<double> constant = constantValue(other);
  if (!constant)
    return value;
  number = *constant;
  return op.getResult();
}

/// The earliest point of a block at which all inputs are there.
static void setAfterInputs(OpBuilder &builder, Block *block, ArrayRef<Value> inputs) {
  builder.setInsertionPointToStart(block);
  for (Value input : inputs) {
    Operation *op = input.getDefiningOp();
    if (op && op->getBlock() == block && !op->isBeforeInBlock(&*builder.getInsertionPoint()))
      builder.setInsertionPointAfter(op);
  }
}

/// Whether every user of a value stands behind the builder.
static bool usersFollow(OpBuilder &builder, Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    Operation *at = builder.getBlock()->findAncestorOpInBlock(*user);
    return !at || !at->isBeforeInBlock(&*builder.getInsertionPoint());
  });
}

void CoefficientRaiser::raise(ArrayRef<Linear> site) {
  const Linear &pre = site[0];
  const Linear *post = site.size() > 1 ? &site[1] : nullptr, *logits = site.size() > 2 ? &site[2] : nullptr;
  int64_t n = pre.extent;
  SmallVector<Value> inputs;
  for (const Linear &linear : site)
    for (const std::optional<Factor> &factor :
         {linear.x, linear.phi, linear.gamma, linear.proj, linear.alpha, linear.stat, std::optional(linear.beta)})
      if (factor)
        inputs.push_back(factor->base);
  OpBuilder builder(func.getContext());
  setAfterInputs(builder, Value(pre.root).getParentBlock(), inputs);
  Location loc = pre.root.getLoc();
  // The roots of the gates are the sigmoids of z.
  auto sigmoidOf = [](Value z) {
    return (*llvm::find_if(z.getUsers(), [](Operation *u) { return isa<SigmoidOp>(u); }))->getResult(0);
  };
  double preEps = 0, postMult = 1;
  Value preRoot = followConstant<arith::AddFOp>(sigmoidOf(pre.root), preEps), postRoot;
  if (post)
    postRoot = followConstant<arith::MulFOp>(sigmoidOf(post->root), postMult);
  if (!usersFollow(builder, preRoot) || (post && !usersFollow(builder, postRoot)) ||
      (logits && !usersFollow(builder, logits->root))) {
    remarkDeclined(loc, "gates", "a gate is used before the inputs of the other gates are known");
    return;
  }
  SmallVector<const Linear *> groups;
  for (const Linear &linear : site)
    groups.push_back(&linear);
  Value proj, stat;
  Stat statForm = Stat::inv_rms;
  if (pre.x) {
    std::tie(proj, stat) = buildProjection(builder, loc, pre, n);
  } else {
    // The base holds all rows: only the leading token dimensions need joining.
    proj = pre.proj->base;
    SmallVector<Vars> own;
    for (const Index &index : pre.proj->index)
      own.push_back(forms.flatten(index.vars));
    if (own.back() == pre.row && own.size() != 2)
      proj = LeafBuilder(builder, loc).join(proj, 0, own.size() - 1);
    else if (own.back() != pre.row)
      proj = {};
    proj = proj ? LeafBuilder(builder, loc).toF32(proj) : proj;
    statForm = pre.statForm;
    if (pre.stat)
      stat = forms.rebuild(builder, loc, *pre.stat, {pre.tokens});
    if (stat)
      stat = LeafBuilder(builder, loc).toF32(stat);
  }
  Value alpha = buildAlpha(builder, loc, groups), beta = buildBeta(builder, loc, groups);
  if (!proj || !alpha || !beta || (statForm != Stat::applied && !stat)) {
    remarkDeclined(loc, "gates", "alpha, beta, phi or x is stored in a form that no kernel reads");
    return;
  }
  Type f32 = builder.getF32Type();
  int64_t tokens = cast<RankedTensorType>(proj.getType()).getDimSize(0);
  auto gateType = RankedTensorType::get({tokens, n}, f32);
  Type logitsType = logits ? RankedTensorType::get({tokens, logits->extent}, f32) : Type();
  auto gates = GatesOp::create(builder, loc, gateType, post ? gateType : Type(), logitsType, proj, stat, alpha, beta,
                               statForm, APFloat(pre.multiplier.eps), APFloat(preEps), APFloat(postMult));
  auto replace = [&](Value root, const Linear &linear, Value value) {
    SmallVector<Vars> own;
    for (const Index &index : linear.index)
      own.push_back(forms.flatten(index.vars));
    LeafBuilder leaf(builder, loc);
    Value shaped = forms.relayout(builder, loc, value, {linear.tokens, linear.row}, own);
    if (shaped)
      root.replaceAllUsesWith(leaf.cast(shaped, getElementTypeOrSelf(root)));
  };
  replace(preRoot, pre, gates.getHPre());
  if (post)
    replace(postRoot, *post, gates.getHPost());
  if (logits)
    replace(logits->root, *logits, gates.getLogits());
  remarkRaised(gates, "gates", (Twine(n) + " streams").str());
}

//===----------------------------------------------------------------------===//
// Collecting the groups of a site
//===----------------------------------------------------------------------===//

/// Whether two groups read the same elements of a base, but for the rows, with corresponding variables.
static bool sameReads(const FormBuilder &forms, const std::optional<Factor> &x, const Linear &a,
                      const std::optional<Factor> &y, const Linear &b) {
  if (!x || !y)
    return x.has_value() == y.has_value();
  if (x->base != y->base || x->index.size() != y->index.size())
    return false;
  auto positions = [&](const Linear &linear, const Index &index) {
    Vars vars = forms.flatten(index.vars), known = forms.flatten(linear.tokens);
    llvm::append_range(known, forms.flatten(linear.flat));
    if (vars == forms.flatten(linear.row))
      return Index{{-1}, 0};
    for (Var &var : vars)
      var = llvm::find(known, var) - known.begin();
    return Index{vars, index.offset};
  };
  return llvm::all_of(llvm::zip(x->index, y->index),
                      [&](auto slots) { return positions(a, std::get<0>(slots)) == positions(b, std::get<1>(slots)); });
}

bool CoefficientRaiser::sameSource(const Linear &a, const Linear &b) const {
  auto base = [](const std::optional<Factor> &factor) { return factor ? factor->base : Value(); };
  return base(a.x) == base(b.x) && base(a.proj) == base(b.proj) && a.multiplier.norm == b.multiplier.norm &&
         a.multiplier.eps == b.multiplier.eps && a.statForm == b.statForm && a.rows == b.rows &&
         Value(a.root).getParentBlock() == Value(b.root).getParentBlock() && sameReads(forms, a.x, a, b.x, b) &&
         sameReads(forms, a.phi, a, b.phi, b) && sameReads(forms, a.gamma, a, b.gamma, b) &&
         sameReads(forms, a.proj, a, b.proj, b) && sameReads(forms, a.stat, a, b.stat, b);
}

/// Logits that no residual map consumes: any value of the right rows.
std::optional<Linear> CoefficientRaiser::findLogits(const Linear &pre) {
  if (!others) {
    others.emplace();
    func.walk([&](Operation *op) {
      if (!isa<arith::AddFOp, tensor::ExtractSliceOp, tensor::ExpandShapeOp>(op))
        return;
      std::string reason;
      auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
      if (std::optional<Linear> linear =
              type && type.getRank() >= 2 ? matchLinear(op->getResult(0), reason) : std::nullopt)
        others->push_back(*linear);
    });
  }
  auto found = llvm::find_if(*others, [&](const Linear &other) { return isLogitsOf(other, pre); });
  return found == others->end() ? std::nullopt : std::optional(*found);
}

void CoefficientRaiser::run() {
  std::vector<Linear> gates, logits;
  func.walk([&](Operation *op) {
    bool gate = isa<SigmoidOp>(op);
    if (!gate && !isa<SinkhornOp, PermutationMixOp>(op))
      return;
    std::string reason;
    if (auto linear = matchLinear(op->getOperand(0), reason))
      (gate ? gates : logits).push_back(*linear);
    else if (!reason.empty())
      remarkDeclined(op->getLoc(), "gates", reason);
  });
  for (const Linear &pre : gates) {
    if (pre.offset != 0 || pre.extent < kMinStreams || pre.extent > kMaxStreams)
      continue;
    if (pre.rows == pre.extent) {
      raise({pre});
      continue;
    }
    auto post = llvm::find_if(gates, [&](const Linear &other) {
      return other.offset == pre.extent && other.extent == pre.extent && sameSource(other, pre);
    });
    if (post == gates.end()) {
      remarkDeclined(pre.root.getLoc(), "gates", "only the first gate of the projection was found");
      continue;
    }
    auto found = llvm::find_if(logits, [&](const Linear &other) { return isLogitsOf(other, pre); });
    std::optional<Linear> rest = found == logits.end() ? findLogits(pre) : std::optional(*found);
    if (!rest) {
      remarkDeclined(pre.root.getLoc(), "gates", "the residual logits of the projection were not found");
      continue;
    }
    raise({pre, *post, *rest});
  }
}

void mhc::raiseCoefficients(func::FuncOp func) { CoefficientRaiser(func).run(); }
