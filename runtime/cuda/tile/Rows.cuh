//===- Rows.cuh - Rows of tokens in a ring in shared memory -----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One warp copies, teams of warps work. A stage is a piece of every row of a token, one or two times 16 bytes per
// thread of a team: shorter copies do not keep up with the memory. Rows of one tensor are neighbours in it; where a
// stage has the whole token, one copy takes them all. Each team has a token of its own, and their pieces take turns in
// the ring, whose stages are a multiple of the teams: a stage always serves the same team, so that nobody waits for a
// phase before the last one is over. What a team does at a token's end does not hold up the copies. A block takes runs
// of tokens, whose teams take turns.
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

/// A tensor of one or four rows a token, each `width` times as long as those of the others. Of four that are equal,
/// memory has one.
struct RowSource {
  const char *base;
  uint32_t rows, width = 1;
  bool isEqual = false;

  __device__ uint64_t at(uint32_t token, uint32_t row) const { return isEqual ? token : uint64_t(token) * rows + row; }
};

constexpr int kSources = 4;
constexpr int kTokenRows = 9;  ///< of all sources but the last
constexpr int64_t kRuns = 128; ///< of sums over tokens, at most

/// Work of a kernel beside nine rows of a token that it reads.
struct RowExtras {
  bool writesFour;
  int mostWarps = kWorkWarps; ///< that work
  uint32_t lastWidth = 0;     ///< of four more rows that it reads; 0 where there are none
  uint32_t teamBytes = 0;     ///< that a team keeps over a run of tokens; 0 where it keeps nothing
  bool hasEqual = false;      ///< sources

  /// Whether four rows a token are written and nothing else is read or kept. Equal streams have the bits of others.
  bool isPlain() const { return writesFour && mostWarps == kWorkWarps && !lastWidth && !teamBytes; }
};

/// A team of a width where four rows a token are written, and how many times its threads' 16 bytes a stage has of each.
struct RowTeam {
  uint32_t rowBytes;
  int warps, turns;
};

/// Faster on an H200 than what the rule below gives these widths, by 3 to 8 % from some 1000 tokens on: the memory's
/// speed depends on how reads and writes are cut, by no rule that was found (docs/performance.md, "Gradients of post,
/// one H200").
constexpr RowTeam kRowTeams[] = {{2560, 3, 2}, {4096, 3, 2}, {5120, 2, 2}, {8192, 7, 2}, {10240, 3, 1}, {14336, 6, 2}};

/// Partition of a width. All follows from C and the extras alone, but for the number of blocks, and runs from M.
struct RowPlan {
  int warps;  ///< of a team
  int teams;  ///< of a block
  int stages; ///< of the ring
  uint32_t rowBytes;
  uint32_t pieceBytes; ///< of a row in a stage
  uint32_t pitch;      ///< from row to row in a stage
  uint32_t tokenRows;  ///< that a stage has room for
  uint32_t M, run;     ///< tokens, of all and of a run: a multiple of the teams, or 0 where there are no runs
  bool hasEqual;       ///< sources, whose rows are not one behind the other

  /// Four rows written per token are slower with pieces of two turns, unless these are the whole token or the width
  /// has a team of its own.
  RowPlan(int64_t M, int64_t bytes, const RowExtras &extras)
      : rowBytes(static_cast<uint32_t>(bytes)), tokenRows(kTokenRows + 4 * extras.lastWidth),
        M(static_cast<uint32_t>(M)), hasEqual(extras.hasEqual) {
    warps = teamWarps(rowBytes / 16);
    const uint32_t turn = warps * 512;
    pieceBytes = rowBytes <= turn || (extras.writesFour && rowBytes > 2 * turn) ? turn : 2 * turn;
    for (const RowTeam &team : kRowTeams)
      if (extras.isPlain() && team.rowBytes == rowBytes) {
        warps = team.warps;
        pieceBytes = warps * 512 * team.turns;
      }
    pitch = std::min(rowBytes, pieceBytes);
    teams = std::max(1, extras.mostWarps / warps) + 1;
    do { // until there are two stages for each
      --teams;
      const int64_t room = int64_t(kRowRingBytes) - teams * int64_t(extras.teamBytes);
      stages = static_cast<int>(std::clamp<int64_t>(room / stageBytes(), 0, kMostStages)) / teams * teams;
    } while (teams > 1 && stages < 2 * teams);
    const int64_t tokens = extras.teamBytes ? (M + kRuns - 1) / kRuns : 0;
    run = static_cast<uint32_t>((tokens + teams - 1) / teams * teams);
  }
  __host__ __device__ uint32_t stageBytes() const { return tokenRows * pitch; }
  __host__ __device__ bool isWhole() const { return pieceBytes >= rowBytes; }
  __host__ __device__ uint32_t ringBytes() const { return stages * stageBytes(); }
  int threads() const { return 32 * (1 + warps * teams); }
  /// Runs, or tokens where there are none.
  uint32_t runs() const { return run ? (M + run - 1) / run : M; }
};

/// The tokens of a team: where there are runs one run after the other, else in turns with the other blocks.
struct TeamWalk {
  uint32_t first, at; ///< token of the block, and of the team behind it

  __device__ TeamWalk(const RowPlan &plan, int team)
      : first(blockIdx.x * std::max(plan.run, 1u)), at(team * apart(plan)) {}
  /// Tokens from one team's to the next team's.
  __device__ static uint32_t apart(const RowPlan &plan) { return plan.run ? 1 : gridDim.x; }
  __device__ uint32_t token() const { return first + at; }
  /// True where another run begins.
  __device__ bool next(const RowPlan &plan) {
    at += plan.teams * apart(plan);
    if (!plan.run || at < plan.run)
      return false;
    at -= plan.run;
    first += gridDim.x * plan.run;
    return true;
  }
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
    for (TeamWalk walk(plan, 0); walk.token() < plan.M; walk.next(plan))
      for (uint32_t piece = 0; piece < plan.rowBytes; piece += plan.pieceBytes)
        for (int team = 0; team < plan.teams; ++team) {
          const uint32_t token = walk.token() + team * TeamWalk::apart(plan);
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
  /// Lane k copies row k, or where rows are whole and none is equal to others, source k.
  __device__ void copy(const RowSource (&sources)[kSources], uint32_t token, uint32_t piece, int stage) const {
    const int lane = threadIdx.x % 32;
    const uint32_t bytes = min(plan.pieceBytes, plan.rowBytes - piece);
    if (lane == 0)
      barrierExpect(full(stage), plan.tokenRows * bytes);
    __syncwarp();
    const bool isWhole = plan.isWhole() && !plan.hasEqual;
    const int source = isWhole ? lane : lane / 4, row = isWhole ? 0 : lane % 4;
#pragma unroll
    for (int k = 0; k < kSources; ++k) {
      const uint32_t rows = sources[k].rows, width = sources[k].width;
      if (source == k && row < rows)
        bulkLoad(this->row(stage, (k + 1 < kSources ? 4 * k : kTokenRows) + row * width),
                 sources[k].base + (sources[k].at(token, row) * plan.rowBytes + piece) * width,
                 (isWhole ? rows * bytes : bytes) * width, full(stage));
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
