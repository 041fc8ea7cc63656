//===- RandomGraphBuilder.h - One random op after the other --- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_LIB_CONFORMANCE_RANDOMGRAPHBUILDER_H
#define MHC_LIB_CONFORMANCE_RANDOMGRAPHBUILDER_H

#include "Conformance/Random.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace mhc::conformance {

/// Adds random ops to a block. All tensors of the pool are f32; every dynamic size of one in the pool is the number of
/// tokens, so that tensors of one type have one shape.
class RandomGraphBuilder {
public:
  /// `externals` gets the bodies of functions that have none in the graph.
  RandomGraphBuilder(mlir::OpBuilder &builder, Random &random, mlir::ValueRange arguments, mlir::ModuleOp externals)
      : builder(builder), random(random), leaf(builder, builder.getUnknownLoc()), pool(arguments),
        externals(externals) {}

  /// Adds an op, and what it needs, to the pool. May add nothing, where what was drawn fits no value.
  void addOne();
  void add(int64_t count);
  /// Makes it an operand of what comes later. A tensor of 16-bit floats is widened; one of several times the tokens is
  /// left out, and so is what is no tensor of floats.
  void offer(mlir::Value value);
  /// The ops of the only function of a module, among random ops that read and sometimes replace its values; or the
  /// whole of it in a loop, in a branch or behind a call. Its results.
  llvm::SmallVector<mlir::Value> addChain(mlir::func::FuncOp chain, mlir::ValueRange arguments);
  llvm::SmallVector<mlir::Value> pickResults();

private:
  using Value = mlir::Value;
  using Make = Value (RandomGraphBuilder::*)();
  static llvm::ArrayRef<Make> makers();

  mlir::Location loc() { return builder.getUnknownLoc(); }
  static mlir::RankedTensorType typeOf(Value value) { return llvm::cast<mlir::RankedTensorType>(value.getType()); }
  Value any() { return pool[random.between(0, pool.size() - 1)]; }
  /// A value with the type of `value`; null where none exists.
  Value ofRank(int64_t low, int64_t high);
  Value like(Value value);
  /// A dimension of known size; none is -1.
  int64_t staticDim(Value value);
  /// Inside (-1, 1), or away from zero.
  Value bounded(Value value) { return mlir::math::TanhOp::create(builder, loc(), value); }
  Value positive(Value value);
  Value index(int64_t number) { return mlir::arith::ConstantIndexOp::create(builder, loc(), number); }
  Value element(Value tensor);
  /// Any function of one argument, or of two of one type.
  Value applyUnary(Value x);
  Value applyBinary(Value x, Value y);

  Value unary() { return applyUnary(any()); }
  Value binary();
  Value power();
  Value integerPower();
  Value choose();
  Value softmax();
  Value rmsNorm();
  Value reduce();
  Value broadcast();
  Value repeatUnit();
  Value transpose();
  Value matmul();
  Value batchMatmul();
  Value shift();
  Value slice();
  Value insert();
  Value reshape();
  Value concat();
  Value round();
  Value castShape();
  Value elements();
  Value splat();
  Value loop();
  Value branch();
  Value call();
  Value externalCall();
  Value callOf(mlir::func::FuncOp func, mlir::ValueRange arguments);

  /// A copy of the body of `chain`; `each` is shown every op, and may replace its results.
  using Visit = llvm::function_ref<void(mlir::Operation *, mlir::IRMapping &)>;
  llvm::SmallVector<Value> copyBody(mlir::func::FuncOp chain, mlir::ValueRange arguments, Visit each);
  void mingle(mlir::Operation *original, mlir::IRMapping &copies);
  llvm::SmallVector<Value> chainInLoop(mlir::func::FuncOp chain, mlir::ValueRange arguments);
  llvm::SmallVector<Value> chainInBranch(mlir::func::FuncOp chain, mlir::ValueRange arguments);
  llvm::SmallVector<Value> chainInFunction(mlir::func::FuncOp chain, mlir::ValueRange arguments);
  mlir::ModuleOp module() { return builder.getInsertionBlock()->getParentOp()->getParentOfType<mlir::ModuleOp>(); }

  mlir::OpBuilder &builder;
  Random &random;
  LeafBuilder leaf;
  llvm::SmallVector<mlir::Value> pool;
  mlir::ModuleOp externals;
};

} // namespace mhc::conformance

#endif // MHC_LIB_CONFORMANCE_RANDOMGRAPHBUILDER_H
