//===- RewriteRules.h - The rules behind the table of rewrites -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_LIB_CONFORMANCE_REWRITERULES_H
#define MHC_LIB_CONFORMANCE_REWRITERULES_H

#include "Conformance/Rewrites.h"

namespace mhc::conformance {

// Arithmetic: RewritesArithmetic.cpp
mlir::Value commute(Place &place);
mlir::Value reassociate(Place &place);
mlir::Value subtractByAdding(Place &place);
mlir::Value negateByArithmetic(Place &place);
mlir::Value divideByReciprocal(Place &place);
mlir::Value scaleByConstant(Place &place);
mlir::Value squareByPower(Place &place);
mlir::Value rootByPower(Place &place);
mlir::Value rsqrtByDivision(Place &place);
mlir::Value meanBySum(Place &place);
mlir::Value sigmoidByExp(Place &place);
mlir::Value sigmoidByExpOfZ(Place &place);
mlir::Value sigmoidFromOne(Place &place);
mlir::Value sigmoidByTanh(Place &place);
mlir::Value doubledGateByTanh(Place &place);
mlir::Value softmaxWithMax(Place &place);
mlir::Value softmaxWithoutMax(Place &place);
mlir::Value softmaxByLog(Place &place);
mlir::Value rmsNormSpelledOut(Place &place);
mlir::Value addZero(Place &place);
mlir::Value multiplyByOne(Place &place);

// Casts, copies and shapes: RewritesShape.cpp
mlir::Value castThere(Place &place);
mlir::Value computeWide(Place &place);
mlir::Value repeat(Place &place);
mlir::Value deadBranch(Place &place);
mlir::Value flattenThere(Place &place);
mlir::Value splitThere(Place &place);
mlir::Value unitThere(Place &place);
mlir::Value transposeThere(Place &place);
mlir::Value sliceAndJoin(Place &place);
mlir::Value computeTransposed(Place &place);
mlir::Value computeFlat(Place &place);
mlir::Value computeWithUnit(Place &place);
mlir::Value sliceFirst(Place &place);
mlir::Value broadcastLast(Place &place);
mlir::Value broadcastFirst(Place &place);
mlir::Value broadcastFromUnits(Place &place);

// Products and reductions: RewritesProducts.cpp
mlir::Value transposeOperand(Place &place);
mlir::Value transposeProduct(Place &place);
mlir::Value productBesideIdentity(Place &place);
mlir::Value productAsBatch(Place &place);
mlir::Value productAsSum(Place &place);
mlir::Value columnsApart(Place &place);
mlir::Value reduceTransposed(Place &place);
mlir::Value reduceSplit(Place &place);
mlir::Value reduceBySteps(Place &place);
mlir::Value sumAsProduct(Place &place);

/// Whether the op computes each element of its result from the same elements of its operands, all of
/// which are floats.
bool isElementwise(mlir::Operation *op);

} // namespace mhc::conformance

#endif // MHC_LIB_CONFORMANCE_REWRITERULES_H
