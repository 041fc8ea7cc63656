//===- Coefficients.cpp - Gates and residual logits with their projection ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Coefficients.h"
#include "GateOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

/// The part of a base that a group reads: the places of the variables among those of the group, with one entry for its
/// rows.
static SmallVector<Index> readsOf(const FormBuilder &forms, const Factor &factor, const Linear &group) {
  std::optional<Rows> rows = readRows(forms, factor, group.row);
  Vars known = forms.flatten(group.tokens);
  llvm::append_range(known, forms.flatten(group.flat));
  SmallVector<Index> reads;
  for (auto [dim, index] : llvm::enumerate(factor.index)) {
    bool inside = rows && dim >= rows->begin && dim < rows->end;
    if (inside && dim == rows->begin)
      reads.push_back({{-1}, 0});
    if (inside)
      continue;
    Vars vars = forms.flatten(index.vars);
    for (Var &var : vars)
      var = llvm::find(known, var) - known.begin();
    reads.push_back({vars, index.offset});
  }
  return reads;
}

/// Whether two groups read the same elements of a base, or of two bases, but for the rows, with corresponding
/// variables.
static bool sameReads(const FormBuilder &forms, const std::optional<Factor> &x, const Linear &a,
                      const std::optional<Factor> &y, const Linear &b, bool anyBase = false) {
  if (!x || !y)
    return x.has_value() == y.has_value();
  return (x->base == y->base || anyBase) && readsOf(forms, *x, a) == readsOf(forms, *y, b);
}

/// Whether a group is all rows of a weight.
static bool hasWholeWeight(const Linear &group) { return group.phi && group.offset == 0 && group.rows == group.extent; }

/// Whether two groups are rows of the same projection, or of two weights of the same streams.
static bool sameSource(const FormBuilder &forms, const Linear &a, const Linear &b) {
  return a.multiplier.norm == b.multiplier.norm && a.multiplier.eps == b.multiplier.eps && a.statForm == b.statForm &&
         a.block() == b.block() && sameReads(forms, a.x, a, b.x, b) &&
         sameReads(forms, a.phi, a, b.phi, b, /*anyBase=*/true) && sameReads(forms, a.gamma, a, b.gamma, b) &&
         sameReads(forms, a.proj, a, b.proj, b) && sameReads(forms, a.stat, a, b.stat, b);
}

/// Whether no row is in both groups.
static bool areApart(const Linear &a, const Linear &b) {
  bool sameBase = a.phi ? a.phi->base == b.phi->base : a.proj->base == b.proj->base;
  return !sameBase || a.offset + a.extent <= b.offset || b.offset + b.extent <= a.offset;
}

/// Whether a group is what comes `distance` rows behind the beginning of `pre`. A weight that `pre` is all of is
/// followed by the beginning of another.
static bool follows(const Linear &group, const Linear &pre, int64_t distance) {
  if (!pre.phi || group.phi->base == pre.phi->base)
    return group.offset == pre.offset + distance;
  return hasWholeWeight(pre) && group.offset == 0;
}

SigmoidOp mhc::sigmoidOf(Value z) {
  auto users = z.getUsers();
  auto sigmoid = llvm::find_if(users, llvm::IsaPred<SigmoidOp>);
  return sigmoid == users.end() ? SigmoidOp() : cast<SigmoidOp>(*sigmoid);
}

namespace {
/// Groups in the order of the function, to be found by what they are rows of.
class Groups {
public:
  void add(const Linear &group) {
    bySource[group.source()].push_back(all.size());
    all.push_back(group);
  }
  const std::vector<Linear> &inOrder() const { return all; }

  /// The `extent` rows that come `distance` rows behind the beginning of the first of `taken`, and that none of them
  /// has.
  const Linear *find(const FormBuilder &forms, ArrayRef<const Linear *> taken, int64_t distance, int64_t extent) const {
    const Linear &pre = *taken.front();
    for (size_t number : bySource.lookup(pre.source()))
      if (const Linear &group = all[number];
          group.extent == extent && sameSource(forms, group, pre) && follows(group, pre, distance) &&
          llvm::all_of(taken, [&](const Linear *other) { return areApart(group, *other); }))
        return &group;
    return nullptr;
  }

private:
  std::vector<Linear> all;
  llvm::DenseMap<Value, SmallVector<size_t, 3>> bySource;
};

class CoefficientRaiser {
public:
  CoefficientRaiser(func::FuncOp func, FormBuilder &forms, Sites &sites) : func(func), forms(forms), sites(sites) {}
  void run();

private:
  void collectGates();
  /// `op` is no sigmoid: where its operand is a gate, that is the reason why there are none.
  void declineFunction(Operation *op);
  const Linear *findLogits(const Linear &pre, const Linear &post);
  const Linear *findLogits(const Linear &pre, const Linear &post, int64_t distance, int64_t extent);
  void raiseFrom(const Linear &pre);
  /// The `extent` rows from `offset` on are no group.
  void declineRows(const Linear &pre, Reason reason, int64_t offset, int64_t extent);

  func::FuncOp func;
  FormBuilder &forms; ///< not reset between sites: groups are compared by their variables
  Sites &sites;
  Groups gates;                 ///< arguments of sigmoids
  Groups logits;                ///< arguments of residual maps
  std::optional<Groups> others; ///< all values of the form, once they were searched
  llvm::DenseSet<Value> raised; ///< the roots of gates
};
} // namespace

void CoefficientRaiser::collectGates() {
  func.walk([&](Operation *op) {
    bool gate = isa<SigmoidOp>(op);
    if (isa<math::TanhOp, SoftmaxOp>(op))
      return declineFunction(op);
    if (!gate && !isa<SinkhornOp, PermutationMixOp>(op))
      return;
    std::optional<Miss> miss;
    // The logits as they are before they become matrices: other code may read them there.
    Value z = op->getOperand(0);
    while (auto matrices = gate ? tensor::ExpandShapeOp() : z.getDefiningOp<tensor::ExpandShapeOp>())
      z = matrices.getSrc();
    if (auto linear = matchLinear(forms, z, &miss))
      (gate ? gates : logits).add(*linear);
    else if (miss)
      sites.decline("gates", *miss);
  });
}

void CoefficientRaiser::declineFunction(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!type || type.getRank() < 2 || ShapedType::isDynamic(type.getShape().back()) ||
      type.getShape().back() > kMaxStreams)
    return; // most layers are wider
  std::optional<Linear> linear = matchLinear(forms, op->getOperand(0));
  if (linear && linear->rows > 2 * linear->extent && linear->offset <= linear->extent &&
      looksLikeGroup(forms, linear->extent, linear->rows, linear->product.sums))
    sites.decline("gates", {Reason::gateFunction, op, "'" + op->getName().getStringRef().str() + "'", "'mhc.sigmoid'",
                            linear->site()});
}

static bool feedsSigmoid(Value value) { return sigmoidOf(value) != nullptr; }

/// Rows apart from both gates: what a residual map reads or, where none does, any value.
const Linear *CoefficientRaiser::findLogits(const Linear &pre, const Linear &post, int64_t distance, int64_t extent) {
  if (const Linear *found = logits.find(forms, {&pre, &post}, distance, extent))
    return found;
  if (!others) {
    others.emplace();
    func.walk([&](Operation *op) {
      if (!isa<arith::AddFOp, tensor::ExtractSliceOp, tensor::ExpandShapeOp>(op) || feedsSigmoid(op->getResult(0)))
        return;
      auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
      if (auto linear = type && type.getRank() >= 2 ? matchLinear(forms, op->getResult(0)) : std::nullopt)
        others->add(*linear);
    });
  }
  return others->find(forms, {&pre, &post}, distance, extent);
}

void CoefficientRaiser::declineRows(const Linear &pre, Reason reason, int64_t offset, int64_t extent) {
  auto rows = [](int64_t first, int64_t count) {
    return std::to_string(first) + " to " + std::to_string(first + count - 1);
  };
  sites.decline("gates", {reason, pre.root.getDefiningOp(),
                          "rows " + rows(0, offset) + " of " + std::to_string(pre.rows) + " rows",
                          "rows " + rows(offset, extent) + " in the same form", pre.site()});
}

/// As many as the weight has or, where it has columns for others or the weights are apart, as one of the residual maps
/// reads.
const Linear *CoefficientRaiser::findLogits(const Linear &pre, const Linear &post) {
  int64_t n = pre.extent, rest = pre.rows - pre.offset - 2 * n;
  SmallVector<int64_t> extents;
  if (rest > 0)
    extents.push_back(rest);
  for (int64_t extent : {n * n, n <= kMaxPermuted ? static_cast<int64_t>(factorial(n)) : 0})
    if (extent > 0 && (extent < rest || hasWholeWeight(pre)))
      extents.push_back(extent);
  for (int64_t extent : extents)
    if (const Linear *found = findLogits(pre, post, 2 * n, extent))
      return found;
  // Or in front of them.
  return pre.phi && rest == 0 && pre.offset > 0 ? findLogits(pre, post, -pre.offset, pre.offset) : nullptr;
}

void CoefficientRaiser::raiseFrom(const Linear &pre) {
  if (!raised.insert(pre.root).second)
    return;
  const Linear *post = gates.find(forms, {&pre}, pre.extent, pre.extent);
  if (!feedsSigmoid(pre.root) || (post && !feedsSigmoid(post->root)))
    return; // taken as the logits of another site
  const Linear *rest = post ? findLogits(pre, *post) : nullptr;
  if (pre.offset != 0 && !rest)
    return; // a second gate, or no gate of streams
  if (pre.rows == pre.extent && !rest)
    return raiseSite(forms, sites, {&pre});
  if (!post)
    return declineRows(pre, Reason::secondGateMissing, pre.extent, pre.extent);
  if (!rest)
    return declineRows(pre, Reason::logitsMissing, 2 * pre.extent,
                       hasWholeWeight(pre) ? pre.extent * pre.extent : pre.rows - 2 * pre.extent);
  raised.insert(post->root);
  const Linear *first = &pre;
  if (hasWholeWeight(pre) && isSecondGate(sigmoidOf(pre.root), sigmoidOf(post->root)))
    std::swap(first, post);
  raiseSite(forms, sites, {first, post, rest});
}

void CoefficientRaiser::run() {
  collectGates();
  for (const Linear &pre : gates.inOrder()) {
    if (sites.mayTake() && pre.extent >= kMinStreams && pre.extent <= kMaxStreams)
      raiseFrom(pre);
    if (pre.extent > kMaxStreams && pre.offset == 0 && pre.rows == pre.extent * (pre.extent + 2))
      sites.decline("gates", {Reason::streamCount, pre.root.getDefiningOp(), std::to_string(pre.extent) + " streams",
                              "at most " + std::to_string(kMaxStreams) + " streams", pre.site()});
  }
}

void mhc::raiseCoefficients(func::FuncOp func, FormBuilder &forms, Sites &sites) {
  forms.reset();
  CoefficientRaiser(func, forms, sites).run();
}
