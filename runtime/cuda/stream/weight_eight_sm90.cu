//===- weight_eight_sm90.cu - dW of a projection of eight bf16 streams ----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dW[j,k] = sum_m d_proj[m,j] * x[m,k]
//
// Plan    A launch packs d_proj, 80 rows of first terms of bf16 and 80 of second ones, as rows of tokens. Then a block
//         has 192 elements of K and a run of tokens, a warpgroup 64 of them for all columns: A is x as it lies in
//         memory, whose rows are values of M. A thread copies boxes of 64 tokens of both; their sums, which matrix
//         units do not round to nearest, are added in registers.
// Bytes   per token K elements of x, and 320 for d_proj per 192 elements of K from the second-level cache; for each
//         run 320K of sums.
// Needs   bf16 x, N at most 80, K a multiple of 64.
// Round   two bf16 terms of d_proj; f32 sums.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/LaunchOverlapping.h"
#include "cuda/host/TensorMap.h"
#include "cuda/ptx/Barrier.cuh"
#include "cuda/ptx/BulkCopy.cuh"
#include "cuda/ptx/Mma.cuh"
#include "cuda/ptx/Overlap.cuh"
#include "cuda/ptx/Registers.cuh"
#include "cuda/ptx/Warpgroup.cuh"
#include "cuda/stream/StreamTiles.h"
#include "cuda/tile/RingPlace.cuh"

#include <algorithm>

using namespace mhcrt;

namespace {

constexpr int kColumns = 80, kRows = 2 * kColumns; ///< rows of d_proj in two terms
constexpr int kBox = 64;                           ///< tokens of a slot, and elements of K of a warpgroup
constexpr int kGroups = 3, kThreads = 128 * (kGroups + 1);
constexpr int kXBytes = kBox * kBox * 2, kProjBytes = kRows * kBox * 2;
constexpr int kProj = kGroups * kXBytes, kSlotBytes = kProj + kProjBytes; ///< d_proj's place in a slot
constexpr int kSlots = 5, kBarriers = kSlots * kSlotBytes, kSharedBytes = kBarriers + 2 * kSlots * 8;
static_assert(kSlotBytes % 1024 == 0 && kSharedBytes <= 232448);

struct WeightEight {
  float *partials; ///< [run][N][K]
  int64_t M, N, K, length;
  int32_t slices, units; ///< units: a slice of K for a run of tokens
};

/// The work of a block, unit by unit.
struct Walk {
  const WeightEight &args;
  int unit = blockIdx.x;

  __device__ bool more() const { return unit < args.units; }
  __device__ void next() { unit += gridDim.x; }
  __device__ int slice() const { return unit % args.slices; }
  __device__ int64_t run() const { return unit / args.slices; }
  __device__ int first() const { return static_cast<int>(run() * args.length / kBox); }
  __device__ int last() const { return static_cast<int>((min(args.M, (run() + 1) * args.length) + kBox - 1) / kBox); }
};

struct Ring {
  uint32_t memory;
  RingPlace<kSlots> place{memory + kBarriers};

  __device__ uint32_t slot() const { return memory + place.slot * kSlotBytes; }
  /// Called by one thread.
  __device__ void init() const {
    for (int k = 0; k < 2 * kSlots; ++k)
      barrierInit(memory + kBarriers + 8 * k, k < kSlots ? 1 : 4 * kGroups);
    fenceBarrierInit();
  }
};

/// Called by one thread.
__device__ void loadBoxes(const WeightEight &args, Ring ring, const CUtensorMap *mapX, const CUtensorMap *mapProj) {
  for (Walk walk{args}; walk.more(); walk.next())
#pragma unroll 1
    for (int box = walk.first(); box < walk.last(); ++box, ring.place.advance()) {
      barrierWait(ring.place.free(), ring.place.parity ^ 1);
      barrierExpect(ring.place.full(), kSlotBytes);
      loadChannels(ring.slot(), mapX, box * kBox, walk.slice() * kGroups, ring.place.full());
      loadChannels(ring.slot() + kProj, mapProj, 0, box, ring.place.full());
    }
}

/// A lane's share of 64 elements of K by 80 columns, as multiplyWide() has them.
using Sums = float[kColumns / 2];

__device__ __forceinline__ void storeSums(const WeightEight &args, const Walk &walk, int group, const Sums &sums) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int64_t k = (int64_t(walk.slice()) * kGroups + group) * kBox + 16 * warp + lane / 4 + 8 * half;
    float *to = args.partials + (walk.run() * args.N + lane % 4 * 2) * args.K + k;
#pragma unroll
    for (int j = 0; j < kColumns / 8; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (k < args.K && 8 * j + lane % 4 * 2 + e < args.N)
          to[(8 * j + e) * args.K] = sums[4 * j + 2 * half + e];
  }
}

__device__ void multiplyBoxes(const WeightEight &args, Ring ring, int group) {
  for (Walk walk{args}; walk.more(); walk.next()) {
    Sums sums = {};
#pragma unroll 1
    for (int box = walk.first(); box < walk.last(); ++box, ring.place.advance()) {
      float products[kRows / 2];
      barrierWait(ring.place.full(), ring.place.parity);
      const uint64_t x = operandAt(ring.slot() + group * kXBytes), proj = operandAt(ring.slot() + kProj);
      constexpr int kStep = 16 * kBox * 2 / 16; // 16 tokens of x, of 16 bytes
      beginProducts();
#pragma unroll
      for (int step = 0; step < kBox / 16; ++step)
        multiplyWide<WideRows::ofM>(products, x + step * kStep, proj + 2 * step, step > 0);
      commitProducts();
      waitProducts(products);
      if (threadIdx.x % 32 == 0)
        barrierArrive(ring.place.free());
#pragma unroll
      for (int j = 0; j < kColumns / 2; ++j)
        sums[j] += products[j] + products[kColumns / 2 + j];
    }
    storeSums(args, walk, group, sums);
  }
}

__global__ void __launch_bounds__(kThreads, 1)
    weightEightSm90Kernel(const __grid_constant__ WeightEight args, const __grid_constant__ CUtensorMap x,
                          const __grid_constant__ CUtensorMap proj) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const Ring ring{sharedAddress(shared)};
  if (threadIdx.x == 0)
    ring.init();
  __syncthreads();
  beginOverlapped();
  const int group = threadIdx.x / 128;
  if (group == kGroups) {
    lowerRegisters<40>();
    if (threadIdx.x == 128 * kGroups)
      loadBoxes(args, ring, &x, &proj);
  } else {
    raiseRegisters<152>();
    multiplyBoxes(args, ring, group);
  }
}

constexpr int kPackThreads = 256;

/// d_proj in two bf16 terms, [kRows][tokens]: a block has 64 tokens, a thread two at a time. Zero behind the last.
__global__ void __launch_bounds__(kPackThreads)
    weightEightPackSm90Kernel(const float *dProj, int64_t M, int64_t N, uint32_t *to) {
  __shared__ float proj[kBox][kColumns + 1];
  beginOverlapped();
  const int64_t first = int64_t(blockIdx.x) * kBox, pairs = int64_t(gridDim.x) * (kBox / 2);
  for (int item = threadIdx.x; item < kBox * kColumns; item += kPackThreads) {
    const int t = item / kColumns, j = item % kColumns;
    proj[t][j] = first + t < M && j < N ? dProj[(first + t) * N + j] : 0.0f;
  }
  __syncthreads();
  for (int item = threadIdx.x; item < kColumns * kBox / 2; item += kPackThreads) {
    const int j = item / (kBox / 2), pair = item % (kBox / 2);
    uint32_t *at = to + j * pairs + first / 2 + pair;
    splitBf16(proj[2 * pair][j], proj[2 * pair + 1][j], at[0], at[kColumns * pairs]);
  }
}

int64_t boxesOf(const ProjectionBwdArgs &a) { return divideUp(a.M, kBox); }

} // namespace

int64_t mhcrt::weightEightSm90Bytes(const ProjectionBwdArgs &a) { return saturatingMul(boxesOf(a), kProjBytes); }

cudaError_t mhcrt::weightEightSm90(const ProjectionBwdArgs &a, float *partials, void *scratch, int multiprocessors,
                                   cudaStream_t stream) {
  const int64_t boxes = boxesOf(a);
  CUtensorMap x, proj;
  cudaError_t error = channelsMap(x, a.x, {a.M, a.K, kBox, kGroups});
  if (!error)
    error = channelsMap(proj, scratch, {kRows, boxes * kBox, kRows, 1});
  if (!error)
    error = launchOverlapping(weightEightPackSm90Kernel, static_cast<unsigned>(boxes), kPackThreads, 1, 0, stream,
                              static_cast<const float *>(a.d_proj), a.M, a.N, static_cast<uint32_t *>(scratch));
  if (!error)
    error = allowShared<weightEightSm90Kernel>(kSharedBytes);
  if (error)
    return error;
  const generic::TokenRuns runs = streamTilesRuns(a);
  const auto slices = static_cast<int32_t>(divideUp(a.K, kGroups * kBox));
  const auto units = static_cast<int32_t>(slices * runs.count);
  const WeightEight args = {partials, a.M, a.N, a.K, runs.length, slices, units};
  return launchOverlapping(weightEightSm90Kernel, static_cast<unsigned>(std::min(units, multiprocessors)), kThreads, 1,
                           kSharedBytes, stream, args, x, proj);
}
