//===- pre_sm90.cu - pre in one launch, on clusters of blocks -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RingKernel.cuh has formula, plan and rounding. x is read once: 10C bytes a token, 4C where its streams are equal.
// Calls of two streams are those of pre_pairs_sm90.cu.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/Pre.h"
#include "cuda/ring/RingLaunch.cuh"

using namespace mhcrt;

bool mhcrt::preSm90Takes(const PreArgs &a, Needs &needs) {
  if (a.n == 2)
    return prePairsTakes(a, needs);
  return ringTakes(a, needs) && ringTakesGates(a, needs) && ringHasRoom<true>(a.C, needs);
}

int64_t mhcrt::preSm90Bytes(const PreArgs &a) { return a.n == 2 ? 0 : ringBytes<true>(a.M, a.C); }

cudaError_t mhcrt::preSm90(const PreArgs &a, void *scratch, uint32_t *counter, cudaStream_t stream) {
  return a.n == 2 ? prePairs(a, counter, stream)
                  : launchRingOf<true>(ringArgsOfPre(a), scratch, counter, stream, a.equal_x != 0);
}
