//===- Coefficients.cpp - Gates and residual logits with their projection ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Coefficients.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

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

/// Whether two groups are rows of the same projection.
static bool sameSource(const FormBuilder &forms, const Linear &a, const Linear &b) {
  return a.multiplier.norm == b.multiplier.norm && a.multiplier.eps == b.multiplier.eps && a.statForm == b.statForm &&
         a.rows == b.rows && a.block() == b.block() && sameReads(forms, a.x, a, b.x, b) &&
         sameReads(forms, a.phi, a, b.phi, b) && sameReads(forms, a.gamma, a, b.gamma, b) &&
         sameReads(forms, a.proj, a, b.proj, b) && sameReads(forms, a.stat, a, b.stat, b);
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

  /// The `extent` rows from `offset` on of the projection that `pre` is the beginning of.
  const Linear *find(const FormBuilder &forms, const Linear &pre, int64_t offset, int64_t extent) const {
    for (size_t number : bySource.lookup(pre.source()))
      if (const Linear &group = all[number];
          group.offset == offset && group.extent == extent && sameSource(forms, group, pre))
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
  const Linear *findLogits(const Linear &pre);
  void raiseFrom(const Linear &pre);
  /// The `extent` rows from `offset` on are no group.
  void declineRows(const Linear &pre, Reason reason, int64_t offset, int64_t extent);

  func::FuncOp func;
  FormBuilder &forms; ///< not reset between sites: groups are compared by their variables
  Sites &sites;
  Groups gates;                 ///< arguments of sigmoids
  Groups logits;                ///< arguments of residual maps
  std::optional<Groups> others; ///< all values of the form, once they were searched
};
} // namespace

void CoefficientRaiser::collectGates() {
  func.walk([&](Operation *op) {
    bool gate = isa<SigmoidOp>(op);
    if (!gate && !isa<SinkhornOp, PermutationMixOp>(op))
      return;
    std::optional<Miss> miss;
    // The logits as they are before they become matrices: other code may read them there.
    Value z = op->getOperand(0);
    while (auto matrices = gate ? tensor::ExpandShapeOp() : z.getDefiningOp<tensor::ExpandShapeOp>())
      z = matrices.getSrc();
    if (auto linear = matchLinear(forms, z, miss))
      (gate ? gates : logits).add(*linear);
    else if (miss)
      sites.decline("gates", *miss);
  });
}

/// The rows behind both gates: what a residual map reads or, where none does, any value.
const Linear *CoefficientRaiser::findLogits(const Linear &pre) {
  int64_t offset = 2 * pre.extent, extent = pre.rows - offset;
  if (const Linear *found = logits.find(forms, pre, offset, extent))
    return found;
  if (!others) {
    others.emplace();
    func.walk([&](Operation *op) {
      if (!isa<arith::AddFOp, tensor::ExtractSliceOp, tensor::ExpandShapeOp>(op))
        return;
      auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
      std::optional<Miss> miss;
      if (auto linear = type && type.getRank() >= 2 ? matchLinear(forms, op->getResult(0), miss) : std::nullopt)
        others->add(*linear);
    });
  }
  return others->find(forms, pre, offset, extent);
}

void CoefficientRaiser::declineRows(const Linear &pre, Reason reason, int64_t offset, int64_t extent) {
  auto rows = [](int64_t first, int64_t count) {
    return std::to_string(first) + " to " + std::to_string(first + count - 1);
  };
  sites.decline("gates", {reason, pre.root.getDefiningOp(),
                          "rows " + rows(0, offset) + " of " + std::to_string(pre.rows) + " rows",
                          "rows " + rows(offset, extent) + " in the same form"});
}

void CoefficientRaiser::raiseFrom(const Linear &pre) {
  if (pre.rows == pre.extent)
    return raiseSite(forms, sites, {&pre});
  const Linear *post = gates.find(forms, pre, pre.extent, pre.extent);
  if (!post)
    return declineRows(pre, Reason::secondGateMissing, pre.extent, pre.extent);
  const Linear *rest = findLogits(pre);
  if (!rest)
    return declineRows(pre, Reason::logitsMissing, 2 * pre.extent, pre.rows - 2 * pre.extent);
  raiseSite(forms, sites, {&pre, post, rest});
}

void CoefficientRaiser::run() {
  collectGates();
  for (const Linear &pre : gates.inOrder())
    if (pre.offset == 0 && pre.extent >= kMinStreams && pre.extent <= kMaxStreams)
      raiseFrom(pre);
}

void mhc::raiseCoefficients(func::FuncOp func, FormBuilder &forms, Sites &sites) {
  forms.reset();
  CoefficientRaiser(func, forms, sites).run();
}
