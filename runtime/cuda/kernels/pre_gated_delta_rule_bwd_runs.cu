//===- pre_gated_delta_rule_bwd_runs.cu - The same, by runs of tokens -----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plan    Two launches. A lane has four channels, a warp whole heads of q and k; a block's three warps have a run each
// of
//         tokens, one behind the other, which are a stretch. Down its run a lane makes the gradient of a from the
//         inputs of the last k taps, spreads it to the k tokens that the convolution read, and adds it to the sums of
//         the weight. dx is written k-1 tokens late: a warp goes on for k-1 tokens of the next run. The block adds its
//         warps' sums in order. Then the rows of sums are added.
// Bytes   per token 2*hv*(dk + dv) + E + 2*hv*dv + E + 5*hv elements and 4*hv, (k-1)/run more of what is read and
//         (k+1)*E*4 a stretch, from the second-level cache.
// Needs   2 to 4 taps; dk, dv and D in whole 16 bytes; heads of q and k of at most 128 channels.
// Round   f32; a and u of q and k are rounded as forward; each result once at its store. Sums of a run are f32, those
//         of the rows are compensated.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/GatedDeltaBwd.cuh"
#include "cuda/kernels/GatedDeltaRun.cuh"

using namespace mhcrt;

namespace {

constexpr int kCount = 4; ///< channels of a lane
constexpr int kMostRegisters = 136;
constexpr int kUsualWidth = 128 / kCount; ///< lanes of a head of 128 channels
constexpr int kRun = 64;                  ///< tokens of a warp
constexpr int kShortRun = 16, kShortTokens = 2048;

/// Tokens whose loads are under way, and one.
template <typename T>
constexpr int kDepth = sizeof(T) == 4 ? 4 : 8;

/// Chunks of a token: x and the gradients of the first two repeats.
template <typename T>
using GradRing = CopyRing<Chunk<T, kCount>, 3, kDepth<T>>;

/// Shared memory of a block. The sums of its warps come when the weights are not read any more.
template <typename T, int kTaps>
struct RunRoom {
  GradRing<T> ring;
  SharedTaps<kTaps> taps;
  const T *dy[kRunThreads]; ///< gradients of a lane's channels at the first token of all, of the first repeat
  int32_t row;              ///< of partial sums
};

/// The list of blocks: parts of a stretch, then those of the next.
struct StretchList {
  Stretches stretches;
  int32_t run; ///< tokens of a warp
  int width;   ///< lanes of a head
  RunParts counts;
  Parts parts;
};

/// The run of this warp in a stretch.
struct WarpRun {
  int32_t batch, first, last;

  __device__ __forceinline__ WarpRun(const GatedDelta &in, const StretchList &list, int32_t stretch) {
    batch = stretch / list.stretches.ofRow;
    first = min(in.M, stretch % list.stretches.ofRow * list.stretches.length + int(threadIdx.x / 32) * list.run);
    last = min(in.M, first + list.run);
  }
};

template <typename T>
struct Loaded {
  Chunk<T, kCount> x, dy[2];
};

template <typename T>
__device__ __forceinline__ void addChunk(Chunk<T, kCount> bits, float (&sum)[kCount]) {
  float term[kCount];
  widenChunk<T>(bits, term);
#pragma unroll
  for (int e = 0; e < kCount; ++e)
    sum[e] += term[e];
}

/// The sum over the repeats of a head's gradient, of which the first is at `from`; `first` are two of them.
template <typename T>
__device__ __forceinline__ void foldRepeats(const GatedDelta &in, const T *from, const Chunk<T, kCount> (&first)[2],
                                            float (&sum)[kCount]) {
  widenChunk<T>(first[0], sum);
  if (in.repeats > 1)
    addChunk<T>(first[1], sum);
#pragma unroll 1
  for (int r = 2; r < in.repeats; ++r)
    addChunk<T>(loadChunk<T, kCount>(from + int64_t(r) * in.dk), sum);
}

/// The gradient of a head's u from that of its y, in place.
template <int kWidth>
__device__ __forceinline__ void unscaleHead(const float (&u)[kCount], int width, float eps, float (&d)[kCount]) {
  float squares = 0, product = 0;
#pragma unroll
  for (int e = 0; e < kCount; ++e) {
    squares = fmaf(u[e], u[e], squares);
    product = fmaf(d[e], u[e], product);
  }
  const float2 sums = headSums<kWidth>({squares, product}, width);
  const float scale = reciprocalRootOf(sums.x + eps), along = scale * scale * (scale * sums.y);
#pragma unroll
  for (int e = 0; e < kCount; ++e)
    d[e] = fmaf(-along, u[e], scale * d[e]);
}

/// Sums of a lane over its tokens.
template <int kTaps>
struct LaneSums {
  float weight[kTaps][kCount] = {}; ///< by how far back the tap reads
  float bias[kCount] = {};
};

/// Gradients of x that wait for those of later tokens, the last token in front.
template <int kTaps>
struct Pending {
  float sum[kTaps - 1][kCount] = {};

  /// Spreads the gradient of a of `token` to the sources of its sequence; that of the source taps - 1 back is then
  /// done.
  template <typename AnyTaps>
  __device__ __forceinline__ void spread(const AnyTaps &taps, const Sequence &sequence, int32_t token,
                                         const float (&da)[kCount], float (&done)[kCount]) {
    float weight[kCount];
#pragma unroll
    for (int e = 0; e < kCount; ++e)
      done[e] = sum[kTaps - 2][e];
#pragma unroll
    for (int back = kTaps - 1; back > 0; --back) {
      const bool has = sequence.has(token - back);
      taps.get(kTaps - 1 - back, weight);
#pragma unroll
      for (int e = 0; e < kCount; ++e) {
        const float before = sum[back - 1][e], after = has ? fmaf(weight[e], da[e], before) : before;
        (back == kTaps - 1 ? done[e] : sum[back][e]) = after;
      }
    }
    taps.get(kTaps - 1, weight);
#pragma unroll
    for (int e = 0; e < kCount; ++e)
      sum[0][e] = weight[e] * da[e];
  }
  /// The same behind the last token.
  __device__ __forceinline__ void flush(float (&done)[kCount]) {
#pragma unroll
    for (int e = 0; e < kCount; ++e) {
      done[e] = sum[kTaps - 2][e];
#pragma unroll
      for (int back = kTaps - 2; back > 0; --back)
        sum[back][e] = sum[back - 1][e];
      sum[0][e] = 0;
    }
  }
};

/// State of a lane that walks down its runs.
template <typename T, int kTaps>
struct BackLane {
  const GatedDelta &in;
  const SharedTaps<kTaps> &taps;
  LaneSums<kTaps> sums;
  History<T, kTaps, kCount> history;
  int width; ///< lanes of its head

  /// The gradient of a of a token; a kWidth of 1 is v.
  template <int kWidth>
  __device__ __forceinline__ void gradient(const Sequence &sequence, int32_t token, const T *from,
                                           const Chunk<T, kCount> (&first)[2], const float (&x)[kCount],
                                           float (&d)[kCount]) const {
    float a[kCount], slope[kCount];
    history.convolve(taps, sequence, token, x, a);
    roundChunk<T>(a);
#pragma unroll
    for (int e = 0; e < kCount; ++e) {
      const float s = sigmoidFor<T>(a[e]);
      a[e] *= s;
      slope[e] = siluSlope(a[e], s);
    }
    if constexpr (kWidth == 1)
      widenChunk<T>(first[0], d);
    else
      foldRepeats<T>(in, from, first, d);
    if (kWidth != 1 && in.isNormed) {
      roundChunk<T>(a);
      unscaleHead<kWidth>(a, width, in.eps, d);
    }
#pragma unroll
    for (int e = 0; e < kCount; ++e)
      d[e] *= slope[e];
  }
};

/// Gradients of a run, with those of the tokens behind it that read its inputs.
template <typename T, int kTaps, int kWidth>
__device__ __forceinline__ void convolveBack(const GatedDelta &in, const GatedDeltaGrads &grads, const WarpRun &run,
                                             bool isActive, int32_t c, RunRoom<T, kTaps> &room,
                                             BackLane<T, kTaps> &lane) {
  constexpr int kBefore = kTaps - 1;
  GradRing<T> &ring = room.ring;
  lane.history.load(in, run.batch, run.first, c, isActive);
  Sequence sequence(in, run.first);
  Pending<kTaps> pending;
  const int64_t step = in.xSteps.token;
  const bool hasSecond = kWidth != 1 && in.repeats > 1;
  const int64_t dyStep = kWidth == 1 ? in.valueRow : in.keyRow;
  const T *from = static_cast<const T *>(in.x) + in.xSteps.at(run.batch, run.first) + (isActive ? c : 0);
  const T *dy = room.dy[threadIdx.x] + (int64_t(run.batch) * in.M + run.first) * dyStep;
  T *dx = static_cast<T *>(grads.x) + in.xSteps.at(run.batch, run.first - kBefore) + c;
  const int32_t writesFrom = isActive && grads.x ? run.first + kBefore : INT32_MAX;
  const int32_t leftTokens = isActive && grads.left && run.first == 0 ? kBefore : 0;
  const auto copy = [&](int slot, bool isToken) {
    if (isToken) {
      ring.copy(slot, 0, from, isActive);
      ring.copy(slot, 1, dy, isActive);
      if (hasSecond)
        ring.copy(slot, 2, dy + in.dk, isActive);
    }
    from += step;
    dy += dyStep;
  };
  const auto read = [&](int slot) {
    Loaded<T> loaded = {ring.read(slot, 0), {ring.read(slot, 1), {}}};
    if (hasSecond)
      loaded.dy[1] = ring.read(slot, 2);
    return loaded;
  };
  const auto write = [&](int32_t token, const float (&done)[kCount]) {
    if (token >= writesFrom)
      storeChunk(dx, narrowChunk<T>(done));
    dx += step;
    if (token < leftTokens)
      storeChunk(static_cast<T *>(grads.left) + in.leftSteps.at(run.batch, token) + c, narrowChunk<T>(done));
  };
  const auto addToSums = [&](int32_t token, const float (&x)[kCount], const float (&d)[kCount]) {
    lane.history.addProducts(sequence, token, x, d, lane.sums.weight);
#pragma unroll
    for (int e = 0; e < kCount; ++e)
      lane.sums.bias[e] += d[e];
  };
  const auto own = [&](int32_t token, const Loaded<T> &loaded) {
    float x[kCount], d[kCount], done[kCount];
    sequence.advance(in, token);
    widenChunk<T>(loaded.x, x);
    lane.template gradient<kWidth>(sequence, token, dy - kDepth<T> * dyStep, loaded.dy, x, d);
    addToSums(token, x, d);
    lane.history.push(x);
    pending.spread(lane.taps, sequence, token, d, done);
    write(token, done);
  };
  const auto any = [&](int32_t token, const Loaded<T> &loaded) {
    float x[kCount], d[kCount], done[kCount];
    if (token < in.M) {
      sequence.advance(in, token);
      widenChunk<T>(loaded.x, x);
      lane.template gradient<kWidth>(sequence, token, dy - kDepth<T> * dyStep, loaded.dy, x, d);
      if (token < run.last)
        addToSums(token, x, d);
      lane.history.push(x);
      pending.spread(lane.taps, sequence, token, d, done);
    } else {
      pending.flush(done);
    }
    write(token, done);
  };
  walkRing<kDepth<T>>(run.first, run.last, run.last + kBefore, min(run.last + kBefore, in.M), copy, read, own, any);
}

/// Adds the sums of the block's warps into their row.
template <int kTaps>
__device__ __forceinline__ void addWarps(const LaneSums<kTaps> &sums, const Stretches &stretches, const int32_t &r,
                                         int32_t c, int64_t E, bool isActive) {
  __shared__ float4 room[kRunWarps][kTaps + 1][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const auto pack = [](const float (&v)[kCount]) { return make_float4(v[0], v[1], v[2], v[3]); };
#pragma unroll
  for (int back = 0; back < kTaps; ++back)
    room[warp][kTaps - 1 - back][lane] = pack(sums.weight[back]);
  room[warp][kTaps][lane] = pack(sums.bias);
  __syncthreads();
  float *row = stretches.row(r) + c;
  for (int tap = warp; tap <= kTaps && isActive; tap += kRunWarps) {
    float4 sum = room[0][tap][lane];
    for (int other = 1; other < kRunWarps; ++other) {
      const float4 term = room[other][tap][lane];
      sum = make_float4(sum.x + term.x, sum.y + term.y, sum.z + term.z, sum.w + term.w);
    }
    *reinterpret_cast<float4 *>(row + tap * E) = sum;
  }
}

template <typename T, int kTaps, int kWidth>
__device__ __forceinline__ void convolveStretches(const GatedDelta &in, const GatedDeltaGrads &grads,
                                                  const StretchList &list, int32_t r, const LanePlace &place,
                                                  const T *dy, RunRoom<T, kTaps> &room) {
  const int32_t c = place.channel + (kWidth == 1 ? 2 * in.keyHeads * in.dk : 0);
  Taps<kTaps, kCount> taps;
  taps.template load<T>(in, c, place.isActive);
  room.taps.put(taps);
  if (threadIdx.x == 0)
    room.row = r;
  room.dy[threadIdx.x] = dy;
  BackLane<T, kTaps> lane = {in, room.taps, {}, {}, list.width};
  for (int32_t stretch = r; stretch < list.stretches.count; stretch += list.stretches.rows) {
    const WarpRun run(in, list, stretch);
    if (run.first < run.last)
      convolveBack<T, kTaps, kWidth>(in, grads, run, place.isActive, c, room, lane);
  }
  if (grads.haveTaps())
    addWarps(lane.sums, list.stretches, room.row, c, in.E, place.isActive);
}

/// The gradients of the gates of 32 heads, and their sums.
template <typename T>
__device__ __forceinline__ void gateStretches(const GatedDelta &in, const GatedDeltaGrads &grads,
                                              const StretchList &list, int32_t r, int32_t part) {
  __shared__ float2 room[kRunWarps][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t h = part * 32 + lane;
  float2 sum = {0, 0};
  for (int32_t stretch = r; stretch < list.stretches.count && h < in.valueHeads; stretch += list.stretches.rows) {
    const WarpRun run(in, list, stretch);
#pragma unroll 4
    for (int32_t token = run.first; token < run.last; ++token) {
      const float2 terms = gateGradients<T>(in, grads, run.batch, token, h);
      sum = {sum.x + terms.x, sum.y + terms.y};
    }
  }
  room[warp][lane] = sum;
  __syncthreads();
  if (warp || h >= in.valueHeads)
    return;
  for (int other = 1; other < kRunWarps; ++other)
    sum = {sum.x + room[other][lane].x, sum.y + room[other][lane].y};
  float *row = list.stretches.row(r) + (in.taps + 1) * in.E + h;
  row[0] = sum.x;
  row[in.valueHeads] = sum.y;
}

template <typename T>
__device__ __forceinline__ void copyStretches(const GatedDelta &in, const GatedDeltaGrads &grads,
                                              const StretchList &list, int32_t r, const LanePlace &place) {
  if (!place.isActive)
    return;
  for (int32_t stretch = r; stretch < list.stretches.count; stretch += list.stretches.rows) {
    const WarpRun run(in, list, stretch);
    const T *from = static_cast<const T *>(grads.gate) + run.batch * in.M * in.valueChannels() + place.channel;
    T *to = static_cast<T *>(grads.x) + in.gateChannel() + place.channel;
    const auto load = [&](int32_t token) { return loadChunk<T, kCount>(from + token * in.valueChannels()); };
    walkRun<kDepth<T>>(run.first, run.last, load, [&](int32_t token, Chunk<T, kCount> bits) {
      storeChunk(to + in.xSteps.at(run.batch, token), bits);
    });
  }
}

/// kWidth is that of a head, or 0. Five blocks have room.
template <typename T, int kTaps, int kWidth>
__global__ void __maxnreg__(kMostRegisters)
    gatedDeltaBwdRunKernel(GatedDelta in, GatedDeltaGrads grads, StretchList list) {
  __shared__ RunRoom<T, kTaps> room;
  checkCuts(in);
  const int32_t count = static_cast<int32_t>(list.parts.count), r = blockIdx.x / count;
  int32_t part = static_cast<int32_t>(list.parts.first) + blockIdx.x % count;
  if (part < list.counts.gates)
    return gateStretches<T>(in, grads, list, r, part);
  part -= list.counts.gates;
  if (part < list.counts.keys) {
    const LanePlace place = LanePlace::ofHead(in, part, list.width, kCount);
    const bool isKey = place.head >= in.keyHeads;
    const int32_t head = (place.head - (isKey ? in.keyHeads : 0)) * in.repeats;
    const T *dy = static_cast<const T *>(isKey ? grads.key : grads.query) +
                  (int64_t(head) * in.dk + place.channel - place.head * in.dk);
    return convolveStretches<T, kTaps, kWidth>(in, grads, list, r, place, dy, room);
  }
  part -= list.counts.keys;
  const bool isGate = part >= list.counts.values;
  const LanePlace place = LanePlace::ofValue(in, part - (isGate ? list.counts.values : 0), kCount);
  if (isGate)
    return copyStretches<T>(in, grads, list, r, place);
  convolveStretches<T, kTaps, 1>(in, grads, list, r, place, static_cast<const T *>(grads.value) + place.channel, room);
}

} // namespace

bool mhcrt::gatedDeltaBwdRunsTake(const PreGatedDeltaRuleBwdArgs &a, Needs &needs) {
  return runsFit(needs, a, kCount) && needs.that(a.M > 0 && a.b > 0, "tokens") &&
         needs.aligned({a.d_query, a.d_key, a.d_value, a.d_gate, a.qkvzba, a.conv_weight, a.conv_bias, a.left_boundary,
                        a.d_qkvzba, a.d_left_boundary});
}

cudaError_t mhcrt::gatedDeltaBwdRuns(mhcrt_context &context, const PreGatedDeltaRuleBwdArgs &a) {
  const GatedDelta in = gatedDeltaOf(context, "mhcrt_pre_gated_delta_rule_bwd", a);
  const GatedDeltaGrads grads = gradsOf(a);
  const int32_t run = in.tokens() > kShortTokens ? kRun : kShortRun;
  const int width = headWidth(a.dk, kCount);
  StretchList list = {Stretches(in, run * kRunWarps), run, width, RunParts(in, width, kCount), {}};
  list.stretches.partials =
      static_cast<float *>(context.reserveScratch("mhcrt_pre_gated_delta_rule_bwd", list.stretches.bytes()));
  if (!list.stretches.partials)
    return cudaSuccess;
  const bool convolves = grads.x || grads.left || grads.haveTaps();
  const cudaError_t error =
      startBranches(a.impl,
                    {list.counts.gates, convolves ? list.counts.keys : 0, convolves ? list.counts.values : 0,
                     grads.x ? list.counts.z : 0},
                    [&](Parts parts) {
                      list.parts = parts;
                      return withFloatType(a.qkvzba_type, [&](auto type) {
                        return withTaps(a.k, [&](auto taps) {
                          const auto kernel =
                              width == kUsualWidth
                                  ? gatedDeltaBwdRunKernel<decltype(type), decltype(taps)::value, kUsualWidth>
                                  : gatedDeltaBwdRunKernel<decltype(type), decltype(taps)::value, 0>;
                          return launchKernel(kernel, static_cast<unsigned>(list.stretches.rows * parts.count),
                                              kRunThreads, 0, context.stream, in, grads, list);
                        });
                      });
                    });
  return error == cudaSuccess ? addStretches(context, in, grads, list.stretches) : error;
}
