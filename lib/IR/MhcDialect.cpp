//===- MhcDialect.cpp - Registration of the dialect ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/MhcDialect.h"
#include "mhc/IR/DialectVersion.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mhc;

#include "mhc/IR/MhcDialect.cpp.inc"
#include "mhc/IR/MhcEnums.cpp.inc"
#include "mhc/IR/MhcInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "mhc/IR/MhcAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "mhc/IR/MhcOps.cpp.inc"

namespace {
/// Every op is pure, so a call may be replaced by its body anywhere.
struct MhcInliner : mlir::DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(mlir::Operation *, mlir::Region *, bool, mlir::IRMapping &) const override { return true; }
};
} // namespace

mlir::Operation *MhcDialect::materializeConstant(mlir::OpBuilder &builder, mlir::Attribute value, mlir::Type type,
                                                 mlir::Location loc) {
  return mlir::arith::ConstantOp::materialize(builder, value, type, loc);
}

void MhcDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "mhc/IR/MhcAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "mhc/IR/MhcOps.cpp.inc"
      >();
  addInterfaces<MhcInliner, MhcBytecode>();
}
