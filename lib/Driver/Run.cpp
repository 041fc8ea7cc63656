//===- Run.cpp - Run compiled models ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Driver/Run.h"
#include "mhcrt/run.h"

using namespace mhc;
using mhcrt::HostTensor;

static std::vector<mhcrt_tensor> views(const Tensors &tensors) {
  std::vector<mhcrt_tensor> result;
  for (const HostTensor &tensor : tensors)
    result.push_back(tensor.get());
  return result;
}

llvm::Expected<Tensors> mhc::allocateResults(const mhcrt_model *model, int32_t entry, const Tensors &arguments) {
  mhcrt_message message;
  int32_t wanted = mhcrt_model_arguments(model, entry);
  if (wanted != static_cast<int32_t>(arguments.size()))
    return llvm::createStringError("entry '" + std::string(mhcrt_model_entry_name(model, entry)) + "' has " +
                                   std::to_string(wanted) + " arguments; found " + std::to_string(arguments.size()));
  std::vector<mhcrt_tensor> types(mhcrt_model_results(model, entry));
  if (mhcrt_model_infer(model, entry, views(arguments).data(), types.data(), &message) != MHCRT_OK)
    return llvm::createStringError(message.text);
  Tensors results(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    std::string error;
    std::vector<int64_t> dims(types[i].dims, types[i].dims + types[i].rank);
    if (!results[i].allocate(types[i].dtype, dims, error))
      return llvm::createStringError("result '" + std::string(mhcrt_model_result(model, entry, i)->name) +
                                     "': " + error);
  }
  return results;
}

llvm::Expected<Tensors> mhc::runOnce(const mhcrt_model *model, llvm::StringRef name, const Tensors &arguments,
                                     int32_t threads, int repetitions) {
  mhcrt_message message;
  int32_t entry;
  if (mhcrt_model_find_entry(model, name.str().c_str(), &entry, &message) != MHCRT_OK)
    return llvm::createStringError(message.text);
  auto results = allocateResults(model, entry, arguments);
  if (!results)
    return results.takeError();
  mhcrt_context *context;
  if (mhcrt_model_context_create(model, threads, &context, &message) != MHCRT_OK)
    return llvm::createStringError(message.text);
  std::string error;
  bool good = mhcrt::EntryCall(model, entry, context, views(arguments), views(*results)).runAndTime(repetitions, error);
  mhcrt_model_context_destroy(model, context);
  if (!good)
    return llvm::createStringError(error);
  return results;
}

llvm::Expected<Tensors> mhc::runText(llvm::StringRef text, llvm::StringRef entry, const Tensors &arguments,
                                     const CompileOptions &options) {
  Compiler compiler;
  auto module = compiler.parseText(text);
  if (!module)
    return module.takeError();
  auto model = compiler.jit(**module, options);
  if (!model)
    return model.takeError();
  return runOnce((*model)->get(), entry, arguments);
}
