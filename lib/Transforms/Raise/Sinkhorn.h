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

/// A chain of normalisations and what it starts from.
struct SinkhornChain {
  std::vector<SinkhornStep> steps;
  mlir::Value start;
};

/// Steps of the linear form divide, those of the log form subtract a log-sum-exp.
using MatchStep = std::optional<std::pair<SinkhornStep, mlir::Value>> (*)(FormBuilder &, mlir::Value);

/// A stack of n x n matrices, in dimensions before the last two.
bool isMatrixStack(mlir::Value value);
/// The dimension of `value` that a sum of it over one whole dimension runs over: the one index that is not `index`.
std::optional<int64_t> summedDim(FormBuilder &forms, const Term &term, const Indices &index, mlir::Value value);
/// The one base of a form `coefficient * base^power`.
const Factor *singleFactor(const Form &form, double coefficient, int power = 1);
/// What divides where `form` divides, or multiplies when `inverted`.
std::optional<Form> divisorOf(FormBuilder &forms, const Form &form, bool inverted);
/// The variables of all dimensions but one.
Vars varsWithout(const FormBuilder &forms, const Indices &index, int64_t dim);
/// z - max(z) -> z, where the maximum is the same along `dim`; anything else as it is. With `exact`, only for the
/// maximum along `dim` itself.
mlir::Value stripShift(FormBuilder &forms, mlir::Value value, int64_t dim, bool exact = false);
std::optional<int64_t> tripCount(mlir::scf::ForOp loop);
/// Walks back over steps and over loops that carry them; stops at the first value that is neither.
SinkhornChain walkChain(FormBuilder &forms, mlir::Value value, MatchStep matchStep);
/// z - lse(z), but for a step of a Sinkhorn iteration: z and the dimension
std::optional<std::pair<mlir::Value, int64_t>> matchLogSoftmax(FormBuilder &forms, mlir::Value value);
/// previous / sum(previous), with or without eps, and previous times the reciprocal
std::optional<std::pair<SinkhornStep, mlir::Value>> matchLinearStep(FormBuilder &forms, mlir::Value value);
/// The same, also where a selection guards the division against sums of zero, and with any eps
std::optional<std::pair<SinkhornStep, mlir::Value>> matchGuardedStep(FormBuilder &forms, mlir::Value value);
/// previous - log(sum(exp(previous)))
std::optional<std::pair<SinkhornStep, mlir::Value>> matchLogStep(FormBuilder &forms, mlir::Value value);

/// Why a value that normalises rows and columns in turn is no Sinkhorn iteration; nothing for other values.
std::optional<Miss> explainSinkhorn(FormBuilder &forms, mlir::Value value);
/// The same for a value that scales rows and columns of exp(z).
std::optional<Miss> explainScaling(FormBuilder &forms, mlir::Value value);
/// What is told of an iteration from `start` on that is longer than the op takes.
Miss tooManyIterations(mlir::Operation *at, mlir::Value start);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_SINKHORN_H
