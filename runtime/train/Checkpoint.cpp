//===- Checkpoint.cpp - Training states in files ----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/train.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

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
  const std::string part = path + ".part";
  if (!writeSafetensors(part, all, error))
    return false;
  if (std::rename(part.c_str(), path.c_str()) == 0)
    return true;
  error = "'" + path + "': " + std::strerror(errno);
  return false;
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

bool mhcrt::loadCheckpoint(const std::string &path, TrainState &state, std::string &error) {
  NamedTensors file;
  HostTensor step, seed;
  if (!readSafetensors(path, file, error) || !take(path, file, kStep, "i64[]", step, error) ||
      !take(path, file, kSeed, "i64[]", seed, error))
    return false;
  for (auto &[name, tensor] : state.tensors)
    if (!take(path, file, name, tensor.type(), tensor, error))
      return false;
  if (!file.empty()) {
    error = "'" + path + "': has '" + file.begin()->first + "', which the model has not";
    return false;
  }
  state.step = *static_cast<const int64_t *>(step.data());
  state.seed = *static_cast<const int64_t *>(seed.data());
  return true;
}
