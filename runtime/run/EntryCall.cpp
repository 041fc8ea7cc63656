//===- EntryCall.cpp - Run an entry where its kernels run --------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/run.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>

using namespace mhcrt;

static int64_t bytesOf(const std::vector<mhcrt_tensor> &tensors) {
  return std::accumulate(tensors.begin(), tensors.end(), int64_t{0},
                         [](int64_t sum, const mhcrt_tensor &tensor) { return sum + bytesOf(tensor); });
}

static double mebibytes(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

EntryCall::EntryCall(const mhcrt_model *model, int32_t entry, mhcrt_context *context,
                     std::vector<mhcrt_tensor> arguments, std::vector<mhcrt_tensor> results)
    : model(model), entry(entry), context(context), given(std::move(arguments)), wanted(std::move(results)),
      arguments(given), results(wanted) {}

EntryCall::~EntryCall() {
  if (graph)
    mhcrt_model_graph_destroy(model, graph);
  for (void *buffer : buffers)
    mhcrt_model_buffer_destroy(model, context, buffer);
}

bool EntryCall::copy(void *to, const void *from, const mhcrt_tensor &type, std::string &error) const {
  mhcrt_message message;
  if (to == from || mhcrt_model_copy(model, context, to, from, bytesOf(type), &message) == MHCRT_OK)
    return true;
  error = message.text;
  return false;
}

/// Makes the tensors' buffers on the GPU.
bool EntryCall::makeBuffers(std::string &error) {
  for (std::vector<mhcrt_tensor> *tensors : {&arguments, &results})
    for (mhcrt_tensor &tensor : *tensors) {
      mhcrt_message message;
      void *buffer;
      if (mhcrt_model_buffer_create(model, context, bytesOf(tensor), &buffer, &message) != MHCRT_OK) {
        error = message.text;
        return false;
      }
      buffers.push_back(buffer);
      tensor.data = buffer;
    }
  return true;
}

/// Finds the tensors their places.
bool EntryCall::place(std::string &error) {
  const bool onGpu = mhcrt_model_context_device(model, context) != MHCRT_CPU;
  if (onGpu && buffers.empty() && !makeBuffers(error))
    return false;
  // Results that are computed in place leave their arguments' own memory alone.
  for (size_t i = 0; i < results.size(); ++i)
    if (const int32_t from = mhcrt_model_result(model, entry, static_cast<int32_t>(i))->in_place; from >= 0)
      arguments[from].data = results[i].data;
  return true;
}

bool EntryCall::upload(std::string &error) const {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!copy(arguments[i].data, given[i].data, given[i], error))
      return false;
  return true;
}

bool EntryCall::synchronize(std::string &error) const {
  mhcrt_message message;
  if (mhcrt_model_synchronize(model, context, &message) == MHCRT_OK)
    return true;
  error = message.text;
  return false;
}

/// Fills the buffers of numbers with zeros; others take their arguments: starts of sequences that are all zero are
/// none.
bool EntryCall::clear(std::string &error) const {
  if (!upload(error))
    return false;
  for (const mhcrt_tensor &argument : arguments)
    if (argument.dtype != MHCRT_I32 && argument.dtype != MHCRT_I64 &&
        !copy(argument.data, std::vector<char>(bytesOf(argument)).data(), argument, error))
      return false;
  return synchronize(error);
}

bool EntryCall::run(std::string &error) const {
  mhcrt_message message;
  const mhcrt_status status =
      graph ? mhcrt_model_replay(model, context, graph, &message)
            : mhcrt_model_invoke(model, entry, context, arguments.data(), results.data(), &message);
  if (status == MHCRT_OK)
    return synchronize(error);
  error = message.text;
  return false;
}

bool EntryCall::fetch(std::string &error) const {
  for (size_t i = 0; i < results.size(); ++i)
    if (!copy(wanted[i].data, results[i].data, wanted[i], error))
      return false;
  return synchronize(error);
}

bool EntryCall::record(std::string &error) {
  // Without buffers the arguments are the caller's, and there is no GPU: that is an error below.
  if (!place(error) || (!buffers.empty() && !clear(error)))
    return false;
  mhcrt_message message;
  mhcrt_context_stats before, after;
  mhcrt_model_context_stats(model, context, &before);
  if (mhcrt_model_record(model, entry, context, arguments.data(), results.data(), &graph, &message) != MHCRT_OK) {
    error = message.text;
    return false;
  }
  mhcrt_model_context_stats(model, context, &after);
  graphKernels = (after.launches - before.launches) / 2; // it ran once, too
  return true;
}

bool EntryCall::runAndTime(int repetitions, std::string &error) {
  if (!place(error) || !upload(error) || !run(error))
    return false;
  // Repeated runs change the tensors that are computed in place.
  if (repetitions && (!time(repetitions, error) || !upload(error) || !run(error)))
    return false;
  return fetch(error);
}

bool EntryCall::time(int repetitions, std::string &error) const {
  mhcrt_context_stats before, after;
  std::vector<double> milliseconds;
  mhcrt_model_context_stats(model, context, &before);
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (!run(error))
      return false;
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
    milliseconds.push_back(taken.count());
  }
  mhcrt_model_context_stats(model, context, &after);
  std::sort(milliseconds.begin(), milliseconds.end());
  const bool onCpu = mhcrt_model_context_device(model, context) == MHCRT_CPU;
  const std::string place = onCpu   ? counted(after.threads, "thread")
                            : graph ? "the GPU, each a replay of a CUDA graph"
                                    : "the GPU";
  const int64_t kernels = graph ? graphKernels : (after.launches - before.launches) / repetitions;
  const int64_t allocations = (after.allocations - before.allocations) / repetitions;
  std::printf("time: median %.4f ms, best %.4f ms of %s on %s; %s, %s per run, "
              "%.1f MiB held, %.1f MiB of arguments and %.1f MiB of results\n",
              milliseconds[milliseconds.size() / 2], milliseconds[0], counted(repetitions, "run").c_str(),
              place.c_str(), counted(kernels, "kernel").c_str(), counted(allocations, "allocation").c_str(),
              mebibytes(after.bytes), mebibytes(bytesOf(arguments)), mebibytes(bytesOf(results)));
  return true;
}
