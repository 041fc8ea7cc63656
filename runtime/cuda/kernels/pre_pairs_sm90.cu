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

static bool takes(const PreArgs &a, Needs &needs) {
  return ringTakesMap(a, needs) && ringTakes(a, needs) &&
         needs.that(a.layout == MHCRT_LAYOUT_NC, "the layout [M,n,C]") && needs.aligned({a.u, a.h_res}) &&
         pairsAreAligned(needs, a.n, a.h_post) &&
         needs.that(a.solver != MHCRT_SOLVER_NEWTON, "another solver than Newton's") &&
         ringHasRoom<true, RingForm::pairs>(ringWidth(a.n, a.C), needs);
}

const PreForm mhcrt::kPrePairs = {takes, [](const PreArgs &) { return int64_t{0}; },
                                  [](const PreArgs &a, void *, uint32_t *counter, cudaStream_t stream) {
                                    return launchRingOf<true, RingForm::pairs>(ringArgsOfPre(a), nullptr, counter,
                                                                               stream);
                                  }};
