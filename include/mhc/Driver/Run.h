//===- Run.h - Run compiled models and their reference ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_DRIVER_RUN_H
#define MHC_DRIVER_RUN_H

#include "mhc/Driver/Driver.h"
#include "mhcrt/io.h"

namespace mhc {

using Tensors = std::vector<mhcrt::HostTensor>;

/// Runs an entry once on a context of its own; `threads` 0 means one per core. With `repetitions`, then prints the time
/// of as many more runs.
llvm::Expected<Tensors> runOnce(const mhcrt_model *model, llvm::StringRef entry, const Tensors &arguments,
                                int32_t threads = 0, int repetitions = 0);

Tensors copyOf(llvm::ArrayRef<mhcrt::HostTensor> tensors);

/// The arguments of the backward half of a function's gradient: of those of the whole gradient, and of what the forward
/// half `made` of its own.
llvm::Expected<Tensors> backwardArguments(const mhcrt_model *model, const std::string &grad,
                                          llvm::ArrayRef<mhcrt::HostTensor> whole,
                                          llvm::ArrayRef<mhcrt::HostTensor> made);

/// Compiles `text` and runs its function `entry`.
llvm::Expected<Tensors> runText(llvm::StringRef text, llvm::StringRef entry, const Tensors &arguments,
                                const CompileOptions &options = {});

/// The same of a module by the float64 evaluator of lib/Reference; arguments of any float type, results f64.
llvm::Expected<Tensors> evaluate(Compiler &compiler, mlir::ModuleOp module, llvm::StringRef entry,
                                 const Tensors &arguments, const CompileOptions &options = {});

/// The arguments in f64, each float moved up or down by the unit roundoff of its dtype: how far that moves the results
/// of a model tells what rounding may do to them.
Tensors disturbed(const Tensors &arguments, unsigned seed);

/// Largest difference of two f64 tensors of one shape; NaN if an element of just one of them is NaN.
double largestDifference(const mhcrt::HostTensor &a, const mhcrt::HostTensor &b);
/// Largest magnitude in an f64 tensor; NaN if an element is.
double largestMagnitude(const mhcrt::HostTensor &tensor);

/// The two halves of evaluate: a copy of the module in leaf ops, with the gradients that the options ask for, and the
/// evaluation of one of its functions. With `roundNarrow` results in types narrower than f32 round; else
/// nothing does.
llvm::Expected<Compiler::Module> toLeafOps(Compiler &compiler, mlir::ModuleOp module, const CompileOptions &options);
llvm::Expected<Tensors> evaluateLeafOps(mlir::ModuleOp module, llvm::StringRef entry, const Tensors &arguments,
                                        bool roundNarrow = false);

/// The second half where the arguments and each op round up or down at random, in the precision of each; so many times.
llvm::Expected<std::vector<Tensors>> evaluateRounded(mlir::ModuleOp module, llvm::StringRef entry,
                                                     const Tensors &arguments, int draws);

/// Each of the times that roundingNoise counts is one more stage that rounds.
inline constexpr int kRoundings = 16;
/// The most that rounding may move a result from `want`, by those of evaluateRounded; NaN where it makes a NaN.
double roundingNoise(const Tensors &want, llvm::ArrayRef<Tensors> rounded, size_t result);

} // namespace mhc

#endif // MHC_DRIVER_RUN_H
