//===- Resident.h - A kernel beside those under test ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_RESIDENT_H
#define MHCRT_TEST_RESIDENT_H

struct CUstream_st;

namespace mhcrt::test {

/// Clusters of 16 blocks that hold their multiprocessors, all of their shared memory in use, while this object lives. A
/// bound on their time keeps a test from hanging that waits for them.
class Resident {
public:
  /// How many there may be; 0 on a GPU without such clusters.
  static int most();

  /// Returns when all of them run.
  explicit Resident(int clusters);
  ~Resident();
  Resident(const Resident &) = delete;
  Resident &operator=(const Resident &) = delete;

  bool runs() const;

private:
  struct Flags;
  Flags *flags = nullptr; ///< on the host, where the kernel sees them
  CUstream_st *stream = nullptr;
};

} // namespace mhcrt::test

#endif // MHCRT_TEST_RESIDENT_H
