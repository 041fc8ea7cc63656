//===- Locations.cpp - What the runtime knows of the source ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryLowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mhc;

static constexpr StringLiteral kSetLocation = "mhcrt_set_location";

/// "layer.mlir:12:8". An op that was fused from others is at the first of them.
static std::string describe(Location loc) {
  std::string text;
  loc->walk([&](Location part) {
    auto place = dyn_cast<FileLineColLoc>(part);
    if (!place)
      return WalkResult::advance();
    text =
        (llvm::sys::path::filename(place.getFilename()) + ":" + Twine(place.getLine()) + ":" + Twine(place.getColumn()))
            .str();
    return WalkResult::interrupt();
  });
  return text;
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
