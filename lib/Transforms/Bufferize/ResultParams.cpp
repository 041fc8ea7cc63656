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

/// `buffer` with the shape of `alloc`, which has as many elements. One type of open sizes may stand for two shapes.
static Value reshape(OpBuilder &builder, Value buffer, memref::AllocOp alloc) {
  if (buffer.getType() == alloc.getType() && alloc.getType().hasStaticShape())
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
    Block &block = func.getBody().front();
    auto ret = cast<func::ReturnOp>(block.getTerminator());
    // Argument attributes are rebuilt as a whole with each change: set all of them at once.
    SmallVector<DictionaryAttr> attrs;
    func.getAllArgAttrs(attrs);
    llvm::DenseMap<Attribute, BlockArgument> byName;
    for (auto [argument, list] : llvm::zip_equal(block.getArguments(), attrs))
      if (list)
        byName[list.get("mhc.name")] = argument;
    for (auto [i, result] : llvm::enumerate(ret.getOperands())) {
      NamedAttrList list(func.getResultAttrDict(i));
      list.set("mhc.result", UnitAttr::get(&getContext()));
      attrs.push_back(list.getDictionary(&getContext()));
      BlockArgument parameter = block.addArgument(result.getType(), result.getLoc());
      if (!list.get(mhc::kInPlace))
        store(result, parameter, ret);
    }
    for (auto [i, result] : llvm::enumerate(ret.getOperands())) // last: other results may be copies of an argument
      if (func.getResultAttr(i, mhc::kInPlace))
        storeInPlace(result, byName.lookup(func.getResultAttr(i, "mhc.name")), ret);
    ret->setOperands({});
    func.setType(FunctionType::get(&getContext(), block.getArgumentTypes(), {}));
    func.setAllArgAttrs(attrs);
    func.removeResAttrsAttr();
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
    alloc.getResult().replaceAllUsesWith(result == alloc.getResult() ? parameter : reshape(builder, parameter, alloc));
    alloc.erase();
  }
};
} // namespace
