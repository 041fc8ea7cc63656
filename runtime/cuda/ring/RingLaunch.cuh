//===- RingLaunch.cuh - Shapes of the ring kernel, their launch -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_RING_RINGLAUNCH_CUH
#define MHCRT_CUDA_RING_RINGLAUNCH_CUH

#include "cuda/host/Context.h"
#include "cuda/host/LaunchOverlapping.h"
#include "cuda/host/Needs.h"
#include "cuda/host/TensorMap.h"
#include "cuda/kernels/Pre.h"
#include "cuda/ring/RingGang.cuh"
#include "src/KernelArgs.h"

#include <atomic>
#include <type_traits>

namespace mhcrt {

constexpr int kMostDevices = 64;

/// The shape of each width, the fastest measured. Registers of the two kinds of warps make up the block's: threads
/// times 65536 / threads, rounded down to 8. Split and warps decide the order of the sums, so that pre and projection
/// share them; aggregating wants more warps, the product alone larger tiles.
template <int C, bool kAggregate>
struct RingShapeOf;
//                                                                            split warps groups held wide threads
//                                                                            registers
template <bool kAggregate>
struct RingShapeOf<768, kAggregate> {
  using Type = RingShape<2, 12, 1, 2, 12, 640, 112>;
};
template <bool kAggregate>
struct RingShapeOf<1024, kAggregate> {
  using Type = RingShape<4, 8, 2, 3, 8, 512, 192>;
};
template <>
struct RingShapeOf<1280, true> {
  using Type = RingShape<4, 10, 1, 3, 12, 512, 144>;
};
template <>
struct RingShapeOf<1280, false> {
  using Type = RingShape<4, 10, 2, 2, 12, 512, 144>;
};
template <bool kAggregate>
struct RingShapeOf<1536, kAggregate> {
  using Type = RingShape<4, 12, 1, 2, 12, 640, 112>;
};
template <bool kAggregate>
struct RingShapeOf<2048, kAggregate> {
  using Type = RingShape<8, 8, 2, 3, 8, 512, 192>;
};
template <>
struct RingShapeOf<2560, true> {
  using Type = RingShape<8, 10, 1, 3, 12, 512, 144>;
};
template <>
struct RingShapeOf<2560, false> {
  using Type = RingShape<8, 10, 2, 2, 12, 512, 144>;
};
template <bool kAggregate>
struct RingShapeOf<3072, kAggregate> {
  using Type = RingShape<8, 12, 1, 2, 12, 640, 112>;
};
template <bool kAggregate>
struct RingShapeOf<3584, kAggregate> {
  using Type = RingShape<8, 14, 1, 2, 16, 640, 104>;
};
template <bool kAggregate>
struct RingShapeOf<4096, kAggregate> {
  using Type = RingShape<16, 8, 2, 3, 8, 512, 192>;
};
template <>
struct RingShapeOf<5120, true> {
  using Type = RingShape<16, 10, 1, 3, 12, 512, 144>;
};
template <>
struct RingShapeOf<5120, false> {
  using Type = RingShape<16, 10, 2, 2, 12, 512, 144>;
};
template <bool kAggregate>
struct RingShapeOf<6144, kAggregate> {
  using Type = RingShape<16, 12, 1, 2, 12, 640, 112>;
};
template <bool kAggregate>
struct RingShapeOf<6656, kAggregate> {
  using Type = PaddedShape<6656, 16, 14, 1, 2, 16, 640, 104>;
};
template <bool kAggregate>
struct RingShapeOf<7168, kAggregate> {
  using Type = RingShape<16, 14, 1, 2, 16, 640, 104>;
};
template <bool kAggregate>
struct RingShapeOf<8192, kAggregate> {
  using Type = GangShape<32, 8, 1, 3, 8, 512, 176>;
};
template <bool kAggregate>
struct RingShapeOf<12288, kAggregate> {
  using Type = GangShape<64, 6, 1, 3, 8, 512, 176>;
};
template <bool kAggregate>
struct RingShapeOf<16384, kAggregate> {
  using Type = GangShape<64, 8, 1, 3, 8, 512, 176>;
};

/// The shape of f32, of pre alone: a box has half of the channels, so that a tile has 8 tokens and a slot is twice as
/// large. More than 12 warps leave no room for three slots, more than 8 not enough registers for all of phi; messages
/// of a gang of 64 want more slots.
template <typename S>
using F32ShapeOf = RingTiling<S::kSplit, S::kWarps, 1, S::kWarps <= 8 ? 3 : 2, S::kWide, S::kThreads, S::kRegisters,
                              Mixing::none, S::kWidth, S::kThroughMemory, false, true>;
template <typename S>
constexpr bool kTakesF32 = S::kWarps <= 12 && S::kSplit < 64;

/// Prepares a kernel for its first launch on the current device, and says how many of its clusters run at once there.
template <typename S, auto *kKernel>
cudaError_t prepareRing(int &clusters) {
  cudaError_t error = cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::kBytes);
  if (!error && S::kSplit > 8)
    error = cudaFuncSetAttribute(kKernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {S::kSplit, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(S::kSplit);
  config.blockDim = dim3(S::kThreads);
  config.dynamicSmemBytes = S::kBytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return error ? error : cudaOccupancyMaxActiveClusters(&clusters, kKernel, &config);
}

/// The same of a gang's kernel and of gangs.
template <typename S, auto *kKernel>
cudaError_t prepareGang(int device, int &gangs) {
  int blocks = 0, multiprocessors = 0;
  cudaError_t error = cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::kBytes);
  if (!error)
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (!error)
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kKernel, S::kThreads, S::kBytes);
  gangs = blocks * multiprocessors / S::kSplit;
  return error;
}

/// Clusters, or gangs, that run at once on the current device: none on a part of a GPU that is too small for one, or
/// where the driver refuses to say. Asked once for each device, so that a call takes the same row each time.
template <typename S, auto *kKernel>
int ringClusters() {
  static std::atomic<int> known[kMostDevices]; // one more than there are
  int device;
  if (cudaGetDevice(&device) != cudaSuccess)
    return 0;
  std::atomic<int> &answer = known[device % kMostDevices];
  if (answer == 0) {
    int clusters = 0;
    cudaError_t error;
    if constexpr (S::kThroughMemory)
      error = prepareGang<S, kKernel>(device, clusters);
    else
      error = prepareRing<S, kKernel>(clusters);
    if (error != cudaSuccess) {
      forget(error); // it is no error of the kernel that takes the call instead
      clusters = 0;
    }
    answer = clusters + 1;
  }
  return answer - 1;
}

/// The kernel of a shape.
template <typename S, bool kAggregate, bool kThroughMemory = S::kThroughMemory>
constexpr auto *kRingKernel = ringKernel<S, kAggregate>;
template <typename S, bool kAggregate>
constexpr auto *kRingKernel<S, kAggregate, true> = gangKernel<S, kAggregate>;

/// Clusters, or gangs, that a call of M tokens has.
template <typename S, auto *kKernel>
unsigned ringClustersFor(int64_t M) {
  const int64_t tiles = (M + S::kTokens - 1) / S::kTokens;
  return static_cast<unsigned>(std::min<int64_t>(ringClusters<S, kKernel>(), tiles));
}

/// Pieces of the sums that gangs have, and the bytes of all of their messages.
template <typename S>
int64_t gangPieces(int64_t gangs) {
  return gangs * (S::kSlots * S::kTokens * S::kSplit * kRowPieces);
}
template <typename S>
int64_t gangBytes(int64_t gangs, int64_t M) {
  return (gangPieces<S>(gangs) + (M + S::kTokens - 1) / S::kTokens * S::kTokens) * 16;
}

/// Messages that have not arrived.
template <typename S>
cudaError_t clearMessages(GangMessages &messages, void *scratch, int64_t gangs, int64_t M, cudaStream_t stream) {
  messages.sums = static_cast<uint4 *>(scratch);
  messages.weights = messages.sums + gangPieces<S>(gangs);
  return launchOverlapping(clearMessagesKernel<uint4>, kClearBlocks, kClearThreads, 1, 0, stream, messages.sums,
                           gangBytes<S>(gangs, M) / 16);
}

/// Launches blocks that wait for each other: all of them run at once, or none does.
template <typename... Parameters, typename... Arguments>
cudaError_t launchTogether(void (*kernel)(Parameters...), dim3 blocks, unsigned threads, size_t sharedBytes,
                           cudaStream_t stream, const Arguments &...arguments) {
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeCooperative;
  attributes[1].val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = sharedBytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = 2;
  return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

/// Launches the kernel of a gang, whose arguments are args, messages and what follows.
template <typename S, auto *kKernel, typename... Arguments>
cudaError_t launchGang(const RingArgs &args, void *scratch, cudaStream_t stream, const Arguments &...arguments) {
  const unsigned gangs = ringClustersFor<S, kKernel>(args.M);
  GangMessages messages;
  if (const cudaError_t error = clearMessages<S>(messages, scratch, gangs, args.M, stream))
    return error;
  return launchTogether(kKernel, dim3(gangs, S::kSplit), S::kThreads, S::kBytes, stream, args, messages, arguments...);
}

/// The same of clusters, without messages.
template <typename S, auto *kKernel, typename... Arguments>
cudaError_t launchClusters(const RingArgs &args, cudaStream_t stream, const Arguments &...arguments) {
  const unsigned blocks = S::kSplit * ringClustersFor<S, kKernel>(args.M);
  return launchOverlapping(kKernel, blocks, S::kThreads, S::kSplit, S::kBytes, stream, args, arguments...);
}

/// Forms of x that a ring is built for: bf16 of four streams in the layout nC, of two, of four in the layout Cn, and
/// f32.
enum class RingForm { four, pairs, last, f32, f32Last };

template <typename S, bool kAggregate>
cudaError_t launchRing(const RingArgs &args, void *scratch, cudaStream_t stream, bool equalX) {
  CUtensorMap map;
  const auto makeMap = equalX ? equalStreamsMap : streamsMap;
  constexpr int64_t kCopied = S::kF32 ? 2 * S::kWidth : S::kWidth; // a number in f32 is copied as two in bf16
  if (const cudaError_t error = makeMap(map, args.x, {args.M, kCopied, S::kTokens, 1}))
    return error;
  constexpr bool kMayCount = !S::kPairs && !S::kStreamsLast && !S::kF32; // the forms that most calls have
  if constexpr (S::kThroughMemory)
    return launchGang<S, kRingKernel<S, kAggregate>>(args, scratch, stream, map);
  else if constexpr (kMayCount)
    return args.counter ? launchClusters<S, kRingKernel<CountedShape<S>, kAggregate>>(args, stream, map)
                        : launchClusters<S, kRingKernel<S, kAggregate>>(args, stream, map);
  else
    return launchClusters<S, kRingKernel<S, kAggregate>>(args, stream, map);
}

/// Shapes that pairs have: none of gangs, and none whose warps would have too few registers.
template <typename S>
constexpr bool kTakesPairs = !S::kThroughMemory && S::kWarps < 14;

/// The shape of a form; void where there is none.
template <RingForm kForm, bool kAggregate, int C>
auto ringShapeOf() {
  using S = typename RingShapeOf<C, kAggregate>::Type;
  if constexpr (kForm == RingForm::four)
    return S();
  else if constexpr (kForm == RingForm::pairs && kTakesPairs<S>)
    return PairsShape<S>();
  else if constexpr (kForm == RingForm::last)
    return LastShape<S>();
  else if constexpr (kForm == RingForm::f32 && kTakesF32<S>)
    return F32ShapeOf<S>();
  else if constexpr (kForm == RingForm::f32Last && kTakesF32<S>)
    return LastShape<F32ShapeOf<S>>();
}

/// Calls body(S()) with the shape of C; false where there is none.
template <bool kAggregate, RingForm kForm = RingForm::four, typename Body>
bool withRingShape(int64_t C, Body body) {
  const auto call = [&](auto width) {
    using S = decltype(ringShapeOf<kForm, kAggregate, width>());
    if constexpr (!std::is_void_v<S>)
      body(S());
    return !std::is_void_v<S>;
  };
  switch (C) {
  case 768:
    return call(std::integral_constant<int, 768>());
  case 1024:
    return call(std::integral_constant<int, 1024>());
  case 1280:
    return call(std::integral_constant<int, 1280>());
  case 1536:
    return call(std::integral_constant<int, 1536>());
  case 2048:
    return call(std::integral_constant<int, 2048>());
  case 2560:
    return call(std::integral_constant<int, 2560>());
  case 3072:
    return call(std::integral_constant<int, 3072>());
  case 3584:
    return call(std::integral_constant<int, 3584>());
  case 4096:
    return call(std::integral_constant<int, 4096>());
  case 5120:
    return call(std::integral_constant<int, 5120>());
  case 6144:
    return call(std::integral_constant<int, 6144>());
  case 6656:
    return call(std::integral_constant<int, 6656>());
  case 7168:
    return call(std::integral_constant<int, 7168>());
  case 8192:
    return call(std::integral_constant<int, 8192>());
  case 12288:
    return call(std::integral_constant<int, 12288>());
  case 16384:
    return call(std::integral_constant<int, 16384>());
  }
  return false;
}

template <RingForm kForm = RingForm::four>
bool ringTakesWidth(int64_t C) {
  return withRingShape<true, kForm>(C, [](auto) {});
}

/// A width that the ring takes needs room for a cluster.
template <bool kAggregate, RingForm kForm = RingForm::four>
bool ringHasRoom(int64_t C, Needs &needs) {
  bool hasRoom = false;
  withRingShape<kAggregate, kForm>(C, [&](auto shape) {
    using S = decltype(shape);
    hasRoom = needs.clusters(ringClusters<S, kRingKernel<S, kAggregate>>(), S::kSplit);
  });
  return hasRoom;
}

/// Scratch memory of a call.
template <bool kAggregate, RingForm kForm = RingForm::four>
int64_t ringBytes(int64_t M, int64_t C) {
  int64_t bytes = 0;
  withRingShape<kAggregate, kForm>(C, [&](auto shape) {
    using S = decltype(shape);
    if constexpr (S::kThroughMemory)
      bytes = gangBytes<S>(ringClustersFor<S, gangKernel<S, kAggregate>>(M), M);
  });
  return bytes;
}

/// With `equalX`, x is [M,C], each of whose rows stands for four streams.
template <bool kAggregate, RingForm kForm = RingForm::four>
cudaError_t launchRingOf(RingArgs args, void *scratch, uint32_t *counter, cudaStream_t stream, bool equalX = false) {
  args.counter = counter;
  cudaError_t error = cudaErrorNotSupported;
  withRingShape<kAggregate, kForm>(
      args.C, [&](auto shape) { error = launchRing<decltype(shape), kAggregate>(args, scratch, stream, equalX); });
  return error;
}

/// Channels of each of four streams, as which the ring takes two, too.
inline int64_t ringWidth(int64_t n, int64_t C) { return n == 2 ? C / 2 : C; }

/// Needs of phi and of addresses. A product has no streams: it takes flat tokens in any layout.
inline bool ringTakesPhi(const void *x, const Phi &phi, Needs &needs) {
  const auto isWideOrBf16 = [](int32_t type) { return type == MHCRT_F32 || type == MHCRT_BF16; };
  return needs.that(isWideOrBf16(phi.type), "phi in f32 or bf16") &&
         needs.that(!phi.weight || isWideOrBf16(phi.weightType), "norm_weight in f32 or bf16") &&
         needs.aligned({x, phi.phi, phi.weight});
}

constexpr int64_t kMostTokens = (int64_t(1) << 30) - 1;

/// Needs of x in bf16.
template <typename Args>
bool ringTakes(const Args &a, Needs &needs) {
  return needs.that(a.n == 2 || a.n == 4, "2 or 4 streams") && needs.equal("N", a.N, a.n * a.n + 2 * a.n) &&
         needs.type("x", a.x_type, MHCRT_BF16) && needs.atMost("M", a.M, kMostTokens) &&
         needs.that(a.n == 2 || ringTakesWidth(a.C),
                    "C = 768, 1024, 1280, 1536, 2048, 2560, 3072, 3584, 4096, 5120, 6144, 6656, 7168, "
                    "8192, 12288 or 16384") &&
         needs.that(a.n == 4 || (a.C % 2 == 0 && ringTakesWidth<RingForm::pairs>(a.C / 2)),
                    "C = 1536, 2048, 2560, 3072, 4096, 5120, 6144, 8192, 10240 or 12288") &&
         ringTakesPhi(a.x, Phi::of(a), needs);
}

/// The same in f32.
template <typename Args>
bool ringTakesF32(const Args &a, Needs &needs) {
  return needs.equal("n", a.n, 4) && needs.equal("N", a.N, a.n * a.n + 2 * a.n) &&
         needs.atMost("M", a.M, kMostTokens) &&
         needs.that(ringTakesWidth<RingForm::f32>(a.C),
                    "C = 768, 1024, 1280, 1536, 2048, 2560, 3072, 4096, 5120, 6144 or 8192") &&
         ringTakesPhi(a.x, Phi::of(a), needs);
}

/// Arguments that both ops fill in; stat is the multiplier.
template <typename Args>
RingArgs ringArgsOf(const Args &a) {
  RingArgs args = {};
  args.x = a.x;
  args.phi = Phi::of(a);
  args.M = a.M;
  args.C = ringWidth(a.n, a.C);
  args.norm = a.norm;
  args.normEps = static_cast<float>(a.norm_eps);
  args.proj = static_cast<float *>(a.proj);
  args.stat = static_cast<float *>(a.stat);
  args.statForm = MHCRT_STAT_INV_RMS;
  return args;
}

// Needs of pre alone.

/// The first to be asked: the map decides N.
inline bool ringTakesMap(const PreArgs &a, Needs &needs) {
  return needs.that(a.res_map != MHCRT_RES_MAP_PERMUTATION, "another residual map than permutations");
}
inline bool ringTakesGates(const PreArgs &a, Needs &needs) {
  return needs.aligned({a.u, a.h_in, a.h_pre, a.h_post, a.h_res});
}

inline RingArgs ringArgsOfPre(const PreArgs &a) {
  RingArgs args = ringArgsOf(a);
  args.alpha = static_cast<const float *>(a.alpha);
  args.beta = static_cast<const float *>(a.beta);
  args.u = a.u;
  args.hIn = static_cast<const float *>(a.h_in);
  args.hPre = static_cast<float *>(a.h_pre);
  args.hPost = static_cast<float *>(a.h_post);
  args.hRes = static_cast<float *>(a.h_res);
  args.preEps = static_cast<float>(a.pre_eps);
  args.postMult = static_cast<float>(a.post_mult);
  args.resMap = a.res_map;
  args.sinkhorn = {a.init, a.order, a.denom, static_cast<float>(a.sk_eps), a.iters, a.sk_format, a.solver};
  args.foldPre = a.fold_pre != 0;
  args.hPreFormat = static_cast<int32_t>(a.h_pre_format);
  args.hPostFormat = static_cast<int32_t>(a.h_post_format);
  args.hResFormat = static_cast<int32_t>(a.h_res_format);
  return args;
}

/// A call of pre by the ring of a form.
template <RingForm kForm>
bool ringTakesPre(const PreArgs &a, Needs &needs) {
  constexpr bool kF32 = kForm == RingForm::f32 || kForm == RingForm::f32Last;
  constexpr bool kLast = kForm == RingForm::last || kForm == RingForm::f32Last;
  return ringTakesMap(a, needs) && (kF32 ? ringTakesF32(a, needs) : ringTakes(a, needs)) &&
         needs.that(!kLast || !a.equal_x, "the layout [M,n,C]") && ringTakesGates(a, needs) &&
         ringHasRoom<true, kForm>(a.C, needs);
}

template <RingForm kForm>
constexpr PreForm kRingPre = {ringTakesPre<kForm>, [](const PreArgs &a) { return ringBytes<true, kForm>(a.M, a.C); },
                              [](const PreArgs &a, void *scratch, uint32_t *counter, cudaStream_t stream) {
                                return launchRingOf<true, kForm>(ringArgsOfPre(a), scratch, counter, stream,
                                                                 a.equal_x != 0);
                              }};

} // namespace mhcrt

#endif // MHCRT_CUDA_RING_RINGLAUNCH_CUH
