//===- Ranks.h - The ranks of a training run -------------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TRAIN_RANKS_H
#define MHCRT_TRAIN_RANKS_H

#include "mhcrt/comm.h"
#include "mhcrt/train.h"

#include <string>
#include <vector>

namespace mhcrt {

/// The processes that train together; one alone until `open` finds that mpirun or srun started more.
///
/// A rank that fails tells the others at the next `agree`, where all of them fail with its error. So each thing that
/// ranks do together begins with `agree`.
class Ranks {
public:
  Ranks() = default;
  Ranks(const Ranks &) = delete;
  Ranks &operator=(const Ranks &) = delete;
  ~Ranks();

  bool open(double timeout, std::string &error);
  /// Lets this process see one GPU alone, that of its number on this machine: of those in CUDA_VISIBLE_DEVICES, or of
  /// all. Where the caller chose a single one, it stays.
  bool chooseGpu(std::string &error) const;
  int32_t rank() const { return number; }
  int32_t count() const { return ranks; }
  /// Bytes that this rank has sent to others of a group and to other stages; those of NCCL are not known.
  int64_t sentBytes() const { return comm ? table.sentBytes(comm) : 0; }
  /// The rank that prints and writes files.
  bool isFirst() const { return number == 0; }
  /// Whether this rank says what is wrong: the first for all, or each of those that lost the others.
  bool reports() const { return isFirst() || isBroken; }

  /// Ends all ranks of several at once, this one included.
  void end();

  /// False with the error of the lowest rank that is not `good` by itself. `value` becomes the mean over the ranks.
  bool agree(bool good, double &value, std::string &error);
  bool agree(bool good, std::string &error);
  /// Do all ranks have the values of rank 0? `what` names each for the error.
  bool agreeOn(const std::vector<uint64_t> &values, const std::vector<const char *> &what, std::string &error);
  /// `all` gets the bytes of each rank.
  bool gather(const void *own, void *all, int64_t bytes, std::string &error);
  /// To and from one other rank, in this order. A rank does not wait until what it sent is there.
  bool send(int32_t to, const HostTensor &tensor, std::string &error);
  bool receive(int32_t from, HostTensor &tensor, std::string &error);

  mhcrt_comm_group everyone() const { return {0, 1, ranks}; }
  // Between the ranks of a group, as in mhcrt/comm.h; a group of one has nothing to do.
  bool broadcast(mhcrt_comm_group group, void *data, int64_t bytes, std::string &error);
  bool sum(mhcrt_comm_group group, float *values, int64_t count, std::string &error);
  bool allGather(mhcrt_comm_group group, const void *own, void *all, int64_t bytes, std::string &error);
  bool reduceScatter(mhcrt_comm_group group, const void *all, void *own, int64_t count, int32_t dtype,
                     std::string &error);

private:
  struct Table {
    decltype(&mhcrt_comm_create) create;
    decltype(&mhcrt_comm_destroy) destroy;
    decltype(&mhcrt_comm_abort) abort;
    decltype(&mhcrt_comm_rank) rank;
    decltype(&mhcrt_comm_ranks) ranks;
    decltype(&mhcrt_comm_sent_bytes) sentBytes;
    decltype(&mhcrt_comm_gather) gather;
    decltype(&mhcrt_comm_broadcast) broadcast;
    decltype(&mhcrt_comm_sum) sum;
    decltype(&mhcrt_comm_send) send;
    decltype(&mhcrt_comm_receive) receive;
    decltype(&mhcrt_comm_all_gather) allGather;
    decltype(&mhcrt_comm_reduce_scatter) reduceScatter;
  };
  bool load(std::string &error);
  /// Whether a call of the communicator went well; else no other is made.
  bool check(mhcrt_status status, const mhcrt_message &message, const char *what, std::string &error);

  Table table = {};
  mhcrt_comm *comm = nullptr;
  int32_t number = 0, ranks = 1;
  bool isBroken = false; ///< the communicator is of no use
  bool isOver = false;   ///< an error is known to all ranks
  bool isAlone = false;  ///< another rank has failed in the same step
};

/// A number that differs, but for one chance in 2^64, where the bytes do.
uint64_t hashOf(const std::string &bytes);

} // namespace mhcrt

#endif // MHCRT_TRAIN_RANKS_H
