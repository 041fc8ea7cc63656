//===- ComputedWeights.cpp - Weights that the program computes ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A weight may be a stored one plus a product of low rank, one of integers times a scale of each row, or one divided by
// the norms of its rows. What it is made of is no group of rows; the weight itself is.
//
//===------------------------------------------------------------------------===//

#include "GateOrder.h"
#include "Linear.h"
#include "Normalise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mhc;

using Values = llvm::SmallSetVector<Value, 16>;

/// The tensors that a value is computed of, with those on the way.
static Values sourcesOf(Value value) {
  Values sources;
  sources.insert(value);
  for (size_t next = 0; next < sources.size(); ++next)
    if (Operation *op = sources[next].getDefiningOp())
      for (Value operand : op->getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          sources.insert(operand);
  return sources;
}

/// Whether something that is computed of `sources`, or one of them, is what a product multiplies the weight by. A
/// weight is made of little, which little else is made of: that is looked through in place of all that the streams are
/// of.
static bool reachStreams(Values sources, MatmulOp product) {
  for (size_t next = 0; next < sources.size() && !sources.contains(product.getLhs()); ++next)
    for (Operation *user : sources[next].getUsers())
      if (Operation *here = product->getBlock()->findAncestorOpInBlock(*user); here && here->isBeforeInBlock(product))
        for (Value made : here->getResults())
          if (isa<RankedTensorType>(made.getType()))
            sources.insert(made);
  return sources.contains(product.getLhs());
}

/// Whether an op computes what a weight is, or a part of it.
static bool computes(Operation *op) {
  if (isa_and_nonnull<tensor::ConcatOp>(op))
    return llvm::any_of(op->getOperands(), [](Value part) { return computes(behindViews(part).getDefiningOp()); });
  return op && (isElementwise(op) || isa<MatmulOp>(op));
}

/// The op that computes the weight of a product; null for none.
static Operation *makerOfWeight(MatmulOp product) {
  Operation *maker = behindViews(product.getRhs()).getDefiningOp();
  return product.getRhs().getType().hasStaticShape() && computes(maker) ? maker : nullptr;
}

/// The products that a value is read from, through what scales, adds, shapes or divides them.
static SmallVector<MatmulOp> productsBehind(Value value) {
  SmallVector<MatmulOp> products;
  llvm::SmallSetVector<Value, 16> values;
  values.insert(value);
  for (size_t next = 0; next < values.size(); ++next) {
    Operation *op = values[next].getDefiningOp();
    if (auto product = dyn_cast_or_null<MatmulOp>(op))
      products.push_back(product);
    else if (op &&
             (isElementwise(op) || showsOperand(op) || isa<BroadcastOp, tensor::ExtractSliceOp, tensor::ConcatOp>(op)))
      values.insert_range(op->getOperands());
  }
  return products;
}

bool mhc::markComputedWeights(func::FuncOp func, algebra::Reading &reading) {
  llvm::SmallSetVector<Operation *, 4> makers;
  func.walk([&](Operation *op) {
    if (!isa<SigmoidOp, SinkhornOp, PermutationMixOp>(op))
      return;
    SmallVector<MatmulOp> products = productsBehind(op->getOperand(0));
    llvm::erase_if(products, [](MatmulOp product) { return !makerOfWeight(product); });
    if (products.empty() || matchLinearGroup(reading, behindReshapes(op->getOperand(0)), op))
      return;
    for (MatmulOp product : products) // last, as a function is walked from here to its start
      if (Operation *maker = makerOfWeight(product); !reachStreams(sourcesOf(maker->getResult(0)), product))
        makers.insert(maker);
  });
  for (Operation *maker : makers)
    maker->setAttr(algebra::kWhole, UnitAttr::get(func.getContext()));
  return !makers.empty();
}
