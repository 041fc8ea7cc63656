//===- Graph.cpp - Calls recorded into a CUDA graph -----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "cuda/host/CallGuard.h"

using namespace mhcrt;

struct mhcrt_cuda_graph {
  cudaGraphExec_t graph = nullptr;
  int64_t allocations = 0; ///< of the context when it was made: its kernels have the addresses of that memory

  ~mhcrt_cuda_graph() {
    if (graph)
      forget(cudaGraphExecDestroy(graph));
  }
};

extern "C" {

mhcrt_status mhcrt_cuda_record_begin(mhcrt_context *context) {
  const CallGuard guard(*context, "mhcrt_cuda_record_begin");
  unsigned long long capture = 0;
  if (!guard)
    return MHCRT_INVALID_ARGUMENT;
  if (context->status != MHCRT_OK || !context->askCapture("mhcrt_cuda_record_begin", capture))
    return context->status;
  if (capture)
    return context->fail(MHCRT_INVALID_ARGUMENT, "mhcrt_cuda_record_begin: the stream is captured already");
  // Other threads may go on with contexts of their own.
  const cudaError_t error = cudaStreamBeginCapture(context->stream, cudaStreamCaptureModeThreadLocal);
  if (error == cudaSuccess)
    context->recorded = context->stream;
  return context->check(error, "mhcrt_cuda_record_begin");
}

mhcrt_status mhcrt_cuda_record_end(mhcrt_context *context, mhcrt_cuda_graph **graph) {
  *graph = nullptr;
  const CallGuard guard(*context, "mhcrt_cuda_record_end");
  if (!guard)
    return MHCRT_INVALID_ARGUMENT;
  if (!context->recorded)
    return context->fail(MHCRT_INVALID_ARGUMENT, "mhcrt_cuda_record_end: no calls were recorded");
  context->setStream(context->recorded); // where others were set, they are joined
  cudaGraph_t recorded = nullptr;
  auto fresh = std::make_unique<mhcrt_cuda_graph>();
  fresh->allocations = context->allocations;
  cudaError_t error = cudaStreamEndCapture(context->recorded, &recorded);
  context->recorded = nullptr;
  if (error == cudaSuccess && context->status == MHCRT_OK)
    error = cudaGraphInstantiate(&fresh->graph, recorded, 0);
  if (recorded)
    forget(cudaGraphDestroy(recorded));
  if (context->check(error, "mhcrt_cuda_record_end") == MHCRT_OK)
    *graph = fresh.release();
  return context->status;
}

mhcrt_status mhcrt_cuda_replay(mhcrt_context *context, const mhcrt_cuda_graph *graph) {
  const CallGuard guard(*context, "mhcrt_cuda_replay");
  if (!guard)
    return MHCRT_INVALID_ARGUMENT;
  if (context->status != MHCRT_OK)
    return context->status;
  if (graph->allocations != context->allocations)
    return context->fail(MHCRT_INVALID_ARGUMENT,
                         "mhcrt_cuda_replay: the context's memory has grown since the calls were "
                         "recorded; record them again");
  return context->check(cudaGraphLaunch(graph->graph, context->stream), "mhcrt_cuda_replay");
}

void mhcrt_cuda_graph_destroy(mhcrt_cuda_graph *graph) { delete graph; }

} // extern "C"
