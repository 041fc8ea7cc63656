//===- Weighing.h - Values that may weigh streams -------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_RAISE_WEIGHING_H
#define MHC_LIB_TRANSFORMS_RAISE_WEIGHING_H

#include "mhc/Algebra/Reading.h"

namespace mhc {

/// Whether a value, or what functions of each element make of it, weighs something of more elements, as gates do with
/// streams; unknown where it is a result of the function.
enum class MayWeigh { no, unknown, yes };
MayWeigh mayWeigh(mlir::Value made);

/// Whether coefficients are functions of products for each token, of pairs: those of attention, or of points that are
/// matched.
bool isOfPairs(mlir::Value coefficients);

/// How much of the streams a gate multiplies. All of them are what aggregate weighs with one stream.
enum class Weighed { none, part, whole };
Weighed weighedBy(mlir::func::FuncOp func, algebra::Reading &reading, SigmoidOp gate, mlir::Value streams);

/// Whether streams are mixed back, or have gates or a residual map: where several vectors of a token are weighed and
/// added up, and nothing else is done, they are pooled, as by attention.
bool mixesStreams(mlir::func::FuncOp func);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_WEIGHING_H
