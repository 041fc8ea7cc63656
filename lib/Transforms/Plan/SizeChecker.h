//===- SizeChecker.h - Checks of sizes and places in front of ops --------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_LIB_TRANSFORMS_PLAN_SIZECHECKER_H
#define MHC_LIB_TRANSFORMS_PLAN_SIZECHECKER_H

#include "Sizes.h"
#include "mhc/IR/MhcOps.h"
#include "mhc/Transforms/OpsOutsideBodies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mhc {

/// Adds the checks that a function's buffers need.
class SizeChecker : mlir::OpBuilder::Listener {
public:
  SizeChecker(mlir::func::FuncOp func, bool onGpu)
      : func(func), sizes(func), onGpu(onGpu), builder(func.getContext(), this) {}

  void run() {
    for (mlir::Operation *op : opsOutsideBodies(func)) {
      builder.setInsertionPoint(op);
      loc = op->getLoc();
      check(op);
    }
    for (mlir::Operation *op : llvm::reverse(made)) // for what needed no check
      if (mlir::isOpTriviallyDead(op))
        op->erase();
  }

private:
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override { made.push_back(op); }

  void check(mlir::Operation *op) {
    llvm::TypeSwitch<mlir::Operation *>(op)
        .Case([&](mlir::linalg::LinalgOp loops) {
          checkLoops(loops);
          checkBody(loops);
        })
        .Case([&](mlir::memref::CopyOp copy) { checkCopy(copy); })
        .Case([&](mlir::memref::CastOp cast) { checkCast(cast); })
        .Case([&](mlir::memref::SubViewOp slice) { checkSlice(slice); })
        .Case([&](mlir::memref::ExpandShapeOp split) { checkSplit(split); })
        .Case([&](mlir::memref::LoadOp load) { checkElement(load.getMemRef(), load.getIndices()); })
        .Case([&](mlir::memref::StoreOp store) { checkElement(store.getMemRef(), store.getIndices()); })
        .Case([&](LaunchOp launch) { checkLaunch(launch); })
        .Case([&](mlir::func::CallOp call) { checkCall(call); })
        .Default([&](mlir::Operation *other) { guardDivision(other); });
  }

  void checkLoops(mlir::linalg::LinalgOp op);
  std::pair<mlir::OpFoldResult, mlir::OpFoldResult> rangeOf(mlir::AffineExpr expr,
                                                            llvm::ArrayRef<mlir::OpFoldResult> ends);
  void checkPlaces(mlir::linalg::LinalgOp op, mlir::OpOperand &operand, int64_t dim, mlir::AffineExpr expr,
                   llvm::ArrayRef<std::pair<mlir::Value, int64_t>> loops);
  void checkBody(mlir::linalg::LinalgOp op);
  void guardLoad(mlir::memref::LoadOp load, llvm::ArrayRef<int64_t> dims);
  bool isInside(mlir::linalg::LinalgOp op, mlir::Value index, mlir::Value buffer, int64_t dim);
  void checkIndex(mlir::linalg::LinalgOp op, mlir::Value index, mlir::Value buffer, int64_t dim);
  /// The assertion that an integer division has a result; null where it has one for all numbers.
  mlir::cf::AssertOp guardDivision(mlir::Operation *op);
  void checkAssertion(mlir::linalg::LinalgOp op, mlir::cf::AssertOp assertion);
  std::pair<mlir::Value, mlir::Value> boundsOf(mlir::linalg::LinalgOp op, mlir::Value number);
  mlir::Value lineAlong(mlir::linalg::LinalgOp op, unsigned loop);
  void checkSlice(mlir::memref::SubViewOp op);
  void checkSplit(mlir::memref::ExpandShapeOp op);
  void checkElement(mlir::Value buffer, mlir::ValueRange indices);
  void checkLaunch(LaunchOp op);
  void checkCall(mlir::func::CallOp op);
  void checkCopy(mlir::memref::CopyOp op);
  void checkCast(mlir::memref::CastOp op);

  /// Whether `high` is at least `low` for all sizes that the manifest allows.
  bool isAtMost(mlir::OpFoldResult low, mlir::OpFoldResult high);
  bool isAtLeastZero(const Polynomial &value);
  std::optional<std::pair<Polynomial, int64_t>> quotientOf(unsigned symbol);
  bool isEqual(mlir::Value a, int64_t i, mlir::Value b, int64_t j);
  void requireEqual(mlir::OpFoldResult a, mlir::OpFoldResult b, const llvm::Twine &what) { require(a, b, b, what); }
  void require(mlir::OpFoldResult value, mlir::OpFoldResult low, mlir::OpFoldResult high, const llvm::Twine &what);

  static mlir::MemRefType typeOf(mlir::Value buffer) { return llvm::cast<mlir::MemRefType>(buffer.getType()); }
  mlir::OpFoldResult number(int64_t value) { return builder.getIndexAttr(value); }
  mlir::Value index(mlir::OpFoldResult size) { return mlir::getValueOrCreateConstantIndexOp(builder, loc, size); }
  mlir::OpFoldResult sizeOf(mlir::Value buffer, int64_t dim) {
    return mlir::memref::getMixedSize(builder, loc, buffer, dim);
  }
  template <typename Op>
  mlir::OpFoldResult compute(mlir::OpFoldResult a, mlir::OpFoldResult b) {
    return builder.createOrFold<Op>(loc, index(a), index(b));
  }
  mlir::OpFoldResult less(mlir::OpFoldResult a, mlir::OpFoldResult b) { return compute<mlir::arith::SubIOp>(a, b); }
  mlir::OpFoldResult times(mlir::OpFoldResult a, mlir::OpFoldResult b) { return compute<mlir::arith::MulIOp>(a, b); }

  mlir::func::FuncOp func;
  SizeAnalysis sizes;
  bool onGpu;
  mlir::OpBuilder builder;
  mlir::Location loc = builder.getUnknownLoc();
  llvm::SmallVector<mlir::Operation *> made;
};

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_PLAN_SIZECHECKER_H
