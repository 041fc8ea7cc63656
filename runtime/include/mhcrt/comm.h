//===- comm.h - Ranks that compute together ------------------------*- C -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C99 interface to a communicator: processes, called ranks, that hand data to each other. libmhcrt_mpi.so has these
// functions on MPI, and is opened only by a program that mpirun or srun has started. All ranks make the same calls in
// the same order.
//
// A call waits for the other ranks for at most the time that mhcrt_comm_create was given; the message then names those
// that did not come. After an error but MHCRT_UNAVAILABLE nothing but mhcrt_comm_abort is of use.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_COMM_H
#define MHCRT_COMM_H

#include "mhcrt/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mhcrt_comm mhcrt_comm;

/// `count` ranks, each `stride` behind the one before; below 0, in front of it.
typedef struct mhcrt_comm_group {
  int32_t first, stride, count;
} mhcrt_comm_group;

/// All ranks that were started together. Once in a process.
mhcrt_status mhcrt_comm_create(double timeout_seconds, mhcrt_comm **comm, mhcrt_message *message);
/// After the last call of all ranks. Null is no communicator.
void mhcrt_comm_destroy(mhcrt_comm *comm);
/// Ends all ranks, this one included.
void mhcrt_comm_abort(mhcrt_comm *comm, int32_t exit_status);

int32_t mhcrt_comm_rank(const mhcrt_comm *comm);
int32_t mhcrt_comm_ranks(const mhcrt_comm *comm);
/// Bytes that this rank has sent, without those of mhcrt_comm_gather and mhcrt_comm_broadcast.
int64_t mhcrt_comm_sent_bytes(const mhcrt_comm *comm);

/// `all` gets the bytes of each rank, in the order of the ranks.
mhcrt_status mhcrt_comm_gather(mhcrt_comm *comm, const void *own, void *all, int64_t bytes, mhcrt_message *message);

// Calls below, but for a broadcast, are MHCRT_UNAVAILABLE where a rank that is waited for calls mhcrt_comm_gather
// instead, as one does whose step has failed: that is then the next call of this one, too.

/// To one rank, which receives as many bytes. The data may be overwritten at once.
mhcrt_status mhcrt_comm_send(mhcrt_comm *comm, int32_t to, const void *data, int64_t bytes, mhcrt_message *message);
mhcrt_status mhcrt_comm_receive(mhcrt_comm *comm, int32_t from, void *data, int64_t bytes, mhcrt_message *message);

// Between the ranks of a group, of which this one is one.

/// The first rank gives its bytes to the others.
mhcrt_status mhcrt_comm_broadcast(mhcrt_comm *comm, mhcrt_comm_group group, void *data, int64_t bytes,
                                  mhcrt_message *message);

/// Each value becomes its sum over the ranks, added in the order of the ranks: the same bits everywhere and each time.
mhcrt_status mhcrt_comm_sum(mhcrt_comm *comm, mhcrt_comm_group group, float *values, int64_t count,
                            mhcrt_message *message);
/// `all` gets the bytes of each rank, in the order of the ranks.
mhcrt_status mhcrt_comm_all_gather(mhcrt_comm *comm, mhcrt_comm_group group, const void *own, void *all, int64_t bytes,
                                   mhcrt_message *message);
/// `all` has `count` values for each rank, in their order; `own` gets the sums of those for this one. They are f32 or
/// bf16, and are added in f32, in the order of the ranks.
mhcrt_status mhcrt_comm_reduce_scatter(mhcrt_comm *comm, mhcrt_comm_group group, const void *all, void *own,
                                       int64_t count, int32_t dtype, mhcrt_message *message);

#ifdef __cplusplus
}
#endif

#endif // MHCRT_COMM_H
