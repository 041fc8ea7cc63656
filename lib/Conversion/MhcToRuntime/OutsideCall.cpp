//===- OutsideCall.cpp - Calls of what the user of a model gives -*- C++ -*- ===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryLowering.h"
#include "mhc/IR/ElementTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mhc;

namespace {
/// Writes the tensors of a call, one behind the other.
class TensorWriter {
public:
  TensorWriter(OpBuilder &builder, Location loc, int64_t count) : builder(builder), loc(loc) {
    pointer = LLVM::LLVMPointerType::get(builder.getContext());
    tensors = LLVM::AllocaOp::create(builder, loc, pointer, builder.getI8Type(),
                                     word(std::max<int64_t>(count, 1) * kTensorBytes), /*alignment=*/8);
  }

  Value at(int64_t offset) {
    return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), tensors,
                               LLVM::GEPArg(static_cast<int32_t>(offset)));
  }

  /// Takes pointer and open sizes from the front of `values`.
  void write(int64_t number, MemRefType type, ValueRange &values) {
    auto next = [&] {
      Value value = values.front();
      values = values.drop_front();
      return value;
    };
    const int64_t start = number * kTensorBytes;
    store(next(), start);
    store(half(elementCode(type.getElementType())), start + kTensorDtypeOffset);
    store(half(type.getRank()), start + kTensorDtypeOffset + 4);
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      store(ShapedType::isDynamic(size)
                ? arith::IndexCastOp::create(builder, loc, builder.getI64Type(), next()).getResult()
                : word(size),
            start + kTensorDimsOffset + 8 * static_cast<int64_t>(dim));
  }

private:
  void store(Value value, int64_t offset) { LLVM::StoreOp::create(builder, loc, value, at(offset), /*alignment=*/4); }
  Value word(int64_t value) { return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), value); }
  Value half(int64_t value) { return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), value); }

  OpBuilder &builder;
  Location loc;
  Type pointer;
  Value tensors;
};
} // namespace

static func::FuncOp runtimeCall(SymbolTable &symbols, Type pointer) {
  constexpr StringLiteral kName = "mhcrt_call_function";
  if (auto known = symbols.lookup<func::FuncOp>(kName))
    return known;
  SmallVector<Type> types(4, pointer);
  auto func = func::FuncOp::create(UnknownLoc::get(pointer.getContext()), kName,
                                   FunctionType::get(pointer.getContext(), types, {}));
  func.setPrivate();
  symbols.insert(func);
  return func;
}

func::FuncOp mhc::outsideCaller(func::FuncOp outside, SymbolTable &symbols) {
  std::string name = ("mhcrt_call_of_" + outside.getName()).str(); // no entry begins so
  if (auto known = symbols.lookup<func::FuncOp>(name))
    return known;
  MLIRContext *context = outside.getContext();
  Location loc = UnknownLoc::get(context);
  Type pointer = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> types = {pointer, pointer};
  for (Type type : outside.getArgumentTypes()) {
    types.push_back(pointer);
    types.append(cast<MemRefType>(type).getNumDynamicDims(), IndexType::get(context));
  }
  auto caller = func::FuncOp::create(loc, name, FunctionType::get(context, types, {}));
  caller.setPrivate();
  caller->setAttr("llvm.linkage", LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  symbols.insert(caller);
  OpBuilder builder = OpBuilder::atBlockBegin(caller.addEntryBlock());
  TensorWriter tensors(builder, loc, outside.getNumArguments());
  ValueRange values = ValueRange(caller.getArguments()).drop_front(2);
  int64_t numArguments = 0;
  for (auto [i, type] : llvm::enumerate(outside.getArgumentTypes())) {
    tensors.write(i, cast<MemRefType>(type), values);
    numArguments += !outside.getArgAttr(i, "mhc.result");
  }
  Value operands[] = {caller.getArgument(0), caller.getArgument(1), tensors.at(0),
                      tensors.at(numArguments * kTensorBytes)};
  func::CallOp::create(builder, loc, runtimeCall(symbols, pointer), operands);
  func::ReturnOp::create(builder, loc);
  return caller;
}
