//===- projection_eight_sm90.cu - projection of eight streams -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   proj[m,j] = sum_k x[m,k] * phi[j,k] * norm_weight[k]     stat[m] from (1/K) sum_k x[m,k]^2
//
// Plan    phi is too large to stay anywhere, so a block has as many tokens as registers hold sums of, 128 by 80 columns
//         in two terms, and phi comes from the second-level cache once for a cluster. First it is packed, 80 rows of
//         first terms of bf16 and 80 of second ones. Then blocks of a cluster, of neighbouring tokens, go over a part
//         of K: a thread copies boxes of x, one those of phi, a share a block to all of them; two warpgroups multiply
//         64 tokens each. At last the parts are added.
// Bytes   per token K elements of x, and for each part 324 to write and read sums.
// Needs   bf16 x; 5 to 8 streams, N from 25 to 80, K a multiple of 64; any layout; room for a cluster.
// Round   phi in two bf16 terms, products exact; sums of 512 values of K in matrix units, all others in f32. Only K
//         decides their order.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Norm.cuh"
#include "cuda/algebra/Phi.cuh"
#include "cuda/host/LaunchOverlapping.h"
#include "cuda/host/TensorMap.h"
#include "cuda/kernels/Generic.h"
#include "cuda/kernels/Projection.h"
#include "cuda/ptx/Barrier.cuh"
#include "cuda/ptx/BulkCopy.cuh"
#include "cuda/ptx/Cluster.cuh"
#include "cuda/ptx/Mma.cuh"
#include "cuda/ptx/Multicast.cuh"
#include "cuda/ptx/Overlap.cuh"
#include "cuda/ptx/Registers.cuh"
#include "cuda/ptx/Warpgroup.cuh"
#include "cuda/ring/RingLaunch.cuh"
#include "cuda/tile/RingPlace.cuh"

#include <algorithm>

using namespace mhcrt;

namespace {

constexpr int kColumns = 80, kRows = 2 * kColumns; ///< rows of phi in two terms
constexpr int kBox = 64;                           ///< values of K in a box
constexpr int kGroupTokens = 64, kGroups = 2, kTokens = kGroups * kGroupTokens;
constexpr int kThreads = 128 * (kGroups + 1);
constexpr int kCluster = 2;

constexpr int kBoxes = 2; ///< that are copied at once: lines of memory want more, and their slots fewer
constexpr int kXSlots = 4, kPhiSlots = 2;
constexpr int kXBytes = kTokens * kBox * 2, kPhiBytes = kRows * kBox * 2;         ///< of a box
constexpr int kShareRows = kRows / kCluster, kShareBytes = kShareRows * kBox * 2; ///< of phi that a block copies
constexpr int kPhi = kXSlots * kBoxes * kXBytes, kBarriers = kPhi + kPhiSlots * kBoxes * kPhiBytes;
constexpr int kSharedBytes = kBarriers + 2 * (kXSlots + kPhiSlots) * 8;
static_assert(kShareBytes % 1024 == 0 && kSharedBytes <= 232448);

/// A flush is what matrix units add, in f32 the others: those of a section one by one, then the sections.
constexpr int kFlushBoxes = 8, kSectionFlushes = 16;

struct Eight {
  float *sums;    ///< [part][M][kColumns]
  float *squares; ///< [part][M]
  int64_t M;
  int32_t flushes, run, parts, units; ///< run: flushes of a part; units: a part for the tokens of a cluster
};

/// Work of a cluster, unit by unit.
struct Walk {
  const Eight &args;
  int unit = clusterIndex();

  __device__ bool more() const { return unit < args.units; }
  __device__ void next() { unit += clusterCount(); }
  __device__ int part() const { return unit % args.parts; }
  __device__ int first() const { return part() * args.run; }
  __device__ int last() const { return min(args.flushes, first() + args.run); }
  __device__ int firstBox() const { return first() * kFlushBoxes; }
  __device__ int lastBox() const { return last() * kFlushBoxes; }
  __device__ int64_t firstToken() const { return (int64_t(unit / args.parts) * kCluster + clusterRank()) * kTokens; }
};

struct Rings {
  uint32_t memory;
  RingPlace<kXSlots> x{memory + kBarriers};
  RingPlace<kPhiSlots> phi{memory + kBarriers + 16 * kXSlots};

  __device__ uint32_t xAt() const { return memory + x.slot * (kBoxes * kXBytes); }
  __device__ uint32_t phiAt() const { return memory + kPhi + phi.slot * (kBoxes * kPhiBytes); }

  /// Called by one warp. A slot of x is read by the block's warps, one of phi is written by and for all blocks.
  __device__ void init() const {
    const int k = threadIdx.x;
    constexpr int kX = 2 * kXSlots, kWarps = 4 * kGroups;
    if (k < kX + 2 * kPhiSlots)
      barrierInit(memory + kBarriers + 8 * k, k < kXSlots          ? 1
                                              : k < kX             ? kWarps
                                              : k < kX + kPhiSlots ? 1
                                                                   : kWarps * kCluster);
    fenceBarrierInit();
  }
};

/// Called by one thread.
__device__ void copyX(const Eight &args, Rings rings, const CUtensorMap *map) {
  for (Walk walk{args}; walk.more(); walk.next())
#pragma unroll 1
    for (int box = walk.firstBox(); box < walk.lastBox(); box += kBoxes, rings.x.advance()) {
      barrierWait(rings.x.free(), rings.x.parity ^ 1);
      barrierExpect(rings.x.full(), kBoxes * kXBytes);
      loadChannels(rings.xAt(), map, static_cast<int>(walk.firstToken()), box, rings.x.full());
    }
}

/// Called by one thread: the block's share, to all blocks.
__device__ void copyPhi(const Eight &args, Rings rings, const CUtensorMap *map) {
  const uint32_t share = clusterRank();
  for (Walk walk{args}; walk.more(); walk.next())
#pragma unroll 1
    for (int box = walk.firstBox(); box < walk.lastBox(); box += kBoxes, rings.phi.advance()) {
      barrierWaitRemote(rings.phi.free(), rings.phi.parity ^ 1);
      barrierExpect(rings.phi.full(), kBoxes * kPhiBytes);
      for (int k = 0; k < kBoxes; ++k)
        loadChannelsForAll(rings.phiAt() + k * kPhiBytes + share * kShareBytes, map, share * kShareRows, box + k,
                           rings.phi.full(), (1 << kCluster) - 1);
    }
  for (int k = 0; k < kPhiSlots; ++k, rings.phi.advance()) // what other blocks' arrivals write is there before it ends
    barrierWaitRemote(rings.phi.free(), rings.phi.parity ^ 1);
}

/// The squares of half of a token's values of a box.
__device__ __forceinline__ float squaresOf(uint32_t x, int token, int half) {
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const uint4 v = loadShared4(x + token * 128 + ((half * 4 + k) ^ (token & 7)) * 16);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float low = lowBf16(part(v, e)), high = highBf16(part(v, e));
      sum = fmaf(low, low, fmaf(high, high, sum));
    }
  }
  return sum;
}

/// A lane's share of 64 tokens by 80 columns, as multiplyWide() has them.
using Sums = float[kColumns / 2];

/// A warpgroup's products of a slot: begun here, awaited by who needs them.
__device__ __forceinline__ void multiplySlot(float (&products)[kRows / 2], uint32_t x, uint32_t phi, bool adds) {
  beginProducts();
#pragma unroll
  for (int box = 0; box < kBoxes; ++box) {
    const uint64_t a = operandAt(x + box * kXBytes), b = operandAt(phi + box * kPhiBytes);
#pragma unroll
    for (int step = 0; step < kBox / 16; ++step)
      multiplyWide(products, a + 2 * step, b + 2 * step, adds || box + step > 0);
  }
  commitProducts();
}

/// Products and squares of a warpgroup's tokens and one flush; the squares of a token are those of two lanes.
__device__ __forceinline__ void multiplyFlush(Rings &rings, int group, float (&products)[kRows / 2], float &squares) {
  const int lane = threadIdx.x % 32, inGroup = threadIdx.x % 128;
#pragma unroll 1
  for (int box = 0; box < kFlushBoxes; box += kBoxes) {
    const uint32_t x = rings.xAt() + group * (kGroupTokens * kBox * 2);
    barrierWait(rings.x.full(), rings.x.parity);
    barrierWait(rings.phi.full(), rings.phi.parity);
    multiplySlot(products, x, rings.phiAt(), box > 0);
#pragma unroll
    for (int k = 0; k < kBoxes; ++k)
      squares += squaresOf(x + k * kXBytes, inGroup / 2, inGroup % 2);
    waitProducts(products);
    __syncwarp();
    if (lane < kCluster)
      barrierArriveRemote(remoteAddress(rings.phi.free(), lane));
    if (lane == 0)
      barrierArrive(rings.x.free());
    rings.phi.advance();
    rings.x.advance();
  }
  squares += __shfl_xor_sync(~0u, squares, 1);
}

/// Stores a part's sums.
__device__ __forceinline__ void storeSums(const Eight &args, const Walk &walk, int group, const Sums &sums,
                                          float squares) {
  const int lane = threadIdx.x % 32, inGroup = threadIdx.x % 128;
  const int64_t first = walk.firstToken() + group * kGroupTokens, row = int64_t(walk.part()) * args.M;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int64_t token = first + inGroup / 32 * 16 + lane / 4 + 8 * half;
    if (token >= args.M)
      continue;
    float *to = args.sums + (row + token) * kColumns + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < kColumns / 8; ++j)
      *reinterpret_cast<float2 *>(to + 8 * j) = make_float2(sums[4 * j + 2 * half], sums[4 * j + 2 * half + 1]);
  }
  const int64_t token = first + inGroup / 2;
  if (lane % 2 == 0 && token < args.M)
    args.squares[row + token] = squares;
}

__device__ void multiplyRole(const Eight &args, Rings rings, int group) {
  for (Walk walk{args}; walk.more(); walk.next()) {
    Sums sums = {};
    float squares = 0;
#pragma unroll 1
    for (int flush = walk.first(); flush < walk.last(); ++flush) {
      float products[kRows / 2], ofFlush = 0;
      multiplyFlush(rings, group, products, ofFlush);
#pragma unroll
      for (int j = 0; j < kColumns / 2; ++j)
        sums[j] += products[j] + products[kColumns / 2 + j];
      squares += ofFlush;
    }
    storeSums(args, walk, group, sums, squares);
  }
}

__global__ void __launch_bounds__(kThreads, 1)
    projectionEightKernel(const __grid_constant__ Eight args, const __grid_constant__ CUtensorMap x,
                          const __grid_constant__ CUtensorMap phi) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const Rings rings{sharedAddress(shared)};
  if (threadIdx.x < 32)
    rings.init();
  __syncthreads();
  clusterArrive();
  clusterWait(); // the other blocks' barriers are there
  beginOverlapped();
  const int group = threadIdx.x / 128;
  if (group == kGroups) {
    lowerRegisters<40>();
    if (threadIdx.x == 128 * kGroups)
      copyX(args, rings, &x);
    else if (threadIdx.x == 128 * kGroups + 32)
      copyPhi(args, rings, &phi);
  } else {
    raiseRegisters<232>();
    multiplyRole(args, rings, group);
  }
  __syncwarp();
  clusterArrive(); // nobody leaves while another block may still write to it
  clusterWait();
}

constexpr int kPackThreads = 256, kPackValues = 8;

/// phi in two bf16 terms, [kRows][K]: a thread has eight values of a column, whose loads are under way together. Zero
/// behind the last column.
__global__ void __launch_bounds__(kPackThreads) eightPackKernel(PhiElements<AnyInput> phi, uint4 *to) {
  beginOverlapped();
  const int64_t groups = phi.K / kPackValues, item = int64_t(blockIdx.x) * kPackThreads + threadIdx.x;
  if (item >= kColumns * groups)
    return;
  const int64_t j = item / groups, k = item % groups * kPackValues;
  float values[kPackValues] = {};
  if (j < phi.N && phi.phi.rowsFirst() && phi.phi.type == MHCRT_F32 &&
      reinterpret_cast<uintptr_t>(phi.phi.phi) % 16 == 0) {
    const auto *from = reinterpret_cast<const float4 *>(static_cast<const float *>(phi.phi.phi) + phi.index(j, k));
    const float4 low = from[0], high = from[1];
    values[0] = low.x, values[1] = low.y, values[2] = low.z, values[3] = low.w;
    values[4] = high.x, values[5] = high.y, values[6] = high.z, values[7] = high.w;
  } else if (j < phi.N) {
#pragma unroll
    for (int e = 0; e < kPackValues; ++e)
      values[e] = phi.at(j, k + e);
  }
  if (j < phi.N && phi.phi.weight)
#pragma unroll
    for (int e = 0; e < kPackValues; ++e)
      values[e] *= phi.scale(k + e);
  uint4 first, second;
  splitBf16(values[0], values[1], first.x, second.x);
  splitBf16(values[2], values[3], first.y, second.y);
  splitBf16(values[4], values[5], first.z, second.z);
  splitBf16(values[6], values[7], first.w, second.w);
  to[item] = first;
  to[kColumns * groups + item] = second;
}

constexpr int kFinishThreads = 256, kFinishTokens = kFinishThreads / 32;

struct Finish {
  const float *sums, *squares;
  float *proj, *stat;
  int64_t M, N, K;
  int32_t parts, sectionParts, norm, statForm;
  float normEps;
};

/// Adds the parts, a warp per token.
__global__ void __launch_bounds__(kFinishThreads) eightFinishKernel(const __grid_constant__ Finish args) {
  beginOverlapped();
  const int64_t token = int64_t(blockIdx.x) * kFinishTokens + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (token >= args.M)
    return;
  float sums[3] = {}, squares = 0;
  for (int section = 0; section < args.parts; section += args.sectionParts) {
    float ofSection[3] = {}, squaresOfSection = 0;
#pragma unroll 4
    for (int part = section; part < min(args.parts, section + args.sectionParts); ++part) {
      const int64_t row = part * args.M + token;
      squaresOfSection += args.squares[row];
#pragma unroll
      for (int k = 0; k < 3; ++k)
        ofSection[k] += args.sums[row * kColumns + min(lane + 32 * k, kColumns - 1)];
    }
    squares += squaresOfSection;
#pragma unroll
    for (int k = 0; k < 3; ++k)
      sums[k] += ofSection[k];
  }
  const float meanSquare = squares / static_cast<float>(args.K);
  const float s = normMultiplier(meanSquare, args.norm, args.normEps);
#pragma unroll
  for (int k = 0; k < 3; ++k)
    if (lane + 32 * k < args.N)
      args.proj[token * args.N + lane + 32 * k] = args.statForm == MHCRT_STAT_APPLIED ? s * sums[k] : sums[k];
  if (lane == 0 && args.statForm != MHCRT_STAT_APPLIED)
    args.stat[token] = args.statForm == MHCRT_STAT_INV_RMS ? s : meanSquare;
}

/// The kernel as ringClusters() asks for it.
struct Shape {
  static constexpr int kSplit = kCluster, kThreads = ::kThreads, kBytes = kSharedBytes;
  static constexpr bool kThroughMemory = false;
};

int clustersOf() { return ringClusters<Shape, projectionEightKernel>(); }

/// How a call is divided, and the parts of its scratch memory. Where sections are for fewer than half of the clusters,
/// each flush is a part.
struct Rooms {
  int32_t flushes, run = kSectionFlushes, parts, units;
  int64_t phi, sums, squares;
  generic::ScratchPlan plan;

  explicit Rooms(const ProjectionArgs &a) {
    const int64_t tiles = divideUp(a.M, kTokens * kCluster);
    flushes = static_cast<int32_t>(divideUp(a.K, kBox * kFlushBoxes));
    if (2 * tiles * divideUp(flushes, run) < clustersOf())
      run = 1;
    parts = static_cast<int32_t>(divideUp(flushes, run));
    units = static_cast<int32_t>(tiles * parts);
    phi = plan.add(saturatingMul(kRows * 2, a.K));
    sums = plan.addFloats(saturatingMul(parts, a.M), kColumns);
    squares = plan.addFloats(parts, a.M);
  }
};

} // namespace

bool mhcrt::projectionEightTakes(const ProjectionArgs &a, Needs &needs) {
  return needs.that(a.n > 4, "more than 4 streams") && needs.that(a.N > 24, "more than 24 columns") &&
         needs.atMost("N", a.N, kColumns) && needs.type("x", a.x_type, MHCRT_BF16) && needs.multiple("K", a.K, kBox) &&
         needs.atMost("K", a.K, (1 << 24) - 1) && needs.atMost("M", a.M, (int64_t(1) << 30) - 1) &&
         needs.aligned({a.x}) && needs.clusters(clustersOf(), kCluster);
}

int64_t mhcrt::projectionEightBytes(const ProjectionArgs &a) { return Rooms(a).plan.bytes(); }

cudaError_t mhcrt::projectionEight(const ProjectionArgs &a, void *scratch, cudaStream_t stream) {
  const Rooms rooms(a);
  auto *base = static_cast<char *>(scratch);
  auto *packed = reinterpret_cast<uint4 *>(base + rooms.phi);
  auto *sums = reinterpret_cast<float *>(base + rooms.sums), *squares = reinterpret_cast<float *>(base + rooms.squares);
  CUtensorMap x, phi;
  cudaError_t error = channelsMap(x, a.x, {a.M, a.K, kTokens, kBoxes});
  if (!error)
    error = channelsMap(phi, packed, {kRows, a.K, kShareRows, 1});
  if (!error)
    error =
        launchOverlapping(eightPackKernel, static_cast<unsigned>(divideUp(kColumns * a.K / kPackValues, kPackThreads)),
                          kPackThreads, 1, 0, stream, phiElementsOf(a, a.N), packed);
  if (error)
    return error;
  const Eight args = {sums, squares, a.M, rooms.flushes, rooms.run, rooms.parts, rooms.units};
  const auto blocks = static_cast<unsigned>(std::min(rooms.units, clustersOf()) * kCluster);
  error = launchOverlapping(projectionEightKernel, blocks, kThreads, kCluster, kSharedBytes, stream, args, x, phi);
  if (error)
    return error;
  const Finish finish = {sums,
                         squares,
                         static_cast<float *>(a.proj),
                         static_cast<float *>(a.stat),
                         a.M,
                         a.N,
                         a.K,
                         rooms.parts,
                         kSectionFlushes / rooms.run,
                         a.norm,
                         a.stat_form,
                         static_cast<float>(a.norm_eps)};
  return launchOverlapping(eightFinishKernel, static_cast<unsigned>(divideUp(a.M, kFinishTokens)), kFinishThreads, 1, 0,
                           stream, finish);
}
