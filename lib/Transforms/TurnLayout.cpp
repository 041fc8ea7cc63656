//===- TurnLayout.cpp - Ops with their streams in the other order ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Transforms/TurnLayout.h"
#include "mhc/Analysis/LayoutCost.h"
#include "mhc/IR/LeafBuilder.h"

using namespace mlir;
using namespace mhc;

static constexpr StringLiteral kLayout = "layout", kSeed = "seed";

bool mhc::hasLayout(Operation *op) { return op->hasAttrOfType<LayoutAttr>(kLayout); }
Layout mhc::layoutOf(Operation *op) { return op->getAttrOfType<LayoutAttr>(kLayout).getValue(); }
Layout mhc::other(Layout layout) { return layout == Layout::nC ? Layout::Cn : Layout::nC; }

bool mhc::hasDropout(KernelOpInterface op) {
  for (auto [i, tensor] : llvm::enumerate(op.getKernelInfo().tensors))
    if (tensor.name == kSeed && !op.getTensors(i).empty())
      return true;
  return false;
}

std::optional<int64_t> mhc::vectorDim(KernelOpInterface op, unsigned tensor) {
  for (auto [dim, number] : llvm::enumerate(op.getTensorDims(tensor)))
    if (op.getKernelInfo().dims[number] == "K")
      return dim;
  return std::nullopt;
}

void TurnLayout::turn(KernelOpInterface op) {
  for (unsigned i = 0; i < op.getKernelInfo().tensors.size(); ++i) {
    std::optional<int64_t> dim = vectorDim(op, i);
    for (Value weight : dim ? op.getTensors(i) : ValueRange())
      turnWeight(op, weight, *dim);
  }
  for (Value streams : streamsOf(op))
    if (streams.getDefiningOp() == op) {
      auto type = cast<RankedTensorType>(streams.getType());
      streams.setType(type.clone({type.getDimSize(0), after[0], after[1]}));
    }
  op->setAttr(kLayout, LayoutAttr::get(op->getContext(), to));
}

Value TurnLayout::reordered(Value weight, int64_t dim, ArrayRef<int64_t> sizes) {
  OpBuilder builder(weight.getContext());
  builder.setInsertionPointAfterValue(weight);
  LeafBuilder leaf(builder, weight.getLoc());
  auto perm = llvm::to_vector(llvm::seq<int64_t>(cast<RankedTensorType>(weight.getType()).getRank() + 1));
  std::swap(perm[dim], perm[dim + 1]);
  return leaf.join(leaf.transpose(leaf.split(weight, dim, sizes), perm), dim, 2);
}

void TurnLayout::turnWeight(Operation *op, Value weight, int64_t dim) {
  if (weight.getDefiningOp() == op) { // a gradient
    SmallVector<OpOperand *> uses = llvm::map_to_vector(weight.getUses(), [](OpOperand &use) { return &use; });
    Value asBefore = reordered(weight, dim, after);
    for (OpOperand *use : uses)
      use->set(asBefore);
    return;
  }
  Value &turned = turnedWeights[weight];
  if (!turned)
    turned = reordered(weight, dim, before);
  op->replaceUsesOfWith(weight, turned);
}
