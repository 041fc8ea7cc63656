//===- Reducer.h - Make a module that shows a fault smaller ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's reducer drops whole functions, and ops within them only where a dialect has patterns for it, with which that
// of LLVM 22 crashes. Here an op is cut out by letting its users read one of its operands or a new argument.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_REDUCE_REDUCER_H
#define MHC_TOOLS_REDUCE_REDUCER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>

namespace mhc {

class Reducer {
public:
  /// `shows` tells whether a module still shows the fault.
  Reducer(mlir::OwningOpRef<mlir::ModuleOp> module, std::function<bool(mlir::ModuleOp)> shows)
      : module(std::move(module)), shows(std::move(shows)) {}

  /// A module that is valid, shows the fault, and does so with none of its parts left out.
  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  /// Keeps a copy changed by `edit` if that is valid and shows the fault.
  bool attempt(llvm::function_ref<void(mlir::ModuleOp)> edit);
  bool dropFunctions();
  bool cutOps();
  bool dropResults();
  bool dropArguments();

  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::function<bool(mlir::ModuleOp)> shows;
};

} // namespace mhc

#endif // MHC_TOOLS_REDUCE_REDUCER_H
