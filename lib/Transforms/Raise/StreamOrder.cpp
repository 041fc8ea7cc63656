//===- StreamOrder.cpp - Streams in the order in which a post makes them ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum that becomes a post may be written in another order than its streams, as that of transposed products. The op
// keeps the order of its streams, and what it makes is transposed: what reads it so is turned, which changes the order
// of small weights in place of that of the streams.
//
//===----------------------------------------------------------------------===//

#include "Raise.h"
#include "mhc/Analysis/LayoutCost.h"
#include "mhc/IR/LeafBuilder.h"
#include "mhc/Transforms/TurnLayout.h"

using namespace mlir;
using namespace mhc;

static constexpr int64_t kSwapped[] = {0, 2, 1};

/// The result of a post, where the streams are that in the other order; null for others.
static Value madeInOtherOrder(Value streams) {
  auto transpose = streams.getDefiningOp<TransposeOp>();
  const bool isSwapped = transpose && transpose.getPerm() == ArrayRef(kSwapped);
  return isSwapped && transpose.getX().getDefiningOp<PostOp>() ? transpose.getX() : Value();
}

/// Turns an op that reads such streams, and no others.
static void readAsMade(KernelOpInterface op) {
  SmallVector<Value> read, made;
  for (Value streams : streamsOf(op))
    (streams.getDefiningOp() == op ? made : read).push_back(streams);
  if (read.empty() || !llvm::all_of(read, madeInOtherOrder) || hasDropout(op))
    return;
  ArrayRef<int64_t> sizes = cast<RankedTensorType>(read.front().getType()).getShape().drop_front();
  if (ShapedType::isDynamicShape(sizes))
    return;
  TurnLayout(layoutOf(op), sizes).turn(op);
  for (Value streams : read)
    op->replaceUsesOfWith(streams, madeInOtherOrder(streams));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  for (Value streams : made) {
    Value asBefore = LeafBuilder(builder, op->getLoc()).transpose(streams, kSwapped);
    streams.replaceAllUsesExcept(asBefore, asBefore.getDefiningOp());
  }
}

void mhc::readStreamsAsMade(func::FuncOp func) {
  SmallVector<KernelOpInterface> readers; // each behind the post that it reads
  func.walk([&](KernelOpInterface op) {
    if (hasLayout(op))
      readers.push_back(op);
  });
  llvm::for_each(readers, readAsMade);
}
