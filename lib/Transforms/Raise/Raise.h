//===- Raise.h - The steps of raising ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_RAISE_RAISE_H
#define MHC_LIB_TRANSFORMS_RAISE_RAISE_H

#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/OpKinds.h"
#include "mhc/Transforms/Sites.h"

namespace mhc {

class Readings;

/// Bounds on what counts as residual streams.
constexpr int64_t kMinStreams = 2;
constexpr int64_t kMaxStreams = 16;
/// More streams have too many permutations.
constexpr int64_t kMaxPermuted = 6;

/// One of many words for what steps need not tell apart, and one value for what is computed twice.
void normalise(mlir::func::FuncOp func);
/// Makes all reshapes that show a value in one shape one, or the value: patterns fold those that follow each other.
void mergeReshapes(mlir::func::FuncOp func, mlir::RewriterBase::Listener &listener);
/// Parts of the product of streams with a matrix -> products with parts of the matrix.
void cutProducts(mlir::func::FuncOp func);
/// Sums of products, each of a row of one tensor -> the product of the tensor; whether there was one
bool joinProducts(mlir::func::FuncOp func);
/// convolution, SiLU and norm of q, k and v, beside the decay of a gated delta net -> mhc.pre_gated_delta_rule;
/// whether there was one
bool raiseGatedDelta(mlir::func::FuncOp func, Sites &sites);
/// sigmoid and softmax written out -> mhc.sigmoid, mhc.softmax
void raiseElementary(mlir::func::FuncOp func, Readings &readings, Sites &sites);
/// sigmoids of all parts of a value -> parts of the sigmoid of the value
void joinGates(mlir::func::FuncOp func, mlir::RewriterBase::Listener &listener);
/// alternating divisions by row and column sums -> mhc.sinkhorn; softmax times all permutations -> mhc.permutation_mix
void raiseResidualMaps(mlir::func::FuncOp func, Readings &readings, Sites &sites);
/// a broadcast along a new stream dimension -> mhc.expand
void raiseExpand(mlir::func::FuncOp func, Readings &readings, Sites &sites);
/// sigmoids and logits of s * (x . phi) * alpha + beta -> mhc.projection, mhc.gates
void raiseGates(mlir::func::FuncOp func, Readings &readings, Sites &sites);
/// Marks matrices that are parts of rows of arguments, such as of all parameters in one: they are weights themselves.
void markWeights(mlir::func::FuncOp func);
/// Lets what reads streams that are seen as others of another number read them of a flat tensor, which is marked.
void keepRegrouped(mlir::func::FuncOp func);
/// x . phi beside the mean square of x -> mhc.projection
void raiseProjection(mlir::func::FuncOp func, Readings &readings, Sites &sites);
/// mixes of streams -> mhc.post, mhc.aggregate, mhc.contract
void raiseStreams(mlir::func::FuncOp func, Readings &readings, Sites &sites);
/// transposed streams of a post -> its streams, and weights in their order
void readStreamsAsMade(mlir::func::FuncOp func);

/// Whether the check of `sites`, where there is one, lets `becomes`, which `made` computes, take the place of `was`.
bool mayReplace(Sites &sites, mlir::Operation *made, llvm::ArrayRef<mlir::Value> was,
                llvm::ArrayRef<mlir::Value> becomes);

/// Remarks on what was found and is read by plain code: residual maps that mix streams in a combine that is no
/// mhc.post, gates and logits.
void explainStreams(mlir::func::FuncOp func, Sites &sites);
/// Remarks on mixes whose projection was not found, where no other remark was made.
void explainUnread(mlir::func::FuncOp func, Sites &sites);
/// The channels that a token of streams [..., n, C] or [..., C, n] has in all of them; 0 where the sizes are open.
int64_t streamsWidth(mlir::Value streams);
/// The widths of the streams that were found; 0 of those whose sizes are open. Attention repeats, weighs and adds up
/// its heads as a model does its streams: where a site was found, only those of sites count.
llvm::SmallSetVector<int64_t, 2> widthsOfStreams(mlir::func::FuncOp func);

/// `op` was raised; its name is the kind of site.
void takeRaised(Sites &sites, mlir::Operation *op, const llvm::Twine &detail = {});

/// Sets the builder to the earliest point of a block at which all inputs are there.
void setAfterInputs(mlir::OpBuilder &builder, mlir::Block *block, llvm::ArrayRef<mlir::Value> inputs);

/// The number that all elements of a value are.
std::optional<double> constantValue(mlir::Value value);

/// Whether a number is a power of two or its negative, so that products and quotients with it round nothing.
bool isPowerOfTwo(double number);

/// Whether a value is in f64, which no kernel takes or makes. Exporters compute a statistic in it now and then, which
/// kernels do in f32: a result that is rounded to f32 may be raised, one that stays in f64 is not.
bool isWide(mlir::Value value);

/// All ops of a function, users before what they use, and what a loop holds before the loop.
llvm::SmallVector<mlir::Operation *> opsFromTheEnd(mlir::func::FuncOp func);

/// The op that reads a value once, where it is the only one besides those that ask for its sizes; null otherwise.
mlir::Operation *singleUser(mlir::Value value);
/// The results of the function that a call outside of it makes an argument of; none where that is not known.
llvm::SmallVector<mlir::Value> madeOf(mlir::BlockArgument argument);
/// Whether a value is another, or computed of it, as far as `sources` says what a value is made of; behind views.
bool isComputedOf(mlir::Value value, mlir::Value source,
                  llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value)> sources);
/// Whether an op is all that reads a value, also through views, besides ops that ask for its sizes.
bool isOnlyReader(mlir::Operation *op, mlir::Value value);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_RAISE_H
