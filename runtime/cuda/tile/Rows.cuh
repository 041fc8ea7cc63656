//===- Rows.cuh - Rows of tokens in a ring in shared memory -----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One warp copies, teams of warps work. A stage is a piece of every row of a token, one or two times 16 bytes per
// thread of a team: shorter copies do not keep up with the memory. Rows of one tensor are neighbours in it; where a
// stage has the whole token, one copy takes them all. Each team has a token of its own, and their pieces take turns in
// the ring, whose stages are a multiple of the teams: a stage always serves the same team, so that nobody waits for a
// phase before the last one is over. What a team does at a token's end does not hold up the copies.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_TILE_ROWS_CUH
#define MHCRT_CUDA_TILE_ROWS_CUH

#include "cuda/ptx/Barrier.cuh"
#include "cuda/ptx/BulkCopy.cuh"
#include "cuda/tile/Columns.cuh"
#include "cuda/tile/Team.cuh"

namespace mhcrt {

constexpr int kRowRingBytes = 220 * 1024; ///< the rest is for sums and barriers
constexpr int kMostStages = 48;
constexpr int kWorkWarps = 15; ///< with the copying warp 16: 128 registers a thread

/// A tensor of one or four rows a token.
struct RowSource {
  const char *base;
  uint32_t rows;
};

constexpr int kSources = 3;
constexpr int kTokenRows = 9; ///< of all sources

/// Partition of a width. All follows from C alone, but for the number of blocks.
struct RowPlan {
  int warps;  ///< of a team
  int teams;  ///< of a block
  int stages; ///< of the ring
  uint32_t rowBytes;
  uint32_t pieceBytes; ///< of a row in a stage
  uint32_t pitch;      ///< from row to row in a stage
  uint32_t M;

  /// Four rows written per token are slower with pieces of two turns, unless these are the whole token.
  RowPlan(int64_t M, int64_t bytes, bool writesFour)
      : rowBytes(static_cast<uint32_t>(bytes)), M(static_cast<uint32_t>(M)) {
    warps = teamWarps(rowBytes / 16);
    teams = std::max(1, kWorkWarps / warps);
    const uint32_t turn = warps * 512;
    pieceBytes = rowBytes <= turn || (writesFour && rowBytes > 2 * turn) ? turn : 2 * turn;
    pitch = std::min(rowBytes, pieceBytes);
    stages = std::min<int>(kMostStages, kRowRingBytes / stageBytes()) / teams * teams;
  }
  __host__ __device__ uint32_t stageBytes() const { return kTokenRows * pitch; }
  __host__ __device__ bool isWhole() const { return pieceBytes >= rowBytes; }
  int threads() const { return 32 * (1 + warps * teams); }
  int sharedBytes() const { return stages * stageBytes(); }
};

/// The ring of a block; full and free barriers of a stage side by side.
struct RowRing {
  const RowPlan &plan;
  uint32_t memory, bars;

  __device__ uint32_t full(int stage) const { return bars + 16 * stage; }
  __device__ uint32_t free(int stage) const { return bars + 16 * stage + 8; }
  __device__ uint32_t row(int stage, int k) const { return memory + stage * plan.stageBytes() + k * plan.pitch; }

  __device__ void init() const {
    for (int stage = threadIdx.x; stage < plan.stages; stage += blockDim.x) {
      barrierInit(full(stage), 1);
      barrierInit(free(stage), plan.warps);
    }
    fenceBarrierInit();
  }

  /// Called by one warp.
  __device__ void copyAll(const RowSource (&sources)[kSources]) const {
    int stage = 0;
    uint32_t parity = 1;
    for (uint32_t first = blockIdx.x; first < plan.M; first += plan.teams * gridDim.x)
      for (uint32_t piece = 0; piece < plan.rowBytes; piece += plan.pieceBytes)
        for (int team = 0; team < plan.teams; ++team) {
          const uint32_t token = first + team * gridDim.x;
          if (token < plan.M) {
            barrierWait(free(stage), parity);
            copy(sources, token, piece, stage);
          }
          if (++stage == plan.stages) {
            stage = 0;
            parity ^= 1;
          }
        }
  }

private:
  /// Lane k copies row k, or where rows are whole, source k.
  __device__ void copy(const RowSource (&sources)[kSources], uint32_t token, uint32_t piece, int stage) const {
    const int lane = threadIdx.x % 32;
    const uint32_t bytes = min(plan.pieceBytes, plan.rowBytes - piece);
    if (lane == 0)
      barrierExpect(full(stage), kTokenRows * bytes);
    __syncwarp();
    const int source = plan.isWhole() ? lane : lane / 4, row = plan.isWhole() ? 0 : lane % 4;
#pragma unroll
    for (int k = 0; k < kSources; ++k) {
      const uint32_t rows = sources[k].rows;
      if (source == k && row < rows)
        bulkLoad(this->row(stage, 4 * k + row),
                 sources[k].base + (uint64_t(token) * rows + row) * plan.rowBytes + piece,
                 plan.isWhole() ? rows * bytes : bytes, full(stage));
    }
  }
};

/// Position of a team in the ring.
struct RowCursor {
  int stage;
  uint32_t parity = 0;

  __device__ void next(const RowPlan &plan) {
    stage += plan.teams;
    if (stage >= plan.stages) {
      stage -= plan.stages;
      parity ^= 1;
    }
  }
};

/// teamSum of one of several teams of a block: thread `k` of the team returns value k. `buffer` is [2][warps][kPadded]
/// of the team, `turn` alternates.
template <int kValues, int kPadded>
__device__ __forceinline__ float teamSum(const float (&sums)[kPadded], float *buffer, int turn, int team, int warps) {
  const int lane = threadIdx.x % 32, thread = threadIdx.x - team * warps * 32;
  float *mine = buffer + turn * (warps * kPadded);
  mine[thread / 32 * kPadded + spreadIndex<kPadded>(lane)] = spreadSums<kPadded>(sums);
  syncNamed(1 + team, warps * 32);
  float total = 0;
  if (thread < kValues) {
    total = mine[thread];
    for (int other = 1; other < warps; ++other)
      total += mine[other * kPadded + thread];
  }
  return total;
}

} // namespace mhcrt

#endif // MHCRT_CUDA_TILE_ROWS_CUH
