//===- StreamMix.h - Products with the residual matrix ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_IR_OPS_STREAMMIX_H
#define MHC_LIB_IR_OPS_STREAMMIX_H

#include "mhc/IR/LeafBuilder.h"

namespace mhc {

/// sum_i A[o,i] * streams[i], or with `back` its gradient sum_o A[o,i] * streams[o], where A is `hRes` for oi and its
/// transpose for io (math.md 3.7). All in f32.
inline mlir::Value mixStreams(LeafBuilder &leaf, mlir::Value hRes, mlir::Value streams, Layout layout, Orient orient,
                              bool back = false) {
  bool transposed = (orient == Orient::io) != back;
  return layout == Layout::nC ? leaf.batchMatmul(hRes, streams, /*transposeLhs=*/transposed)
                              : leaf.batchMatmul(streams, hRes, /*transposeLhs=*/false, /*transposeRhs=*/!transposed);
}

} // namespace mhc

#endif // MHC_LIB_IR_OPS_STREAMMIX_H
