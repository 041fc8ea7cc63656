//===- RandomGraphChains.cpp - mHC chains inside random graphs ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RandomGraphBuilder.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/SymbolTable.h"

namespace mhc::conformance {

using namespace mlir;

/// Chances for a value inside a chain: that a random op joins the pool behind it, that it is an operand of later ops,
/// and that the chain goes on with a function of it, which may or may not leave an mHC chain.
static constexpr double kOpChance = 0.04, kUserChance = 0.15, kReplaceChance = 0.004;

void RandomGraphBuilder::offer(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isa<FloatType>(type.getElementType()))
    return;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    auto size = dyn_cast<Value>(leaf.size(value, dim));
    auto read = size ? size.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
    if (size && !(read && isa<BlockArgument>(read.getSource())))
      return;
  }
  pool.push_back(leaf.toF32(value));
}

SmallVector<Value> RandomGraphBuilder::copyBody(func::FuncOp chain, ValueRange arguments, Visit each) {
  IRMapping copies;
  copies.map(chain.getArguments(), arguments);
  for (Operation &op : chain.front().without_terminator()) {
    builder.clone(op, copies);
    each(&op, copies);
  }
  SmallVector<Value> results;
  for (Value result : chain.front().getTerminator()->getOperands())
    results.push_back(copies.lookup(result));
  return results;
}

void RandomGraphBuilder::mingle(Operation *original, IRMapping &copies) {
  for (Value result : original->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !type.getElementType().isF32())
      continue;
    Value copy = copies.lookup(result);
    if (random.flip(kUserChance))
      offer(copy);
    if (random.flip(kReplaceChance))
      copies.map(result, applyUnary(copy));
  }
  if (random.flip(kOpChance))
    addOne();
}

/// Whether a result is computed of an argument: of another one it may have as many tokens, but nothing says so.
static bool dependsOn(Value result, BlockArgument argument) {
  llvm::SetVector<Operation *> made;
  getForwardSlice(argument, &made);
  return made.contains(result.getDefiningOp());
}

/// One result of each turn is an argument of the next.
SmallVector<Value> RandomGraphBuilder::chainInLoop(func::FuncOp chain, ValueRange arguments) {
  Type carried = chain.getResultTypes().front();
  size_t place = llvm::find(chain.getArgumentTypes(), carried) - chain.getArgumentTypes().begin();
  if (place == arguments.size() || !dependsOn(chain.front().getTerminator()->getOperand(0), chain.getArgument(place)))
    return chainInFunction(chain, arguments);
  Value lower = index(0), upper = index(random.between(0, 3)), step = index(1);
  auto loop = scf::ForOp::create(builder, loc(), lower, upper, step, arguments[place]);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> operands(arguments);
  operands[place] = loop.getRegionIterArg(0);
  SmallVector<Value> results = copyBody(chain, operands, [](Operation *, IRMapping &) {});
  scf::YieldOp::create(builder, loc(), results.front());
  return {loop.getResult(0)};
}

/// The other branch has an argument as it is, or half of what the chain gives.
SmallVector<Value> RandomGraphBuilder::chainInBranch(func::FuncOp chain, ValueRange arguments) {
  Type type = chain.getResultTypes().front();
  Value a = element(any()), b = element(any()), condition = leaf.isGreater(a, b);
  auto branch = scf::IfOp::create(builder, loc(), TypeRange{type}, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> results = copyBody(chain, arguments, [](Operation *, IRMapping &) {});
  scf::YieldOp::create(builder, loc(), results.front());
  builder.setInsertionPointToStart(branch.elseBlock());
  auto same = llvm::find_if(arguments, [&](Value argument) { return argument.getType() == type; });
  Value other = same != arguments.end()
                    ? *same
                    : leaf.scale(copyBody(chain, arguments, [](Operation *, IRMapping &) {}).front(), 0.5);
  scf::YieldOp::create(builder, loc(), other);
  return {branch.getResult(0)};
}

SmallVector<Value> RandomGraphBuilder::chainInFunction(func::FuncOp chain, ValueRange arguments) {
  func::FuncOp func = chain.clone();
  func.setPrivate();
  func.setNoInline(random.flip(0.3));
  SymbolTable(module()).insert(func); // may change the name
  return func::CallOp::create(builder, loc(), func, arguments).getResults();
}

SmallVector<Value> RandomGraphBuilder::addChain(func::FuncOp chain, ValueRange arguments) {
  SmallVector<Value> results;
  switch (random.between(0, 6)) {
  case 0:
    results = chainInLoop(chain, arguments);
    break;
  case 1:
    results = chainInBranch(chain, arguments);
    break;
  case 2:
    results = chainInFunction(chain, arguments);
    break;
  default:
    results = copyBody(chain, arguments, [&](Operation *op, IRMapping &copies) { mingle(op, copies); });
  }
  for (Value result : results)
    offer(result);
  return results;
}

} // namespace mhc::conformance
