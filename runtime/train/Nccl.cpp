//===- Nccl.cpp - Collectives of GPUs ---------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The headers of NCCL and of the driver are not needed: these few functions have not changed in NCCL 2 and CUDA 11
// to 13.
//
//===------------------------------------------------------------------------===//
#include "Nccl.h"
#include "src/LibraryFile.h"

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace mhcrt;

// Numbers of nccl.h and cuda.h.
static constexpr int kFloat = 7, kBf16 = 9, kSum = 0, kNotReady = 600;
static constexpr unsigned kNonBlocking = 1;

bool Nccl::isThere() {
  void *const nccl = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL), *const cuda = dlopen("libcuda.so.1", RTLD_NOW);
  std::string missing;
  return nccl && cuda && resolve(nccl, "ncclGetUniqueId", table.getId, missing) &&
         resolve(nccl, "ncclCommInitRank", table.init, missing) &&
         resolve(nccl, "ncclAllReduce", table.allReduce, missing) &&
         resolve(nccl, "ncclAllGather", table.allGather, missing) &&
         resolve(nccl, "ncclReduceScatter", table.reduceScatter, missing) &&
         resolve(nccl, "ncclCommAbort", table.abort, missing) &&
         resolve(nccl, "ncclGetErrorString", table.errorText, missing) &&
         resolve(cuda, "cuStreamCreate", table.createStream, missing) &&
         resolve(cuda, "cuStreamQuery", table.queryStream, missing);
}

bool Nccl::check(int code, const char *what, std::string &error) const {
  if (code == 0)
    return true;
  error = std::string(what) + ": NCCL says '" + table.errorText(code) + "'";
  return false;
}

bool Nccl::open(Ranks &ranks, mhcrt_comm_group group, double seconds, std::string &error) {
  timeout = seconds;
  rank = ranks.rank();
  // One algorithm has one order of sums. The caller may choose another.
  setenv("NCCL_ALGO", "Ring", /*overwrite=*/0);
  setenv("NCCL_PROTO", "Simple", /*overwrite=*/0);
  Id own = {};
  std::vector<Id> ids(ranks.count());
  const bool good = rank != group.first || check(table.getId(&own), "the start of NCCL", error);
  if (!ranks.agree(good, error) || !ranks.gather(&own, ids.data(), sizeof(Id), error) ||
      !check(table.init(&comm, group.count, ids[group.first], (rank - group.first) / group.stride), "the start of NCCL",
             error))
    return false;
  if (table.createStream(&stream, kNonBlocking) == 0)
    return true;
  error = "the GPU has no stream for NCCL";
  return false;
}

/// Without a handshake: other ranks may be gone.
Nccl::~Nccl() {
  if (comm)
    table.abort(comm);
}

bool Nccl::sum(void *values, int64_t count, std::string &error) {
  return allReduce(values, values, count, stream, error) && wait(stream, "the sum of gradients", error);
}

static int typeOf(int32_t dtype) { return dtype == MHCRT_BF16 ? kBf16 : kFloat; }

bool Nccl::allGather(const void *own, void *all, int64_t count, int32_t dtype, void *on, std::string &error) {
  return check(table.allGather(own, all, count, typeOf(dtype), comm, on), "tensors of tensor-parallel ranks", error);
}

bool Nccl::reduceScatter(const void *all, void *own, int64_t count, int32_t dtype, void *on, std::string &error) {
  return check(table.reduceScatter(all, own, count, typeOf(dtype), kSum, comm, on), "sums over tensor-parallel ranks",
               error);
}

bool Nccl::allReduce(const void *from, void *to, int64_t count, void *on, std::string &error) {
  return check(table.allReduce(from, to, count, kFloat, kSum, comm, on), "the sum of gradients", error);
}

bool Nccl::wait(void *on, const char *what, std::string &error) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  int code = kNotReady;
  while ((code = table.queryStream(on)) == kNotReady) {
    if (std::chrono::duration<double>(Clock::now() - begin).count() > timeout) {
      error = std::string(what) + ": rank " + std::to_string(rank) + " waited for NCCL for longer than '--timeout'";
      return false;
    }
    std::this_thread::yield();
  }
  if (code != 0)
    error = std::string(what) + ": the GPU of rank " + std::to_string(rank) + " reports error " + std::to_string(code);
  return code == 0;
}
