//===- Nccl.cpp - Collectives of GPUs ---------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header of NCCL is not needed: these few functions have not changed in NCCL 2.
//
//===------------------------------------------------------------------------===//
#include "Nccl.h"
#include "src/LibraryFile.h"

#include <cstdlib>
#include <vector>

using namespace mhcrt;

// Numbers of nccl.h.
static constexpr int kByte = 0, kFloat = 7, kBf16 = 9, kSum = 0;

bool Nccl::isThere() {
  void *const nccl = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  std::string missing;
  return nccl && resolve(nccl, "ncclGetUniqueId", table.getId, missing) &&
         resolve(nccl, "ncclCommInitRank", table.init, missing) &&
         resolve(nccl, "ncclAllReduce", table.allReduce, missing) &&
         resolve(nccl, "ncclAllGather", table.allGather, missing) &&
         resolve(nccl, "ncclReduceScatter", table.reduceScatter, missing) &&
         resolve(nccl, "ncclGroupStart", table.groupBegin, missing) &&
         resolve(nccl, "ncclGroupEnd", table.groupEnd, missing) && resolve(nccl, "ncclSend", table.send, missing) &&
         resolve(nccl, "ncclRecv", table.receive, missing) && resolve(nccl, "ncclCommAbort", table.abort, missing) &&
         resolve(nccl, "ncclGetErrorString", table.errorText, missing);
}

bool Nccl::check(int code, const char *what, std::string &error) const {
  if (code == 0)
    return true;
  error = std::string(what) + ": NCCL says '" + table.errorText(code) + "'";
  return false;
}

bool Nccl::open(Ranks &ranks, mhcrt_comm_group group, std::string &error) {
  // One algorithm has one order of sums. The caller may choose another.
  setenv("NCCL_ALGO", "Ring", /*overwrite=*/0);
  setenv("NCCL_PROTO", "Simple", /*overwrite=*/0);
  Id id = {};
  std::vector<Id> ids(ranks.count());
  const int32_t rank = ranks.rank();
  const bool good = isThere() && (rank != group.first || check(table.getId(&id), "the start of NCCL", error));
  return ranks.agree(good, error) && ranks.gather(&id, ids.data(), sizeof(Id), error) &&
         check(table.init(&comm, group.count, ids[group.first], (rank - group.first) / group.stride),
               "the start of NCCL", error) &&
         gpu.makeStream(own, error);
}

/// Without a handshake: other ranks may be gone.
Nccl::~Nccl() {
  if (comm)
    table.abort(comm);
}

/// Ids, which are only sent, have the size of a float.
static int typeOf(int32_t dtype) { return dtype == MHCRT_BF16 ? kBf16 : kFloat; }

bool Nccl::allGather(const void *from, void *all, int64_t count, int32_t dtype, void *on, std::string &error) {
  return check(table.allGather(from, all, count, typeOf(dtype), comm, on), "tensors of tensor-parallel ranks", error);
}

bool Nccl::reduceScatter(const void *all, void *to, int64_t count, int32_t dtype, void *on, std::string &error) {
  return check(table.reduceScatter(all, to, count, typeOf(dtype), kSum, comm, on), "sums over tensor-parallel ranks",
               error);
}

bool Nccl::allReduce(const void *from, void *to, int64_t count, void *on, std::string &error) {
  return check(table.allReduce(from, to, count, kFloat, kSum, comm, on), "the sum of gradients", error);
}

bool Nccl::send(const void *data, int64_t bytes, int32_t to, std::string &error) {
  return check(table.send(data, bytes, kByte, to, comm, own), "a value for another stage", error);
}

bool Nccl::receive(void *data, int64_t bytes, int32_t from, std::string &error) {
  return check(table.receive(data, bytes, kByte, from, comm, own), "a value of another stage", error);
}
