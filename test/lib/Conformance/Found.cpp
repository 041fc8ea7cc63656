//===- Found.cpp - The mHC ops of a module --------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Found.h"
#include "mhc/IR/MhcInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <set>

using namespace mlir;

namespace mhc::conformance {

/// Arguments have the names of tensors; a part of a tensor, "phi.0", has the name of the whole.
static std::string nameOf(BlockArgument argument) {
  auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!func)
    return "loop";
  auto name = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "mhc.name");
  return name ? name.getValue().split('.').first.str() : "?";
}

static void collectSources(Value value, std::set<std::string> &names, std::set<Operation *> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    names.insert(nameOf(cast<BlockArgument>(value)));
  } else if (isa<DecomposableOpInterface>(op)) {
    names.insert((op->getName().getStringRef() + "#" + Twine(cast<OpResult>(value).getResultNumber())).str());
  } else if (seen.insert(op).second) {
    for (Value operand : op->getOperands())
      if (isa<TensorType>(operand.getType()))
        collectSources(operand, names, seen);
  }
}

static std::string describe(Operation *op) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << op->getName() << " " << op->getAttrDictionary();
  for (Value operand : op->getOperands()) {
    std::set<std::string> names;
    std::set<Operation *> seen;
    collectSources(operand, names, seen);
    out << " " << operand.getType() << " of " << llvm::join(names, "+");
  }
  return text;
}

Found findOps(ModuleOp module) {
  Found found;
  module.walk([&](DecomposableOpInterface op) { found.push_back(describe(op)); });
  llvm::sort(found);
  return found;
}

std::string compare(const Found &expected, const Found &found) {
  Found missing, extra;
  std::set_difference(expected.begin(), expected.end(), found.begin(), found.end(), std::back_inserter(missing));
  std::set_difference(found.begin(), found.end(), expected.begin(), expected.end(), std::back_inserter(extra));
  std::string text;
  for (const std::string &line : missing)
    text += "  - " + line + "\n";
  for (const std::string &line : extra)
    text += "  + " + line + "\n";
  return text;
}

} // namespace mhc::conformance
