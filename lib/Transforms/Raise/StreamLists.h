//===- StreamLists.h - Streams that are n tensors -----------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_LIB_TRANSFORMS_RAISE_STREAMLISTS_H
#define MHC_LIB_TRANSFORMS_RAISE_STREAMLISTS_H

#include "Raise.h"
#include "mhc/Algebra/Reading.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mhc {

/// Arguments that the function stacks and reads alone as well are read of the stack, which is marked.
void stackStreams(mlir::func::FuncOp func);
/// Marks products that are squared, as for the norm of streams that were masked or scaled, or projected and weighed:
/// what reads such streams has the factors of the product, each in its place, and not the streams. So are what streams
/// repeat. The reading does not know the marks yet.
void markProducts(mlir::func::FuncOp func, algebra::Reading &reading);
/// Marks stacks that are squared and of which the reading knows nothing, or a product, as of n embeddings: what comes
/// behind such a stack reads its rows. The reading does not know them yet.
void markStacks(mlir::func::FuncOp func, algebra::Reading &reading);
/// Marks stacks of streams of which some are zeros: what comes behind such a stack reads its rows.
void stackZeros(mlir::func::FuncOp func);
/// Lets what comes behind a stack read its row in place of a part, in each shape in which the part is read.
void readRowOf(mlir::tensor::ConcatOp stack, int64_t number, mlir::Value part);
/// A row of a stack in the shape of `shown`, of which its part is a view; null for open sizes.
mlir::Value rowLike(mlir::tensor::ConcatOp stack, int64_t number, mlir::Value shown);
/// Takes the marks away, and lets every op that still reads a part of a stack read the argument.
void unmarkStreams(mlir::func::FuncOp func);

/// Stacks each n values that are the rows of one mix, and reads them of the stack from there on. The reading does not
/// know the stacks yet.
llvm::SmallVector<mlir::tensor::ConcatOp> stackMixes(mlir::func::FuncOp func, algebra::Reading &reading);
/// Lets every op that still reads a row of a stack read the value that was stacked.
void unstack(mlir::tensor::ConcatOp stack);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_STREAMLISTS_H
