//===- Gradients.h - The gradients of one step ------------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TRAIN_GRADIENTS_H
#define MHCRT_TRAIN_GRADIENTS_H

#include "GradientSums.h"
#include "Nccl.h"
#include "Ranks.h"
#include "Stages.h"
#include "TensorRanks.h"
#include "mhcrt/train.h"

#include <string>
#include <vector>

namespace mhcrt {

/// False with `error` set where a text has no context of `tokens` and one more.
bool checkLength(const std::string &path, const std::string &text, int64_t tokens, std::string &error);

/// The bytes at `text` become a row of tokens.
void fillRow(HostTensor &tokens, int64_t row, const char *text);

/// Computes the loss and the gradients of a batch: in microbatches, of the rows and the stage that are this rank's.
class Gradients {
public:
  Gradients(const Session &session, const TrainOptions &options, Ranks &ranks, const Stages &stages,
            TensorRanks &tensorRanks, Gpu &gpu);

  /// Opens the entries of this rank. `update` says which gradients there are.
  bool open(const NamedEntry &update, const std::string &data, std::string &error);
  /// Prepares for sums on the GPU, and connects those of all ranks; all together, behind open().
  bool connect(std::string &error);
  /// Those of this rank; `loss` is its share of a mean over the ranks. `asGraph` as in NamedEntry::run.
  bool compute(const TrainState &state, const PlacedTensors &weights, bool asGraph, double &loss, std::string &error);
  /// Those of all ranks.
  bool sum(std::string &error);
  /// Counts those of all parts and microbatches, on ranks of the first stage.
  int64_t tokensOfStep() const;
  /// "d_W" for each weight W, after sum().
  const PlacedTensor *find(const std::string &name) const;

private:
  /// A microbatch between its forward and its backward pass.
  struct Slot {
    NamedTensors host; ///< tokens, targets, seed
    PlacedTensors inputs, values;
    void *used = nullptr, *sent = nullptr,
         *sentBack = nullptr; ///< events: of the last run, and behind what it handed on
  };

  bool isWhole() const { return ranks.count() == 1 && options.microbatches == 1; }
  int64_t slotsNeeded() const;
  bool openEntries(std::string &error);
  bool makeSlot(Slot &slot, std::string &error) const;
  bool checkTokens(const std::string &data, std::string &error) const;
  void fill(Slot &slot, const TrainState &state, int64_t microbatch) const;
  bool run(NamedEntry &entry, Slot &slot, const PlacedTensors &weights, bool asGraph, std::string &error);
  bool makeGradients(int64_t microbatch, const PlacedTensors &weights, bool asGraph, std::string &error);
  bool addGradients(int64_t microbatch, std::string &error);
  bool isLast(int64_t microbatch) const { return microbatch == options.microbatches - 1; }
  bool forward(int64_t microbatch, const TrainState &state, const PlacedTensors &weights, bool asGraph, double &loss,
               std::string &error);
  bool backward(int64_t microbatch, const PlacedTensors &weights, bool asGraph, std::string &error);
  bool addLoss(const PlacedTensor &value, bool isFirst, double &loss, std::string &error);
  bool finishOnGpu(double &loss, std::string &error);
  bool send(Slot &slot, const std::string &prefix, int32_t to, std::string &error);
  bool receive(const NamedEntry &entry, const std::string &prefix, Slot &slot, int32_t from, std::string &error);
  bool isOnGpu() const { return sums.isOnGpu(); }
  Slot &slotOf(int64_t microbatch) { return slots[microbatch % slots.size()]; }

  const Session session;
  const TrainOptions &options;
  Ranks &ranks;
  TensorRanks &tensorRanks;
  const Stages &stages;
  const std::string *data = nullptr;
  GradientSums sums;              ///< outlives the graphs, which have transfers of its communicators
  NamedEntry forwards, backwards; ///< of several stages; of one, `forwards` has the gradients, too
  NamedEntry last;                ///< the one that makes gradients, of the last microbatch: its graphs have sums, too
  std::vector<Slot> slots;
  PlacedTensors shared; ///< d_loss
  HostTensor moved;
  PlacedTensor gpuLoss; ///< in the memory of the GPU: the sum over microbatches
  Gpu &gpu;
  Nccl toNext, toPrevious; ///< the ways between stages
};

} // namespace mhcrt

#endif // MHCRT_TRAIN_GRADIENTS_H
