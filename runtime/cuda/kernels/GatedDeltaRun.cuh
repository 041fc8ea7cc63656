//===- GatedDeltaRun.cuh - Runs of tokens of a causal convolution -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lane owns a chunk, kCount channels that are neighbours, and walks down a run of tokens: the inputs of the last
// taps stay in registers, loads of the tokens ahead are under way. A head is 1, 2, 4 .. 32 lanes of a warp.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_KERNELS_GATEDDELTARUN_CUH
#define MHCRT_CUDA_KERNELS_GATEDDELTARUN_CUH

#include "cuda/host/Needs.h"
#include "cuda/kernels/GatedDelta.cuh"
#include "cuda/ptx/AsyncCopy.cuh"
#include "cuda/tile/Vec.cuh"

#include <type_traits>

namespace mhcrt {

constexpr int kRunThreads = 96;
constexpr int kRunWarps = kRunThreads / 32;

/// kCount elements of T: 8 or 16 bytes.
template <typename T, int kCount>
using Chunk = std::conditional_t<kCount * sizeof(T) == 16, uint4, uint2>;

template <typename T, int kCount>
__device__ __forceinline__ Chunk<T, kCount> loadChunk(const T *from) {
  static_assert(kCount * sizeof(T) == 16 || kCount * sizeof(T) == 8);
  if constexpr (kCount * sizeof(T) == 16)
    return loadOnce(from);
  else
    return __ldcg(reinterpret_cast<const uint2 *>(from));
}
template <typename T, typename Bits>
__device__ __forceinline__ void storeChunk(T *to, Bits bits) {
  storeOnce(to, bits);
}

template <typename T>
__device__ __forceinline__ void widenChunk(uint4 bits, float (&to)[kLanesOf<T>]) {
  widen(bits, to, T());
}
template <typename T>
__device__ __forceinline__ void widenChunk(uint2 bits, float (&to)[kLanesOf<T> / 2]) {
  float all[kLanesOf<T>];
  widen(make_uint4(bits.x, bits.y, 0, 0), all, T());
#pragma unroll
  for (int e = 0; e < kLanesOf<T> / 2; ++e)
    to[e] = all[e];
}
/// Rounds once, to nearest even.
template <typename T, int kCount>
__device__ __forceinline__ Chunk<T, kCount> narrowChunk(const float (&v)[kCount]) {
  float all[kLanesOf<T>] = {};
#pragma unroll
  for (int e = 0; e < kCount; ++e)
    all[e] = v[e];
  const uint4 bits = narrow(all, T());
  if constexpr (kCount == kLanesOf<T>)
    return bits;
  else
    return make_uint2(bits.x, bits.y);
}
template <typename T, int kCount>
__device__ __forceinline__ void roundChunk(float (&v)[kCount]) {
  if constexpr (!std::is_same_v<T, float>)
    widenChunk<T>(narrowChunk<T>(v), v);
}

/// kCount parameters that are neighbours, of f32 or T: kCount is a multiple of a chunk of both.
template <typename P, int kCount>
__device__ __forceinline__ void loadParametersOf(const P *from, float (&to)[kCount]) {
  constexpr int kLanes = kCount * sizeof(P) % 16 == 0 ? kLanesOf<P> : kLanesOf<P> / 2;
#pragma unroll
  for (int k = 0; k < kCount; k += kLanes) {
    float part[kLanes];
    widenChunk<P>(*reinterpret_cast<const Chunk<P, kLanes> *>(from + k), part);
#pragma unroll
    for (int e = 0; e < kLanes; ++e)
      to[k + e] = part[e];
  }
}
template <typename T, int kCount>
__device__ __forceinline__ void loadParameters(const AnyInput &from, int64_t index, float (&to)[kCount]) {
  if (from.type == MHCRT_F32)
    loadParametersOf(static_cast<const float *>(from.data) + index, to);
  else
    loadParametersOf(static_cast<const T *>(from.data) + index, to);
}

/// Weights and bias of a lane.
template <int kTaps, int kCount>
struct Taps {
  float weight[kCount * kTaps]; ///< of a channel side by side
  float bias[kCount];

  template <typename T>
  __device__ __forceinline__ void load(const GatedDelta &in, int64_t c, bool isActive) {
#pragma unroll
    for (float &w : weight)
      w = 0;
#pragma unroll
    for (float &b : bias)
      b = 0;
    if (isActive)
      loadParameters<T>(in.weight, c * kTaps, weight);
    if (isActive && in.bias)
      loadParameters<T>(in.bias, c, bias);
  }
  __device__ __forceinline__ void get(int tap, float (&to)[kCount]) const {
#pragma unroll
    for (int e = 0; e < kCount; ++e)
      to[e] = tap < kTaps ? weight[e * kTaps + tap] : bias[e];
  }
};

/// The same in shared memory, for a lane whose registers have other use.
template <int kTaps>
struct SharedTaps {
  float4 room[kTaps + 1][kRunThreads];

  __device__ __forceinline__ void put(const Taps<kTaps, 4> &taps) {
#pragma unroll
    for (int tap = 0; tap <= kTaps; ++tap) {
      float v[4];
      taps.get(tap, v);
      room[tap][threadIdx.x] = make_float4(v[0], v[1], v[2], v[3]);
    }
  }
  __device__ __forceinline__ void get(int tap, float (&to)[4]) const {
    const float4 v = room[tap][threadIdx.x];
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
  }
};

/// Inputs of the kTaps - 1 tokens before the present one, the last one in front. They may be another sequence's.
template <typename T, int kTaps, int kCount>
struct History {
  float past[kTaps - 1][kCount];

  __device__ __forceinline__ void load(const GatedDelta &in, int64_t batch, int32_t token, int64_t c, bool isActive) {
#pragma unroll
    for (int back = 1; back < kTaps; ++back) {
      const int32_t source = token - back;
      Chunk<T, kCount> bits = {};
      if (isActive && source >= 0)
        bits = loadChunk<T, kCount>(static_cast<const T *>(in.x) + in.xSteps.at(batch, source) + c);
      else if (isActive && in.left)
        bits = loadChunk<T, kCount>(static_cast<const T *>(in.left) + in.leftSteps.at(batch, source + kTaps - 1) + c);
      widenChunk<T>(bits, past[back - 1]);
    }
  }
  __device__ __forceinline__ void push(const float (&x)[kCount]) {
#pragma unroll
    for (int e = 0; e < kCount; ++e) {
#pragma unroll
      for (int back = kTaps - 1; back > 1; --back)
        past[back - 1][e] = past[back - 2][e];
      past[0][e] = x[e];
    }
  }
  /// a of `token`, whose input is x; not rounded.
  template <typename AnyTaps>
  __device__ __forceinline__ void convolve(const AnyTaps &taps, const Sequence &sequence, int32_t token,
                                           const float (&x)[kCount], float (&a)[kCount]) const {
    float weight[kCount];
    taps.get(kTaps, a);
#pragma unroll
    for (int back = kTaps - 1; back > 0; --back) {
      taps.get(kTaps - 1 - back, weight);
      if (sequence.has(token - back))
#pragma unroll
        for (int e = 0; e < kCount; ++e)
          a[e] = fmaf(weight[e], past[back - 1][e], a[e]);
    }
    taps.get(kTaps - 1, weight);
#pragma unroll
    for (int e = 0; e < kCount; ++e)
      a[e] = fmaf(weight[e], x[e], a[e]);
  }
  /// Adds d * source to the sums of the taps, which are by how far back they read.
  __device__ __forceinline__ void addProducts(const Sequence &sequence, int32_t token, const float (&x)[kCount],
                                              const float (&d)[kCount], float (&sums)[kTaps][kCount]) const {
#pragma unroll
    for (int back = 1; back < kTaps; ++back)
      if (sequence.has(token - back))
#pragma unroll
        for (int e = 0; e < kCount; ++e)
          sums[back][e] = fmaf(d[e], past[back - 1][e], sums[back][e]);
#pragma unroll
    for (int e = 0; e < kCount; ++e)
      sums[0][e] = fmaf(d[e], x[e], sums[0][e]);
  }
};

/// Calls body(t, load(t)) for each token from `first` on. load is called in the order of the tokens, kAhead of them
/// ahead.
template <int kAhead, typename Load, typename Body>
__device__ __forceinline__ void walkRun(int32_t first, int32_t last, Load load, Body body) {
  decltype(load(first)) ahead[kAhead] = {};
#pragma unroll
  for (int i = 0; i < kAhead; ++i)
    if (first + i < last)
      ahead[i] = load(first + i);
  for (int32_t t = first; t < last; t += kAhead) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (t + i >= last)
        return;
      const auto now = ahead[i];
      if (t + i + kAhead < last)
        ahead[i] = load(t + i + kAhead);
      body(t + i, now);
    }
  }
}

/// Shared memory for the chunks of a lane's next tokens, kPieces a token. A lane reads what itself copied: no thread
/// waits for another.
template <typename Piece, int kPieces, int kDepth>
struct CopyRing {
  Piece room[kDepth][kPieces][kRunThreads];

  __device__ __forceinline__ void copy(int slot, int piece, const void *from, bool real) {
    copyAhead<sizeof(Piece)>(&room[slot][piece][threadIdx.x], from, real);
  }
  __device__ __forceinline__ Piece read(int slot, int piece) const { return room[slot][piece][threadIdx.x]; }
};

constexpr int kUnrolled = 4; ///< tokens, so that what a lane keeps of the last ones need not move

/// Calls body(t, read(slot)) for the tokens first .. last-1 in whole groups of kUnrolled, then rest(t, read(slot)) up
/// to `end`, behind copy(slot, t < copied), which is called for each token in turn, kDepth - 1 of them ahead.
template <int kDepth, typename Copy, typename Read, typename Body, typename Rest>
__device__ __forceinline__ void walkRing(int32_t first, int32_t last, int32_t end, int32_t copied, Copy copy, Read read,
                                         Body body, Rest rest) {
  static_assert(kDepth % kUnrolled == 0);
  waitCopies(); // of the last run: slots are free
#pragma unroll
  for (int i = 0; i < kDepth - 1; ++i) {
    copy(i, first + i < copied);
    commitCopies();
  }
  const auto next = [&](int slot, int refilled, bool copies) {
    waitCopyGroupsBut<kDepth - 2>();
    const auto now = read(slot);
    copy(refilled, copies);
    commitCopies();
    return now;
  };
  int base = 0;
  int32_t token = first;
  for (; token + kUnrolled <= last; token += kUnrolled) {
#pragma unroll
    for (int i = 0; i < kUnrolled; ++i)
      body(token + i, next(base + i, i ? base + i - 1 : (base ? base : kDepth) - 1, token + i + kDepth - 1 < copied));
    base = base + kUnrolled == kDepth ? 0 : base + kUnrolled;
  }
#pragma unroll 1
  for (; token < end; ++token) {
    const int slot = (token - first) % kDepth;
    rest(token, next(slot, (slot + kDepth - 1) % kDepth, token + kDepth - 1 < copied));
  }
}

/// Lanes of a head that share its sums: a power of two.
inline int headWidth(int64_t channels, int count) {
  int width = 1;
  while (width * count < channels)
    width *= 2;
  return width;
}

/// A sum over the lanes of a head, in all of them: kWidth lanes, or `width` where that is 0.
template <int kWidth>
__device__ __forceinline__ float headSum(float value, int width) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    if (distance < (kWidth ? kWidth : width))
      value += __shfl_xor_sync(~0u, value, distance);
  return value;
}

/// Two such sums.
template <int kWidth>
__device__ __forceinline__ float2 headSums(float2 values, int width) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    if (distance < (kWidth ? kWidth : width)) {
      const float x = __shfl_xor_sync(~0u, values.x, distance), y = __shfl_xor_sync(~0u, values.y, distance);
      values = {values.x + x, values.y + y};
    }
  return values;
}

/// Scales a head to length 1.
template <int kWidth, int kCount>
__device__ __forceinline__ void scaleHead(float (&u)[kCount], int width, float eps) {
  float squares = 0;
#pragma unroll
  for (float value : u)
    squares = fmaf(value, value, squares);
  const float scale = reciprocalRootOf(headSum<kWidth>(squares, width) + eps);
#pragma unroll
  for (float &value : u)
    value *= scale;
}

/// A lane's place among the channels of q and k, or of v, or of z.
struct LanePlace {
  int32_t head;    ///< of q and k; 0 in v and z
  int32_t channel; ///< of the branch, its first
  bool isActive;

  /// That of warp `part` of the heads of q and k.
  __device__ static __forceinline__ LanePlace ofHead(const GatedDelta &in, int64_t part, int width, int count) {
    const int lane = threadIdx.x % 32, channel = lane % width * count;
    const int32_t head = static_cast<int32_t>(part) * (32 / width) + lane / width;
    return {head, head * in.dk + channel, head < 2 * in.keyHeads && channel < in.dk};
  }
  /// That of warp `part` of v or z.
  __device__ static __forceinline__ LanePlace ofValue(const GatedDelta &in, int64_t part, int count) {
    const int32_t channel = (static_cast<int32_t>(part) * 32 + threadIdx.x % 32) * count;
    return {0, channel, channel < in.valueChannels()};
  }
};

/// Warps of one run of tokens, branch by branch.
struct RunParts {
  int64_t gates, keys, values, z;

  RunParts(const GatedDelta &in, int width, int count)
      : gates(divideUp(in.valueHeads, 32)), keys(divideUp(2 * in.keyHeads, 32 / width)),
        values(divideUp(in.valueChannels(), 32 * count)), z(values) {}
  int64_t all() const { return gates + keys + values + z; }
};

/// Whole chunks everywhere, and heads of at most a warp with `count` channels a lane.
template <typename Args>
bool runsFit(Needs &needs, const Args &a, int64_t count) {
  const int64_t lanes = 16 / mhcrt_dtype_bytes(a.qkvzba_type);
  return needs.that(a.k >= 2 && a.k <= 4, "2 to 4 taps") && needs.multiple("dk", a.dk, lanes) &&
         needs.multiple("dv", a.dv, lanes) && needs.multiple("D", a.D, lanes) && needs.atMost("dk", a.dk, 32 * count) &&
         needs.atMost("M", a.M, INT32_MAX - 1024) && needs.atMost("b*M", a.M * a.b, int64_t(1) << 33);
}

/// Calls body with the number of taps as a constant.
template <typename Body>
auto withTaps(int64_t taps, Body body) {
  if (taps == 2)
    return body(std::integral_constant<int, 2>());
  if (taps == 3)
    return body(std::integral_constant<int, 3>());
  return body(std::integral_constant<int, 4>());
}

} // namespace mhcrt

#endif // MHCRT_CUDA_KERNELS_GATEDDELTARUN_CUH
