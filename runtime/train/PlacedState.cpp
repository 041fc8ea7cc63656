//===- PlacedState.cpp - The state of a rank --------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "PlacedState.h"

using namespace mhcrt;

/// A whole tensor of zeros.
bool PlacedState::makeZeros(const std::string &name, const mhcrt_tensor_info &info, HostTensor &tensor,
                            std::string &error) const {
  return tensorRanks.isShare(name)
             ? tensorRanks.widen(name, tensor, error)
             : tensor.allocate(info.dtype, std::vector<int64_t>(info.sizes, info.sizes + info.rank), error);
}

bool PlacedState::complete(std::string &error) {
  for (const auto &[name, tensor] : current)
    if (!tensor.download(host.tensors[name], error))
      return false;
  for (const auto &[name, info] : stages.state(stages.own()))
    if (!host.tensors.count(name) && !makeZeros(name, info, host.tensors[name], error))
      return false;
  return true;
}

bool PlacedState::load(const std::string &path, std::string &error) {
  TrainState all;
  for (int32_t stage = 0; stage < stages.count(); ++stage)
    for (const auto &[name, info] : stages.state(stage))
      if (!all.tensors.count(name) && !makeZeros(name, info, all.tensors[name], error))
        return false;
  if (!loadCheckpoint(path, all, error))
    return false;
  loaded = std::move(all.tensors);
  host.step = all.step, host.seed = all.seed;
  return true;
}

/// Rank 0 gives the first rank of each stage what it has loaded, and those give their state to the rest of the stage.
bool PlacedState::handOut(std::string &error) {
  int64_t counts[] = {host.step, host.seed, !loaded.empty()};
  if (!ranks.broadcast(ranks.everyone(), counts, sizeof(counts), error))
    return false;
  host.step = counts[0], host.seed = counts[1];
  for (int32_t stage = 1; counts[2] && stage < stages.count(); ++stage) {
    const int32_t first = stages.members(stage).first;
    if (!ranks.isFirst() && ranks.rank() != first)
      continue;
    for (const auto &[name, info] : stages.state(stage)) {
      HostTensor &tensor = ranks.isFirst() ? loaded[name] : host.tensors[name];
      if (!ranks.broadcast({0, first, 2}, tensor.data(), tensor.bytes(), error))
        return false;
    }
  }
  for (auto &[name, tensor] : host.tensors) {
    if (!loaded.empty())
      tensor = std::move(loaded[name]);
    if (!ranks.broadcast(stages.members(stages.own()), tensor.data(), tensor.bytes(), error))
      return false;
  }
  loaded.clear();
  return true;
}

bool PlacedState::place(std::string &error) {
  HostTensor share;
  for (const auto &[name, whole] : host.tensors) {
    const bool isShare = tensorRanks.isShare(name);
    if (isShare && !tensorRanks.cut(name, whole, share, error))
      return false;
    const HostTensor &own = isShare ? share : whole;
    if (!current[name].allocate(session, own.get(), error) || !current[name].upload(own, error))
      return false;
  }
  host.tensors.clear();
  return true;
}

bool PlacedState::share(std::string &error) { return handOut(error) && place(error); }

bool PlacedState::fetch(std::string &error) {
  HostTensor share;
  for (const auto &[name, tensor] : current)
    if (!(tensorRanks.isShare(name)
              ? tensor.download(share, error) && tensorRanks.join(name, share, host.tensors[name], error)
              : tensor.download(host.tensors[name], error)))
      return false;
  return true;
}

/// Rank 0 gets what only other stages have; all ranks together.
bool PlacedState::gather(TrainState &all, std::string &error) {
  for (int32_t stage = 1; stage < stages.count(); ++stage) {
    const int32_t first = stages.members(stage).first;
    if (!ranks.isFirst() && ranks.rank() != first)
      continue;
    for (const auto &[name, info] : stages.state(stage)) {
      if (stages.ownerOf(name) != stage)
        continue;
      HostTensor &tensor = all.tensors[name];
      if ((ranks.isFirst() && !makeZeros(name, info, tensor, error)) ||
          !ranks.broadcast({first, -first, 2}, tensor.data(), tensor.bytes(), error))
        return false;
    }
  }
  return true;
}

bool PlacedState::save(const std::string &path, std::string &error) {
  const bool takesPart = stages.part() == 0 || tensorRanks.count() > 1;
  const bool good = !takesPart || fetch(error);
  if (stages.count() > 1 && !ranks.agree(good, error))
    return false;
  TrainState all = {std::move(host.tensors), host.step, host.seed};
  return good && gather(all, error) && (!ranks.isFirst() || saveCheckpoint(path, all, error));
}
