//===- DivideState.cpp - The weights of each stage of a pipeline -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions beside the stages make weights, such as those at the start and those after a step. A result of one belongs
// to the stages that read a tensor of its name, or a tensor that the result is made of: the moment "m_W" of a weight is
// made of "d_W", the gradient of what stages read as "W". What belongs together by such a tie goes to the same stages.
//
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mhc;

namespace {
/// A result of a function, and what it is made of.
struct Made {
  StringRef name;
  DenseSet<Operation *> ops;
  SetVector<Value> arguments;
};

class StateDivider {
public:
  StateDivider(ModuleOp module, ArrayRef<SmallVector<func::FuncOp>> stages) : module(module), stages(stages) {}

  void run();

private:
  void collect();
  void addFunction(func::FuncOp func);
  void placeClasses();
  llvm::SmallBitVector &stagesOf(StringRef name) { return placed[*ties.findLeader(name)]; }
  void makeFunction(func::FuncOp func, ArrayRef<Made> results, int64_t stage);

  ModuleOp module;
  ArrayRef<SmallVector<func::FuncOp>> stages;
  llvm::MapVector<func::FuncOp, SmallVector<Made>> functions;
  llvm::EquivalenceClasses<StringRef> ties;
  llvm::StringMap<llvm::SmallBitVector> placed; ///< the stages of the names that are tied to a leader's
};
} // namespace

static StringRef nameOf(DictionaryAttr attributes) {
  auto name = attributes ? attributes.getAs<StringAttr>("mhc.name") : nullptr;
  return name ? name.getValue() : "";
}

static StringRef nameOf(BlockArgument argument) {
  auto func = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return nameOf(func.getArgAttrDict(argument.getArgNumber()));
}

static Made madeOf(StringRef name, Value result) {
  Made made{name, {}, {}};
  SmallVector<Value> todo{result};
  while (!todo.empty()) {
    Value value = todo.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op)
      made.arguments.insert(value);
    else if (made.ops.insert(op).second)
      llvm::append_range(todo, readBy(op));
  }
  return made;
}

/// Leaves out a function with a result that has no name, so that nobody could tell whose it is.
void StateDivider::addFunction(func::FuncOp func) {
  SmallVector<Made> results;
  for (auto [i, value] : llvm::enumerate(func.getBody().front().getTerminator()->getOperands())) {
    StringRef name = nameOf(func.getResultAttrDict(i));
    if (name.empty())
      return;
    results.push_back(madeOf(name, value));
  }
  for (const Made &made : results)
    ties.insert(made.name);
  functions[func] = std::move(results);
}

void StateDivider::collect() {
  DenseSet<Operation *> own;
  for (ArrayRef<func::FuncOp> stage : stages)
    own.insert_range(stage);
  for (auto func : module.getOps<func::FuncOp>()) {
    auto callsStage = [&](func::CallOp call) { return own.contains(module.lookupSymbol(call.getCallee())); };
    if (func.isPublic() && func.getBody().hasOneBlock() && !own.contains(func) &&
        llvm::none_of(func.getBody().getOps<func::CallOp>(), callsStage))
      addFunction(func);
  }
  for (auto &[func, results] : functions)
    for (const Made &made : results)
      for (Value argument : made.arguments) {
        StringRef name = nameOf(cast<BlockArgument>(argument));
        name.consume_front("d_");
        if (ties.contains(name))
          ties.unionSets(made.name, name);
      }
}

/// Tensors of several stages are those of one pair of them, or of all: their sums are over one group of ranks.
void StateDivider::placeClasses() {
  for (StringRef name : llvm::map_range(ties, [](const auto &entry) { return entry->getData(); }))
    stagesOf(name).resize(stages.size());
  for (auto [stage, funcs] : llvm::enumerate(stages))
    for (func::FuncOp func : funcs)
      for (BlockArgument argument : func.getArguments())
        if (ties.contains(nameOf(argument)))
          stagesOf(nameOf(argument)).set(stage);
  llvm::SmallBitVector pair;
  bool isPair = true;
  for (auto &entry : placed)
    if (const llvm::SmallBitVector &set = entry.second; set.count() > 1) {
      isPair &= set.count() == 2 && (pair.empty() || pair == set);
      pair = set;
    }
  for (auto &entry : placed)
    if (!isPair && entry.second.count() > 1)
      entry.second.set();
}

void StateDivider::makeFunction(func::FuncOp func, ArrayRef<Made> results, int64_t stage) {
  DenseSet<Operation *> ops;
  DenseSet<Value> read;
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> resultAttributes, argumentAttributes;
  Operation *end = func.getBody().front().getTerminator();
  for (auto [i, made] : llvm::enumerate(results)) {
    if (!stagesOf(made.name).test(stage))
      continue;
    ops.insert_range(made.ops);
    read.insert_range(made.arguments);
    values.push_back(end->getOperand(i));
    resultAttributes.push_back(func.getResultAttrDict(i));
  }
  SmallVector<Value> arguments;
  for (BlockArgument argument : func.getArguments())
    if (read.contains(argument)) {
      arguments.push_back(argument);
      argumentAttributes.push_back(func.getArgAttrDict(argument.getArgNumber()));
    }

  OpBuilder builder(func);
  func::FuncOp made = createStage(builder, func, stage, ValueRange(arguments), ValueRange(values));
  made.setAllArgAttrs(argumentAttributes);
  made.setAllResultAttrs(resultAttributes);
  IRMapping map;
  map.map(ValueRange(arguments), made.addEntryBlock()->getArguments());
  builder.setInsertionPointToStart(&made.getBody().front());
  for (Operation &op : func.getBody().front().without_terminator())
    if (ops.contains(&op))
      builder.clone(op, map);
  func::ReturnOp::create(builder, end->getLoc(),
                         llvm::map_to_vector(values, [&](Value value) { return map.lookup(value); }));
}

void StateDivider::run() {
  collect();
  placeClasses();
  for (auto &[func, results] : functions) {
    auto isOfStage = [&](const Made &made) { return stagesOf(made.name).any(); };
    if (llvm::none_of(results, isOfStage) || !SymbolTable::symbolKnownUseEmpty(func, module))
      continue;
    for (const Made &made : results) // a weight that nobody reads is kept by the first stage
      if (!isOfStage(made))
        stagesOf(made.name).set(0);
    for (size_t stage = 0; stage < stages.size(); ++stage)
      makeFunction(func, results, static_cast<int64_t>(stage));
    func.erase();
  }
}

void mhc::divideState(ModuleOp module, ArrayRef<SmallVector<func::FuncOp>> stages) {
  StateDivider(module, stages).run();
}
