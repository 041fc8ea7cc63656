//===- OutsideCalls.cpp - Calls of functions that the compiler does not see -*- C++ -*- ===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OutsideCalls.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/OutsideFunctions.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mhc;

/// The size of a result: that of an argument whose dimension has the same name.
static Value sizeNamed(OpBuilder &builder, func::CallOp call, func::FuncOp callee, Attribute name) {
  for (auto [i, operand] : llvm::enumerate(call.getOperands()))
    for (auto [dim, other] : llvm::enumerate(callee.getArgAttrOfType<ArrayAttr>(i, kDims)))
      if (other == name)
        return memref::DimOp::create(builder, call.getLoc(), operand, dim);
  return {};
}

static void passResults(func::CallOp call, func::FuncOp callee) {
  OpBuilder builder(call);
  SmallVector<Value> buffers(call.getOperands());
  for (auto [i, result] : llvm::enumerate(call.getResults())) {
    auto type = cast<MemRefType>(result.getType());
    auto dims = callee.getResultAttrOfType<ArrayAttr>(i, kDims);
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        sizes.push_back(sizeNamed(builder, call, callee, dims[dim]));
    buffers.push_back(memref::AllocOp::create(builder, call.getLoc(), type, sizes));
    result.replaceAllUsesWith(buffers.back());
  }
  func::CallOp::create(builder, call.getLoc(), callee.getNameAttr(), TypeRange(), buffers);
  call.erase();
}

static void passResults(func::FuncOp func) {
  Builder builder(func.getContext());
  SmallVector<DictionaryAttr> attrs;
  func.getAllArgAttrs(attrs);
  SmallVector<Type> types(func.getArgumentTypes());
  for (auto [i, type] : llvm::enumerate(func.getResultTypes())) {
    NamedAttrList list(func.getResultAttrDict(i));
    list.set("mhc.result", builder.getUnitAttr());
    attrs.push_back(list.getDictionary(func.getContext()));
    types.push_back(type);
  }
  func.removeResAttrsAttr();
  func.setType(builder.getFunctionType(types, {}));
  func.setAllArgAttrs(attrs);
}

void mhc::passResults(ModuleOp module) {
  module.walk([](func::CallOp call) {
    if (func::FuncOp callee = outsideCallee(call))
      ::passResults(call, callee);
  });
  for (func::FuncOp func : outsideFunctions(module))
    ::passResults(func);
}
