//===- Run.cpp - Run compiled models ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Driver/Run.h"
#include "mhc/IR/Counted.h"
#include "mhcrt/run.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

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

static mhcrt::HostTensor cloned(const mhcrt::HostTensor &tensor) {
  mhcrt::HostTensor copy;
  std::string error;
  if (copy.allocate(tensor.dtype(), tensor.dims(), error))
    std::memcpy(copy.data(), tensor.data(), tensor.bytes());
  return copy;
}

Tensors mhc::copyOf(llvm::ArrayRef<mhcrt::HostTensor> tensors) {
  Tensors copies;
  for (const mhcrt::HostTensor &tensor : tensors)
    copies.push_back(cloned(tensor));
  return copies;
}

/// Whether an argument of the backward half is the tensor `name`. A number tells those apart that have one name.
static bool isCalled(llvm::StringRef argument, llvm::StringRef name) {
  return argument.consume_front(name) &&
         (argument.empty() || (argument.consume_front("_") && llvm::all_of(argument, llvm::isDigit)));
}

llvm::Expected<Tensors> mhc::backwardArguments(const mhcrt_model *model, const std::string &grad,
                                               llvm::ArrayRef<mhcrt::HostTensor> whole,
                                               llvm::ArrayRef<mhcrt::HostTensor> made) {
  int32_t joint, forward, backward;
  mhcrt_message message;
  for (auto [suffix, entry] : {std::pair{"_grad", &joint}, {"_fwd", &forward}, {"_bwd", &backward}})
    if (mhcrt_model_find_entry(model, (grad + suffix).c_str(), entry, &message) != MHCRT_OK)
      return llvm::createStringError(message.text);
  // Arguments, what was made of them and cotangents, in the order in which the backward half has those that it reads.
  const size_t arguments = mhcrt_model_arguments(model, forward);
  std::vector<std::pair<llvm::StringRef, const mhcrt::HostTensor *>> known;
  for (auto [i, tensor] : llvm::enumerate(whole.take_front(arguments)))
    known.emplace_back(mhcrt_model_argument(model, joint, i)->name, &tensor);
  for (auto [i, tensor] : llvm::enumerate(made))
    known.emplace_back(mhcrt_model_result(model, forward, i)->name, &tensor);
  for (auto [i, tensor] : llvm::enumerate(whole.drop_front(arguments)))
    known.emplace_back(mhcrt_model_argument(model, joint, arguments + i)->name, &tensor);
  Tensors inputs;
  for (int32_t i = 0; i < mhcrt_model_arguments(model, backward); ++i) {
    llvm::StringRef name = mhcrt_model_argument(model, backward, i)->name;
    auto found = llvm::find_if(known, [&](auto &tensor) { return tensor.second && isCalled(name, tensor.first); });
    if (found == known.end())
      return llvm::createStringError("nothing is called '" + name.str() + "', which '" + grad + "_bwd' reads");
    inputs.push_back(cloned(*std::exchange(found->second, nullptr)));
  }
  return inputs;
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
