//===- Model.cpp - Load and run a compiled model --------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "LibraryFile.h"
#include "ModelState.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

using namespace mhcrt;

static constexpr const char *kDescription = "the description of the model";

static void resolveCuda(void *library, CudaTable &table, std::string &missing) {
  resolve(library, "mhcrt_cuda_describe", table.describe, missing);
  resolve(library, "mhcrt_cuda_pin", table.pin, missing);
  resolve(library, "mhcrt_cuda_set_stream", table.setStream, missing);
  resolve(library, "mhcrt_cuda_set_strict", table.setStrict, missing);
  resolve(library, "mhcrt_cuda_set_ranges", table.setRanges, missing);
  resolve(library, "mhcrt_cuda_choices", table.choices, missing);
  resolve(library, "mhcrt_cuda_choice_at", table.choiceAt, missing);
  resolve(library, "mhcrt_cuda_record_begin", table.recordBegin, missing);
  resolve(library, "mhcrt_cuda_record_end", table.recordEnd, missing);
  resolve(library, "mhcrt_cuda_replay", table.replay, missing);
  resolve(library, "mhcrt_cuda_graph_destroy", table.destroyGraph, missing);
}

std::string mhcrt::listNames(const std::deque<EntrySpec> &specs) {
  std::string text;
  for (const EntrySpec &spec : specs)
    text += (text.empty() ? "'" : ", '") + spec.name + "'";
  return text.empty() ? "none" : text;
}

static const EntrySpec *entryAt(const mhcrt_model *model, int32_t entry) {
  if (entry < 0 || static_cast<size_t>(entry) >= model->manifest.entries.size())
    return nullptr;
  return &model->manifest.entries[entry];
}

static mhcrt_status noEntry(const mhcrt_model *model, int32_t entry, mhcrt_message *message) {
  return fail(message, MHCRT_NOT_FOUND,
              "no entry number " + std::to_string(entry) + "; the model has " +
                  std::to_string(model->manifest.entries.size()));
}

mhcrt_status mhcrt::report(const mhcrt_model *model, mhcrt_context *context, mhcrt_status status,
                           mhcrt_message *message) {
  if (status == MHCRT_OK)
    return status;
  if (message)
    std::snprintf(message->text, sizeof(message->text), "%s", model->runtime.lastError(context));
  model->runtime.clearError(context);
  return status;
}

/// Calls `then(spec, sizes)` with an entry and the sizes that its arguments have.
template <typename Then>
static mhcrt_status withSizes(const mhcrt_model *model, int32_t entry, const mhcrt_tensor *arguments,
                              mhcrt_message *message, Then then) {
  return guarded(message, kDescription, [&] {
    const EntrySpec *spec = entryAt(model, entry);
    if (!spec)
      return noEntry(model, entry, message);
    std::vector<BoundSize> sizes;
    std::string error;
    if (!bindArguments(*spec, arguments, sizes, error))
      return fail(message, MHCRT_INVALID_ARGUMENT, error);
    return then(*spec, sizes);
  });
}

mhcrt_status mhcrt::runEntry(const mhcrt_model *model, int32_t entry, mhcrt_context *context,
                             const mhcrt_tensor *arguments, const mhcrt_tensor *results, mhcrt_message *message) {
  return withSizes(model, entry, arguments, message, [&](const EntrySpec &spec, std::vector<BoundSize> &sizes) {
    std::string error;
    if (!checkResults(spec, results, sizes, error))
      return fail(message, MHCRT_INVALID_ARGUMENT, error);
    for (size_t i = 0; i < spec.results.size(); ++i)
      if (int32_t from = spec.results[i].info.in_place; from >= 0 && results[i].data != arguments[from].data)
        return fail(message, MHCRT_INVALID_ARGUMENT,
                    "result '" + spec.results[i].name + "' of entry '" + spec.name +
                        "' is computed in place: expected the pointer of the argument of its name");
    model->runtime.clearError(context);
    std::vector<mhcrt_tensor> all;
    if (!model->bindings.empty())
      all = withBindings(*model, entry, arguments);
    const mhcrt_status status = model->functions[entry](context, all.empty() ? arguments : all.data(), results);
    if (status != MHCRT_OK)
      fail(message, status, "entry '" + spec.name + "': " + model->runtime.lastError(context));
    return status;
  });
}

static std::string contextError(const mhcrt_model *model, int32_t threads) {
  // A model for the CPU can only lack threads; contexts of the CUDA backend need a driver, and a GPU with code for it.
  if (model->isForGpu()) {
    mhcrt_cuda_machine machine;
    model->cuda.describe(&machine);
    if (*machine.problem)
      return std::string("cannot make a context: ") + machine.problem;
  }
  return "cannot make a context with " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

extern "C" {

mhcrt_status mhcrt_model_open(const char *path, mhcrt_model **model, mhcrt_message *message) {
  *model = nullptr;
  return guarded(message, kDescription, [&] {
    auto fresh = std::make_unique<mhcrt_model>();
    auto giveUp = [&](mhcrt_status status, const std::string &text) { return fail(message, status, text); };
    // A bare name would make dlopen search the library path; the caller means a file.
    const std::string file = std::strchr(path, '/') ? path : std::string("./") + path;
    std::string error;
    if (isWholeLibrary(file, error)) {
      fresh->library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
      error = fresh->library ? "" : dlerror();
    }
    if (!fresh->library)
      return giveUp(MHCRT_NOT_FOUND, std::string("cannot load the model '") + path + "': " + error);
    const auto *manifest = static_cast<const char *>(dlsym(fresh->library, "mhc_model_manifest"));
    if (!manifest)
      return giveUp(MHCRT_NOT_FOUND, std::string("'") + path + "' is no compiled model: it has no mhc_model_manifest");
    if (!parseManifest(manifest, fresh->manifest, error))
      return giveUp(MHCRT_INVALID_ARGUMENT, std::string("'") + path + "': " + error);

    std::string missing;
    RuntimeTable &table = fresh->runtime;
    resolve(fresh->library, "mhcrt_context_create", table.create, missing);
    resolve(fresh->library, "mhcrt_context_destroy", table.destroy, missing);
    resolve(fresh->library, "mhcrt_context_threads", table.threads, missing);
    resolve(fresh->library, "mhcrt_last_error", table.lastError, missing);
    resolve(fresh->library, "mhcrt_clear_error", table.clearError, missing);
    resolve(fresh->library, "mhcrt_context_bytes", table.bytes, missing);
    resolve(fresh->library, "mhcrt_context_launches", table.launches, missing);
    resolve(fresh->library, "mhcrt_context_allocations", table.allocations, missing);
    resolve(fresh->library, "mhcrt_context_device", table.device, missing);
    resolve(fresh->library, "mhcrt_buffer_create", table.createBuffer, missing);
    resolve(fresh->library, "mhcrt_buffer_destroy", table.destroyBuffer, missing);
    resolve(fresh->library, "mhcrt_copy", table.copy, missing);
    resolve(fresh->library, "mhcrt_synchronize", table.synchronize, missing);
    if (fresh->manifest.target != "cpu")
      resolveCuda(fresh->library, fresh->cuda, missing);
    for (const EntrySpec &entry : fresh->manifest.entries) {
      mhcrt_entry function;
      resolve(fresh->library, ("mhc_entry_" + entry.name).c_str(), function, missing);
      fresh->functions.push_back(function);
    }
    if (!missing.empty())
      return giveUp(MHCRT_NOT_FOUND, std::string("'") + path + "' does not export " + missing);
    makeBindings(*fresh);
    *model = fresh.release();
    return MHCRT_OK;
  });
}

mhcrt_status mhcrt_model_wrap(const char *manifest, mhcrt_entry_lookup lookup, void *user, mhcrt_model **model,
                              mhcrt_message *message) {
  *model = nullptr;
  return guarded(message, kDescription, [&] {
    auto fresh = std::make_unique<mhcrt_model>();
    fresh->runtime = {mhcrt_context_create, mhcrt_context_destroy, mhcrt_context_threads,  mhcrt_last_error,
                      mhcrt_clear_error,    mhcrt_context_bytes,   mhcrt_context_launches, mhcrt_context_allocations,
                      mhcrt_context_device, mhcrt_buffer_create,   mhcrt_buffer_destroy,   mhcrt_copy,
                      mhcrt_synchronize};
    std::string error;
    mhcrt_status status = MHCRT_OK;
    if (!parseManifest(manifest, fresh->manifest, error))
      status = MHCRT_INVALID_ARGUMENT;
    for (size_t i = 0; status == MHCRT_OK && i < fresh->manifest.entries.size(); ++i) {
      mhcrt_entry function = lookup(user, fresh->manifest.entries[i].name.c_str());
      if (!function) {
        status = MHCRT_NOT_FOUND;
        error = "the entry '" + fresh->manifest.entries[i].name + "' of the manifest has no code";
      }
      fresh->functions.push_back(function);
    }
    if (status != MHCRT_OK)
      return fail(message, status, error);
    makeBindings(*fresh);
    *model = fresh.release();
    return MHCRT_OK;
  });
}

void mhcrt_model_close(mhcrt_model *model) { delete model; }

const char *mhcrt_model_target(const mhcrt_model *model) { return model->manifest.target.c_str(); }

const char *mhcrt_model_mesh(const mhcrt_model *model) { return model->manifest.mesh.c_str(); }

int32_t mhcrt_model_stages(const mhcrt_model *model) { return model->manifest.stages; }

int32_t mhcrt_model_tensor_ranks(const mhcrt_model *model) { return model->manifest.tensorRanks; }

int32_t mhcrt_model_ranks(const mhcrt_model *model) {
  return model->manifest.dataRanks * model->manifest.tensorRanks * model->manifest.stages;
}

int32_t mhcrt_model_entries(const mhcrt_model *model) { return static_cast<int32_t>(model->manifest.entries.size()); }

const char *mhcrt_model_entry_name(const mhcrt_model *model, int32_t entry) {
  const EntrySpec *spec = entryAt(model, entry);
  return spec ? spec->name.c_str() : nullptr;
}

mhcrt_status mhcrt_model_find_entry(const mhcrt_model *model, const char *name, int32_t *entry,
                                    mhcrt_message *message) {
  for (size_t i = 0; i < model->manifest.entries.size(); ++i)
    if (model->manifest.entries[i].name == name) {
      *entry = static_cast<int32_t>(i);
      return MHCRT_OK;
    }
  return guarded(message, kDescription, [&] {
    return fail(message, MHCRT_NOT_FOUND,
                std::string("no entry '") + name + "'; the model has " + listNames(model->manifest.entries));
  });
}

int32_t mhcrt_model_arguments(const mhcrt_model *model, int32_t entry) {
  const EntrySpec *spec = entryAt(model, entry);
  return spec ? static_cast<int32_t>(spec->arguments.size()) : 0;
}

int32_t mhcrt_model_results(const mhcrt_model *model, int32_t entry) {
  const EntrySpec *spec = entryAt(model, entry);
  return spec ? static_cast<int32_t>(spec->results.size()) : 0;
}

const mhcrt_tensor_info *mhcrt_model_argument(const mhcrt_model *model, int32_t entry, int32_t index) {
  if (index < 0 || index >= mhcrt_model_arguments(model, entry))
    return nullptr;
  return &model->manifest.entries[entry].arguments[index].info;
}

const mhcrt_tensor_info *mhcrt_model_result(const mhcrt_model *model, int32_t entry, int32_t index) {
  if (index < 0 || index >= mhcrt_model_results(model, entry))
    return nullptr;
  return &model->manifest.entries[entry].results[index].info;
}

const char *mhcrt_model_equality(const mhcrt_model *model, int32_t entry, int32_t index) {
  const EntrySpec *spec = entryAt(model, entry);
  if (!spec || index < 0 || static_cast<size_t>(index) >= spec->equalities.size())
    return nullptr;
  return spec->equalities[index].text.c_str();
}

int32_t mhcrt_size_value(const char *size, int64_t (*value_of)(void *user, const char *symbol), void *user,
                         int64_t *value) {
  SizeExpression expression;
  return parseExpression(size, expression) &&
         evaluate(expression, [=](const std::string &symbol) { return value_of(user, symbol.c_str()); }, *value);
}

mhcrt_status mhcrt_model_check(const mhcrt_model *model, int32_t entry, const mhcrt_tensor *arguments,
                               mhcrt_message *message) {
  return withSizes(model, entry, arguments, message,
                   [](const EntrySpec &, std::vector<BoundSize> &) { return MHCRT_OK; });
}

mhcrt_status mhcrt_model_infer(const mhcrt_model *model, int32_t entry, const mhcrt_tensor *arguments,
                               mhcrt_tensor *results, mhcrt_message *message) {
  return withSizes(model, entry, arguments, message, [&](const EntrySpec &spec, std::vector<BoundSize> &sizes) {
    for (size_t k = 0; k < spec.results.size(); ++k) {
      const mhcrt_tensor_info &info = spec.results[k].info;
      results[k].dtype = info.dtype;
      results[k].rank = info.rank;
      for (int i = 0; i < info.rank; ++i)
        if (const SizeExpression &dim = spec.results[k].dims[i]; !evaluate(dim, sizes, results[k].dims[i]))
          return fail(message, MHCRT_INVALID_ARGUMENT,
                      "entry '" + spec.name + "': dimension " + std::to_string(i) + " of '" + info.name + "' is " +
                          dim.text + ", which is no size for these arguments");
    }
    return MHCRT_OK;
  });
}

mhcrt_status mhcrt_model_invoke(const mhcrt_model *model, int32_t entry, mhcrt_context *context,
                                const mhcrt_tensor *arguments, const mhcrt_tensor *results, mhcrt_message *message) {
  const mhcrt_status status = runEntry(model, entry, context, arguments, results, message);
  model->runtime.clearError(context);
  return status;
}

mhcrt_status mhcrt_model_context_create(const mhcrt_model *model, int32_t threads, mhcrt_context **context,
                                        mhcrt_message *message) {
  mhcrt_status status = model->runtime.create(threads, context);
  if (status != MHCRT_OK)
    guarded(message, kDescription, [&] { return fail(message, status, contextError(model, threads)); });
  if (status != MHCRT_OK || !model->isForGpu())
    return status;
  for (const std::string &pin : model->manifest.pins)
    if (const mhcrt_status pinned = mhcrt_model_pin(model, *context, pin.c_str(), message)) {
      model->runtime.destroy(*context);
      *context = nullptr;
      return pinned;
    }
  return status;
}

void mhcrt_model_context_destroy(const mhcrt_model *model, mhcrt_context *context) { model->runtime.destroy(context); }

int32_t mhcrt_model_context_device(const mhcrt_model *model, const mhcrt_context *context) {
  return model->runtime.device(context);
}

mhcrt_status mhcrt_model_buffer_create(const mhcrt_model *model, mhcrt_context *context, int64_t bytes, void **buffer,
                                       mhcrt_message *message) {
  *buffer = model->runtime.createBuffer(context, bytes);
  return *buffer ? MHCRT_OK : report(model, context, MHCRT_OUT_OF_MEMORY, message);
}

void mhcrt_model_buffer_destroy(const mhcrt_model *model, mhcrt_context *context, void *buffer) {
  model->runtime.destroyBuffer(context, buffer);
}

mhcrt_status mhcrt_model_copy(const mhcrt_model *model, mhcrt_context *context, void *to, const void *from,
                              int64_t bytes, mhcrt_message *message) {
  return report(model, context, model->runtime.copy(context, to, from, bytes), message);
}

mhcrt_status mhcrt_model_synchronize(const mhcrt_model *model, mhcrt_context *context, mhcrt_message *message) {
  return report(model, context, model->runtime.synchronize(context), message);
}

void mhcrt_model_context_stats(const mhcrt_model *model, const mhcrt_context *context, mhcrt_context_stats *stats) {
  stats->threads = model->runtime.threads(context);
  stats->bytes = model->runtime.bytes(context);
  stats->launches = model->runtime.launches(context);
  stats->allocations = model->runtime.allocations(context);
}

} // extern "C"
