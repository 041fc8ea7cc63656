//===- ModelState.h - State of a loaded model ----------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_MODELSTATE_H
#define MHCRT_SRC_MODELSTATE_H

#include "Manifest.h"

#include <cstdio>
#include <dlfcn.h>
#include <new>

namespace mhcrt {

/// The context functions of the copy of the runtime that the entries were linked with.
struct RuntimeTable {
  decltype(&mhcrt_context_create) create;
  decltype(&mhcrt_context_destroy) destroy;
  decltype(&mhcrt_context_threads) threads;
  decltype(&mhcrt_last_error) lastError;
  decltype(&mhcrt_clear_error) clearError;
  decltype(&mhcrt_context_bytes) bytes;
  decltype(&mhcrt_context_launches) launches;
  decltype(&mhcrt_context_allocations) allocations;
  decltype(&mhcrt_context_device) device;
  decltype(&mhcrt_buffer_create) createBuffer;
  decltype(&mhcrt_buffer_destroy) destroyBuffer;
  decltype(&mhcrt_copy) copy;
  decltype(&mhcrt_synchronize) synchronize;
};

/// Functions of mhcrt/cuda.h.
struct CudaTable {
  decltype(&mhcrt_cuda_describe) describe;
  decltype(&mhcrt_cuda_pin) pin;
  decltype(&mhcrt_cuda_set_stream) setStream;
  decltype(&mhcrt_cuda_set_strict) setStrict;
  decltype(&mhcrt_cuda_set_ranges) setRanges;
  decltype(&mhcrt_cuda_choices) choices;
  decltype(&mhcrt_cuda_choice_at) choiceAt;
  decltype(&mhcrt_cuda_record_begin) recordBegin;
  decltype(&mhcrt_cuda_record_end) recordEnd;
  decltype(&mhcrt_cuda_replay) replay;
  decltype(&mhcrt_cuda_graph_destroy) destroyGraph;
};

/// Puts the text into the message, where there is one.
inline mhcrt_status fail(mhcrt_message *message, mhcrt_status status, const std::string &text) {
  if (message)
    std::snprintf(message->text, sizeof(message->text), "%s", text.c_str());
  return status;
}

/// Runs body, which returns a status; memory that is not to be had for `what` becomes a status too.
template <typename Function>
mhcrt_status guarded(mhcrt_message *message, const char *what, Function body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    if (message)
      std::snprintf(message->text, sizeof(message->text), "no memory for %s", what);
    return MHCRT_OUT_OF_MEMORY;
  }
}

/// "'a', 'b'" of entries or functions, or "none".
std::string listNames(const std::deque<EntrySpec> &specs);

} // namespace mhcrt

struct mhcrt_model {
  void *library = nullptr; ///< null for a wrapped model
  mhcrt::RuntimeTable runtime = {};
  mhcrt::CudaTable cuda = {}; ///< null unless the model is for a GPU
  mhcrt::Manifest manifest;
  std::vector<mhcrt_entry> functions;  ///< one per entry
  std::vector<mhcrt_binding> bindings; ///< one per function of the manifest
  std::vector<std::string> types;      ///< of these
  std::vector<void *> functionLibraries;

  bool isForGpu() const { return cuda.pin != nullptr; }

  ~mhcrt_model() {
    for (void *other : functionLibraries)
      dlclose(other);
    if (library)
      dlclose(library);
  }
};

namespace mhcrt {

/// The table of a model whose manifest is read.
void makeBindings(mhcrt_model &model);
/// The arguments of an entry's code: behind those of the caller, the rows of the table.
std::vector<mhcrt_tensor> withBindings(const mhcrt_model &model, int32_t entry, const mhcrt_tensor *arguments);

/// mhcrt_model_invoke, but for an error of the entry, which stays on the context as well.
mhcrt_status runEntry(const mhcrt_model *model, int32_t entry, mhcrt_context *context, const mhcrt_tensor *arguments,
                      const mhcrt_tensor *results, mhcrt_message *message);

/// Moves the context's error into `message`.
mhcrt_status report(const mhcrt_model *model, mhcrt_context *context, mhcrt_status status, mhcrt_message *message);

} // namespace mhcrt

#endif // MHCRT_SRC_MODELSTATE_H
