//===- BoundaryBwd.h - The pass that makes d_x and d_f ----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_STREAM_BOUNDARYBWD_H
#define MHCRT_CUDA_STREAM_BOUNDARYBWD_H

#include "cuda/stream/StreamBwd.h"

namespace mhcrt {

constexpr int kTokenSums = 20; ///< d_h_res with the output stream first, d_h_post
/// Bytes of the second-level cache, and of d_u and of the sums of tokens that are to stay there from the launch that
/// reads or makes them to the one that needs them.
constexpr int64_t kCacheBytes = 50 << 20, kKeptBranch = 32 << 20, kKeptSums = 24 << 20;

/// A token's coefficients. With a mix or without an odd number of 16 bytes: rows of 8 tokens lie in different banks.
struct BoundaryRow {
  float dProj[kColumns];
  float pre[4], factor, scale; ///< as in StreamBwdArgs
  float unused[2];
  float post[4], res[16]; ///< h_res with the output stream first
  /// dProj / scale in two f16 terms: [eight columns][pair of them][term]. Each warp of each slice would split it.
  uint32_t terms[kColumns / 8][4][2];
};
static_assert(sizeof(BoundaryRow) == 19 * 16);

/// The same where StreamBwdArgs::mix is not null.
struct BoundaryMixRow : BoundaryRow {
  float mix[16]; ///< with the stream that reads first
};
static_assert(sizeof(BoundaryMixRow) == 23 * 16);

/// Bytes of each row of a launch.
__host__ __device__ constexpr int64_t boundaryRowBytes(bool hasMix) {
  return hasMix ? sizeof(BoundaryMixRow) : sizeof(BoundaryRow);
}

/// As there, but that x and d_x are those of the post before. `rows` have all coefficients: of `mix` counts only
/// whether it is null. `du` is given.
struct BoundaryBwdArgs : StreamBwdArgs {
  const void *f;
  const BoundaryRow *rows; ///< of M tokens, and zeros up to a multiple of kSlotTokens; boundaryRowBytes() each
  bool inputFirst;         ///< d_h_res is [in, out]
  void *df;
  float *sums;      ///< [slices of the division][M][20]
  int64_t keptSums; ///< tokens whose sums are to stay in the second-level cache: the first, which come last
  const void *bias; ///< [C]; null when there is none
  int32_t biasType; ///< f32 or bf16
  float *biasSums;  ///< [most groups][C]: partial sums of d_bias; null when it is not wanted
  StreamDivision division;
};

/// Results that are sums of what boundaryBwd() leaves; null where they are not wanted.
struct TokenSumResults {
  float *dhRes, *dhPost, *dBias;
  const float *dBiasIn;
};

/// As streamDivision(), but that blocks have runs where turns would leave an eighth of their time unused, and there is
/// no bias, and that two blocks are together where the slices are even in number.
StreamDivision boundaryDivision(int64_t M, int64_t C, bool hasBias);
/// Reads the weights, the bias among them, as early as streamBwd() does, and needs the same.
cudaError_t boundaryBwd(const BoundaryBwdArgs &args, cudaStream_t stream);

/// Adds `sums` and `biasSums`. `beside`: the launch between the two begins by beginOverlapped() and has nothing to do
/// with either.
cudaError_t tokenSums(const BoundaryBwdArgs &args, const TokenSumResults &to, bool beside, cudaStream_t stream);

} // namespace mhcrt

#endif // MHCRT_CUDA_STREAM_BOUNDARYBWD_H
