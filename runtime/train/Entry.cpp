//===- Entry.cpp - Entries by the names of their tensors --------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/run.h"
#include "mhcrt/train.h"

using namespace mhcrt;

static bool allocateAs(const mhcrt_tensor_info &info, HostTensor &tensor, std::string &error) {
  return tensor.allocate(info.dtype, std::vector<int64_t>(info.sizes, info.sizes + info.rank), error);
}

bool NamedEntry::open(const mhcrt_model *opened, const char *wanted, std::string &error) {
  model = opened;
  name = wanted;
  mhcrt_message message;
  if (mhcrt_model_find_entry(model, wanted, &entry, &message) != MHCRT_OK) {
    error = message.text;
    return false;
  }
  for (int32_t i = 0; i < mhcrt_model_arguments(model, entry); ++i) {
    const mhcrt_tensor_info &info = *mhcrt_model_argument(model, entry, i);
    for (int32_t dim = 0; dim < info.rank; ++dim)
      if (info.symbols[dim]) {
        error = "argument '" + std::string(info.name) + "' of entry '" + name + "' is " + info.type +
                "; needed sizes that are numbers";
        return false;
      }
  }
  return true;
}

std::vector<std::string> NamedEntry::arguments() const {
  std::vector<std::string> names;
  for (int32_t i = 0; i < mhcrt_model_arguments(model, entry); ++i)
    names.push_back(mhcrt_model_argument(model, entry, i)->name);
  return names;
}

bool NamedEntry::makeArgument(const std::string &wanted, HostTensor &tensor, std::string &error) const {
  for (int32_t i = 0; i < mhcrt_model_arguments(model, entry); ++i)
    if (const mhcrt_tensor_info *info = mhcrt_model_argument(model, entry, i); info->name == wanted)
      return allocateAs(*info, tensor, error);
  error = "entry '" + name + "' has no argument '" + wanted + "'";
  return false;
}

bool NamedEntry::run(mhcrt_context *context, const Find &find, NamedTensors &results, std::string &error) {
  std::vector<mhcrt_tensor> inputs, outputs;
  for (const std::string &argument : arguments()) {
    const HostTensor *tensor = find(argument);
    if (!tensor) {
      error = "nothing is known of argument '" + argument + "' of entry '" + name + "'";
      return false;
    }
    inputs.push_back(tensor->get());
  }
  for (int32_t i = 0; i < mhcrt_model_results(model, entry); ++i) {
    const mhcrt_tensor_info &info = *mhcrt_model_result(model, entry, i);
    HostTensor &tensor = results[info.name];
    if (tensor.type() != info.type && !allocateAs(info, tensor, error))
      return false;
    outputs.push_back(tensor.get());
  }
  return EntryCall(model, entry, context, inputs, outputs).runAndTime(0, error);
}
