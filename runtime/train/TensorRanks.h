//===- TensorRanks.h - Ranks that share heads and MLPs ----------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TRAIN_TENSORRANKS_H
#define MHCRT_TRAIN_TENSORRANKS_H

#include "Nccl.h"
#include "Ranks.h"
#include "mhcrt/train.h"

#include <map>
#include <string>

namespace mhcrt {

/// The tensor-parallel ranks of a model, of which neighbours work on one part of the batch: the collectives that the
/// model calls, and the weights of which each rank has a share.
class TensorRanks {
public:
  TensorRanks(mhcrt_model *model, Ranks &ranks, Gpu &gpu);
  TensorRanks(const TensorRanks &) = delete;
  TensorRanks &operator=(const TensorRanks &) = delete;

  int32_t count() const { return ranks; }
  /// Which of them this one is.
  int32_t place() const { return all.rank() % ranks; }
  /// Those that have the same rows, this one included.
  mhcrt_comm_group neighbours() const { return {all.rank() - place(), 1, ranks}; }
  /// Those of the stage that have the same shares.
  mhcrt_comm_group peers() const { return {all.rank() - all.rank() % parts + place(), ranks, parts / ranks}; }

  /// Finds the shares among the arguments of an entry.
  bool open(const std::string &entry, std::string &error);
  /// Gives the model its collectives; all ranks together.
  bool connect(std::string &error);
  /// Gives the model a function that it calls.
  bool give(const char *name, mhcrt_function function, void *user, std::string &error);

  /// How many have tokens of the same rows, next to each other; 1 where each has rows of its own.
  int32_t pieces() const { return isShare("tokens") ? ranks : 1; }

  /// Fills in which places of a row this rank has, and which words of the vocabulary, where the model asks for them.
  void fillNumbers(NamedTensors &inputs) const;

  bool isShare(const std::string &name) const { return shares.count(name); }
  /// Makes a tensor of zeros as large as the whole one.
  bool widen(const std::string &name, HostTensor &tensor, std::string &error) const;
  /// This rank's share.
  bool cut(const std::string &name, const HostTensor &whole, HostTensor &share, std::string &error) const;
  /// The whole, of the shares of all; all ranks together.
  bool join(const std::string &name, const HostTensor &share, HostTensor &whole, std::string &error);

private:
  /// Calls of the model, on tensors of which the smaller one is this rank's own.
  mhcrt_status gather(const mhcrt_call &call, std::string &error);
  mhcrt_status scatter(const mhcrt_call &call, std::string &error);

  mhcrt_model *const model;
  Ranks &all;
  const int32_t ranks, parts; ///< of this axis, and of a stage
  std::map<std::string, mhcrt_tensor_info> shares;
  Nccl nccl;
};

} // namespace mhcrt

#endif // MHCRT_TRAIN_TENSORRANKS_H
