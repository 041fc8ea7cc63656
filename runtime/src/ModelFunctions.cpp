//===- ModelFunctions.cpp - Functions that a model is given ------------------ ===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "LibraryFile.h"
#include "ModelState.h"

#include <cstring>

using namespace mhcrt;

void mhcrt::makeBindings(mhcrt_model &model) {
  for (const EntrySpec &function : model.manifest.functions) {
    model.bindings.push_back({function.name.c_str(), nullptr, nullptr});
    model.types.push_back(typeOf(function));
  }
}

std::vector<mhcrt_tensor> mhcrt::withBindings(const mhcrt_model &model, int32_t entry, const mhcrt_tensor *arguments) {
  std::vector<mhcrt_tensor> all(arguments, arguments + model.manifest.entries[entry].arguments.size());
  for (const mhcrt_binding &binding : model.bindings)
    all.push_back({const_cast<mhcrt_binding *>(&binding), MHCRT_NONE, 0, {}});
  return all;
}

static mhcrt_status setFunction(mhcrt_model &model, const char *name, const char *type, mhcrt_function function,
                                void *user, mhcrt_message *message) {
  for (size_t i = 0; i < model.bindings.size(); ++i) {
    if (std::strcmp(model.bindings[i].name, name) != 0)
      continue;
    if (type && model.types[i] != type)
      return fail(message, MHCRT_INVALID_ARGUMENT,
                  std::string("the function '") + name + "' is " + type + "; needed " + model.types[i]);
    model.bindings[i].function = function;
    model.bindings[i].user = user;
    return MHCRT_OK;
  }
  return fail(message, MHCRT_NOT_FOUND,
              std::string("the model calls no function '") + name + "'; it calls " +
                  listNames(model.manifest.functions));
}

static mhcrt_status loadFunctions(mhcrt_model &model, const std::string &path, mhcrt_message *message) {
  const std::string file = path.find('/') == path.npos ? "./" + path : path; // a file, not a name to search
  std::string error;
  void *const library = isWholeLibrary(file, error) ? dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library)
    return fail(message, MHCRT_NOT_FOUND,
                "cannot load the functions '" + path + "': " + (error.empty() ? dlerror() : error));
  model.functionLibraries.push_back(library);
  bool found = false;
  for (const mhcrt_binding &binding : model.bindings) {
    mhcrt_function function;
    std::string missing;
    if (!resolve(library, binding.name, function, missing))
      continue;
    found = true;
    const auto *type = static_cast<const char *>(dlsym(library, (std::string(binding.name) + "_type").c_str()));
    if (const mhcrt_status status = setFunction(model, binding.name, type, function, nullptr, message))
      return status;
  }
  if (!found)
    return fail(message, MHCRT_NOT_FOUND,
                "'" + path + "' has no function that the model calls: needed " + listNames(model.manifest.functions));
  return MHCRT_OK;
}

extern "C" {

int32_t mhcrt_model_functions(const mhcrt_model *model) { return static_cast<int32_t>(model->bindings.size()); }

const char *mhcrt_model_function_name(const mhcrt_model *model, int32_t function) {
  return function >= 0 && function < mhcrt_model_functions(model) ? model->bindings[function].name : nullptr;
}

const char *mhcrt_model_function_type(const mhcrt_model *model, int32_t function) {
  return function >= 0 && function < mhcrt_model_functions(model) ? model->types[function].c_str() : nullptr;
}

mhcrt_status mhcrt_model_set_function(mhcrt_model *model, const char *name, const char *type, mhcrt_function function,
                                      void *user, mhcrt_message *message) {
  return guarded(message, "the functions of the model",
                 [&] { return setFunction(*model, name, type, function, user, message); });
}

mhcrt_status mhcrt_model_load_functions(mhcrt_model *model, const char *path, mhcrt_message *message) {
  return guarded(message, "the functions of the model", [&] { return loadFunctions(*model, path, message); });
}

} // extern "C"
