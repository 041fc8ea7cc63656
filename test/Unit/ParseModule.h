//===- ParseModule.h - IR for unit tests ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TEST_UNIT_PARSEMODULE_H
#define MHC_TEST_UNIT_PARSEMODULE_H

#include "mhc/IR/MhcDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

namespace mhc::test {

/// A module from text and the context it lives in. Values are found by the name of the op attribute `tag`.
class Module {
public:
  explicit Module(llvm::StringRef text) {
    context.loadDialect<mhc::MhcDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                        mlir::func::FuncDialect, mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                        mlir::scf::SCFDialect, mlir::tensor::TensorDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  /// Null when the text does not parse.
  mlir::func::FuncOp func(llvm::StringRef name = "f") {
    return module ? module->lookupSymbol<mlir::func::FuncOp>(name) : mlir::func::FuncOp();
  }

  /// First result of the op with the attribute `tag = "<tag>"`.
  mlir::Value value(llvm::StringRef tag) {
    mlir::Value found;
    module->walk([&](mlir::Operation *op) {
      if (auto attr = op->getAttrOfType<mlir::StringAttr>("tag"); attr && attr.getValue() == tag)
        found = op->getResult(0);
    });
    return found;
  }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace mhc::test

#endif // MHC_TEST_UNIT_PARSEMODULE_H
