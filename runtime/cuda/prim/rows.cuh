//===- rows.cuh - Rows of tokens through a ring in shared memory -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One warp copies, teams of warps work. A stage is a piece of a token: 512 bytes per warp of a team of each of kRows
// rows, 16 bytes a thread. Each team has a token of its own, and their pieces take turns in the ring, whose stages are
// a multiple of the teams: a stage always serves the same team, so that nobody waits for a phase before the last one is
// over. What a team does at a token's end does not hold up the copies.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PRIM_ROWS_CUH
#define MHCRT_CUDA_PRIM_ROWS_CUH

#include "columns.cuh"
#include "team.cuh"

namespace mhcrt {

constexpr int kRowRingBytes = 220 * 1024; ///< the rest is for sums and barriers
constexpr int kMostStages = 48;
constexpr int kWorkWarps = 15; ///< with the copying warp 16: 128 registers a thread

/// Where a row of each token is.
struct RowSource {
  const char *base;
  int64_t tokenBytes;
};

/// How a width is cut. All from C alone, but for the number of blocks.
struct RowPlan {
  int warps;      ///< of a team
  int teams;      ///< of a block
  int pieces;     ///< of a token
  int stages;     ///< of the ring
  int stageBytes; ///< of all rows
  uint32_t rowBytes;
  uint32_t M;

  RowPlan(int64_t M, int64_t rowBytes, int rows)
      : rowBytes(static_cast<uint32_t>(rowBytes)), M(static_cast<uint32_t>(M)) {
    warps = teamWarps(rowBytes / 16);
    teams = std::max(1, kWorkWarps / warps);
    pieces = static_cast<int>((rowBytes + warps * 512 - 1) / (warps * 512));
    stageBytes = rows * warps * 512;
    stages = std::min(kMostStages, kRowRingBytes / stageBytes) / teams * teams;
  }
  int threads() const { return 32 * (1 + warps * teams); }
  int sharedBytes() const { return stages * stageBytes; }
};

/// The ring of a block; full and free barriers of a stage side by side.
template <int kRows>
struct RowRing {
  const RowPlan &plan;
  uint32_t memory, bars;

  __device__ uint32_t full(int stage) const { return bars + 16 * stage; }
  __device__ uint32_t free(int stage) const { return bars + 16 * stage + 8; }
  __device__ uint32_t row(int stage, int k) const { return memory + stage * plan.stageBytes + k * (plan.warps * 512); }

  __device__ void init() const {
    for (int stage = threadIdx.x; stage < plan.stages; stage += blockDim.x) {
      barrierInit(full(stage), 1);
      barrierInit(free(stage), plan.warps);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    fenceBulk();
  }

  /// By one warp: lane k copies row k.
  __device__ void copyAll(const RowSource (&sources)[kRows]) const {
    int stage = 0;
    uint32_t parity = 1;
    for (uint32_t first = blockIdx.x; first < plan.M; first += plan.teams * gridDim.x)
      for (int piece = 0; piece < plan.pieces; ++piece)
        for (int team = 0; team < plan.teams; ++team) {
          const uint32_t token = first + team * gridDim.x, offset = piece * (plan.warps * 512);
          if (token < plan.M) {
            barrierWait(free(stage), parity);
            copy(sources, token, offset, stage);
          }
          if (++stage == plan.stages) {
            stage = 0;
            parity ^= 1;
          }
        }
  }

private:
  __device__ void copy(const RowSource (&sources)[kRows], uint32_t token, uint32_t offset, int stage) const {
    const int lane = threadIdx.x % 32;
    const uint32_t bytes = min(plan.warps * 512u, plan.rowBytes - offset);
    if (lane == 0)
      barrierExpect(full(stage), kRows * bytes);
    __syncwarp();
#pragma unroll
    for (int k = 0; k < kRows; ++k)
      if (lane == k)
        bulkLoad(row(stage, k), sources[k].base + token * sources[k].tokenBytes + offset, bytes, full(stage));
  }
};

/// Where a team is in the ring.
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
  asm volatile("bar.sync %0, %1;" ::"r"(1 + team), "r"(warps * 32) : "memory");
  float total = 0;
  if (thread < kValues) {
    total = mine[thread];
    for (int other = 1; other < warps; ++other)
      total += mine[other * kPadded + thread];
  }
  return total;
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PRIM_ROWS_CUH
