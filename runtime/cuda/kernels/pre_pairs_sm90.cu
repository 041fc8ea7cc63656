//===- pre_pairs_sm90.cu - pre of two streams in one launch ---------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RingKernel.cuh has formula, plan and rounding. Two streams are four of half the channels, of which each h_pre weighs
// two, and u has two halves. x is read once: 6C bytes a token.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/Elementwise.h"
#include "cuda/kernels/Pre.h"
#include "cuda/ring/RingLaunch.cuh"

using namespace mhcrt;

bool mhcrt::prePairsTakes(const PreArgs &a, Needs &needs) {
  return ringTakes(a, needs) &&
         needs.that(a.res_map != MHCRT_RES_MAP_PERMUTATION, "another residual map than permutations") &&
         needs.aligned({a.u, a.h_res}) && pairsAreAligned(needs, a.n, a.h_post) &&
         needs.that(a.solver != MHCRT_SOLVER_NEWTON, "another solver than Newton's") &&
         ringHasRoom<true, true>(ringWidth(a.n, a.C), needs);
}

cudaError_t mhcrt::prePairs(const PreArgs &a, uint32_t *counter, cudaStream_t stream) {
  return launchRingOf<true, true>(ringArgsOfPre(a), nullptr, counter, stream);
}
