//===- Checkpoint.cpp - Training states in files ----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/train.h"

using namespace mhcrt;

static const char *const kStep = "step", *const kSeed = "seed";

static HostTensor number(int64_t value) {
  HostTensor tensor;
  std::string error;
  if (tensor.allocate(MHCRT_I64, {}, error))
    *static_cast<int64_t *>(tensor.data()) = value;
  return tensor;
}

bool mhcrt::saveCheckpoint(const std::string &path, const TrainState &state, std::string &error) {
  const HostTensor step = number(state.step), seed = number(state.seed);
  std::map<std::string, mhcrt_tensor> all = {{kStep, step.get()}, {kSeed, seed.get()}};
  for (const auto &[name, tensor] : state.tensors)
    all[name] = tensor.get();
  return writeSafetensors(path, all, error);
}

/// Moves a tensor of this type out of the file's.
static bool take(const std::string &path, NamedTensors &file, const std::string &name, const std::string &type,
                 HostTensor &tensor, std::string &error) {
  const auto found = file.find(name);
  if (found == file.end() || found->second.type() != type) {
    error = "'" + path + "': " + (found == file.end() ? "lacks '" : "has " + found->second.type() + " as '") + name +
            "'; needed " + type;
    return false;
  }
  tensor = std::move(found->second);
  file.erase(found);
  return true;
}

/// A count that a file holds as a tensor.
static bool takeCount(const std::string &path, NamedTensors &file, const std::string &name, int64_t &count,
                      std::string &error) {
  HostTensor tensor;
  if (!take(path, file, name, "i64[]", tensor, error))
    return false;
  count = *static_cast<const int64_t *>(tensor.data());
  if (count >= 0)
    return true;
  error = "'" + path + "': has " + std::to_string(count) + " as '" + name + "'; needed at least 0";
  return false;
}

bool mhcrt::loadCheckpoint(const std::string &path, TrainState &state, std::string &error) {
  NamedTensors file;
  if (!readSafetensors(path, file, error) || !takeCount(path, file, kStep, state.step, error) ||
      !takeCount(path, file, kSeed, state.seed, error))
    return false;
  for (auto &[name, tensor] : state.tensors)
    if (!take(path, file, name, tensor.type(), tensor, error))
      return false;
  if (!file.empty())
    error = "'" + path + "': has '" + file.begin()->first + "', which the model has not";
  return file.empty();
}
