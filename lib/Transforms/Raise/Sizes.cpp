//===- Sizes.cpp - Sizes that exporters compute and assert ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With dynamic shapes exporters compute the sizes of a reshape as integers, allow for negative ones and assert what
// they need. Sizes are not negative: upstream's analysis of ranges knows and takes most of that away before. What it
// proved is erased here, and a reshape becomes what it does: joining or splitting dimensions. An assertion that may
// fail stays.
//
//===----------------------------------------------------------------------===//

#include "Raise.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mhc;

/// The size of dimension `dim` of the result, whose group holds the dimension `source` of the operand.
static OpFoldResult sizeOf(OpBuilder &builder, tensor::ReshapeOp op, ReassociationIndices group, int64_t dim,
                           int64_t source) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  if (!type.isDynamicDim(dim))
    return builder.getIndexAttr(type.getDimSize(dim));
  // As many elements before and after: where one size of the group is not known, the others give it.
  bool alone = llvm::all_of(group, [&](int64_t other) { return other == dim || type.getDimSize(other) == 1; });
  if (alone)
    return sizeOf(builder, op.getLoc(), op.getSource(), source);
  auto sizes = op.getShape().getDefiningOp<tensor::FromElementsOp>();
  Value size = sizes ? sizes.getElements()[dim]
                     : tensor::ExtractOp::create(builder, op.getLoc(), op.getShape(),
                                                 Value(arith::ConstantIndexOp::create(builder, op.getLoc(), dim)));
  if (size.getType().isIndex())
    return size;
  return OpFoldResult(Value(arith::IndexCastOp::create(builder, op.getLoc(), builder.getIndexType(), size)));
}

/// Whether a reshape between two types can only mean these groups: with as many elements before and after, one unknown
/// size follows from the known ones.
static bool isUnique(RankedTensorType wide, RankedTensorType narrow, ArrayRef<ReassociationIndices> groups) {
  if (narrow.getNumDynamicDims() > 1)
    return false;
  for (auto [size, group] : llvm::zip(narrow.getShape(), groups)) {
    auto sizes = llvm::map_range(group, [&](int64_t dim) { return wide.getDimSize(dim); });
    if (ShapedType::isDynamicShape(llvm::to_vector(sizes)) != ShapedType::isDynamic(size))
      return false;
    if (!ShapedType::isDynamic(size) && llvm::product_of(sizes) != size)
      return false;
  }
  return true;
}

static void raiseReshape(tensor::ReshapeOp op) {
  auto from = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto to = dyn_cast<RankedTensorType>(op.getResult().getType());
  if (!from || !to || from.getRank() == to.getRank())
    return;
  std::optional<SmallVector<ReassociationIndices>> groups = getReassociationIndicesForReshape(from, to);
  bool joins = from.getRank() > to.getRank();
  if (!groups || !isUnique(joins ? from : to, joins ? to : from, *groups))
    return;
  OpBuilder builder(op);
  if (joins) {
    op.replaceAllUsesWith(
        tensor::CollapseShapeOp::create(builder, op.getLoc(), to, op.getSource(), *groups).getResult());
  } else {
    SmallVector<OpFoldResult> sizes;
    for (auto [source, group] : llvm::enumerate(*groups))
      for (int64_t dim : group)
        sizes.push_back(sizeOf(builder, op, group, dim, source));
    op.replaceAllUsesWith(
        tensor::ExpandShapeOp::create(builder, op.getLoc(), to, op.getSource(), *groups, sizes).getResult());
  }
  op.erase();
}

bool mhc::computesSizes(func::FuncOp func) {
  return func
      .walk([](Operation *op) {
        return isa<cf::AssertOp, tensor::ReshapeOp>(op) && op->getParentOfType<linalg::LinalgOp>() == nullptr
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

void mhc::raiseSizes(func::FuncOp func) {
  func.walk([](Operation *op) {
    if (auto reshape = dyn_cast<tensor::ReshapeOp>(op))
      raiseReshape(reshape);
    else if (auto assertion = dyn_cast<cf::AssertOp>(op); assertion && matchPattern(assertion.getArg(), m_One()))
      assertion.erase();
  });
}
