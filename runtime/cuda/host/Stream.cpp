//===- Stream.cpp - The order of calls on several streams -----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "cuda/host/CallGuard.h"

using namespace mhcrt;

static bool isLegacy(cudaStream_t stream) { return stream == nullptr || stream == cudaStreamLegacy; }

/// 0 where the stream is not captured. Asking ends no capture. An error where work on the legacy stream would end one.
static cudaError_t findCapture(cudaStream_t stream, unsigned long long &id) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamGetCaptureInfo(stream, &status, &id);
  if (status == cudaStreamCaptureStatusNone)
    id = 0;
  else if (status == cudaStreamCaptureStatusInvalidated) // which has no number
    id = ~0ull;
  return error;
}

bool mhcrt_context::askCapture(const char *what, unsigned long long &capture) {
  const cudaError_t error = findCapture(stream, capture);
  check(error, what);
  return error == cudaSuccess;
}

/// Makes work that is enqueued on `to` from here on wait for that on `from`.
static cudaError_t order(cudaEvent_t event, cudaStream_t from, cudaStream_t to) {
  const cudaError_t error = cudaEventRecord(event, from);
  return error == cudaSuccess ? cudaStreamWaitEvent(to, event, 0) : error;
}

bool mhcrt_context::isStreamOfOtherThread() const {
  return stream == cudaStreamPerThread && streamThread != std::this_thread::get_id();
}

void mhcrt_context::followStreams(const char *what) {
  if (isStreamOfOtherThread())
    fail(MHCRT_INVALID_ARGUMENT, "%s: the context's stream is the default stream of another thread", what);
  if (!isBehindOwed && !isLegacy(stream))
    return;
  unsigned long long capture = 0;
  if (!askCapture(what, capture) || capture || !isBehindOwed)
    return;
  const cudaError_t error = cudaStreamWaitEvent(stream, behind, 0);
  isBehindOwed = error != cudaSuccess;
  check(error, what);
}

mhcrt_status mhcrt_context::setStream(cudaStream_t next) {
  constexpr const char *kName = "mhcrt_cuda_set_stream";
  if (isStreamOfOtherThread() || next == stream)
    return status;
  int gpu = device;
  unsigned long long from = 0, to = 0;
  cudaError_t error = findCapture(stream, from);
  if (error == cudaSuccess && from && isLegacy(next))
    return fail(MHCRT_INVALID_ARGUMENT,
                "%s: the default stream cannot join the capture of the one before; end it first", kName);
  if (error == cudaSuccess)
    error = findCapture(next, to);
  if (error == cudaSuccess && !to) // the question would end a capture
    error = cudaStreamGetDevice(next, &gpu);
  if (error != cudaSuccess)
    return check(error, kName);
  if (gpu != device)
    return fail(MHCRT_INVALID_ARGUMENT, "%s: the stream is of GPU %d; needed one of GPU %d, where the context is",
                kName, gpu, device);

  if (from == to || !to)
    error = order(turn, stream, next); // within one capture, or into it
  else if (!from)
    error = cudaEventRecord(behind, stream);
  if (error != cudaSuccess)
    return check(error, kName);
  isBehindOwed |= !from && to;
  stream = next;
  streamThread = std::this_thread::get_id();
  return status;
}

mhcrt_status mhcrt_cuda_set_stream(mhcrt_context *context, void *stream) {
  const CallGuard guard(*context, "mhcrt_cuda_set_stream");
  return guard ? context->setStream(static_cast<cudaStream_t>(stream)) : MHCRT_INVALID_ARGUMENT;
}
