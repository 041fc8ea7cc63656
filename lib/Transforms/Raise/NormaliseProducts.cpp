//===- NormaliseProducts.cpp - One form of each matrix product ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Normalise.h"
#include "RaiseForms.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mhc;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Rows and columns of a type swapped.
static RankedTensorType transposedType(Value matrix) {
  SmallVector<int64_t> shape(tensorType(matrix).getShape());
  std::swap(shape.back(), shape[shape.size() - 2]);
  return tensorType(matrix).clone(shape);
}

bool mhc::swapsRowsAndColumns(TransposeOp op) {
  ArrayRef<int64_t> perm = op.getPerm();
  int64_t rank = perm.size();
  return rank > 1 && perm[rank - 1] == rank - 2 && perm[rank - 2] == rank - 1;
}

/// The row that reshapes make a column of, or the other way round.
static Value turned(Value matrix) {
  auto expand = matrix.getDefiningOp<tensor::ExpandShapeOp>();
  auto collapse = expand ? expand.getSrc().getDefiningOp<tensor::CollapseShapeOp>() : tensor::CollapseShapeOp();
  int64_t rank = tensorType(matrix).getRank();
  if (!collapse || !singleUser(collapse) || rank < 2 || collapse.getSrcType().getRank() != rank)
    return {};
  ArrayRef<int64_t> shape = tensorType(matrix).getShape().take_back(2);
  bool isTurned = llvm::is_contained(shape, 1) && transposedType(collapse.getSrc()) == matrix.getType();
  return isTurned ? collapse.getSrc() : Value();
}

/// The matrix of which an operand is the transpose.
static Value transposed(Value matrix) {
  auto transpose = matrix.getDefiningOp<TransposeOp>();
  if (!transpose)
    return turned(matrix);
  return swapsRowsAndColumns(transpose) ? Value(transpose.getX()) : Value();
}

/// A transposed operand is the flag of the product.
template <typename Product>
static LogicalResult foldOperandTranspose(Product op, PatternRewriter &rewriter) {
  Value lhs = transposed(op.getLhs()), rhs = transposed(op.getRhs());
  if (!lhs && !rhs)
    return failure();
  rewriter.replaceOpWithNewOp<Product>(op, op.getType(), lhs ? lhs : Value(op.getLhs()), rhs ? rhs : Value(op.getRhs()),
                                       op.getTransposeLhs() != bool(lhs), op.getTransposeRhs() != bool(rhs));
  return success();
}

/// A value that is repeated in the order of the product needs no flag: streams are repeated in one order. A product
/// with one row or column tells no order.
static LogicalResult repeatInOrder(BatchMatmulOp op, PatternRewriter &rewriter) {
  bool lhs = op.getTransposeLhs() && isRepeated(op.getLhs()), rhs = op.getTransposeRhs() && isRepeated(op.getRhs());
  if ((!lhs && !rhs) || op.getType().getDimSize(1) == 1 || op.getType().getDimSize(2) == 1)
    return failure();
  auto flip = [&](Value operand) { return transposeRepeated(rewriter, operand, {0, 2, 1}); };
  rewriter.replaceOpWithNewOp<BatchMatmulOp>(op, op.getType(), lhs ? flip(op.getLhs()) : Value(op.getLhs()),
                                             rhs ? flip(op.getRhs()) : Value(op.getRhs()), op.getTransposeLhs() && !lhs,
                                             op.getTransposeRhs() && !rhs);
  return success();
}

bool mhc::isProductToTranspose(Value matrix) {
  auto product = matrix.getDefiningOp<MatmulOp>();
  bool tokensFirst = product && product.getType().isDynamicDim(0);
  return ((product && !tokensFirst) || matrix.getDefiningOp<BatchMatmulOp>()) && singleUser(matrix);
}

bool mhc::isTransposedProduct(Operation *op) {
  Value matrix = transposed(op->getResult(0));
  auto joined = matrix ? matrix.getDefiningOp<tensor::ConcatOp>() : tensor::ConcatOp();
  if (joined)
    return singleUser(matrix) && llvm::all_of(joined.getInputs(), isProductToTranspose);
  return matrix && isProductToTranspose(matrix);
}

template <typename Product>
static Value multiplyTransposes(OpBuilder &builder, Location loc, Product op) {
  return Product::create(builder, loc, transposedType(op.getOut()), op.getRhs(), op.getLhs(), !op.getTransposeRhs(),
                         !op.getTransposeLhs());
}

Value mhc::productOfTransposes(OpBuilder &builder, Location loc, Value product) {
  if (auto matmul = product.getDefiningOp<MatmulOp>())
    return multiplyTransposes(builder, loc, matmul);
  return multiplyTransposes(builder, loc, product.getDefiningOp<BatchMatmulOp>());
}

/// The transpose of a product is the product of the transposes, also where it is in parts.
template <typename View>
static LogicalResult foldResultTranspose(View op, PatternRewriter &rewriter) {
  if (!isTransposedProduct(op))
    return failure();
  Value matrix = transposed(op->getResult(0));
  auto joined = matrix.getDefiningOp<tensor::ConcatOp>();
  if (!joined) {
    rewriter.replaceOp(op, productOfTransposes(rewriter, op.getLoc(), matrix));
    return success();
  }
  SmallVector<Value> parts;
  for (Value input : joined.getInputs())
    parts.push_back(productOfTransposes(rewriter, op.getLoc(), input));
  int64_t dim = joined.getDim(), rank = joined.getResultType().getRank();
  rewriter.replaceOp(op, LeafBuilder(rewriter, op.getLoc()).concat(parts, dim < rank - 2 ? dim : 2 * rank - 3 - dim));
  return success();
}

/// A batch of one is a product of two matrices.
static LogicalResult foldSingleBatch(tensor::CollapseShapeOp op, PatternRewriter &rewriter) {
  auto product = op.getSrc().getDefiningOp<BatchMatmulOp>();
  if (!product || op.getSrcType().getDimSize(0) != 1 || op.getResultType().getRank() != 2 ||
      op.getReassociationIndices()[0] != ReassociationIndices{0, 1})
    return failure();
  auto matrix = [&](Value batch) -> Value {
    DenseElementsAttr table;
    if (matchPattern(batch, m_Constant(&table)))
      return arith::ConstantOp::create(rewriter, op.getLoc(),
                                       table.reshape(table.getType().clone(table.getType().getShape().drop_front())));
    auto expand = batch.getDefiningOp<tensor::ExpandShapeOp>();
    bool fits = expand && expand.getSrcType().getRank() == 2 &&
                expand.getReassociationIndices()[0] == ReassociationIndices{0, 1};
    return fits ? expand.getSrc() : Value();
  };
  Value lhs = matrix(product.getLhs());
  Value rhs = lhs ? matrix(product.getRhs()) : Value();
  if (!lhs || !rhs)
    return failure();
  rewriter.replaceOpWithNewOp<MatmulOp>(op, op.getResultType(), lhs, rhs, product.getTransposeLhs(),
                                        product.getTransposeRhs());
  return success();
}

/// A product with a matrix of one number is a sum of rows or of columns, repeated.
template <typename Product>
static LogicalResult sumAsReduction(Product op, PatternRewriter &rewriter) {
  std::optional<double> left = constantValue(op.getLhs()), right = constantValue(op.getRhs());
  if ((!left && !right) || !op.getType().getElementType().isF32())
    return failure();
  int64_t rank = op.getType().getRank();
  Value summed = right ? op.getLhs() : op.getRhs();
  bool first = right ? op.getTransposeLhs() : !op.getTransposeRhs();
  LeafBuilder leaf(rewriter, op.getLoc());
  LeafBuilder::Sizes sizes = leaf.sizesOf(op->getResult(0));
  Value sum = leaf.reduce(ReduceKind::sum, summed, {first ? rank - 2 : rank - 1});
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(rank));
  dims.erase(dims.begin() + (right ? rank - 1 : rank - 2));
  rewriter.replaceOp(op, leaf.broadcast(leaf.scale(sum, right ? *right : *left), sizes, dims));
  return success();
}

/// A product of columns and rows: each times each.
template <typename Product>
static LogicalResult multiplyEach(Product op, PatternRewriter &rewriter) {
  int64_t rank = op.getType().getRank(), inner = op.getTransposeLhs() ? rank - 2 : rank - 1;
  auto width = [](Value matrix) { return getElementTypeOrSelf(matrix).getIntOrFloatBitWidth(); };
  if (tensorType(op.getLhs()).getDimSize(inner) != 1 ||
      width(op->getResult(0)) < std::max(width(op.getLhs()), width(op.getRhs())))
    return failure();
  LeafBuilder leaf(rewriter, op.getLoc());
  LeafBuilder::Sizes sizes = leaf.sizesOf(op->getResult(0));
  auto repeated = [&](Value matrix, int64_t unit, int64_t along) {
    llvm::SmallBitVector units(rank);
    units.set(unit);
    SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(rank - 2));
    dims.push_back(along);
    Value column = leaf.cast(leaf.dropUnits(matrix, units), op.getType().getElementType());
    return leaf.broadcast(column, sizes, dims);
  };
  Value lhs = repeated(op.getLhs(), inner, rank - 2);
  Value rhs = repeated(op.getRhs(), op.getTransposeRhs() ? rank - 1 : rank - 2, rank - 1);
  rewriter.replaceOp(op, leaf.mul(lhs, rhs));
  return success();
}

/// The repeated operand with exactly these dimensions, two of them or three with those of a batch; null for others.
static Value repeatedAlong(Value operand, ArrayRef<int64_t> dims) {
  auto broadcast = operand.getDefiningOp<BroadcastOp>();
  bool fits = broadcast && broadcast.getDims() == dims && repeatsWholeDims(broadcast);
  return fits ? Value(broadcast.getX()) : Value();
}

/// A batch of products with one matrix is one product.
static LogicalResult foldRepeatedMatrix(BatchMatmulOp op, PatternRewriter &rewriter) {
  Value matrix = repeatedAlong(op.getRhs(), {1, 2});
  auto type = tensorType(op.getLhs());
  if (!matrix || op.getTransposeLhs() || (type.isDynamicDim(0) && type.isDynamicDim(1)))
    return failure();
  LeafBuilder leaf(rewriter, op.getLoc());
  LeafBuilder::Sizes sizes = leaf.sizesOf(op->getResult(0));
  Value rows = leaf.join(op.getLhs(), 0, 2);
  Value product = leaf.matmul(rows, matrix, /*transposeLhs=*/false, op.getTransposeRhs());
  SmallVector<ReassociationIndices> groups = {{0, 1}, {2}};
  rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, op.getType(), product, groups, sizes);
  return success();
}

/// A sum over products of rows and columns that are repeated for each other is a product of matrices.
static LogicalResult multiplyAsProduct(ReduceOp op, PatternRewriter &rewriter) {
  auto mul = op.getX().getDefiningOp<arith::MulFOp>();
  int64_t rank = op.getX().getType().getRank();
  if (!mul || op.getKind() != ReduceKind::sum || op.getDims().size() != 1 || rank < 3 || rank > 4 ||
      !op.getType().getElementType().isF32())
    return failure();
  SmallVector<int64_t> batch, kept;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != op.getDims()[0])
      (dim == 0 && rank == 4 ? batch : kept).push_back(dim);
  if (kept.size() != 2)
    return failure();
  auto with = [&](int64_t a, int64_t b) {
    SmallVector<int64_t> dims(batch);
    dims.append({std::min(a, b), std::max(a, b)});
    return dims;
  };
  int64_t sum = op.getDims()[0];
  for (auto [left, right] : {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())}) {
    Value lhs = repeatedAlong(left, with(kept[0], sum)), rhs = repeatedAlong(right, with(sum, kept[1]));
    if (!lhs || !rhs)
      continue;
    LeafBuilder leaf(rewriter, op.getLoc());
    bool flipLhs = sum < kept[0], flipRhs = kept[1] < sum;
    rewriter.replaceOp(op, batch.empty() ? leaf.matmul(lhs, rhs, flipLhs, flipRhs)
                                         : leaf.batchMatmul(lhs, rhs, flipLhs, flipRhs));
    return success();
  }
  return failure();
}

void mhc::addProductPatterns(RewritePatternSet &patterns) {
  patterns.add(foldOperandTranspose<MatmulOp>);
  patterns.add(foldOperandTranspose<BatchMatmulOp>);
  patterns.add(multiplyEach<MatmulOp>);
  patterns.add(multiplyEach<BatchMatmulOp>);
  patterns.add(repeatInOrder);
  patterns.add(foldResultTranspose<TransposeOp>);
  patterns.add(foldResultTranspose<tensor::ExpandShapeOp>);
  patterns.add(foldSingleBatch);
  patterns.add(foldRepeatedMatrix);
  patterns.add(multiplyAsProduct);
  patterns.add(sumAsReduction<MatmulOp>);
  patterns.add(sumAsReduction<BatchMatmulOp>);
}
