//===- SumSplitter.h - One op with long sums ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_BUFFERIZE_SUMSPLITTER_H
#define MHC_LIB_TRANSFORMS_BUFFERIZE_SUMSPLITTER_H

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"

namespace mhc {

/// Terms that are added in f32.
inline constexpr int64_t kSumBlock = 256;

/// One op with sums, and those that take its place.
class SumSplitter {
public:
  /// One of a sum's loops, the iterations of which are taken in blocks. The sum's loops inside of it belong to a block
  /// as a whole, and those outside become parallel.
  struct Cut {
    unsigned loop;
    int64_t block;
  };

  /// Whether the sizes are known when the entry begins.
  SumSplitter(mlir::linalg::GenericOp op, bool knowsSizes, bool onGpu);

  /// Nothing where the sums do not come in blocks.
  std::optional<Cut> findCut();
  void split(Cut cut);
  /// Adds all of a sum in f64. False where no result is a sum.
  bool widen();
  /// Takes sums of what the op stores from there: returns ops that have nothing but those, where that goes.
  llvm::SmallVector<mlir::linalg::GenericOp> separate();

private:
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::ValueRange inputs,
                                                                 mlir::ValueRange accumulators)>;

  bool isSum(unsigned result);
  bool canCut(unsigned loop);
  std::optional<unsigned> termsOf(unsigned sum);
  llvm::SmallVector<mlir::Value> storeAlone();
  void findSizes();

  mlir::AffineMap mapOf(unsigned result) { return op.getMatchingIndexingMap(op.getDpsInitOperand(result)); }
  unsigned loopOf(mlir::AffineExpr expr) { return mlir::cast<mlir::AffineDimExpr>(expr).getPosition(); }
  /// Whether a sum of one block is apart from those of the loop's other iterations.
  bool isKept(unsigned loop, Cut cut) { return mlir::linalg::isParallelIterator(kinds[loop]) || loop <= cut.loop; }
  mlir::Value fill(mlir::Type type, llvm::ArrayRef<mlir::OpFoldResult> shape);
  llvm::SmallVector<mlir::OpFoldResult> shapeOf(unsigned result);
  mlir::Value wideStart(unsigned result) { return fill(builder.getF64Type(), shapeOf(result)); }
  llvm::SmallVector<mlir::Value> build(llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<mlir::Value> inits,
                                       llvm::ArrayRef<mlir::AffineMap> maps,
                                       llvm::ArrayRef<mlir::utils::IteratorType> kinds, Body body);
  llvm::SmallVector<mlir::Value> cloneBody(mlir::OpBuilder &body, mlir::ValueRange inputs,
                                           mlir::ValueRange accumulators,
                                           llvm::function_ref<mlir::Value(unsigned loop)> loopIndex = nullptr);
  llvm::SmallVector<mlir::Value> sumBlocks(Cut cut, mlir::OpFoldResult blocks);
  llvm::SmallVector<mlir::Value> sumRest(Cut cut, mlir::OpFoldResult first);
  llvm::SmallVector<mlir::Value> addBlocks(Cut cut, mlir::OpFoldResult count, llvm::ArrayRef<mlir::Value> blocks);
  llvm::SmallVector<mlir::Value> addAlong(unsigned loop, llvm::SmallVector<unsigned> &left, Cut cut,
                                          mlir::OpFoldResult count, llvm::ArrayRef<mlir::Value> terms);
  llvm::SmallVector<mlir::Value> addAll(llvm::ArrayRef<unsigned> left, llvm::ArrayRef<mlir::Value> terms);
  mlir::Value narrow(unsigned result, mlir::Value sum, mlir::Value rest = mlir::Value());

  mlir::Value index(mlir::OpBuilder &at, mlir::OpFoldResult size) {
    return mlir::getValueOrCreateConstantIndexOp(at, loc, size);
  }
  template <typename Op>
  mlir::OpFoldResult compute(mlir::OpFoldResult a, mlir::OpFoldResult b) {
    return mlir::getAsOpFoldResult(builder.createOrFold<Op>(loc, index(builder, a), index(builder, b)));
  }

  mlir::linalg::GenericOp op;
  bool knowsSizes, onGpu;
  mlir::OpBuilder builder;
  mlir::Location loc;
  llvm::SmallVector<mlir::utils::IteratorType> kinds;
  llvm::SmallVector<int64_t> lengths;
  llvm::SmallVector<mlir::OpFoldResult> sizes; ///< of the loops
  llvm::SmallVector<unsigned> sums, stores;    ///< results: those that are sums, and others
};

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_BUFFERIZE_SUMSPLITTER_H
