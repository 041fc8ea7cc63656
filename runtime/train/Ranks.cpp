//===- Ranks.cpp - The ranks of a training run ------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Ranks.h"
#include "src/LibraryFile.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

using namespace mhcrt;

/// How many processes the launcher started: Open MPI's mpirun, one that speaks PMI, or srun.
static int64_t startedRanks() {
  for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char *text = std::getenv(name))
      return std::atoll(text);
  return 1;
}

bool Ranks::load(std::string &error) {
  // MPI opens parts of itself later, which need its symbols.
  void *const library = dlopen("libmhcrt_mpi.so", RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    error = std::string("several ranks need MPI: ") + dlerror();
    return false;
  }
  std::string missing;
  resolve(library, "mhcrt_comm_create", table.create, missing);
  resolve(library, "mhcrt_comm_destroy", table.destroy, missing);
  resolve(library, "mhcrt_comm_abort", table.abort, missing);
  resolve(library, "mhcrt_comm_rank", table.rank, missing);
  resolve(library, "mhcrt_comm_ranks", table.ranks, missing);
  resolve(library, "mhcrt_comm_sent_bytes", table.sentBytes, missing);
  resolve(library, "mhcrt_comm_gather", table.gather, missing);
  resolve(library, "mhcrt_comm_broadcast", table.broadcast, missing);
  resolve(library, "mhcrt_comm_sum", table.sum, missing);
  resolve(library, "mhcrt_comm_send", table.send, missing);
  resolve(library, "mhcrt_comm_receive", table.receive, missing);
  resolve(library, "mhcrt_comm_all_gather", table.allGather, missing);
  resolve(library, "mhcrt_comm_reduce_scatter", table.reduceScatter, missing);
  if (!missing.empty())
    error = "'libmhcrt_mpi.so' does not export " + missing;
  return missing.empty();
}

/// The number of this process among those on its machine, or -1.
static int64_t localRank() {
  for (const char *name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const char *text = std::getenv(name))
      return std::atoll(text);
  return -1;
}

bool Ranks::chooseGpu(std::string &error) const {
  const int64_t place = localRank();
  if (ranks == 1 || place < 0)
    return true;
  const char *const given = std::getenv("CUDA_VISIBLE_DEVICES");
  std::string chosen = std::to_string(place);
  if (given) {
    std::stringstream list(given);
    std::vector<std::string> devices;
    for (std::string device; std::getline(list, device, ',');)
      devices.push_back(device);
    if (devices.size() < 2) // the caller chose one for this process, or none
      return true;
    if (place >= static_cast<int64_t>(devices.size())) {
      error = "'CUDA_VISIBLE_DEVICES' is '" + std::string(given) + "': found " + std::to_string(devices.size()) +
              " GPUs, needed at least " + std::to_string(place + 1) + ", one for each rank of the machine";
      return false;
    }
    chosen = devices[place];
  }
  setenv("CUDA_VISIBLE_DEVICES", chosen.c_str(), /*overwrite=*/1);
  return true;
}

bool Ranks::open(double timeout, std::string &error) {
  if (startedRanks() == 1)
    return true;
  mhcrt_message message;
  if (!load(error) || !check(table.create(timeout, &comm, &message), message, "the start", error))
    return false;
  number = table.rank(comm);
  ranks = table.ranks(comm);
  return true;
}

void Ranks::end() {
  constexpr int32_t kError = 2;
  table.abort(comm, kError);
}

Ranks::~Ranks() {
  if (comm && isBroken) // others may wait for this rank
    end();
  else if (comm)
    table.destroy(comm);
}

bool Ranks::check(mhcrt_status status, const mhcrt_message &message, const char *what, std::string &error) {
  if (status == MHCRT_OK)
    return true;
  isAlone = status == MHCRT_UNAVAILABLE;
  isBroken = !isAlone;
  // The first error is the reason for those behind it.
  error += (error.empty() ? "" : "; ") + std::string(what) + ": " + message.text;
  return false;
}

namespace {
/// Tells the other ranks how one does.
struct Report {
  double value;
  int64_t failed;
  char error[1008];
};
} // namespace

bool Ranks::agree(bool good, double &value, std::string &error) {
  if (ranks == 1 || isBroken || isOver)
    return good;
  enum { Good, Failed, LeftAlone };
  Report own = {value, good ? Good : isAlone ? LeftAlone : Failed, ""};
  std::snprintf(own.error, sizeof(own.error), "%s", error.c_str());
  std::vector<Report> all(ranks);
  mhcrt_message message;
  if (!check(table.gather(comm, &own, all.data(), sizeof(Report), &message), message, "a report of all ranks", error))
    return false;
  value = 0;
  for (const Report &report : all)
    value += report.value / ranks;
  auto first = [&](int64_t kind) {
    return std::find_if(all.begin(), all.end(), [&](const Report &report) { return report.failed == kind; });
  };
  auto failed = first(Failed);
  if (failed == all.end())
    failed = first(LeftAlone);
  if (failed == all.end())
    return true;
  isOver = true;
  error = "rank " + std::to_string(failed - all.begin()) + ": " + failed->error;
  return false;
}

bool Ranks::agree(bool good, std::string &error) {
  double none = 0;
  return agree(good, none, error);
}

bool Ranks::agreeOn(const std::vector<uint64_t> &values, const std::vector<const char *> &what, std::string &error) {
  if (ranks == 1)
    return true;
  const auto bytes = static_cast<int64_t>(values.size() * sizeof(uint64_t));
  std::vector<uint64_t> all(values.size() * ranks);
  mhcrt_message message;
  if (!check(table.gather(comm, values.data(), all.data(), bytes, &message), message, "what ranks work on", error))
    return false;
  for (size_t i = values.size(); i < all.size(); ++i) {
    const size_t which = i % values.size();
    if (all[i] == all[which])
      continue;
    isOver = true;
    error = "rank " + std::to_string(i / values.size()) + " has other " + what[which] + " than rank 0; needed the same";
    return false;
  }
  return true;
}

bool Ranks::gather(const void *own, void *all, int64_t bytes, std::string &error) {
  mhcrt_message message;
  return check(table.gather(comm, own, all, bytes, &message), message, "what ranks tell each other", error);
}

bool Ranks::send(int32_t to, const HostTensor &tensor, std::string &error) {
  mhcrt_message message;
  const mhcrt_status status = table.send(comm, to, tensor.data(), tensor.bytes(), &message);
  return check(status, message, "a value for another stage", error);
}

bool Ranks::receive(int32_t from, HostTensor &tensor, std::string &error) {
  mhcrt_message message;
  const mhcrt_status status = table.receive(comm, from, tensor.data(), tensor.bytes(), &message);
  return check(status, message, "a value of another stage", error);
}

bool Ranks::broadcast(mhcrt_comm_group group, void *data, int64_t bytes, std::string &error) {
  mhcrt_message message;
  return group.count == 1 ||
         check(table.broadcast(comm, group, data, bytes, &message), message, "the state of another rank", error);
}

bool Ranks::sum(mhcrt_comm_group group, float *values, int64_t count, std::string &error) {
  mhcrt_message message;
  return group.count == 1 ||
         check(table.sum(comm, group, values, count, &message), message, "the sum of gradients", error);
}

bool Ranks::allGather(mhcrt_comm_group group, const void *own, void *all, int64_t bytes, std::string &error) {
  mhcrt_message message;
  return check(table.allGather(comm, group, own, all, bytes, &message), message, "tensors of tensor-parallel ranks",
               error);
}

bool Ranks::reduceScatter(mhcrt_comm_group group, const void *all, void *own, int64_t count, int32_t dtype,
                          std::string &error) {
  mhcrt_message message;
  return check(table.reduceScatter(comm, group, all, own, count, dtype, &message), message,
               "sums over tensor-parallel ranks", error);
}

uint64_t mhcrt::hashOf(const std::string &bytes) {
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (const char byte : bytes)
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}
