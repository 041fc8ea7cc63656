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

using namespace mhcrt;

static int64_t bytesOf(const mhcrt_tensor &tensor) {
  int64_t bytes = mhcrt_dtype_bytes(tensor.dtype);
  for (int32_t dim = 0; dim < tensor.rank; ++dim)
    bytes *= tensor.dims[dim];
  return bytes;
}

EntryCall::EntryCall(const mhcrt_model *model, int32_t entry, mhcrt_context *context,
                     std::vector<mhcrt_tensor> arguments, std::vector<mhcrt_tensor> results)
    : model(model), entry(entry), context(context), given(std::move(arguments)), wanted(std::move(results)),
      arguments(given), results(wanted) {}

EntryCall::~EntryCall() {
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

bool EntryCall::place(std::string &error) {
  if (mhcrt_model_context_device(model, context) == MHCRT_CPU)
    return true;
  for (std::vector<mhcrt_tensor> *tensors : {&arguments, &results})
    for (mhcrt_tensor &tensor : *tensors) {
      mhcrt_message message;
      void *buffer;
      if (mhcrt_model_buffer_create(model, context, bytesOf(tensor), &buffer, &message) != MHCRT_OK) {
        error = message.text;
        return false;
      }
      buffers.push_back(buffer);
      if (tensors == &arguments && !copy(buffer, tensor.data, tensor, error))
        return false;
      tensor.data = buffer;
    }
  return true;
}

/// Lets results that are computed in place start from their arguments, whose own memory is left alone.
bool EntryCall::startInPlace(std::string &error) {
  for (size_t i = 0; i < results.size(); ++i) {
    const int32_t from = mhcrt_model_result(model, entry, static_cast<int32_t>(i))->in_place;
    if (from < 0)
      continue;
    if (!copy(results[i].data, given[from].data, results[i], error))
      return false;
    arguments[from].data = results[i].data;
  }
  return true;
}

bool EntryCall::run(std::string &error) const {
  mhcrt_message message;
  if (mhcrt_model_invoke(model, entry, context, arguments.data(), results.data(), &message) == MHCRT_OK &&
      mhcrt_model_synchronize(model, context, &message) == MHCRT_OK)
    return true;
  error = message.text;
  return false;
}

bool EntryCall::fetch(std::string &error) const {
  for (size_t i = 0; i < results.size(); ++i)
    if (!copy(wanted[i].data, results[i].data, wanted[i], error))
      return false;
  mhcrt_message message;
  if (mhcrt_model_synchronize(model, context, &message) == MHCRT_OK)
    return true;
  error = message.text;
  return false;
}

bool EntryCall::runAndTime(int repetitions, std::string &error) {
  if (!place(error) || !startInPlace(error) || !run(error))
    return false;
  // What is computed in place changes with every run.
  if (repetitions && (!time(repetitions, error) || !startInPlace(error) || !run(error)))
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
  const std::string place = onCpu ? std::to_string(after.threads) + " threads" : "the GPU";
  std::printf("time: median %.4f ms, best %.4f ms of %d runs on %s; %lld kernels, %lld allocations per run, "
              "%.1f MiB held\n",
              milliseconds[milliseconds.size() / 2], milliseconds[0], repetitions, place.c_str(),
              static_cast<long long>((after.launches - before.launches) / repetitions),
              static_cast<long long>((after.allocations - before.allocations) / repetitions),
              static_cast<double>(after.bytes) / (1 << 20));
  return true;
}
