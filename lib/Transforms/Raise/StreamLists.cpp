//===- StreamLists.cpp - Streams that are n tensors ---------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program may keep its streams as n tensors, stack them for the projection, and mix them one by one. Arguments that
// are stacked are read as rows of that stack, as are values that nothing shows to be alike, and n results that are the
// rows of one mix are stacked: the mix is found as where the streams are one tensor.
//
//===------------------------------------------------------------------------===//

#include "StreamLists.h"
#include "Normalise.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The dimensions of size one that a view inserts.
static llvm::SmallBitVector insertedUnits(tensor::ExpandShapeOp view) {
  RankedTensorType type = view.getResultType();
  llvm::SmallBitVector units(type.getRank());
  for (const ReassociationIndices &group : view.getReassociationIndices())
    for (size_t i = 0, left = group.size(); i < group.size(); ++i)
      if (type.getDimSize(group[i]) == 1 && left > 1) {
        units.set(group[i]);
        --left;
      }
  return units;
}

namespace {
/// Arguments of one block, flat or not, that a concatenation stacks, each in the same view.
struct Stack {
  SmallVector<Value> streams;
  llvm::SmallBitVector units; ///< none where there is no view
};
} // namespace

static RankedTensorType partType(tensor::ConcatOp concat) {
  return cast<RankedTensorType>(concat.getInputs()[0].getType());
}

static std::optional<Stack> matchStack(tensor::ConcatOp concat) {
  Stack stack;
  llvm::SmallDenseSet<Value> seen;
  for (Value part : concat.getInputs()) {
    auto view = part.getDefiningOp<tensor::ExpandShapeOp>();
    Value stream = view ? Value(view.getSrc()) : part;
    if (!isa<BlockArgument>(behindReshapes(stream)) || !seen.insert(stream).second ||
        part.getType() != concat.getInputs()[0].getType())
      return std::nullopt;
    llvm::SmallBitVector units = view ? insertedUnits(view) : llvm::SmallBitVector();
    bool insertsUnitsOnly =
        !view || view.getResultType().getRank() - static_cast<int64_t>(units.count()) == view.getSrcType().getRank();
    if (!stack.streams.empty() && (units != stack.units || stream.getType() != stack.streams[0].getType() ||
                                   stream.getParentBlock() != stack.streams[0].getParentBlock()))
      return std::nullopt;
    if (!insertsUnitsOnly)
      return std::nullopt;
    stack.units = units;
    stack.streams.push_back(stream);
  }
  int64_t count = stack.streams.size();
  bool isReadAlone = llvm::any_of(stack.streams, [](Value stream) { return !singleUser(stream); });
  return count >= kMinStreams && count <= kMaxStreams && isReadAlone ? std::optional(stack) : std::nullopt;
}

/// Tensors [s, ...] that are one [n * s, ...], of an open size s: a stack [n, s, ...] of them, shown so. Null where
/// their sizes may differ.
static tensor::ConcatOp stackOpen(tensor::ConcatOp concat, std::optional<DimAnalysis> &dims) {
  const int64_t dim = concat.getDim();
  ValueRange parts = concat.getInputs();
  if (!dims)
    dims.emplace(concat->getParentOfType<func::FuncOp>());
  if (!llvm::all_of(parts, [&](Value part) { return dims->sameSize(part, dim, parts[0], dim); }))
    return {};
  OpBuilder builder(concat);
  LeafBuilder leaf(builder, concat.getLoc());
  llvm::SmallBitVector units(partType(concat).getRank() + 1);
  units.set(dim);
  SmallVector<Value> stacked;
  for (Value part : parts)
    stacked.push_back(leaf.insertUnits(part, units));
  auto stack = leaf.concat(stacked, dim).getDefiningOp<tensor::ConcatOp>();
  concat.replaceAllUsesWith(leaf.join(stack, dim, 2));
  concat.erase();
  return stack;
}

/// A row of a stack in the type of the streams.
static Value rowOf(LeafBuilder &leaf, tensor::ConcatOp stack, int64_t row, const llvm::SmallBitVector &units) {
  int64_t extent = partType(stack).getDimSize(stack.getDim());
  Value part = leaf.slice(stack, stack.getDim(), row * extent, extent);
  return units.any() ? leaf.dropUnits(part, units) : part;
}

/// Lets what comes behind `row` read that in place of `stream`; a size keeps nothing alive.
static void readAs(Value stream, Value row) {
  Operation *maker = row.getDefiningOp();
  stream.replaceUsesWithIf(row, [&](OpOperand &use) {
    Operation *user = maker->getBlock()->findAncestorOpInBlock(*use.getOwner());
    return maker->isBeforeInBlock(user) && !isa<tensor::DimOp>(use.getOwner());
  });
}

void mhc::stackStreams(func::FuncOp func) {
  SmallVector<tensor::ConcatOp> all;
  func.walk([&](tensor::ConcatOp concat) { all.push_back(concat); });
  std::optional<DimAnalysis> dims; // before the first stack
  for (tensor::ConcatOp concat : all) {
    std::optional<Stack> stack = matchStack(concat);
    const int64_t extent = stack ? partType(concat).getDimSize(concat.getDim()) : 0;
    if (ShapedType::isDynamic(extent)) {
      concat = stackOpen(concat, dims);
      stack = concat ? matchStack(concat) : std::nullopt;
    }
    if (!stack || extent == 0)
      continue;
    OpBuilder builder(concat);
    setAfterInputs(builder, stack->streams[0].getParentBlock(), stack->streams);
    LeafBuilder leaf(builder, concat.getLoc());
    SmallVector<Value> parts;
    for (Value stream : stack->streams)
      parts.push_back(stack->units.any() ? leaf.insertUnits(stream, stack->units) : stream);
    auto whole = tensor::ConcatOp::create(builder, concat.getLoc(), concat.getType(), concat.getDim(), parts);
    whole->setAttr(algebra::kWhole, builder.getUnitAttr());
    for (auto [row, stream] : llvm::enumerate(stack->streams)) {
      Value element = rowOf(leaf, whole, row, stack->units);
      if (element.getType() != stream.getType())
        element = tensor::CastOp::create(builder, concat.getLoc(), stream.getType(), element);
      readAs(stream, element);
    }
    concat.replaceAllUsesWith(whole.getResult());
    concat.erase();
  }
}

void mhc::unstack(tensor::ConcatOp stack) {
  int64_t extent = partType(stack).getDimSize(stack.getDim());
  for (Operation *user : llvm::make_early_inc_range(stack->getUsers())) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    int64_t offset = slice ? slice.getStaticOffset(stack.getDim()) : ShapedType::kDynamic;
    if (ShapedType::isDynamic(offset) || offset % extent != 0)
      continue;
    if (Value part = stack.getInputs()[offset / extent]; part.getType() == slice.getType())
      slice.replaceAllUsesWith(part);
  }
}

void mhc::unmarkStreams(func::FuncOp func) {
  func.walk([](Operation *op) {
    const bool isMarked = static_cast<bool>(op->removeAttr(algebra::kWhole));
    if (auto stack = dyn_cast<tensor::ConcatOp>(op); stack && isMarked)
      unstack(stack);
  });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The product that a value shows, but for numbers that scale what is read without them, too; null where it is none.
static Operation *productOf(Value value) {
  Operation *product = behindViews(value).getDefiningOp();
  if (isa_and_nonnull<SiluOp>(product)) // by its own sigmoid
    return product;
  if (!isa_and_nonnull<arith::MulFOp, arith::DivFOp>(product))
    return nullptr;
  const bool isScaled = constantValue(product->getOperand(1)).has_value();
  if (!isScaled && !constantValue(product->getOperand(0)))
    return product;
  Value scaled = product->getOperand(isScaled ? 0 : 1);
  return isOnlyReader(product, scaled) ? product : productOf(scaled);
}

/// Adds the values that elementwise ops make `values` of, and with `throughSums` those that sums make them of, too.
static void addSources(SetVector<Value> &values, bool throughSums) {
  constexpr size_t kMostValues = 16;
  for (size_t next = 0; next < std::min(values.size(), kMostValues); ++next) {
    Operation *op = values[next].getDefiningOp();
    if (op && (isElementwise(op) || isa<BroadcastOp>(op) || (throughSums && isa<ReduceOp>(op))))
      for (Value operand : op->getOperands())
        values.insert(behindViews(operand));
  }
}

/// Whether sums of `value` make `factor`, as what a norm scales its own input by. An activation has no sum.
static bool isNormOf(Value factor, Value value) {
  SetVector<Value> values, summed;
  values.insert(behindViews(factor));
  addSources(values, /*throughSums=*/false);
  for (Value made : values)
    if (auto sum = made.getDefiningOp<ReduceOp>())
      summed.insert(behindViews(sum.getX()));
  addSources(summed, /*throughSums=*/true);
  return summed.contains(behindViews(value));
}

/// Whether a product is a norm, which is no value of its own: what it is of is read behind it.
static bool isNorm(Operation *product) {
  if (isa<SiluOp>(product))
    return false;
  return isNormOf(product->getOperand(0), product->getOperand(1)) ||
         isNormOf(product->getOperand(1), product->getOperand(0));
}

/// Whether a product is a norm, with numbers and weights of its channels or without.
static bool isWeighedNorm(Operation *product) {
  constexpr size_t kMostProducts = 8;
  SetVector<Operation *> products;
  products.insert(product);
  for (size_t next = 0; next < std::min(products.size(), kMostProducts); ++next) {
    if (isNorm(products[next]))
      return true;
    for (Value factor : products[next]->getOperands())
      if (Operation *op = behindViews(factor).getDefiningOp(); isa_and_nonnull<arith::MulFOp, arith::DivFOp>(op))
        products.insert(op);
  }
  return false;
}

/// Whether a product is projected as well as weighed, as streams are.
static bool isReadAsStreams(Operation *product) {
  SmallVector<Operation *> readers;
  usersThroughViews(product->getResult(0), readers);
  for (size_t next = 0; next < readers.size(); ++next)
    if (isa<arith::ExtFOp, arith::TruncFOp>(readers[next]))
      usersThroughViews(readers[next]->getResult(0), readers);
  auto isWeighed = [](Operation *op) { // a batch of one is a projection
    auto batch = dyn_cast<BatchMatmulOp>(op);
    return batch ? batch.getOut().getType().getDimSize(0) != 1 : isa<arith::MulFOp, tensor::ExtractSliceOp>(op);
  };
  return llvm::any_of(readers, llvm::IsaPred<MatmulOp>) && llvm::any_of(readers, isWeighed);
}

/// The value that a product multiplies with itself, as a norm does; null where it is of two.
static Value squaredBy(arith::MulFOp product) {
  Value value = behindViews(product.getLhs());
  return value == behindViews(product.getRhs()) ? value : Value();
}

/// The product that an op squares, or that it is and that is read as streams; null for none.
static Operation *wholeProduct(Operation *op) {
  auto multiply = dyn_cast<arith::MulFOp>(op);
  Value squared = multiply ? squaredBy(multiply) : Value();
  Operation *product = productOf(squared ? squared : op->getResult(0));
  if (!product || squared)
    return product && !isNorm(product) ? product : nullptr;
  const bool isActivation = isa<SiluOp>(product);
  return isReadAsStreams(product) && (isActivation || !isWeighedNorm(product)) ? product : nullptr;
}

/// Whether a value is one element, such as of a sum, and no number times that.
static bool isElement(algebra::Reading &reading, Value value) {
  const Expr &expr = reading.of(value);
  std::optional<Algebra::Closed> closed = reading.algebra().close(expr);
  return closed && closed->coefficient == 1 && (expr.size() > 1 || algebra::singleFactor(expr));
}

/// Marks what streams repeat where it is a product or scaled: mixes of equal streams have its factors.
static void markRepeated(algebra::Reading &reading, ExpandOp expand) {
  Value rows = behindViews(expand.getX());
  auto isSum = [](const algebra::Factor &factor) { return factor.halves == 2 && factor.node()->isReduce("sum"); };
  auto hasSum = [&](const algebra::Term &term) { return llvm::any_of(term.factors, isSum); };
  Operation *op = rows.getDefiningOp();
  if (op && llvm::none_of(reading.of(rows), hasSum) && !isElement(reading, rows))
    op->setAttr(algebra::kWhole, UnitAttr::get(op->getContext()));
}

void mhc::markProducts(func::FuncOp func, algebra::Reading &reading) {
  func.walk([&](ExpandOp expand) { markRepeated(reading, expand); });
  func.walk([&](Operation *op) {
    if (Operation *product = isa<arith::MulFOp, arith::DivFOp, SiluOp>(op) ? wholeProduct(op) : nullptr)
      product->setAttr(algebra::kWhole, UnitAttr::get(func.getContext()));
  });
}

/// The rows that a value may be one of: those of the matrix that a mix is weighed by.
static int64_t rowCount(const Expr &expr) {
  if (expr.size() < 2 || expr.size() > 3) // a mix, a sublayer's output and a bias
    return 0;
  for (const algebra::Term &term : expr)
    for (const algebra::Factor &factor : term.factors) {
      const algebra::Node *node = factor.node();
      if (factor.halves != 2 || !node->isReduce("sum") || node->bound.size() != 1 || !node->bound[0].isNumber())
        continue;
      int64_t count = node->bound[0].number();
      if (count >= kMinStreams && count <= kMaxStreams && llvm::is_contained(fixedExtents(term), count))
        return count;
    }
  return 0;
}

/// Whether the algebra reads a stack as the mix that its parts are rows of, which nothing scales.
static bool isMix(algebra::Reading &reading, tensor::ConcatOp stack) {
  auto isProduct = [](Value part) {
    Operation *product = productOf(part);
    return product && !isNorm(product);
  };
  const algebra::Factor *whole = algebra::singleFactor(reading.of(stack));
  const bool isOpaque = whole && whole->node()->value == stack.getResult();
  return !isOpaque && rowCount(reading.of(stack.getInputs()[0])) != 0 && !llvm::all_of(stack.getInputs(), isProduct);
}

/// Values of one block and type that differ, and are read alone as well, as by what mixes streams one by one.
static bool isStack(tensor::ConcatOp concat) {
  ValueRange parts = concat.getInputs();
  llvm::SmallDenseSet<Value> all(parts.begin(), parts.end());
  auto count = static_cast<int64_t>(all.size());
  auto isStream = [&](Value part) {
    return part.getParentBlock() == concat->getBlock() && !isOnlyReader(concat, part);
  };
  return count == static_cast<int64_t>(parts.size()) && count >= kMinStreams && count <= kMaxStreams &&
         llvm::all_equal(parts.getTypes()) && !partType(concat).isDynamicDim(concat.getDim()) &&
         llvm::all_of(parts, isStream);
}

/// The operand of a view, made of `shown` in the place of the view; null for open sizes that it would have to ask for.
static Value behindView(OpBuilder &builder, Operation *view, Value shown) {
  auto type = cast<RankedTensorType>(view->getOperand(0).getType());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(view))
    return tensor::CollapseShapeOp::create(builder, view->getLoc(), type, shown, expand.getReassociationIndices());
  auto collapse = cast<tensor::CollapseShapeOp>(view);
  if (!type.hasStaticShape())
    return {};
  return tensor::ExpandShapeOp::create(builder, view->getLoc(), type, shown, collapse.getReassociationIndices());
}

Value mhc::rowLike(tensor::ConcatOp stack, int64_t number, Value shown) {
  OpBuilder builder(stack->getContext());
  builder.setInsertionPointAfter(stack);
  LeafBuilder leaf(builder, stack.getLoc());
  Value row = rowOf(leaf, stack, number, {});
  Value part = stack.getInputs()[number];
  while (part != shown && row) {
    Operation *view = part.getDefiningOp();
    if (!view || !isReshape(view))
      return {};
    row = behindView(builder, view, row);
    part = view->getOperand(0);
  }
  return row;
}

void mhc::readRowOf(tensor::ConcatOp stack, int64_t number, Value part) {
  OpBuilder builder(stack->getContext());
  builder.setInsertionPointAfter(stack);
  LeafBuilder leaf(builder, stack.getLoc());
  SmallVector<std::pair<Value, Value>> shapes = {{part, rowOf(leaf, stack, number, {})}};
  for (Operation *view = part.getDefiningOp(); view && isReshape(view);) {
    Value shown = view->getOperand(0);
    Value row = shown.getParentBlock() == stack->getBlock() ? behindView(builder, view, shapes.back().second) : Value();
    if (row)
      shapes.push_back({shown, row});
    view = row ? shown.getDefiningOp() : nullptr;
  }
  for (size_t next = 0; next < shapes.size(); ++next) {
    auto [value, row] = shapes[next];
    for (Operation *view : value.getUsers())
      if ((isReshape(view) || isa<arith::ExtFOp>(view)) && view->getBlock() == stack->getBlock() &&
          view->isBeforeInBlock(stack) &&
          llvm::none_of(shapes, [&](auto &shape) { return shape.first == view->getResult(0); })) {
        IRMapping places;
        places.map(value, row);
        shapes.push_back({view->getResult(0), builder.clone(*view, places)->getResult(0)});
      }
  }
  for (auto [value, row] : shapes)
    readAs(value, row);
}

void mhc::markStacks(func::FuncOp func, algebra::Reading &reading) {
  SetVector<Operation *> squared;
  func.walk([&](arith::MulFOp square) {
    if (Value value = squaredBy(square))
      squared.insert(value.getDefiningOp());
  });
  SmallVector<tensor::ConcatOp> stacks;
  for (Operation *op : squared)
    if (auto stack = dyn_cast_or_null<tensor::ConcatOp>(op);
        stack && isStack(stack) && !stack->hasAttr(algebra::kWhole) && !isMix(reading, stack))
      stacks.push_back(stack);
  for (tensor::ConcatOp stack : stacks) {
    stack->setAttr(algebra::kWhole, UnitAttr::get(func.getContext()));
    for (auto [number, part] : llvm::enumerate(stack.getInputs()))
      readRowOf(stack, number, part);
  }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

namespace {
/// Values in their order that differ in the position of a row.
using Rows = SmallVector<Value>;
} // namespace

/// Adds a value to the rows that it belongs to, or begins new ones.
static void addRow(algebra::Reading &reading, std::vector<Rows> &all, Value value) {
  constexpr size_t kMostOpen = 8; // rows of one mix lie beside each other
  const Expr &expr = reading.of(value);
  for (Rows &rows : llvm::make_range(all.size() > kMostOpen ? all.end() - kMostOpen : all.begin(), all.end())) {
    if (rows[0].getType() != value.getType() || rows[0].getParentBlock() != value.getParentBlock() ||
        !reading.algebra().isAlike(reading.of(rows[0]), expr))
      continue;
    auto place = llvm::find_if(rows, [&](Value row) { return compareOffsets(reading.of(row), expr) >= 0; });
    if (place != rows.end() && compareOffsets(reading.of(*place), expr) == 0)
      *place = value; // the later one shows it
    else
      rows.insert(place, value);
    return;
  }
  all.push_back({value});
}

/// [..., C] times n -> [..., n, C], and what comes behind it reads its rows.
static tensor::ConcatOp stackRows(const Rows &rows) {
  Operation *last = rows[0].getDefiningOp();
  for (Value row : rows)
    if (last->isBeforeInBlock(row.getDefiningOp()))
      last = row.getDefiningOp();
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  LeafBuilder leaf(builder, last->getLoc());
  const int64_t rank = cast<RankedTensorType>(rows[0].getType()).getRank();
  llvm::SmallBitVector units(rank + 1);
  units.set(rank - 1);
  SmallVector<Value> parts;
  for (Value row : rows)
    parts.push_back(leaf.insertUnits(row, units));
  auto stack = leaf.concat(parts, rank - 1).getDefiningOp<tensor::ConcatOp>();
  for (auto [number, row] : llvm::enumerate(rows))
    readAs(row, rowOf(leaf, stack, number, units));
  return stack;
}

SmallVector<tensor::ConcatOp> mhc::stackMixes(func::FuncOp func, algebra::Reading &reading) {
  std::vector<Rows> all;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
    const bool isFloat = type && isa<FloatType>(type.getElementType()) && type.getRank() >= 2;
    if (isFloat && !isa<arith::ExtFOp>(op) && rowCount(reading.of(op->getResult(0)))) // one that is widened is there
      addRow(reading, all, op->getResult(0));
  });
  SmallVector<tensor::ConcatOp> stacks;
  for (const Rows &rows : all)
    if (static_cast<int64_t>(rows.size()) == rowCount(reading.of(rows[0])))
      stacks.push_back(stackRows(rows));
  return stacks;
}
