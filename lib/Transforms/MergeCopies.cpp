//===- MergeCopies.cpp - Equal computations as one value -------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Does what MLIR's elimination of common subexpressions does, where all ops are free of effects and regions have one
// block, as in nearly all functions: with one hash an op. MLIR's table works it out again at each growth and compares
// ops wherever two meet in it, which was a tenth of the time of raising a deep model. It does the rest.
//
//===----------------------------------------------------------------------===//

#include "mhc/Transforms/MergeCopies.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace mhc;

namespace {
/// An op in a table.
struct Computation {
  size_t hash;
  Operation *op;
};
} // namespace

namespace llvm {
template <>
struct DenseMapInfo<Computation> {
  using Ops = DenseMapInfo<Operation *>;
  static Computation getEmptyKey() { return {0, Ops::getEmptyKey()}; }
  static Computation getTombstoneKey() { return {0, Ops::getTombstoneKey()}; }
  static unsigned getHashValue(Computation computation) { return static_cast<unsigned>(computation.hash); }
  static bool isEqual(Computation a, Computation b) {
    if (a.op == b.op)
      return true;
    auto isOp = [](Computation computation) {
      return computation.op != Ops::getEmptyKey() && computation.op != Ops::getTombstoneKey();
    };
    return a.hash == b.hash && isOp(a) && isOp(b) &&
           OperationEquivalence::isEquivalentTo(a.op, b.op, OperationEquivalence::IgnoreLocations);
  }
};
} // namespace llvm

namespace {
class CopyMerger {
public:
  explicit CopyMerger(IRRewriter &rewriter) : rewriter(rewriter) {}

  /// False where there is something that is left to MLIR.
  bool run(Region &body) {
    const bool isAll = visit(body);
    for (Operation *op : merged)
      rewriter.eraseOp(op);
    return isAll;
  }

private:
  bool visit(Region &region) {
    if (region.empty())
      return true;
    if (!region.hasOneBlock() || mayBeGraphRegion(region))
      return false;
    std::vector<Computation> own; // which end with the region
    for (Operation &op : region.front()) {
      if (op.getNumRegions() != 0 && op.mightHaveTrait<OpTrait::IsIsolatedFromAbove>())
        return false;
      for (Region &inner : op.getRegions())
        if (!visit(inner))
          return false;
      if (!visit(&op, own))
        return false;
    }
    if (!isa<func::FuncOp>(region.getParentOp()))
      for (Computation computation : own)
        known.erase(computation);
    return true;
  }

  bool visit(Operation *op, std::vector<Computation> &own) {
    if (op->hasTrait<OpTrait::IsTerminator>())
      return true;
    if (isOpTriviallyDead(op)) {
      merged.push_back(op);
      return true;
    }
    if (!isMemoryEffectFree(op))
      return false;
    const size_t hash =
        OperationEquivalence::computeHash(op, OperationEquivalence::directHashValue,
                                          OperationEquivalence::ignoreHashValue, OperationEquivalence::IgnoreLocations);
    auto [first, isNew] = known.insert({hash, op});
    if (isNew)
      own.push_back({hash, op});
    else
      merge(op, first->op);
    return true;
  }

  void merge(Operation *op, Operation *first) {
    if (auto *listener = dyn_cast_if_present<RewriterBase::Listener>(rewriter.getListener()))
      listener->notifyOperationReplaced(op, first);
    rewriter.replaceAllUsesWith(op->getResults(), first->getResults());
    merged.push_back(op);
    if (isa<UnknownLoc>(first->getLoc()) && !isa<UnknownLoc>(op->getLoc()))
      first->setLoc(op->getLoc());
  }

  IRRewriter &rewriter;
  llvm::DenseSet<Computation> known;
  std::vector<Operation *> merged; ///< erased in the end: the walk stands on them
};
} // namespace

void mhc::mergeCopies(func::FuncOp func, RewriterBase::Listener *listener) {
  IRRewriter rewriter(func.getContext(), listener);
  if (CopyMerger(rewriter).run(func.getBody()))
    return;
  DominanceInfo dominance(func);
  eliminateCommonSubExpressions(rewriter, dominance, func);
}
