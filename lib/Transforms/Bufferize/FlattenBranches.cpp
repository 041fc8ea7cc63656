//===- FlattenBranches.cpp - Branches into selects ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/LeafBuilder.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mhc {
#define GEN_PASS_DEF_FLATTENBRANCHESPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using mhc::LeafBuilder;

/// Whether both sides may be computed, and then one be picked.
static LogicalResult checkBranch(scf::IfOp branch, const mhc::DimAnalysis &dims) {
  for (Region *side : branch.getRegions())
    for (Operation &op : side->getOps())
      if (!op.hasTrait<OpTrait::IsTerminator>() && (!isMemoryEffectFree(&op) || !isSpeculatable(&op)))
        return branch.emitError() << "'scf.if' cannot be compiled: both sides are computed, and '" << op.getName()
                                  << "' may run only where its side is taken";
  for (OpResult result : branch.getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    unsigned number = result.getResultNumber();
    for (int dim = 0; type && dim < type.getRank(); ++dim)
      if (!dims.sameSize(branch.thenYield().getOperand(number), dim, branch.elseYield().getOperand(number), dim))
        return branch.emitError() << "'scf.if' cannot be compiled: the sides give result " << number
                                  << " different sizes in dimension " << dim;
  }
  return success();
}

static bool isInside(OpFoldResult index, RankedTensorType type, int64_t dim) {
  std::optional<int64_t> known = getConstantIntValue(index);
  return known && *known >= 0 && !type.isDynamicDim(dim) && *known < type.getDimSize(dim);
}

namespace {
/// A part of a tensor: where it starts, how much it holds and how it steps in each dimension.
struct Part {
  Value source;
  SmallVector<OpFoldResult> offsets, sizes, strides;

  RankedTensorType type() const { return cast<RankedTensorType>(source.getType()); }

  /// Whether a dimension of known size may lie outside.
  bool isUnsure(int64_t dim) const {
    std::optional<int64_t> offset = getConstantIntValue(offsets[dim]), size = getConstantIntValue(sizes[dim]);
    std::optional<int64_t> stride = getConstantIntValue(strides[dim]);
    if (!size || *size == 0)
      return false;
    bool isKnown = offset && stride && *offset >= 0 && !type().isDynamicDim(dim);
    return !isKnown || *offset + (*size - 1) * *stride >= type().getDimSize(dim);
  }
};
} // namespace

/// Whether a condition follows from sizes and numbers alone: elements of tensors say nothing about places.
static bool isOfSizes(Value condition) {
  SetVector<Operation *> ops;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.filter = [](Operation *op) { return !isa<tensor::DimOp>(op); };
  (void)getBackwardSlice(condition, &ops, options);
  auto readsValues = [](Operation *op) {
    return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType, FloatType>);
  };
  return !isa<BlockArgument>(condition) && llvm::none_of(ops, readsValues);
}

/// Whether all sides around an op are taken, as far as sizes decide that; null where none is decided so.
static Value takenBySizes(RewriterBase &rewriter, Operation *op) {
  Value taken;
  for (auto branch = op->getParentOfType<scf::IfOp>(); branch; branch = branch->getParentOfType<scf::IfOp>()) {
    Value condition = branch.getCondition();
    if (!isOfSizes(condition))
      continue;
    Location loc = op->getLoc();
    if (branch.getElseRegion().isAncestor(op->getParentRegion()))
      condition = arith::XOrIOp::create(rewriter, loc, condition, arith::ConstantIntOp::create(rewriter, loc, 1, 1));
    taken = taken ? arith::AndIOp::create(rewriter, loc, taken, condition).getResult() : condition;
  }
  return taken;
}

/// The part where its side is taken. Where it is not, the part may lie outside: zeros stand for it, and nothing is
/// read. Null where the part is inside anyhow, or where nothing tells so early whether the side is taken.
static Value readWhereTaken(RewriterBase &rewriter, Operation *op, Part part) {
  TypedAttr zero = rewriter.getZeroAttr(part.type().getElementType());
  auto dims = llvm::seq<int64_t>(0, part.type().getRank());
  if (!zero || llvm::none_of(dims, [&](int64_t dim) { return part.isUnsure(dim); }))
    return {};
  rewriter.setInsertionPoint(op);
  Value taken = takenBySizes(rewriter, op);
  if (!taken)
    return {};
  Location loc = op->getLoc();
  SmallVector<OpFoldResult> sizes = part.sizes, start(sizes.size(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(sizes.size(), rewriter.getIndexAttr(1));
  Value none = arith::ConstantIndexOp::create(rewriter, loc, 0);
  auto whereTaken = [&](OpFoldResult &number) {
    number = arith::SelectOp::create(rewriter, loc, taken, getValueOrCreateConstantIndexOp(rewriter, loc, number), none)
                 .getResult();
  };
  for (int64_t dim : dims)
    if (part.isUnsure(dim)) {
      whereTaken(part.offsets[dim]);
      whereTaken(part.sizes[dim]);
    }
  Value read = tensor::ExtractSliceOp::create(rewriter, loc, part.source, part.offsets, part.sizes, part.strides);
  RankedTensorType type = LeafBuilder::typeOf(sizes, part.type().getElementType());
  SmallVector<Value> dynamic;
  SmallVector<int64_t> known;
  dispatchIndexOpFoldResults(sizes, dynamic, known);
  Value number = arith::ConstantOp::create(rewriter, loc, zero);
  Value zeros = tensor::SplatOp::create(rewriter, loc, type, number, dynamic);
  return tensor::InsertSliceOp::create(rewriter, loc, read, zeros, start, part.sizes, ones);
}

/// An element of a tensor that may have none; of others the first one is there.
static void guardElement(RewriterBase &rewriter, tensor::ExtractOp op) {
  RankedTensorType type = op.getTensor().getType();
  SmallVector<OpFoldResult> ones(type.getRank(), rewriter.getIndexAttr(1));
  Part part{op.getTensor(), getAsOpFoldResult(op.getIndices()), ones, ones};
  Value read = type.hasStaticShape() ? Value() : readWhereTaken(rewriter, op, part);
  if (!read)
    return;
  op.getTensorMutable().assign(read);
  Value first = arith::ConstantIndexOp::create(rewriter, op.getLoc(), 0);
  op.getIndicesMutable().assign(SmallVector<Value>(type.getRank(), first));
}

static void guardSlice(RewriterBase &rewriter, tensor::ExtractSliceOp op) {
  Part part{op.getSource(), op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides()};
  Value read = readWhereTaken(rewriter, op, part);
  if (!read)
    return;
  SmallVector<OpFoldResult> start(part.sizes.size(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(part.sizes.size(), rewriter.getIndexAttr(1));
  rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(op, op.getType(), read, start, part.sizes, ones);
}

/// A cast to a type that knows more sizes is a part of those sizes.
static void guardCast(RewriterBase &rewriter, tensor::CastOp op) {
  auto from = dyn_cast<RankedTensorType>(op.getSource().getType()), to = dyn_cast<RankedTensorType>(op.getType());
  if (!from || !to || from.getRank() == 0)
    return;
  rewriter.setInsertionPoint(op);
  SmallVector<OpFoldResult> start(from.getRank(), rewriter.getIndexAttr(0)), sizes;
  SmallVector<OpFoldResult> ones(from.getRank(), rewriter.getIndexAttr(1));
  for (auto [dim, size] : llvm::enumerate(to.getShape()))
    sizes.push_back(from.isDynamicDim(dim) && !ShapedType::isDynamic(size)
                        ? rewriter.getIndexAttr(size)
                        : tensor::getMixedSize(rewriter, op.getLoc(), op.getSource(), dim));
  if (Value read = readWhereTaken(rewriter, op, {op.getSource(), start, sizes, ones}))
    rewriter.replaceOp(op, rewriter.createOrFold<tensor::CastOp>(op.getLoc(), to, read));
}

/// Keeps the parts that sides read inside where the sides are not taken.
static void guardParts(RewriterBase &rewriter, ArrayRef<scf::IfOp> branches) {
  SmallVector<Operation *> reads;
  for (scf::IfOp branch : branches)
    for (Region *side : branch.getRegions())
      for (Operation &op : side->getOps())
        reads.push_back(&op);
  for (Operation *op : reads)
    TypeSwitch<Operation *>(op)
        .Case([&](tensor::ExtractOp element) { guardElement(rewriter, element); })
        .Case([&](tensor::ExtractSliceOp slice) { guardSlice(rewriter, slice); })
        .Case([&](tensor::CastOp cast) { guardCast(rewriter, cast); });
}

/// A side that is not taken may ask for an element outside: it reads the first one in its place.
static void guardIndices(scf::IfOp branch, RewriterBase &rewriter) {
  for (Region *side : branch.getRegions())
    for (auto element : llvm::to_vector(side->getOps<tensor::ExtractOp>())) {
      rewriter.setInsertionPoint(element);
      for (OpOperand &index : element.getIndicesMutable()) {
        if (isInside(index.get(), element.getTensor().getType(), index.getOperandNumber() - 1))
          continue;
        Value picked[] = {index.get(), arith::ConstantIndexOp::create(rewriter, element.getLoc(), 0)};
        bool isThen = side == &branch.getThenRegion();
        index.set(arith::SelectOp::create(rewriter, element.getLoc(), branch.getCondition(), picked[isThen ? 0 : 1],
                                          picked[isThen ? 1 : 0]));
      }
    }
}

/// Moves both sides in front of the branch.
static void flatten(scf::IfOp branch, RewriterBase &rewriter) {
  guardIndices(branch, rewriter);
  rewriter.setInsertionPoint(branch);
  SmallVector<Value> picked;
  for (OpResult result : branch.getResults()) {
    unsigned number = result.getResultNumber();
    picked.push_back(arith::SelectOp::create(rewriter, branch.getLoc(), branch.getCondition(),
                                             branch.thenYield().getOperand(number),
                                             branch.elseYield().getOperand(number)));
  }
  Operation *before = picked.empty() ? branch : picked.front().getDefiningOp();
  for (Region *side : branch.getRegions())
    for (Operation &op : llvm::make_early_inc_range(side->getOps()))
      if (!op.hasTrait<OpTrait::IsTerminator>())
        op.moveBefore(before);
  rewriter.replaceOp(branch, picked);
}

namespace {
struct FlattenBranches : mhc::impl::FlattenBranchesPassBase<FlattenBranches> {
  void runOnOperation() override {
    SmallVector<scf::IfOp> branches; // inner ones first: what they read is guarded by all branches around it
    getOperation().walk([&](scf::IfOp branch) { branches.push_back(branch); });
    if (branches.empty())
      return;
    mhc::DimAnalysis dims(getOperation());
    for (scf::IfOp branch : branches)
      if (failed(checkBranch(branch, dims)))
        return signalPassFailure();
    IRRewriter rewriter(&getContext());
    guardParts(rewriter, branches);
    for (scf::IfOp branch : branches)
      flatten(branch, rewriter);
  }
};
} // namespace
