//===- pre_gated_delta_rule.cu - Inputs of the gated delta rule -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   a[m,c] = bias[c] + sum_j w[c,j] * x[m-(k-1)+j,c]        u = a * sigmoid(a)
//   query[h] = u / sqrt(sum u^2 + l2_eps) of q-head floor(h / repeats), key alike        value = u        gate = z
//   beta = sigmoid(b)        g = -exp(A_log) * softplus(alpha + dt_bias)
//
// Plan    One launch over a flat list of warps: of a run of tokens, the gates, then q and k, v and z. `runs`: a warp
//         has 16 bytes of channels a lane, whole heads of q and k, and walks down the tokens with the sums that the
//         next k-1 of them go on with in registers. Where there are few tokens it has 8 bytes of channels a lane,
//         with the same bits, and asks the second-level cache for them while earlier kernels end. `generic`: a warp
//         per head of a token, which is computed twice where it is normed.
// Bytes   per token E + 2*hv*(dk + dv) + hv*dv + 3*hv elements and 4*hv; 2*hv*dv fewer without gate.
// Needs   `runs`: 2 to 4 taps; dk, dv and D in whole 16 bytes; heads of q and k of at most 512 bytes.
// Round   f32; a is rounded, u of q and k is rounded before the norm, each result once at its store.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Variants.h"
#include "cuda/kernels/GatedDeltaRun.cuh"
#include "cuda/ptx/Prefetch.cuh"
#include "cuda/tile/Sum.cuh"
#include "src/Checks.h"

using namespace mhcrt;

namespace {

struct Results {
  void *query, *key, *value, *gate, *beta;
  float *g;
  void *silu; ///< null where it is not asked for
};

Results resultsOf(const PreGatedDeltaRuleArgs &a) {
  return {a.query, a.key, a.value, a.gate, a.beta, static_cast<float *>(a.g), a.silu};
}

/// beta and g of head h of a token of row `row` of the results.
template <typename T>
__device__ __forceinline__ void writeGates(const GatedDelta &in, const Results &out, const HeadParameters &head,
                                           GateInputs<T> token, int64_t row, int64_t h) {
  static_cast<T *>(out.beta)[row * in.valueHeads + h] = fromFloat<T>(sigmoid(toFloat(token.beta)));
  out.g[row * in.valueHeads + h] = head.scale * softplus(toFloat(token.alpha) + head.dtBias, in.threshold);
}

//===- Any shape -----------------------------------------------------------===//

/// Head `head` of q, or of k from keyHeads on, by a warp.
template <typename T>
__device__ __forceinline__ void writeKeyHead(const GatedDelta &in, const Results &out, const Sequence &sequence,
                                             int64_t batch, int64_t token, int64_t head) {
  const int lane = threadIdx.x % kWarp;
  const int64_t row = batch * in.M + token, c0 = head * in.dk;
  float squares = 0;
  for (int64_t c = lane; c < in.dk && in.isNormed; c += kWarp) {
    const float u = rounded<T>(siluAt<T>(in, sequence, batch, token, c0 + c));
    squares = fmaf(u, u, squares);
  }
  const float scale = in.isNormed ? reciprocalRootOf(warpSum(squares) + in.eps) : 1.0f;
  const bool isKey = head >= in.keyHeads;
  const int64_t first = (head - (isKey ? in.keyHeads : 0)) * in.repeats;
  T *heads = static_cast<T *>(isKey ? out.key : out.query) + (row * in.valueHeads + first) * in.dk;
  for (int64_t c = lane; c < in.dk; c += kWarp) {
    const T u = fromFloat<T>(siluAt<T>(in, sequence, batch, token, c0 + c));
    if (out.silu)
      static_cast<T *>(out.silu)[row * 2 * in.keyChannels() + c0 + c] = u;
    const T y = fromFloat<T>(toFloat(u) * scale);
    for (int r = 0; r < in.repeats; ++r)
      heads[int64_t(r) * in.dk + c] = y;
  }
}

/// Parts of a token: the gates, heads of q and k, heads of v, heads of z.
template <typename T>
__global__ void __launch_bounds__(kThreads, 2) preGatedDeltaRuleKernel(GatedDelta in, Results out, Parts parts) {
  checkCuts(in);
  const int lane = threadIdx.x % kWarp;
  const int64_t items = in.tokens() * parts.count;
  for (int64_t item = firstItem() / kWarp; item < items; item += itemStep() / kWarp) {
    const int64_t row = item / parts.count, batch = row / in.M, token = row % in.M;
    const T *x = static_cast<const T *>(in.x) + in.xSteps.at(batch, token);
    int64_t part = parts.first + item % parts.count;
    if (part == 0) {
      for (int64_t h = lane; h < in.valueHeads; h += kWarp)
        writeGates(in, out, HeadParameters(in, h), GateInputs<T>::load(in, x, h), row, h);
      continue;
    }
    part -= 1;
    const Sequence sequence(in, static_cast<int32_t>(token));
    if (part < 2 * in.keyHeads) {
      writeKeyHead<T>(in, out, sequence, batch, token, part);
      continue;
    }
    part -= 2 * in.keyHeads;
    const bool isGate = part >= in.valueHeads;
    const int64_t c0 = (part - (isGate ? in.valueHeads : 0)) * in.dv;
    T *to = static_cast<T *>(isGate ? out.gate : out.value) + row * in.valueChannels() + c0;
    for (int64_t c = lane; c < in.dv; c += kWarp)
      to[c] = isGate ? x[in.gateChannel() + c0 + c]
                     : fromFloat<T>(siluAt<T>(in, sequence, batch, token, 2 * in.keyChannels() + c0 + c));
  }
}

cudaError_t launchGeneric(mhcrt_context &context, const PreGatedDeltaRuleArgs &a) {
  const GatedDelta in = gatedDeltaOf(context, "mhcrt_pre_gated_delta_rule", a);
  return startBranches(a.impl, {1, 2 * a.num_key_heads, a.hv, a.gate ? a.hv : 0}, [&](Parts parts) {
    return withFloatType(a.qkvzba_type, [&](auto type) {
      return launchKernel(preGatedDeltaRuleKernel<decltype(type)>,
                          gridFor(context, saturatingMul(in.tokens() * parts.count, kWarp)), kThreads, 0,
                          context.stream, in, resultsOf(a), parts);
    });
  });
}

//===- Whole heads ---------------------------------------------------------===//

constexpr int kRunThreads = 128;
constexpr int kRunWarps = kRunThreads / 32;
constexpr int kAhead = 4;      ///< tokens whose loads are under way
constexpr int kMostRun = 8;    ///< tokens: measured; longer runs were slower, up to one wave of warps
constexpr int kFullWarps = 16; ///< of a multiprocessor, for which runs are made shorter

/// A run of tokens of a row of the batch.
struct Run {
  int64_t batch;
  int32_t first, last;
};

// Few tokens: 8 bytes of channels a lane and twice as many warps, so that none waits for memory twice.
constexpr int64_t kFewTokens = 128; ///< at most: measured
constexpr int kFewWarps = 32;       ///< of a multiprocessor
constexpr int kFewAhead = 3;
constexpr int kFewBlocks = 7; ///< of a multiprocessor, for which there are registers

template <typename T, int kCount>
constexpr bool kIsFew = kCount * sizeof(T) < 16;

/// The list of warps: parts of a run, then those of the next.
struct RunList {
  int64_t warps;
  int32_t length, runs; ///< of a row of the batch
  int width;            ///< lanes of a head
  RunParts counts;
  Parts parts;
};

/// Convolves a run. Heads of q and k are normed and stored `repeats` times.
template <typename T, int kTaps, int kCount, int kWidth, bool kIsHead, bool kIsUsual>
__device__ __forceinline__ void convolveRun(const GatedDelta &in, const Run &run, const LanePlace &place, int width,
                                            T *out, T *silu) {
  const int32_t c = place.channel + (kIsHead ? 0 : 2 * in.keyHeads * in.dk);
  const int64_t step = kIsHead ? int64_t(in.valueHeads) * in.dk : in.valueChannels();
  const T *from = static_cast<const T *>(in.x) + in.xSteps.at(run.batch, run.first) + (place.isActive ? c : 0);
  const auto load = [&](int32_t) {
    const auto bits = loadChunk<T, kCount>(from);
    from += in.xSteps.token;
    return bits;
  };
  TapSums<T, kTaps, kCount> sums;
  Sequence sequence(in, run.first);
  const auto start = [&] {
    sums.load(in, run.batch, run.first, c, place.isActive);
    if constexpr (kIsUsual)
      sums.taps.dropBias();
    sums.start(sequence, run.first);
  };
  const auto body = [&](int32_t token, Chunk<T, kCount> bits) {
    if (sequence.advance(in, token))
      sums.restart();
    float x[kCount], a[kCount];
    widenChunk<T>(bits, x);
    sums.add(x, a);
    roundChunk<T>(a);
#pragma unroll
    for (int e = 0; e < kCount; ++e)
      a[e] *= sigmoidFor<T>(a[e]);
    if constexpr (kIsHead) {
      roundChunk<T>(a);
      if (silu) {
        if (place.isActive)
          storeChunk(silu, narrowChunk<T>(a));
        silu += 2 * in.keyChannels();
      }
      if (in.isNormed)
        scaleHead<T, kWidth, kLanesOf<T>>(a, width, in.eps);
    }
    const auto y = narrowChunk<T>(a);
    if (place.isActive)
      storeChunk(out, y);
    if (kIsHead && place.isActive && in.repeats > 1)
      storeChunk(out + in.dk, y);
    if (kIsHead && place.isActive)
#pragma unroll 1
      for (int r = 2; r < in.repeats; ++r)
        storeChunk(out + int64_t(r) * in.dk, y);
    out += step;
  };
  walkRun<kIsFew<T, kCount> ? kFewAhead : kAhead>(run.first, run.last, load, start, body);
}

template <typename T, int kCount>
__device__ __forceinline__ void copyRun(const GatedDelta &in, const Run &run, const LanePlace &place, T *out) {
  if (!place.isActive)
    return;
  const T *x = static_cast<const T *>(in.x) + in.xSteps.at(run.batch, run.first) + in.gateChannel() + place.channel;
  const auto load = [&](int32_t) {
    const auto bits = loadChunk<T, kCount>(x);
    x += in.xSteps.token;
    return bits;
  };
  walkRun<kAhead>(
      run.first, run.last, load, [] {},
      [&](int32_t, Chunk<T, kCount> bits) {
        storeChunk(out, bits);
        out += in.valueChannels();
      });
}

/// The gates of 32 heads.
template <typename T>
__device__ __forceinline__ void gateRun(const GatedDelta &in, const Results &out, const Run &run, int64_t part) {
  const int64_t h = part * 32 + threadIdx.x % 32;
  if (h >= in.valueHeads)
    return;
  const HeadParameters head(in, h);
  const auto load = [&](int32_t token) {
    return GateInputs<T>::load(in, static_cast<const T *>(in.x) + in.xSteps.at(run.batch, token), h);
  };
  walkRun<kAhead>(
      run.first, run.last, load, [] {},
      [&](int32_t token, GateInputs<T> inputs) { writeGates(in, out, head, inputs, run.batch * in.M + token, h); });
}

/// Prefetches what a warp reads of x; the channels of all branches but the gates follow one another as their parts do.
template <typename T, int kTaps, int kCount>
__device__ __forceinline__ void prefetchRun(const GatedDelta &in, const RunList &list, const Run &run, int32_t part) {
  constexpr int kBytes = 32 * kCount * sizeof(T);
  const auto rowsFrom = [&](int32_t first, int32_t channel, int bytes) {
    prefetchRows(static_cast<const T *>(in.x) + in.xSteps.at(run.batch, first) + channel, run.last - first,
                 in.xSteps.token * sizeof(T), bytes);
  };
  part -= list.counts.gates;
  if (part < 0)
    return rowsFrom(run.first, static_cast<int32_t>(in.betaChannel()), kLineBytes);
  const int32_t first = max(0, run.first - (part < list.counts.keys + list.counts.values ? kTaps - 1 : 0));
  rowsFrom(first, part * 32 * kCount, kBytes);
}

/// kIsUsual where usesAllLanes() and there is no bias.
template <typename T, int kTaps, bool kIsUsual, int kCount = kLanesOf<T>>
__global__ void __launch_bounds__(kRunThreads, (kIsFew<T, kCount> ? kFewBlocks
                                                : kIsUsual        ? 4
                                                                  : 3))
    gatedDeltaRunKernel(GatedDelta in, Results out, RunList list) {
  const uint32_t item = blockIdx.x * kRunWarps + threadIdx.x / 32;
  const uint32_t number = item / uint32_t(list.parts.count);
  int32_t part = int32_t(list.parts.first) + item % uint32_t(list.parts.count);
  Run run;
  run.batch = number / uint32_t(list.runs);
  run.first = static_cast<int32_t>(number % uint32_t(list.runs) * list.length);
  run.last = min(in.M, run.first + list.length);
  if (kIsFew<T, kCount> && item < list.warps)
    prefetchRun<T, kTaps, kCount>(in, list, run, part);
  beginOverlapped();
  checkCuts(in);
  if (item >= list.warps)
    return;
  const int64_t row = run.batch * in.M + run.first;
  if (part < list.counts.gates)
    return gateRun<T>(in, out, run, part);
  part -= list.counts.gates;
  if (part < list.counts.keys) {
    LanePlace place = LanePlace::ofHead(in, part, list.width, kCount);
    place.isActive |= kIsUsual;
    const bool isKey = place.head >= in.keyHeads;
    const int64_t first = int64_t(place.head - (isKey ? in.keyHeads : 0)) * in.repeats;
    T *heads = static_cast<T *>(isKey ? out.key : out.query);
    T *silu = static_cast<T *>(out.silu);
    heads += (row * in.valueHeads + first) * in.dk + (place.channel - place.head * in.dk);
    if (silu)
      silu += row * 2 * in.keyChannels() + place.channel;
    return convolveRun<T, kTaps, kCount, kIsUsual ? 128 / kCount : 0, true, kIsUsual>(in, run, place, list.width, heads,
                                                                                      silu);
  }
  part -= list.counts.keys;
  const bool isGate = part >= list.counts.values;
  LanePlace place = LanePlace::ofValue(in, part - (isGate ? list.counts.values : 0), kCount);
  place.isActive |= kIsUsual;
  T *to = static_cast<T *>(isGate ? out.gate : out.value) + row * in.valueChannels() + place.channel;
  if (isGate)
    copyRun<T, kCount>(in, run, place, to);
  else
    convolveRun<T, kTaps, kCount, 1, false, kIsUsual>(in, run, place, list.width, to, nullptr);
}

bool runsTake(const PreGatedDeltaRuleArgs &a, Needs &needs) {
  return runsFit(needs, a, 16 / mhcrt_dtype_bytes(a.qkvzba_type)) &&
         needs.aligned(
             {a.qkvzba, a.conv_weight, a.conv_bias, a.left_boundary, a.query, a.key, a.value, a.gate, a.silu});
}

/// Runs that fill the GPU once, with `warps` on a multiprocessor, or the longest; no result follows from their length.
int32_t runLength(const mhcrt_context &context, const GatedDelta &in, int64_t parts, int warps) {
  const int64_t runs = std::max<int64_t>(1, int64_t(context.multiprocessors) * warps / parts);
  return static_cast<int32_t>(std::clamp<int64_t>(divideUp(in.tokens(), runs), 1, kMostRun));
}

cudaError_t launchRuns(mhcrt_context &context, const PreGatedDeltaRuleArgs &a) {
  const GatedDelta in = gatedDeltaOf(context, "mhcrt_pre_gated_delta_rule", a);
  const int64_t bytes = mhcrt_dtype_bytes(a.qkvzba_type);
  const bool isFew =
      in.tokens() <= kFewTokens && bytes == 2 && a.k == kUsualTaps && usesAllLanes(in, 4) && !in.bias.data;
  const int count = isFew ? 4 : static_cast<int>(16 / bytes), width = headWidth(a.dk, count);
  const RunParts counts(in, width, count, a.gate != nullptr);
  const int32_t length = runLength(context, in, counts.all(), isFew ? kFewWarps : kFullWarps),
                runs = static_cast<int32_t>(divideUp(in.M, length));
  return startBranches(a.impl, {counts.gates, counts.keys, counts.values, counts.z}, [&](Parts parts) {
    const RunList list = {in.b * int64_t(runs) * parts.count, length, runs, width, counts, parts};
    return withFloatType(a.qkvzba_type, [&](auto type) {
      return withTaps(a.k, [&](auto taps) {
        using T = decltype(type);
        constexpr int kTaps = decltype(taps)::value;
        const bool isUsual = kTaps == kUsualTaps && usesAllLanes(in, count) && !in.bias.data;
        auto kernel =
            isUsual ? gatedDeltaRunKernel<T, kTaps, kTaps == kUsualTaps> : gatedDeltaRunKernel<T, kTaps, false>;
        if constexpr (sizeof(T) == 2 && kTaps == kUsualTaps)
          if (isFew)
            kernel = gatedDeltaRunKernel<T, kTaps, true, 4>;
        return launchFollowing(context, kernel, static_cast<unsigned>(divideUp(list.warps, kRunWarps)), kRunThreads, in,
                               resultsOf(a), list);
      });
    });
  });
}

} // namespace

static constexpr Variant<PreGatedDeltaRuleArgs> kVariants[] = {{"runs", 80, kAnyArch, runsTake, launchRuns},
                                                               {"generic", 0, kAnyArch, nullptr, launchGeneric}};

mhcrt_status mhcrt::runPreGatedDeltaRule(mhcrt_context &context, const PreGatedDeltaRuleArgs &args) {
  if (!checkPreGatedDeltaRule(context, args, Ids::OnDevice))
    return context.status;
  return args.M && args.b ? launchVariant(context, "pre_gated_delta_rule", kVariants, args) : context.status;
}
