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
// Generic, two launches: a block has a head of a stretch of tokens. Its warps leave r and r*sum dy*u of each token in
// shared memory; a thread per element of d_qkvzba and of d_left_boundary makes the gradients of the k tokens that read
// it; a thread per channel walks the tokens for the sums. Then the partial sums of both variants are added, in their
// order.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Variants.h"
#include "cuda/kernels/GatedDeltaBwd.cuh"
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

/// r and r * sum dy*u of a head of q or k, of each token of a stretch and of those behind it that read its inputs.
struct HeadScalars {
  float2 of[kGenericStretch + kMostTapsHere - 1];

  /// Fills those of the tokens first .. last-1, for the head whose first channel is c0.
  template <typename T>
  __device__ __forceinline__ void fill(const GatedDelta &in, const GatedDeltaGrads &grads, int64_t batch, int32_t first,
                                       int32_t last, int64_t c0) {
    __syncthreads();
    const int lane = threadIdx.x % kWarp;
    for (int32_t token = first + threadIdx.x / kWarp; token < last; token += kThreads / kWarp) {
      const Sequence sequence(in, token);
      float squares = 0, product = 0;
      for (int64_t c = c0 + lane; c < c0 + in.dk; c += kWarp) {
        const float u = rounded<T>(siluAt<T>(in, sequence, batch, token, c));
        squares = fmaf(u, u, squares);
        product = fmaf(foldedAt<T>(in, grads, batch * in.M + token, c), u, product);
      }
      const float scale = reciprocalRootOf(warpSum(squares) + in.eps);
      product = warpSum(product);
      if (lane == 0)
        of[token - first] = {scale, scale * product};
    }
    __syncthreads();
  }
};

/// A head of q, k or v in a stretch of tokens.
template <typename T>
struct HeadStretch {
  const GatedDelta &in;
  const GatedDeltaGrads &grads;
  const HeadScalars &scalars; ///< where the head is normed
  int64_t batch, c0;
  int32_t width, first, last;
  bool isNormed;

  /// The gradient of a.
  __device__ __forceinline__ float convolvedGradient(const Sequence &sequence, int32_t token, int64_t c) const {
    const float a = convolvedAt<T>(in, sequence, batch, token, c), s = sigmoidFor<T>(a);
    float du = foldedAt<T>(in, grads, batch * in.M + token, c);
    if (isNormed) {
      const float2 head = scalars.of[token - first];
      du = head.x * (du - head.x * rounded<T>(a * s) * head.y);
    }
    return du * siluSlope(a * s, s);
  }

  /// The gradient of channel c of a source, which is negative where it precedes token 0.
  __device__ __forceinline__ float sourceGradient(int32_t source, int64_t c) const {
    const Sequence sequence(in, max(source, 0));
    float sum = 0;
    for (int32_t later = 0; later < in.taps && source + later < in.M && source + later < sequence.next; ++later)
      if (source + later >= 0)
        sum = fmaf(in.weight[c * in.taps + in.taps - 1 - later], convolvedGradient(sequence, source + later, c), sum);
    return sum;
  }

  /// Writes the gradients of the inputs, and of the rows that precede token 0.
  __device__ __forceinline__ void writeInputs() const {
    T *dx = static_cast<T *>(grads.x), *dLeft = static_cast<T *>(grads.left);
    const int32_t from = first || !dLeft ? first : 1 - in.taps, end = dx ? last : min(last, 0);
    for (int64_t i = threadIdx.x; i < int64_t(end - from) * width; i += kThreads) {
      const int32_t source = from + static_cast<int32_t>(i / width);
      const int64_t c = c0 + i % width;
      T *to = source < 0 ? dLeft + in.leftSteps.at(batch, source + in.taps - 1) : dx + in.xSteps.at(batch, source);
      to[c] = fromFloat<T>(sourceGradient(source, c));
    }
  }

  /// Adds the terms of the weight and the bias to a row of partial sums, which is new or has those of other stretches.
  __device__ __forceinline__ void addTaps(float *row, bool isNew) const {
    for (int64_t c = c0 + threadIdx.x; c < c0 + width; c += kThreads) {
      float sums[kMostTapsHere + 1];
#pragma unroll
      for (int back = 0; back < kMostTapsHere; ++back)
        sums[back] = isNew || back >= in.taps ? 0.0f : row[(in.taps - 1 - back) * in.E + c];
      sums[kMostTapsHere] = isNew ? 0.0f : row[in.taps * in.E + c];
      Sequence sequence(in, first);
      for (int32_t token = first; token < last; ++token) {
        sequence.advance(in, token);
        const float da = convolvedGradient(sequence, token, c);
#pragma unroll
        for (int back = 0; back < kMostTapsHere; ++back)
          if (back < in.taps && (back == 0 || sequence.has(token - back)))
            sums[back] = fmaf(da, sourceAt<T>(in, batch, token - back, c), sums[back]);
        sums[kMostTapsHere] += da;
      }
#pragma unroll
      for (int back = 0; back < kMostTapsHere; ++back)
        if (back < in.taps)
          row[(in.taps - 1 - back) * in.E + c] = sums[back];
      row[in.taps * in.E + c] = sums[kMostTapsHere];
    }
  }
};

/// The gradients of the gates of one head, and their sums over the stretches of a row.
template <typename T>
__device__ __forceinline__ void sumGates(const GatedDelta &in, const GatedDeltaGrads &grads, const Stretches &stretches,
                                         int64_t r, int64_t h) {
  float aLog = 0, dtBias = 0;
  for (int64_t stretch = r; stretch < stretches.count; stretch += stretches.rows) {
    const int64_t batch = stretch / stretches.ofRow, first = stretch % stretches.ofRow * stretches.length;
    for (int64_t token = first; token < min(first + stretches.length, int64_t{in.M}); ++token) {
      const float2 terms = gateGradients(in, grads, HeadParameters(in, h),
                                         GateTerms<T>::load(in, grads, batch, token, h), batch, token, h);
      aLog += terms.x;
      dtBias += terms.y;
    }
  }
  float *row = stretches.row(r) + (in.taps + 1) * in.E + h;
  row[0] = aLog;
  row[in.valueHeads] = dtBias;
}

/// A block has a part of the stretches of a row of partial sums: the gates, a head of q, k or v, or a head of z.
template <typename T>
__global__ void __launch_bounds__(kThreads, 2)
    gatedDeltaBwdKernel(GatedDelta in, GatedDeltaGrads grads, Stretches stretches, Parts parts) {
  __shared__ HeadScalars scalars;
  checkCuts(in);
  for (int64_t item = blockIdx.x; item < stretches.rows * parts.count; item += gridDim.x) {
    const int64_t r = item / parts.count, part = parts.first + item % parts.count - 1;
    if (part < 0) {
      for (int64_t h = threadIdx.x; h < in.valueHeads; h += kThreads)
        sumGates<T>(in, grads, stretches, r, h);
      continue;
    }
    const bool isKey = part < 2 * in.keyHeads;
    const int32_t width = isKey ? in.dk : in.dv;
    const int64_t c0 = isKey ? part * in.dk : 2 * in.keyChannels() + (part - 2 * in.keyHeads) * in.dv;
    for (int64_t stretch = r; stretch < stretches.count; stretch += stretches.rows) {
      const int64_t batch = stretch / stretches.ofRow;
      const int32_t first = static_cast<int32_t>(stretch % stretches.ofRow) * stretches.length,
                    last = min(first + stretches.length, in.M);
      if (c0 >= in.E) {
        for (int64_t i = threadIdx.x; i < int64_t(last - first) * width; i += kThreads) {
          const int64_t token = first + i / width, c = c0 + i % width;
          static_cast<T *>(grads.x)[in.xSteps.at(batch, token) + c] =
              grads.gate ? static_cast<const T *>(grads.gate)[(batch * in.M + token) * in.valueChannels() + c - in.E]
                         : T{};
        }
        continue;
      }
      if (isKey && in.isNormed)
        scalars.fill<T>(in, grads, batch, first, min(last + in.taps - 1, in.M), c0);
      const HeadStretch<T> head = {in, grads, scalars, batch, c0, width, first, last, isKey && in.isNormed};
      head.writeInputs();
      if (grads.haveTaps())
        head.addTaps(stretches.row(r), stretch == r);
    }
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
  beginOverlapped();
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
  stretches.partials =
      static_cast<float *>(context.reserveScratch("mhcrt_pre_gated_delta_rule_bwd", stretches.bytes()));
  if (!stretches.partials)
    return cudaSuccess;
  const bool convolves = grads.x || grads.left || grads.haveTaps();
  const int64_t keys = convolves ? 2 * in.keyHeads : 0, values = convolves ? in.valueHeads : 0,
                z = grads.x ? in.valueHeads : 0;
  const cudaError_t error = startBranches(a.impl, {1, keys, values, z}, [&](Parts parts) {
    return withFloatType(a.qkvzba_type, [&](auto type) {
      return launchKernel(gatedDeltaBwdKernel<decltype(type)>,
                          gridFor(context, saturatingMul(stretches.rows * parts.count, kThreads)), kThreads, 0,
                          context.stream, in, grads, stretches, parts);
    });
  });
  return error == cudaSuccess ? addStretches(context, in, grads, stretches) : error;
}

} // namespace

cudaError_t mhcrt::addStretches(mhcrt_context &context, const GatedDelta &in, const GatedDeltaGrads &grads,
                                const Stretches &stretches) {
  if (!grads.haveTaps() && !grads.haveHeads())
    return cudaSuccess;
  return launchFollowing(context, addStretchesKernel, static_cast<unsigned>(divideUp(stretches.width, kSumColumns)),
                         kThreads, in, grads, stretches);
}

static constexpr Variant<PreGatedDeltaRuleBwdArgs> kVariants[] = {
    {"runs", 80, kAnyArch, gatedDeltaBwdRunsTake, gatedDeltaBwdRuns}, {"generic", 0, kAnyArch, nullptr, launchGeneric}};

mhcrt_status mhcrt::runPreGatedDeltaRuleBwd(mhcrt_context &context, const PreGatedDeltaRuleBwdArgs &args) {
  if (!checkPreGatedDeltaRuleBwd(context, args, Ids::OnDevice))
    return context.status;
  return launchVariant(context, "pre_gated_delta_rule_bwd", kVariants, args);
}
