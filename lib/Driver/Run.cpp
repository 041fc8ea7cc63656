//===- Run.cpp - Run compiled models ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Driver/Run.h"
#include "mhc/IR/Counted.h"
#include "mhcrt/run.h"

using namespace mhc;
using mhcrt::HostTensor;

static std::vector<mhcrt_tensor> views(const Tensors &tensors) {
  std::vector<mhcrt_tensor> result;
  for (const HostTensor &tensor : tensors)
    result.push_back(tensor.get());
  return result;
}

llvm::Expected<Tensors> mhc::runOnce(const mhcrt_model *model, llvm::StringRef name, const Tensors &arguments,
                                     int32_t threads, int repetitions) {
  mhcrt_message message;
  int32_t entry;
  if (mhcrt_model_find_entry(model, name.str().c_str(), &entry, &message) != MHCRT_OK)
    return llvm::createStringError(message.text);
  int32_t wanted = mhcrt_model_arguments(model, entry);
  if (wanted != static_cast<int32_t>(arguments.size()))
    return llvm::createStringError("entry '" + name.str() + "' has " + counted(wanted, "argument") + "; found " +
                                   std::to_string(arguments.size()));
  Tensors results;
  std::vector<mhcrt_tensor> resultViews;
  std::string error;
  if (!mhcrt::allocateResults(model, entry, views(arguments), results, resultViews, error))
    return llvm::createStringError(error);
  mhcrt_context *context;
  if (mhcrt_model_context_create(model, threads, &context, &message) != MHCRT_OK)
    return llvm::createStringError(message.text);
  bool good = mhcrt::EntryCall(model, entry, context, views(arguments), resultViews).runAndTime(repetitions, error);
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
