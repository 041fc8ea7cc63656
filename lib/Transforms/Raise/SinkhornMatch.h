//===- SinkhornMatch.h - Sinkhorn iterations of any spelling ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_LIB_TRANSFORMS_RAISE_SINKHORNMATCH_H
#define MHC_LIB_TRANSFORMS_RAISE_SINKHORNMATCH_H

#include "mhc/Algebra/Reading.h"
#include "mhc/IR/MhcOps.h"
#include "mhc/Transforms/Sites.h"

namespace mhc {

/// The dimensions of the rows and columns of a stack of n x n matrices.
using MatrixAxes = std::pair<int64_t, int64_t>;

/// A value that is the Sinkhorn iteration of `logits`, an expression of the value's own indices.
struct SinkhornSite {
  algebra::Expr logits;
  Init init;
  Order order;
  Denom denom;
  double eps;
  int64_t iters;
  std::optional<Format> format; ///< of an iteration that rounds each op's result
  bool isTransposed = false;    ///< of the transposes of all matrices
  bool isShiftRounded = false;  ///< what the program subtracts of the logits, and the op does not round
  std::optional<int64_t> last;  ///< the dimension that is summed behind the last turn, by half a turn more
  llvm::SmallVector<int64_t, 2> softmaxOver = {}; ///< dimensions of a softmax that is the matrix before the first turn
  bool isOfMatrix = false;                        ///< which is no function of logits that the op has: their exponential
  double factor = 1;    ///< of the result: what a narrow type leaves of n times marginals of 1 / n
  MatrixAxes axes = {}; ///< of the value
};

/// A site, or the first need of one that a value does not meet which normalises rows and columns: also of a site that
/// is a part of it only. Neither for others.
struct SinkhornMatch {
  std::optional<SinkhornSite> site;
  std::optional<Miss> miss;
};

/// The iteration of the other orientation that is the same; the site itself where there is none.
SinkhornSite transposed(SinkhornSite site);
/// All pairs of dimensions that may be those of a stack's matrices: neighbours of one size, but for dimensions of one
/// element. The last two come first, then the first two, before tokens, then those between tokens.
llvm::SmallVector<MatrixAxes, 2> allMatrixAxes(mlir::Value value);
/// Whether the last two dimensions of a value may be matrices, or the first two.
bool isMatrixStack(mlir::Value value);
/// Reads a value as a Sinkhorn iteration of the matrices of any two of its dimensions. A reading that ignores roundings
/// finds iterations by logarithms in a narrow type and, where the program rounds nothing but the `vectors` that scale
/// the matrix, those; of others it tells what a value misses that is one but for its roundings.
SinkhornMatch matchSinkhorn(algebra::Reading &reading, mlir::Value value, bool vectors = false);
/// Whether a value is exp(z) times two vectors in a reading that sees roundings: with more steps than two, no matrix is
/// rounded between them.
bool isScaledByVectors(algebra::Reading &exact, mlir::Value value);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_SINKHORNMATCH_H
