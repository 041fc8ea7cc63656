//===- JoinProducts.cpp - A sum of products of rows as one product --*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams may be projected one by one, each by a weight of its own, and the products added up. That is the product of
// the flattened streams with the weights, joined along their channels:
//
//   sum over i of (x[t, i, :] . w_i[r, :])  ->  x[t, (i, c)] . [w_0, w_1, ...][r, (i, c)]
//
// All rows of one tensor must be there, each once. A sum in which one is missing or read twice stays as it is.
//
//===------------------------------------------------------------------------===//

#include "Linear.h"
#include "Mix.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;
using algebra::Index;
using algebra::Indices;
using algebra::Size;

namespace {
/// Products that are added up, and what else is: by additions, or by a sum over a stack.
struct ProductSum {
  Operation *root;
  SmallVector<MatmulOp> products;
  SmallVector<Value> others;
};

/// Part of a tensor that a value shows.
struct Part {
  Value whole;
  Indices at; ///< of the value's own variables
};

using Parts = std::vector<Part>;

/// Values that are all parts of one tensor.
struct Rows {
  Value whole;
  Indices at;                ///< of the first in the tensor
  size_t dim;                ///< along which they lie
  int64_t extent;            ///< of each along that
  SmallVector<size_t> order; ///< numbers of the values as they lie in the tensor
};
} // namespace

/// Whether an op shows a part of its operand, or all of it, in another shape, order or type.
static bool showsPart(Operation *op) {
  return rearranges(op) || isa<tensor::ExtractSliceOp, tensor::CastOp, arith::ExtFOp>(op);
}

/// The value that a value is a part of, all of it.
static Value sourceOf(Value value) {
  for (Operation *op = value.getDefiningOp(); op && showsPart(op); op = value.getDefiningOp())
    value = op->getOperand(0);
  return value;
}

/// An addition that is no part of another.
static bool isRoot(arith::AddFOp add) {
  auto type = dyn_cast<RankedTensorType>(add.getType());
  return type && type.getRank() == 2 && !isWide(add) && !isa_and_nonnull<arith::AddFOp>(singleUser(add));
}

/// The operand of one side, and its dimension that is summed.
static Value operandOf(MatmulOp product, unsigned side) { return product->getOperand(side); }
static int64_t summedDim(MatmulOp product, unsigned side) {
  return side == 0 ? !product.getTransposeLhs() : product.getTransposeRhs();
}

/// A product of two tensors of its own type, not f64, that is read once, maybe widened. One product rounds once where a
/// sum of narrow ones rounds each.
static MatmulOp addedProduct(Value value) {
  auto ext = value.getDefiningOp<arith::ExtFOp>();
  auto product = (ext ? ext.getIn() : value).getDefiningOp<MatmulOp>();
  if (!product || isWide(product.getOut()) || !singleUser(value) || !singleUser(product.getOut()))
    return {};
  const Type own = getElementTypeOrSelf(product.getOut());
  auto isOwn = [&](Type type) { return getElementTypeOrSelf(type) == own; };
  return llvm::all_of(product->getOperandTypes(), isOwn) ? product : MatmulOp();
}

static std::optional<ProductSum> findSum(arith::AddFOp root) {
  constexpr size_t kMostParts = 4 * kMaxStreams;
  ProductSum sum{root, {}, {}};
  SmallVector<Value> work = {root.getRhs(), root.getLhs()};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    auto add = value.getDefiningOp<arith::AddFOp>();
    if (add && singleUser(value))
      work.append({add.getRhs(), add.getLhs()});
    else if (MatmulOp product = addedProduct(value))
      sum.products.push_back(product);
    else
      sum.others.push_back(value);
    if (sum.products.size() + sum.others.size() > kMostParts)
      return std::nullopt;
  }
  return sum.products.size() >= kMinStreams ? std::optional(sum) : std::nullopt;
}

/// Whether two values are seen through the same reshapes, each of one reader.
static bool haveSameReshapes(Value a, Value b) {
  Operation *opA = a.getDefiningOp(), *opB = b.getDefiningOp();
  for (; opA && isReshape(opA); opA = opA->getOperand(0).getDefiningOp(), opB = opB->getOperand(0).getDefiningOp())
    if (!opB || opA->getName() != opB->getName() || opA->getAttrs() != opB->getAttrs() ||
        opA->getResultTypes() != opB->getResultTypes() || !singleUser(opB->getResult(0)))
      return false;
  return opA && opB && opA->getResultTypes() == opB->getResultTypes();
}

/// The stack that a sum adds up, and nothing else.
static tensor::ConcatOp stackOf(ReduceOp sum) {
  auto stack = sum.getX().getDefiningOp<tensor::ConcatOp>();
  auto isRow = [&](Value input) { return cast<RankedTensorType>(input.getType()).getDimSize(stack.getDim()) == 1; };
  return sum.getKind() == ReduceKind::sum && stack && singleUser(stack) &&
                 sum.getDims() == ArrayRef<int64_t>(stack.getDim()) && llvm::all_of(stack.getInputs(), isRow)
             ? stack
             : tensor::ConcatOp();
}

static std::optional<ProductSum> findSum(ReduceOp root) {
  tensor::ConcatOp stack = stackOf(root);
  ProductSum sum{root, {}, {}};
  for (Value input : stack ? stack.getInputs() : ValueRange()) {
    MatmulOp product = addedProduct(behindReshapes(input));
    if (!product || !haveSameReshapes(stack.getInputs()[0], input))
      return std::nullopt;
    sum.products.push_back(product);
  }
  return sum.products.size() >= kMinStreams ? std::optional(sum) : std::nullopt;
}

/// `value` in the reshapes in which `like` is seen.
static Value reshapeLike(OpBuilder &builder, Value value, Value like) {
  Operation *view = like.getDefiningOp();
  if (!isReshape(view))
    return value;
  IRMapping places;
  places.map(view->getOperand(0), reshapeLike(builder, value, view->getOperand(0)));
  return builder.clone(*view, places)->getResult(0);
}

/// Puts `value` in the place of a sum.
static void replaceSum(OpBuilder &builder, Operation *root, Value value) {
  if (auto reduce = dyn_cast<ReduceOp>(root)) {
    tensor::ConcatOp stack = stackOf(reduce);
    llvm::SmallBitVector units(stack.getResultType().getRank());
    units.set(stack.getDim());
    value = reshapeLike(builder, value, stack.getInputs()[0]);
    value = LeafBuilder(builder, root->getLoc()).dropUnits(value, units);
  }
  root->getResult(0).replaceAllUsesWith(value);
}

//===----------------------------------------------------------------------===//
// The rows
//===----------------------------------------------------------------------===//

/// The tensors that a value may be a part of: the one that it shows, and those that this or a view of it is joined to.
static Parts partsOf(algebra::Reading &reading, Value value) {
  const algebra::Expr &expr = reading.of(value);
  const algebra::Factor *read = algebra::singleFactor(expr);
  if (!read || !read->node()->value || expr[0].coefficient != 1)
    return {};
  Parts parts = {{read->node()->value, Indices(read->at().begin(), read->at().end())}};
  for (const algebra::Reading::Found &found : reading.find(expr))
    for (Operation *user : found.value.getUsers()) {
      auto concat = dyn_cast<tensor::ConcatOp>(user);
      if (!concat || found.factor != 1 || llvm::count(concat.getInputs(), found.value) != 1)
        continue;
      Part &part = parts.emplace_back(Part{concat, found.at});
      for (Value input : concat.getInputs()) {
        if (input == found.value)
          break;
        part.at[concat.getDim()].offset += cast<RankedTensorType>(input.getType()).getDimSize(concat.getDim());
      }
      if (cast<RankedTensorType>(concat.getType()).isDynamicDim(concat.getDim()))
        parts.pop_back();
    }
  return parts;
}

/// The numbers that an index runs over from its offset on; nothing where they are open or have gaps.
static std::optional<int64_t> extentOf(algebra::Sizes &sizes, Index index) {
  int64_t extent = 1;
  for (const algebra::Piece &piece : index.pieces) {
    if (!piece.extent.isNumber())
      return std::nullopt;
    extent *= piece.extent.number();
  }
  index.offset = 0;
  return covers(sizes, index, extent) ? std::optional(extent) : std::nullopt;
}

/// Whether indices differ in the offset along one dimension at most, which `dim` is then.
static bool differInOffset(ArrayRef<Index> a, ArrayRef<Index> b, std::optional<size_t> &dim) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].pieces != b[i].pieces || (a[i].offset != b[i].offset && dim && *dim != i))
      return false;
    if (a[i].offset != b[i].offset)
      dim = i;
  }
  return true;
}

/// Parts that are all of their tensor, each once, side by side along one dimension.
static std::optional<Rows> findRows(algebra::Reading &reading, Value whole, ArrayRef<Indices> at) {
  algebra::Sizes &sizes = reading.algebra().sizes;
  std::optional<size_t> dim;
  if (at.size() < kMinStreams || at.size() > kMaxStreams ||
      !llvm::all_of(at, [&](const Indices &other) { return differInOffset(at[0], other, dim); }) || !dim)
    return std::nullopt;
  for (auto [number, index, size] : llvm::enumerate(at[0], reading.sizes(whole)))
    if (number != *dim && !covers(sizes, index, size))
      return std::nullopt;
  std::optional<int64_t> extent = extentOf(sizes, at[0][*dim]);
  const auto count = static_cast<int64_t>(at.size());
  if (!extent || reading.size(whole, *dim) != Size(count * *extent))
    return std::nullopt;
  Rows rows{whole, at[0], *dim, *extent, SmallVector<size_t>(count, count)};
  rows.at[*dim].offset = 0;
  for (auto [number, other] : llvm::enumerate(at)) {
    const int64_t place = other[*dim].offset / *extent;
    if (other[*dim].offset % *extent != 0 || place >= count || rows.order[place] != at.size())
      return std::nullopt;
    rows.order[place] = number;
  }
  return rows;
}

/// The rows that values are of one tensor, which is in `parts` of each.
static std::optional<Rows> findRows(algebra::Reading &reading, Value whole, ArrayRef<Parts> parts) {
  std::vector<Indices> at;
  for (const Parts &own : parts)
    if (auto part = llvm::find_if(own, [&](const Part &part) { return part.whole == whole; }); part != own.end())
      at.push_back(part->at);
  return at.size() == parts.size() ? findRows(reading, whole, at) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// One product
//===----------------------------------------------------------------------===//

/// Lets a value be there at an op, where only views and joins of what is there already make it.
static bool moveBefore(Value value, Operation *user) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return value.getParentRegion()->isAncestor(user->getParentRegion());
  Operation *inBlock = op->getBlock()->findAncestorOpInBlock(*user);
  if (!inBlock || op->isBeforeInBlock(inBlock))
    return inBlock != nullptr;
  if ((!showsPart(op) && !isa<tensor::ConcatOp>(op)) ||
      !llvm::all_of(op->getOperands(), [&](Value operand) { return moveBefore(operand, user); }))
    return false;
  op->moveBefore(inBlock);
  return true;
}

/// Rows with the dimensions that `like`, one of them, has, of which `dim` is of all rows.
static Value joinRows(algebra::Reading &reading, OpBuilder &builder, const Rows &rows, Value like, int64_t dim) {
  algebra::Algebra &algebra = reading.algebra();
  const std::pair<algebra::Var, Size> row = {algebra.freshVar(), Size(static_cast<int64_t>(rows.order.size()))};
  Indices at = rows.at;
  if (!addScaled(algebra.sizes, at[rows.dim], algebra::wholeVar(row.first, row.second), Size(rows.extent)))
    return {};
  normalise(algebra.sizes, at[rows.dim]);
  SmallVector<IndexVars> dims = ownDims(reading, like);
  dims[dim].insert(dims[dim].begin(), row);
  Value joined = arrange(reading, builder, like.getLoc(), rows.whole, at, dims);
  auto type = cast<RankedTensorType>(like.getType()), all = joined ? cast<RankedTensorType>(joined.getType()) : type;
  if (!joined || all.getDimSize(1 - dim) != type.getDimSize(1 - dim))
    return {};
  return LeafBuilder(builder, like.getLoc()).cast(joined, type.getElementType());
}

/// Joins values; what all of them transpose or widen is joined before.
static Value joinBeforeViews(LeafBuilder &leaf, ArrayRef<Value> values, int64_t dim) {
  Operation *first = values[0].getDefiningOp();
  auto isLikeFirst = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op && op->getName() == first->getName() && op->getAttrs() == first->getAttrs() &&
           op->getOperandTypes() == first->getOperandTypes();
  };
  if (!isa_and_nonnull<TransposeOp, arith::ExtFOp>(first) || !llvm::all_of(values, isLikeFirst))
    return leaf.concat(values, dim);
  auto sources = llvm::map_to_vector(values, [](Value value) { return value.getDefiningOp()->getOperand(0); });
  auto transpose = dyn_cast<TransposeOp>(first);
  Value joined = joinBeforeViews(leaf, sources, transpose ? transpose.getPerm()[dim] : dim);
  return transpose ? leaf.transpose(joined, transpose.getPerm()) : leaf.cast(joined, getElementTypeOrSelf(values[0]));
}

/// Weights of the rows in their order, as one: all of a tensor that they are rows of, or joined.
static Value joinWeights(algebra::Reading &reading, OpBuilder &builder, ArrayRef<Value> weights, int64_t dim) {
  std::vector<Parts> parts;
  for (Value weight : weights)
    parts.push_back(partsOf(reading, weight));
  for (const Part &part : parts[0])
    if (std::optional<Rows> rows = findRows(reading, part.whole, parts);
        rows && llvm::is_sorted(rows->order) && moveBefore(part.whole, &*builder.getInsertionPoint()))
      if (Value joined = joinRows(reading, builder, *rows, weights[0], dim))
        return joined;
  LeafBuilder leaf(builder, weights[0].getLoc());
  return joinBeforeViews(leaf, weights, dim);
}

/// Whether a product has as many rows as gates and logits of n streams may have.
static bool hasRowsOfGates(MatmulOp product, unsigned weight, int64_t n) {
  const int64_t rows =
      cast<RankedTensorType>(operandOf(product, weight).getType()).getDimSize(1 - summedDim(product, weight));
  return !ShapedType::isDynamic(rows) && rows <= 2 * n + llvm::max_element(logitsOf(n))[0];
}

static bool areAlike(ArrayRef<MatmulOp> products, unsigned weight) {
  return llvm::all_of(products, [&](MatmulOp product) {
    return product->getAttrs() == products[0]->getAttrs() &&
           operandOf(product, weight).getType() == operandOf(products[0], weight).getType();
  });
}

/// Replaces a sum by one product of the rows of `whole`, and what else is added up.
static bool join(algebra::Reading &reading, ProductSum &sum, unsigned side, Value whole, ArrayRef<Parts> parts) {
  SmallVector<MatmulOp> products;
  std::vector<Parts> ofWhole;
  SmallVector<Value> others = sum.others;
  for (auto [product, own] : llvm::zip(sum.products, parts))
    if (llvm::any_of(own, [&](const Part &part) { return part.whole == whole; })) {
      products.push_back(product);
      ofWhole.push_back(own);
    } else {
      others.push_back(product.getOut());
    }
  std::optional<Rows> rows = findRows(reading, whole, ofWhole);
  const unsigned other = 1 - side;
  if (!rows || !areAlike(products, other) || !hasRowsOfGates(products[0], other, products.size()) ||
      !moveBefore(whole, sum.root))
    return false;
  OpBuilder builder(sum.root);
  Value flat = joinRows(reading, builder, *rows, operandOf(products[0], side), summedDim(products[0], side));
  if (!flat)
    return false;
  auto weights = llvm::map_to_vector(rows->order, [&](size_t i) { return operandOf(products[i], other); });
  Value phi = joinWeights(reading, builder, weights, summedDim(products[0], other));
  Operation *product = builder.clone(*products[0]);
  product->setOperand(side, flat);
  product->setOperand(other, phi);
  LeafBuilder leaf(builder, sum.root->getLoc());
  const Type element = getElementTypeOrSelf(sum.root->getResult(0));
  Value result = leaf.cast(product->getResult(0), element);
  for (Value term : others)
    result = leaf.add(result, leaf.cast(term, element));
  replaceSum(builder, sum.root, result);
  return true;
}

static bool join(algebra::Reading &reading, ProductSum &sum) {
  for (unsigned side : {0, 1}) {
    std::vector<Parts> parts;
    llvm::SmallSetVector<Value, 8> wholes;
    for (MatmulOp product : sum.products)
      for (const Part &part : parts.emplace_back(partsOf(reading, operandOf(product, side))))
        wholes.insert(part.whole);
    if (llvm::any_of(wholes, [&](Value whole) { return join(reading, sum, side, whole, parts); }))
      return true;
  }
  return false;
}

bool mhc::joinProducts(func::FuncOp func) {
  std::vector<ProductSum> sums;
  llvm::DenseSet<Value> atoms;
  func.walk([&](Operation *op) {
    auto add = dyn_cast<arith::AddFOp>(op);
    auto reduce = dyn_cast<ReduceOp>(op);
    std::optional<ProductSum> sum = add && isRoot(add) ? findSum(add) : reduce ? findSum(reduce) : std::nullopt;
    if (!sum)
      return;
    for (MatmulOp product : sum->products)
      atoms.insert_range(llvm::map_range(product->getOperands(), sourceOf));
    sums.push_back(*sum);
  });
  if (sums.empty())
    return false;
  algebra::Reading reading(func, algebra::Rounding::seen, atoms);
  return llvm::count_if(sums, [&](ProductSum &sum) { return join(reading, sum); }) != 0;
}
