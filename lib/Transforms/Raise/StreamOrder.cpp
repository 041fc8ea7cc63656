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

/// The dimensions of a tensor of streams that are not tokens.
static ArrayRef<int64_t> dimsOfToken(Value streams) {
  return cast<RankedTensorType>(streams.getType()).getShape().take_back(2);
}

static bool swapsLast(ArrayRef<int64_t> perm) {
  const int64_t rank = perm.size();
  auto kept = llvm::seq<int64_t>(0, rank - 2);
  return rank > 2 && llvm::equal(perm.drop_back(2), kept) && perm[rank - 2] == rank - 1;
}

namespace {
/// The result of a post that streams show, and whether they are in the other order.
struct Made {
  Value streams;
  bool isSwapped;
};
} // namespace

/// Nothing for streams that something else makes. Tokens may be counted by other dimensions in between.
static std::optional<Made> madeBy(Value streams) {
  bool isSwapped = false;
  for (Value shown = streams;; isSwapped = !isSwapped) {
    Value made = behindReshapes(shown);
    if (dimsOfToken(made) != dimsOfToken(shown))
      return std::nullopt;
    if (made.getDefiningOp<PostOp>())
      return Made{made, isSwapped};
    auto transpose = made.getDefiningOp<TransposeOp>();
    if (!transpose || !swapsLast(transpose.getPerm()))
      return std::nullopt;
    shown = transpose.getX();
  }
}

/// Turns an op that reads such streams in the other order, and no others.
static void readAsMade(KernelOpInterface op) {
  SmallVector<Value> read, made;
  for (Value streams : streamsOf(op))
    (streams.getDefiningOp() == op ? made : read).push_back(streams);
  auto isSwapped = [](Value streams) {
    std::optional<Made> made = madeBy(streams);
    return made && made->isSwapped;
  };
  const bool isTurned = !read.empty() && llvm::all_of(read, isSwapped) && !hasDropout(op);
  ArrayRef<int64_t> sizes = read.empty() ? ArrayRef<int64_t>() : dimsOfToken(read.front());
  if (ShapedType::isDynamicShape(sizes))
    return;
  if (isTurned)
    TurnLayout(layoutOf(op), sizes).turn(op);
  for (Value streams : read)
    if (std::optional<Made> source = madeBy(streams);
        source && (isTurned || (!source->isSwapped && source->streams.getType() == streams.getType())))
      op->replaceUsesOfWith(streams, source->streams);
  if (!isTurned)
    return;
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
