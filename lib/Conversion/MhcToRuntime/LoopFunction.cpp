//===- LoopFunction.cpp - Loop functions take pointers ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buffers.h"
#include "EntryLowering.h"
#include "mhc/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mhc;

namespace {
/// Replaces the arguments of a function one by one, from left to right.
struct ArgumentLowering {
  explicit ArgumentLowering(FunctionOpInterface func)
      : func(func), block(func.getFunctionBody().front()), builder(OpBuilder::atBlockBegin(&block)),
        address(builder, &block) {}

  void run();
  Value addArgument(Type type) {
    types.push_back(type);
    attrs.push_back(builder.getDictionaryAttr({}));
    return block.addArgument(type, func.getLoc());
  }
  Buffer readBuffer(MemRefType type);
  Value describe(MemRefType type, const Buffer &buffer);
  Value insert(Value descriptor, Value field, ArrayRef<int64_t> position) {
    return LLVM::InsertValueOp::create(builder, func.getLoc(), descriptor, field, position);
  }
  Value i64(OpFoldResult size) {
    return arith::IndexCastOp::create(builder, func.getLoc(), builder.getI64Type(), address.index(size));
  }

  FunctionOpInterface func;
  Block &block;
  OpBuilder builder;
  AddressBuilder address;
  SmallVector<Type> types;
  SmallVector<Attribute> attrs;
  SmallVector<Buffer> buffers; ///< per old argument; empty for a scalar
};
} // namespace

Buffer ArgumentLowering::readBuffer(MemRefType type) {
  Value pointer = addArgument(LLVM::LLVMPointerType::get(func.getContext()));
  Buffer buffer{pointer, pointer, type.getElementType(), {}, {}};
  auto read = [&](int64_t known) -> OpFoldResult {
    return ShapedType::isDynamic(known) ? OpFoldResult(addArgument(builder.getIndexType())) : address.number(known);
  };
  for (int64_t size : type.getShape())
    buffer.sizes.push_back(read(size));
  if (auto layout = dyn_cast<StridedLayoutAttr>(type.getLayout()))
    for (int64_t stride : layout.getStrides())
      buffer.strides.push_back(read(stride));
  else
    buffer.strides = address.rowMajor(func.getLoc(), buffer.sizes);
  return buffer;
}

/// The memref descriptor of upstream's lowering.
Value ArgumentLowering::describe(MemRefType type, const Buffer &buffer) {
  MLIRContext *context = func.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context), word = builder.getI64Type();
  SmallVector<Type> fields = {pointer, pointer, word};
  if (type.getRank() > 0)
    fields.append(2, LLVM::LLVMArrayType::get(word, type.getRank()));
  Value descriptor = LLVM::PoisonOp::create(builder, func.getLoc(), LLVM::LLVMStructType::getLiteral(context, fields));
  descriptor = insert(descriptor, buffer.pointer, 0);
  descriptor = insert(descriptor, buffer.pointer, 1);
  descriptor = insert(descriptor, i64(address.number(0)), 2); // the pointer is the first element
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    descriptor = insert(descriptor, i64(buffer.sizes[dim]), {3, dim});
    descriptor = insert(descriptor, i64(buffer.strides[dim]), {4, dim});
  }
  return UnrealizedConversionCastOp::create(builder, func.getLoc(), type, descriptor).getResult(0);
}

void ArgumentLowering::run() {
  unsigned old = block.getNumArguments();
  for (unsigned i = 0; i < old; ++i) {
    BlockArgument argument = block.getArgument(i);
    unsigned first = attrs.size();
    buffers.emplace_back();
    if (auto type = dyn_cast<MemRefType>(argument.getType())) {
      buffers.back() = readBuffer(type);
      argument.replaceAllUsesWith(describe(type, buffers.back()));
    } else {
      argument.replaceAllUsesWith(addArgument(argument.getType()));
    }
    if (DictionaryAttr given = func.getArgAttrDict(i))
      attrs[first] = given;
  }
  block.eraseArguments(0, old);
  func.setFunctionTypeAttr(TypeAttr::get(builder.getFunctionType(types, {})));
  func.setArgAttrsAttr(builder.getArrayAttr(attrs));
}

bool mhc::needsContext(func::FuncOp func) {
  return func->hasAttr(kParallelAttr) || (!func.isDeclaration() && !func.getOps<gpu::LaunchFuncOp>().empty());
}

/// Lets threads share the loop that mhc.parallel marks.
static void share(func::FuncOp func, ArgumentLowering &lowering, SymbolTable &symbols) {
  ArrayRef<int64_t> parallel = func->getAttrOfType<DenseI64ArrayAttr>(kParallelAttr).asArrayRef();
  OpFoldResult count, work = lowering.address.number(parallel[3]);
  for (auto [dim, size] : llvm::enumerate(lowering.buffers[parallel[1]].sizes)) {
    if (static_cast<int64_t>(dim) == parallel[2])
      count = size;
    else
      work = lowering.address.mul(func.getLoc(), work, size);
  }
  shareLoop(func, parallel[0], count, work, symbols);
}

void mhc::lowerLoopFunction(func::FuncOp func, SymbolTable &symbols) {
  func->setAttr("llvm.linkage", LLVM::LinkageAttr::get(func.getContext(), LLVM::Linkage::Internal));
  ArgumentLowering lowering(func);
  lowering.run();
  if (func->hasAttr(kParallelAttr))
    share(func, lowering, symbols);
  else if (needsContext(func))
    (void)func.insertArgument(0, LLVM::LLVMPointerType::get(func.getContext()), {}, func.getLoc());
}

void mhc::lowerKernel(gpu::GPUFuncOp kernel) { ArgumentLowering(kernel).run(); }

void mhc::lowerGlobals(ModuleOp module) {
  for (memref::GlobalOp global : llvm::make_early_inc_range(module.getOps<memref::GlobalOp>())) {
    OpBuilder builder(global);
    Type element = global.getType().getElementType(), type = memoryType(element);
    Attribute value = *global.getInitialValue();
    if (element.isIndex())
      value = cast<DenseElementsAttr>(value).bitcast(type);
    for (int64_t size : llvm::reverse(global.getType().getShape()))
      type = LLVM::LLVMArrayType::get(type, size);
    if (global.getType().getRank() == 0)
      value = cast<SplatElementsAttr>(value).getSplatValue<Attribute>();
    LLVM::GlobalOp::create(builder, global.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Private,
                           global.getSymName(), value, /*alignment=*/64);
    global.erase();
  }
}
