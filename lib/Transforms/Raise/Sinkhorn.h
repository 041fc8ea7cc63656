//===- Sinkhorn.h - Parts of a Sinkhorn iteration ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_RAISE_SINKHORN_H
#define MHC_LIB_TRANSFORMS_RAISE_SINKHORN_H

#include "RaiseForms.h"

namespace mlir::scf {
class ForOp;
} // namespace mlir::scf

namespace mhc {

/// One normalisation: the dimension that is summed over, and what eps does.
struct SinkhornStep {
  int64_t dim = 0;
  Denom denom = Denom::none;
  double eps = 0;
  mlir::Operation *op = nullptr;    ///< the last op of the step
  mlir::Operation *guard = nullptr; ///< a selection between the sums and what divides
  bool operator==(const SinkhornStep &o) const { return dim == o.dim && denom == o.denom && eps == o.eps; }
};

/// A stack of n x n matrices, in dimensions before the last two.
bool isMatrixStack(mlir::Value value);
/// The dimension of `value` that a sum of it over one whole dimension runs over: the one index that is not `index`.
std::optional<int64_t> summedDim(FormBuilder &forms, const Term &term, const Indices &index, mlir::Value value);
/// The one base of a form `coefficient * base^power`.
const Factor *singleFactor(const Form &form, double coefficient, int power = 1);
/// The variables of all dimensions but one.
Vars varsWithout(const FormBuilder &forms, const Indices &index, int64_t dim);
/// z - max(z) -> z, where the maximum is the same along `dim`; anything else as it is. With `exact`, only for the
/// maximum along `dim` itself.
mlir::Value stripShift(FormBuilder &forms, mlir::Value value, int64_t dim, bool exact = false);
std::optional<int64_t> tripCount(mlir::scf::ForOp loop);
/// z - lse(z), but for a step of a Sinkhorn iteration: z and the dimension
std::optional<std::pair<mlir::Value, int64_t>> matchLogSoftmax(FormBuilder &forms, mlir::Value value);
/// previous - log(sum(exp(previous)))
std::optional<std::pair<SinkhornStep, mlir::Value>> matchLogStep(FormBuilder &forms, mlir::Value value);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_SINKHORN_H
