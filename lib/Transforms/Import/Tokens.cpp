//===- Tokens.cpp - Sequences and batches as one dimension ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs have tokens as sequences and batches, [s, b, ...], and join them for products of matrices, as mHC ops have
// them. Where both sizes are unknown, all that keeps them apart is computed on joined tokens: the reshapes in between
// undo each other, and those that stay move nothing.
//
//===----------------------------------------------------------------------===//

#include "Import.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mhc;

static RankedTensorType tensorType(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

static RankedTensorType joinedType(RankedTensorType type) { return type.clone(type.getShape().drop_front()); }

namespace {
class TokenJoiner {
public:
  TokenJoiner(func::FuncOp func, BlockArgument tokens, const DimAnalysis &dims);
  void run();

private:
  bool isSplit(Value value) const { return split.contains(value) || sources.contains(value); }
  Value joined(Value tensor);
  /// Sizes that begin with both dimensions, with their product in place of them.
  LeafBuilder::Sizes joinedSizes(LeafBuilder::Sizes sizes) const;
  Value apart(Value tensor);
  /// The result of an op on joined tokens; null where it does not keep them.
  Value compute(Operation *op);
  Value again(Operation *op);
  Value repeat(BroadcastOp op);
  Value slice(tensor::ExtractSliceOp op);
  Value reshape(tensor::CollapseShapeOp op);
  Value reshape(tensor::ExpandShapeOp op);
  Value splitOthers(tensor::ExpandShapeOp op);
  void joinOthers(tensor::CollapseShapeOp op);
  /// Carries joined tokens through a loop.
  void carry(scf::ForOp loop);
  void yieldJoined(scf::YieldOp yield, scf::ForOp loop);

  func::FuncOp func;
  OpBuilder builder;
  OpFoldResult sequences, batches, count;
  llvm::DenseSet<Value> split;          ///< values of the program that begin with both dimensions
  llvm::DenseMap<Value, Value> sources; ///< of what was computed on joined tokens, in both dimensions
  llvm::DenseMap<Value, Value> joinedAlready;
};
} // namespace

TokenJoiner::TokenJoiner(func::FuncOp func, BlockArgument tokens, const DimAnalysis &dims)
    : func(func), builder(func.getBody()) {
  auto visit = [&](Value value) {
    RankedTensorType type = tensorType(value);
    if (type && type.getRank() >= 2 && type.isDynamicDim(0) && type.isDynamicDim(1) &&
        dims.sameSize(value, 0, tokens, 0) && dims.sameSize(value, 1, tokens, 1))
      split.insert(value);
  };
  func.walk([&](Block *block) {
    llvm::for_each(block->getArguments(), visit);
    for (Operation &op : *block)
      llvm::for_each(op.getResults(), visit);
  });
  LeafBuilder leaf(builder, tokens.getLoc());
  sequences = leaf.size(tokens, 0);
  batches = leaf.size(tokens, 1);
  Value rows = leaf.join(tokens, 0, 2);
  joinedAlready[tokens] = rows;
  count = leaf.size(rows, 0);
}

Value TokenJoiner::joined(Value tensor) {
  if (Value source = sources.lookup(tensor))
    return source;
  Value &rows = joinedAlready[tensor];
  if (!rows) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(tensor);
    rows = LeafBuilder(builder, tensor.getLoc()).join(tensor, 0, 2);
  }
  return rows;
}

LeafBuilder::Sizes TokenJoiner::joinedSizes(LeafBuilder::Sizes sizes) const {
  sizes.erase(sizes.begin());
  sizes[0] = count;
  return sizes;
}

Value TokenJoiner::apart(Value tensor) {
  LeafBuilder leaf(builder, tensor.getLoc());
  LeafBuilder::Sizes sizes = {sequences, batches}, own = leaf.sizesOf(tensor);
  SmallVector<ReassociationIndices> groups = {{0, 1}};
  for (OpFoldResult size : llvm::drop_begin(own)) {
    groups.push_back({static_cast<int64_t>(sizes.size())});
    sizes.push_back(size);
  }
  RankedTensorType type = LeafBuilder::typeOf(sizes, getElementTypeOrSelf(tensor));
  Value both = tensor::ExpandShapeOp::create(builder, tensor.getLoc(), type, tensor, groups, sizes);
  sources[both] = tensor;
  return both;
}

//===----------------------------------------------------------------------===//
// Ops that keep tokens apart
//===----------------------------------------------------------------------===//

/// Dimensions behind the tokens, which join to one; nothing where one of them is a token dimension.
static std::optional<SmallVector<int64_t>> behindTokens(ArrayRef<int64_t> dims) {
  if (llvm::any_of(dims, [](int64_t dim) { return dim < 2; }))
    return std::nullopt;
  return llvm::map_to_vector(dims, [](int64_t dim) { return dim - 1; });
}

Value TokenJoiner::again(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isSplit(operand) ? joined(operand) : operand);
  OperationState state(op->getLoc(), op->getName(), operands, joinedType(tensorType(op->getResult(0))), op->getAttrs());
  return builder.create(state)->getResult(0);
}

Value TokenJoiner::repeat(BroadcastOp op) {
  LeafBuilder leaf(builder, op.getLoc());
  LeafBuilder::Sizes sizes = joinedSizes(leaf.sizesOf(op.getOut()));
  ArrayRef<int64_t> all = op.getDims();
  bool tokens = all.size() >= 2 && all[0] == 0 && all[1] == 1 && isSplit(op.getX());
  std::optional<SmallVector<int64_t>> dims = behindTokens(tokens ? all.drop_front(2) : all);
  if (!dims)
    return {};
  if (tokens)
    dims->insert(dims->begin(), 0);
  return leaf.broadcast(tokens ? joined(op.getX()) : Value(op.getX()), sizes, *dims);
}

Value TokenJoiner::slice(tensor::ExtractSliceOp op) {
  if (op.getStaticOffset(0) != 0 || op.getStaticOffset(1) != 0 || !op.hasUnitStride() || op.getDroppedDims()[0] ||
      op.getDroppedDims()[1])
    return {};
  auto withoutFirst = [](SmallVector<OpFoldResult> list) {
    list.erase(list.begin());
    return list;
  };
  return tensor::ExtractSliceOp::create(builder, op.getLoc(), joinedType(op.getType()), joined(op.getSource()),
                                        withoutFirst(op.getMixedOffsets()), joinedSizes(op.getMixedSizes()),
                                        withoutFirst(op.getMixedStrides()));
}

/// Groups behind the tokens for joined ones; nothing where tokens are in a group with something else.
static std::optional<SmallVector<ReassociationIndices>> groupsBehind(ArrayRef<ReassociationIndices> groups) {
  if (groups[0].size() != 1 || groups[1].size() != 1)
    return std::nullopt;
  SmallVector<ReassociationIndices> result = {{0}};
  for (ArrayRef<int64_t> group : groups.drop_front(2))
    result.emplace_back(llvm::map_to_vector<2>(group, [](int64_t dim) { return dim - 1; }));
  return result;
}

Value TokenJoiner::reshape(tensor::CollapseShapeOp op) {
  auto groups = groupsBehind(op.getReassociationIndices());
  return groups ? Value(tensor::CollapseShapeOp::create(builder, op.getLoc(), joined(op.getSrc()), *groups)) : Value();
}

Value TokenJoiner::reshape(tensor::ExpandShapeOp op) {
  auto groups = groupsBehind(op.getReassociationIndices());
  if (!groups)
    return {};
  return tensor::ExpandShapeOp::create(builder, op.getLoc(), joinedType(op.getResultType()), joined(op.getSrc()),
                                       *groups, joinedSizes(op.getMixedOutputShape()));
}

/// Groups of which the first is the tokens, for joined ones.
static void joinFirst(SmallVectorImpl<ReassociationIndices> &groups) {
  groups[0].pop_back();
  for (ReassociationIndices &group : MutableArrayRef(groups).drop_front())
    for (int64_t &dim : group)
      --dim;
}

/// Where one reshape splits tokens and other dimensions: only the others, if there are any.
Value TokenJoiner::splitOthers(tensor::ExpandShapeOp op) {
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  if (groups[0] != ReassociationIndices{0, 1})
    return {};
  joinFirst(groups);
  RankedTensorType type = joinedType(op.getResultType());
  if (type == op.getSrcType())
    return op.getSrc();
  return tensor::ExpandShapeOp::create(builder, op.getLoc(), type, op.getSrc(), groups,
                                       joinedSizes(op.getMixedOutputShape()));
}

/// Where one reshape joins tokens and other dimensions: only the others.
void TokenJoiner::joinOthers(tensor::CollapseShapeOp op) {
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  if (groups.empty() || groups[0] != ReassociationIndices{0, 1})
    return;
  joinFirst(groups);
  Value rows = joined(op.getSrc());
  if (rows == op.getResult())
    return;
  bool others = llvm::any_of(groups, [](ArrayRef<int64_t> group) { return group.size() > 1; });
  if (others)
    rows = tensor::CollapseShapeOp::create(builder, op.getLoc(), rows, groups);
  op.replaceAllUsesWith(rows);
}

Value TokenJoiner::compute(Operation *op) {
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return repeat(broadcast);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op); expand && !isSplit(expand.getSrc()))
    return splitOthers(expand);
  if (op->getNumOperands() == 0 || !isSplit(op->getOperand(0)))
    return {};
  LeafBuilder leaf(builder, op->getLoc());
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](ReduceOp op) {
        auto dims = behindTokens(op.getDims());
        return dims ? leaf.reduce(op.getKind(), joined(op.getX()), *dims) : Value();
      })
      .Case([&](SoftmaxOp op) { return op.getDim() < 2 ? Value() : leaf.softmax(joined(op.getX()), op.getDim() - 1); })
      .Case([&](TransposeOp op) {
        auto perm = behindTokens(op.getPerm().drop_front(2));
        if (!perm || op.getPerm()[0] != 0)
          return Value();
        perm->insert(perm->begin(), 0);
        return leaf.transpose(joined(op.getX()), *perm);
      })
      .Case([&](tensor::ConcatOp op) {
        auto parts = llvm::map_to_vector(op.getInputs(), [&](Value part) { return joined(part); });
        return op.getDim() < 2 ? Value() : leaf.concat(parts, op.getDim() - 1);
      })
      .Case([&](tensor::ExtractSliceOp op) { return slice(op); })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>([&](auto op) { return reshape(op); })
      .Case([&](RmsNormOp op) { return op.getType().getRank() > 2 ? again(op) : Value(); })
      .Default([&](Operation *op) {
        bool elementwise = op->hasTrait<OpTrait::Elementwise>() &&
                           llvm::all_of(op->getOperands(), [&](Value operand) { return isSplit(operand); });
        return elementwise ? again(op) : Value();
      });
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

void TokenJoiner::carry(scf::ForOp loop) {
  auto *yield = loop.getBody()->getTerminator();
  for (auto [i, arg] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (!isSplit(arg) || !isSplit(loop.getInitArgs()[i]) || !isSplit(yield->getOperand(i)))
      continue;
    auto retype = [&](Value value) {
      auto uses = llvm::map_to_vector(value.getUses(), [](OpOperand &use) { return &use; });
      value.setType(joinedType(tensorType(value)));
      Value both = apart(value); // which reads sizes of the joined value
      for (OpOperand *use : uses)
        use->set(both);
    };
    loop.getInitArgsMutable()[i].set(joined(loop.getInitArgs()[i]));
    builder.setInsertionPointToStart(loop.getBody());
    retype(arg);
    builder.setInsertionPointAfter(loop);
    retype(loop.getResult(i));
  }
}

/// Makes a loop's body yield what its loop carries.
void TokenJoiner::yieldJoined(scf::YieldOp yield, scf::ForOp loop) {
  for (auto [arg, yielded] : llvm::zip(loop.getRegionIterArgs(), yield->getOpOperands()))
    if (yielded.get().getType() != arg.getType())
      yielded.set(joined(yielded.get()));
}

void TokenJoiner::run() {
  SmallVector<Operation *> ops, replaced;
  func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    builder.setInsertionPoint(op);
    auto parent = dyn_cast<scf::ForOp>(op->getParentOp());
    if (auto loop = dyn_cast<scf::ForOp>(op))
      carry(loop);
    else if (auto yield = dyn_cast<scf::YieldOp>(op); yield && parent)
      yieldJoined(yield, parent);
    else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op); collapse && isSplit(collapse.getSrc()))
      joinOthers(collapse);
    if (op->getNumResults() != 1 || !split.contains(op->getResult(0)) || isa<scf::ForOp>(op))
      continue;
    if (Value result = compute(op)) {
      op->getResult(0).replaceAllUsesWith(apart(result));
      replaced.push_back(op);
    }
  }
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
}

void mhc::joinTokens(func::FuncOp func) {
  auto *tokens = llvm::find_if(func.getArguments(), [](BlockArgument argument) {
    RankedTensorType type = tensorType(argument);
    return type && type.getRank() > 2 && type.isDynamicDim(0) && type.isDynamicDim(1);
  });
  if (tokens == func.getArguments().end())
    return;
  // A size that is a number after all stays apart: its reshapes have types that know less than their operands do.
  DimAnalysis dims(func);
  auto isNumber = [&](int dim) { return dims.factors(*tokens, dim).second.empty(); };
  if (!isNumber(0) && !isNumber(1))
    TokenJoiner(func, *tokens, dims).run();
}
