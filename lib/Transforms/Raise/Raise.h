//===- Raise.h - The steps of raising ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_RAISE_RAISE_H
#define MHC_LIB_TRANSFORMS_RAISE_RAISE_H

#include "mhc/Analysis/Form.h"
#include "mhc/IR/OpKinds.h"
#include "mhc/Transforms/Sites.h"

namespace mhc {

/// Bounds on what counts as residual streams.
constexpr int64_t kMinStreams = 2;
constexpr int64_t kMaxStreams = 16;
/// More streams have too many permutations.
constexpr int64_t kMaxPermuted = 6;

/// while loops of a known number of turns -> for loops
void raiseLoops(mlir::func::FuncOp func);
/// linalg ops -> leaf ops
void raiseLinalg(mlir::func::FuncOp func);
/// numbers read from tensors and repeated -> slices that are repeated
void raiseScalars(mlir::func::FuncOp func);
/// One value for each size of an argument, wherever it is read: a size of something in between keeps that alive.
void readSizesFromArguments(mlir::func::FuncOp func);
/// insertions that fill an empty tensor -> tensor.concat
void raiseConcat(mlir::func::FuncOp func);
/// Tokens in two dimensions of unknown size -> in one
void joinTokens(mlir::func::FuncOp func);
/// One of many words for what steps need not tell apart, and one value for what is computed twice.
void normalise(mlir::func::FuncOp func);
/// What is computed twice is one value: steps tell values apart by where they come from.
void mergeCopies(mlir::func::FuncOp func, mlir::RewriterBase::Listener &listener);
/// sigmoid and softmax written out -> mhc.sigmoid, mhc.softmax
void raiseElementary(mlir::func::FuncOp func, FormBuilder &forms, Sites &sites);
/// alternating divisions by row and column sums -> mhc.sinkhorn; softmax times all permutations -> mhc.permutation_mix
void raiseResidualMaps(mlir::func::FuncOp func, FormBuilder &forms, Sites &sites);
/// a broadcast along a new stream dimension -> mhc.expand
void raiseExpand(mlir::func::FuncOp func, FormBuilder &forms, Sites &sites);
/// sigmoids and logits of s * (x . phi) * alpha + beta -> mhc.projection, mhc.gates
void raiseCoefficients(mlir::func::FuncOp func, FormBuilder &forms, Sites &sites);
/// x . phi beside the mean square of x -> mhc.projection
void raiseProjection(mlir::func::FuncOp func, FormBuilder &forms, Sites &sites);
/// mixes of streams -> mhc.post, mhc.aggregate, mhc.contract
void raiseStreams(mlir::func::FuncOp func, FormBuilder &forms, Sites &sites);

/// Whether the check of `sites`, where there is one, lets `becomes`, which `made` computes, take the place of `was`.
bool mayReplace(Sites &sites, mlir::Operation *made, llvm::ArrayRef<mlir::Value> was,
                llvm::ArrayRef<mlir::Value> becomes);

/// Remarks on what was found and is read by plain code: residual maps that mix streams in a combine that is no
/// mhc.post, gates and logits.
void explainStreams(mlir::func::FuncOp func, Sites &sites);

/// `op` was raised; its name is the kind of site.
void takeRaised(Sites &sites, mlir::Operation *op, const llvm::Twine &detail = {});

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
/// Sets the builder to the earliest point of a block at which all inputs are there.
void setAfterInputs(mlir::OpBuilder &builder, mlir::Block *block, llvm::ArrayRef<mlir::Value> inputs);

/// Whether a value is in f64, which no kernel takes or makes. Exporters compute a statistic in it now and then, which
/// kernels do in f32: a result that is rounded to f32 may be raised, one that stays in f64 is not.
bool isWide(mlir::Value value);

/// The maximum that a value is, which may start at the lowest number in place of minus infinity: that differs where no
/// element is finite. Null for other values.
ReduceOp maximumOf(mlir::Value value);

/// All ops of a function, users before what they use, and what a loop holds before the loop.
llvm::SmallVector<mlir::Operation *> opsFromTheEnd(mlir::func::FuncOp func);

/// Variables of all dimensions of a factor, whatever they cover.
Vars varsOf(const FormBuilder &forms, const Factor &factor);
bool containsAny(llvm::ArrayRef<Var> vars, llvm::ArrayRef<Var> wanted);
/// The op that reads a value once, where it is the only one besides those that ask for its sizes; null otherwise.
mlir::Operation *singleUser(mlir::Value value);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_RAISE_H
