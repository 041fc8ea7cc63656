//===- AtenOps.cpp - The ATen ops that are read ----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtenCall.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::aten;

namespace {
struct Row {
  Values (*read)(AtenCall &call) = nullptr; ///< null where calls are left
  bool isView = false;
};
} // namespace

#include "mhc/Conversion/AtenOps.cpp.inc"

bool mhc::isAtenView(StringRef name) { return rowOf(name).isView; }

SmallVector<Value> mhc::aten::readCall(StringRef name, AtenCall &call) {
  const Row row = rowOf(name);
  // A literal that fits no type of leaf ops makes an integer tensor, which is left as it is.
  auto isLeft = [](Value result) { return !result.use_empty() && !isFloat(result.getType()); };
  if (!row.read || call.results().empty() || !isFloat(call.results()[0].getType()) ||
      llvm::any_of(call.results(), isLeft))
    return {};
  Values values = row.read(call);
  // A row that is wrong about a shape or a type has not read the call.
  auto isRead = [](auto pair) {
    auto [value, result] = pair;
    return value ? value.getType() == result.getType() : result.use_empty();
  };
  bool isWhole = values.size() == call.results().size() && llvm::all_of(llvm::zip(values, call.results()), isRead);
  return isWhole && values[0] ? values : Values();
}
