//===- SoftmaxForms.h - Parts of softmax, and its logarithm -------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_LIB_TRANSFORMS_RAISE_SOFTMAXFORMS_H
#define MHC_LIB_TRANSFORMS_RAISE_SOFTMAXFORMS_H

#include "RaiseForms.h"

namespace mhc {

/// The logits of a softmax, and the dimension that it sums over.
struct SoftmaxOf {
  mlir::Value logits;
  int64_t dim;
};

/// The dimension of `value` that a sum of it over one whole dimension runs over: the one index that is not `index`.
std::optional<int64_t> summedDim(FormBuilder &forms, const Term &term, const Indices &index, mlir::Value value);
/// The one base of a form `coefficient * base^power`.
const Factor *singleFactor(const Form &form, double coefficient, int power = 1);
/// z - max(z) -> z, where the maximum is the same along `dim`; anything else as it is.
mlir::Value stripShift(FormBuilder &forms, mlir::Value value, int64_t dim);
/// z - lse(z) over one dimension of any tensor, with the two parts of lse(z) in one piece or one after the other.
std::optional<SoftmaxOf> matchLogSoftmax(FormBuilder &forms, mlir::Value value);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_SOFTMAXFORMS_H
