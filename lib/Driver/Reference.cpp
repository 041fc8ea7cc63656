//===- Reference.cpp - The same in float64 ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Driver/Run.h"
#include "mhc/Reference/Evaluator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mhc;

static reference::HostTensor widen(const mhcrt::HostTensor &tensor) {
  std::vector<double> elements(tensor.elements());
  for (int64_t i = 0; i < tensor.elements(); ++i)
    elements[i] = mhcrt::element(tensor.get(), i);
  std::vector<int64_t> dims = tensor.dims();
  return reference::HostTensor(reference::Shape(dims.begin(), dims.end()), std::move(elements));
}

static llvm::Expected<mhcrt::HostTensor> store(const reference::HostTensor &value) {
  mhcrt::HostTensor tensor;
  std::string error;
  if (!tensor.allocate(MHCRT_F64, std::vector<int64_t>(value.shape().begin(), value.shape().end()), error))
    return llvm::createStringError(error);
  std::copy(value.data(), value.data() + value.size(), static_cast<double *>(tensor.data()));
  return tensor;
}

llvm::Expected<Tensors> mhc::evaluate(Compiler &compiler, mlir::ModuleOp module, llvm::StringRef entry,
                                      const Tensors &arguments) {
  Compiler::Module copy(module.clone());
  if (llvm::Error error = compiler.runPasses(*copy, [](mlir::PassManager &pm) {
        buildPipeline(pm, {}, Phase::input);
        pm.addNestedPass<mlir::func::FuncOp>(createDecomposePass());
      }))
    return error;
  auto func = copy->lookupSymbol<mlir::func::FuncOp>(entry);
  if (!func)
    return llvm::createStringError("no entry '" + entry.str() + "'");
  std::vector<reference::HostTensor> wide;
  for (const mhcrt::HostTensor &argument : arguments)
    wide.push_back(widen(argument));
  auto values = reference::evaluate(func, wide);
  if (!values)
    return values.takeError();
  Tensors results;
  for (const reference::HostTensor &value : *values) {
    auto tensor = store(value);
    if (!tensor)
      return tensor.takeError();
    results.push_back(std::move(*tensor));
  }
  return results;
}

llvm::Expected<Tensors> mhc::evaluateText(llvm::StringRef text, llvm::StringRef entry, const Tensors &arguments) {
  Compiler compiler;
  auto module = compiler.parseText(text);
  if (!module)
    return module.takeError();
  return evaluate(compiler, **module, entry, arguments);
}
