//===- Validation.cpp - The loss on text that no step trains on --------------- ===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Validation.h"
#include "Gradients.h"

#include <algorithm>

using namespace mhcrt;

static constexpr int64_t kBatches = 4;

bool Validation::makeInput(const std::string &name, std::string &error) {
  NamedTensors &tensors = name.rfind("cut", 0) == 0 ? received : inputs;
  return entry.makeArgument(name, tensors[name], error) && placed[name].allocate(session, tensors[name].get(), error);
}

bool Validation::open(const std::string &path, std::string given, const TensorRanks &tensorRanks, std::string &error) {
  text = std::move(given), pieces = tensorRanks.pieces();
  int32_t found = 0;
  const std::string own = stages.entry("evaluate");
  const bool hasOwn = mhcrt_model_find_entry(session.model, own.c_str(), &found, nullptr) == MHCRT_OK;
  if (!entry.open(session, hasOwn ? own : stages.entry("loss"), error))
    return false;
  for (const std::string &name : entry.arguments()) {
    const bool isTokens = name == "tokens" || name == "targets";
    if ((isTokens || name == "places" || name == "words" || name.rfind(Stages::cut(stages.own()), 0) == 0) &&
        !makeInput(name, error))
      return false;
    if (isTokens && !checkLength(path, text, pieces * inputs[name].dims()[1], error))
      return false;
  }
  tensorRanks.fillNumbers(inputs);
  return true;
}

void Validation::fillBatch(int64_t batch) {
  for (const auto &[name, shift] : {std::pair("tokens", 0), std::pair("targets", 1)}) {
    const auto found = inputs.find(name);
    if (found == inputs.end())
      continue;
    const std::vector<int64_t> dims = found->second.dims();
    const int64_t places = static_cast<int64_t>(text.size()) - pieces * dims[1];
    const int64_t part = stages.part(), groups = stages.parts() / pieces, rows = kBatches * groups * dims[0];
    for (int64_t row = 0; row < dims[0]; ++row) {
      const int64_t number = (batch * groups + part / pieces) * dims[0] + row;
      const int64_t start = number * (places - 1) / std::max<int64_t>(1, rows - 1) + part % pieces * dims[1];
      fillRow(found->second, row, text.data() + start + shift);
    }
  }
}

/// In the order of their names, in which they are sent.
bool Validation::receive(std::string &error) {
  for (auto &[name, host] : received)
    if (!ranks.receive(ranks.rank() - stages.parts(), host, error) || !placed[name].upload(host, error))
      return false;
  return true;
}

bool Validation::send(std::string &error) {
  for (const auto &[name, tensor] : results)
    if (!tensor.download(fetched, error) || !ranks.send(ranks.rank() + stages.parts(), fetched, error))
      return false;
  return true;
}

bool Validation::loss(const NamedEntry::Find &find, double &loss, std::string &error) {
  const auto lookup = [&](const std::string &name) {
    const auto own = placed.find(name);
    return own == placed.end() ? find(name) : &own->second;
  };
  loss = 0;
  for (int64_t batch = 0; batch < kBatches; ++batch) {
    fillBatch(batch);
    for (auto &[name, host] : inputs)
      if (!placed[name].upload(host, error))
        return false;
    if (!receive(error) || !entry.run(lookup, results, /*asGraph=*/false, error) ||
        (gpu.isOpen() && !gpu.wait(gpu.stream(), options.timeout, "a validation", error)))
      return false;
    if (!stages.isLast()) {
      if (!send(error))
        return false;
      continue;
    }
    if (!results["loss"].download(fetched, error))
      return false;
    loss += element(fetched.get(), 0) * stages.count() / kBatches;
  }
  return true;
}
