//===- Pre.h - Types and checks that pre and post_pre share --- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_IR_OPS_PRE_H
#define MHC_LIB_IR_OPS_PRE_H

#include "Sinkhorn.h"

namespace mhc {

/// The type of an operand or result that may be absent.
inline mlir::Type typeOf(mlir::Value value) { return value ? value.getType() : mlir::Type(); }

/// C1 of ops with a residual map of n streams.
template <typename Op>
llvm::LogicalResult verifyResidualMap(Op op, int64_t n) {
  if (op.getResMap() != ResMap::sinkhorn && op.getSolver() == Solver::newton)
    return op.emitOpError() << "has solver 'newton' with res_map '" << stringifyResMap(op.getResMap())
                            << "'; needed res_map 'sinkhorn'";
  if (op.getResMap() == ResMap::permutation)
    return verifyPermutationStreams(op, n);
  if (op.getResMap() == ResMap::identity)
    return mlir::success();
  return verifySinkhornAttrs(op, op.getInit(), op.getOrder(), op.getDenom(), op.getIters(), op.getSkFormat(),
                             op.getSolver());
}

/// C3 of forward ops that mix streams by weights of others.
template <typename Op>
llvm::LogicalResult verifyGivenWeights(Op op) {
  if (op.getHIn() && !op.getU())
    return op.emitOpError() << "has 'h_in' but no 'u'";
  if (op.getHIn() && op.getFoldPre())
    return op.emitOpError() << "has 'h_in' and 'fold_pre'; needed u mixed by h_pre";
  return mlir::success();
}

/// C3 of gradients.
template <typename Op>
llvm::LogicalResult verifyWeightGradient(Op op) {
  if (op.getDNormWeight() && !op.getNormWeight())
    return op.emitOpError() << "has 'd_norm_weight' but no 'norm_weight'";
  return mlir::success();
}

/// The first half of C4 of gradients: the operands of the post whose gradient is folded in go together.
template <typename Op>
llvm::LogicalResult verifyFoldedPair(Op op, mlir::Value dOut, mlir::Value hRes, llvm::StringRef hResName) {
  if (!dOut != !hRes)
    return op.emitOpError() << "has '" << (dOut ? "d_out" : hResName) << "' but no '" << (dOut ? hResName : "d_out")
                            << "'";
  return mlir::success();
}

} // namespace mhc

#endif // MHC_LIB_IR_OPS_PRE_H
