//===- Stages.cpp - The stages of a pipeline --------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Stages.h"

using namespace mhcrt;

Stages::Stages(const mhcrt_model *model, const Ranks &ranks)
    : model(model), rank(ranks.rank()), ranks(ranks.count()), stages(mhcrt_model_stages(model)) {}

std::string Stages::entry(const std::string &name, int32_t stage) const {
  return stages == 1 ? name : name + "_stage" + std::to_string(stage);
}

static bool isState(const std::string &name) {
  return name != "step" && name != "learning_rate" && name.rfind("d_", 0) != 0;
}

bool Stages::open(std::string &error) {
  states.resize(stages);
  for (int32_t stage = 0; stage < stages; ++stage) {
    int32_t number = 0;
    mhcrt_message message;
    if (mhcrt_model_find_entry(model, entry("update", stage).c_str(), &number, &message) != MHCRT_OK) {
      error = message.text;
      return false;
    }
    const Signature arguments{model, number, false};
    for (int32_t i = 0; i < arguments.size(); ++i)
      if (isState(arguments[i].name))
        states[stage][arguments[i].name] = arguments[i];
  }
  // The compiler gives them to one pair of stages, or to all.
  for (const State &state : states)
    for (const auto &[name, info] : state)
      if (const int32_t first = ownerOf(name), last = lastWith(name); last > first) {
        const bool isPair = last == first + 1 || !states[first + 1].count(name);
        sharing = isPair ? mhcrt_comm_group{first, last - first, 2} : mhcrt_comm_group{0, 1, stages};
        return true;
      }
  return true;
}

int32_t Stages::ownerOf(const std::string &name) const {
  int32_t stage = 0;
  while (stage < stages - 1 && !states[stage].count(name))
    ++stage;
  return stage;
}

int32_t Stages::lastWith(const std::string &name) const {
  int32_t stage = stages - 1;
  while (stage > 0 && !states[stage].count(name))
    --stage;
  return stage;
}

mhcrt_comm_group Stages::sharers() const {
  for (int32_t i = 0; i < sharing.count; ++i)
    if (sharing.first + i * sharing.stride == own())
      return {sharing.first * parts() + part(), sharing.stride * parts(), sharing.count};
  return {rank, 1, 1};
}
