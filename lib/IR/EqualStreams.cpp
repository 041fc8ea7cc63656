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

/// Streams of which each is the row.
static Value expanded(OpBuilder &builder, KernelOpInterface op, Value row) {
  auto type = cast<RankedTensorType>(row.getType());
  auto layout = op->getAttrOfType<LayoutAttr>("layout").getValue();
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + (layout == Layout::nC ? 1 : 2), sizeOf(op, "n"));
  return ExpandOp::create(builder, op.getLoc(), RankedTensorType::get(shape, type.getElementType()), row, layout);
}

static bool isEqual(Operation *op, const KernelTensor &tensor) {
  return !tensor.equalAttr.empty() && op->hasAttr(tensor.equalAttr);
}

Operation *mhc::withWholeStreams(OpBuilder &builder, Operation *op) {
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
