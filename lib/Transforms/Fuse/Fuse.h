//===- Fuse.h - The steps of fusing ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_FUSE_FUSE_H
#define MHC_LIB_TRANSFORMS_FUSE_FUSE_H

#include "mhc/Analysis/CostModel.h"
#include "mhc/Transforms/Sites.h"

namespace mhc {

/// projection, gates with a dead h_post and dead logits -> the same on the first n rows of phi
void narrowGates(mlir::func::FuncOp func, Sites &sites);
/// pre of which only u is used -> head
void narrowPre(mlir::func::FuncOp func, Sites &sites);
/// pre, head and what they are fused into, with optional results that nothing uses -> the same without them
void dropUnusedResults(mlir::func::FuncOp func);
/// projection, gates, residual map, aggregate -> pre, or head when only u is used
void fusePre(mlir::func::FuncOp func, Sites &sites);

/// post and the pre of what it makes -> post_pre
void fusePostPre(mlir::func::FuncOp func, Sites &sites);
/// post_pre and the norm that alone reads its u, however it is written -> post_pre
void fuseNormOfU(mlir::func::FuncOp func, Sites &sites);
/// post and the head of what it makes -> post_head
void fusePostHead(mlir::func::FuncOp func, Sites &sites);
/// pre_bwd or post_bwd, the sum of its d_x and another gradient of the streams -> the same that starts from the other
void addStarts(mlir::func::FuncOp func, Sites &sites);
/// pre_bwd and the post_bwd that alone reads its d_x -> post_pre_bwd
void fusePostPreBwd(mlir::func::FuncOp func, Sites &sites);
/// post_bwd, pre_bwd that starts from its d_x -> post_bwd without d_x, pre_bwd that computes it; or post_pre_bwd in its
/// place
void foldPostBwd(mlir::func::FuncOp func, Sites &sites);

/// Sums of parts among zeros, which parts are the gradients of -> concat
void joinParts(mlir::func::FuncOp func);
/// matmul in f32, rounding -> matmul
void roundProducts(mlir::func::FuncOp func);

/// Moves what makes values in front of `place`, unless it depends on that or may not be moved. The values are those
/// that an op in the block of `place` reads.
bool moveInFrontOf(mlir::ValueRange values, mlir::Operation *place);

/// The first `count` rows of a projection weight.
mlir::Value firstRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value phi, PhiLayout layout, int64_t count);

/// `op` was made of `parts`.
void takeFused(Sites &sites, mlir::Operation *op, const llvm::Twine &parts, int64_t savedBytes);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_FUSE_FUSE_H
