//===- Mpi.cpp - A communicator on MPI --------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything is sent from rank to rank, without MPI's collectives: the order of a sum is then ours, and a rank that
// waits knows whom it waits for.
//
//===------------------------------------------------------------------------===//
#include "mhcrt/comm.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <list>
#include <mpi.h>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {
/// Data on its way to another rank.
struct Sent {
  std::vector<char> data;
  MPI_Request request;
};
} // namespace

struct mhcrt_comm {
  int rank = 0, ranks = 1;
  double timeout = 0;
  std::vector<float> parts; ///< of the other ranks, in a sum
  std::list<Sent> sent;
  int64_t sentBytes = 0; ///< without reports and starts
};

static constexpr int64_t kTriesBetweenProbes = 64;
static constexpr int64_t kMostBytes = int64_t(1) << 30; // MPI counts with an int

static mhcrt_status fail(mhcrt_message *message, const std::string &text) {
  if (message)
    std::snprintf(message->text, sizeof(message->text), "%s", text.c_str());
  return MHCRT_DEVICE_ERROR;
}

static std::string reasonOf(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

namespace {
/// Messages on their way, with the rank at the other end of each.
class Transfers {
public:
  /// Ranks that do different things do not take each other's messages.
  enum Kind { Gather, Broadcast, Value, Part, Sum, Tokens, Shares };

  Transfers(mhcrt_comm &comm, Kind kind) : comm(comm), kind(kind) {}

  void send(int to, const void *data, int64_t bytes) {
    comm.sentBytes += kind >= Part ? bytes : 0;
    note(to, MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, kind, MPI_COMM_WORLD, add(to)));
  }
  void receive(int from, void *data, int64_t bytes) {
    note(from, MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, kind, MPI_COMM_WORLD, add(from)));
  }
  /// Receives a message once it is on its way, so that a rank of which none is can be told from one that is slow.
  void expect(int from, void *data, int64_t bytes) { expected = {from, data, bytes}; }
  /// Until all are there, or the time is over.
  mhcrt_status wait(mhcrt_message *message);

private:
  struct Expected {
    int from;
    void *data;
    int64_t bytes;
  };

  MPI_Request *add(int peer) {
    peers.push_back(peer);
    requests.push_back(MPI_REQUEST_NULL);
    return &requests.back();
  }
  void note(int peer, int code) {
    if (code != MPI_SUCCESS && error.empty())
      error = "rank " + std::to_string(peer) + ": " + reasonOf(code);
  }
  /// Whether a message is to be received.
  bool isThere(int from, Kind wanted) {
    int found = 0;
    note(from, MPI_Iprobe(from, wanted, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
    return found;
  }
  /// Whether nothing is on its way any more.
  bool isDone() {
    if (expected && isThere(expected->from, kind)) {
      receive(expected->from, expected->data, expected->bytes);
      expected.reset();
    }
    int all = !expected;
    for (size_t i = 0; i < requests.size(); ++i) {
      int done = 1;
      note(peers[i], MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE));
      all = all && done;
    }
    return all;
  }
  std::vector<int> missing() const {
    std::vector<bool> isMissing(comm.ranks);
    for (size_t i = 0; i < requests.size(); ++i)
      isMissing[peers[i]] = isMissing[peers[i]] || requests[i] != MPI_REQUEST_NULL;
    if (expected)
      isMissing[expected->from] = true;
    std::vector<int> all;
    for (int rank = 0; rank < comm.ranks; ++rank)
      if (isMissing[rank])
        all.push_back(rank);
    return all;
  }
  /// A rank that makes its next report while others wait for it within a step will not come: the rank, or -1.
  int absentee() {
    if (kind < Value)
      return -1;
    for (const int rank : missing()) {
      if (!isThere(rank, Gather) || isDone()) // what it had sent before is there by now, or a value on its way
        continue;
      const std::vector<int> left = missing();
      if ((kind != Value || expected) && std::find(left.begin(), left.end(), rank) != left.end())
        return rank;
    }
    return -1;
  }
  /// Nothing is waited for any more.
  void drop() {
    for (MPI_Request &request : requests)
      if (request != MPI_REQUEST_NULL) {
        MPI_Cancel(&request);
        MPI_Request_free(&request);
      }
  }

  mhcrt_comm &comm;
  const Kind kind;
  std::vector<int> peers;
  std::vector<MPI_Request> requests;
  std::optional<Expected> expected;
  std::string error;
};
} // namespace

mhcrt_status Transfers::wait(mhcrt_message *message) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  // A rank that waits long leaves its core to those that compute.
  for (int64_t tries = 0; error.empty() && !isDone(); ++tries) {
    if (std::chrono::duration<double>(Clock::now() - begin).count() > comm.timeout) {
      char seconds[32];
      std::snprintf(seconds, sizeof(seconds), "%g", comm.timeout);
      std::string ranks;
      for (const int rank : missing())
        ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
      return fail(message, "rank " + std::to_string(comm.rank) + " waited " + seconds + " s for rank " + ranks);
    }
    if (const int rank = tries % kTriesBetweenProbes ? -1 : absentee(); rank >= 0) {
      drop();
      fail(message, "rank " + std::to_string(rank) + " does not come");
      return MHCRT_UNAVAILABLE;
    }
    if (tries > 1000)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return error.empty() ? MHCRT_OK : fail(message, error);
}

/// Calls `step` for pieces of a size that MPI can count.
template <typename Step>
static mhcrt_status inPieces(int64_t bytes, Step step) {
  for (int64_t begin = 0; begin < bytes; begin += kMostBytes)
    if (const mhcrt_status status = step(begin, std::min(kMostBytes, bytes - begin)))
      return status;
  return MHCRT_OK;
}

namespace {
/// The ranks of a group by their places in it, and this rank's own.
struct Members {
  Members(const mhcrt_comm &comm, mhcrt_comm_group group)
      : group(group), count(group.count), own((comm.rank - group.first) / group.stride) {}
  int rankOf(int place) const { return group.first + place * group.stride; }

  const mhcrt_comm_group group;
  const int count, own;
};
} // namespace

/// Each rank adds up one part of the values and hands the sums to the others: 2 (ranks - 1) / ranks of the values are
/// sent and received by each, as in a ring.
static mhcrt_status sumPiece(mhcrt_comm &comm, const Members &members, float *values, int64_t count,
                             mhcrt_message *message) {
  const int64_t width = (count + members.count - 1) / members.count;
  auto beginOf = [&](int place) { return std::min(count, place * width); };
  auto bytesOf = [&](int place) { return (beginOf(place + 1) - beginOf(place)) * int64_t(sizeof(float)); };
  float *const own = values + beginOf(members.own);
  const int64_t ownBytes = bytesOf(members.own), ownCount = ownBytes / int64_t(sizeof(float));
  comm.parts.resize(ownCount * members.count);

  Transfers parts(comm, Transfers::Part);
  for (int other = 0; other < members.count; ++other) {
    float *const part = comm.parts.data() + other * ownCount;
    if (other == members.own) {
      std::memcpy(part, own, ownBytes);
    } else {
      parts.receive(members.rankOf(other), part, ownBytes);
      parts.send(members.rankOf(other), values + beginOf(other), bytesOf(other));
    }
  }
  if (const mhcrt_status status = parts.wait(message))
    return status;
  std::copy_n(comm.parts.data(), ownCount, own);
  for (int other = 1; other < members.count; ++other)
    for (int64_t i = 0; i < ownCount; ++i)
      own[i] += comm.parts[other * ownCount + i];

  Transfers sums(comm, Transfers::Sum);
  for (int other = 0; other < members.count; ++other)
    if (other != members.own) {
      sums.receive(members.rankOf(other), values + beginOf(other), bytesOf(other));
      sums.send(members.rankOf(other), own, ownBytes);
    }
  return sums.wait(message);
}

static float toFloat(float value) { return value; }
static float toFloat(uint16_t bf16) {
  const uint32_t bits = uint32_t(bf16) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

static void assign(float &to, float value) { to = value; }
/// The nearest bf16, of two the even one.
static void assign(uint16_t &to, float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const bool isNan = (bits & 0x7fffffff) > 0x7f800000;
  to = static_cast<uint16_t>(isNan ? bits >> 16 | 64 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Values [begin, begin + count) of `width` for each rank.
template <typename Element>
static mhcrt_status scatterPiece(mhcrt_comm &comm, const Members &members, const Element *all, Element *own,
                                 int64_t width, int64_t begin, int64_t count, mhcrt_message *message) {
  const int64_t bytes = count * int64_t(sizeof(Element));
  comm.parts.resize((bytes * members.count + sizeof(float) - 1) / sizeof(float));
  auto *const parts = reinterpret_cast<Element *>(comm.parts.data());
  Transfers shares(comm, Transfers::Shares);
  for (int other = 0; other < members.count; ++other)
    if (other != members.own) {
      shares.receive(members.rankOf(other), parts + other * count, bytes);
      shares.send(members.rankOf(other), all + other * width + begin, bytes);
    }
  if (const mhcrt_status status = shares.wait(message))
    return status;
  std::memcpy(parts + members.own * count, all + members.own * width + begin, bytes);
  for (int64_t i = 0; i < count; ++i) {
    float sum = toFloat(parts[i]);
    for (int other = 1; other < members.count; ++other)
      sum += toFloat(parts[other * count + i]);
    assign(own[begin + i], sum);
  }
  return MHCRT_OK;
}

template <typename Element>
static mhcrt_status reduceScatter(mhcrt_comm &comm, const Members &members, const void *all, void *own, int64_t width,
                                  mhcrt_message *message) {
  constexpr int64_t kSize = sizeof(Element);
  return inPieces(width * kSize, [&](int64_t begin, int64_t bytes) {
    return scatterPiece(comm, members, static_cast<const Element *>(all), static_cast<Element *>(own), width,
                        begin / kSize, bytes / kSize, message);
  });
}

extern "C" {

mhcrt_status mhcrt_comm_create(double timeout_seconds, mhcrt_comm **comm, mhcrt_message *message) {
  *comm = nullptr;
  if (const int code = MPI_Init(nullptr, nullptr); code != MPI_SUCCESS)
    return fail(message, "MPI cannot start: " + reasonOf(code));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  *comm = new mhcrt_comm;
  (*comm)->timeout = timeout_seconds;
  MPI_Comm_rank(MPI_COMM_WORLD, &(*comm)->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &(*comm)->ranks);
  return MHCRT_OK;
}

void mhcrt_comm_destroy(mhcrt_comm *comm) {
  if (!comm)
    return;
  MPI_Finalize();
  delete comm;
}

void mhcrt_comm_abort(mhcrt_comm *, int32_t exit_status) { MPI_Abort(MPI_COMM_WORLD, exit_status); }

int32_t mhcrt_comm_rank(const mhcrt_comm *comm) { return comm->rank; }
int32_t mhcrt_comm_ranks(const mhcrt_comm *comm) { return comm->ranks; }
int64_t mhcrt_comm_sent_bytes(const mhcrt_comm *comm) { return comm->sentBytes; }

mhcrt_status mhcrt_comm_gather(mhcrt_comm *comm, const void *own, void *all, int64_t bytes, mhcrt_message *message) {
  auto *const to = static_cast<char *>(all);
  std::memcpy(to + comm->rank * bytes, own, bytes);
  return inPieces(bytes, [&](int64_t begin, int64_t size) {
    Transfers transfers(*comm, Transfers::Gather);
    for (int other = 0; other < comm->ranks; ++other)
      if (other != comm->rank) {
        transfers.receive(other, to + other * bytes + begin, size);
        transfers.send(other, static_cast<const char *>(own) + begin, size);
      }
    return transfers.wait(message);
  });
}

mhcrt_status mhcrt_comm_broadcast(mhcrt_comm *comm, mhcrt_comm_group group, void *data, int64_t bytes,
                                  mhcrt_message *message) {
  const Members members(*comm, group);
  return inPieces(bytes, [&](int64_t begin, int64_t size) {
    Transfers transfers(*comm, Transfers::Broadcast);
    char *const piece = static_cast<char *>(data) + begin;
    if (members.own != 0)
      transfers.receive(group.first, piece, size);
    else
      for (int other = 1; other < members.count; ++other)
        transfers.send(members.rankOf(other), piece, size);
    return transfers.wait(message);
  });
}

mhcrt_status mhcrt_comm_send(mhcrt_comm *comm, int32_t to, const void *data, int64_t bytes, mhcrt_message *message) {
  comm->sent.remove_if([](Sent &sent) {
    int done = 1;
    return MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done;
  });
  comm->sentBytes += bytes;
  return inPieces(bytes, [&](int64_t begin, int64_t size) {
    try {
      const char *const from = static_cast<const char *>(data) + begin;
      comm->sent.push_back({std::vector<char>(from, from + size), MPI_REQUEST_NULL});
    } catch (const std::bad_alloc &) {
      fail(message, "no memory to send " + std::to_string(size) + " bytes");
      return MHCRT_OUT_OF_MEMORY;
    }
    Sent &sent = comm->sent.back();
    const int code = MPI_Isend(sent.data.data(), static_cast<int>(size), MPI_BYTE, to, Transfers::Value, MPI_COMM_WORLD,
                               &sent.request);
    return code == MPI_SUCCESS ? MHCRT_OK : fail(message, "rank " + std::to_string(to) + ": " + reasonOf(code));
  });
}

mhcrt_status mhcrt_comm_receive(mhcrt_comm *comm, int32_t from, void *data, int64_t bytes, mhcrt_message *message) {
  return inPieces(bytes, [&](int64_t begin, int64_t size) {
    Transfers transfers(*comm, Transfers::Value);
    transfers.expect(from, static_cast<char *>(data) + begin, size);
    return transfers.wait(message);
  });
}

mhcrt_status mhcrt_comm_sum(mhcrt_comm *comm, mhcrt_comm_group group, float *values, int64_t count,
                            mhcrt_message *message) {
  constexpr int64_t kWidth = sizeof(float);
  const Members members(*comm, group);
  try {
    return inPieces(count * kWidth, [&](int64_t begin, int64_t size) {
      return sumPiece(*comm, members, values + begin / kWidth, size / kWidth, message);
    });
  } catch (const std::bad_alloc &) {
    fail(message, "no memory to add up " + std::to_string(count) + " values of other ranks");
    return MHCRT_OUT_OF_MEMORY;
  }
}

mhcrt_status mhcrt_comm_all_gather(mhcrt_comm *comm, mhcrt_comm_group group, const void *own, void *all, int64_t bytes,
                                   mhcrt_message *message) {
  const Members members(*comm, group);
  auto *const to = static_cast<char *>(all);
  std::memcpy(to + members.own * bytes, own, bytes);
  return inPieces(bytes, [&](int64_t begin, int64_t size) {
    Transfers tokens(*comm, Transfers::Tokens);
    for (int other = 0; other < members.count; ++other)
      if (other != members.own) {
        tokens.receive(members.rankOf(other), to + other * bytes + begin, size);
        tokens.send(members.rankOf(other), static_cast<const char *>(own) + begin, size);
      }
    return tokens.wait(message);
  });
}

mhcrt_status mhcrt_comm_reduce_scatter(mhcrt_comm *comm, mhcrt_comm_group group, const void *all, void *own,
                                       int64_t count, int32_t dtype, mhcrt_message *message) {
  const Members members(*comm, group);
  try {
    if (dtype == MHCRT_F32)
      return reduceScatter<float>(*comm, members, all, own, count, message);
    if (dtype == MHCRT_BF16)
      return reduceScatter<uint16_t>(*comm, members, all, own, count, message);
  } catch (const std::bad_alloc &) {
    fail(message, "no memory to add up " + std::to_string(count) + " values of other ranks");
    return MHCRT_OUT_OF_MEMORY;
  }
  fail(message, "values of dtype " + std::to_string(dtype) + "; needed f32 or bf16");
  return MHCRT_INVALID_ARGUMENT;
}

} // extern "C"
