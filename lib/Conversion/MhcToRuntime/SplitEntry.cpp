//===- SplitEntry.cpp - Long entries in parts ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's register allocation and some of its passes are quadratic in the length of a block. An entry of a deep model is
// one block of thousands of calls, so it is cut into functions of a few dozen calls. A part computes addresses again
// from the entry's arguments and the arena; nothing else is handed on.
//
//===----------------------------------------------------------------------===//

#include "EntryLowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mhc;

static constexpr size_t kCallsPerPart = 48;

/// Whether a part may compute the op again.
static bool isRepeatable(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op)) // the same place for the same constant
    return call.getCallee() == kConstantFunction;
  auto load = dyn_cast<LLVM::LoadOp>(op);
  return load ? load.getInvariant() : isMemoryEffectFree(op);
}

/// Values that the op reads, itself or in its regions.
static SmallVector<Value> inputsOf(Operation *op) {
  llvm::SetVector<Value> inputs(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), inputs);
  return inputs.takeVector();
}

namespace {
class EntrySplitter {
public:
  EntrySplitter(func::FuncOp entry, Block &body, ArrayRef<Value> shared, SymbolTable &symbols)
      : entry(entry), body(body), shared(shared), symbols(symbols), builder(entry.getContext()) {}

  void run();

private:
  void findSteps();
  void addPart(ArrayRef<Operation *> steps);
  Value inPart(Value value, IRMapping &mapping);

  func::FuncOp entry;
  Block &body;
  ArrayRef<Value> shared; ///< what every part is given
  SymbolTable &symbols;
  OpBuilder builder;
  SmallVector<Operation *> steps; ///< what is not repeatable
  SmallVector<int> bound;         ///< per step: number of values that cross the cut before it
  unsigned parts = 0;
};
} // namespace

/// Collects the steps, and where a value that only an earlier step can give forbids a cut.
void EntrySplitter::findSteps() {
  DenseMap<Value, int> origin; // the earliest step that a value depends on
  SmallVector<std::pair<int, int>> spans;
  for (Operation &op : body.without_terminator()) {
    int earliest = steps.size();
    for (Value operand : inputsOf(&op))
      if (auto known = origin.find(operand); known != origin.end())
        earliest = std::min(earliest, known->second);
    bool repeatable = isRepeatable(&op);
    if (!repeatable) {
      spans.emplace_back(earliest, steps.size());
      steps.push_back(&op);
    }
    if (!repeatable || earliest < static_cast<int>(steps.size()))
      for (Value result : op.getResults())
        origin[result] = earliest;
  }
  bound.assign(steps.size() + 1, 0);
  for (auto [first, last] : spans)
    if (first < last) {
      ++bound[first + 1];
      --bound[last + 1];
    }
  for (size_t i = 1; i < bound.size(); ++i)
    bound[i] += bound[i - 1];
}

Value EntrySplitter::inPart(Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : inputsOf(op))
    inPart(operand, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

void EntrySplitter::addPart(ArrayRef<Operation *> part) {
  Location loc = entry.getLoc();
  auto type = builder.getFunctionType(ValueRange(shared).getTypes(), {});
  // No entry's symbol begins so: what an entry 'f_part0' needs stays free.
  auto func = func::FuncOp::create(loc, ("part" + Twine(parts++) + "_of_" + entry.getName()).str(), type);
  func.setPrivate();
  func->setAttr("passthrough", entry->getAttr("passthrough"));
  func->setAttr("llvm.linkage", LLVM::LinkageAttr::get(entry.getContext(), LLVM::Linkage::Internal));
  symbols.insert(func, Block::iterator(entry));
  Block *block = func.addEntryBlock();
  IRMapping mapping;
  mapping.map(ValueRange(shared), block->getArguments());
  builder.setInsertionPointToEnd(block);
  for (Operation *step : part) {
    for (Value operand : inputsOf(step))
      inPart(operand, mapping);
    builder.clone(*step, mapping);
  }
  func::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(body.getTerminator());
  func::CallOp::create(builder, loc, func, shared);
}

void EntrySplitter::run() {
  findSteps();
  if (steps.size() <= 2 * kCallsPerPart)
    return;
  Operation *last = steps.back(); // the status, which the terminator returns
  steps.pop_back();
  for (size_t start = 0; start < steps.size();) {
    size_t end = std::min(start + kCallsPerPart, steps.size());
    while (end < steps.size() && bound[end] > 0)
      ++end;
    addPart(ArrayRef(steps).slice(start, end - start));
    start = end;
  }
  last->moveBefore(body.getTerminator());
  llvm::SmallPtrSet<Operation *, 32> moved(steps.begin(), steps.end());
  SmallVector<Operation *> rest; // also what was read of arguments, in front of the arena
  for (Block &block : entry.getBody())
    for (Operation &op : block.without_terminator())
      rest.push_back(&op);
  for (Operation *op : llvm::reverse(rest))
    if (moved.contains(op) || (isRepeatable(op) && op->use_empty()))
      op->erase();
}

void mhc::splitEntry(func::FuncOp entry, Block &body, ArrayRef<Value> shared, SymbolTable &symbols) {
  EntrySplitter(entry, body, shared, symbols).run();
}
