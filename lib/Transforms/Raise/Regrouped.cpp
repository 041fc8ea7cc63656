//===- Regrouped.cpp - Streams that become others of another number -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A layer of n streams may be followed by one of m, of the same channels of a token: [T, n, C] is seen as [T, m, D].
// All that reads these streams, the second layer's norm as well, reads them of a flat tensor that is a value by itself,
// as no sum in the first layer's streams is one in the second's.
//
//===----------------------------------------------------------------------===//

#include "Mix.h"
#include "Raise.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

/// The streams and channels of a token, which are the last two dimensions; nothing where they are none, as where a row
/// is shown as a column.
static std::optional<std::pair<int64_t, int64_t>> streamsOf(RankedTensorType type) {
  if (type.getRank() < 3)
    return std::nullopt;
  const int64_t n = type.getShape().end()[-2], channels = type.getShape().back();
  if (n < kMinStreams || n > kMaxStreams || ShapedType::isDynamic(channels) || channels == 1)
    return std::nullopt;
  return std::pair(n, channels);
}

/// The flat streams which a view shows as others than those of a sum; null for other views.
static tensor::CollapseShapeOp flatOf(tensor::ExpandShapeOp view) {
  auto flat = view.getSrc().getDefiningOp<tensor::CollapseShapeOp>();
  auto maker = flat ? flat.getSrc().getDefiningOp<arith::AddFOp>() : arith::AddFOp();
  auto from = maker ? streamsOf(flat.getSrcType()) : std::nullopt, to = streamsOf(view.getResultType());
  const bool isRegrouped =
      from && to && from->first != to->first && from->first * from->second == to->first * to->second &&
      flat.getReassociationIndices().back().size() == 2 && view.getReassociationIndices().back().size() == 2;
  return isRegrouped ? flat : tensor::CollapseShapeOp();
}

void mhc::keepRegrouped(func::FuncOp func) {
  llvm::MapVector<Value, tensor::CollapseShapeOp> all;
  func.walk([&](tensor::ExpandShapeOp view) {
    if (tensor::CollapseShapeOp flat = flatOf(view))
      all.insert({flat.getSrc(), flat});
  });
  for (auto [streams, flat] : all) {
    OpBuilder builder(func.getContext());
    builder.setInsertionPointAfterValue(streams);
    SmallVector<OpFoldResult> sizes = LeafBuilder(builder, flat.getLoc()).sizesOf(streams);
    auto own = cast<tensor::CollapseShapeOp>(builder.clone(*flat));
    own->setAttr(algebra::kWhole, builder.getUnitAttr());
    Value shown = tensor::ExpandShapeOp::create(builder, flat.getLoc(), flat.getSrcType(), own,
                                                flat.getReassociationIndices(), sizes);
    streams.replaceUsesWithIf(shown, [&](OpOperand &use) {
      return use.getOwner() != own && !isa<tensor::DimOp>(use.getOwner()) && use.getOwner() != flat;
    });
    flat.replaceAllUsesWith(own.getResult());
  }
}
