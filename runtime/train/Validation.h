//===- Validation.h - The loss on text that no step trains on ----- -*- C++ -*- ===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TRAIN_VALIDATION_H
#define MHCRT_TRAIN_VALIDATION_H

#include "mhcrt/train.h"

namespace mhcrt {

/// The same windows of a file at every call, spread over it.
class Validation {
public:
  /// `text` is that of the file `path`.
  /// `part` of `parts` has rows of its own, or so many parts have pieces of one.
  bool open(const Session &session, const std::string &path, std::string text, int32_t part, int32_t parts,
            int32_t pieces, std::string &error);
  /// That of this part; the whole is the mean over the parts. `find` gives the weights and a seed.
  bool loss(const NamedEntry::Find &find, double &loss, std::string &error);

private:
  void fillBatch(int64_t batch);

  NamedEntry entry;
  std::string text;
  int32_t part = 0, parts = 1, pieces = 1;
  NamedTensors inputs;
  PlacedTensors placed, results;
  HostTensor fetched;
};

} // namespace mhcrt

#endif // MHCRT_TRAIN_VALIDATION_H
