//===- Gpu.cpp - Streams of a GPU -------------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header of the driver is not needed: these few functions are the same in CUDA 11 to 13.
//
//===------------------------------------------------------------------------===//
#include "Gpu.h"
#include "src/LibraryFile.h"

#include <chrono>
#include <thread>

using namespace mhcrt;

// Numbers of cuda.h.
static constexpr int kNotReady = 600;
static constexpr unsigned kNonBlocking = 1, kNoTiming = 2;

/// to[i] += from[i]
static constexpr const char *kAdder = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 to, .param .u64 from, .param .u64 count) {
  .reg .pred %outside;
  .reg .b32 %block, %width, %thread;
  .reg .b64 %i, %lane, %count, %to, %from, %offset;
  .reg .f32 %sum, %share;
  mov.u32 %block, %ctaid.x;
  mov.u32 %width, %ntid.x;
  mov.u32 %thread, %tid.x;
  mul.wide.u32 %i, %block, %width;
  cvt.u64.u32 %lane, %thread;
  add.u64 %i, %i, %lane;
  ld.param.u64 %count, [count];
  setp.ge.u64 %outside, %i, %count;
  @%outside ret;
  ld.param.u64 %to, [to];
  ld.param.u64 %from, [from];
  cvta.to.global.u64 %to, %to;
  cvta.to.global.u64 %from, %from;
  shl.b64 %offset, %i, 2;
  add.u64 %to, %to, %offset;
  add.u64 %from, %from, %offset;
  ld.global.f32 %sum, [%to];
  ld.global.f32 %share, [%from];
  add.rn.f32 %sum, %sum, %share;
  st.global.f32 [%to], %sum;
  ret;
}
)";

bool Gpu::load() {
  void *const cuda = dlopen("libcuda.so.1", RTLD_NOW);
  std::string missing;
  return cuda && resolve(cuda, "cuDeviceGet", table.getDevice, missing) &&
         resolve(cuda, "cuDevicePrimaryCtxRetain", table.retainContext, missing) &&
         resolve(cuda, "cuCtxSetCurrent", table.setContext, missing) &&
         resolve(cuda, "cuStreamCreate", table.createStream, missing) &&
         resolve(cuda, "cuStreamQuery", table.queryStream, missing) &&
         resolve(cuda, "cuEventCreate", table.createEvent, missing) &&
         resolve(cuda, "cuEventRecord", table.recordEvent, missing) &&
         resolve(cuda, "cuStreamWaitEvent", table.streamWaitEvent, missing) &&
         resolve(cuda, "cuMemsetD32Async", table.fill, missing) &&
         resolve(cuda, "cuMemcpyDtoDAsync_v2", table.copy, missing) &&
         resolve(cuda, "cuModuleLoadData", table.loadModule, missing) &&
         resolve(cuda, "cuModuleGetFunction", table.getFunction, missing) &&
         resolve(cuda, "cuLaunchKernel", table.launch, missing);
}

bool Gpu::check(int code, const char *what, std::string &error) {
  if (code != 0)
    error = std::string(what) + ": the GPU reports error " + std::to_string(code);
  return code == 0;
}

/// Calls of this thread are for the first GPU, on which the session is, in the context that the CUDA runtime uses.
bool Gpu::enter(std::string &error) {
  int device = 0;
  void *context = nullptr;
  return check(table.getDevice(&device, 0), "the start", error) &&
         check(table.retainContext(&context, device), "the start", error) &&
         check(table.setContext(context), "the start", error);
}

bool Gpu::open(const Session &session, std::string &error) {
  if (!load())
    return true;
  if (!enter(error))
    return false;
  void *module = nullptr, *stream = nullptr;
  mhcrt_message message;
  if (!check(table.loadModule(&module, kAdder), "sums of gradients", error) ||
      !check(table.getFunction(&adder, module, "add"), "sums of gradients", error) ||
      !check(table.createEvent(&between, kNoTiming), "an event", error) || !makeStream(stream, error))
    return false;
  if (mhcrt_model_set_stream(session.model, session.context, stream, &message) != MHCRT_OK) {
    error = message.text;
    return false;
  }
  computing = stream;
  return true;
}

bool Gpu::makeStream(void *&stream, std::string &error) {
  return check(table.createStream(&stream, kNonBlocking), "a stream", error);
}

bool Gpu::order(void *earlier, void *later, std::string &error) {
  return record(between, earlier, error) && waitFor(between, later, error);
}

bool Gpu::record(void *&event, void *stream, std::string &error) {
  return (event || check(table.createEvent(&event, kNoTiming), "an event", error)) &&
         check(table.recordEvent(event, stream), "an event", error);
}

bool Gpu::waitFor(void *event, void *stream, std::string &error) {
  return !event || check(table.streamWaitEvent(stream, event, 0), "a wait for an event", error);
}

bool Gpu::wait(void *stream, double seconds, const std::string &what, std::string &error) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  int code = kNotReady;
  while ((code = table.queryStream(stream)) == kNotReady) {
    if (std::chrono::duration<double>(Clock::now() - begin).count() > seconds) {
      error = what + ": waited for the GPU for longer than '--timeout'";
      return false;
    }
    std::this_thread::yield();
  }
  return check(code, what.c_str(), error);
}

static uint64_t addressOf(const void *memory) { return reinterpret_cast<uint64_t>(memory); }

bool Gpu::zero(void *values, int64_t count, std::string &error) {
  return check(table.fill(addressOf(values), 0, count, computing), "sums of gradients", error);
}

bool Gpu::copy(void *to, const void *from, int64_t count, std::string &error) {
  return check(table.copy(addressOf(to), addressOf(from), count * sizeof(float), computing), "sums of gradients",
               error);
}

bool Gpu::add(void *to, const void *from, int64_t count, std::string &error) {
  constexpr unsigned kThreads = 256;
  uint64_t addresses[] = {addressOf(to), addressOf(from)}, values = count;
  void *arguments[] = {&addresses[0], &addresses[1], &values};
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  return count == 0 || check(table.launch(adder, blocks, 1, 1, kThreads, 1, 1, 0, computing, arguments, nullptr),
                             "sums of gradients", error);
}
