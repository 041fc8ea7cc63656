//===- Reducer.cpp - Make a module that shows a fault smaller ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reducer.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mhc;
using func::FuncOp;

static SmallVector<FuncOp> functionsOf(ModuleOp module) { return llvm::to_vector(module.getOps<FuncOp>()); }

/// Ops of all function bodies except terminators.
static SmallVector<Operation *> opsOf(ModuleOp module) {
  SmallVector<Operation *> ops;
  for (FuncOp func : module.getOps<FuncOp>())
    for (Block &block : func.getBody())
      for (Operation &op : block)
        if (!op.hasTrait<OpTrait::IsTerminator>())
          ops.push_back(&op);
  return ops;
}

static void eraseDeadOps(ModuleOp module) {
  SmallVector<Operation *> ops = opsOf(module);
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}

/// Users of each result read operand number `choice` of those that have its type or, behind the last of them, a new
/// argument of the function.
static void cut(Operation *op, unsigned choice) {
  auto func = op->getParentOfType<FuncOp>();
  for (Value result : op->getResults()) {
    SmallVector<Value> choices;
    llvm::copy_if(op->getOperands(), std::back_inserter(choices),
                  [&](Value operand) { return operand.getType() == result.getType(); });
    if (choices.size() <= choice) {
      unsigned next = func.getNumArguments();
      (void)func.insertArgument(next, result.getType(), /*argAttrs=*/{}, op->getLoc());
      choices.push_back(func.getArgument(next));
    }
    result.replaceAllUsesWith(choices[std::min<size_t>(choice, choices.size() - 1)]);
  }
  op->erase();
}

bool Reducer::attempt(llvm::function_ref<void(ModuleOp)> edit) {
  OwningOpRef<ModuleOp> smaller = module->clone();
  edit(*smaller);
  eraseDeadOps(*smaller);
  ScopedDiagnosticHandler silent(module->getContext(), [](Diagnostic &) {});
  if (failed(verify(*smaller)) || !shows(*smaller))
    return false;
  module = std::move(smaller);
  return true;
}

bool Reducer::dropFunctions() {
  bool changed = false;
  for (size_t i = functionsOf(*module).size(); i-- > 0;)
    changed |= attempt([&](ModuleOp copy) { functionsOf(copy)[i].erase(); });
  return changed;
}

/// Runs of ops, from half of all to single ones: most ops have nothing to do with a fault.
bool Reducer::cutOps() {
  auto cutFrom = [&](size_t first, size_t length, unsigned choice) {
    return attempt([&](ModuleOp copy) {
      SmallVector<Operation *> ops = opsOf(copy);
      for (Operation *op : llvm::reverse(ArrayRef(ops).drop_front(first).take_front(length)))
        cut(op, choice);
    });
  };
  bool changed = false;
  for (size_t length = (opsOf(*module).size() + 1) / 2; length > 0; length /= 2)
    for (size_t first = 0; first < opsOf(*module).size();) {
      bool done = cutFrom(first, length, /*choice=*/0);
      unsigned choices = length == 1 ? opsOf(*module)[first]->getNumOperands() : 0;
      for (unsigned choice = 1; choice <= choices && !done; ++choice)
        done = cutFrom(first, length, choice);
      changed |= done;
      first += done ? 0 : length;
    }
  return changed;
}

bool Reducer::dropResults() {
  bool changed = false;
  for (size_t f = 0; f < functionsOf(*module).size(); ++f)
    for (unsigned i = functionsOf(*module)[f].getNumResults(); i-- > 0;)
      changed |= attempt([&](ModuleOp copy) {
        FuncOp func = functionsOf(copy)[f];
        func.walk([&](func::ReturnOp end) { end->eraseOperand(i); });
        (void)func.eraseResult(i);
      });
  return changed;
}

bool Reducer::dropArguments() {
  bool changed = false;
  for (size_t f = 0; f < functionsOf(*module).size(); ++f)
    for (unsigned i = functionsOf(*module)[f].getNumArguments(); i-- > 0;)
      if (FuncOp func = functionsOf(*module)[f]; !func.isExternal() && func.getArgument(i).use_empty())
        changed |= attempt([&](ModuleOp copy) { (void)functionsOf(copy)[f].eraseArgument(i); });
  return changed;
}

OwningOpRef<ModuleOp> Reducer::run() {
  bool changed = true;
  while (changed) {
    changed = dropFunctions();
    changed |= cutOps();
    changed |= dropResults();
    changed |= dropArguments();
  }
  return std::move(module);
}
