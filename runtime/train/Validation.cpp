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

bool Validation::open(const Session &session, const std::string &path, std::string given, int32_t own, int32_t all,
                      int32_t ofRow, std::string &error) {
  text = std::move(given);
  part = own, parts = all, pieces = ofRow;
  int32_t found = 0;
  const bool hasOwn = mhcrt_model_find_entry(session.model, "evaluate", &found, nullptr) == MHCRT_OK;
  if (!entry.open(session, hasOwn ? "evaluate" : "loss", error))
    return false;
  for (const char *name : {"tokens", "targets"})
    if (!entry.makeArgument(name, inputs[name], error) || !placed[name].allocate(session, inputs[name].get(), error))
      return false;
  const int64_t length = inputs["tokens"].dims()[1];
  if (pieces > 1) {
    HostTensor &places = inputs["places"];
    if (!entry.makeArgument("places", places, error) || !placed["places"].allocate(session, places.get(), error))
      return false;
    fillPlaces(places, part % pieces * length);
  }
  return checkLength(path, text, pieces * length, error);
}

void Validation::fillBatch(int64_t batch) {
  const std::vector<int64_t> dims = inputs["tokens"].dims();
  const int64_t places = static_cast<int64_t>(text.size()) - pieces * dims[1];
  const int64_t groups = parts / pieces, rows = kBatches * groups * dims[0], first = part % pieces * dims[1];
  for (int64_t row = 0; row < dims[0]; ++row) {
    const int64_t number = (batch * groups + part / pieces) * dims[0] + row;
    const int64_t start = number * (places - 1) / std::max<int64_t>(1, rows - 1) + first;
    fillRow(inputs["tokens"], row, text.data() + start);
    fillRow(inputs["targets"], row, text.data() + start + 1);
  }
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
    if (!entry.run(lookup, results, /*asGraph=*/false, error) || !results["loss"].download(fetched, error))
      return false;
    loss += element(fetched.get(), 0) / kBatches;
  }
  return true;
}
