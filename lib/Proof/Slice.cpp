//===- Slice.cpp - What two lists of values are computed by ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops are visited from the last one back. When it is an op's turn, all its users in the slice have been visited, so
// that it is known whether only one list reads it: those ops are what the two lists differ by. What both read is an
// input.
//
//===----------------------------------------------------------------------===//

#include "Slice.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include <set>

using namespace mlir;
using namespace mhc;

/// A chain of mHC has some hundreds.
static constexpr size_t kMostOps = 5000;

/// Whether `a` comes after `b`, where each may be nested in other blocks.
static bool isAfter(Operation *a, Operation *b) {
  for (Operation *outer = a; outer; outer = outer->getParentOp())
    if (Block *block = outer->getBlock())
      if (Operation *other = block->findAncestorOpInBlock(*b); other && other != outer)
        return other->isBeforeInBlock(outer);
  return false;
}

/// Numbers rather than data: what is made from no float tensor, and sizes. Both lists get their own, because its value
/// matters to what they compute.
static bool isNumber(Operation *op) {
  auto holdsData = [](Type type) { return isa<ShapedType>(type) && isa<FloatType>(getElementTypeOrSelf(type)); };
  return llvm::none_of(op->getResultTypes(), holdsData) || llvm::none_of(op->getOperandTypes(), holdsData);
}

/// What an op reads, inside its regions too.
static llvm::SetVector<Value> valuesReadBy(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values;
}

namespace {
class Slicer {
public:
  explicit Slicer(Depth depth) : depth(depth) {}

  std::optional<Slice> run(ArrayRef<Value> was, ArrayRef<Value> becomes) {
    for (Value value : was)
      visit(value, kWas);
    for (Value value : becomes)
      visit(value, kBecomes);
    while (!pending.empty()) {
      Operation *op = *pending.begin();
      pending.erase(pending.begin());
      if (!belongs(op)) {
        llvm::for_each(op->getResults(), [&](Value result) { addInput(result); });
        continue;
      }
      slice.ops.push_back(op);
      if (slice.ops.size() > kMostOps)
        return std::nullopt;
      unsigned reader = isa<tensor::DimOp>(op) ? kSizeOnly : readers[op];
      for (Value value : valuesReadBy(op))
        visit(value, reader);
    }
    std::reverse(slice.ops.begin(), slice.ops.end());
    llvm::append_range(slice.results, was);
    llvm::append_range(slice.results, becomes);
    return std::move(slice);
  }

private:
  /// Who reads an op. That of which only sizes are read is an input, not to follow a model to its first layer.
  static constexpr unsigned kSizeOnly = 0, kWas = 1, kBecomes = 2, kBoth = 3;

  void visit(Value value, unsigned reader) {
    Operation *op = value.getDefiningOp();
    if (!op) {
      addInput(value);
      return;
    }
    wanted.insert(value);
    readers[op] |= reader;
    pending.insert(op);
  }

  bool belongs(Operation *op) {
    return isMemoryEffectFree(op) && (isNumber(op) || readers[op] == kWas || readers[op] == kBecomes ||
                                      (readers[op] == kBoth && depth == Depth::ToArguments));
  }

  void addInput(Value value) {
    if ((wanted.contains(value) || !value.getDefiningOp()) && seen.insert(value).second)
      slice.inputs.push_back(value);
  }

  struct LastFirst {
    bool operator()(Operation *a, Operation *b) const { return a != b && isAfter(a, b); }
  };

  Depth depth;
  Slice slice;
  std::set<Operation *, LastFirst> pending;
  DenseMap<Operation *, unsigned> readers;
  DenseSet<Value> wanted, seen;
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
