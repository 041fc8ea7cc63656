//===- AtenBytes.cpp - Bytes of captured PyTorch graphs -----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtenBytes.h"
#include "mhc/Analysis/CostModel.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mhc;

namespace {
/// The ops of a captured graph that are left where calls stand for some of its nodes.
class LeftOps {
public:
  LeftOps(func::FuncOp graph, const WrittenCalls &calls) : graph(graph) {
    for (const auto &[node, value] : *calls.text.getObject("nodes"))
      replaced.insert(node);
    llvm::StringSet<> read;
    for (Operation *op : calls.ops)
      for (Value operand : op->getOperands())
        if (auto argument = dyn_cast<BlockArgument>(operand))
          read.insert(nodeOf(cast<func::FuncOp>(op->getParentOp()), argument).getValue());
    for (Operation &op : graph.getBody().front()) {
      if (op.use_empty()) // for what it does
        addWithOperands(&op);
      for (Value result : op.getResults())
        if (StringAttr node = nodeOf(graph, result); node && read.contains(node.getValue()))
          addWithOperands(&op);
    }
    while (!reached.empty())
      addWithOperands(reached.pop_back_val());
  }

  bool contains(Operation *op) const { return left.contains(op); }

private:
  void addWithOperands(Operation *op) {
    if (!left.insert(op).second)
      return;
    for (Value operand : op->getOperands()) {
      StringAttr node = nodeOf(graph, operand);
      if (Operation *source = operand.getDefiningOp(); source && !(node && replaced.contains(node.getValue())))
        reached.push_back(source);
    }
  }

  func::FuncOp graph;
  llvm::StringSet<> replaced;
  llvm::SmallPtrSet<Operation *, 32> left;
  SmallVector<Operation *> reached;
};
} // namespace

/// Whether PyTorch shows the operand's elements where leaf ops make a tensor.
static bool isViewInPyTorch(Operation *op) {
  return isa<BroadcastOp, TransposeOp, tensor::ExtractSliceOp>(op) || isAtenView(op->getName().getStringRef());
}

static std::optional<int64_t> bytesOf(func::FuncOp func, llvm::function_ref<bool(Operation *)> isCounted) {
  Amount sum;
  for (const OpCost &op : costOf(func).ops) {
    if (!isCounted(op.op) || isViewInPyTorch(op.op))
      continue;
    if (!op.unknown.empty())
      return std::nullopt;
    sum += op.cost.bytes();
  }
  return sum.perToken != 0 ? std::nullopt : std::optional<int64_t>(sum.fixed);
}

std::optional<ReplacedBytes> mhc::replacedBytes(func::FuncOp graph, func::FuncOp found, const WrittenCalls &calls) {
  const LeftOps left(graph, calls);
  const llvm::SmallPtrSet<Operation *, 32> written(calls.ops.begin(), calls.ops.end());
  std::optional<int64_t> before = bytesOf(graph, [&](Operation *op) { return !left.contains(op); });
  std::optional<int64_t> after = bytesOf(found, [&](Operation *op) { return written.contains(op); });
  if (!before || !after)
    return std::nullopt;
  return ReplacedBytes{*before, *after};
}
