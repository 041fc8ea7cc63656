//===- ZeroStreams.cpp - Streams that begin as zeros ------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list of streams may begin as an embedding and zeros. What weighs them one by one multiplies zeros, which says
// nothing of the stream: such a product reads the row of the stack that is zeros as well, in the order of the rows.
//
//===------------------------------------------------------------------------===//

#include "StreamLists.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mhc;

static bool isZero(Value value) { return constantValue(value) == 0.0; }

/// Whether a stack is projected or squared, as streams are in front of their gates, maybe where it was taken apart.
static bool isProjectedOrSquared(tensor::ConcatOp stack) {
  SmallVector<Operation *> readers;
  usersThroughViews(stack, readers);
  for (size_t next = 0; next < readers.size(); ++next)
    if (isa<tensor::ExtractSliceOp, tensor::ConcatOp>(readers[next]))
      usersThroughViews(readers[next]->getResult(0), readers);
  return llvm::any_of(readers, [](Operation *reader) {
    return isa<MatmulOp, math::PowFOp>(reader) ||
           (isa<arith::MulFOp>(reader) && reader->getOperand(0) == reader->getOperand(1));
  });
}

/// Whether a concatenation stacks tensors of one type of which some are zeros, and others are none.
static bool isZeroStack(tensor::ConcatOp concat) {
  ValueRange parts = concat.getInputs();
  const auto count = static_cast<int64_t>(parts.size());
  const bool isOfStreams = count >= kMinStreams && count <= kMaxStreams && llvm::all_equal(parts.getTypes()) &&
                           !concat.getResultType().isDynamicDim(concat.getDim());
  return isOfStreams && llvm::any_of(parts, isZero) && !llvm::all_of(parts, isZero) && isProjectedOrSquared(concat);
}

/// A row of a stack in the shape of `zeros`, of which its part is a view, or which is shown so; null for other shapes.
static Value rowFor(tensor::ConcatOp stack, int64_t number, Value zeros) {
  Value part = stack.getInputs()[number];
  Operation *view = part.getDefiningOp(), *other = zeros.getDefiningOp();
  const bool isAlike = zeros == part || (other->getName() == view->getName() && other->getAttrs() == view->getAttrs() &&
                                         other->getOperands() == view->getOperands());
  return rowLike(stack, number, isAlike ? part : zeros);
}

/// Lets products behind a stack read rows that are zeros as well in place of `zeros`, each in its turn.
static void readInTurn(tensor::ConcatOp stack, Value zeros, ArrayRef<int64_t> rows) {
  SmallVector<Operation *> readers;
  usersThroughViews(zeros, readers);
  llvm::erase_if(readers, [&](Operation *reader) {
    return !isa<arith::MulFOp>(reader) || reader->getBlock() != stack->getBlock() || !stack->isBeforeInBlock(reader);
  });
  llvm::sort(readers, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (auto [turn, product] : llvm::enumerate(readers))
    for (OpOperand &operand : product->getOpOperands())
      if (behindReshapes(operand.get()) == zeros)
        if (Value row = rowFor(stack, rows[turn % rows.size()], operand.get()))
          operand.set(row);
}

void mhc::stackZeros(func::FuncOp func) {
  SmallVector<tensor::ConcatOp> stacks;
  func.walk([&](tensor::ConcatOp concat) {
    if (isZeroStack(concat))
      stacks.push_back(concat);
  });
  for (tensor::ConcatOp stack : stacks) {
    stack->setAttr(algebra::kWhole, UnitAttr::get(func.getContext()));
    llvm::MapVector<Value, SmallVector<int64_t>> zeros;
    for (auto [number, part] : llvm::enumerate(stack.getInputs())) {
      if (isZero(part))
        zeros[behindReshapes(part)].push_back(number);
      else
        readRowOf(stack, number, part);
    }
    for (auto &[value, rows] : zeros)
      readInTurn(stack, value, rows);
  }
}
