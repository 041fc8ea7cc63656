//===- pre_f32_sm90.cu - pre of f32 in one launch -------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RingKernel.cuh has formula and plan. x in two bf16 terms, by both of phi: 2^-17 of each number's value; u is of x as
// it is. x is read once: 20C bytes a token, 8C where its streams are equal.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/Pre.h"
#include "cuda/ring/RingLaunch.cuh"

using namespace mhcrt;

static bool isLast(const PreArgs &a) { return a.layout == MHCRT_LAYOUT_CN; }

static bool takes(const PreArgs &a, Needs &needs) {
  return ringTakesF32(a, needs) && needs.that(!(isLast(a) && a.equal_x), "the layout [M,n,C]") &&
         ringTakesGates(a, needs) &&
         (isLast(a) ? ringHasRoom<true, RingForm::f32Last>(a.C, needs) : ringHasRoom<true, RingForm::f32>(a.C, needs));
}

const PreForm mhcrt::kPreF32 = {
    takes,
    [](const PreArgs &a) {
      return isLast(a) ? ringBytes<true, RingForm::f32Last>(a.M, a.C) : ringBytes<true, RingForm::f32>(a.M, a.C);
    },
    [](const PreArgs &a, void *scratch, uint32_t *counter, cudaStream_t stream) {
      const RingArgs args = ringArgsOfPre(a);
      return isLast(a) ? launchRingOf<true, RingForm::f32Last>(args, scratch, counter, stream)
                       : launchRingOf<true, RingForm::f32>(args, scratch, counter, stream, a.equal_x != 0);
    }};
