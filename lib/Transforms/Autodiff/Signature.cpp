//===- Signature.cpp - Arguments and results of a function that grows ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Signature.h"

using namespace mlir;
using namespace mhc;

Signature::Signature(func::FuncOp func) : func(func) {
  func.getAllArgAttrs(arguments);
  func.getAllResultAttrs(results);
}

BlockArgument Signature::addArgument(Type type, DictionaryAttr attrs, Location loc) {
  arguments.push_back(attrs);
  return func.getBody().front().addArgument(type, loc);
}

void Signature::addResult(Value value, DictionaryAttr attrs) {
  results.push_back(attrs);
  terminator()->insertOperands(terminator()->getNumOperands(), value);
}

void Signature::finish() {
  func.setFunctionType(
      FunctionType::get(func.getContext(), func.getBody().front().getArgumentTypes(), terminator()->getOperandTypes()));
  func.setAllArgAttrs(arguments);
  func.setAllResultAttrs(results);
}
