//===- Tensor.cpp - Gradients of tensor ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "Rule.h"
#include "mhc/IR/Gradients.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include <numeric>

using namespace mlir;
using namespace mhc;

using Sizes = LeafBuilder::Sizes;

/// The type of a share of `value`, as far as it is known.
static RankedTensorType shareType(Value value, Value g) {
  return cast<RankedTensorType>(value.getType()).clone(getElementTypeOrSelf(g));
}

/// Zeros in the shape of `value`.
static Value zerosLike(Vjp &vjp, Value value) { return vjp.leaf.splat(0.0, vjp.leaf.widen(value)); }

static void castVjp(tensor::CastOp op, Vjp &vjp) {
  vjp.add(op.getSource(), tensor::CastOp::create(vjp.builder, op.getLoc(), shareType(op.getSource(), vjp.g), vjp.g));
}

static void collapseVjp(tensor::CollapseShapeOp op, Vjp &vjp) {
  Sizes sizes = vjp.leaf.sizesOf(op.getSrc());
  vjp.add(op.getSrc(), tensor::ExpandShapeOp::create(vjp.builder, op.getLoc(), shareType(op.getSrc(), vjp.g), vjp.g,
                                                     op.getReassociationIndices(), sizes));
}

static void expandVjp(tensor::ExpandShapeOp op, Vjp &vjp) {
  vjp.add(op.getSrc(), tensor::CollapseShapeOp::create(vjp.builder, op.getLoc(), shareType(op.getSrc(), vjp.g), vjp.g,
                                                       op.getReassociationIndices()));
}

/// The cotangent among zeros.
static void extractSliceVjp(tensor::ExtractSliceOp op, Vjp &vjp) {
  Value zeros = zerosLike(vjp, op.getSource());
  vjp.add(op.getSource(), tensor::InsertSliceOp::create(vjp.builder, op.getLoc(), vjp.g, zeros, op.getMixedOffsets(),
                                                        op.getMixedSizes(), op.getMixedStrides()));
}

/// Elements that were overwritten get a zero gradient.
static void insertSliceVjp(tensor::InsertSliceOp op, Vjp &vjp) {
  Sizes offsets = op.getMixedOffsets(), sizes = op.getMixedSizes(), strides = op.getMixedStrides();
  if (vjp.needs(op.getSource()))
    vjp.add(op.getSource(), tensor::ExtractSliceOp::create(vjp.builder, op.getLoc(), shareType(op.getSource(), vjp.g),
                                                           vjp.g, offsets, sizes, strides));
  if (vjp.needs(op.getDest())) {
    Value zeros = zerosLike(vjp, op.getSource());
    vjp.add(op.getDest(),
            tensor::InsertSliceOp::create(vjp.builder, op.getLoc(), zeros, vjp.g, offsets, sizes, strides));
  }
}

static OpFoldResult plus(Vjp &vjp, Location loc, OpFoldResult a, OpFoldResult b) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return vjp.builder.getIndexAttr(*x + *y);
  Value left = getValueOrCreateConstantIndexOp(vjp.builder, loc, a);
  Value right = getValueOrCreateConstantIndexOp(vjp.builder, loc, b);
  return arith::AddIOp::create(vjp.builder, loc, left, right).getResult();
}

static void concatVjp(tensor::ConcatOp op, Vjp &vjp) {
  OpFoldResult offset = vjp.builder.getIndexAttr(0);
  for (Value input : op.getInputs()) {
    Sizes sizes = vjp.leaf.sizesOf(input);
    Sizes offsets(sizes.size(), vjp.leaf.constant(0)), strides(sizes.size(), vjp.leaf.constant(1));
    offsets[op.getDim()] = offset;
    if (vjp.needs(input))
      vjp.add(input, tensor::ExtractSliceOp::create(vjp.builder, op.getLoc(), shareType(input, vjp.g), vjp.g, offsets,
                                                    sizes, strides));
    offset = plus(vjp, op.getLoc(), offset, sizes[op.getDim()]);
  }
}

static Value sumOf(LeafBuilder &leaf, OpBuilder &builder, Value tensor) {
  SmallVector<int64_t> all(cast<RankedTensorType>(tensor.getType()).getRank());
  std::iota(all.begin(), all.end(), 0);
  Value sum = leaf.reduce(ReduceKind::sum, tensor, all);
  return tensor::ExtractOp::create(builder, sum.getLoc(), sum, ValueRange());
}

static void splatVjp(tensor::SplatOp op, Vjp &vjp) { vjp.add(op.getInput(), sumOf(vjp.leaf, vjp.builder, vjp.g)); }

static void fromElementsVjp(tensor::FromElementsOp op, Vjp &vjp) {
  ArrayRef<int64_t> shape = op.getType().getShape();
  for (auto [i, element] : llvm::enumerate(op.getElements())) {
    if (!vjp.needs(element))
      continue;
    SmallVector<Value> place;
    for (int64_t rest = i, dim = shape.size() - 1; dim >= 0; rest /= shape[dim--])
      place.push_back(arith::ConstantIndexOp::create(vjp.builder, op.getLoc(), rest % shape[dim]));
    std::reverse(place.begin(), place.end());
    vjp.add(element, tensor::ExtractOp::create(vjp.builder, op.getLoc(), vjp.g, place));
  }
}

/// The cotangent among zeros.
static void extractVjp(tensor::ExtractOp op, Vjp &vjp) {
  int64_t rank = op.getTensor().getType().getRank();
  auto one = RankedTensorType::get(SmallVector<int64_t>(rank, 1), vjp.g.getType());
  Value element = tensor::FromElementsOp::create(vjp.builder, op.getLoc(), one, vjp.g);
  Sizes offsets(op.getIndices().begin(), op.getIndices().end()), ones(rank, vjp.leaf.constant(1));
  Value zeros = zerosLike(vjp, op.getTensor());
  vjp.add(op.getTensor(), tensor::InsertSliceOp::create(vjp.builder, op.getLoc(), element, zeros, offsets, ones, ones));
}

namespace {
/// The part of the cotangent that is not padding; the rest is that of the number it is padded with.
struct PadVjp : DifferentiableOpInterface::ExternalModel<PadVjp, tensor::PadOp> {
  LogicalResult buildVjp(Operation *op, OpBuilder &builder, VjpContext &context) const {
    auto pad = cast<tensor::PadOp>(op);
    Value number = pad.getConstantPaddingValue(), g = context.cotangentOf(pad.getResult());
    if (!number)
      return pad.emitError() << "'tensor.pad' with more than one number has no gradient rule";
    LeafBuilder leaf(builder, op->getLoc());
    Sizes strides(pad.getType().getRank(), leaf.constant(1));
    Value inside = tensor::ExtractSliceOp::create(builder, op->getLoc(), shareType(pad.getSource(), g), g,
                                                  pad.getMixedLowPad(), leaf.sizesOf(pad.getSource()), strides);
    context.addCotangent(pad.getSource(), inside);
    if (context.needsGradient(number))
      context.addCotangent(number, leaf.sub(sumOf(leaf, builder, g), sumOf(leaf, builder, inside)));
    return success();
  }
  bool isCheapToRebuild(Operation *) const { return false; }
};
} // namespace

void mhc::registerTensorGradients(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    attachRule<tensor::CastOp, castVjp, /*rebuilt=*/true>(context);
    attachRule<tensor::CollapseShapeOp, collapseVjp, /*rebuilt=*/true>(context);
    attachRule<tensor::ExpandShapeOp, expandVjp, /*rebuilt=*/true>(context);
    attachRule<tensor::ExtractSliceOp, extractSliceVjp>(context);
    attachRule<tensor::InsertSliceOp, insertSliceVjp>(context);
    attachRule<tensor::ConcatOp, concatVjp>(context);
    attachRule<tensor::SplatOp, splatVjp, /*rebuilt=*/true>(context);
    attachRule<tensor::FromElementsOp, fromElementsVjp>(context);
    attachRule<tensor::ExtractOp, extractVjp>(context);
    tensor::PadOp::attachInterface<PadVjp>(*context);
  });
}
