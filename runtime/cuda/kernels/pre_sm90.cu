//===- pre_sm90.cu - pre in one launch, on clusters of blocks -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RingKernel.cuh has formula, plan and rounding. x is read once: 10C bytes a token, 4C where its streams are equal.
// Other forms of x have files of their own.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/Pre.h"
#include "cuda/ring/RingLaunch.cuh"

using namespace mhcrt;

static constexpr PreForm kPreFour = kRingPre<RingForm::four>;

static const PreForm &formOf(const PreArgs &a) {
  const bool isLast = a.layout == MHCRT_LAYOUT_CN;
  if (a.x_type == MHCRT_F32)
    return isLast ? kPreF32Last : kPreF32;
  if (a.n == 2)
    return kPrePairs;
  return isLast ? kPreLast : kPreFour;
}

bool mhcrt::preSm90Takes(const PreArgs &a, Needs &needs) { return formOf(a).takes(a, needs); }

int64_t mhcrt::preSm90Bytes(const PreArgs &a) { return formOf(a).bytes(a); }

cudaError_t mhcrt::preSm90(const PreArgs &a, void *scratch, uint32_t *counter, cudaStream_t stream) {
  return formOf(a).launch(a, scratch, counter, stream);
}
