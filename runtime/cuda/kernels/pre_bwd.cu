//===- pre_bwd.cu - Gradients of pre and head -----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_h_pre += sum_c d_u * x           d_proj, d_stat = gates, residual map backwards
//   d_x      = d_x_in or mhc.post's share + h_pre * d_u + d_proj W + t * x
//   d_phi, d_norm_weight, d_alpha, d_beta: sums over m
//
// Generic: aggregate_bwd's sums, the gates again, the residual map backwards, gates_bwd, and projection_bwd with
// h_pre * d_u added before d_x is rounded.
//
// tf32x3: the same, with the products of projection_bwd on matrix tiles. n8: the same of eight streams.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Launch.cuh"
#include "cuda/host/Variants.h"
#include "cuda/kernels/Beside.h"
#include "cuda/kernels/Elementwise.h"
#include "cuda/kernels/Generic.h"
#include "cuda/kernels/Parts.h"
#include "cuda/kernels/PreBwd.h"
#include "cuda/kernels/Projection.h"
#include "cuda/kernels/Residual.h"
#include "cuda/stream/StreamTiles.h"
#include "src/Checks.h"

using namespace mhcrt;
using generic::Units;

namespace {

/// The parts of the scratch memory.
struct Rooms {
  float *hPre, *hPost, *logits;    ///< what the gates returned
  float *dhPre, *dhPost, *dLogits; ///< and its gradients
  float *dProj, *dStat;
  void *x, *dOut; ///< streams that are made of their rows
  void *pieces;   ///< of one piece at a time
};

/// Adds the coupling of the gradients of h_pre and h_post: d_h_pre is added to the sums over x, and with fold_pre h_res
/// is mix - h_post h_pre^T.
__global__ void preBwdGatesKernel(PreBwdArgs a, Rooms rooms) {
  const int64_t n = a.n;
  for (int64_t item = firstItem(); item < a.M * n; item += itemStep()) {
    const int64_t m = item / n, j = item % n;
    float pre = a.d_u ? rooms.dhPre[item] : 0.0f;
    if (a.d_h_pre)
      pre += static_cast<const float *>(a.d_h_pre)[item];
    if (a.fold_pre) {
      const float *dhRes = static_cast<const float *>(a.d_h_res) + m * n * n;
      float post = static_cast<const float *>(a.d_h_post)[item];
      for (int64_t k = 0; k < n; ++k) {
        post = fmaf(-dhRes[j * n + k], rooms.hPre[m * n + k], post);
        pre = fmaf(-dhRes[k * n + j], rooms.hPost[m * n + k], pre);
      }
      rooms.dhPost[item] = post;
    }
    rooms.dhPre[item] = pre;
  }
}

GatesArgs gatesOf(const PreBwdArgs &a, const Rooms &rooms, bool isHead) {
  const int32_t type = isHead ? MHCRT_NONE : MHCRT_F32;
  return {a.proj,
          MHCRT_F32,
          a.stat,
          MHCRT_F32,
          a.alpha,
          MHCRT_F32,
          a.beta,
          MHCRT_F32,
          rooms.hPre,
          MHCRT_F32,
          rooms.hPost,
          type,
          rooms.logits,
          type,
          a.M,
          a.N,
          a.A,
          a.n,
          isHead ? 0 : a.N - 2 * a.n,
          MHCRT_STAT_INV_RMS,
          0.0,
          a.pre_eps,
          a.post_mult};
}

generic::GateFormats gateFormatsOf(const PreBwdArgs &a) {
  const bool iterates = a.res_map == MHCRT_RES_MAP_SINKHORN;
  return {a.h_pre_format, a.h_post_format, iterates ? a.sk_format : MHCRT_FORMAT_F32};
}

SinkhornBwdArgs sinkhornOf(const PreBwdArgs &a, const Rooms &rooms) {
  return {a.d_h_res, MHCRT_F32, rooms.logits, MHCRT_F32, rooms.dLogits, MHCRT_F32, a.M,
          a.n,       a.init,    a.order,      a.denom,   a.sk_eps,      a.iters,   a.solver};
}

GatesBwdArgs gatesBwdOf(const PreBwdArgs &a, const Rooms &rooms, bool isHead) {
  const void *dhPost = a.fold_pre ? rooms.dhPost : a.d_h_post;
  const void *dLogits = a.res_map == MHCRT_RES_MAP_IDENTITY ? a.d_h_res : rooms.dLogits;
  const int32_t type = isHead ? MHCRT_NONE : MHCRT_F32;
  return {rooms.dhPre,
          MHCRT_F32,
          isHead ? nullptr : dhPost,
          type,
          isHead ? nullptr : dLogits,
          type,
          a.proj,
          MHCRT_F32,
          a.stat,
          MHCRT_F32,
          a.alpha,
          MHCRT_F32,
          a.beta,
          MHCRT_F32,
          a.d_alpha_in,
          a.d_alpha_in_type,
          a.d_beta_in,
          a.d_beta_in_type,
          rooms.dProj,
          MHCRT_F32,
          rooms.dStat,
          MHCRT_F32,
          a.d_alpha,
          a.d_alpha_type,
          a.d_beta,
          a.d_beta_type,
          a.M,
          a.n,
          isHead ? 0 : a.N - 2 * a.n,
          a.N,
          a.A,
          MHCRT_STAT_INV_RMS,
          0.0,
          a.post_mult};
}

ProjectionBwdArgs projectionOf(const PreBwdArgs &a, const Rooms &rooms) {
  return {rooms.dProj,
          MHCRT_F32,
          rooms.dStat,
          MHCRT_F32,
          a.x,
          a.x_type,
          a.phi,
          a.phi_type,
          a.norm_weight,
          a.norm_weight_type,
          a.stat,
          MHCRT_F32,
          a.d_x_in,
          a.d_x_in_type,
          a.d_phi_in,
          a.d_phi_in_type,
          a.d_norm_weight_in,
          a.d_norm_weight_in_type,
          a.d_x,
          a.d_x_type,
          a.d_phi,
          a.d_phi_type,
          a.d_norm_weight,
          a.d_norm_weight_type,
          a.M,
          a.N,
          a.n,
          a.C,
          a.K,
          a.layout,
          a.phi_layout,
          a.norm,
          a.norm_eps,
          MHCRT_STAT_INV_RMS,
          a.precision};
}

generic::StreamShares sharesOf(const PreBwdArgs &a, const Rooms &rooms) {
  return {a.d_u ? rooms.hPre : nullptr, a.d_u, static_cast<const float *>(a.h_res), a.d_out, a.orient};
}

/// d_h_pre's sums over the channels.
AggregateBwdArgs aggregateOf(const PreBwdArgs &a, const Rooms &rooms) {
  return {a.d_u,   a.x_type,   a.x,         a.x_type,  rooms.hPre, MHCRT_F32, nullptr, MHCRT_NONE,
          nullptr, MHCRT_NONE, rooms.dhPre, MHCRT_F32, a.M,        a.C,       a.n,     a.layout};
}

int64_t pieceBytes(const mhcrt_context &context, const PreBwdArgs &a, bool isHead, Units units) {
  const Rooms none = {};
  const int64_t bytes = std::max(generic::gatesBwdBytes(gatesBwdOf(a, none, isHead)),
                                 generic::projectionBwdBytes(projectionOf(a, none), units));
  const bool replays = !isHead && a.res_map == MHCRT_RES_MAP_SINKHORN;
  return replays ? std::max(bytes, generic::sinkhornBwdBytes(context, sinkhornOf(a, none))) : bytes;
}

/// False with the error set where there is no memory.
bool reserve(mhcrt_context &context, const char *kernel, const PreBwdArgs &a, bool isHead, Units units, Rooms &rooms) {
  const int64_t R = isHead ? 0 : a.N - 2 * a.n;
  generic::ScratchPlan plan;
  const int64_t hPre = plan.addFloats(a.M, a.n), hPost = plan.addFloats(a.M, a.n), logits = plan.addFloats(a.M, R);
  const int64_t dhPre = plan.addFloats(a.M, a.n), dhPost = plan.addFloats(a.M, a.n), dLogits = plan.addFloats(a.M, R);
  const int64_t dProj = plan.addFloats(a.M, a.N), dStat = plan.addFloats(a.M, 1);
  const int64_t x = plan.add(wholeBytes(a, a.equal_x)), dOut = plan.add(wholeBytes(a, a.equal_d_out));
  const int64_t pieces = plan.add(pieceBytes(context, a, isHead, units));
  auto *base = static_cast<char *>(context.reserveScratch(kernel, plan.bytes()));
  const auto floats = [&](int64_t at) { return reinterpret_cast<float *>(base + at); };
  if (base)
    rooms = {floats(hPre),  floats(hPost), floats(logits), floats(dhPre), floats(dhPost), floats(dLogits),
             floats(dProj), floats(dStat), base + x,       base + dOut,   base + pieces};
  return base != nullptr;
}

/// The gradient of h_res to that of the logits. The identity leaves it where it is.
cudaError_t launchResidual(mhcrt_context &context, const PreBwdArgs &a, const Rooms &rooms) {
  if (a.res_map == MHCRT_RES_MAP_SINKHORN) {
    Needs needs;
    const SinkhornBwdArgs map = sinkhornOf(a, rooms);
    return sinkhornBwdN4Takes(map, needs) || sinkhornBwdN2N8Takes(map, needs)
               ? sinkhornBwdN4(map, context.stream)
               : generic::sinkhornBwd(context, map, rooms.pieces);
  }
  if (a.res_map == MHCRT_RES_MAP_PERMUTATION)
    return generic::permutationMixBwd(
        context, {a.d_h_res, MHCRT_F32, rooms.logits, MHCRT_F32, rooms.dLogits, MHCRT_F32, a.M, a.n, a.N - 2 * a.n});
  return cudaSuccess;
}

/// d_h_pre's sums, beside the residual map where there is one.
cudaError_t launchAggregate(mhcrt_context &context, const AggregateBwdArgs &a, Units units, bool hasMap) {
  Needs needs;
  return units == Units::tiles && hasMap && (aggregateBwdN4Takes(a, needs) || aggregateBwdN2N8Takes(a, needs))
             ? aggregateBwdBeside(a, context.stream)
             : generic::aggregateBwd(context, a, units);
}

} // namespace

bool generic::preBwdTilesTake(const PreBwdArgs &a, Needs &needs) {
  const Rooms none = {};
  return streamTilesTake(projectionOf(a, none), sharesOf(a, none), needs);
}

bool generic::preBwdEightTakes(const PreBwdArgs &a, Needs &needs) {
  const Rooms none = {};
  return streamEightTakes(projectionOf(a, none), sharesOf(a, none), needs);
}

cudaError_t generic::preBwd(mhcrt_context &context, const char *kernel, const PreBwdArgs &given, bool isHead,
                            Units units) {
  PreBwdArgs a = given;
  Rooms rooms = {};
  if (!reserve(context, kernel, a, isHead, units, rooms))
    return cudaSuccess;
  cudaError_t error = makeWhole(context, a, a.x, a.equal_x, rooms.x);
  if (error == cudaSuccess)
    error = makeWhole(context, a, a.d_out, a.equal_d_out, rooms.dOut);
  if (error == cudaSuccess)
    error = generic::gates(context, gatesOf(a, rooms, isHead), gateFormatsOf(a));
  if (error == cudaSuccess && !isHead)
    error = launchResidual(context, a, rooms);
  if (error == cudaSuccess && a.d_u)
    error = launchAggregate(context, aggregateOf(a, rooms), units, !isHead && a.res_map != MHCRT_RES_MAP_IDENTITY);
  if (error == cudaSuccess) {
    error = launchKernel(preBwdGatesKernel, gridFor(context, a.M * a.n), kThreads, 0, context.stream, a, rooms);
  }
  if (error == cudaSuccess)
    error = generic::gatesBwd(context, gatesBwdOf(a, rooms, isHead), rooms.pieces);
  if (error == cudaSuccess)
    error = generic::projectionBwd(context, projectionOf(a, rooms), sharesOf(a, rooms), rooms.pieces, units);
  return error;
}

template <Units kUnits>
static cudaError_t launchWith(mhcrt_context &context, const PreBwdArgs &a) {
  return generic::preBwd(context, "mhcrt_pre_bwd", a, /*isHead=*/false, kUnits);
}

static constexpr Variant<PreBwdArgs> kVariants[] = {
    {"sm90", 90, 90, preBwdSm90Takes, preBwdSm90, MHCRT_PRECISION_BF16X3},
    {"tf32x3", 90, kAnyArch, generic::preBwdTilesTake, launchWith<Units::tiles>, MHCRT_PRECISION_TF32X3, true},
    {"n8", 90, kMostTf32Arch, generic::preBwdEightTakes, launchWith<Units::tiles>, MHCRT_PRECISION_BF16X3},
    {"generic", 0, kAnyArch, nullptr, launchWith<Units::scalar>, MHCRT_PRECISION_IEEE}};

mhcrt_status mhcrt::launchPreBwd(mhcrt_context &context, const PreBwdArgs &args) {
  return launchVariant(context, "pre_bwd", kVariants, args);
}

mhcrt_status mhcrt::runPreBwd(mhcrt_context &context, const PreBwdArgs &args) {
  return checkPreBwd(context, args) ? launchPreBwd(context, args) : context.status;
}
