//===- TurnLayout.h - Ops with their streams in the other order ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TRANSFORMS_TURNLAYOUT_H
#define MHC_TRANSFORMS_TURNLAYOUT_H

#include "mhc/IR/MhcOps.h"
#include "llvm/ADT/DenseMap.h"
#include <array>

namespace mhc {

/// Whether an op says the order of its streams.
bool hasLayout(mlir::Operation *op);
Layout layoutOf(mlir::Operation *op);
Layout other(Layout layout);

/// Whether an op draws numbers, which it does by their places in memory.
bool hasDropout(KernelOpInterface op);

/// The dimension of a tensor in which a token's streams are one vector; none where it has none.
std::optional<int64_t> vectorDim(KernelOpInterface op, unsigned tensor);

/// Gives ops the other layout: changes the types of the streams that they make, and the order of the weights that
/// multiply a flattened token. The streams that they read are left to the caller.
class TurnLayout {
public:
  /// `sizes` are those of a token's streams now.
  TurnLayout(Layout from, llvm::ArrayRef<int64_t> sizes)
      : to(other(from)), before{sizes[0], sizes[1]}, after{sizes[1], sizes[0]} {}

  void turn(KernelOpInterface op);

private:
  /// A weight in the other order, made once behind itself.
  mlir::Value reordered(mlir::Value weight, int64_t dim, llvm::ArrayRef<int64_t> sizes);
  void turnWeight(mlir::Operation *op, mlir::Value weight, int64_t dim);

  Layout to;
  std::array<int64_t, 2> before, after; ///< the sizes that one vector of streams joins
  llvm::DenseMap<mlir::Value, mlir::Value> turnedWeights;
};

} // namespace mhc

#endif // MHC_TRANSFORMS_TURNLAYOUT_H
