//===- projection_sm90.cu - projection, on clusters of blocks -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ring.cuh has formula, plan and rounding; the bits are those of pre's proj. 8C bytes a token.
//
//===------------------------------------------------------------------------===//
#include "Projection.h"
#include "ringLaunch.cuh"

using namespace mhcrt;

static PhiSource phiOf(const ProjectionArgs &a) {
  return {a.phi, a.norm_weight, a.phi_type, a.norm_weight_type, a.phi_layout};
}

bool mhcrt::projectionSm90Takes(const ProjectionArgs &a, Needs &needs) {
  return ringTakesOperands(needs, a.M, a.n, a.N, a.C, a.layout, a.x_type, a.x, phiOf(a));
}

cudaError_t mhcrt::projectionSm90(const ProjectionArgs &a, cudaStream_t stream) {
  RingArgs args = {};
  args.x = a.x;
  args.phi = phiOf(a);
  args.M = a.M;
  args.C = a.C;
  args.norm = a.norm;
  args.normEps = static_cast<float>(a.norm_eps);
  args.proj = static_cast<float *>(a.proj);
  args.stat = static_cast<float *>(a.stat);
  args.statForm = a.stat_form;
  return launchRingOf<false>(args, stream);
}
