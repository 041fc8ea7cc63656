//===- Evaluator.h - The meaning of a function, in float64 ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An interpreter of leaf ops and of the upstream ops that the language uses, independent of every lowering. All floats
// are doubles and nothing rounds unless asked to: its results are the truth that compiled code is compared with.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_REFERENCE_EVALUATOR_H
#define MHC_REFERENCE_EVALUATOR_H

#include "mhc/Reference/HostTensor.h"
#include "llvm/Support/Error.h"

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace mhc::reference {

/// Rounding of the result of each op; numbers that the code itself rounds to a narrow type are rounded always. With
/// `ToF32` the difference to the exact results shows the least error of f32. With `AtRandom` each float moves by half
/// to all of the unit roundoff of its type, up or down: how far the results of a function move shows how much rounding
/// may change them. With `Narrow` results in a type narrower than f32 round to it.
enum class Rounding { None, ToF32, AtRandom, Narrow };

/// The results of `func` on `arguments`. mHC ops must have been replaced by leaf ops (mhc-decompose). Errors name the
/// location and the op. The seed is for `AtRandom`.
llvm::Expected<std::vector<HostTensor>> evaluate(mlir::func::FuncOp func, llvm::ArrayRef<HostTensor> arguments,
                                                 Rounding rounding = Rounding::None, uint64_t seed = 0);

} // namespace mhc::reference

#endif // MHC_REFERENCE_EVALUATOR_H
