//===- EqualStreams.cpp - Streams that are one row ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/EqualStreams.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mhc;

/// The size of a dim, as a tensor that has it says.
static int64_t sizeOf(KernelOpInterface op, StringRef name) {
  const KernelInfo &info = op.getKernelInfo();
  for (unsigned i = 0; i < info.tensors.size(); ++i)
    if (Value value = op.getTensor(i))
      for (auto [dim, size] : llvm::zip(op.getTensorDims(i), cast<RankedTensorType>(value.getType()).getShape()))
        if (info.dims[dim] == name)
          return size;
  llvm_unreachable("the coefficients of a token have the number of streams");
}

static Layout layoutOf(KernelOpInterface op) { return op->getAttrOfType<LayoutAttr>("layout").getValue(); }

/// The type of streams for which rows of this type stand.
static RankedTensorType streamsOf(KernelOpInterface op, RankedTensorType rows) {
  SmallVector<int64_t> shape(rows.getShape());
  shape.insert(shape.begin() + (layoutOf(op) == Layout::nC ? 1 : 2), sizeOf(op, "n"));
  return RankedTensorType::get(shape, rows.getElementType());
}

/// Streams of which each is the row.
static Value expanded(OpBuilder &builder, KernelOpInterface op, Value row) {
  RankedTensorType type = streamsOf(op, cast<RankedTensorType>(row.getType()));
  return ExpandOp::create(builder, op.getLoc(), type, row, layoutOf(op));
}

static bool isEqual(Operation *op, const KernelTensor &tensor) {
  return !tensor.isResult && !tensor.equalAttr.empty() && op->hasAttr(tensor.equalAttr);
}

/// The post again with streams, and what adds them up; null where it has streams.
static Operation *withStreamsOut(OpBuilder &builder, Operation *op) {
  auto post = dyn_cast<PostOp>(op);
  if (!post || post.getContracted().value_or(Contracted::none) == Contracted::none)
    return nullptr;
  PostOp::Fields fields(post);
  if (fields.equal_x)
    fields.x = expanded(builder, post, post.getX()), fields.equal_x = false;
  fields.contracted = std::nullopt;
  fields.out = streamsOf(post, post.getOut().getType());
  auto mode = *post.getContracted() == Contracted::mean ? ContractMode::mean : ContractMode::sum;
  return ContractOp::create(builder, op->getLoc(), post.getOut().getType(),
                            fields.create(builder, op->getLoc()).getOut(), post.getLayout(), mode);
}

Operation *mhc::withWholeStreams(OpBuilder &builder, Operation *op) {
  if (Operation *contract = withStreamsOut(builder, op))
    return contract;
  auto kernel = dyn_cast<KernelOpInterface>(op);
  if (!kernel || llvm::none_of(kernel.getKernelInfo().tensors, [&](auto &tensor) { return isEqual(op, tensor); }))
    return nullptr;
  IRMapping whole;
  for (auto [i, tensor] : llvm::enumerate(kernel.getKernelInfo().tensors))
    if (isEqual(op, tensor))
      if (Value row = kernel.getTensor(i); row && !whole.contains(row))
        whole.map(row, expanded(builder, kernel, row));
  Operation *made = builder.clone(*op);
  unsigned number = 0;
  for (auto [i, tensor] : llvm::enumerate(kernel.getKernelInfo().tensors)) {
    if (isEqual(op, tensor)) {
      if (Value row = kernel.getTensor(i))
        made->setOperand(number, whole.lookup(row));
      made->removeAttr(tensor.equalAttr);
    }
    number += tensor.isResult ? 0 : kernel.getTensors(i).size();
  }
  return made;
}

void mhc::writeOutEqualStreams(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](KernelOpInterface op) { ops.push_back(op); });
  for (Operation *op : ops) {
    OpBuilder builder(op);
    if (Operation *whole = withWholeStreams(builder, op)) {
      op->replaceAllUsesWith(whole);
      op->erase();
    }
  }
}
