//===- ShareLoop.cpp - Loop functions on several threads ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop function `f(arguments)` becomes
//
//   f(context, arguments)              stores the arguments in a frame and calls mhcrt_parallel_loop, which calls
//   f_range(frame, begin, end)         for every range of iterations; it loads the arguments and calls
//   f_body(arguments, begin, end)      the loop, whose arguments keep what is known of them (noalias)
//
//===----------------------------------------------------------------------===//

#include "Buffers.h"
#include "EntryLowering.h"
#include "mhc/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mhc;

namespace {
class LoopSharing {
public:
  LoopSharing(func::FuncOp func, SymbolTable &symbols)
      : func(func), symbols(symbols), builder(func.getContext()), loc(func.getLoc()),
        pointer(LLVM::LLVMPointerType::get(func.getContext())), word(builder.getI64Type()),
        arguments(func.getArgumentTypes()) {
    auto fields = llvm::map_to_vector(arguments, [&](Type type) { return type.isIndex() ? word : type; });
    frameType = LLVM::LLVMStructType::getLiteral(func.getContext(), fields);
  }

  void run(int64_t depth, OpFoldResult count, OpFoldResult work) {
    makeBody(depth);
    makeRange();
    makeCall(count, work);
  }

private:
  void insert(func::FuncOp part, StringRef suffix) {
    part.setName((func.getName() + suffix).str());
    symbols.insert(part, Block::iterator(func));
  }
  void makeBody(int64_t depth);
  void makeRange();
  void makeCall(OpFoldResult count, OpFoldResult work);
  func::FuncOp runtimeLoop();

  Value place(Value frame, int32_t argument) {
    return LLVM::GEPOp::create(builder, loc, pointer, frameType, frame, ArrayRef<LLVM::GEPArg>{0, argument});
  }
  /// Index values are words in memory and for the runtime.
  Value cast(Value value, Type type) {
    return value.getType() == type ? value : arith::IndexCastOp::create(builder, loc, type, value).getResult();
  }

  func::FuncOp func, body, range;
  SymbolTable &symbols;
  OpBuilder builder;
  Location loc;
  Type pointer, word;
  SmallVector<Type> arguments; ///< of the loop function as it was
  LLVM::LLVMStructType frameType;
};
} // namespace

void LoopSharing::makeBody(int64_t depth) {
  body = func.clone();
  body->removeAttr(kParallelAttr);
  insert(body, "_body");
  Block &block = body.getBody().front();
  auto loop = *block.getOps<scf::ForOp>().begin();
  for (; depth > 0; --depth)
    loop = *loop.getBody()->getOps<scf::ForOp>().begin();
  unsigned end = arguments.size();
  for (unsigned i = 0; i < 2; ++i)
    (void)body.insertArgument(end + i, builder.getIndexType(), {}, loc);
  loop.setLowerBound(block.getArgument(end));
  loop.setUpperBound(block.getArgument(end + 1));
}

void LoopSharing::makeRange() {
  range = func::FuncOp::create(loc, func.getName(), builder.getFunctionType({pointer, word, word}, {}));
  range.setPrivate();
  range->setAttr("llvm.linkage", func->getAttr("llvm.linkage"));
  insert(range, "_range");
  Block *block = range.addEntryBlock();
  builder.setInsertionPointToStart(block);
  SmallVector<Value> values;
  for (auto [i, type] : llvm::enumerate(arguments)) {
    Value loaded = LLVM::LoadOp::create(builder, loc, frameType.getBody()[i], place(block->getArgument(0), i));
    values.push_back(cast(loaded, type));
  }
  for (Value bound : block->getArguments().drop_front())
    values.push_back(cast(bound, builder.getIndexType()));
  func::CallOp::create(builder, loc, body, values);
  func::ReturnOp::create(builder, loc);
}

func::FuncOp LoopSharing::runtimeLoop() {
  StringRef name = "mhcrt_parallel_loop";
  if (auto known = symbols.lookup<func::FuncOp>(name))
    return known;
  Type types[] = {pointer, range.getFunctionType(), pointer, word, word};
  auto declared = func::FuncOp::create(loc, name, builder.getFunctionType(types, {}));
  declared.setPrivate();
  symbols.insert(declared);
  return declared;
}

void LoopSharing::makeCall(OpFoldResult count, OpFoldResult work) {
  Block &block = func.getBody().front();
  auto old = llvm::map_to_vector(block.without_terminator(), [](Operation &op) { return &op; });
  builder.setInsertionPoint(block.getTerminator());
  AddressBuilder address(builder, &block);
  Value frame =
      LLVM::AllocaOp::create(builder, loc, pointer, frameType, address.constant(builder.getI64IntegerAttr(1)));
  for (auto [i, argument] : llvm::enumerate(block.getArguments()))
    LLVM::StoreOp::create(builder, loc, cast(argument, frameType.getBody()[i]), place(frame, i));
  Value function = func::ConstantOp::create(builder, loc, range.getFunctionType(), range.getName());
  Value sizes[] = {cast(address.index(count), word), cast(address.index(work), word)};
  (void)func.insertArgument(0, pointer, {}, loc);
  func::CallOp::create(builder, loc, runtimeLoop(), {block.getArgument(0), function, frame, sizes[0], sizes[1]});
  // The loop is gone; what gives its sizes may still be used.
  for (Operation *op : llvm::reverse(old))
    if (op->use_empty())
      op->erase();
}

void mhc::shareLoop(func::FuncOp func, int64_t depth, OpFoldResult count, OpFoldResult work, SymbolTable &symbols) {
  LoopSharing(func, symbols).run(depth, count, work);
  func->removeAttr(kParallelAttr);
}
