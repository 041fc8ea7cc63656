//===- Nccl.h - Collectives of GPUs ------------------------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TRAIN_NCCL_H
#define MHCRT_TRAIN_NCCL_H

#include "Gpu.h"
#include "Ranks.h"

#include <string>

namespace mhcrt {

/// NCCL between the ranks of a group, each with one GPU, on a stream of its own unless a call says which. Its library
/// is opened when it is needed. `count` is of a rank's own values, which are f32 or, with a dtype, bf16.
class Nccl {
public:
  explicit Nccl(Gpu &gpu) : gpu(gpu) {}
  Nccl(const Nccl &) = delete;
  Nccl &operator=(const Nccl &) = delete;
  ~Nccl();

  /// Whether its library is on this machine.
  bool isThere();
  /// Connects the ranks of a group; all ranks together, each with its own.
  bool open(Ranks &ranks, mhcrt_comm_group group, std::string &error);
  bool isOpen() const { return comm; }
  void *stream() const { return own; }

  // As in mhcrt/comm.h, behind the work on the stream.
  bool allGather(const void *own, void *all, int64_t count, int32_t dtype, void *stream, std::string &error);
  bool reduceScatter(const void *all, void *own, int64_t count, int32_t dtype, void *stream, std::string &error);
  bool allReduce(const void *from, void *to, int64_t count, void *stream, std::string &error);
  /// Calls between these become one transfer.
  bool beginGroup(std::string &error) { return check(table.groupBegin(), "the sum of gradients", error); }
  bool endGroup(std::string &error) { return check(table.groupEnd(), "the sum of gradients", error); }
  /// To and from a member of the group, in the order of the calls on both sides.
  bool send(const void *data, int64_t bytes, int32_t to, std::string &error);
  bool receive(void *data, int64_t bytes, int32_t from, std::string &error);

private:
  struct Id {
    char bytes[128];
  };
  struct Table {
    int (*getId)(Id *);
    int (*init)(void **comm, int ranks, Id id, int rank);
    int (*allReduce)(const void *from, void *to, size_t count, int type, int op, void *comm, void *stream);
    int (*allGather)(const void *from, void *to, size_t count, int type, void *comm, void *stream);
    int (*reduceScatter)(const void *from, void *to, size_t count, int type, int op, void *comm, void *stream);
    int (*send)(const void *from, size_t count, int type, int peer, void *comm, void *stream);
    int (*receive)(void *to, size_t count, int type, int peer, void *comm, void *stream);
    int (*groupBegin)();
    int (*groupEnd)();
    int (*abort)(void *comm);
    const char *(*errorText)(int);
  };
  bool check(int code, const char *what, std::string &error) const;

  Gpu &gpu;
  Table table = {};
  void *comm = nullptr, *own = nullptr;
};

} // namespace mhcrt

#endif // MHCRT_TRAIN_NCCL_H
