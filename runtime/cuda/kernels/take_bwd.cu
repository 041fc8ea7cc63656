//===- take_bwd.cu - Add rows to those of a table -------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_table[v,c] = d_table_in[v,c] + sum_{m: ids[m] = v} d_out[m,c]
//
// Generic: the first token of each number looks for the others, in order, and adds their rows in registers: a block per
// token and 1024 channels. Compensated f32 sums in the order of the tokens, as on the CPU. d_table may be d_table_in. A
// number that the table does not have adds nothing, and mhcrt_synchronize reports it. Bytes a token: C elements, 8*C of
// the table; the search reads M numbers per token from the second-level cache.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Variants.h"
#include "cuda/tile/Element.cuh"
#include "cuda/tile/Ids.cuh"
#include "cuda/tile/Sum.cuh"
#include "src/Checks.h"
#include "src/CompensatedSum.h"

using namespace mhcrt;

namespace {

constexpr int kChannels = 4; ///< of a thread

/// Whether a token before m has the same number. The same in all threads.
__device__ inline bool isRepeated(const int32_t *ids, int64_t m) {
  bool found = false;
  for (int64_t base = 0; base < m && !found; base += kThreads) {
    const int64_t other = base + threadIdx.x;
    found = __syncthreads_or(other < m && ids[other] == ids[m]);
  }
  return found;
}

/// Numbers of the tokens base .. base+255 with the number `id`, in order, to `matches`; their count in all threads.
__device__ inline int findMatches(const int32_t *ids, int64_t M, int64_t base, int32_t id, int *matches) {
  __shared__ int counts[kWarps];
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  const bool isMatch = base + threadIdx.x < M && ids[base + threadIdx.x] == id;
  const unsigned lanes = __ballot_sync(~0u, isMatch);
  __syncthreads(); // the last chunk was read
  if (lane == 0)
    counts[warp] = __popc(lanes);
  __syncthreads();
  int before = 0, total = 0;
  for (int w = 0; w < kWarps; ++w) {
    before += w < warp ? counts[w] : 0;
    total += counts[w];
  }
  if (isMatch)
    matches[before + __popc(lanes & ((1u << lane) - 1))] = threadIdx.x;
  __syncthreads();
  return total;
}

} // namespace

/// Not of this file alone: ptxas takes three registers more for sm_100a then.
template <typename T>
__global__ void __launch_bounds__(kThreads) takeBwdKernel(TakeBwdArgs a, IdFault *fault) {
  __shared__ int matches[kThreads];
  const int32_t *ids = static_cast<const int32_t *>(a.ids);
  const T *rows = static_cast<const T *>(a.d_out);
  const int64_t strips = (a.C + kThreads * kChannels - 1) / (kThreads * kChannels);
  for (int64_t work = blockIdx.x; work < a.M * strips; work += gridDim.x) {
    const int64_t m = work / strips, c0 = work % strips * kThreads * kChannels + threadIdx.x;
    const int32_t id = ids[m];
    if (id < 0 || id >= a.V) {
      if (c0 == 0)
        reportId(fault, id, m, a.V);
      continue;
    }
    if (isRepeated(ids, m))
      continue;
    CompensatedSum sums[kChannels];
#pragma unroll
    for (int k = 0; k < kChannels; ++k)
      if (c0 + k * kThreads < a.C)
        sums[k].add(static_cast<const float *>(a.d_table_in)[id * a.C + c0 + k * kThreads]);
    for (int64_t base = m; base < a.M; base += kThreads) {
      const int count = findMatches(ids, a.M, base, id, matches);
      for (int match = 0; match < count; ++match) {
        const T *row = rows + (base + matches[match]) * a.C;
#pragma unroll
        for (int k = 0; k < kChannels; ++k)
          if (c0 + k * kThreads < a.C)
            sums[k].add(toFloat(row[c0 + k * kThreads]));
      }
    }
#pragma unroll
    for (int k = 0; k < kChannels; ++k)
      if (c0 + k * kThreads < a.C)
        static_cast<float *>(a.d_table)[id * a.C + c0 + k * kThreads] = sums[k].value();
  }
}

static cudaError_t launchGeneric(mhcrt_context &context, const TakeBwdArgs &a) {
  IdFault *fault = context.idFault("mhcrt_take_bwd");
  cudaError_t error = cudaSuccess;
  if (a.d_table != a.d_table_in)
    error =
        cudaMemcpyAsync(a.d_table, a.d_table_in, a.V * a.C * sizeof(float), cudaMemcpyDeviceToDevice, context.stream);
  if (error != cudaSuccess || a.M == 0)
    return error;
  const int64_t work = a.M * divideUp(a.C, kThreads * kChannels);
  return withFloatType(a.d_out_type, [&](auto type) {
    return launchKernel(takeBwdKernel<decltype(type)>, gridForBlocks(context, work), kThreads, 0, context.stream, a,
                        fault);
  });
}

static constexpr Variant<TakeBwdArgs> kVariants[] = {{"generic", 0, kAnyArch, nullptr, launchGeneric}};

mhcrt_status mhcrt::runTakeBwd(mhcrt_context &context, const TakeBwdArgs &args) {
  if (!checkTakeBwd(context, args, Ids::OnDevice))
    return context.status;
  return launchVariant(context, "take_bwd", kVariants, args);
}
