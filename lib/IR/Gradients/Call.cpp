//===- Call.cpp - Gradients of calls ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rule.h"
#include "mhc/IR/Gradients.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mhc;

static func::FuncOp calleeOf(func::CallOp call) {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
}

static bool isFloat(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

/// (arguments, cotangents of the float results) -> (gradients of the float arguments); with results, they stand between
/// arguments and cotangents.
static FunctionType vjpType(func::FuncOp func, bool withResults) {
  SmallVector<Type> inputs(func.getArgumentTypes()), results;
  if (withResults)
    llvm::append_range(inputs, func.getResultTypes());
  llvm::copy_if(func.getResultTypes(), std::back_inserter(inputs), isFloat);
  llvm::copy_if(func.getArgumentTypes(), std::back_inserter(results), isFloat);
  return FunctionType::get(func.getContext(), inputs, results);
}

/// Whether a chain of calls leads from `from` to `to`.
static bool reaches(func::FuncOp from, func::FuncOp to, llvm::SmallPtrSetImpl<Operation *> &visited) {
  return from
      .walk([&](func::CallOp call) {
        func::FuncOp callee = calleeOf(call);
        bool found = callee == to || (visited.insert(callee).second && reaches(callee, to, visited));
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool isRecursive(func::FuncOp func) {
  llvm::SmallPtrSet<Operation *, 4> visited;
  return reaches(func, func, visited);
}

/// Copies the body, of one block, and returns what it returns.
static SmallVector<Value> copyBody(OpBuilder &builder, func::FuncOp func, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(func.getArguments(), arguments);
  Block &body = func.getBody().front();
  for (Operation &inner : body.without_terminator())
    builder.clone(inner, mapping);
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value result) { return mapping.lookupOrDefault(result); });
}

/// The results of a call of the derivative: of its body where that can stand for it, so that what the body does not
/// read need not be saved.
static SmallVector<Value> callBackward(OpBuilder &builder, Location loc, func::FuncOp backward, ValueRange inputs) {
  if (!backward.isExternal() && backward.getBody().hasOneBlock() && !isRecursive(backward))
    return copyBody(builder, backward, inputs);
  return func::CallOp::create(builder, loc, backward, inputs).getResults();
}

namespace {
/// A call of a function with a derivative that the user names.
struct CallVjp : DifferentiableOpInterface::ExternalModel<CallVjp, func::CallOp> {
  LogicalResult buildVjp(Operation *op, OpBuilder &builder, VjpContext &context) const {
    auto call = cast<func::CallOp>(op);
    func::FuncOp callee = calleeOf(call);
    auto name = callee->getAttrOfType<FlatSymbolRefAttr>(kVjp);
    auto backward = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, name);
    if (!backward)
      return call.emitError() << "'mhc.vjp' of '" << callee.getName() << "' names '" << name.getValue()
                              << "', which is no function";
    FunctionType needed = vjpType(callee, false), withResults = vjpType(callee, true);
    if (backward.getFunctionType() != needed && backward.getFunctionType() != withResults)
      return call.emitError() << "'mhc.vjp' of '" << callee.getName() << "' has type " << backward.getFunctionType()
                              << "; needed " << needed << " or, with what the call returned, " << withResults;
    LeafBuilder leaf(builder, call.getLoc());
    SmallVector<Value> inputs(call.getOperands());
    if (backward.getFunctionType() == withResults)
      llvm::append_range(inputs, call.getResults());
    for (Value result : call.getResults())
      if (isFloat(result.getType())) {
        Value cotangent = context.cotangentOf(result);
        inputs.push_back(cotangent ? leaf.cast(cotangent, getElementTypeOrSelf(result)) : leaf.splat(0.0, result));
      }
    SmallVector<Value> gradients = callBackward(builder, call.getLoc(), backward, inputs);
    auto operands = llvm::make_filter_range(call.getOperands(), [](Value v) { return isFloat(v.getType()); });
    for (auto [operand, share] : llvm::zip_equal(operands, gradients))
      context.addCotangent(operand, share);
    return success();
  }
  bool isCheapToRebuild(Operation *) const { return false; }
};

/// Any other call is replaced by what it calls.
struct CallFlatten : FlattenableOpInterface::ExternalModel<CallFlatten, func::CallOp> {
  FailureOr<bool> flatten(Operation *op, RewriterBase &rewriter) const {
    auto call = cast<func::CallOp>(op);
    func::FuncOp callee = calleeOf(call);
    if (callee->hasAttr(kVjp))
      return false;
    if (callee.isExternal())
      return call.emitError() << "'" << callee.getName() << "' has no body to differentiate; needed its attribute "
                              << "'mhc.vjp', the function that computes its gradients";
    if (!callee.getBody().hasOneBlock())
      return call.emitError() << "'" << callee.getName() << "' has branches; needed one block";
    if (isRecursive(callee))
      return call.emitError() << "'" << callee.getName() << "' is recursive, so that it cannot be differentiated";
    SmallVector<Value> results = copyBody(rewriter, callee, call.getOperands());
    rewriter.replaceOp(call, results);
    return true;
  }
};
} // namespace

void mhc::registerCallGradients(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, func::FuncDialect *) {
    func::CallOp::attachInterface<CallVjp, CallFlatten>(*context);
  });
}
