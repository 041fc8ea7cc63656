//===- sinkhorn_bwd.cu - Gradient of the Sinkhorn iteration ---------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generic: 4 or 16 lanes a token, a row each (Sinkhorn.cuh). The iterations run again and leave a record per step
// in scratch memory, n values and whether a line's divisor is its sum per lane, which the reverse reads. Gradients are
// those of logarithms, which no step divides. The number of lanes, and so the scratch memory, has a bound that M does
// not enter. All f32. Bytes a token: 12*n*n and 16*T*n*(n+1) of scratch. Of a limit (Newton.cuh) there is no record.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Newton.cuh"
#include "cuda/host/Launch.cuh"
#include "cuda/host/Variants.h"
#include "cuda/kernels/Generic.h"
#include "cuda/kernels/Residual.h"
#include "src/Checks.h"

using namespace mhcrt;

namespace {

/// Blocks of one multiprocessor, and so tokens that have a history at a time.
constexpr int64_t kBlocksPerMultiprocessor = 2;

/// The records of this lane, interleaved with those of the other lanes.
template <int kWidth>
struct History {
  using Group = SinkhornGroup<kWidth>;
  float *data;
  int64_t lanes, lane;
  const Group &group;

  __device__ float *at(int64_t step, int64_t value) const {
    return data + (step * (group.n + 1) + value) * lanes + lane;
  }

  /// Where a step normalizes columns, lane c keeps what belongs to column c.
  __device__ void save(int64_t step, const typename Group::Record &record) const {
    float isFree = 0;
#pragma unroll
    for (int c = 0; c < kWidth; ++c) {
      if (c < group.n)
        *at(step, c) = record.value[c];
      isFree = c == group.row ? record.isFree[c] : isFree;
    }
    *at(step, group.n) = isFree;
  }

  __device__ void load(int64_t step, bool rows, typename Group::Record &record) const {
    const float isFree = *at(step, group.n);
#pragma unroll
    for (int c = 0; c < kWidth; ++c) {
      record.value[c] = c < group.n ? *at(step, c) : 0.0f;
      record.isFree[c] = __shfl_sync(~0u, isFree, rows ? group.row : c, kWidth);
    }
  }
};

/// The gradient of the logits from that of the logarithm of what the steps start from. Where a line's maximum was
/// subtracted, equal ones share its gradient.
template <int kWidth>
__device__ inline void reverseStart(const SinkhornGroup<kWidth> &group, const SinkhornOptions &options,
                                    const float (&logits)[kWidth], const float (&start)[kWidth],
                                    float (&grad)[kWidth]) {
  float weight[kWidth], line[kWidth];
  if (options.addsEps() && options.eps != 0.0f)
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      grad[c] *= start[c] / (start[c] + options.eps);
  if (options.isSigmoid())
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      grad[c] *= 1.0f - start[c];
  if (options.isSigmoid() || options.init == MHCRT_INIT_EXP)
    return;
  if (options.init == MHCRT_INIT_SOFTMAX_EPS) {
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      weight[c] = start[c];
  } else {
    float most[kWidth];
    group.maximaOfStart(logits, options.init, most);
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      weight[c] = logits[c] == most[c] ? 1.0f : 0.0f;
    group.sumsOfStart(weight, options.init, line);
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      weight[c] *= 1.0f / line[c];
  }
  group.sumsOfStart(grad, options.init, line);
#pragma unroll
  for (int c = 0; c < kWidth; ++c)
    grad[c] = fmaf(-weight[c], line[c], grad[c]);
}

/// The gradient of the start m's logarithm from that of the mix, in place. A step's record is the factors that it
/// replaced.
template <int kWidth>
__device__ inline void reversePotentials(const History<kWidth> &history, const SinkhornOptions &options,
                                         const float (&m)[kWidth], float (&grad)[kWidth]) {
  const SinkhornGroup<kWidth> &group = history.group;
  typename SinkhornGroup<kWidth>::Factors factors = group.ones(), grads;
  for (int64_t step = 0; step < options.steps(); ++step) {
    *history.at(step, 0) = options.rowsAt(step) ? factors.row : group.ofMyColumn(factors.columns);
    group.scale(m, factors, options.rowsAt(step), options.eps);
  }
  grads.row = 0.0f;
#pragma unroll
  for (int c = 0; c < kWidth; ++c) {
    grad[c] *= factors.row * factors.columns[c];
    grads.row = c < group.n ? fmaf(m[c], grad[c], grads.row) : grads.row;
    grads.columns[c] = group.sumOfRows(m[c] * grad[c]);
  }
  for (int64_t step = options.steps() - 1; step >= 0; --step) {
    const bool rows = options.rowsAt(step);
    const float before = *history.at(step, 0);
    if (rows)
      group.template reverseScale<true>(grad, m, factors, grads);
    else
      group.template reverseScale<false>(grad, m, factors, grads);
    factors.row = rows ? before : factors.row;
#pragma unroll
    for (int c = 0; c < kWidth; ++c) {
      const float column = __shfl_sync(~0u, before, c, kWidth);
      factors.columns[c] = rows ? factors.columns[c] : column;
    }
  }
#pragma unroll
  for (int c = 0; c < kWidth; ++c)
    grad[c] *= m[c];
}

/// The same where each step divides or subtracts; its record is the step's result.
template <int kWidth>
__device__ inline void reverseSteps(const History<kWidth> &history, const SinkhornOptions &options,
                                    float (&grad)[kWidth]) {
  const SinkhornGroup<kWidth> &group = history.group;
  typename SinkhornGroup<kWidth>::Record record;
  for (int64_t last = options.steps() - 1, step = last; step >= 0; --step) {
    const bool rows = options.rowsAt(step);
    history.load(step, rows, record);
    if (step == last && rows)
      group.template reverseLast<true>(grad, record);
    else if (step == last)
      group.template reverseLast<false>(grad, record);
    else if (rows)
      group.template reverse<true>(grad, record);
    else
      group.template reverse<false>(grad, record);
  }
}

/// Potentials have kernels of their own, whose registers the others do not need.
template <int kWidth, bool kPotentials>
__global__ void __launch_bounds__(kThreads)
    sinkhornBwdKernel(SinkhornBwdArgs a, SinkhornOptions options, float *records) {
  constexpr int kGroups = kThreads / kWidth;
  const SinkhornGroup<kWidth> group(a.n);
  const History<kWidth> history = {records, itemStep(), firstItem(), group};
  typename SinkhornGroup<kWidth>::Record record;
  const bool inLogs = options.init == MHCRT_INIT_LOG;
  for (int64_t first = int64_t(blockIdx.x) * kGroups; first < a.M; first += int64_t(gridDim.x) * kGroups) {
    const int64_t token = first + threadIdx.x / kWidth;
    const bool isRow = token < a.M && group.row < a.n;
    const int64_t at = token * a.n * a.n + group.row * a.n;
    float logits[kWidth], start[kWidth], m[kWidth], grad[kWidth];
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      logits[c] = start[c] = isRow && c < a.n ? static_cast<const float *>(a.logits)[at + c] : 0.0f;
    group.start(start, options);
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      m[c] = options.addsEps() ? start[c] + options.eps : start[c];
    for (int64_t step = 0; step < options.steps() && !kPotentials; ++step) {
      if (options.rowsAt(step))
        group.template replay<true>(m, options, record);
      else
        group.template replay<false>(m, options, record);
      history.save(step, record);
    }
#pragma unroll
    for (int c = 0; c < kWidth; ++c) {
      grad[c] = isRow && c < a.n ? static_cast<const float *>(a.d_mix)[at + c] : 0.0f;
      if (!kPotentials && options.steps() == 0)
        grad[c] *= inLogs ? expf(m[c]) : m[c];
    }
    if constexpr (kPotentials)
      reversePotentials(history, options, m, grad);
    else
      reverseSteps(history, options, grad);
    if (!inLogs)
      reverseStart(group, options, logits, start, grad);
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      if (isRow && c < a.n)
        static_cast<float *>(a.d_logits)[at + c] = grad[c];
  }
}

/// The gradient of the limit.
template <int kWidth>
__global__ void __launch_bounds__(kThreads) newtonBwdKernel(SinkhornBwdArgs a) {
  constexpr int kGroups = kThreads / kWidth;
  const NewtonGroup<kWidth> group(a.n);
  for (int64_t first = int64_t(blockIdx.x) * kGroups; first < a.M; first += int64_t(gridDim.x) * kGroups) {
    const int64_t token = first + threadIdx.x / kWidth;
    const bool isRow = token < a.M && group.row < a.n;
    const int64_t at = token * a.n * a.n + group.row * a.n;
    float m[kWidth], grad[kWidth];
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      m[c] = isRow && c < a.n ? static_cast<const float *>(a.logits)[at + c] : 0.0f;
    group.limit(m, a.iters);
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      grad[c] = isRow && c < a.n ? static_cast<const float *>(a.d_mix)[at + c] : 0.0f;
    group.gradient(grad, m);
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      if (isRow && c < a.n)
        static_cast<float *>(a.d_logits)[at + c] = grad[c];
  }
}

int64_t lanesPerToken(int64_t n) { return n <= 4 ? 4 : 16; }

unsigned gridOf(const mhcrt_context &context, const SinkhornBwdArgs &a) {
  const int64_t most = context.multiprocessors * kBlocksPerMultiprocessor;
  return static_cast<unsigned>(std::clamp<int64_t>(divideUp(a.M * lanesPerToken(a.n), kThreads), 1, most));
}

SinkhornOptions optionsOf(const SinkhornBwdArgs &a) {
  return {a.init, a.order, a.denom, static_cast<float>(a.eps), a.iters, MHCRT_FORMAT_F32, a.solver};
}

} // namespace

int64_t generic::sinkhornBwdBytes(const mhcrt_context &context, const SinkhornBwdArgs &a) {
  if (optionsOf(a).isNewton())
    return 0;
  ScratchPlan plan;
  plan.addFloats(saturatingMul(optionsOf(a).steps(), a.n + 1), int64_t(gridOf(context, a)) * kThreads);
  return plan.bytes();
}

cudaError_t generic::sinkhornBwd(mhcrt_context &context, const SinkhornBwdArgs &a, void *scratch) {
  const bool isNarrow = lanesPerToken(a.n) == 4;
  if (optionsOf(a).isNewton())
    return launchKernel(isNarrow ? newtonBwdKernel<4> : newtonBwdKernel<16>, gridOf(context, a), kThreads, 0,
                        context.stream, a);
  auto kernel = isNarrow ? sinkhornBwdKernel<4, false> : sinkhornBwdKernel<16, false>;
  if (optionsOf(a).hasPotentials())
    kernel = isNarrow ? sinkhornBwdKernel<4, true> : sinkhornBwdKernel<16, true>;
  return launchKernel(kernel, gridOf(context, a), kThreads, 0, context.stream, a, optionsOf(a),
                      static_cast<float *>(scratch));
}

static cudaError_t launchGeneric(mhcrt_context &context, const SinkhornBwdArgs &a) {
  if (optionsOf(a).isNewton())
    return generic::sinkhornBwd(context, a, nullptr);
  void *scratch = context.reserveScratch("mhcrt_sinkhorn_bwd", generic::sinkhornBwdBytes(context, a));
  return scratch ? generic::sinkhornBwd(context, a, scratch) : cudaSuccess;
}

static constexpr Variant<SinkhornBwdArgs> kVariants[] = {
    {"n4", 0, kAnyArch, sinkhornBwdN4Takes,
     [](mhcrt_context &c, const SinkhornBwdArgs &a) { return sinkhornBwdN4(a, c.stream); }},
    {"n2n8", 0, kAnyArch, sinkhornBwdN2N8Takes,
     [](mhcrt_context &c, const SinkhornBwdArgs &a) { return sinkhornBwdN4(a, c.stream); }},
    {"generic", 0, kAnyArch, nullptr, launchGeneric}};

mhcrt_status mhcrt::runSinkhornBwd(mhcrt_context &context, const SinkhornBwdArgs &args) {
  if (!checkSinkhornBwd(context, args))
    return context.status;
  return args.M ? launchVariant(context, "sinkhorn_bwd", kVariants, args) : context.status;
}
