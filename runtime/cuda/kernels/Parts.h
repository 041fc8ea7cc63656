//===- Parts.h - Kernels as parts of others ---------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops without their checks, for those that consist of them: the rows of their own tables take the call.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_KERNELS_PARTS_H
#define MHCRT_CUDA_KERNELS_PARTS_H

#include "cuda/host/Context.h"
#include "src/KernelArgs.h"

namespace mhcrt {

/// Errors of the launches that follow name the kernel that they are parts of.
class PartsOf {
public:
  PartsOf(mhcrt_context &context, const char *kernel) : context(context) { context.whole = kernel; }
  PartsOf(const PartsOf &) = delete;
  PartsOf &operator=(const PartsOf &) = delete;
  ~PartsOf() { context.whole = nullptr; }

private:
  mhcrt_context &context;
};

/// Makes equal streams of their rows.
cudaError_t makeStreams(mhcrt_context &context, const ExpandArgs &args);

/// Bytes of whole streams in place of those that are equal, for a kernel that reads each of them.
template <class Args>
int64_t wholeBytes(const Args &args, bool isEqual) {
  return isEqual ? saturatingMul(args.M, args.K * mhcrt_dtype_bytes(args.x_type)) : 0;
}

/// Makes those at `to` of `streams`, x or what has its shape and type, where these are equal: then they are so no more.
template <class Args, class Flag>
cudaError_t makeWhole(mhcrt_context &context, const Args &args, const void *&streams, Flag &isEqual, void *to) {
  if (!isEqual || !streams)
    return cudaSuccess;
  const void *rows = streams;
  streams = to, isEqual = 0;
  return makeStreams(context, {rows, args.x_type, to, args.x_type, args.M, args.C, args.n, args.layout});
}

mhcrt_status launchPost(mhcrt_context &context, const PostArgs &args);
mhcrt_status launchPostBwd(mhcrt_context &context, const PostBwdArgs &args);
mhcrt_status launchPre(mhcrt_context &context, const PreArgs &args);
mhcrt_status launchHead(mhcrt_context &context, const HeadArgs &args);
mhcrt_status launchPreBwd(mhcrt_context &context, const PreBwdArgs &args);

} // namespace mhcrt

#endif // MHCRT_CUDA_KERNELS_PARTS_H
