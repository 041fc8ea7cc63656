//===- pre_bwd_sm90.cu - The row of pre_bwd's table for Hopper ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Context.h"
#include "cuda/kernels/Generic.h"
#include "cuda/kernels/Parts.h"
#include "cuda/kernels/PreBwd.h"

using namespace mhcrt;

PreBwdOperands mhcrt::preBwdOperands(const PreBwdArgs &a) {
  auto floats = [](const void *p) { return static_cast<const float *>(p); };
  PreBwdOperands to = {};
  to.du = a.d_u, to.dhPre = floats(a.d_h_pre), to.dhPost = floats(a.d_h_post), to.dhRes = floats(a.d_h_res);
  to.x = a.x, to.phi = a.phi, to.weight = a.norm_weight;
  to.alpha = floats(a.alpha), to.beta = floats(a.beta), to.proj = floats(a.proj), to.stat = floats(a.stat);
  to.dxIn = a.d_out ? a.d_out : a.d_x_in, to.mix = floats(a.h_res), to.orient = a.orient;
  to.dPhiIn = floats(a.d_phi_in), to.dWeightIn = floats(a.d_norm_weight_in);
  to.dAlphaIn = floats(a.d_alpha_in), to.dBetaIn = floats(a.d_beta_in);
  to.dx = a.d_x, to.dPhi = static_cast<float *>(a.d_phi), to.dWeight = static_cast<float *>(a.d_norm_weight);
  to.dAlpha = static_cast<float *>(a.d_alpha), to.dBeta = static_cast<float *>(a.d_beta);
  to.type = a.x_type, to.phiType = a.phi_type, to.weightType = a.norm_weight_type;
  to.dxInType = a.d_out ? a.d_out_type : a.d_x_in_type, to.dxType = a.d_x_type;
  to.M = a.M, to.C = a.C, to.n = a.n, to.N = a.N;
  to.layout = a.layout, to.phiLayout = a.phi_layout, to.norm = a.norm;
  to.normEps = static_cast<float>(a.norm_eps), to.preEps = static_cast<float>(a.pre_eps);
  to.postMult = static_cast<float>(a.post_mult), to.resMap = a.res_map;
  to.sinkhorn = {a.init, a.order, a.denom, static_cast<float>(a.sk_eps), a.iters, MHCRT_FORMAT_F32, a.solver};
  to.foldPre = a.fold_pre;
  to.hPreFormat = static_cast<int32_t>(a.h_pre_format), to.hPostFormat = static_cast<int32_t>(a.h_post_format);
  to.logitsFormat = static_cast<int32_t>(a.sk_format);
  to.equalX = a.equal_x, to.equalDxIn = a.d_out && a.equal_d_out;
  return to;
}

bool mhcrt::preBwdSm90Takes(const PreBwdArgs &args, Needs &needs) { return preBwdTakes(preBwdOperands(args), needs); }

cudaError_t mhcrt::preBwdSm90(mhcrt_context &context, const PreBwdArgs &given) {
  PreBwdArgs args = given;
  // Two streams that are one row are made in scratch memory: four of half the channels are not equal.
  const bool isPair = args.n == 2;
  generic::ScratchPlan plan;
  const int64_t rowsAt = plan.add(preBwdRows(preBwdOperands(args), nullptr).bytes);
  const int64_t xAt = plan.add(wholeBytes(args, isPair && args.equal_x));
  const int64_t dOutAt = plan.add(wholeBytes(args, isPair && args.equal_d_out));
  auto *scratch = static_cast<char *>(context.reserveScratch("mhcrt_pre_bwd", plan.bytes()));
  if (!scratch)
    return cudaSuccess;
  cudaError_t error = isPair ? makeWhole(context, args, args.x, args.equal_x, scratch + xAt) : cudaSuccess;
  if (isPair && !error)
    error = makeWhole(context, args, args.d_out, args.equal_d_out, scratch + dOutAt);
  return error ? error : preBwdPasses(preBwdOperands(args), scratch + rowsAt, context.multiprocessors, context.stream);
}
