//===- Editor.h - Changes one place of a program --------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds places by what the types of mHC say: a matrix is [M, n, n], a gate [M, n], a row statistic [M] or [M, 1],
// streams [M, n, C], [M, C, n] or [M, n*C]. Every place that fits is as likely as any other.
//
//===----------------------------------------------------------------------===//
#ifndef MHC_LIB_CONFORMANCE_EDITOR_H
#define MHC_LIB_CONFORMANCE_EDITOR_H

#include "Conformance/Random.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mhc::conformance {

class Editor {
public:
  using Value = mlir::Value;
  using Operation = mlir::Operation;
  using Test = llvm::function_ref<bool(Value)>;
  using OpTest = llvm::function_ref<bool(Operation *)>;

  Editor(mlir::func::FuncOp func, int64_t streams, Random &random) : random(random), n(streams), func(func) {}

  /// A random op of a kind for which `test` holds, null when there is none.
  template <typename... Ops>
  Operation *pick(OpTest test = [](Operation *) { return true; }) {
    return pickOp([&](Operation *op) { return mlir::isa<Ops...>(op) && test(op); });
  }
  Operation *pickOp(OpTest test);
  std::vector<Operation *> all(OpTest test);

  /// Replaces the result of `op` wherever it is read by what `make` builds behind it. False without an op, and when
  /// `make` returns null or a value of another type.
  bool changeResult(Operation *op, llvm::function_ref<Value(LeafBuilder &leaf)> make);
  /// Replaces one use of a float tensor for which `test` holds.
  bool changeUse(Test test, llvm::function_ref<Value(LeafBuilder &leaf, Value value)> make);
  /// A value of the same type as `value`, for which `test` holds, that is known where `value` is.
  Value other(Value value, Test test = [](Value) { return true; });

  mlir::MLIRContext *context() { return func.getContext(); }

  bool isMatrix(Value value) const;
  bool isGate(Value value) const;
  bool isRow(Value value) const;
  bool isStreams(Value value) const;

  Random &random;
  const int64_t n;

private:
  template <typename T>
  T draw(llvm::ArrayRef<T> choices) {
    return choices.empty() ? T() : choices[random.between(0, static_cast<int64_t>(choices.size()) - 1)];
  }

  mlir::func::FuncOp func;
};

/// Number of the operand of a binary op that has one number everywhere; 2 for none.
unsigned numberAt(mlir::Operation *op);
double numberIn(mlir::Operation *op);
mlir::Value besideNumber(mlir::Operation *op);
/// Whether an op makes a tensor from tensors of many numbers.
bool isBetweenTensors(mlir::Operation *op);

} // namespace mhc::conformance

#endif // MHC_LIB_CONFORMANCE_EDITOR_H
