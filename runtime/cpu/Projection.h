//===- Projection.h - Tiling of a projection ------------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by projection, pre and head.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_PROJECTION_H
#define MHCRT_CPU_PROJECTION_H

#include "cpu/Amx.h"
#include "cpu/Coefficients.h"
#include "cpu/Entry.h"

namespace mhcrt {

/// Outputs of one register tile. 6 outputs and 4 tokens fill 24 of 32 vector registers.
constexpr int64_t kPanel = 6;

/// Elements of K of one chunk: four tokens of it (8 kB) stay in the first-level cache while the panels of phi (12 kB
/// each) pass by.
constexpr int64_t kChunk = 512;

/// Tokens of one tile at most. phi is read from the last-level cache once per tile, which speaks for many; what reads x
/// again after the projection wants the tile in the second-level cache, which speaks for few where x is wide.
inline int64_t mostTokens(int32_t type, const AmxUnit *amx) { return amx || type != MHCRT_F32 ? 64 : 16; }

/// Tokens are padded to this in scratch memory.
constexpr int64_t kTokenMultiple = 4;

/// Bytes of accumulators of one tile at most; they share the second-level cache with a chunk of phi.
constexpr int64_t kAccumulatorBytes = 256 << 10;

/// Elements of K whose products stay in matrix tiles: long runs of a token's memory, which prefetchers follow, and 640
/// kB of phi (24 outputs in three terms), which the second-level cache holds.
constexpr int64_t kAmxRun = 4096;
static_assert(kAmxRun % kChunk == 0, "phi is packed in chunks");

/// Outputs that are cut into terms together: 8 kB.
constexpr int64_t kPackedOutputs = 64;

struct ProjectionCall {
  const void *x;
  int32_t type;
  const void *phi;
  int32_t phiType;
  const void *weight; ///< null when there is none
  int32_t weightType;
  int64_t M, K, N;
  int32_t phiLayout;

  // Set by plan()
  int64_t panels = 0, chunks = 0, tile = 0;
  const AmxUnit *amx = nullptr; ///< null for the portable variant

  void plan(int threads, const AmxUnit *unit) {
    amx = unit;
    panels = divideUp(N, kPanel);
    chunks = divideUp(K, kChunk);
    const int64_t multiple = amx ? kAmxTokens : kTokenMultiple;
    const int64_t room = kAccumulatorBytes / (tokenSums() * 4);
    const int64_t most = std::max(multiple, std::min(mostTokens(type, amx), room / multiple * multiple));
    tile = std::min(most, std::max(multiple, roundUp(divideUp(M, threads), multiple)));
  }

  /// At most about `tokens` of them in a tile.
  void limitTile(int64_t tokens) {
    const int64_t multiple = amx ? kAmxTokens : kTokenMultiple;
    tile = std::clamp(tokens / multiple * multiple, multiple, tile);
  }

  /// The portable variant that computes some tokens again.
  ProjectionCall portable() const {
    ProjectionCall args = *this;
    args.M = std::min(tile, kAmxTokens);
    args.plan(/*threads=*/1, nullptr);
    return args;
  }

  /// bf16 terms of phi * weight, and the tiles of columns of the first `terms` of them.
  int64_t phiTerms() const { return phiType == MHCRT_BF16 && !weight ? 1 : 3; }
  int64_t amxTilesOf(int64_t terms) const { return divideUp(terms * N, kAmxColumns); }
  int64_t amxTiles() const { return amxTilesOf(phiTerms()); }

  /// Floats of a token's partial sums.
  int64_t tokenSums() const { return amx ? amxTiles() * kAmxColumns : panels * kPanel * kMaxLanes; }
  int64_t chunkBytes() const {
    return amx ? amxTiles() * kAmxTile * 2 * (kChunk / kAmxStep) : panels * kPanel * kChunk * 4;
  }
  int64_t packedBytes() const { return saturatingMul(chunks, chunkBytes()); }
};

/// The parts of a thread's scratch memory, in floats.
struct ProjectionScratch {
  float *x;            ///< [group][chunk or run]
  float *accumulators; ///< [tile][panels * kPanel][lanes], or [tile / 16][tile of columns][16][16] for matrix tiles
  float *squares;      ///< [tile][lanes]
  float *proj;         ///< [tile][N]
  float *stat;         ///< [tile], padded to whole vectors: the mean square
  float *planes;       ///< [N][lanes], for what follows the projection
  char *again;         ///< matrix tiles: a chunk and the scratch memory of the portable variant

  explicit ProjectionScratch(const ProjectionCall &args, char *base) {
    x = reinterpret_cast<float *>(base);
    accumulators = x + groupFloats(args);
    squares = accumulators + args.tile * args.tokenSums();
    proj = squares + args.tile * kMaxLanes;
    stat = proj + roundUp(args.tile * args.N, kMaxLanes);
    planes = stat + roundUp(args.tile, kMaxLanes);
    again = reinterpret_cast<char *>(planes + args.N * kMaxLanes);
  }

  static int64_t bytes(const ProjectionCall &args) {
    // N is at most 2^31 and tile at most 64: nothing overflows.
    const int64_t own =
        4 * (groupFloats(args) + args.tile * args.tokenSums() + args.tile * kMaxLanes +
             roundUp(args.tile * args.N, kMaxLanes) + roundUp(args.tile, kMaxLanes) + args.N * kMaxLanes);
    return args.amx ? own + args.portable().chunkBytes() + bytes(args.portable()) : own;
  }

private:
  static int64_t groupFloats(const ProjectionCall &args) {
    return args.amx ? kAmxTokens * kAmxRun : kTokenMultiple * kChunk;
  }
};

/// The matrix tiles, unless they are less exact than asked: of x in f16 and f32 they leave parts of products out
/// (ProjectionAmx-inl.h).
inline const AmxUnit *amxFor(const AmxUnit *unit, int32_t xType, int32_t precision) {
  return precision == MHCRT_PRECISION_IEEE && xType != MHCRT_BF16 ? nullptr : unit;
}

/// The projection of a kernel that reads x, phi and norm_weight; N columns.
template <typename Args>
ProjectionCall projectionOf(const Args &a, int64_t N) {
  return {a.x, a.x_type, a.phi, a.phi_type, a.norm_weight, a.norm_weight_type, a.M, a.K, N, a.phi_layout};
}

/// Chunk `chunk` of phi * norm_weight, to its place behind `packed`.
void packPhi(const ProjectionCall &args, int64_t chunk, char *packed);

/// Packs phi, then calls tile(packed, first, count, scratch) for tiles of tokens; `packed` is the start of the shared
/// scratch memory.
template <typename Tile>
void forProjectionTiles(mhcrt_context &context, const ProjectionCall &projection, Tile tile) {
  char *packed = context.sharedScratch();
  context.parallelFor(projection.chunks, [&](int64_t chunk, int) { packPhi(projection, chunk, packed); });
  const int64_t tokens = projection.tile;
  context.parallelFor(divideUp(projection.M, tokens), [&](int64_t i, int thread) {
    tile(packed, i * tokens, std::min(tokens, projection.M - i * tokens), context.threadScratch(thread));
  });
}

} // namespace mhcrt

#endif // MHCRT_CPU_PROJECTION_H
