//===- Bufferize.cpp - Tensors to buffers ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyBuffer.h"
#include "InPlace.h"
#include "OutsideCalls.h"
#include "mhc/IR/LeafBuilder.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferUtils.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mhc {
#define GEN_PASS_DEF_BUFFERIZEPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mlir::bufferization;

namespace {
/// Decides by looking at one operand only, so that the whole of bufferization is linear. Of the
/// arguments, only those that a result takes over are written.
class LocalAnalysis : public AnalysisState {
public:
  explicit LocalAnalysis(const BufferizationOptions &options) : AnalysisState(options) {}

  bool isInPlace(OpOperand &operand) const override {
    if (isa<ToBufferOp>(operand.getOwner()) || !bufferizesToMemoryWrite(operand))
      return true;
    return operand.get().hasOneUse() && ownsBuffer(operand.get());
  }

  bool hasUndefinedContents(OpOperand *operand) const override {
    return operand->get().getDefiningOp<tensor::EmptyOp>() != nullptr;
  }

private:
  /// Whether nobody but users of `tensor` can see its buffer. The destination of a writing op was either owned before,
  /// with that op as its only user, or is a copy.
  bool ownsBuffer(Value tensor) const {
    Operation *op = tensor.getDefiningOp();
    if (!op)
      return mhc::isComputedInPlace(tensor);
    if (isa<tensor::EmptyOp, tensor::InsertSliceOp, DestinationStyleOpInterface>(op))
      return true;
    auto bufferizable = getOptions().dynCastBufferizableOp(op);
    return bufferizable && bufferizable.bufferizesToAllocation(tensor);
  }
};

/// memref.subview, asked which dimensions it drops, crashes where it steps as well: one op steps, another one drops.
class StepSeparator {
public:
  void run(ModuleOp module) {
    auto visit = [](auto slice) {
      if (steps(slice) && slice.getDroppedDims().any())
        separate(slice);
    };
    module.walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op).Case<tensor::ExtractSliceOp, tensor::InsertSliceOp>(visit);
    });
  }

private:
  static bool steps(OffsetSizeAndStrideOpInterface op) {
    return !llvm::all_of(op.getMixedStrides(), [](OpFoldResult stride) { return isConstantIntValue(stride, 1); });
  }

  static void separate(tensor::ExtractSliceOp op) {
    OpBuilder builder(op);
    Value wide = tensor::ExtractSliceOp::create(builder, op.getLoc(), op.getSource(), op.getMixedOffsets(),
                                                op.getMixedSizes(), op.getMixedStrides());
    SmallVector<OpFoldResult> zeros(op.getSourceType().getRank(), builder.getIndexAttr(0));
    SmallVector<OpFoldResult> ones(zeros.size(), builder.getIndexAttr(1));
    auto narrow =
        tensor::ExtractSliceOp::create(builder, op.getLoc(), op.getType(), wide, zeros, op.getMixedSizes(), ones);
    op.replaceAllUsesWith(narrow.getResult());
    op.erase();
  }

  static void separate(tensor::InsertSliceOp op) {
    OpBuilder builder(op);
    Value wide = mhc::LeafBuilder(builder, op.getLoc()).insertUnits(op.getSource(), op.getDroppedDims());
    op.getSourceMutable().assign(wide);
  }
};

/// A reshape whose sizes nothing tells to be those of its dimensions goes by way of a vector of all elements: views of
/// buffers have no sizes in memory.
static void flattenReshape(tensor::ReshapeOp op) {
  auto from = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto to = dyn_cast<RankedTensorType>(op.getResult().getType());
  if (!from || !to || from.getRank() == 0 || to.getRank() == 0)
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto oneGroup = [](int64_t rank) {
    return SmallVector<ReassociationIndices>{llvm::to_vector<2>(llvm::seq<int64_t>(0, rank))};
  };
  Value flat = op.getSource();
  if (from.getRank() > 1)
    flat = tensor::CollapseShapeOp::create(builder, loc, flat, oneGroup(from.getRank()));
  const int64_t count = to.hasStaticShape() ? to.getNumElements() : ShapedType::kDynamic;
  if (auto type = to.clone(ArrayRef<int64_t>{count}); flat.getType() != type)
    flat = tensor::CastOp::create(builder, loc, type, flat);
  auto elements = op.getShape().getDefiningOp<tensor::FromElementsOp>();
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, size] : llvm::enumerate(to.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(builder.getIndexAttr(size));
      continue;
    }
    Value number = elements ? elements.getElements()[dim] : Value();
    if (!number) {
      Value place = arith::ConstantIndexOp::create(builder, loc, dim);
      number = tensor::ExtractOp::create(builder, loc, op.getShape(), place);
    }
    if (!number.getType().isIndex())
      number = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number);
    sizes.push_back(number);
  }
  if (to.getRank() > 1)
    flat = tensor::ExpandShapeOp::create(builder, loc, to, flat, oneGroup(to.getRank()), sizes);
  op.replaceAllUsesWith(flat);
  op.erase();
}

/// Upstream takes the product of an open size and 0 for 0, which memref.collapse_shape refuses. There are no elements.
void replaceEmptyCollapse(tensor::CollapseShapeOp op) {
  ArrayRef<int64_t> shape = op.getSrcType().getShape();
  if (!llvm::is_contained(shape, 0) || op.getSrcType().hasStaticShape())
    return;
  OpBuilder builder(op);
  ReifiedRankedShapedTypeDims sizes;
  if (failed(reifyResultShapes(builder, op, sizes)))
    return;
  for (auto [group, size] : llvm::zip_equal(op.getReassociationIndices(), sizes.front()))
    if (llvm::any_of(group, [&](int64_t dim) { return shape[dim] == 0; }))
      size = builder.getIndexAttr(0);
  Value empty = tensor::EmptyOp::create(builder, op.getLoc(), sizes.front(), op.getSrcType().getElementType());
  op.replaceAllUsesWith(builder.createOrFold<tensor::CastOp>(op.getLoc(), op.getResultType(), empty));
  op.erase();
}

/// Upstream casts a slice that a function returns to a buffer without gaps where its strides are unknown. They may be
/// those of a longer row.
void copySlice(memref::CastOp op) {
  auto from = dyn_cast<MemRefType>(op.getSource().getType()), to = dyn_cast<MemRefType>(op.getType());
  if (!from || !to || !to.getLayout().isIdentity() || from.areTrailingDimsContiguous(from.getRank()))
    return;
  OpBuilder builder(op);
  Value copy = mhc::copyOf(builder, op.getLoc(), op.getSource());
  op.replaceAllUsesWith(builder.createOrFold<memref::CastOp>(op.getLoc(), to, copy));
  op.erase();
}

/// The globals of constants, in the order of the program: bufferization visits functions in the order of their
/// addresses, and the same program would become different text each time.
void makeGlobals(ModuleOp module, const OneShotBufferizationOptions &options, BufferizationState &state) {
  module.walk([&](arith::ConstantOp constant) {
    if (isa<RankedTensorType>(constant.getType()) && !constant->use_empty())
      (void)getGlobalFor(constant, state.getSymbolTables(), options.bufferAlignment);
  });
}

struct Bufferize : mhc::impl::BufferizePassBase<Bufferize> {
  void runOnOperation() override {
    mhc::callOnBuffers(getOperation());
    StepSeparator().run(getOperation());
    getOperation().walk(flattenReshape);
    getOperation().walk(replaceEmptyCollapse);
    OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.setFunctionBoundaryTypeConversion(LayoutMapOption::IdentityLayoutMap);
    options.unknownTypeConverterFn = [](TensorType tensor, Attribute space, const BufferizationOptions &) {
      return getMemRefTypeWithStaticIdentityLayout(tensor, space);
    };
    BufferizationState state;
    // In this mode a loop may yield any buffer and does not ask for upstream's analysis; mhc-carry-loops copies.
    OneShotBufferizationOptions copying = options;
    copying.copyBeforeWrite = true;
    makeGlobals(getOperation(), options, state);
    if (failed(insertTensorCopies(getOperation(), LocalAnalysis(copying), state)) ||
        failed(bufferizeModuleOp(getOperation(), options, state)))
      return signalPassFailure();
    getOperation().walk(copySlice);
  }
};
} // namespace
