//===- Nccl.h - Sums over GPUs ---------------------------------- -*- C++ -*-===//
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

/// NCCL between the ranks, each with one GPU, on a stream of its own. Its libraries are opened when they are needed.
class Nccl {
public:
  Nccl() = default;
  Nccl(const Nccl &) = delete;
  Nccl &operator=(const Nccl &) = delete;
  ~Nccl();

  /// Whether its libraries are on this machine.
  bool isThere();
  /// Connects the ranks. A context of the GPU must be current.
  bool open(Ranks &ranks, double timeout, std::string &error);
  bool isOpen() const { return comm; }
  /// The values, in memory of the GPU, become their sums over the ranks. What computes them must have ended.
  bool sum(void *values, int64_t count, std::string &error);

private:
  struct Id {
    char bytes[128];
  };
  struct Table {
    int (*getId)(Id *);
    int (*init)(void **comm, int ranks, Id id, int rank);
    int (*allReduce)(const void *from, void *to, size_t count, int type, int op, void *comm, void *stream);
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
