//===- GradientSums.h - Sums of gradients ------------------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TRAIN_GRADIENTSUMS_H
#define MHCRT_TRAIN_GRADIENTSUMS_H

#include "Gpu.h"
#include "Nccl.h"
#include "Ranks.h"
#include "Stages.h"
#include "TensorRanks.h"
#include "mhcrt/train.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace mhcrt {

/// Values between places that kernels write next to each other.
constexpr int64_t kAlignment = 64;

/// Adds up the gradients of a step, over microbatches and then over ranks, in one bucket with a place for each.
///
/// The last microbatch says when a gradient is complete (`gradient_complete`, mhcrt/functions.h). What is complete is
/// added up over the ranks in a few parts while the rest of the backward pass is computed, what was not announced
/// behind it. A value has the same sum either way.
class GradientSums {
public:
  GradientSums(const Session &session, Ranks &ranks, const Stages &stages, TensorRanks &tensorRanks, Gpu &gpu);

  /// Makes places for the gradients that `update` takes; `last` makes them in the last microbatch.
  bool open(const NamedEntry &update, const NamedEntry &last, std::string &error);
  /// Prepares for sums on the GPU, and connects those of all ranks; all together, behind open().
  bool connect(std::string &error);
  /// Lets an entry write its gradients into their places, which no microbatch adds to.
  void viewPlaces(PlacedTensors &values);

  bool isOnGpu() const { return gpuBucket.get().data; }
  bool usesNccl() const { return hasNccl; }

  /// Forgets the step before.
  bool begin(std::string &error);
  /// Adds the gradients of a microbatch to those before it; of the last one, what it has not announced.
  bool add(const PlacedTensors &values, bool isFirst, bool isLast, std::string &error);
  /// Takes the gradients of the last microbatch, up to add(), as they are announced. `joins`: work that is enqueued
  /// behind the last of them waits for the sums, as a CUDA graph demands.
  void expect(const PlacedTensors &values, bool isFirst, bool joins);
  /// Enqueues what is left to NCCL, and what comes next behind all sums.
  bool finishOnGpu(std::string &error) { return sumRest(error); }
  /// Without NCCL: adds up what is left through the memory of the host, and fills the totals.
  bool finishOnHost(std::string &error);

  /// "d_W" for each weight W.
  PlacedTensors totals;

private:
  /// Part of the bucket: a gradient.
  struct Place {
    std::string name;
    mhcrt_tensor type;
    int64_t begin, count;
    bool isAnnounced;
  };
  /// A stretch of the bucket that some ranks add up; all of them have their own NCCL. Those of one stage are added up
  /// as soon as they are announced, then those that several stages have.
  struct Sum {
    int64_t begin, count;
    mhcrt_comm_group group;
    Nccl &between;
    bool isOfStage;
  };

  int64_t aligned(int64_t place) const;
  bool placeAll(const NamedEntry &update, bool ofShares, bool isShared, std::string &error);
  void findAnnounced(const NamedEntry &last);
  bool connectNccl(std::string &error);
  bool listen(std::string &error);
  bool addAt(const Place &place, const void *from, bool isFirst, std::string &error);
  /// A call of the model.
  mhcrt_status complete(const mhcrt_call &call, std::string &error);
  /// Adds up the places in `which`, over the ranks of the stage.
  bool sum(const std::vector<bool> &which, std::string &error);
  bool sum(const Sum &one, int64_t begin, int64_t end, std::string &error);
  bool sumOfStages(std::string &error);
  bool sumRest(std::string &error);
  bool join(std::string &error);

  const Session session;
  Ranks &ranks;
  const Stages &stages;
  TensorRanks &tensorRanks;
  Gpu &gpu;
  std::vector<Place> places;
  std::vector<Sum> sums; ///< in their order
  int64_t length = 0;    ///< of the bucket
  /// All gradients: whole ones in front of shares, those of one stage in front of others.
  std::vector<float> bucket;
  PlacedTensor gpuBucket; ///< the same in the memory of the GPU
  HostTensor moved;
  Nccl ncclOfStage, ncclOfPeers, ncclOfSharers;
  bool hasNccl = false, isListening = false;

  int64_t announced = 0, announcedLength = 0; ///< places, and values in them
  // State of the last microbatch.
  std::unordered_map<const void *, size_t> expected; ///< places by the memory of their gradients
  std::vector<bool> waiting;                         ///< for their sum
  int64_t done = 0, waitingLength = 0;
  bool isFirst = false, joins = false, isComplete = false;
};

} // namespace mhcrt

#endif // MHCRT_TRAIN_GRADIENTSUMS_H
