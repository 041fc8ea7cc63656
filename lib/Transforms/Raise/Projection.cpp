//===- Projection.cpp - Projections without gates ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bounds.h"
#include "Linear.h"
#include "Places.h"
#include "Readings.h"
#include "mhc/IR/Constants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;
using algebra::Size;
using Found = algebra::Reading::Found;

namespace {
/// 1/sqrt(sum + eps), 1/(sqrt(sum) + eps) or 1/max(sqrt(sum), eps), of a sum of squares.
struct SumNorm {
  Norm norm;
  double eps;
  bool rootOfMax;   ///< whether a maximum is under the root
  double scale = 1; ///< of the sum, or of its root, in a maximum
};

/// The second result of a projection.
struct Statistic {
  Stat form = Stat::applied;
  Norm norm = Norm::none;
  double eps = 0;
  std::optional<Found> own; ///< what the function has of it; none where it is applied
};

class ProjectionRaiser {
public:
  ProjectionRaiser(func::FuncOp func, algebra::Reading &reading, Sites &sites);
  void raise(Operation *op);

private:
  std::optional<Found> findValue(const std::optional<Expr> &expr, Operation *op);
  std::optional<Statistic> findStatistic(const LinearGroup &group, Operation *op);
  ProjectionOp build(OpBuilder &builder, const LinearGroup &group, const Statistic &statistic, Operation *op);
  bool replace(OpBuilder &builder, const LinearGroup &group, const Statistic &statistic, ProjectionOp made);

  algebra::Reading &reading;
  Sites &sites;
  llvm::DenseMap<const algebra::Node *, SmallVector<SumNorm>> norms; ///< that the function takes of each sum
  llvm::DenseSet<Operation *> replaced;
};
} // namespace

/// The number of streams whose gates and residual logits fill `rows` rows, or 0. An open number of rows tells none.
static int64_t streamsOfRows(int64_t rows) {
  int64_t found = 0;
  if (ShapedType::isDynamic(rows))
    return found;
  for (int64_t n = kMinStreams; n <= kMaxStreams; ++n)
    if (llvm::is_contained(logitsOf(n), rows - 2 * n))
      found = n;
  return found;
}

/// Whether a value, or a reshape of it, has `n` streams or channels of a row of this width last, or another number.
static void readStreams(Value value, int64_t n, int64_t width, bool &hasThem, bool &hasOthers) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  if (shape.size() > 2 && !ShapedType::isDynamic(shape.back()) && !ShapedType::isDynamic(shape.end()[-2]) &&
      shape.end()[-2] * shape.back() == width)
    (shape.end()[-2] == n || shape.back() == n ? hasThem : hasOthers) = true;
  for (Operation *user : value.getUsers())
    if (isReshape(user))
      readStreams(user->getResult(0), n, width, hasThem, hasOthers);
}

/// Whether the program has other numbers of streams in these rows alone: what is projected is no coefficient then.
static bool hasOtherStreams(Value rows, int64_t n, int64_t width) {
  bool hasThem = false, hasOthers = false;
  readStreams(behindReshapes(rows), n, width, hasThem, hasOthers);
  return hasOthers && !hasThem;
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

/// number / sqrt(sum + eps), number / (sqrt(sum) + eps), or a maximum in place of the addition
static std::optional<std::pair<const algebra::Node *, SumNorm>> readNorm(const Expr &value) {
  const algebra::Factor *root = algebra::singleFactor(value, -1), *divisor = root;
  if (root && root->node()->isReduce("sum"))
    return std::pair(root->node(), SumNorm{Norm::inside, 0, false});
  if (!root)
    divisor = algebra::singleFactor(value, -2);
  const algebra::Node *node = divisor ? divisor->node() : nullptr;
  const bool isMax = node && node->isApply("max");
  if (!node || (!isMax && (node->kind != algebra::Node::Sum || node->parts[0].size() != 2)))
    return std::nullopt;
  const Expr &terms = node->parts[0]; // a number comes last
  Expr first = isMax ? terms : Expr{terms[0]}, second = isMax ? node->parts[1] : Expr{terms[1]};
  if (algebra::numberOf(first))
    std::swap(first, second);
  const algebra::Factor *sum = algebra::singleFactor(first, root ? 2 : 1);
  std::optional<double> eps = algebra::numberOf(second);
  if (!sum || !sum->node()->isReduce("sum") || !eps || !isEps(*eps))
    return std::nullopt;
  if (!isMax)
    return std::pair(sum->node(), SumNorm{root ? Norm::inside : Norm::outside, *eps, false});
  const double scale = first[0].coefficient, bound = *eps / scale;
  if (scale <= 0)
    return std::nullopt;
  return std::pair(sum->node(), SumNorm{Norm::clamp, root ? std::sqrt(bound) : bound, root != nullptr, scale});
}

/// The norm that readNorm reads, of a sum that is `number` times the node that it was read of.
static std::optional<Expr> writeNorm(Algebra &algebra, const SumNorm &norm, const Expr &sum, double number) {
  const bool isInside = norm.norm == Norm::inside || norm.rootOfMax;
  std::optional<Expr> base = isInside ? sum : algebra.power(sum, 1);
  if (!base)
    return std::nullopt;
  if (norm.norm != Norm::clamp) {
    base = algebra.add(*base, Algebra::number(norm.eps * (isInside ? number : std::sqrt(number))));
    return base ? algebra.power(*base, isInside ? -1 : -2) : std::nullopt;
  }
  const double scale = norm.scale / (isInside ? number : std::sqrt(number));
  const double bound = norm.scale * (isInside ? norm.eps * norm.eps : norm.eps);
  base = algebra.apply("max", {Algebra::scale(*base, scale), Algebra::number(algebra::canonicalNumber(bound))});
  base = base ? algebra.power(*base, isInside ? -1 : -2) : std::nullopt;
  return base ? std::optional(Algebra::scale(*base, isInside ? std::sqrt(scale) : scale)) : std::nullopt;
}

ProjectionRaiser::ProjectionRaiser(func::FuncOp func, algebra::Reading &reading, Sites &sites)
    : reading(reading), sites(sites) {
  func.walk([&](Operation *op) {
    if (op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType()))
      if (auto norm = readNorm(reading.of(op->getResult(0))))
        norms[norm->first].push_back(norm->second);
  });
}

/// The first value of an expression in the block of `op`.
std::optional<Found> ProjectionRaiser::findValue(const std::optional<Expr> &expr, Operation *op) {
  if (!expr)
    return std::nullopt;
  std::vector<Found> all = reading.find(*expr);
  auto first = llvm::find_if(llvm::reverse(all), [&](Found found) {
    return std::abs(found.factor - 1) <= 1e-6 && getElementTypeOrSelf(found.value).isF32() &&
           found.value.getParentBlock() == op->getBlock();
  });
  return first == all.rend() ? std::nullopt : std::optional(*first);
}

/// The multiplier in the product or, for a raw product, a statistic of x beside it.
std::optional<Statistic> ProjectionRaiser::findStatistic(const LinearGroup &group, Operation *op) {
  if (group.norm != Norm::none)
    return Statistic{Stat::applied, group.norm, group.eps, {}};
  Algebra &algebra = reading.algebra();
  std::optional<Expr> sum = group.squares(algebra);
  const algebra::Factor *squares = sum ? algebra::singleFactor(*sum) : nullptr;
  if (!squares)
    return std::nullopt;
  const auto width = static_cast<double>(group.width());
  const double number = (*sum)[0].coefficient; // which the norm is read without
  for (const SumNorm &norm : norms.lookup(squares->node())) {
    std::optional<Expr> inverse = writeNorm(algebra, norm, *sum, number);
    if (std::optional<Found> own = inverse ? findValue(Algebra::scale(*inverse, std::sqrt(width)), op) : std::nullopt) {
      const double ratio = number / width;
      auto ofMean = static_cast<float>(norm.eps * (norm.norm == Norm::inside ? ratio : std::sqrt(ratio)));
      return Statistic{Stat::inv_rms, norm.norm, asWritten(APFloat(ofMean)), own};
    }
  }
  if (std::optional<Found> own = findValue(Algebra::scale(*sum, 1 / width), op))
    return Statistic{Stat::mean_square, Norm::none, 0, own};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Replacement
//===----------------------------------------------------------------------===//

/// Builds behind the inputs: the function's own statistic may have uses before the product.
ProjectionOp ProjectionRaiser::build(OpBuilder &builder, const LinearGroup &group, const Statistic &statistic,
                                     Operation *op) {
  const Expr x = group.streams();
  std::optional<Found> streams = findStreams(reading, x, op);
  std::optional<Found> weight = group.gamma ? nearest(reading, *group.gamma, op) : std::nullopt;
  if (!streams || (group.gamma && !weight))
    return {};
  SmallVector<Value> inputs = {streams->value, group.weight};
  if (weight)
    inputs.push_back(weight->value);
  setAfterInputs(builder, op->getBlock(), inputs);
  // Inner streams are told by the shape; flat rows do not say, and either reading projects the same.
  const int64_t n = streamsOfRows(group.extent), width = group.width();
  if (hasOtherStreams(streams->value, n, width))
    return {};
  bool isInner = group.flat.size() == 2 && group.flat[1].second == Size(n) && group.flat[0].second != Size(n);
  SmallVector<IndexVars> groups = {group.tokens, group.flat};
  if (isInner || (group.flat.size() == 2 && group.flat[0].second == Size(n)))
    groups = {group.tokens, {group.flat[0]}, {group.flat[1]}};
  Value xs = buildStreams(reading, builder, op, x, groups);
  if (xs && groups.size() == 2)
    xs = LeafBuilder(builder, op->getLoc()).split(xs, 1, {n, width / n});
  bool isOutIn = llvm::any_of(group.row, [&](auto &row) { return row.first == varsOf(group.weightAt).front(); });
  SmallVector<IndexVars> dims = {isOutIn ? group.row : group.flat, isOutIn ? group.flat : group.row};
  Value phi = xs ? arrange(reading, builder, op->getLoc(), group.weight, group.weightAt, dims) : Value();
  Value gamma = phi && weight ? algebra::build(reading, builder, op, *group.gamma, {group.flat}) : Value();
  if (!phi || (weight && !gamma))
    return {};
  Type f32 = builder.getF32Type(), type = getElementTypeOrSelf(xs), phiType = getElementTypeOrSelf(phi);
  if (isWide(xs) || (phiType != f32 && phiType != type))
    return {};
  int64_t tokens = cast<RankedTensorType>(xs.getType()).getDimSize(0);
  ProjectionOp::Fields fields;
  fields.proj = RankedTensorType::get({tokens, group.extent}, f32);
  fields.stat = statistic.own ? RankedTensorType::get({tokens}, f32) : Type();
  fields.x = xs;
  fields.phi = phi;
  fields.norm_weight = gamma;
  fields.layout = isInner ? Layout::Cn : Layout::nC;
  fields.phi_layout = isOutIn ? PhiLayout::out_in : PhiLayout::in_out;
  fields.norm = statistic.norm;
  fields.norm_eps = statistic.eps;
  fields.stat_form = statistic.form;
  return fields.create(builder, op->getLoc());
}

bool ProjectionRaiser::replace(OpBuilder &builder, const LinearGroup &group, const Statistic &statistic,
                               ProjectionOp made) {
  algebra::Sizes &sizes = reading.algebra().sizes;
  std::optional<algebra::Indices> from = indicesIn(sizes, {group.tokens, group.row}, group.rootAt);
  if (!from)
    return false;
  SmallVector<Value> was = {group.root};
  SmallVector<Value> becomes = {
      arrange(reading, builder, made.getLoc(), made.getProj(), *from, ownDims(reading, group.root))};
  if (statistic.own) {
    SmallVector<IndexVars> own;
    for (const algebra::Index &index : statistic.own->at) {
      IndexVars &vars = own.emplace_back();
      for (const algebra::Piece &piece : index.pieces)
        vars.push_back({piece.var, piece.extent});
    }
    was.push_back(statistic.own->value);
    becomes.push_back(arrange(reading, builder, made.getLoc(), made.getStat(), indicesOf(sizes, {group.tokens}), own));
  }
  if (llvm::is_contained(becomes, Value()) || !mayReplace(sites, made, was, becomes))
    return false;
  addPlaces(made.getOperation(), group.root);
  // The function's own statistic may have uses before the projection.
  for (auto [old, shaped] : llvm::zip(was, becomes))
    old.replaceUsesWithIf(shaped, [&](OpOperand &use) {
      return made->isBeforeInBlock(made->getBlock()->findAncestorOpInBlock(*use.getOwner()));
    });
  return true;
}

void ProjectionRaiser::raise(Operation *op) {
  if (llvm::all_of(op->getUsers(), [&](Operation *user) { return replaced.contains(user); }))
    return;
  std::optional<LinearGroup> group = matchLinearGroup(reading, op->getResult(0), op);
  const int64_t n = group ? streamsOfRows(group->extent) : 0;
  // A weight with more columns than rows is a layer behind a norm, such as the one that makes queries, keys and values.
  // Nor does the op scale tokens by another statistic.
  if (n == 0 || group->stat || !group->hasAllRows() || !group->beta.empty() || algebra::numberOf(group->alpha) != 1.0 ||
      group->extent > group->width() || group->width() % n != 0)
    return;
  std::optional<Statistic> statistic = findStatistic(*group, op);
  OpBuilder builder(op);
  ProjectionOp made = statistic ? build(builder, *group, *statistic, op) : ProjectionOp();
  if (!made || !replace(builder, *group, *statistic, made))
    return;
  replaced.insert(op);
  takeRaised(sites, made, Twine(group->extent) + " rows, norm " + stringifyNorm(statistic->norm));
}

/// A product, alone or scaled, whose columns are the gates and logits of some number of streams.
static bool isCandidate(Operation *op) {
  if (!isa<MatmulOp, arith::MulFOp, arith::DivFOp>(op))
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return type && type.getRank() == 2 && type.getElementType().isF32() && streamsOfRows(type.getDimSize(1)) != 0;
}

void mhc::raiseProjection(func::FuncOp func, Readings &readings, Sites &sites) {
  SmallVector<Operation *> candidates;
  for (Operation *op : opsFromTheEnd(func))
    if (isCandidate(op))
      candidates.push_back(op);
  if (candidates.empty())
    return;
  ProjectionRaiser raiser(func, readings.unrounded(), sites);
  for (Operation *op : candidates)
    if (sites.mayTake())
      raiser.raise(op);
}
