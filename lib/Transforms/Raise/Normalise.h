//===- Normalise.h - One word for what has many ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_RAISE_NORMALISE_H
#define MHC_LIB_TRANSFORMS_RAISE_NORMALISE_H

#include "Raise.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mhc {

/// The sizes of a function, analysed when one is asked for.
class LazyDims {
public:
  explicit LazyDims(mlir::func::FuncOp func) : func(func) {}
  DimAnalysis &get() { return dims ? *dims : dims.emplace(func); }
  void forget(mlir::Operation *op) {
    if (dims)
      dims->forget(op);
  }

private:
  mlir::func::FuncOp func;
  std::optional<DimAnalysis> dims;
};

/// x + 0, x * 1 -> x; a + -b -> a - b; x^2, x^0.5 -> products and roots
void addArithmeticPatterns(mlir::RewritePatternSet &patterns);
/// Arithmetic in front of views
void addViewPatterns(mlir::RewritePatternSet &patterns);
/// Transposes in front of what repeats, products with tokens in front
void addTransposePatterns(mlir::RewritePatternSet &patterns);
/// Parts of one value, joined -> the value
void addPartPatterns(mlir::RewritePatternSet &patterns, LazyDims &dims);
/// The same function of all parts of a value -> parts of the function of the value
void addPartialComputationPatterns(mlir::RewritePatternSet &patterns, LazyDims &dims);
/// Slices of what is joined and sums over it -> those of the parts: afterwards, as they may be parts of one value
void addSlicePatterns(mlir::RewritePatternSet &patterns, LazyDims &dims);

/// Limit of a computation that a pattern looks through, as others will again: longer ones it does not.
inline constexpr int kMostSteps = 32;

bool isNumber(mlir::Value value, double number);
/// The other operand of an op that has this number as one operand.
mlir::Value besides(mlir::Operation *op, double number);
/// The value whose negative this is, in the one word that the normal form has for it.
mlir::Value negated(mlir::Value value);

/// The elements for one choice of all unknown sizes.
int64_t knownSize(mlir::RankedTensorType type);
/// Whether the op computes each element of a float tensor from the same elements of its operands.
bool isElementwise(mlir::Operation *op);
/// Whether each dimension of what is repeated has the size that it has there.
bool repeatsWholeDims(BroadcastOp op);
/// Whether a value is repeated, or the cast or the square of such a value: those are computed behind what repeats.
bool isRepeated(mlir::Value value);
/// The transpose of such a value, or of what is computed of such values: they are transposed.
mlir::Value transposeRepeated(mlir::OpBuilder &builder, mlir::Value value, llvm::ArrayRef<int64_t> perm);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_NORMALISE_H
