//===- Reduction.cpp - Smaller programs that fail the same way ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Reduction.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mhc::conformance {

using namespace mlir;

/// So many programs are tried at most: a look at what is left is then faster.
static constexpr int kMostTries = 600;

/// No function of ours has an effect but its results.
static void eraseUnused(ModuleOp module) {
  std::vector<Operation *> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op) || (isa<func::CallOp>(op) && op->use_empty()))
      op->erase();
  for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (func.isPrivate() && SymbolTable::symbolKnownUseEmpty(func, module))
      func.erase();
}

/// The function returns result number `kept` alone.
static bool keepResult(func::FuncOp func, unsigned kept) {
  Operation *end = func.front().getTerminator();
  if (end->getNumOperands() < 2 || kept >= end->getNumOperands())
    return false;
  end->setOperands({end->getOperand(kept)});
  func.setType(
      FunctionType::get(func.getContext(), func.getArgumentTypes(), ValueRange(end->getOperands()).getTypes()));
  return true;
}

/// An operand, or an argument of the function, takes the place of the results of op number `index`.
static bool replaceOp(ModuleOp module, int64_t index) {
  std::vector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (op->getNumResults() > 0)
      ops.push_back(op);
  });
  if (index >= static_cast<int64_t>(ops.size()))
    return false;
  Operation *op = ops[ops.size() - 1 - index];
  SmallVector<Value> others(op->getOperands());
  llvm::append_range(others, op->getParentOfType<func::FuncOp>().getArguments());
  bool changed = false;
  for (Value result : op->getResults()) {
    auto *other = llvm::find_if(others, [&](Value value) { return value.getType() == result.getType(); });
    if (other != others.end() && !result.use_empty()) {
      result.replaceAllUsesWith(*other);
      changed = true;
    }
  }
  return changed;
}

namespace {

class Reducer {
public:
  Reducer(ModuleOp module, llvm::function_ref<bool(ModuleOp)> fails) : best(module.clone()), fails(fails) {}

  /// Keeps the change when the module still fails.
  bool attempt(llvm::function_ref<bool(ModuleOp)> change) {
    Compiler::Module next(best->clone());
    if (tries >= kMostTries || !change(*next))
      return false;
    eraseUnused(*next);
    ++tries;
    if (failed(verify(*next)) || !fails(*next))
      return false;
    best = std::move(next);
    return true;
  }
  int64_t size() {
    int64_t count = 0;
    best->walk([&](Operation *) { ++count; });
    return count;
  }

  Compiler::Module best;

private:
  llvm::function_ref<bool(ModuleOp)> fails;
  int tries = 0;
};

} // namespace

Compiler::Module reduce(ModuleOp module, StringRef entry, llvm::function_ref<bool(ModuleOp)> fails) {
  Reducer reducer(module, fails);
  auto func = [&](ModuleOp module) { return module.lookupSymbol<func::FuncOp>(entry); };
  for (unsigned kept = 0; kept < func(*reducer.best).getNumResults(); ++kept)
    if (reducer.attempt([&](ModuleOp module) { return keepResult(func(module), kept); }))
      break;
  for (int64_t before = 0; before != reducer.size();) {
    before = reducer.size();
    for (int64_t index = 0; index < reducer.size();)
      index += !reducer.attempt([&](ModuleOp module) { return replaceOp(module, index); });
  }
  return std::move(reducer.best);
}

} // namespace mhc::conformance
