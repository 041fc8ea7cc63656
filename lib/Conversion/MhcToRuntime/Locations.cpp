//===- Locations.cpp - Source locations for the runtime ------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryLowering.h"
#include "mhc/IR/SizeCheck.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mhc;

static constexpr StringLiteral kSetLocation = "mhcrt_set_location";

std::string mhc::describe(Location loc) {
  SmallVector<FileLineColLoc> places;
  loc->walk([&](Location part) {
    auto place = dyn_cast<FileLineColLoc>(part);
    if (place && (places.empty() || place.getFilename() == places.front().getFilename()))
      places.push_back(place);
    return WalkResult::advance();
  });
  if (places.empty())
    return "";
  auto [first, last] = std::minmax_element(
      places.begin(), places.end(), [](FileLineColLoc a, FileLineColLoc b) { return a.getLine() < b.getLine(); });
  std::string file = llvm::sys::path::filename(first->getFilename()).str() + ":" + std::to_string(first->getLine());
  if (first->getLine() == last->getLine())
    return file + ":" + std::to_string(places.front().getColumn());
  return file + "-" + std::to_string(last->getLine());
}

/// A constant string; equal ones are one global, which has the text in its name.
static LLVM::GlobalOp stringOf(OpBuilder &builder, StringRef text, SymbolTable &symbols) {
  std::string name = ("mhc_line_" + text).str();
  if (auto known = symbols.lookup<LLVM::GlobalOp>(name))
    return known;
  std::string bytes = text.str() + '\0';
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
  OpBuilder detached(builder.getContext());
  auto global = LLVM::GlobalOp::create(detached, builder.getUnknownLoc(), type, /*isConstant=*/true,
                                       LLVM::Linkage::Private, name, builder.getStringAttr(bytes));
  symbols.insert(global);
  return global;
}

bool mhc::isCheck(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  return isa<cf::AssertOp>(op) || (call && call.getCallee() == kCheckSize);
}

std::string mhc::describeCheck(Operation *check) {
  auto assertion = dyn_cast<cf::AssertOp>(check);
  return (assertion ? assertion.getMsg() : check->getAttrOfType<StringAttr>(kCheckedSize).getValue()).str();
}

void mhc::checkInRuntime(OpBuilder &builder, Operation *check, Value context, SymbolTable &symbols) {
  Location loc = check->getLoc();
  auto assertion = dyn_cast<cf::AssertOp>(check);
  Type number = assertion ? builder.getI32Type() : builder.getI64Type();
  SmallVector<Value> arguments = {context};
  for (Value value : check->getOperands()) // a condition or sizes
    arguments.push_back(assertion ? arith::ExtUIOp::create(builder, loc, number, value).getResult()
                                  : arith::IndexCastOp::create(builder, loc, number, value).getResult());
  for (const std::string &string : {describeCheck(check), describe(loc)})
    arguments.push_back(LLVM::AddressOfOp::create(builder, loc, stringOf(builder, string, symbols)));
  StringRef name = assertion ? "mhcrt_check_assertion" : "mhcrt_check_size";
  auto callee = symbols.lookup<func::FuncOp>(name);
  if (!callee) {
    auto type = builder.getFunctionType(ValueRange(arguments).getTypes(), {});
    callee = func::FuncOp::create(builder.getUnknownLoc(), name, type);
    callee.setPrivate();
    symbols.insert(callee);
  }
  func::CallOp::create(builder, loc, callee, arguments);
}

void mhc::setRuntimeLocation(OpBuilder &builder, Location loc, Value context, SymbolTable &symbols) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto callee = symbols.lookup<func::FuncOp>(kSetLocation);
  if (!callee) {
    callee =
        func::FuncOp::create(builder.getUnknownLoc(), kSetLocation, builder.getFunctionType({pointer, pointer}, {}));
    callee.setPrivate();
    symbols.insert(callee);
  }
  Value text = LLVM::AddressOfOp::create(builder, loc, stringOf(builder, describe(loc), symbols));
  func::CallOp::create(builder, loc, callee, ValueRange{context, text});
}
