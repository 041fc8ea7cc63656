//===- PlacedState.h - The state of a rank ---------------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TRAIN_PLACEDSTATE_H
#define MHCRT_TRAIN_PLACEDSTATE_H

#include "Stages.h"
#include "TensorRanks.h"
#include "mhcrt/train.h"

#include <string>

namespace mhcrt {

/// The weights of a rank's stage, and what the optimizer keeps, where kernels reach them; of some this rank's share.
/// Checkpoints have the whole tensors of all stages.
class PlacedState {
public:
  PlacedState(const Session &session, Ranks &ranks, const Stages &stages, TensorRanks &tensorRanks)
      : session(session), ranks(ranks), stages(stages), tensorRanks(tensorRanks) {}

  /// Adds zeros for what the entry "init", whose results are whole tensors, did not make.
  bool complete(std::string &error);
  /// In rank 0: reads what all stages have.
  bool load(const std::string &path, std::string &error);
  /// Gives all ranks what rank 0 has loaded, or the first rank of their stage has made; all ranks together.
  bool share(std::string &error);
  /// Rank 0 writes what all have; all ranks together.
  bool save(const std::string &path, std::string &error);

  TrainState host; ///< its tensors are whole ones, up to share()
  PlacedTensors current;

private:
  bool makeZeros(const std::string &name, const mhcrt_tensor_info &info, HostTensor &tensor, std::string &error) const;
  bool handOut(std::string &error);
  bool place(std::string &error);
  bool fetch(std::string &error);
  bool gather(TrainState &all, std::string &error);

  const Session session;
  Ranks &ranks;
  const Stages &stages;
  TensorRanks &tensorRanks;
  NamedTensors loaded; ///< in rank 0: those of all stages
};

} // namespace mhcrt

#endif // MHCRT_TRAIN_PLACEDSTATE_H
