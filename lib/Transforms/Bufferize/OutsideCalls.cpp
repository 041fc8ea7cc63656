//===- OutsideCalls.cpp - Calls of functions that the compiler does not see -*- C++ -*- ===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OutsideCalls.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/OutsideFunctions.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

static MemRefType bufferType(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// Whether a function takes and gives tensors still.
static bool isOnTensors(func::FuncOp func) {
  return llvm::all_of(func.getArgumentTypes(), llvm::IsaPred<RankedTensorType>) &&
         llvm::all_of(func.getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

/// The size of a result: that of an argument whose dimension has the same name.
static Value sizeNamed(OpBuilder &builder, func::CallOp call, func::FuncOp callee, Attribute name) {
  for (auto [i, operand] : llvm::enumerate(call.getOperands()))
    for (auto [dim, other] : llvm::enumerate(callee.getArgAttrOfType<ArrayAttr>(i, kDims)))
      if (other == name)
        return tensor::DimOp::create(builder, call.getLoc(), operand, dim);
  return {};
}

static Value allocateResult(OpBuilder &builder, func::CallOp call, func::FuncOp callee, unsigned number) {
  MemRefType type = bufferType(callee.getResultTypes()[number]);
  auto dims = callee.getResultAttrOfType<ArrayAttr>(number, kDims);
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(sizeNamed(builder, call, callee, dims[dim]));
  return memref::AllocOp::create(builder, call.getLoc(), type, sizes);
}

static void callOnBuffers(func::CallOp call, func::FuncOp callee) {
  OpBuilder builder(call);
  Location loc = call.getLoc();
  SmallVector<Value> buffers;
  for (Value operand : call.getOperands())
    buffers.push_back(bufferization::ToBufferOp::create(builder, loc, bufferType(operand.getType()), operand,
                                                        /*read_only=*/true));
  for (unsigned i = 0; i < call.getNumResults(); ++i)
    buffers.push_back(allocateResult(builder, call, callee, i));
  func::CallOp::create(builder, loc, callee.getNameAttr(), TypeRange(), buffers);
  for (auto [result, buffer] : llvm::zip(call.getResults(), ArrayRef(buffers).drop_front(call.getNumOperands())))
    result.replaceAllUsesWith(
        bufferization::ToTensorOp::create(builder, loc, result.getType(), buffer, /*restrict=*/true));
  call.erase();
}

static void takeBuffers(func::FuncOp func) {
  Builder builder(func.getContext());
  SmallVector<DictionaryAttr> attrs;
  func.getAllArgAttrs(attrs);
  SmallVector<Type> types =
      llvm::map_to_vector(func.getArgumentTypes(), [](Type type) -> Type { return bufferType(type); });
  for (auto [i, type] : llvm::enumerate(func.getResultTypes())) {
    NamedAttrList list(func.getResultAttrDict(i));
    list.set("mhc.result", builder.getUnitAttr());
    attrs.push_back(list.getDictionary(func.getContext()));
    types.push_back(bufferType(type));
  }
  func.removeResAttrsAttr();
  func.setType(builder.getFunctionType(types, {}));
  func.setAllArgAttrs(attrs);
}

void mhc::callOnBuffers(ModuleOp module) {
  module.walk([](func::CallOp call) {
    if (func::FuncOp callee = outsideCallee(call); callee && isOnTensors(callee))
      ::callOnBuffers(call, callee);
  });
  for (func::FuncOp func : outsideFunctions(module))
    if (isOnTensors(func))
      takeBuffers(func);
}
