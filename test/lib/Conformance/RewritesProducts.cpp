//===- RewritesProducts.cpp - Other words for products and reductions -----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RewriteRules.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace mhc::conformance {

namespace {
/// A product of two matrices, or of a batch of them.
struct Product {
  Value lhs, rhs;
  bool transposeLhs, transposeRhs, batched;

  Value make(LeafBuilder &leaf) const {
    return batched ? leaf.batchMatmul(lhs, rhs, transposeLhs, transposeRhs)
                   : leaf.matmul(lhs, rhs, transposeLhs, transposeRhs);
  }
  /// Swaps the last two dimensions of a matrix.
  Value flip(LeafBuilder &leaf, Value matrix) const {
    return leaf.transpose(matrix, batched ? ArrayRef<int64_t>{0, 2, 1} : ArrayRef<int64_t>{1, 0});
  }
  /// lhs as [M, K] and rhs as [K, N], behind the batch.
  void straighten(LeafBuilder &leaf) {
    lhs = transposeLhs ? flip(leaf, lhs) : lhs;
    rhs = transposeRhs ? flip(leaf, rhs) : rhs;
    transposeLhs = transposeRhs = false;
  }
};
} // namespace

static std::optional<Product> productOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Product>>(op)
      .Case<MatmulOp, BatchMatmulOp>([](auto product) {
        return Product{product.getLhs(), product.getRhs(), product.getTransposeLhs(), product.getTransposeRhs(),
                       std::is_same_v<decltype(product), BatchMatmulOp>};
      })
      .Default([](Operation *) { return std::nullopt; });
}

static int64_t sizeOf(Value tensor, int64_t dim) { return cast<RankedTensorType>(tensor.getType()).getDimSize(dim); }

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value transposeOperand(Place &place) {
  std::optional<Product> product = productOf(place.op);
  if (!product)
    return {};
  bool left = place.random.flip();
  Value &operand = left ? product->lhs : product->rhs;
  bool &flag = left ? product->transposeLhs : product->transposeRhs;
  operand = product->flip(place.leaf, operand);
  flag = !flag;
  return product->make(place.leaf);
}

/// (B^T A^T)^T
Value transposeProduct(Place &place) {
  std::optional<Product> product = productOf(place.op);
  if (!product)
    return {};
  std::swap(product->lhs, product->rhs);
  std::swap(product->transposeLhs, product->transposeRhs);
  product->transposeLhs = !product->transposeLhs;
  product->transposeRhs = !product->transposeRhs;
  return product->flip(place.leaf, product->make(place.leaf));
}

/// x + (H - 1) x
Value productBesideIdentity(Place &place) {
  std::optional<Product> product = productOf(place.op);
  auto type = product ? cast<RankedTensorType>(product->lhs.getType()) : RankedTensorType();
  const int64_t n = type && product->batched ? type.getDimSize(1) : 0;
  constexpr int64_t kMostStreams = 16;
  if (n < 2 || n > kMostStreams || type.getDimSize(2) != n || product->transposeLhs || product->transposeRhs ||
      product->rhs.getType() != place.op->getResult(0).getType())
    return {};
  SmallVector<APFloat> elements;
  for (int64_t i = 0; i < n * n; ++i)
    elements.push_back(cast<FloatAttr>(place.builder.getFloatAttr(type.getElementType(), i % (n + 1) == 0)).getValue());
  auto identity = DenseElementsAttr::get(type.clone(ArrayRef<int64_t>{n, n}), elements);
  Value one = arith::ConstantOp::create(place.builder, place.op->getLoc(), identity);
  Value ones = place.leaf.broadcast(one, place.leaf.sizesOf(product->lhs), {1, 2});
  product->lhs = place.leaf.sub(product->lhs, ones);
  return place.leaf.add(product->rhs, product->make(place.leaf));
}

Value productAsBatch(Place &place) {
  std::optional<Product> product = productOf(place.op);
  if (!product || product->batched)
    return {};
  llvm::SmallBitVector first(3);
  first.set(0);
  product->lhs = place.leaf.insertUnits(product->lhs, first);
  product->rhs = place.leaf.insertUnits(product->rhs, first);
  product->batched = true;
  return place.leaf.dropUnits(product->make(place.leaf), first);
}

/// A sum over [.., M, K, N]
Value productAsSum(Place &place) {
  std::optional<Product> product = productOf(place.op);
  if (!product)
    return {};
  LeafBuilder &leaf = place.leaf;
  product->straighten(leaf);
  int64_t row = product->batched ? 1 : 0;
  LeafBuilder::Sizes sizes = leaf.sizesOf(product->lhs);
  sizes.push_back(leaf.size(product->rhs, row + 1));
  SmallVector<int64_t> left, right;
  for (int64_t dim = 0; dim < row + 3; ++dim) {
    if (dim != row + 2)
      left.push_back(dim);
    if (dim != row)
      right.push_back(dim);
  }
  Value a = leaf.broadcast(product->lhs, sizes, left);
  Value b = leaf.broadcast(product->rhs, sizes, right);
  return leaf.reduce(ReduceKind::sum, leaf.mul(a, b), row + 1);
}

Value columnsApart(Place &place) {
  std::optional<Product> product = productOf(place.op);
  if (!product)
    return {};
  int64_t last = place.type().getRank() - 1, columns = place.type().getDimSize(last), half = columns / 2;
  if (ShapedType::isDynamic(columns) || half == 0)
    return {};
  Product head = *product, tail = *product;
  int64_t dim = product->transposeRhs ? last - 1 : last;
  head.rhs = place.leaf.slice(product->rhs, dim, 0, half);
  tail.rhs = place.leaf.slice(product->rhs, dim, half, columns - half);
  Value first = head.make(place.leaf), second = tail.make(place.leaf);
  return place.leaf.concat({first, second}, last);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// A reduction of one dimension of static size.
static ReduceOp reductionOf(Place &place) {
  auto reduce = dyn_cast<ReduceOp>(place.op);
  bool fits = reduce && reduce.getDims().size() == 1 && !reduce.getX().getType().isDynamicDim(reduce.getDims()[0]);
  return fits ? reduce : ReduceOp();
}

Value reduceTransposed(Place &place) {
  ReduceOp reduce = reductionOf(place);
  int64_t rank = reduce ? reduce.getX().getType().getRank() : 0;
  if (rank < 2)
    return {};
  // The reduced dimension goes to the other end; the rest keeps its order.
  int64_t dim = reduce.getDims()[0];
  bool toFront = dim != 0;
  SmallVector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i)
    if (i != dim)
      perm.push_back(i);
  perm.insert(toFront ? perm.begin() : perm.end(), dim);
  Value x = place.leaf.transpose(reduce.getX(), perm);
  return place.leaf.reduce(reduce.getKind(), x, toFront ? 0 : rank - 1);
}

/// The operand with the reduced dimension in two.
static Value splitReduced(Place &place, ReduceOp reduce) {
  int64_t dim = reduce.getDims()[0], size = sizeOf(reduce.getX(), dim);
  for (int64_t part : {2, 3, 5})
    if (size > part && size % part == 0)
      return place.leaf.split(reduce.getX(), dim, {part, size / part});
  return {};
}

Value reduceSplit(Place &place) {
  ReduceOp reduce = reductionOf(place);
  Value x = reduce ? splitReduced(place, reduce) : Value();
  return x ? place.leaf.reduce(reduce.getKind(), x, {reduce.getDims()[0], reduce.getDims()[0] + 1}) : Value();
}

Value reduceBySteps(Place &place) {
  ReduceOp reduce = reductionOf(place);
  // A narrow type would round what the first step makes.
  bool isNarrow = reduce && reduce.getType().getElementType().getIntOrFloatBitWidth() < 32;
  Value x = reduce && !isNarrow ? splitReduced(place, reduce) : Value();
  if (!x)
    return {};
  int64_t dim = reduce.getDims()[0];
  Value once = place.leaf.reduce(reduce.getKind(), x, place.random.flip() ? dim : dim + 1);
  return place.leaf.reduce(reduce.getKind(), once, dim);
}

Value sumAsProduct(Place &place) {
  ReduceOp reduce = reductionOf(place);
  if (!reduce || reduce.getKind() != ReduceKind::sum || reduce.getX().getType().getRank() != 2)
    return {};
  int64_t dim = reduce.getDims()[0];
  auto type = reduce.getX().getType().clone(ArrayRef<int64_t>{sizeOf(reduce.getX(), dim), 1});
  Value ones =
      arith::ConstantOp::create(place.builder, reduce.getLoc(),
                                DenseElementsAttr::get(type, place.builder.getFloatAttr(type.getElementType(), 1)));
  Value product = place.leaf.matmul(reduce.getX(), ones, /*transposeLhs=*/dim == 0);
  return place.leaf.join(product, 0, 2);
}

} // namespace mhc::conformance
