//===- Samples.h - Numbers on which slices are compared --------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_NUMERICCHECK_SAMPLES_H
#define MHC_LIB_NUMERICCHECK_SAMPLES_H

#include "mhc/Reference/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mhc {

using Samples = std::vector<reference::HostTensor>;

/// Kinds of sample arguments. Tokens differ in kind in both: normal, small, large, zero, negative.
enum class SampleSet {
  Plain,  ///< parameters as a model has them
  Extreme ///< parameters of the same kinds as tokens
};
constexpr SampleSet kSampleSets[] = {SampleSet::Plain, SampleSet::Extreme};

/// Arguments for `func`, with a few rows for every dynamic size.
Samples makeSamples(mlir::func::FuncOp func, SampleSet set);

/// The same, each number moved up or down by the roundoff of f32.
Samples disturbed(llvm::ArrayRef<reference::HostTensor> samples);

/// Approximate number of elements that an evaluation of `func` computes or multiplies.
double workOf(mlir::func::FuncOp func);

} // namespace mhc

#endif // MHC_LIB_NUMERICCHECK_SAMPLES_H
