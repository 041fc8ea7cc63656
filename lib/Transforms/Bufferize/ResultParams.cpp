//===- ResultParams.cpp - Results into the caller's buffers ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's buffer-results-to-out-params copies a result that is a reshape of what was allocated; this does not.
//
//===----------------------------------------------------------------------===//

#include "InPlace.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mhc {
#define GEN_PASS_DEF_RESULTPARAMSPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;

/// The allocation that `value` is all of, or null.
static memref::AllocOp allocationOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      return alloc;
    if (!isa<memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return {};
}

static OpFoldResult multiply(OpBuilder &builder, Location loc, OpFoldResult a, OpFoldResult b) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return builder.getIndexAttr(*x * *y);
  return arith::MulIOp::create(builder, loc, getValueOrCreateConstantIndexOp(builder, loc, a),
                               getValueOrCreateConstantIndexOp(builder, loc, b))
      .getResult();
}

/// `buffer` with the shape of `alloc`, which has as many elements.
static Value reshape(OpBuilder &builder, Value buffer, memref::AllocOp alloc) {
  if (buffer.getType() == alloc.getType())
    return buffer;
  Location loc = alloc.getLoc();
  SmallVector<OpFoldResult> sizes = alloc.getMixedSizes(), strides(sizes.size());
  OpFoldResult stride = builder.getIndexAttr(1);
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    if (i > 0)
      stride = multiply(builder, loc, stride, sizes[i]);
  }
  return memref::ReinterpretCastOp::create(builder, loc, alloc.getType(), buffer, builder.getIndexAttr(0), sizes,
                                           strides);
}

namespace {
struct ResultParams : mhc::impl::ResultParamsPassBase<ResultParams> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isDeclaration() || !func.isPublic())
      return;
    auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
    for (unsigned i = 0, e = ret.getNumOperands(); i < e; ++i) {
      Value result = ret.getOperand(i);
      SmallVector<NamedAttribute> attrs;
      if (DictionaryAttr given = func.getResultAttrDict(i))
        llvm::append_range(attrs, given);
      attrs.emplace_back(StringAttr::get(&getContext(), "mhc.result"), UnitAttr::get(&getContext()));
      unsigned number = func.getNumArguments();
      if (failed(func.insertArgument(number, result.getType(), DictionaryAttr::get(&getContext(), attrs),
                                     result.getLoc())))
        return signalPassFailure();
      if (!func.getResultAttr(i, mhc::kInPlace))
        store(result, func.getArgument(number), ret);
    }
    for (unsigned i = 0, e = ret.getNumOperands(); i < e; ++i) // last: other results may be copies of an argument
      if (func.getResultAttr(i, mhc::kInPlace))
        storeInPlace(ret.getOperand(i), tiedArgument(func, i), ret);
    ret->setOperands({});
    func.setType(FunctionType::get(&getContext(), func.getArgumentTypes(), {}));
    func.removeResAttrsAttr();
  }

  /// The argument of the result's name, which mhc-describe-entries has found.
  static BlockArgument tiedArgument(func::FuncOp func, unsigned result) {
    return *llvm::find_if(func.getArguments(), [&](BlockArgument argument) {
      return func.getArgAttr(argument.getArgNumber(), "mhc.name") == func.getResultAttr(result, "mhc.name");
    });
  }

  /// Copies what was not computed in the argument's memory. That is not used for another buffer: the argument may be
  /// read after that is written.
  static void storeInPlace(Value result, BlockArgument argument, func::ReturnOp ret) {
    OpBuilder builder(ret);
    if (result != argument)
      memref::CopyOp::create(builder, ret.getLoc(), result, argument);
  }

  /// Makes `parameter` hold `result` when the function returns.
  static void store(Value result, BlockArgument parameter, func::ReturnOp ret) {
    memref::AllocOp alloc = allocationOf(result);
    if (!alloc) {
      OpBuilder builder(ret);
      memref::CopyOp::create(builder, ret.getLoc(), result, parameter);
      return;
    }
    OpBuilder builder(alloc);
    alloc.getResult().replaceAllUsesWith(reshape(builder, parameter, alloc));
    alloc.erase();
  }
};
} // namespace
