//===- RaiseForms.h - Helpers of the steps on forms ----------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_LIB_TRANSFORMS_RAISE_RAISEFORMS_H
#define MHC_LIB_TRANSFORMS_RAISE_RAISEFORMS_H

#include "Raise.h"
#include "mhc/Analysis/Form.h"

namespace mhc {

/// "2 * argument 0, [8, 4] of f32 * ..."
std::string describeProduct(llvm::ArrayRef<Factor> factors, double coefficient);

/// The multiplier 1/rms that the factors of a term make, with the coefficient of the term.
struct Multiplier {
  Norm norm;
  double eps;
  Factor x;          ///< the element that is squared; its base is null for Norm::none
  Vars sums;         ///< the variables of `x` over which it is averaged
  double factor = 1; ///< what the number beside it leaves of itself
};
/// Reads `factors` (each depends on the token only) as a multiplier. Fails when they are none.
std::optional<Multiplier> matchMultiplier(FormBuilder &forms, llvm::ArrayRef<Factor> factors, double coefficient);

/// Whether the multiplier of the row `tokens` averages exactly that row of its base.
bool averagesRow(FormBuilder &forms, const Multiplier &multiplier, const Vars &tokens);
/// Whether `factor` covers its base, with `tokens` in front and the variables of `sums` in any order behind.
bool coversRow(FormBuilder &forms, const Factor &factor, const Vars &tokens, const Vars &sums);

/// x as [M, n, C] or [M, C, n], from a factor whose variables are the tokens and then the flattened streams.
struct Streams {
  mlir::Value value;
  Layout layout;
};
std::optional<Streams> buildStreams(FormBuilder &forms, mlir::OpBuilder &builder, mlir::Location loc, const Factor &x,
                                    const Vars &tokens, const Vars &flat, int64_t n);

/// The rows of a factor that variables run over: consecutive dimensions of its base, all but the first of them whole.
struct Rows {
  size_t begin, end;
  int64_t offset, count; ///< the first row, and the rows of the base
};
std::optional<Rows> readRows(const FormBuilder &forms, const Factor &factor, const Vars &row);

/// The weight as [N, K] or [K, N] with all its rows, from a factor that reads the rows `row`.
std::optional<std::pair<mlir::Value, PhiLayout>> buildPhi(FormBuilder &forms, mlir::OpBuilder &builder,
                                                          mlir::Location loc, const Factor &phi, const Vars &row,
                                                          const Vars &flat);
/// Variables of all dimensions of a factor, whatever they cover.
Vars varsOf(const FormBuilder &forms, const Factor &factor);
bool containsAny(llvm::ArrayRef<Var> vars, llvm::ArrayRef<Var> wanted);
} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_RAISEFORMS_H
