//===- StreamTiles.h - d_x and dW of a projection on tiles ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_STREAM_STREAMTILES_H
#define MHCRT_CUDA_STREAM_STREAMTILES_H

#include "cuda/kernels/Generic.h"

namespace mhcrt {

/// Whether stream_tiles.cu takes a projection's gradients, with the other terms of d_x.
bool streamTilesTake(const ProjectionBwdArgs &args, const generic::StreamShares &shares, Needs &needs);

/// Runs of tokens for dW, by the shape alone.
generic::TokenRuns streamTilesRuns(const ProjectionBwdArgs &args);

int64_t streamTilesBytes(const ProjectionBwdArgs &args); ///< of scratch memory

/// d_x where it is wanted, and where `partials` is not null dW of each run, [run][N][K]. `factor` is what d_x gets per
/// unit of x, per token, or null.
cudaError_t streamTiles(const ProjectionBwdArgs &args, const generic::StreamShares &shares, const float *factor,
                        float *partials, void *scratch, cudaStream_t stream);

/// The same of eight streams, where d_x and dW have a launch each (stream_eight.cu, weight_eight.cu), but for those
/// that stream_eight_sm90.cu takes.
bool streamEightTakes(const ProjectionBwdArgs &args, const generic::StreamShares &shares, Needs &needs);
int64_t streamEightBytes(const ProjectionBwdArgs &args);
/// `isHopper`: on a GPU of architecture 90, whose kernels of bf16 streams are those of *_sm90.cu.
cudaError_t streamEight(const ProjectionBwdArgs &args, const generic::StreamShares &shares, const float *factor,
                        float *partials, void *scratch, int multiprocessors, bool isHopper, cudaStream_t stream);

/// dW of each run, with `fragments` in the scratch memory of streamEight.
cudaError_t weightEight(const ProjectionBwdArgs &args, float *partials, uint4 *fragments, cudaStream_t stream);

/// Whether the calls that streamEight() takes are those of stream_eight_sm90.cu; weight_eight_sm90.cu takes all others
/// in bf16.
bool streamEightSm90Takes(const ProjectionBwdArgs &args);
int64_t streamEightSm90Bytes(const ProjectionBwdArgs &args);
cudaError_t streamEightSm90(const ProjectionBwdArgs &args, const generic::StreamShares &shares, const float *factor,
                            float *partials, void *scratch, int multiprocessors, cudaStream_t stream);
int64_t weightEightSm90Bytes(const ProjectionBwdArgs &args);
cudaError_t weightEightSm90(const ProjectionBwdArgs &args, float *partials, void *scratch, int multiprocessors,
                            cudaStream_t stream);

} // namespace mhcrt

#endif // MHCRT_CUDA_STREAM_STREAMTILES_H
