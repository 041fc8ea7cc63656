//===- Linalg.cpp - Ops of linalg as leaf ops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exporters write a model as linalg on tensors, one small op after the other. Each op becomes leaf ops on whole
// tensors, on which the other steps match: operands are spread over the domain of the loops, the body is applied to
// tensors, and what it adds up or takes the maximum of is reduced. An op that cannot be read so stays as it is.
//
//===----------------------------------------------------------------------===//

#include "LinalgBody.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace mhc;

namespace {
/// Reads one op. What was built before it turns out that an op cannot be read stays without a user.
class LinalgReader {
public:
  explicit LinalgReader(linalg::LinalgOp op)
      : op(op), builder(op), leaf(builder, op.getLoc()), views(op, builder), body(op, builder, views) {}

  bool read();

private:
  Value readResult(OpResult result);
  Value readReduction(Value yielded, BlockArgument accumulator);
  Value readContraction();
  Value withStart(Value tensor, unsigned operand, Operation *combiner);

  linalg::LinalgOp op;
  OpBuilder builder;
  LeafBuilder leaf;
  LinalgViews views;
  LinalgBody body;
};
} // namespace

/// Whether a value is in f64, which no matrix product and no leaf op takes.
static bool isF64(Value value) { return getElementTypeOrSelf(value).isF64(); }

static std::optional<ReduceKind> kindOf(Operation *combiner) {
  if (isa<arith::AddFOp>(combiner))
    return ReduceKind::sum;
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner))
    return ReduceKind::max;
  return std::nullopt;
}

/// Whether what an output starts from leaves the sum or maximum as it is.
static bool startsAtIdentity(Value init, Operation *combiner) {
  auto number = dyn_cast_if_present<FloatAttr>(splatOf(init));
  if (!number)
    return false;
  APFloat start = number.getValue();
  if (isa<arith::AddFOp>(combiner))
    return start.isZero();
  return (start.isInfinity() && start.isNegative()) || (start.isNaN() && isa<arith::MaxNumFOp>(combiner));
}

Value LinalgReader::readReduction(Value yielded, BlockArgument accumulator) {
  Operation *combiner = yielded.getDefiningOp();
  std::optional<ReduceKind> kind = combiner ? kindOf(combiner) : std::nullopt;
  if (!kind || !llvm::is_contained(combiner->getOperands(), Value(accumulator)))
    return {};
  Value part = combiner->getOperand(combiner->getOperand(0) == accumulator ? 1 : 0);
  if (part == accumulator)
    return {};
  Value tensor = body.tensorOf(part);
  if (!tensor || !hasLeafType(tensor))
    return {};
  SmallVector<int64_t> dims;
  for (auto [dim, kindOfLoop] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kindOfLoop == utils::IteratorType::reduction)
      dims.push_back(dim);
  return withStart(leaf.reduce(*kind, tensor, dims), accumulator.getArgNumber(), combiner);
}

/// Combines the result of the loops with the previous contents of the output.
Value LinalgReader::withStart(Value tensor, unsigned operand, Operation *combiner) {
  OpOperand &init = op->getOpOperand(operand);
  Value out = tensor ? views.as(tensor, init) : Value();
  if (!out || startsAtIdentity(init.get(), combiner))
    return out;
  if (isa<arith::AddFOp>(combiner))
    return leaf.add(init.get(), out);
  if (isa<arith::MaxNumFOp>(combiner))
    return arith::MaxNumFOp::create(builder, op.getLoc(), init.get(), out);
  return leaf.max(init.get(), out);
}

Value LinalgReader::readResult(OpResult result) {
  OpOperand *init = op.getDpsInitOperand(result.getResultNumber());
  Value yielded = op.getBlock()->getTerminator()->getOperand(result.getResultNumber());
  // One op may hold a sum beside what it adds up.
  if (body.isReduced(*init))
    return readReduction(yielded, op.getMatchingBlockArgument(init));
  Value tensor = body.tensorOf(yielded);
  return tensor ? views.as(tensor, *init) : Value();
}

/// A sum of products as one matrix product.
Value LinalgReader::readContraction() {
  if (!linalg::isaContractionOpInterface(op) || !llvm::all_of(op->getOperands(), hasLeafType))
    return {};
  Operation *sum = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  return withStart(views.contraction(), op.getNumDpsInputs(), sum);
}

bool LinalgReader::read() {
  // No matrix product takes f64, and products one by one would be a tensor over all loops.
  if (linalg::isaContractionOpInterface(op) && llvm::any_of(op->getOperands(), isF64))
    return false;
  SmallVector<std::pair<OpResult, Value>> read;
  for (OpResult result : op->getResults()) {
    if (result.use_empty())
      continue;
    Value value = op->getNumResults() == 1 ? readContraction() : Value();
    if (!value)
      value = readResult(result);
    if (!value || value.getType() != result.getType())
      return false;
    read.emplace_back(result, value);
  }
  for (auto [result, value] : read)
    result.replaceAllUsesWith(value);
  return true;
}

/// Whether each operand is read at one place for each iteration of the loops: under a dimension of its own for each
/// loop that it depends on.
static bool hasPlainMaps(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           llvm::SmallBitVector seen(map.getNumDims());
           return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
             if (auto number = dyn_cast<AffineConstantExpr>(expr))
               return number.getValue() == 0;
             auto dim = dyn_cast<AffineDimExpr>(expr);
             if (!dim || seen[dim.getPosition()])
               return false;
             seen.set(dim.getPosition());
             return true;
           });
         });
}

/// Whether the body only computes. Exporters assert in it that a divisor is not zero: a quotient that is not finite
/// says as much, so assertions go.
static bool onlyComputes(linalg::LinalgOp op) {
  return llvm::all_of(op.getBlock()->without_terminator(),
                      [](Operation &inner) { return isPure(&inner) || isa<cf::AssertOp>(inner); });
}

static void importSoftmax(linalg::SoftmaxOp op) {
  if (!op.hasPureTensorSemantics() || !hasLeafType(op.getInput()) || isF64(op.getInput()) ||
      op.getInput().getType() != op.getOutput().getType())
    return;
  OpBuilder builder(op);
  Value softmax = SoftmaxOp::create(builder, op.getLoc(), op.getInput().getType(), op.getInput(), op.getDimension());
  op->getResult(0).replaceAllUsesWith(softmax);
  op.erase();
}

/// Puts the loops in the order in which an operand is read, so that it is not transposed for its reduction.
static void orderLoops(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics())
    return;
  SmallVector<AffineMap> maps = llvm::map_to_vector(
      op.getDpsInputOperands(), [&](OpOperand *operand) { return op.getMatchingIndexingMap(operand); });
  const AffineMap *first = llvm::find_if(maps, [](AffineMap map) { return map.isPermutation(); });
  if (first == maps.end() || llvm::any_of(maps, [](AffineMap map) { return map.isIdentity(); }))
    return;
  SmallVector<unsigned> order;
  for (AffineExpr expr : first->getResults())
    order.push_back(cast<AffineDimExpr>(expr).getPosition());
  IRRewriter rewriter(op.getContext());
  rewriter.setInsertionPoint(op);
  (void)linalg::interchangeGenericOp(rewriter, op, order);
}

void mhc::importLinalg(func::FuncOp func) {
  func.walk([](linalg::SoftmaxOp op) { importSoftmax(op); });
  func.walk([](linalg::GenericOp op) { orderLoops(op); });
  SmallVector<linalg::LinalgOp> ops;
  func.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  // A fill says where a sum starts; it is read last, where something else uses it.
  std::stable_partition(ops.begin(), ops.end(), [](linalg::LinalgOp op) { return !isa<linalg::FillOp>(op); });
  for (linalg::LinalgOp op : ops)
    if (hasPlainMaps(op) && onlyComputes(op) && LinalgReader(op).read())
      op->erase();
}
