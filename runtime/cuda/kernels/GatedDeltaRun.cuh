//===- GatedDeltaRun.cuh - Runs of tokens of a causal convolution -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lane owns a chunk, kCount channels that are neighbours, and walks down a run of tokens: the inputs of the last
// taps, or the sums of the next ones, stay in registers, loads of the tokens ahead are under way. A head is 1, 2, 4 ..
// 32 lanes of a warp.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_KERNELS_GATEDDELTARUN_CUH
#define MHCRT_CUDA_KERNELS_GATEDDELTARUN_CUH

#include "cuda/host/Needs.h"
#include "cuda/kernels/GatedDelta.cuh"
#include "cuda/tile/Vec.cuh"

#include <type_traits>

namespace mhcrt {

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
  /// For a kernel that knows of none: it takes no registers.
  __device__ __forceinline__ void dropBias() {
#pragma unroll
    for (float &b : bias)
      b = 0;
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
  template <bool kAllSources>
  __device__ __forceinline__ void convolve(const Taps<kTaps, kCount> &taps, const Sequence &sequence, int32_t token,
                                           const float (&x)[kCount], float (&a)[kCount]) const {
#pragma unroll
    for (int e = 0; e < kCount; ++e)
      a[e] = taps.bias[e];
#pragma unroll
    for (int back = kTaps - 1; back >= 0; --back)
      if (kAllSources || back == 0 || sequence.has(token - back))
#pragma unroll
        for (int e = 0; e < kCount; ++e)
          a[e] = fmaf(taps.weight[e * kTaps + kTaps - 1 - back], back ? past[back - 1][e] : x[e], a[e]);
  }
  /// Adds d * source to the sums of the taps, which are by how far back they read.
  template <bool kAllSources>
  __device__ __forceinline__ void addProducts(const Sequence &sequence, int32_t token, const float (&x)[kCount],
                                              const float (&d)[kCount], float (&sums)[kTaps][kCount]) const {
#pragma unroll
    for (int back = 0; back < kTaps; ++back)
      if (kAllSources || back == 0 || sequence.has(token - back))
#pragma unroll
        for (int e = 0; e < kCount; ++e)
          sums[back][e] = fmaf(d[e], back ? past[back - 1][e] : x[e], sums[back][e]);
  }
};

/// Sums that later tokens go on with: the input of a token is added to those of the kTaps tokens that read it, the next
/// one's in front. The order of a token's terms is that of its sources, its bias first.
template <typename T, int kTaps, int kCount>
struct TapSums {
  Taps<kTaps, kCount> taps;
  float ahead[kTaps - 1][kCount];
  Chunk<T, kCount> before[kTaps - 1]; ///< inputs of the tokens before the run, the last one in front

  __device__ __forceinline__ void load(const GatedDelta &in, int64_t batch, int32_t token, int64_t c, bool isActive) {
#pragma unroll
    for (int back = 1; back < kTaps; ++back) {
      const int32_t source = token - back;
      before[back - 1] = {};
      if (isActive && source >= 0)
        before[back - 1] = loadChunk<T, kCount>(static_cast<const T *>(in.x) + in.xSteps.at(batch, source) + c);
      else if (isActive && in.left)
        before[back - 1] =
            loadChunk<T, kCount>(static_cast<const T *>(in.left) + in.leftSteps.at(batch, source + kTaps - 1) + c);
    }
    taps.template load<T>(in, c, isActive);
  }
  /// Sums at `token` of what was loaded.
  __device__ __forceinline__ void start(const Sequence &sequence, int32_t token) {
    restart();
#pragma unroll
    for (int back = kTaps - 1; back > 0; --back) {
      float x[kCount], a[kCount];
      widenChunk<T>(before[back - 1], x);
      if (sequence.has(token - back))
        add(x, a);
    }
  }
  /// The same of no token.
  __device__ __forceinline__ void restart() {
#pragma unroll
    for (auto &sum : ahead)
#pragma unroll
      for (int e = 0; e < kCount; ++e)
        sum[e] = taps.bias[e];
  }
  /// Adds the input of the next token, whose a is then done; it is not rounded.
  __device__ __forceinline__ void add(const float (&x)[kCount], float (&a)[kCount]) {
#pragma unroll
    for (int e = 0; e < kCount; ++e) {
      const float *weight = taps.weight + e * kTaps;
      a[e] = fmaf(weight[kTaps - 1], x[e], ahead[0][e]);
#pragma unroll
      for (int next = 1; next < kTaps; ++next)
        ahead[next - 1][e] = fmaf(weight[kTaps - 1 - next], x[e], next < kTaps - 1 ? ahead[next][e] : taps.bias[e]);
    }
  }
};

/// Calls start(), then body(t, load(t)) for each token from `first` on. load is called in the order of the tokens,
/// kAhead of them ahead.
template <int kAhead, typename Load, typename Start, typename Body>
__device__ __forceinline__ void walkRun(int32_t first, int32_t last, Load load, Start start, Body body) {
  decltype(load(first)) ahead[kAhead] = {};
#pragma unroll
  for (int i = 0; i < kAhead; ++i)
    if (first + i < last)
      ahead[i] = load(first + i);
  start();
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

/// Two such sums: from the first step on, half of the lanes have the one and half the other.
template <int kWidth>
__device__ __forceinline__ float2 headSums(float2 values, int width) {
  if constexpr (kWidth < 2)
    return {headSum<kWidth>(values.x, width), headSum<kWidth>(values.y, width)};
  const bool isUpper = threadIdx.x & kWidth / 2;
  float sum = isUpper ? values.y : values.x;
  sum += __shfl_xor_sync(~0u, isUpper ? values.x : values.y, kWidth / 2);
#pragma unroll
  for (int distance = kWidth / 4; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(~0u, sum, distance);
  const float other = __shfl_xor_sync(~0u, sum, kWidth / 2);
  return isUpper ? float2{other, sum} : float2{sum, other};
}

/// The sum of a head's squares, in the order of lanes of kOrder channels: kCount are as many, or half of them.
template <int kWidth, int kOrder, int kCount>
__device__ __forceinline__ float headSquares(const float (&u)[kCount], int width) {
  const auto addTo = [&](float sum) {
#pragma unroll
    for (float value : u)
      sum = fmaf(value, value, sum);
    return sum;
  };
  if constexpr (kOrder == kCount) {
    return headSum<kWidth>(addTo(0), width);
  } else {
    static_assert(kOrder == 2 * kCount && kWidth > 1);
    float sum = addTo(__shfl_xor_sync(~0u, addTo(0), 1)); // an upper half goes on with the sum of its lower half
#pragma unroll
    for (int distance = kWidth / 2; distance > 1; distance /= 2)
      sum += __shfl_xor_sync(~0u, sum, distance);
    return __shfl_sync(~0u, sum, threadIdx.x | 1);
  }
}

/// Scales a head to length 1.
template <typename T, int kWidth, int kOrder, int kCount>
__device__ __forceinline__ void scaleHead(float (&u)[kCount], int width, float eps) {
  const float scale = rootFor<T>(headSquares<kWidth, kOrder>(u, width) + eps);
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

  RunParts(const GatedDelta &in, int width, int count, bool copiesZ)
      : gates(divideUp(in.valueHeads, 32)), keys(divideUp(2 * in.keyHeads, 32 / width)),
        values(divideUp(in.valueChannels(), 32 * count)), z(copiesZ ? values : 0) {}
  int64_t all() const { return gates + keys + values + z; }
};

/// Taps of all public models, for which there are kernels that know more of a call.
constexpr int kUsualTaps = 4;

/// Heads of q and k of 128 channels, whole warps of them and of v.
inline bool usesAllLanes(const GatedDelta &in, int count) {
  return in.dk == 128 && in.valueChannels() % (32 * count) == 0 && 2 * in.keyHeads * in.dk % (32 * count) == 0;
}

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
