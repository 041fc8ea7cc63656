//===- Cases.h - Calls of the kernels on random data ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_CUDA_CASES_H
#define MHCRT_TEST_CUDA_CASES_H

#include "Support.h"
#include "cuda/Needs.h"

namespace mhcrt::test {

/// One tensor that a call writes.
struct Output {
  std::string name;
  Buffer buffer;
  int64_t perToken;
  double limit; ///< of the relative L2 error
};

struct Case {
  std::string name;
  int64_t M, C;
  double bytes; ///< fewest that the call can move
  std::vector<Output> outputs;
  std::function<cudaError_t(int64_t M, cudaStream_t)> launch; ///< on the first tokens
  std::function<std::vector<Buffer>()> reference;             ///< of the outputs, in their order
  std::string takes;                                          ///< why the kernel does not; empty where it does
};

/// Why a variant does not take a call; empty where it does.
template <typename Args>
std::string missOf(bool (*takes)(const Args &, Needs &), const Args &args) {
  Needs needs;
  return takes(args, needs) ? "" : needs.text();
}

/// What varies in calls; a test draws them at random.
struct Options {
  uint64_t seed = 1;
  int32_t type = MHCRT_BF16, phiType = MHCRT_F32, weightType = MHCRT_NONE, biasType = MHCRT_NONE;
  int32_t phiLayout = 0, norm = 0, resMap = 0, init = 0, order = 0, denom = 0, orient = 0, statForm = 0;
  int64_t iters = 20;
  bool foldPre = false, saves = true, wantsDx = false, startsDx = false;
  bool anyArch = false; ///< the variant that older GPUs get
  int multiprocessors = 132;
};

Case preCase(int64_t M, int64_t C, const Options &options);
Case projectionCase(int64_t M, int64_t C, const Options &options);
Case aggregateCase(int64_t M, int64_t C, const Options &options);
Case postCase(int64_t M, int64_t C, const Options &options);
Case postBwdCase(int64_t M, int64_t C, const Options &options);
Case aggregateBwdCase(int64_t M, int64_t C, const Options &options);
Case expandCase(int64_t M, int64_t C, const Options &options);
Case contractCase(int64_t M, int64_t C, const Options &options);

} // namespace mhcrt::test

#endif // MHCRT_TEST_CUDA_CASES_H
