//===- pre_gated_delta_rule_bwd_runs.cu - The same, by runs of tokens -----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plan    Two launches. A lane has four channels, a warp whole heads of q and k; a block's four warps have a run each
//         of tokens, one behind the other, which are a stretch. Down its run a lane makes the gradient of a from the
//         inputs of the last k taps, spreads it to the k tokens that the convolution read, and adds it to the sums of
//         the weight. dx is written k-1 tokens late: a warp goes on for k-1 tokens of the next run. The block adds its
//         warps' sums in order. Blocks of q and k come first and those of z, which are short, last: what runs at the
//         end leaves few multiprocessors idle. Then the rows of sums are added.
// Bytes   per token 2*hv*(dk + dv) + E + 2*hv*dv + E + 5*hv elements and 4*hv, (k-1)/run more of what is read and
//         (k+1)*E*4 a stretch, from the second-level cache.
// Needs   2 to 4 taps; dk, dv and D in whole 16 bytes; heads of q and k of at most 128 channels.
// Round   f32; a and u of q and k are rounded as forward; each result once at its store. Sums of a run are f32, those
//         of the rows are compensated.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/GatedDeltaBwd.cuh"
#include "cuda/kernels/GatedDeltaRun.cuh"
#include "cuda/ptx/AsyncCopy.cuh"

using namespace mhcrt;

namespace {

constexpr int kCount = 4; ///< channels of a lane
constexpr int kBackThreads = 128;

/// Four blocks have room where that needs no spills on any GPU.
template <bool kIsUsual>
constexpr int kMostRegisters = kIsUsual ? 128 : 168;

constexpr int kBackWarps = kBackThreads / 32;
constexpr int kUsualWidth = 128 / kCount; ///< lanes of a head of 128 channels
constexpr int kGateAhead = 8;             ///< tokens of z, or of the gates, whose loads are under way

/// Tokens of a ring, all of them loaded or being loaded but the one before the present: a power of two.
template <typename T>
constexpr int kRing = 16 / sizeof(T);

/// Tokens of a warp: fewer where there are few in all. Measured.
int32_t runOf(int64_t tokens) {
  return tokens > 4096 ? 32 : tokens > 1024 ? 16 : tokens > 256 ? 8 : tokens > 64 ? 4 : 2;
}

constexpr int kKinds = 3; ///< of parts, in the order of the blocks: those of gates and q and k, of v, of z

/// The list of blocks, kind by kind: parts of that kind of a stretch, then those of the next.
struct StretchList {
  Stretches stretches;
  int32_t run; ///< tokens of a warp
  int width;   ///< lanes of a head
  RunParts counts;
  int32_t first;        ///< part
  int32_t kind[kKinds]; ///< parts of each

  void take(Parts parts) {
    first = static_cast<int32_t>(parts.first);
    const int64_t keys = counts.gates + counts.keys, ends[kKinds] = {keys, keys + counts.values, counts.all()};
    int64_t begin = parts.first;
    for (int i = 0; i < kKinds; ++i) {
      const int64_t end = std::clamp<int64_t>(ends[i], begin, parts.first + parts.count);
      kind[i] = static_cast<int32_t>(end - begin);
      begin = end;
    }
  }
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

/// Chunks of a token, of each lane: x and the gradients of the first two repeats.
template <typename T>
using Pieces = Chunk<T, kCount>[3][kBackThreads];

/// Shared memory for tokens. A lane reads what itself copied: no thread waits for another.
template <typename T>
struct BackRing {
  Pieces<T> room[kRing<T>];
  int32_t channel[kBackThreads]; ///< of a lane, for which it has no register meanwhile
  int32_t row;                   ///< of partial sums, likewise
};

template <typename T>
__device__ __forceinline__ void addChunk(Chunk<T, kCount> bits, float (&sum)[kCount]) {
  float term[kCount];
  widenChunk<T>(bits, term);
#pragma unroll
  for (int e = 0; e < kCount; ++e)
    sum[e] += term[e];
}

/// The gradient of a head's u from that of its y, in place.
template <typename T, int kWidth>
__device__ __forceinline__ void unscaleHead(const float (&u)[kCount], int width, float eps, float (&d)[kCount]) {
  float squares = 0, product = 0;
#pragma unroll
  for (int e = 0; e < kCount; ++e) {
    squares = fmaf(u[e], u[e], squares);
    product = fmaf(d[e], u[e], product);
  }
  const float2 sums = headSums<kWidth>({squares, product}, width);
  const float scale = rootFor<T>(sums.x + eps), along = scale * scale * (scale * sums.y);
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

  /// Spreads the gradient of a of `token` to its sources, of which the first `sources` are of its sequence; that of the
  /// source taps - 1 back is then done.
  template <bool kAllSources>
  __device__ __forceinline__ void spread(const Taps<kTaps, kCount> &taps, const Sequence &sequence, int32_t token,
                                         const float (&da)[kCount], float (&done)[kCount]) {
#pragma unroll
    for (int back = kTaps - 1; back >= 0; --back) {
      const bool has = kAllSources || back == 0 || sequence.has(token - back);
#pragma unroll
      for (int e = 0; e < kCount; ++e) {
        const float weight = taps.weight[e * kTaps + kTaps - 1 - back];
        if (back == 0) {
          sum[0][e] = weight * da[e];
        } else {
          const float before = sum[back - 1][e], after = has ? fmaf(weight, da[e], before) : before;
          (back == kTaps - 1 ? done[e] : sum[back][e]) = after;
        }
      }
    }
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

/// A lane that walks down a run. A kWidth of 1 is v.
template <typename T, int kTaps, int kWidth, bool kIsUsual>
struct BackLane {
  const GatedDelta &in;
  const Taps<kTaps, kCount> &taps;
  LaneSums<kTaps> &sums;
  int width; ///< lanes of its head
  int64_t dyStep;
  History<T, kTaps, kCount> history;
  Pending<kTaps> pending;

  /// The sum over the repeats of a head's gradient at the token that is a ring before `dy`; `pieces` has the first two.
  __device__ __forceinline__ void fold(const Pieces<T> &pieces, const T *dy, float (&sum)[kCount]) const {
    widenChunk<T>(pieces[1][threadIdx.x], sum);
    if (kWidth != 1 && in.repeats > 1)
      addChunk<T>(pieces[2][threadIdx.x], sum);
    if (kWidth != 1)
#pragma unroll 1
      for (int r = 2; r < in.repeats; ++r)
        addChunk<T>(loadChunk<T, kCount>(dy - kRing<T> * dyStep + int64_t(r) * in.dk), sum);
  }
  /// The gradient of a of a token.
  template <bool kAllSources>
  __device__ __forceinline__ void gradient(const Sequence &sequence, int32_t token, const Pieces<T> &pieces,
                                           const T *dy, const float (&x)[kCount], float (&d)[kCount]) const {
    float a[kCount], slope[kCount];
    history.template convolve<kAllSources>(taps, sequence, token, x, a);
    roundChunk<T>(a);
#pragma unroll
    for (int e = 0; e < kCount; ++e) {
      const float s = sigmoidFor<T>(a[e]);
      a[e] *= s;
      slope[e] = siluSlope(a[e], s);
    }
    fold(pieces, dy, d);
    if (kWidth != 1 && in.isNormed) {
      roundChunk<T>(a);
      unscaleHead<T, kWidth>(a, width, in.eps, d);
    }
#pragma unroll
    for (int e = 0; e < kCount; ++e)
      d[e] *= slope[e];
  }
  /// One token. `isOwn` where its gradient is a term of the sums.
  template <bool kAllSources>
  __device__ __forceinline__ void step(const Sequence &sequence, int32_t token, const Pieces<T> &pieces, const T *dy,
                                       bool isOwn, float (&done)[kCount]) {
    float x[kCount], d[kCount];
    widenChunk<T>(pieces[0][threadIdx.x], x);
    gradient<kAllSources>(sequence, token, pieces, dy, x, d);
    if (isOwn) {
      history.template addProducts<kAllSources>(sequence, token, x, d, sums.weight);
      if constexpr (!kIsUsual)
#pragma unroll
        for (int e = 0; e < kCount; ++e)
          sums.bias[e] += d[e];
    }
    history.push(x);
    pending.template spread<kAllSources>(taps, sequence, token, d, done);
  }
};

/// Gradients of a run, with those of the tokens behind it that read its inputs.
template <typename T, int kTaps, int kWidth, bool kIsUsual>
__device__ __forceinline__ void
convolveBack(const GatedDelta &in, const GatedDeltaGrads &grads, const WarpRun &run, bool isActive, int32_t c,
             int width, const T *dy, const Taps<kTaps, kCount> &taps, BackRing<T> &ring, LaneSums<kTaps> &sums) {
  constexpr int kBefore = kTaps - 1, kLast = kRing<T> - 1;
  const int64_t dyStep = kWidth == 1 ? in.valueRow : in.keyRow, step = in.xSteps.token;
  const int32_t end = run.last + kBefore, loadEnd = isActive ? min(end, in.M) : run.first;
  const T *x = static_cast<const T *>(in.x) + in.xSteps.at(run.batch, run.first) + c;
  dy += (int64_t(run.batch) * in.M + run.first) * dyStep;
  BackLane<T, kTaps, kWidth, kIsUsual> lane = {in, taps, sums, width, dyStep, {}, {}};
  const auto copy = [&](Pieces<T> &pieces, int32_t token) {
    if (token < loadEnd) {
      copyAhead<sizeof(Chunk<T, kCount>)>(&pieces[0][threadIdx.x], x, true);
      copyAhead<sizeof(Chunk<T, kCount>)>(&pieces[1][threadIdx.x], dy, true);
      if (kWidth != 1 && in.repeats > 1)
        copyAhead<sizeof(Chunk<T, kCount>)>(&pieces[2][threadIdx.x], dy + in.dk, true);
    }
    x += step;
    dy += dyStep;
    commitCopies();
  };
#pragma unroll
  for (int i = 0; i < kLast; ++i)
    copy(ring.room[i], run.first + i);
  lane.history.load(in, run.batch, run.first, c, isActive);
  Sequence sequence(in, run.first);
  T *dx = static_cast<T *>(grads.x) + in.xSteps.at(run.batch, run.first - kBefore) + c;
  const int32_t writesFrom = isActive && grads.x ? run.first + kBefore : INT32_MAX;
  const int32_t leftTokens = isActive && grads.left && run.first == 0 ? kBefore : 0;
  const auto write = [&](int32_t token, const float (&done)[kCount]) {
    if (token >= writesFrom)
      storeChunk(dx, narrowChunk<T>(done));
    dx += step;
  };
  int slot = 0;
  for (int32_t token = run.first; token < end; ++token) {
    waitCopyGroupsBut<kLast - 1>();
    copy(ring.room[slot == 0 ? kLast : slot - 1], token + kLast);
    const auto &pieces = ring.room[slot];
    float done[kCount];
    if (token - kBefore >= sequence.first && token < min(sequence.next, run.last) && leftTokens == 0) {
      lane.template step<true>(sequence, token, pieces, dy, true, done);
      write(token, done);
    } else {
      if (token < in.M) {
        sequence.advance(in, token);
        lane.template step<false>(sequence, token, pieces, dy, token < run.last, done);
      } else {
        lane.pending.flush(done);
      }
      write(token, done);
      if (token < leftTokens)
        storeChunk(static_cast<T *>(grads.left) + in.leftSteps.at(run.batch, token) + ring.channel[threadIdx.x],
                   narrowChunk<T>(done));
    }
    slot = slot == kLast ? 0 : slot + 1;
  }
}

/// Adds the sums of the block's warps into their row.
template <int kTaps>
__device__ __forceinline__ void addWarps(const LaneSums<kTaps> &sums, const Stretches &stretches, const int32_t &r,
                                         const int32_t &c, int64_t E, bool isActive) {
  __shared__ float4 room[kBackWarps][kTaps + 1][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const auto pack = [](const float (&v)[kCount]) { return make_float4(v[0], v[1], v[2], v[3]); };
#pragma unroll
  for (int back = 0; back < kTaps; ++back)
    room[warp][kTaps - 1 - back][lane] = pack(sums.weight[back]);
  room[warp][kTaps][lane] = pack(sums.bias);
  __syncthreads();
  float *row = stretches.row(r) + c;
  for (int tap = warp; tap <= kTaps && isActive; tap += kBackWarps) {
    float4 sum = room[0][tap][lane];
    for (int other = 1; other < kBackWarps; ++other) {
      const float4 term = room[other][tap][lane];
      sum = make_float4(sum.x + term.x, sum.y + term.y, sum.z + term.z, sum.w + term.w);
    }
    *reinterpret_cast<float4 *>(row + tap * E) = sum;
  }
}

template <typename T, int kTaps, int kWidth, bool kIsUsual>
__device__ __forceinline__ void convolveStretches(const GatedDelta &in, const GatedDeltaGrads &grads,
                                                  const StretchList &list, int32_t r, const LanePlace &place,
                                                  const T *dy, BackRing<T> &ring) {
  const bool isActive = kIsUsual || place.isActive;
  const int32_t c = place.channel + (kWidth == 1 ? 2 * in.keyHeads * in.dk : 0);
  Taps<kTaps, kCount> taps;
  taps.template load<T>(in, c, isActive);
  if constexpr (kIsUsual)
    taps.dropBias();
  LaneSums<kTaps> sums;
  ring.channel[threadIdx.x] = c;
  if (threadIdx.x == 0)
    ring.row = r;
  if (!isActive)
    for (auto &pieces : ring.room)
      for (auto &piece : pieces)
        piece[threadIdx.x] = {};
  for (int32_t stretch = r; stretch < list.stretches.count; stretch += list.stretches.rows) {
    const WarpRun run(in, list, stretch);
    if (run.first < run.last)
      convolveBack<T, kTaps, kWidth, kIsUsual>(in, grads, run, isActive, ring.channel[threadIdx.x], list.width, dy,
                                               taps, ring, sums);
  }
  if (grads.haveTaps())
    addWarps(sums, list.stretches, ring.row, ring.channel[threadIdx.x], in.E, isActive);
}

/// The gradients of the gates of 32 heads, and their sums.
template <typename T>
__device__ __forceinline__ void gateStretches(const GatedDelta &in, const GatedDeltaGrads &grads,
                                              const StretchList &list, int32_t r, int32_t part) {
  __shared__ float2 room[kBackWarps][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t h = part * 32 + lane;
  const HeadParameters head(in, min(h, int64_t{in.valueHeads - 1}));
  float2 sum = {0, 0};
  for (int32_t stretch = r; stretch < list.stretches.count && h < in.valueHeads; stretch += list.stretches.rows) {
    const WarpRun run(in, list, stretch);
    walkRun<kGateAhead>(
        run.first, run.last, [&](int32_t token) { return GateTerms<T>::load(in, grads, run.batch, token, h); }, [] {},
        [&](int32_t token, GateTerms<T> loaded) {
          const float2 terms = gateGradients(in, grads, head, loaded, run.batch, token, h);
          sum = {sum.x + terms.x, sum.y + terms.y};
        });
  }
  room[warp][lane] = sum;
  __syncthreads();
  if (warp || h >= in.valueHeads)
    return;
  for (int other = 1; other < kBackWarps; ++other)
    sum = {sum.x + room[other][lane].x, sum.y + room[other][lane].y};
  float *row = list.stretches.row(r) + (in.taps + 1) * in.E + h;
  row[0] = sum.x;
  row[in.valueHeads] = sum.y;
}

/// The gradient of z: that of the gate, or zeros.
template <typename T>
__device__ __forceinline__ void copyStretches(const GatedDelta &in, const GatedDeltaGrads &grads,
                                              const StretchList &list, int32_t r, const LanePlace &place) {
  if (!place.isActive)
    return;
  for (int32_t stretch = r; stretch < list.stretches.count; stretch += list.stretches.rows) {
    const WarpRun run(in, list, stretch);
    const T *from = static_cast<const T *>(grads.gate) + run.batch * in.M * in.valueChannels() + place.channel;
    T *to = static_cast<T *>(grads.x) + in.gateChannel() + place.channel;
    if (!grads.gate) {
#pragma unroll 1
      for (int32_t token = run.first; token < run.last; ++token)
        storeChunk(to + in.xSteps.at(run.batch, token), Chunk<T, kCount>{});
      continue;
    }
    const auto load = [&](int32_t token) { return loadChunk<T, kCount>(from + token * in.valueChannels()); };
    walkRun<kGateAhead>(
        run.first, run.last, load, [] {},
        [&](int32_t token, Chunk<T, kCount> bits) { storeChunk(to + in.xSteps.at(run.batch, token), bits); });
  }
}

/// kIsUsual where usesAllLanes() and there is no bias.
template <typename T, int kTaps, bool kIsUsual>
__global__ void __maxnreg__(kMostRegisters<kIsUsual>)
    gatedDeltaBwdRunKernel(GatedDelta in, GatedDeltaGrads grads, StretchList list) {
  __shared__ BackRing<T> ring;
  beginOverlapped();
  checkCuts(in);
  int32_t block = blockIdx.x, part = list.first, count = list.kind[0];
#pragma unroll
  for (int i = 1; i < kKinds; ++i)
    if (block >= count * list.stretches.rows) {
      block -= count * list.stretches.rows;
      part += count;
      count = list.kind[i];
    }
  const int32_t r = block / count;
  part += block % count;
  if (part < list.counts.gates)
    return gateStretches<T>(in, grads, list, r, part);
  part -= list.counts.gates;
  if (part < list.counts.keys) {
    const LanePlace place = LanePlace::ofHead(in, part, list.width, kCount);
    const bool isKey = place.head >= in.keyHeads;
    const int32_t head = (place.head - (isKey ? in.keyHeads : 0)) * in.repeats;
    const T *dy = static_cast<const T *>(isKey ? grads.key : grads.query) +
                  (int64_t(head) * in.dk + place.channel - place.head * in.dk);
    return convolveStretches<T, kTaps, kIsUsual ? kUsualWidth : 0, kIsUsual>(in, grads, list, r, place, dy, ring);
  }
  part -= list.counts.keys;
  const bool isGate = part >= list.counts.values;
  const LanePlace place = LanePlace::ofValue(in, part - (isGate ? list.counts.values : 0), kCount);
  if (isGate)
    return copyStretches<T>(in, grads, list, r, place);
  convolveStretches<T, kTaps, 1, kIsUsual>(in, grads, list, r, place,
                                           static_cast<const T *>(grads.value) + place.channel, ring);
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
  const int32_t run = runOf(in.tokens());
  const int width = headWidth(a.dk, kCount);
  const bool isUsual = usesAllLanes(in, kCount) && !in.bias.data && !grads.bias;
  StretchList list = {Stretches(in, run * kBackWarps), run, width, RunParts(in, width, kCount, grads.x), 0, {}};
  list.stretches.partials =
      static_cast<float *>(context.reserveScratch("mhcrt_pre_gated_delta_rule_bwd", list.stretches.bytes()));
  if (!list.stretches.partials)
    return cudaSuccess;
  const bool convolves = grads.x || grads.left || grads.haveTaps();
  const cudaError_t error = startBranches(
      a.impl, {list.counts.gates, convolves ? list.counts.keys : 0, convolves ? list.counts.values : 0, list.counts.z},
      [&](Parts parts) {
        list.take(parts);
        return withFloatType(a.qkvzba_type, [&](auto type) {
          return withTaps(a.k, [&](auto taps) {
            using T = decltype(type);
            constexpr int kTaps = decltype(taps)::value;
            const auto kernel = isUsual && kTaps == kUsualTaps ? gatedDeltaBwdRunKernel<T, kTaps, kTaps == kUsualTaps>
                                                               : gatedDeltaBwdRunKernel<T, kTaps, false>;
            return launchFollowing(context, kernel, static_cast<unsigned>(list.stretches.rows * parts.count),
                                   kBackThreads, in, grads, list);
          });
        });
      });
  return error == cudaSuccess ? addStretches(context, in, grads, list.stretches) : error;
}
