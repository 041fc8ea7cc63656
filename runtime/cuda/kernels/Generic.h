//===- Generic.h - The generic variants of all ops --------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// They take every legal call and are called by each other: `pre` is `projection`, `gates`, a residual map and
// `aggregate`. All enqueue only, and none asks for scratch memory itself where a caller hands it in.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_KERNELS_GENERIC_H
#define MHCRT_CUDA_KERNELS_GENERIC_H

#include "cuda/host/Context.h"
#include "cuda/host/Needs.h"
#include "src/KernelArgs.h"

namespace mhcrt::generic {

/// Units that multiply and add: with tiles, the architecture has the fast rows of all ops.
enum class Units { scalar, tiles };

/// Uses the fast row where it takes the call and `units` are tiles.
cudaError_t aggregate(mhcrt_context &context, const AggregateArgs &a, Units units);
cudaError_t aggregateBwd(mhcrt_context &context, const AggregateBwdArgs &a, Units units);
cudaError_t post(mhcrt_context &context, const PostArgs &a);

/// Formats to which pre and head round the gates, and the logits of a Sinkhorn that rounds.
struct GateFormats {
  int64_t pre = MHCRT_FORMAT_F32, post = MHCRT_FORMAT_F32, logits = MHCRT_FORMAT_F32;
};
cudaError_t gates(mhcrt_context &context, const GatesArgs &a, GateFormats formats = {});
int64_t gatesBwdBytes(const GatesBwdArgs &a);
cudaError_t gatesBwd(mhcrt_context &context, const GatesBwdArgs &a, void *scratch);

cudaError_t sinkhorn(mhcrt_context &context, const SinkhornArgs &a);
int64_t sinkhornBwdBytes(const mhcrt_context &context, const SinkhornBwdArgs &a);
cudaError_t sinkhornBwd(mhcrt_context &context, const SinkhornBwdArgs &a, void *scratch);
cudaError_t permutationMix(mhcrt_context &context, const PermutationMixArgs &a);
cudaError_t permutationMixBwd(mhcrt_context &context, const PermutationMixBwdArgs &a);

int64_t projectionBytes(const ProjectionArgs &a, Units units);
cudaError_t projection(mhcrt_context &context, const ProjectionArgs &a, void *scratch, Units units);
/// Terms of d_x other than the projection's; null where there is none.
struct StreamShares {
  const float *hPre = nullptr; ///< of mhc.aggregate: h_pre[m,i] * d_u[m,c]
  const void *du = nullptr;    ///< of x's type
  const float *hRes = nullptr; ///< of mhc.post: sum_o A[m,o,i] * d_out[m,o,c]
  const void *dOut = nullptr;  ///< of x's type
  int32_t orient = 0;
};
int64_t projectionBwdBytes(const ProjectionBwdArgs &a, Units units);
cudaError_t projectionBwd(mhcrt_context &context, const ProjectionBwdArgs &a, const StreamShares &shares, void *scratch,
                          Units units);

/// Where `isHead`, those of head: N = n columns, one gate, no residual map. `kernel` is named where memory is short.
cudaError_t pre(mhcrt_context &context, const char *kernel, const PreArgs &a, bool isHead, Units units);
/// Whether pre can make its products on tiles.
bool preTilesTake(const PreArgs &a, Needs &needs);
cudaError_t preBwd(mhcrt_context &context, const char *kernel, const PreBwdArgs &a, bool isHead, Units units);
/// Whether preBwd can make its products on tiles.
bool preBwdTilesTake(const PreBwdArgs &a, Needs &needs);
bool preBwdEightTakes(const PreBwdArgs &a, Needs &needs); ///< on those of eight streams

/// out[k] = start[k] + sum over runs of partials[run * stride + k], in the order of the runs, for k < count. `start`
/// may be null, and may be `out`.
cudaError_t addPartials(mhcrt_context &context, const float *partials, int64_t runs, int64_t stride, int64_t count,
                        const void *start, void *out);

/// Splits M tokens into runs that have a partial sum each: by the shape alone, so that every GPU adds alike.
struct TokenRuns {
  int64_t length, count;

  TokenRuns(int64_t M, int64_t least, int64_t most)
      : length(least > divideUp(M, most) ? least : divideUp(M, most)), count(divideUp(M, length)) {}
};

/// Places in the context's scratch memory, one behind the other.
class ScratchPlan {
public:
  /// The offset of `bytes` bytes.
  int64_t add(int64_t bytes) {
    const int64_t offset = total;
    total = saturatingAdd(total, bytes > INT64_MAX - kAlignment ? INT64_MAX : roundUp(bytes, kAlignment));
    return offset;
  }
  int64_t addFloats(int64_t rows, int64_t columns) { return add(saturatingMul(saturatingMul(rows, columns), 4)); }
  int64_t bytes() const { return total; }

private:
  static constexpr int64_t kAlignment = 256;
  int64_t total = 0;
};

} // namespace mhcrt::generic

#endif // MHCRT_CUDA_KERNELS_GENERIC_H
