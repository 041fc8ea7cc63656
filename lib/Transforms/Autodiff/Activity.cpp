//===- Activity.cpp - Which values depend on what is differentiated ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activity.h"
#include "mhc/IR/EqualStreams.h"
#include "mhc/IR/MhcInterfaces.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mhc;

bool mhc::isFloat(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

/// Whether the op or an op inside it reads an active value.
static bool readsActive(Operation *op, const ActiveValues &active) {
  return op
      ->walk([&](Operation *inner) {
        bool reads = llvm::any_of(inner->getOperands(), [&](Value value) { return active.contains(value); });
        return reads ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Replaces an op without a gradient rule, or with equal streams, and says whether it did.
static FailureOr<bool> replaceByRules(Operation *op, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  if (Operation *whole = withWholeStreams(rewriter, op)) {
    rewriter.replaceOp(op, whole);
    return true;
  }
  if (auto flattenable = dyn_cast<FlattenableOpInterface>(op))
    return flattenable.flatten(rewriter);
  auto decomposable = dyn_cast<DecomposableOpInterface>(op);
  if (!decomposable || isa<DifferentiableOpInterface>(op))
    return false;
  rewriter.replaceOp(op, decomposable.decompose(rewriter));
  return true;
}

/// A gradient has the shape of its value, and is made before anything runs.
static LogicalResult checkRanks(Operation *op) {
  WalkResult result = op->walk([](Operation *inner) -> WalkResult {
    for (Type type :
         llvm::concat<const Type>(llvm::to_vector(inner->getOperandTypes()), llvm::to_vector(inner->getResultTypes())))
      if (isa<UnrankedTensorType>(type) && isFloat(type))
        return inner->emitError() << "the gradient goes through " << type << "; needed a ranked tensor";
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

FailureOr<ActiveValues> mhc::prepare(func::FuncOp func, ValueRange wanted) {
  ActiveValues active(wanted.begin(), wanted.end());
  IRRewriter rewriter(func.getContext());
  Block &body = func.getBody().front();
  for (Operation *op = &body.front(); !op->hasTrait<OpTrait::IsTerminator>();) {
    Operation *before = op->getPrevNode(), *next = op->getNextNode();
    if (!readsActive(op, active)) {
      op = next;
      continue;
    }
    FailureOr<bool> replaced = replaceByRules(op, rewriter);
    if (failed(replaced))
      return failure();
    if (*replaced) { // go on with the ops in its place
      op = before ? before->getNextNode() : &body.front();
      continue;
    }
    if (failed(checkRanks(op)))
      return failure();
    for (Value result : op->getResults())
      if (isFloat(result.getType()))
        active.insert(result);
    op = next;
  }
  return active;
}
