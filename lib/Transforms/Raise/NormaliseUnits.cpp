//===- NormaliseUnits.cpp - Dimensions of size one are added last ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op that reads a value with an added dimension of size one is computed without it, and has it added: where it is
// dropped again both go. A dimension that an argument has stays, as one token has it.
//
//===----------------------------------------------------------------------===//

#include "Normalise.h"
#include "RaiseForms.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

static llvm::SmallBitVector only(int64_t dim, int64_t rank) {
  llvm::SmallBitVector dims(rank);
  dims.set(dim);
  return dims;
}

/// The number of dimensions of one source dimension that a dimension of the result is among; all of a number's.
static int64_t sizeOfGroup(tensor::ExpandShapeOp op, int64_t dim) {
  for (const ReassociationIndices &group : op.getReassociationIndices())
    if (llvm::is_contained(group, dim))
      return group.size();
  return op.getType().getRank() + 1;
}

static bool addsUnit(tensor::ExpandShapeOp op, int64_t dim) {
  return op.getType().getDimSize(dim) == 1 && sizeOfGroup(op, dim) > 1;
}

bool mhc::addsOnlyUnits(tensor::ExpandShapeOp op) {
  return llvm::all_of(op.getReassociationIndices(), [&](ArrayRef<int64_t> group) {
    return llvm::count_if(group, [&](int64_t dim) { return op.getType().getDimSize(dim) != 1; }) <= 1;
  });
}

/// A dimension that a reshape adds to `value`.
static std::optional<int64_t> addedUnit(Value value) {
  auto expand = value.getDefiningOp<tensor::ExpandShapeOp>();
  for (int64_t dim = 0; expand && dim < expand.getType().getRank(); ++dim)
    if (addsUnit(expand, dim))
      return dim;
  return std::nullopt;
}

/// A dimension of size one along which `value` repeats something once.
static std::optional<int64_t> repeatedUnit(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  for (int64_t dim = 0; broadcast && dim < broadcast.getOut().getType().getRank(); ++dim)
    if (broadcast.getOut().getType().getDimSize(dim) == 1 && !llvm::is_contained(broadcast.getDims(), dim))
      return dim;
  return std::nullopt;
}

static Value withoutUnit(OpBuilder &builder, tensor::ExpandShapeOp op, int64_t dim) {
  if (op.getType().getRank() == op.getSrcType().getRank() + 1)
    return op.getSrc();
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  sizes.erase(sizes.begin() + dim);
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  for (ReassociationIndices &group : groups) {
    llvm::erase(group, dim);
    for (int64_t &other : group)
      other -= other > dim;
  }
  RankedTensorType type = LeafBuilder::typeOf(sizes, op.getType().getElementType());
  return tensor::ExpandShapeOp::create(builder, op.getLoc(), type, op.getSrc(), groups, sizes);
}

static Value withoutUnit(OpBuilder &builder, BroadcastOp op, int64_t dim) {
  LeafBuilder leaf(builder, op.getLoc());
  Value x = op.getX();
  SmallVector<int64_t> dims(op.getDims());
  if (auto *source = llvm::find(dims, dim); source != dims.end()) {
    x = leaf.dropUnits(x, only(source - dims.begin(), dims.size()));
    dims.erase(source);
  }
  for (int64_t &other : dims)
    other -= other > dim;
  LeafBuilder::Sizes sizes = leaf.sizesOf(op);
  sizes.erase(sizes.begin() + dim);
  return leaf.broadcast(x, sizes, dims);
}

/// Whether an operand can do without a dimension of size one.
static bool canDrop(Value value, int64_t dim) {
  auto expand = value.getDefiningOp<tensor::ExpandShapeOp>();
  return constantValue(value) || value.getDefiningOp<BroadcastOp>() || (expand && addsUnit(expand, dim));
}

static Value withoutUnit(OpBuilder &builder, Value value, int64_t dim) {
  LeafBuilder leaf(builder, value.getLoc());
  if (std::optional<double> number = constantValue(value))
    return leaf.splat(*number, leaf.dropUnits(value, only(dim, cast<RankedTensorType>(value.getType()).getRank())));
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    return withoutUnit(builder, broadcast, dim);
  return withoutUnit(builder, value.getDefiningOp<tensor::ExpandShapeOp>(), dim);
}

static void replaceWithUnit(PatternRewriter &rewriter, Operation *op, Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  rewriter.replaceOp(op, LeafBuilder(rewriter, op->getLoc()).insertUnits(value, only(dim, type.getRank())));
}

namespace {
struct ComputeWithoutUnits : RewritePattern {
  explicit ComputeWithoutUnits(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    std::optional<int64_t> dim = isElementwise(op) ? unitOf(op) : std::nullopt;
    if (!dim)
      return failure();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(withoutUnit(rewriter, operand, *dim));
    Type element = getElementTypeOrSelf(op->getResult(0));
    OperationState state(op->getLoc(), op->getName(), operands,
                         cast<RankedTensorType>(operands[0].getType()).clone(element), op->getAttrs());
    replaceWithUnit(rewriter, op, rewriter.create(state)->getResult(0), *dim);
    return success();
  }

private:
  /// A dimension that all operands can do without, and that one of them adds.
  static std::optional<int64_t> unitOf(Operation *op) {
    for (Value operand : op->getOperands()) {
      std::optional<int64_t> dim = addedUnit(operand);
      if (!dim)
        dim = repeatedUnit(operand);
      if (dim && llvm::all_of(op->getOperands(), [&](Value other) { return canDrop(other, *dim); }))
        return dim;
    }
    return std::nullopt;
  }
};
} // namespace

static LogicalResult transposeWithoutUnits(TransposeOp op, PatternRewriter &rewriter) {
  std::optional<int64_t> dim = addedUnit(op.getX());
  if (!dim)
    return failure();
  SmallVector<int64_t> perm(op.getPerm());
  int64_t place = llvm::find(perm, *dim) - perm.begin();
  perm.erase(perm.begin() + place);
  for (int64_t &other : perm)
    other -= other > *dim;
  Value x = withoutUnit(rewriter, op.getX(), *dim);
  replaceWithUnit(rewriter, op, LeafBuilder(rewriter, op.getLoc()).transpose(x, perm), place);
  return success();
}

static LogicalResult reduceWithoutUnits(ReduceOp op, PatternRewriter &rewriter) {
  std::optional<int64_t> dim = addedUnit(op.getX());
  if (!dim)
    return failure();
  SmallVector<int64_t> dims;
  int64_t before = 0;
  for (int64_t other : op.getDims()) {
    before += other < *dim;
    if (other != *dim)
      dims.push_back(other - (other > *dim));
  }
  Value x = withoutUnit(rewriter, op.getX(), *dim);
  Value reduced = dims.empty() ? x : LeafBuilder(rewriter, op.getLoc()).reduce(op.getKind(), x, dims);
  if (llvm::is_contained(op.getDims(), *dim))
    rewriter.replaceOp(op, reduced);
  else
    replaceWithUnit(rewriter, op, reduced, *dim - before);
  return success();
}

/// A dimension of size one that is repeated is a new one.
static LogicalResult broadcastWithoutUnits(BroadcastOp op, PatternRewriter &rewriter) {
  std::optional<int64_t> dim = addedUnit(op.getX());
  if (!dim)
    return failure();
  LeafBuilder leaf(rewriter, op.getLoc());
  SmallVector<int64_t> dims(op.getDims());
  dims.erase(dims.begin() + *dim);
  LeafBuilder::Sizes sizes = leaf.sizesOf(op);
  rewriter.replaceOp(op, leaf.broadcast(withoutUnit(rewriter, op.getX(), *dim), sizes, dims));
  return success();
}

/// The slice of what is without a dimension that a reshape adds to its source.
static Value withoutUnit(OpBuilder &builder, tensor::ExtractSliceOp op, int64_t dim) {
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets(), sizes = op.getMixedSizes(), strides = op.getMixedStrides();
  for (SmallVector<OpFoldResult> *list : {&offsets, &sizes, &strides})
    list->erase(list->begin() + dim);
  Value x = withoutUnit(builder, op.getSource(), dim);
  return tensor::ExtractSliceOp::create(builder, op.getLoc(), x, offsets, sizes, strides);
}

/// A dimension that is joined to others need not be added before, also where that is before a slice.
static LogicalResult joinWithoutUnits(tensor::CollapseShapeOp op, PatternRewriter &rewriter) {
  auto slice = op.getSrc().getDefiningOp<tensor::ExtractSliceOp>();
  if (slice && slice.getType().getRank() != slice.getSourceType().getRank())
    return failure();
  auto expand = (slice ? slice.getSource() : op.getSrc()).getDefiningOp<tensor::ExpandShapeOp>();
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  for (ReassociationIndices &group : groups) {
    auto isUnit = [&](int64_t dim) {
      return expand && addsUnit(expand, dim) && op.getSrcType().getDimSize(dim) == 1; // a slice may take nothing
    };
    auto *dim = llvm::find_if(group, isUnit);
    if (group.size() < 2 || dim == group.end())
      continue;
    int64_t dropped = *dim;
    group.erase(dim);
    for (ReassociationIndices &other : groups)
      for (int64_t &part : other)
        part -= part > dropped;
    Value x = slice ? withoutUnit(rewriter, slice, dropped) : withoutUnit(rewriter, expand, dropped);
    if (cast<RankedTensorType>(x.getType()).getRank() == op.getResultType().getRank())
      rewriter.replaceOp(op, x);
    else
      rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, op.getResultType(), x, groups);
    return success();
  }
  return failure();
}

/// A repetition along dimensions of size one adds units.
static LogicalResult foldUnitBroadcast(BroadcastOp op, PatternRewriter &rewriter) {
  int64_t rank = op.getOut().getType().getRank();
  llvm::SmallBitVector units(rank, true);
  for (auto [source, dim] : llvm::enumerate(op.getDims())) {
    units.reset(dim);
    if (op.getX().getType().getDimSize(source) != op.getOut().getType().getDimSize(dim))
      return failure();
  }
  for (int64_t dim = 0; dim < rank; ++dim)
    if (units[dim] && op.getOut().getType().getDimSize(dim) != 1)
      return failure();
  if (units.none())
    return failure();
  rewriter.replaceOp(op, LeafBuilder(rewriter, op.getLoc()).insertUnits(op.getX(), units));
  return success();
}

void mhc::addUnitPatterns(RewritePatternSet &patterns) {
  patterns.add<ComputeWithoutUnits>(patterns.getContext());
  patterns.add(transposeWithoutUnits);
  patterns.add(reduceWithoutUnits);
  patterns.add(broadcastWithoutUnits);
  patterns.add(joinWithoutUnits);
  patterns.add(foldUnitBroadcast);
}
