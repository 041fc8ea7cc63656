//===- NormaliseTransposes.cpp - Transposes, and repetitions of them ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Repeated values are transposed in front of what repeats them, where there are fewer elements. Tokens come first
// there. So they do in products.
//
//===----------------------------------------------------------------------===//

#include "Normalise.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mhc;

/// The positions of some dimensions in their sorted order: the order in which a transpose of the sorted ones has them.
static SmallVector<int64_t> ranksOf(ArrayRef<int64_t> dims) {
  SmallVector<int64_t> sorted(dims);
  llvm::sort(sorted);
  return llvm::map_to_vector(dims, [&](int64_t dim) -> int64_t { return llvm::find(sorted, dim) - sorted.begin(); });
}

template <typename T>
static SmallVector<T> permuted(ArrayRef<T> list, ArrayRef<int64_t> perm) {
  return llvm::map_to_vector(perm, [&](int64_t i) { return list[i]; });
}

/// A repetition of a transpose.
static Value transposeBroadcast(OpBuilder &builder, BroadcastOp broadcast, ArrayRef<int64_t> perm) {
  LeafBuilder leaf(builder, broadcast.getLoc());
  SmallVector<int64_t> inverse = invertPermutationVector(perm);
  SmallVector<int64_t> dims = permuted<int64_t>(inverse, broadcast.getDims());
  SmallVector<int64_t> order = invertPermutationVector(ranksOf(dims));
  Value x = llvm::is_sorted(order) ? Value(broadcast.getX()) : leaf.transpose(broadcast.getX(), order);
  llvm::sort(dims);
  LeafBuilder::Sizes sizes = leaf.sizesOf(broadcast);
  return leaf.broadcast(x, permuted<OpFoldResult>(sizes, perm), dims);
}

/// The dimension of the tokens, the only one of unknown size, where others come before it; 0 for any other type.
static int64_t tokensBehindOthers(RankedTensorType type) {
  return type.getNumDynamicDims() == 1 ? llvm::find_if(type.getShape(), ShapedType::isDynamic) - type.getShape().begin()
                                       : 0;
}

/// A dimension of one element that is repeated is one that the operand has not, where channels alone come behind it. In
/// the last place a token has one number, such as the scale of a norm, which stays with the streams that it scales; and
/// pixels behind the channels are tokens.
static LogicalResult repeatWithoutUnits(BroadcastOp op, PatternRewriter &rewriter) {
  auto isUnit = [&](auto dim) {
    return op.getX().getType().getDimSize(dim.index()) == 1 && op.getType().getDimSize(dim.value()) != 1;
  };
  llvm::SmallBitVector units(op.getDims().size());
  SmallVector<int64_t> dims;
  for (auto dim : llvm::enumerate(op.getDims()))
    if (isUnit(dim))
      units.set(dim.index());
    else
      dims.push_back(dim.value());
  if (units.none() || units.find_last() + 2 != static_cast<int>(units.size()))
    return failure();
  Value x = LeafBuilder(rewriter, op.getLoc()).dropUnits(op.getX(), units);
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), x, op.getSizes(), dims);
  return success();
}

/// Whether a dimension of a repetition is one of what is repeated, with its size.
static bool isKept(BroadcastOp op, int64_t dim) {
  const auto *own = llvm::find(op.getDims(), dim);
  return own != op.getDims().end() &&
         cast<RankedTensorType>(op.getX().getType()).getDimSize(own - op.getDims().begin()) ==
             op.getOut().getType().getDimSize(dim);
}

/// The tokens in front of what is new, and behind the dimensions that they have before them, such as a batch.
static LogicalResult repeatTokensFirst(BroadcastOp op, PatternRewriter &rewriter) {
  int64_t tokens = tokensBehindOthers(op.getOut().getType());
  if (tokens == 0)
    return failure();
  auto all = llvm::seq<int64_t>(0, op.getOut().getType().getRank());
  SmallVector<int64_t> perm;
  if (isKept(op, tokens) && tokens + 1 < op.getOut().getType().getRank())
    llvm::copy_if(llvm::seq<int64_t>(0, tokens), std::back_inserter(perm),
                  [&](int64_t dim) { return isKept(op, dim); });
  perm.push_back(tokens);
  llvm::copy_if(all, std::back_inserter(perm), [&](int64_t dim) { return !llvm::is_contained(perm, dim); });
  if (llvm::is_sorted(perm))
    return failure();
  Value repeated = transposeBroadcast(rewriter, op, perm);
  rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getOut().getType(), repeated, invertPermutationVector(perm));
  return success();
}

bool mhc::isRepeated(Value value) {
  for (int steps = 0; steps <= kMostSteps; ++steps, value = value.getDefiningOp()->getOperand(0)) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<BroadcastOp>(op))
      return true;
    bool square = isa_and_nonnull<arith::MulFOp>(op) && op->getOperand(0) == op->getOperand(1);
    if (!square && !isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(op))
      return false;
  }
  return false;
}

/// Computes of other operands what an op computes of its own.
static Value computeOf(OpBuilder &builder, Operation *op, function_ref<Value(Value)> operandOf) {
  SmallVector<Value> operands;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    operands.push_back(i > 0 && operand == op->getOperand(0) ? operands[0] : operandOf(operand));
  Type element = getElementTypeOrSelf(op->getResult(0));
  OperationState state(op->getLoc(), op->getName(), operands,
                       cast<RankedTensorType>(operands[0].getType()).clone(element), op->getAttrs());
  return builder.create(state)->getResult(0);
}

Value mhc::transposeRepeated(OpBuilder &builder, Value value, ArrayRef<int64_t> perm) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    return transposeBroadcast(builder, broadcast, perm);
  return computeOf(builder, value.getDefiningOp(),
                   [&](Value operand) { return transposeRepeated(builder, operand, perm); });
}

/// Whether a value is computed of what is repeated, and of nothing else, for one reader.
static bool isComputedOfRepeated(Value value, int steps = kMostSteps) {
  Operation *op = value.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op))
    return repeatsWholeDims(broadcast);
  auto isComputed = [&](Value operand) { return isComputedOfRepeated(operand, steps - 1); };
  return steps > 0 && op && isElementwise(op) && singleUser(value) && llvm::all_of(op->getOperands(), isComputed);
}

static LogicalResult transposeBeforeRepeating(TransposeOp op, PatternRewriter &rewriter) {
  // Streams that are repeated have no order yet; others keep theirs.
  if ((!isRepeated(op.getX()) && !isComputedOfRepeated(op.getX())) || tokensBehindOthers(op.getType()) != 0)
    return failure();
  rewriter.replaceOp(op, transposeRepeated(rewriter, op.getX(), op.getPerm()));
  return success();
}

/// A product has its tokens in front.
static LogicalResult multiplyBeforeTranspose(MatmulOp op, PatternRewriter &rewriter) {
  if (op.getType().isDynamicDim(0) || !op.getType().isDynamicDim(1))
    return failure();
  LeafBuilder leaf(rewriter, op.getLoc());
  Value product = leaf.matmul(op.getRhs(), op.getLhs(), !op.getTransposeRhs(), !op.getTransposeLhs());
  rewriter.replaceOp(op, leaf.transpose(product, {1, 0}));
  return success();
}

/// The row that reshapes show as a column, or the column that they show as a row; null for others.
static Value turned(Value matrix) {
  auto type = cast<RankedTensorType>(matrix.getType());
  SmallVector<int64_t> shape(type.getShape());
  std::swap(shape.back(), shape.end()[-2]);
  // The type tells the shape but for one size, which follows from the number of elements.
  if (!llvm::is_contained(ArrayRef(shape).take_back(2), 1) || llvm::is_contained(shape, 0) ||
      type.getNumDynamicDims() > 1)
    return {};
  for (Operation *op = matrix.getDefiningOp(); op && isReshape(op); op = op->getOperand(0).getDefiningOp())
    if (op->getOperand(0).getType() == type.clone(shape))
      return op->getOperand(0);
  return {};
}

/// A row that is shown as a column is transposed: a flag of the product, as with other matrices.
template <typename Op>
static LogicalResult takeTurned(Op op, PatternRewriter &rewriter) {
  Value lhs = turned(op.getLhs()), rhs = turned(op.getRhs());
  if (!lhs && !rhs)
    return failure();
  rewriter.replaceOpWithNewOp<Op>(op, op.getType(), lhs ? lhs : Value(op.getLhs()), rhs ? rhs : Value(op.getRhs()),
                                  op.getTransposeLhs() != bool(lhs), op.getTransposeRhs() != bool(rhs));
  return success();
}

void mhc::addTransposePatterns(RewritePatternSet &patterns) {
  patterns.add(multiplyBeforeTranspose);
  patterns.add(takeTurned<MatmulOp>);
  patterns.add(takeTurned<BatchMatmulOp>);
  patterns.add(repeatWithoutUnits);
  patterns.add(repeatTokensFirst);
  patterns.add(transposeBeforeRepeating);
}
