//===- Slice.cpp - Ops that compute two lists of values ------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The block is walked from the last of the values back. When an op is met, all its users in the slice have been met, so
// that it is known whether only one list reads it: those ops are what the two lists differ by. What both read is an
// input. The walk ends with the slice: it asks for no order of the block, which rewriting makes invalid and which costs
// as much as the whole function to make again.
//
//===----------------------------------------------------------------------===//

#include "Slice.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/PointerIntPair.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mhc;

/// A chain of mHC has some hundreds.
static constexpr size_t kMostOps = 5000;

/// The op met before this one on the way back through its block and out of the blocks around it.
static Operation *before(Operation *op) { return op->getPrevNode() ? op->getPrevNode() : op->getParentOp(); }

static unsigned depthOf(Operation *op) {
  unsigned depth = 0;
  while ((op = op->getParentOp()))
    ++depth;
  return depth;
}

/// The last of `ops`: walking back from it meets all others. They are in its block or in blocks around it. All walk
/// forward at once, and one that meets another is not the last: the cost is the distance between them.
static Operation *lastOf(const SmallPtrSetImpl<Operation *> &ops) {
  unsigned deepest = 0;
  for (Operation *op : ops)
    deepest = std::max(deepest, depthOf(op));
  SmallVector<std::pair<Operation *, Operation *>> runners; // where each started and where it is
  for (Operation *op : ops)
    if (depthOf(op) == deepest)
      runners.emplace_back(op, op);
  while (runners.size() > 1) {
    for (auto &[start, place] : runners)
      if (!(place = place->getNextNode()))
        return start;
    llvm::erase_if(runners, [&](auto runner) { return ops.contains(runner.second); });
  }
  return runners.empty() ? nullptr : runners.front().first;
}

static bool holdsData(Type type) { return isa<ShapedType>(type) && isa<FloatType>(getElementTypeOrSelf(type)); }

/// Numbers rather than data: what is made from no float tensor, and sizes. Both lists get their own, because its value
/// matters to what they compute.
static bool isNumber(Operation *op) {
  return llvm::none_of(op->getResultTypes(), holdsData) || llvm::none_of(op->getOperandTypes(), holdsData);
}

/// Whether a number depends on data by its sizes alone, so that it does not matter who reads it.
static bool readsNoData(Operation *op) {
  return isa<tensor::DimOp>(op) || (op->getNumRegions() == 0 && llvm::none_of(op->getOperandTypes(), holdsData));
}

/// Calls a function for each value that an op reads, also inside its regions.
static void forEachRead(Operation *op, llvm::function_ref<void(Value)> visit) {
  llvm::for_each(op->getOperands(), visit);
  if (op->getNumRegions() == 0) // most ops
    return;
  llvm::SetVector<Value> values;
  getUsedValuesDefinedAbove(op->getRegions(), values);
  llvm::for_each(values, visit);
}

/// `ops`, each behind those that make what it reads.
static SmallVector<Operation *> inOrder(const llvm::SetVector<Operation *> &ops) {
  SmallVector<Operation *> result;
  DenseSet<Operation *> met;
  for (Operation *root : ops) {
    SmallVector<llvm::PointerIntPair<Operation *, 1, bool>> stack = {{root, false}};
    while (!stack.empty()) {
      auto [op, isReady] = std::pair(stack.back().getPointer(), stack.back().getInt());
      stack.pop_back();
      if (isReady) {
        result.push_back(op);
        continue;
      }
      if (!met.insert(op).second)
        continue;
      stack.push_back({op, true});
      forEachRead(op, [&](Value value) {
        if (Operation *maker = value.getDefiningOp(); ops.contains(maker))
          stack.push_back({maker, false});
      });
    }
  }
  return result;
}

namespace {
class Slicer {
public:
  explicit Slicer(Depth depth) : depth(depth) {}

  std::optional<Slice> run(ArrayRef<Value> was, ArrayRef<Value> becomes) {
    llvm::SmallPtrSet<Operation *, 8> makers;
    for (auto [values, reader] : {std::pair(was, kWas), std::pair(becomes, kBecomes)})
      for (Value value : values) {
        visit(value, reader);
        if (Operation *op = value.getDefiningOp())
          makers.insert(op);
      }
    visitNumbers();
    for (Operation *op = lastOf(makers); !pending.empty(); op = before(op)) {
      if (!op)
        return std::nullopt;
      if (!pending.erase(op))
        continue;
      ops.insert(op);
      visitInputs(op);
      visitNumbers();
      if (ops.size() > kMostOps)
        return std::nullopt;
    }
    Slice slice;
    for (Value value : wanted)
      if (!ops.contains(value.getDefiningOp()))
        slice.inputs.push_back(value);
    slice.ops = inOrder(ops);
    llvm::append_range(slice.results, was);
    llvm::append_range(slice.results, becomes);
    return slice;
  }

private:
  /// Readers of an op, as bits. An op of which only the size is read is an input: a model is not followed further.
  static constexpr unsigned kSizeOnly = 0, kWas = 1, kBecomes = 2, kBoth = 3;

  void visit(Value value, unsigned reader) {
    wanted.insert(value);
    Operation *op = value.getDefiningOp();
    if (!op)
      return;
    auto [entry, isNew] = readers.try_emplace(op, kSizeOnly);
    bool changes = (entry->second | reader) != entry->second;
    entry->second |= reader;
    if (!belongs(op, entry->second)) {
      pending.erase(op);
    } else if (!readsNoData(op)) {
      pending.insert(op);
    } else if (isNew || changes) {
      ops.insert(op);
      numbers.push_back(op);
    }
  }

  /// They are visited at once: constants and sizes are made at the start of the function, where the walk must not go.
  void visitNumbers() {
    while (!numbers.empty())
      visitInputs(numbers.pop_back_val());
  }

  void visitInputs(Operation *op) {
    unsigned reader = isa<tensor::DimOp>(op) ? kSizeOnly : readers[op];
    forEachRead(op, [&](Value value) { visit(value, reader); });
  }

  bool belongs(Operation *op, unsigned reader) {
    return isMemoryEffectFree(op) &&
           (isNumber(op) || reader == kWas || reader == kBecomes || (reader == kBoth && depth == Depth::ToArguments));
  }

  Depth depth;
  llvm::SetVector<Operation *> ops;
  DenseSet<Operation *> pending;    ///< which belong as far as is known; the walk has not met them
  SmallVector<Operation *> numbers; ///< which belong; what they read has not been visited
  DenseMap<Operation *, unsigned> readers;
  llvm::SetVector<Value> wanted;
};
} // namespace

std::optional<Slice> mhc::sliceOf(ArrayRef<Value> was, ArrayRef<Value> becomes, Depth depth) {
  return Slicer(depth).run(was, becomes);
}

//===----------------------------------------------------------------------===//
// Key and function
//===----------------------------------------------------------------------===//

namespace {
/// Types, attributes and names are unique in a context, so that their addresses tell them apart.
class KeyWriter {
public:
  void define(Value value) {
    numbers.try_emplace(value, numbers.size());
    add(value.getType().getAsOpaquePointer());
  }

  void read(Value value) { key.push_back(numbers.lookup(value)); }

  void write(Operation *op) {
    add(op->getName().getAsOpaquePointer());
    add(op->getAttrDictionary().getAsOpaquePointer());
    key.push_back(op->getNumOperands());
    for (Value operand : op->getOperands())
      read(operand);
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        key.push_back(block.getOperations().size());
        llvm::for_each(block.getArguments(), [&](Value argument) { define(argument); });
        for (Operation &nested : block)
          write(&nested);
      }
    llvm::for_each(op->getResults(), [&](Value result) { define(result); });
  }

  std::vector<uintptr_t> key;

private:
  void add(const void *pointer) { key.push_back(reinterpret_cast<uintptr_t>(pointer)); }

  DenseMap<Value, unsigned> numbers;
};
} // namespace

std::vector<uintptr_t> Slice::key() const {
  KeyWriter writer;
  for (Value input : inputs)
    writer.define(input);
  for (Operation *op : ops)
    writer.write(op);
  for (Value result : results)
    writer.read(result);
  return std::move(writer.key);
}

OwningOpRef<ModuleOp> Slice::toModule() const {
  Location loc = results.front().getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto type =
      builder.getFunctionType(ValueRange(ArrayRef(inputs)).getTypes(), ValueRange(ArrayRef(results)).getTypes());
  auto func = func::FuncOp::create(builder, loc, "slice", type);
  builder.setInsertionPointToStart(func.addEntryBlock());
  IRMapping mapping;
  for (auto [input, argument] : llvm::zip_equal(inputs, func.getArguments()))
    mapping.map(input, argument);
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  SmallVector<Value> mapped;
  for (Value result : results)
    mapped.push_back(mapping.lookup(result));
  func::ReturnOp::create(builder, loc, mapped);
  return module;
}
