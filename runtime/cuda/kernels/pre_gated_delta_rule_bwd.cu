//===- pre_gated_delta_rule_bwd.cu - Gradients of mhc.pre_gated_delta_rule -===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dy[h] = sum of the gradients of a head's repeats        du = r*(dy - y*(r*sum dy*u)), y = r*u, r = 1/sqrt(sum u^2 +
//   l2_eps) for q and k; dy for v                           da = du * (s + a*s*(1-s)), s = sigmoid(a)
//   dx[t] = sum_j w[j] * da[t+(k-1)-j]        dw[j] = sum da[t] * x[t-(k-1)+j]        dbias = sum da
//   dbeta = d_beta * s*(1-s)        dalpha = -d_g * exp(A_log) * softplus'        dA_log = sum d_g*g
//
// Generic: a warp per head of q and k of a token leaves r and r*sum dy*u; a thread per element of d_qkvzba and of
// d_left_boundary makes the gradients of the k tokens that read it; a thread per channel and row of partial sums walks
// its tokens. Then the partial sums of both variants are added, in their order.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Variants.h"
#include "cuda/kernels/GatedDeltaBwd.cuh"
#include "cuda/kernels/Generic.h"
#include "cuda/tile/Sum.cuh"
#include "src/Checks.h"
#include "src/CompensatedSum.h"

using namespace mhcrt;

namespace {

constexpr int kMostTapsHere = 8;
constexpr int32_t kGenericStretch = 64;

/// The gradient of channel c of u, of all its repeats.
template <typename T>
__device__ __forceinline__ float foldedAt(const GatedDelta &in, const GatedDeltaGrads &grads, int64_t row, int64_t c) {
  const int64_t keys = in.keyChannels();
  if (c >= 2 * keys)
    return toFloat(static_cast<const T *>(grads.value)[row * in.valueChannels() + c - 2 * keys]);
  const T *heads = static_cast<const T *>(c < keys ? grads.query : grads.key);
  const int64_t of = c < keys ? c : c - keys, head = of / in.dk;
  float sum = 0;
  for (int32_t r = 0; r < in.repeats; ++r)
    sum += toFloat(heads[(row * in.valueHeads + head * in.repeats + r) * in.dk + of % in.dk]);
  return sum;
}

/// r and r * sum dy*u of the heads of q and k.
template <typename T>
__global__ void __launch_bounds__(kThreads, 2)
    gatedDeltaHeadKernel(GatedDelta in, GatedDeltaGrads grads, float2 *heads) {
  const int64_t count = 2 * in.keyHeads, items = in.tokens() * count;
  for (int64_t item = firstItem() / kWarp; item < items; item += itemStep() / kWarp) {
    const int64_t row = item / count, c0 = item % count * in.dk, batch = row / in.M, token = row % in.M;
    const Sequence sequence(in, static_cast<int32_t>(token));
    float squares = 0, product = 0;
    for (int64_t c = c0 + threadIdx.x % kWarp; c < c0 + in.dk; c += kWarp) {
      const float u = rounded<T>(siluAt<T>(in, sequence, batch, token, c));
      squares = fmaf(u, u, squares);
      product = fmaf(foldedAt<T>(in, grads, row, c), u, product);
    }
    const float scale = reciprocalRootOf(warpSum(squares) + in.eps);
    product = warpSum(product);
    if (threadIdx.x % kWarp == 0)
      heads[item] = {scale, scale * product};
  }
}

/// The gradient of a.
template <typename T>
__device__ __forceinline__ float convolvedGradient(const GatedDelta &in, const GatedDeltaGrads &grads,
                                                   const float2 *heads, const Sequence &sequence, int64_t batch,
                                                   int64_t token, int64_t c) {
  const int64_t row = batch * in.M + token;
  const float a = convolvedAt<T>(in, sequence, batch, token, c), s = sigmoidFor<T>(a);
  float du = foldedAt<T>(in, grads, row, c);
  if (c < 2 * in.keyChannels() && in.isNormed) {
    const float2 head = heads[row * 2 * in.keyHeads + c / in.dk];
    du = head.x * (du - head.x * rounded<T>(a * s) * head.y);
  }
  return du * siluSlope(a * s, s);
}

/// The gradient of channel c of a source, which is negative where it precedes token 0.
template <typename T>
__device__ __forceinline__ float sourceGradient(const GatedDelta &in, const GatedDeltaGrads &grads, const float2 *heads,
                                                int64_t batch, int64_t source, int64_t c) {
  Sequence sequence(in, static_cast<int32_t>(max(source, int64_t{0})));
  float sum = 0;
  for (int32_t later = 0; later < in.taps && source + later < in.M && source + later < sequence.next; ++later)
    if (source + later >= 0)
      sum = fmaf(in.weight[c * in.taps + in.taps - 1 - later],
                 convolvedGradient<T>(in, grads, heads, sequence, batch, source + later, c), sum);
  return sum;
}

template <typename T>
__global__ void __launch_bounds__(kThreads, 2)
    gatedDeltaInputKernel(GatedDelta in, GatedDeltaGrads grads, const float2 *heads) {
  T *dx = static_cast<T *>(grads.x), *dLeft = static_cast<T *>(grads.left);
  const int64_t channels = in.betaChannel(), items = dx ? in.tokens() * channels : 0;
  for (int64_t item = firstItem(); item < items; item += itemStep()) {
    const int64_t row = item / channels, c = item % channels, batch = row / in.M, token = row % in.M;
    dx[in.xSteps.at(batch, token) + c] = c < in.E
                                             ? fromFloat<T>(sourceGradient<T>(in, grads, heads, batch, token, c))
                                             : static_cast<const T *>(grads.gate)[row * in.valueChannels() + c - in.E];
  }
  const int32_t before = in.taps - 1;
  const int64_t leftItems = dLeft ? int64_t(in.b) * before * in.E : 0;
  for (int64_t item = firstItem(); item < leftItems; item += itemStep()) {
    const int64_t row = item / in.E, c = item % in.E, batch = row / before, index = row % before;
    dLeft[in.leftSteps.at(batch, index) + c] =
        fromFloat<T>(sourceGradient<T>(in, grads, heads, batch, index - before, c));
  }
}

/// The sums of one channel over the stretches of a row.
template <typename T>
__device__ __forceinline__ void sumTaps(const GatedDelta &in, const GatedDeltaGrads &grads, const float2 *heads,
                                        const Stretches &stretches, int64_t r, int64_t c) {
  float sums[kMostTapsHere + 1] = {};
  for (int64_t stretch = r; stretch < stretches.count; stretch += stretches.rows) {
    const int64_t batch = stretch / stretches.ofRow, first = stretch % stretches.ofRow * stretches.length;
    Sequence sequence(in, static_cast<int32_t>(first));
    for (int64_t token = first; token < min(first + stretches.length, int64_t{in.M}); ++token) {
      sequence.advance(in, static_cast<int32_t>(token));
      const float da = convolvedGradient<T>(in, grads, heads, sequence, batch, token, c);
#pragma unroll
      for (int back = 0; back < kMostTapsHere; ++back)
        if (back < in.taps && (back == 0 || sequence.has(static_cast<int32_t>(token - back))))
          sums[back] = fmaf(da, sourceAt<T>(in, batch, token - back, c), sums[back]);
      sums[kMostTapsHere] += da;
    }
  }
  float *row = stretches.row(r) + c;
#pragma unroll
  for (int back = 0; back < kMostTapsHere; ++back)
    if (back < in.taps)
      row[(in.taps - 1 - back) * in.E] = sums[back];
  row[in.taps * in.E] = sums[kMostTapsHere];
}

/// The gradients of the gates of one head, and their sums over the stretches of a row.
template <typename T>
__device__ __forceinline__ void sumGates(const GatedDelta &in, const GatedDeltaGrads &grads, const Stretches &stretches,
                                         int64_t r, int64_t h) {
  float aLog = 0, dtBias = 0;
  for (int64_t stretch = r; stretch < stretches.count; stretch += stretches.rows) {
    const int64_t batch = stretch / stretches.ofRow, first = stretch % stretches.ofRow * stretches.length;
    for (int64_t token = first; token < min(first + stretches.length, int64_t{in.M}); ++token) {
      const float2 terms = gateGradients<T>(in, grads, batch, token, h);
      aLog += terms.x;
      dtBias += terms.y;
    }
  }
  float *row = stretches.row(r) + (in.taps + 1) * in.E + h;
  row[0] = aLog;
  row[in.valueHeads] = dtBias;
}

template <typename T>
__global__ void __launch_bounds__(kThreads, 2)
    gatedDeltaSumKernel(GatedDelta in, GatedDeltaGrads grads, const float2 *heads, Stretches stretches) {
  checkCuts(in);
  const int64_t columns = in.E + in.valueHeads;
  for (int64_t item = firstItem(); item < stretches.rows * columns; item += itemStep()) {
    const int64_t r = item / columns, column = item % columns;
    if (column >= in.E)
      sumGates<T>(in, grads, stretches, r, column - in.E);
    else if (grads.haveTaps())
      sumTaps<T>(in, grads, heads, stretches, r, column);
  }
}

//===- Partial sums of both variants -----------------------------------------===//

constexpr int kSumColumns = 32; ///< of a block
constexpr int kSumGroups = kThreads / kSumColumns;

/// The result of a column of partial sums; null where it is not asked for.
__device__ __forceinline__ float *sumAt(const GatedDelta &in, const GatedDeltaGrads &grads, int64_t column) {
  if (column < in.taps * in.E)
    return grads.weight ? grads.weight + column % in.E * in.taps + column / in.E : nullptr;
  column -= in.taps * in.E;
  if (column < in.E)
    return grads.bias ? grads.bias + column : nullptr;
  column -= in.E;
  if (column < in.valueHeads)
    return grads.aLog ? grads.aLog + column : nullptr;
  column -= in.valueHeads;
  return grads.dtBias && column < in.valueHeads ? grads.dtBias + column : nullptr;
}

__global__ void __launch_bounds__(kThreads)
    addStretchesKernel(GatedDelta in, GatedDeltaGrads grads, Stretches stretches) {
  __shared__ CompensatedSum groups[kSumGroups][kSumColumns];
  const int lane = threadIdx.x % kSumColumns, group = threadIdx.x / kSumColumns;
  const int64_t column = int64_t(blockIdx.x) * kSumColumns + lane;
  float *const out = sumAt(in, grads, column);
  CompensatedSum sum;
  if (out)
    for (int32_t r = group; r < stretches.rows; r += kSumGroups)
      sum.add(stretches.row(r)[column]);
  groups[group][lane] = sum;
  __syncthreads();
  if (group || !out)
    return;
  for (int other = 1; other < kSumGroups; ++other) {
    sum.add(groups[other][lane].sum);
    sum.add(groups[other][lane].rest);
  }
  *out = sum.value();
}

cudaError_t launchGeneric(mhcrt_context &context, const PreGatedDeltaRuleBwdArgs &a) {
  const GatedDelta in = gatedDeltaOf(context, "mhcrt_pre_gated_delta_rule_bwd", a);
  const GatedDeltaGrads grads = gradsOf(a);
  Stretches stretches(in, kGenericStretch);
  generic::ScratchPlan plan;
  plan.add(stretches.bytes());
  const int64_t headCount = saturatingMul(in.tokens(), 2 * int64_t(in.keyHeads)),
                headsAt = plan.addFloats(headCount, 2);
  auto *scratch = static_cast<char *>(context.reserveScratch("mhcrt_pre_gated_delta_rule_bwd", plan.bytes()));
  if (!scratch)
    return cudaSuccess;
  stretches.partials = reinterpret_cast<float *>(scratch);
  auto *heads = reinterpret_cast<float2 *>(scratch + headsAt);
  const int64_t elements = std::max(saturatingMul(in.tokens(), in.betaChannel()), in.b * (a.k - 1) * in.E);
  cudaError_t error = withFloatType(a.qkvzba_type, [&](auto type) {
    using T = decltype(type);
    const auto start = [&](auto kernel, int64_t items, auto... more) {
      return launchKernel(kernel, gridFor(context, items), kThreads, 0, context.stream, in, grads, more...);
    };
    cudaError_t error = in.isNormed ? start(gatedDeltaHeadKernel<T>, headCount * kWarp, heads) : cudaSuccess;
    if (error == cudaSuccess && (grads.x || grads.left))
      error = start(gatedDeltaInputKernel<T>, elements, heads);
    return error == cudaSuccess
               ? start(gatedDeltaSumKernel<T>, stretches.rows * (in.E + in.valueHeads), heads, stretches)
               : error;
  });
  return error == cudaSuccess ? addStretches(context, in, grads, stretches) : error;
}

} // namespace

cudaError_t mhcrt::addStretches(mhcrt_context &context, const GatedDelta &in, const GatedDeltaGrads &grads,
                                const Stretches &stretches) {
  if (!grads.haveTaps() && !grads.haveHeads())
    return cudaSuccess;
  return launchKernel(addStretchesKernel, static_cast<unsigned>(divideUp(stretches.width, kSumColumns)), kThreads, 0,
                      context.stream, in, grads, stretches);
}

static constexpr Variant<PreGatedDeltaRuleBwdArgs> kVariants[] = {
    {"runs", 80, kAnyArch, gatedDeltaBwdRunsTake, gatedDeltaBwdRuns}, {"generic", 0, kAnyArch, nullptr, launchGeneric}};

mhcrt_status mhcrt::runPreGatedDeltaRuleBwd(mhcrt_context &context, const PreGatedDeltaRuleBwdArgs &args) {
  if (!checkPreGatedDeltaRuleBwd(context, args, Ids::OnDevice))
    return context.status;
  return launchVariant(context, "pre_gated_delta_rule_bwd", kVariants, args);
}
