//===- Elementwise.h - Fast kernels that stream over channels ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any element type, any architecture. N4 and N2N8 are four, and two or eight, streams in layout nC; Cn4 four in
// layout Cn.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_KERNELS_ELEMENTWISE_H
#define MHCRT_CUDA_KERNELS_ELEMENTWISE_H

#include "cuda/host/Needs.h"
#include "src/KernelArgs.h"

#include <cuda_runtime_api.h>

namespace mhcrt {

/// Two f32 a token are read at once: the last tokens of a tensor that fits begin wherever their first one does.
inline bool pairsAreAligned(Needs &needs, int64_t n, const void *tensor) {
  return n == 2 ? needs.that(reinterpret_cast<uintptr_t>(tensor) % 8 == 0, "an address that is a multiple of 8")
                : needs.aligned({tensor});
}

bool aggregateN4Takes(const AggregateArgs &args, Needs &needs);
cudaError_t aggregateN4(const AggregateArgs &args, cudaStream_t stream);
bool aggregateN2N8Takes(const AggregateArgs &args, Needs &needs);
cudaError_t aggregateN2N8(const AggregateArgs &args, cudaStream_t stream);
bool aggregateCn4Takes(const AggregateArgs &args, Needs &needs);
cudaError_t aggregateCn4(const AggregateArgs &args, cudaStream_t stream);

bool postN4Takes(const PostArgs &args, Needs &needs);
cudaError_t postN4(const PostArgs &args, cudaStream_t stream);
bool postN2N8Takes(const PostArgs &args, Needs &needs);
cudaError_t postN2N8(const PostArgs &args, cudaStream_t stream);
bool postCn4Takes(const PostArgs &args, Needs &needs);
cudaError_t postCn4(const PostArgs &args, cudaStream_t stream);

bool expandN4Takes(const ExpandArgs &args, Needs &needs);
cudaError_t expandN4(const ExpandArgs &args, cudaStream_t stream);
bool expandN2N8Takes(const ExpandArgs &args, Needs &needs);
cudaError_t expandN2N8(const ExpandArgs &args, cudaStream_t stream);
bool expandCn4Takes(const ExpandArgs &args, Needs &needs);
cudaError_t expandCn4(const ExpandArgs &args, cudaStream_t stream);

bool contractN4Takes(const ContractArgs &args, Needs &needs);
cudaError_t contractN4(const ContractArgs &args, cudaStream_t stream);
bool contractN2N8Takes(const ContractArgs &args, Needs &needs);
cudaError_t contractN2N8(const ContractArgs &args, cudaStream_t stream);
bool contractCn4Takes(const ContractArgs &args, Needs &needs);
cudaError_t contractCn4(const ContractArgs &args, cudaStream_t stream);

bool rebuildN4Takes(const RebuildArgs &args, Needs &needs);
cudaError_t rebuildN4(const RebuildArgs &args, cudaStream_t stream);

// The same with sums over the channels of a token: `multiprocessors` decides how many blocks there are, nothing else.

bool postBwdN4Takes(const PostBwdArgs &args, Needs &needs);
cudaError_t postBwdN4(const PostBwdArgs &args, int multiprocessors, cudaStream_t stream);

bool postBwdSm90Takes(const PostBwdArgs &args, Needs &needs);
cudaError_t postBwdSm90(mhcrt_context &context, const PostBwdArgs &args);

bool aggregateBwdN4Takes(const AggregateBwdArgs &args, Needs &needs);
cudaError_t aggregateBwdN4(const AggregateBwdArgs &args, cudaStream_t stream);

bool postBwdN2N8Takes(const PostBwdArgs &args, Needs &needs);
cudaError_t postBwdN2N8(const PostBwdArgs &args, cudaStream_t stream);

bool postBwdCn4Takes(const PostBwdArgs &args, Needs &needs);
cudaError_t postBwdCn4(mhcrt_context &context, const PostBwdArgs &args);

bool aggregateBwdN2N8Takes(const AggregateBwdArgs &args, Needs &needs);
cudaError_t aggregateBwdN2N8(const AggregateBwdArgs &args, cudaStream_t stream);

bool aggregateBwdCn4Takes(const AggregateBwdArgs &args, Needs &needs);
cudaError_t aggregateBwdCn4(const AggregateBwdArgs &args, cudaStream_t stream);

} // namespace mhcrt

#endif // MHCRT_CUDA_KERNELS_ELEMENTWISE_H
