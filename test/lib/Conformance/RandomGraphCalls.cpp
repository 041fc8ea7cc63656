//===- RandomGraphCalls.cpp - Functions that random graphs call -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RandomGraphBuilder.h"
#include "mhc/IR/Gradients.h"

#include "mlir/IR/SymbolTable.h"

namespace mhc::conformance {

using namespace mlir;

static func::FuncOp insertPrivate(ModuleOp module, const Twine &name, FunctionType type) {
  auto func = func::FuncOp::create(UnknownLoc::get(module.getContext()), name.str(), type);
  func.setPrivate();
  SymbolTable(module).insert(func); // may change the name
  return func;
}

/// One result of a call, on values of the types that the function wants. Sometimes the function is called twice.
Value RandomGraphBuilder::callOf(func::FuncOp func, ValueRange arguments) {
  auto call = func::CallOp::create(builder, loc(), func, arguments);
  Value result = call.getResult(random.between(0, call.getNumResults() - 1));
  if (result.getType() != arguments.front().getType() || random.flip())
    return result;
  SmallVector<Value> again(arguments);
  again.front() = bounded(result);
  return func::CallOp::create(builder, loc(), func, again).getResult(0);
}

/// A function of random ops, which may call others. With `no_inline` the call is still there when it is differentiated.
Value RandomGraphBuilder::call() {
  SmallVector<Value> arguments;
  for (int64_t count = random.between(1, 3); count > 0; --count)
    arguments.push_back(any());
  TypeRange types = ValueRange(arguments).getTypes();
  func::FuncOp func = insertPrivate(module(), "part", builder.getFunctionType(types, {}));
  if (random.flip())
    func.setNoInline(true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(func.addEntryBlock());
    RandomGraphBuilder ops(builder, random, func.getArguments(), externals);
    ops.add(random.between(1, 4));
    SmallVector<Value> results = ops.pickResults();
    func::ReturnOp::create(builder, loc(), results);
    func.setType(builder.getFunctionType(types, ValueRange(results).getTypes()));
  }
  return callOf(func, arguments);
}

using Body = SmallVector<Value>(OpBuilder &, ValueRange arguments);

/// Puts the function with this body into `externals`.
static void define(func::FuncOp declared, ModuleOp externals, Body body) {
  auto func = declared.clone();
  externals.push_back(func);
  OpBuilder builder(func.getContext());
  builder.setInsertionPointToStart(func.addEntryBlock());
  func::ReturnOp::create(builder, func.getLoc(), body(builder, func.getArguments()));
}

/// (x, z, k) -> (tanh(x) z, x - z)
static SmallVector<Value> externalBody(OpBuilder &builder, ValueRange in) {
  LeafBuilder leaf(builder, builder.getUnknownLoc());
  Value t = math::TanhOp::create(builder, builder.getUnknownLoc(), in[0]);
  return {leaf.mul(t, in[1]), leaf.sub(in[0], in[1])};
}

/// (x, z, k, d_0, d_1) -> (d_x, d_z)
static SmallVector<Value> externalGradient(OpBuilder &builder, ValueRange in) {
  LeafBuilder leaf(builder, builder.getUnknownLoc());
  Value t = math::TanhOp::create(builder, builder.getUnknownLoc(), in[0]);
  Value slope = leaf.sub(leaf.splat(1, t), leaf.mul(t, t));
  return {leaf.add(leaf.mul(leaf.mul(in[3], in[1]), slope), in[4]), leaf.sub(leaf.mul(in[3], t), in[4])};
}

/// A function without a body, whose derivative has a name and no body either.
Value RandomGraphBuilder::externalCall() {
  Value x = any(), z = like(x);
  Type type = x.getType();
  auto numbers = RankedTensorType::get({2}, builder.getI32Type());
  func::FuncOp func = insertPrivate(module(), "external", builder.getFunctionType({type, type, numbers}, {type, type}));
  func::FuncOp backward = insertPrivate(module(), func.getName() + "_bwd",
                                        builder.getFunctionType({type, type, numbers, type, type}, {type, type}));
  func->setAttr(kVjp, FlatSymbolRefAttr::get(backward));
  define(func, externals, externalBody);
  define(backward, externals, externalGradient);
  Value k = arith::ConstantOp::create(builder, loc(), DenseElementsAttr::get(numbers, int32_t(1)));
  return callOf(func, {x, z, k});
}

} // namespace mhc::conformance
