//===- Stages.h - The stages of a pipeline ---------------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TRAIN_STAGES_H
#define MHCRT_TRAIN_STAGES_H

#include "Ranks.h"
#include "mhcrt/train.h"

#include <map>
#include <string>
#include <vector>

namespace mhcrt {

/// The stage of this rank, and what all stages have of the state. A model that is not cut has one.
///
/// Rank s * parts + p has stage s of part p of the batch; a part is that of a tensor-parallel rank.
class Stages {
public:
  /// Weights and what the optimizer keeps, by name.
  using State = std::map<std::string, mhcrt_tensor_info>;

  Stages(const mhcrt_model *model, const Ranks &ranks);

  /// Finds the state among the arguments of the entries "update".
  bool open(std::string &error);

  int32_t count() const { return stages; }
  int32_t own() const { return rank / parts(); }
  int32_t parts() const { return ranks / stages; }
  int32_t part() const { return rank % parts(); }
  bool isFirst() const { return own() == 0; }
  bool isLast() const { return own() == stages - 1; }

  /// The name of an entry of a stage, such as "update_stage1"; "update" where there is one stage.
  std::string entry(const std::string &name, int32_t stage) const;
  std::string entry(const std::string &name) const { return entry(name, own()); }

  /// "cut2." begins the names of what stage 2 gets of stage 1.
  static std::string cut(int32_t stage) { return "cut" + std::to_string(stage) + "."; }

  const State &state(int32_t stage) const { return states[stage]; }
  /// The first stage that has a tensor.
  int32_t ownerOf(const std::string &name) const;
  /// Whether several stages have it: the gradient is the sum of theirs.
  bool isShared(const std::string &name) const { return lastWith(name) > ownerOf(name); }
  bool shares() const { return sharing.count > 1; }

  /// The ranks of a stage.
  mhcrt_comm_group members(int32_t stage) const { return {stage * parts(), 1, parts()}; }
  /// Those that have the shared tensors of this rank's part; in a stage that shares nothing, this one alone.
  mhcrt_comm_group sharers() const;

private:
  int32_t lastWith(const std::string &name) const;

  const mhcrt_model *const model;
  const int32_t rank, ranks, stages;
  std::vector<State> states;
  mhcrt_comm_group sharing = {0, 1, 1}; ///< stages, in place of ranks
};

} // namespace mhcrt

#endif // MHCRT_TRAIN_STAGES_H
