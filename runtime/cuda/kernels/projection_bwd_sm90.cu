//===- projection_bwd_sm90.cu - projection_bwd's row for Hopper -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Context.h"
#include "cuda/kernels/ProjectionBwd.h"

using namespace mhcrt;

static ProjectionBwdOperands operandsOf(const ProjectionBwdArgs &a) {
  auto floats = [](const void *p) { return static_cast<const float *>(p); };
  ProjectionBwdOperands to = {};
  to.dProj = floats(a.d_proj), to.dStat = floats(a.d_stat), to.x = a.x, to.phi = a.phi, to.weight = a.norm_weight;
  to.stat = floats(a.stat), to.dxIn = a.d_x_in, to.dPhiIn = floats(a.d_phi_in);
  to.dWeightIn = floats(a.d_norm_weight_in), to.dx = a.d_x;
  to.dPhi = static_cast<float *>(a.d_phi), to.dWeight = static_cast<float *>(a.d_norm_weight);
  to.type = a.x_type, to.phiType = a.phi_type, to.weightType = a.norm_weight_type;
  to.dxInType = a.d_x_in_type, to.dxType = a.d_x_type;
  to.M = a.M, to.N = a.N, to.n = a.n, to.C = a.C;
  to.layout = a.layout, to.phiLayout = a.phi_layout, to.norm = a.norm;
  to.normEps = static_cast<float>(a.norm_eps), to.statForm = a.stat_form;
  return to;
}

bool mhcrt::projectionBwdSm90Takes(const ProjectionBwdArgs &args, Needs &needs) {
  return projectionBwdTakes(operandsOf(args), needs);
}

cudaError_t mhcrt::projectionBwdSm90(mhcrt_context &context, const ProjectionBwdArgs &args) {
  const ProjectionBwdOperands operands = operandsOf(args);
  void *scratch = context.reserveScratch("mhcrt_projection_bwd", projectionBwdScratchBytes(operands));
  return scratch ? projectionBwdPasses(operands, scratch, context.multiprocessors, context.stream) : cudaSuccess;
}
