//===- Validation.h - The loss on text that no step trains on ----- -*- C++ -*- ===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TRAIN_VALIDATION_H
#define MHCRT_TRAIN_VALIDATION_H

#include "Gpu.h"
#include "Stages.h"
#include "TensorRanks.h"
#include "mhcrt/train.h"

namespace mhcrt {

/// The same windows of a file at every call, spread over it.
class Validation {
public:
  Validation(const Session &session, const TrainOptions &options, Ranks &ranks, const Stages &stages, Gpu &gpu)
      : session(session), options(options), ranks(ranks), stages(stages), gpu(gpu) {}

  /// `text` is that of the file `path`. Each part has rows of its own, or tensor-parallel ranks have pieces of one.
  bool open(const std::string &path, std::string text, const TensorRanks &tensorRanks, std::string &error);
  /// All of the text; none where it was not opened.
  const std::string &bytes() const { return text; }
  /// The share of this rank in a mean over all ranks. `find` gives the weights and a seed.
  bool loss(const NamedEntry::Find &find, double &loss, std::string &error);

private:
  bool makeInput(const std::string &name, std::string &error);
  void fillBatch(int64_t batch);
  bool receive(std::string &error);
  bool send(std::string &error);

  const Session session;
  const TrainOptions &options;
  Ranks &ranks;
  const Stages &stages;
  Gpu &gpu;
  NamedEntry entry;
  std::string text;
  int32_t pieces = 1;
  NamedTensors inputs, received; ///< received: of the stage before
  PlacedTensors placed, results;
  HostTensor fetched;
};

} // namespace mhcrt

#endif // MHCRT_TRAIN_VALIDATION_H
