//===- GatedDelta.cuh - The front end of a gated delta net ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands that the op and its gradient read alike: the sequence of a token, the small maths, and one channel of one
// token of any shape.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_KERNELS_GATEDDELTA_CUH
#define MHCRT_CUDA_KERNELS_GATEDDELTA_CUH

#include "cuda/algebra/Gate.cuh"
#include "cuda/host/Launch.cuh"
#include "cuda/host/LaunchOverlapping.h"
#include "cuda/ptx/FastFloat.cuh"
#include "cuda/ptx/Overlap.cuh"
#include "cuda/tile/Element.cuh"
#include "cuda/tile/Ids.cuh"
#include "src/KernelArgs.h"
#include "src/KernelCall.h"

namespace mhcrt {

/// Steps from a token to the next, and from a row of the batch to the next, in elements.
struct TokenSteps {
  int64_t token, batch;

  TokenSteps(int32_t layout, int64_t tokens, int64_t b, int64_t width)
      : token(layout == MHCRT_SEQ_LAYOUT_MBD ? b * width : width),
        batch(layout == MHCRT_SEQ_LAYOUT_MBD ? width : tokens * width) {}
  __device__ __forceinline__ int64_t at(int64_t batchRow, int64_t index) const {
    return batchRow * batch + index * token;
  }
};

struct GatedDelta {
  const void *x; ///< qkvzba
  AnyInput weight, bias, aLog, dtBias;
  const void *left;    ///< null where none
  const int32_t *cuts; ///< null where each row of the batch is a sequence
  TokenSteps xSteps, leftSteps;
  int64_t E, D;
  int64_t keyRow, valueRow; ///< elements of a token of query and key, and of value and gate
  int32_t M, b, taps, cutCount;
  int32_t keyHeads, valueHeads, repeats, dk, dv;
  bool isNormed;
  float eps, threshold;
  IdFault *fault; ///< where bad cuts are reported; null without cuts

  __host__ __device__ int64_t tokens() const { return int64_t(M) * b; }
  __host__ __device__ int64_t keyChannels() const { return int64_t(keyHeads) * dk; }
  __host__ __device__ int64_t valueChannels() const { return valueRow; }
  /// The first channel of z, beta and alpha.
  __host__ __device__ int64_t gateChannel() const { return E; }
  __host__ __device__ int64_t betaChannel() const { return E + valueChannels(); }
  __host__ __device__ int64_t alphaChannel() const { return betaChannel() + valueHeads; }
};

template <typename Args>
GatedDelta gatedDeltaOf(mhcrt_context &context, const char *kernel, const Args &a) {
  const bool hasCuts = a.cu_seqlens_type != MHCRT_NONE, hasLeft = a.left_boundary_type != MHCRT_NONE && a.k > 1;
  const auto narrow = [](int64_t size) { return static_cast<int32_t>(size); };
  return {a.qkvzba,
          {a.conv_weight, a.conv_weight_type},
          {a.conv_bias_type != MHCRT_NONE ? a.conv_bias : nullptr, a.conv_bias_type},
          {a.A_log, a.A_log_type},
          {a.dt_bias, a.dt_bias_type},
          hasLeft ? a.left_boundary : nullptr,
          hasCuts ? static_cast<const int32_t *>(a.cu_seqlens) : nullptr,
          TokenSteps(a.seq_layout, a.M, a.b, a.D),
          TokenSteps(a.seq_layout, a.k - 1, a.b, a.E),
          a.E,
          a.D,
          a.hv * a.dk,
          a.hv * a.dv,
          narrow(a.M),
          narrow(a.b),
          narrow(a.k),
          hasCuts ? narrow(a.s) : 0,
          narrow(a.num_key_heads),
          narrow(a.hv),
          narrow(a.hv / a.num_key_heads),
          narrow(a.dk),
          narrow(a.dv),
          a.qk_l2norm != 0,
          static_cast<float>(a.l2_eps),
          static_cast<float>(a.softplus_threshold),
          hasCuts ? context.idFault(kernel) : nullptr};
}

/// Looks at all cuts; the threads of a launch share them.
__device__ inline void checkCuts(const GatedDelta &in) {
  if (!in.cuts)
    return;
  for (int64_t i = firstItem(); i < in.cutCount; i += itemStep()) {
    const int32_t cut = in.cuts[i], least = i ? in.cuts[i - 1] : 0;
    if (i ? cut < least : cut != 0)
      reportCut(in.fault, cut, i, least, i > 0);
    else if (i == in.cutCount - 1 && cut != in.M)
      reportCut(in.fault, cut, i, in.M, false);
  }
}

/// The sequence that a token is in, for tokens that follow one another. Bad cuts give other sequences, never tokens
/// that are not there.
struct Sequence {
  int32_t first; ///< the first source of its tokens: negative where rows precede token 0
  int32_t next;  ///< the first token behind it

  __device__ __forceinline__ Sequence(const GatedDelta &in, int32_t token)
      : first(in.left ? 1 - in.taps : 0), next(INT32_MAX), index(0) {
    if (in.cuts)
      open(in, find(in, token));
  }
  /// True where `token` begins another sequence than the last one's.
  __device__ __forceinline__ bool advance(const GatedDelta &in, int32_t token) {
    if (token < next)
      return false;
    do
      open(in, index + 1);
    while (token >= next);
    return true;
  }
  __device__ __forceinline__ bool has(int32_t source) const { return source >= first; }

private:
  /// The last cut that is not behind `token`.
  __device__ static int32_t find(const GatedDelta &in, int32_t token) {
    int32_t low = 0, high = in.cutCount;
    while (high - low > 1) {
      const int32_t middle = low + (high - low) / 2;
      if (in.cuts[middle] <= token)
        low = middle;
      else
        high = middle;
    }
    return low;
  }
  __device__ __forceinline__ void open(const GatedDelta &in, int32_t cut) {
    index = cut;
    first = max(in.cuts[cut], 0);
    next = cut + 1 < in.cutCount ? in.cuts[cut + 1] : INT32_MAX;
  }

  int32_t index;
};

template <typename T>
__device__ __forceinline__ float rounded(float value) {
  return toFloat(fromFloat<T>(value));
}

/// 1 / (1 + exp(-z)): within what a result of 16 bits keeps, where T is one.
template <typename T>
__device__ __forceinline__ float sigmoidFor(float z) {
  constexpr float kLog2OfE = 1.44269504f;
  return fastReciprocal(1.0f + fastPowerOf2(-kLog2OfE * z));
}
template <>
__device__ __forceinline__ float sigmoidFor<float>(float z) {
  return fastSigmoid(z);
}

/// 1 / sqrt(v), infinite for 0: within what a result of 16 bits keeps, where T is one.
template <typename T>
__device__ __forceinline__ float rootFor(float v) {
  return fastReciprocalRoot(v);
}
template <>
__device__ __forceinline__ float rootFor<float>(float v) {
  return reciprocalRootOf(v);
}

/// d silu(a) / d a, where s is the sigmoid of a and u = a*s.
__device__ __forceinline__ float siluSlope(float u, float s) { return fmaf(u, 1.0f - s, s); }

__device__ __forceinline__ float softplus(float p, float threshold) {
  return p > threshold ? p : fmaxf(p, 0.0f) + log1pf(expf(-fabsf(p)));
}
__device__ __forceinline__ float softplusSlope(float p, float threshold) { return p > threshold ? 1.0f : sigmoid(p); }
/// sigmoid(z) * (1 - sigmoid(z)), without the difference.
__device__ __forceinline__ float sigmoidSlope(float z) {
  const float e = expf(-fabsf(z)), below = 1.0f / (1.0f + e);
  return e * below * below;
}

/// Parameters of the gates of a head.
struct HeadParameters {
  float dtBias, scale;

  __device__ __forceinline__ HeadParameters(const GatedDelta &in, int64_t h)
      : dtBias(in.dtBias[h]), scale(-expf(in.aLog[h])) {}
};

/// Beta and alpha of a head of a token, as they are in memory: loaded ahead, where stores would keep loads back.
template <typename T>
struct GateInputs {
  T beta, alpha;

  __device__ static __forceinline__ GateInputs load(const GatedDelta &in, const T *token, int64_t h) {
    return {token[in.betaChannel() + h], token[in.alphaChannel() + h]};
  }
};

/// Channel c of a source: a token, or where negative a row that precedes token 0.
template <typename T>
__device__ __forceinline__ float sourceAt(const GatedDelta &in, int64_t batch, int64_t source, int64_t c) {
  const bool isToken = source >= 0;
  const T *rows = static_cast<const T *>(isToken ? in.x : in.left);
  const int64_t row = isToken ? in.xSteps.at(batch, source) : in.leftSteps.at(batch, source + in.taps - 1);
  return toFloat(rows[row + c]);
}

/// The convolution, rounded. `sequence` is that of the token.
template <typename T>
__device__ __forceinline__ float convolvedAt(const GatedDelta &in, const Sequence &sequence, int64_t batch,
                                             int64_t token, int64_t c) {
  float a = in.bias ? in.bias[c] : 0.0f;
  for (int32_t j = 0; j < in.taps; ++j) {
    const int64_t source = token - (in.taps - 1) + j;
    if (source == token || sequence.has(static_cast<int32_t>(source)))
      a = fmaf(in.weight[c * in.taps + j], sourceAt<T>(in, batch, source, c), a);
  }
  return rounded<T>(a);
}

template <typename T>
__device__ __forceinline__ float siluAt(const GatedDelta &in, const Sequence &sequence, int64_t batch, int64_t token,
                                        int64_t c) {
  const float a = convolvedAt<T>(in, sequence, batch, token, c);
  return a * sigmoidFor<T>(a);
}

/// Launches a kernel that begins by beginOverlapped().
template <typename... Parameters, typename... Arguments>
cudaError_t launchFollowing(const mhcrt_context &context, void (*kernel)(Parameters...), unsigned blocks,
                            unsigned threads, const Arguments &...arguments) {
  return launchOverlapping(kernel, blocks, threads, 1, 0, context.stream, arguments...);
}

/// Warps or parts that a launch of one branch takes, or one of all of them.
struct Parts {
  int64_t first, count;
};

/// Launches `start(parts)` once, or once for each branch.
template <typename Start>
cudaError_t startBranches(int32_t impl, std::initializer_list<int64_t> counts, Start start) {
  Parts all = {0, 0};
  for (int64_t count : counts) {
    if (impl == MHCRT_GDN_IMPL_STREAMED && count)
      if (const cudaError_t error = start(Parts{all.count, count}))
        return error;
    all.count += count;
  }
  return impl == MHCRT_GDN_IMPL_STREAMED ? cudaSuccess : start(all);
}

} // namespace mhcrt

#endif // MHCRT_CUDA_KERNELS_GATEDDELTA_CUH
