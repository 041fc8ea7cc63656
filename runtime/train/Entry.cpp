//===- Entry.cpp - Entries by the names of their tensors --------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/train.h"

#include <algorithm>

using namespace mhcrt;

/// Sizes of these entries are numbers.
static mhcrt_tensor typeOf(const mhcrt_tensor_info &info) {
  mhcrt_tensor type = {nullptr, info.dtype, info.rank, {}};
  std::copy(info.sizes, info.sizes + info.rank, type.dims);
  return type;
}

NamedEntry::~NamedEntry() {
  for (auto &[addresses, graph] : graphs)
    mhcrt_model_graph_destroy(session.model, graph);
}

bool NamedEntry::open(const Session &wanted, const std::string &wantedName, std::string &error) {
  session = wanted;
  name = wantedName;
  mhcrt_message message;
  if (mhcrt_model_find_entry(session.model, wantedName.c_str(), &entry, &message) != MHCRT_OK) {
    error = message.text;
    return false;
  }
  const Signature signature{session.model, entry, false};
  for (int32_t i = 0; i < signature.size(); ++i)
    for (int32_t dim = 0; dim < signature[i].rank; ++dim)
      if (signature[i].symbols[dim]) {
        error = "argument '" + std::string(signature[i].name) + "' of entry '" + name + "' is " + signature[i].type +
                "; needed sizes that are numbers";
        return false;
      }
  return true;
}

static std::vector<std::string> namesOf(const Signature &signature) {
  std::vector<std::string> names;
  for (int32_t i = 0; i < signature.size(); ++i)
    names.push_back(signature[i].name);
  return names;
}

std::vector<std::string> NamedEntry::arguments() const { return namesOf(Signature{session.model, entry, false}); }

std::vector<std::string> NamedEntry::results() const { return namesOf(Signature{session.model, entry, true}); }

bool NamedEntry::isPartial(const std::string &wanted) const {
  const Signature signature{session.model, entry, true};
  const int32_t index = signature.find(wanted);
  return index >= 0 && signature[index].partial && signature[index].dtype == MHCRT_F32;
}

bool NamedEntry::allocateResults(PlacedTensors &results, std::string &error) const {
  const Signature signature{session.model, entry, true};
  for (int32_t i = 0; i < signature.size(); ++i)
    if (!results[signature[i].name].allocate(session, typeOf(signature[i]), error))
      return false;
  return true;
}

bool NamedEntry::makeArgument(const std::string &wanted, HostTensor &tensor, std::string &error) const {
  const Signature signature{session.model, entry, false};
  const int32_t index = signature.find(wanted);
  if (index < 0) {
    error = "entry '" + name + "' has no argument '" + wanted + "'";
    return false;
  }
  const mhcrt_tensor type = typeOf(signature[index]);
  return tensor.allocate(type.dtype, std::vector<int64_t>(type.dims, type.dims + type.rank), error);
}

mhcrt_status NamedEntry::replay(const std::vector<mhcrt_tensor> &inputs, const std::vector<mhcrt_tensor> &outputs,
                                mhcrt_message &message) {
  std::vector<const void *> addresses;
  for (const std::vector<mhcrt_tensor> *tensors : {&inputs, &outputs})
    for (const mhcrt_tensor &tensor : *tensors)
      addresses.push_back(tensor.data);
  if (const auto found = graphs.find(addresses); found != graphs.end())
    return mhcrt_model_replay(session.model, session.context, found->second, &message);
  mhcrt_cuda_graph *graph = nullptr;
  // This runs it, too.
  const mhcrt_status status =
      mhcrt_model_record(session.model, entry, session.context, inputs.data(), outputs.data(), &graph, &message);
  if (status == MHCRT_OK)
    graphs[addresses] = graph;
  return status;
}

bool NamedEntry::run(const Find &find, PlacedTensors &results, bool asGraph, std::string &error) {
  std::vector<mhcrt_tensor> inputs, outputs;
  for (const std::string &argument : arguments()) {
    const PlacedTensor *tensor = find(argument);
    if (!tensor) {
      error = "nothing is known of argument '" + argument + "' of entry '" + name + "'";
      return false;
    }
    inputs.push_back(tensor->get());
  }
  if (!allocateResults(results, error))
    return false;
  for (const std::string &result : this->results())
    outputs.push_back(results[result].get());
  mhcrt_message message;
  const mhcrt_status status =
      asGraph ? replay(inputs, outputs, message)
              : mhcrt_model_invoke(session.model, entry, session.context, inputs.data(), outputs.data(), &message);
  if (status != MHCRT_OK)
    error = message.text;
  return status == MHCRT_OK;
}
