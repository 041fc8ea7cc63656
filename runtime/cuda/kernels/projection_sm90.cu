//===- projection_sm90.cu - projection, on clusters of blocks -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RingKernel.cuh has formula, plan and rounding; the bits are those of pre's proj. 8C bytes a token, of two streams 4C.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/Projection.h"
#include "cuda/ring/RingLaunch.cuh"

using namespace mhcrt;

bool mhcrt::projectionSm90Takes(const ProjectionArgs &a, Needs &needs) {
  const int64_t width = ringWidth(a.n, a.C);
  return ringTakes(a, needs) &&
         (a.n == 2 ? ringHasRoom<false, RingForm::pairs>(width, needs) : ringHasRoom<false>(width, needs));
}

int64_t mhcrt::projectionSm90Bytes(const ProjectionArgs &a) { return a.n == 2 ? 0 : ringBytes<false>(a.M, a.C); }

cudaError_t mhcrt::projectionSm90(const ProjectionArgs &a, void *scratch, uint32_t *counter, cudaStream_t stream) {
  RingArgs args = ringArgsOf(a);
  args.statForm = a.stat_form;
  return a.n == 2 ? launchRingOf<false, RingForm::pairs>(args, scratch, counter, stream)
                  : launchRingOf<false>(args, scratch, counter, stream);
}
