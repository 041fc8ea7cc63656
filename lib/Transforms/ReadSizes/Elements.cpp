//===- Elements.cpp - Elements that the body of loops reads by index ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a size is open, exporters broadcast by hand: the body reads an element at the index of the loops, or at 0 where
// the size turns out to be 1. Where the size is that of the loop, both are the loop index: an operand.
//
//===----------------------------------------------------------------------===//

#include "ReadSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mhc;

namespace {
class ElementReader {
public:
  ElementReader(linalg::GenericOp op, const DimAnalysis &dims) : op(op), dims(dims) {}

  /// The map under which `extract` reads the elements of its tensor at each iteration of the loops; null where it may
  /// read others.
  AffineMap mapOf(tensor::ExtractOp extract);

private:
  AffineExpr exprOf(Value index, Value tensor, int64_t dim);
  bool hasSizeOf(unsigned loop, Value tensor, int64_t dim);

  linalg::GenericOp op;
  const DimAnalysis &dims;
};
} // namespace

/// Whether the loop runs along an operand's dimension of this size.
bool ElementReader::hasSizeOf(unsigned loop, Value tensor, int64_t dim) {
  for (OpOperand &operand : op->getOpOperands())
    for (auto [place, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (expr == getAffineDimExpr(loop, op.getContext())) {
        std::optional<int64_t> size = dims.constantSize(tensor, dim);
        return size ? size == dims.constantSize(operand.get(), place)
                    : dims.sameSize(tensor, dim, operand.get(), place);
      }
  return false;
}

/// The value chosen unless `x == 1` selects 0 (or `x != 1` the other way round); null for any other select.
static Value otherThanFirst(arith::SelectOp choice) {
  auto compare = choice.getCondition().getDefiningOp<arith::CmpIOp>();
  bool asksFor1 = compare && matchPattern(compare.getRhs(), m_One());
  if (asksFor1 && compare.getPredicate() == arith::CmpIPredicate::eq && matchPattern(choice.getTrueValue(), m_Zero()))
    return choice.getFalseValue();
  if (asksFor1 && compare.getPredicate() == arith::CmpIPredicate::ne && matchPattern(choice.getFalseValue(), m_Zero()))
    return choice.getTrueValue();
  return {};
}

/// Null where the index is neither that of a loop as long as the dimension, nor the only one there is.
AffineExpr ElementReader::exprOf(Value index, Value tensor, int64_t dim) {
  if (matchPattern(index, m_Zero()) && dims.constantSize(tensor, dim) == 1)
    return getAffineConstantExpr(0, op.getContext());
  if (auto cast = index.getDefiningOp<arith::IndexCastOp>())
    return exprOf(cast.getIn(), tensor, dim);
  // 0 where some size is 1, and the loop's index: the only index is 0 where that is the size of the loop.
  if (auto choice = index.getDefiningOp<arith::SelectOp>()) {
    Value loopIndex = otherThanFirst(choice);
    auto loop = loopIndex ? loopIndex.getDefiningOp<linalg::IndexOp>() : linalg::IndexOp();
    Value asked = choice.getCondition().getDefiningOp<arith::CmpIOp>().getLhs();
    return loop && dims.sameSize(tensor, dim, asked, DimAnalysis::kIndexValue) ? exprOf(loopIndex, tensor, dim)
                                                                               : AffineExpr();
  }
  auto loop = index.getDefiningOp<linalg::IndexOp>();
  return loop && hasSizeOf(loop.getDim(), tensor, dim) ? getAffineDimExpr(loop.getDim(), op.getContext())
                                                       : AffineExpr();
}

AffineMap ElementReader::mapOf(tensor::ExtractOp extract) {
  Value tensor = extract.getTensor();
  if (tensor.getParentRegion()->findAncestorOpInRegion(*op) == nullptr || !isa<RankedTensorType>(tensor.getType()))
    return {};
  SmallVector<AffineExpr> exprs;
  for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
    AffineExpr expr = exprOf(index, tensor, dim);
    if (!expr)
      return {};
    exprs.push_back(expr);
  }
  return AffineMap::get(op.getNumLoops(), 0, exprs, op.getContext());
}

/// An element at a known place is the same for all iterations of the loops: it is read in front of them.
static void moveOut(tensor::ExtractOp extract, linalg::GenericOp op) {
  Value tensor = extract.getTensor();
  SmallVector<OpFoldResult> places = getAsOpFoldResult(extract.getIndices());
  bool isKnown = llvm::all_of(places, [](OpFoldResult place) { return getConstantIntValue(place).has_value(); });
  if (!isKnown || !cast<RankedTensorType>(tensor.getType()).hasStaticShape() ||
      !tensor.getParentRegion()->isAncestor(op->getParentRegion()))
    return;
  OpBuilder builder(op);
  SmallVector<Value> indices = getValueOrCreateConstantIndexOp(builder, extract.getLoc(), places);
  extract.replaceAllUsesWith(tensor::ExtractOp::create(builder, extract.getLoc(), tensor, indices).getResult());
  extract.erase();
}

/// `op` with one more operand.
static linalg::GenericOp withOperand(linalg::GenericOp op, Value tensor, AffineMap map) {
  OpBuilder builder(op);
  SmallVector<Value> inputs = llvm::to_vector(op.getInputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.insert(maps.begin() + inputs.size(), map);
  inputs.push_back(tensor);
  auto wider = linalg::GenericOp::create(builder, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps,
                                         op.getIteratorTypesArray());
  wider->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  wider.getRegion().takeBody(op.getRegion());
  wider.getBlock()->insertArgument(inputs.size() - 1, cast<RankedTensorType>(tensor.getType()).getElementType(),
                                   op.getLoc());
  op.replaceAllUsesWith(wider.getResults());
  op.erase();
  return wider;
}

static SmallVector<tensor::ExtractOp> extractsOf(linalg::GenericOp op) {
  return llvm::to_vector(op.getBlock()->getOps<tensor::ExtractOp>());
}

bool mhc::readsElements(linalg::GenericOp op) { return !extractsOf(op).empty(); }

static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void mhc::readElements(func::FuncOp func) {
  SmallVector<linalg::GenericOp> ops;
  func.walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics() && readsElements(op))
      ops.push_back(op);
  });
  if (ops.empty())
    return;
  DimAnalysis dims(func);
  for (linalg::GenericOp op : ops)
    for (tensor::ExtractOp extract : extractsOf(op)) {
      AffineMap map = ElementReader(op, dims).mapOf(extract);
      if (!map) {
        moveOut(extract, op);
        continue;
      }
      unsigned operand = op.getNumDpsInputs();
      op = withOperand(op, extract.getTensor(), map);
      extract.replaceAllUsesWith(op.getBlock()->getArgument(operand));
      extract.erase();
      eraseDead(*op.getBlock());
    }
}
