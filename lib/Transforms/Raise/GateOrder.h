//===- GateOrder.h - Which of two gates is the second -----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_LIB_TRANSFORMS_RAISE_GATEORDER_H
#define MHC_LIB_TRANSFORMS_RAISE_GATEORDER_H

#include "mhc/Algebra/Reading.h"

namespace mhc {

/// Whether `gate` is h_post where `other` is h_pre. Gates with weights of their own have no order but that of the
/// function: what is done with them tells it. Only the first is lifted by an epsilon, and only the second is scaled, or
/// multiplies what the sublayer made of the first.
bool isSecondGate(algebra::Reading &reading, SigmoidOp gate, SigmoidOp other);

/// Whether a gate that has no other beside it is h_pre: it is lifted by an epsilon, or multiplies the streams.
bool isFirstGate(algebra::Reading &reading, SigmoidOp gate, const algebra::Node *streams);

/// Multiplies a gate once with the power of two that stands apart in each product with it, so that it is the gate's
/// own: exact, and what reads the gate without it divides by it again. Returns whether there was one.
bool shareFactors(mlir::func::FuncOp func, algebra::Reading &reading);

/// The values of one gate or two, of which one may be null, that mhc.gates replaces: their sigmoids or, where a number
/// added to the first or multiplied with the second is all that reads them, those results, however that is written.
/// Sets the numbers.
llvm::SmallVector<mlir::Value> gateRoots(algebra::Reading &reading, llvm::ArrayRef<SigmoidOp> gates, double &preEps,
                                         double &postMult);

/// Computes parts of a sigmoid by themselves where those are gates, and nothing else reads it. Returns whether what was
/// read has changed.
bool cutGates(mlir::func::FuncOp func, algebra::Reading &reading);

/// Makes a tensor of the rows of each group that lie apart in a weight, such as those at every fifth place, so that the
/// weight is found. Whether there were any.
bool cutWeights(mlir::func::FuncOp func, algebra::Reading &reading);

/// Marks weights that the program computes, and by which the argument of a sigmoid or of a residual map is a group of
/// rows, as tensors of their own. Whether there were any.
bool markComputedWeights(mlir::func::FuncOp func, algebra::Reading &reading);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_GATEORDER_H
