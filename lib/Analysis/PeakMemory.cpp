//===- PeakMemory.cpp - Bytes of temporaries that live together ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PeakMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mhc;

/// The larger one where there are many tokens.
static Amount larger(Amount a, Amount b) {
  return std::make_pair(a.perToken, a.fixed) < std::make_pair(b.perToken, b.fixed) ? b : a;
}

namespace {
class PeakFinder {
public:
  explicit PeakFinder(const TensorSizes &sizes) : sizes(sizes) {}

  /// Leaves out memory that the caller owns.
  void exclude(Value value) { excluded.insert(rootOf(value)); }

  Amount peakOf(Block &block) {
    llvm::DenseMap<Operation *, SmallVector<Value>> lastUses = findLastUses(block);
    Amount live, peak;
    for (Operation &op : block) {
      Amount inside;
      for (Region &region : op.getRegions())
        for (Block &body : region)
          inside = larger(inside, peakOf(body));
      for (Value result : op.getResults())
        live += sizeOf(result);
      peak = larger(peak, live + inside);
      for (Value value : lastUses[&op])
        live += -1.0 * sizeOf(value);
    }
    return peak;
  }

private:
  /// The value whose memory this one shows.
  Value rootOf(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      Value source = sizes.viewSource(op);
      if (!source)
        break;
      value = source;
    }
    return value;
  }

  Amount sizeOf(Value value) {
    if (!isa<RankedTensorType>(value.getType()) || excluded.contains(value) || rootOf(value) != value ||
        isa_and_nonnull<arith::ConstantOp>(value.getDefiningOp()))
      return {};
    std::string unknown;
    return sizes.bytes(value, unknown);
  }

  /// For each op of the block, the values that die after it: made in this block, read by no later op. A result that
  /// nobody reads dies at once.
  llvm::DenseMap<Operation *, SmallVector<Value>> findLastUses(Block &block) {
    llvm::DenseMap<Operation *, SmallVector<Value>> lastUses;
    llvm::DenseSet<Value> seen;
    for (Operation &op : llvm::reverse(block)) {
      auto use = [&](Value value) {
        Value root = rootOf(value);
        if (root.getDefiningOp() && root.getParentBlock() == &block && seen.insert(root).second)
          lastUses[&op].push_back(root);
      };
      op.walk([&](Operation *nested) { llvm::for_each(nested->getOperands(), use); });
      llvm::for_each(op.getResults(), use);
    }
    return lastUses;
  }

  const TensorSizes &sizes;
  llvm::DenseSet<Value> excluded;
};
} // namespace

Amount mhc::peakTemporaryBytes(func::FuncOp func, const TensorSizes &sizes) {
  PeakFinder finder(sizes);
  for (Block &block : func.getBody())
    if (auto returned = dyn_cast<func::ReturnOp>(block.getTerminator()))
      for (Value value : returned.getOperands())
        finder.exclude(value);
  Amount peak;
  for (Block &block : func.getBody())
    peak = larger(peak, finder.peakOf(block));
  return peak;
}
