//===- Nccl.h - Collectives of GPUs ------------------------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TRAIN_NCCL_H
#define MHCRT_TRAIN_NCCL_H

#include "Ranks.h"

#include <string>

namespace mhcrt {

/// NCCL between the ranks of a group, each with one GPU. Its libraries are opened when they are needed.
class Nccl {
public:
  Nccl() = default;
  Nccl(const Nccl &) = delete;
  Nccl &operator=(const Nccl &) = delete;
  ~Nccl();

  /// Whether its libraries are on this machine.
  bool isThere();
  /// Connects the ranks of a group; all ranks together, each with its own. A context of the GPU must be current.
  bool open(Ranks &ranks, mhcrt_comm_group group, double timeout, std::string &error);
  bool isOpen() const { return comm; }
  /// The values, in memory of the GPU, become their sums over the ranks, on a stream of NCCL's own, before this
  /// returns. What computes them must have ended.
  bool sum(void *values, int64_t count, std::string &error);

  // As in mhcrt/comm.h, behind the work on the stream; `count` is of a rank's own values, which are f32 or bf16.
  bool allGather(const void *own, void *all, int64_t count, int32_t dtype, void *stream, std::string &error);
  bool reduceScatter(const void *all, void *own, int64_t count, int32_t dtype, void *stream, std::string &error);
  bool allReduce(const void *from, void *to, int64_t count, void *stream, std::string &error);
  /// Until the work on the stream has ended, or for as long as a rank waits.
  bool wait(void *stream, const char *what, std::string &error);

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
    int (*abort)(void *comm);
    const char *(*errorText)(int);
    int (*createStream)(void **stream, unsigned flags);
    int (*queryStream)(void *stream);
  };
  bool check(int code, const char *what, std::string &error) const;

  Table table = {};
  void *comm = nullptr, *stream = nullptr;
  double timeout = 0;
  int32_t rank = 0;
};

} // namespace mhcrt

#endif // MHCRT_TRAIN_NCCL_H
