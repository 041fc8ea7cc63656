//===- pre_bwd_sm90.cu - Gradients of pre in two passes over x ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plan    pre_bwd_reduce_sm90.cu (10C bytes per token), stream_bwd_sm90.cu (26C with d_x_in), weight_grad_sm90.cu. The
//         second and third are launched early and wait for the memory of the one before.
// Needs   n = 4, layout nC, x, d_u, d_x_in and d_x in bf16, a Sinkhorn of at most 64 iterations or the identity.
//
//===------------------------------------------------------------------------===//
#include "PreBwd.h"
#include "StreamBwd.h"
#include "mhcrt/kernels.h"

#include <algorithm>

namespace mhcrt {
namespace {

constexpr int64_t kMostIterations = 64; ///< 32 kB of shared memory for the divisors of the steps
constexpr int kTileTokens = 8;

bool aligned(const void *p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }

/// Tokens of a tile of the first launch: fewer where there would not be a tile for every multiprocessor.
int tileTokens(int64_t M, int multiprocessors) {
  int tokens = kTileTokens;
  while (tokens > 1 && (M + tokens - 1) / tokens < multiprocessors)
    tokens /= 2;
  return tokens;
}

/// Scratch memory: what the passes hand on.
struct Scratch {
  PreBwdRows rows;
  float *products;
  int64_t bytes;
};

Scratch layOut(const PreBwdArgs &args, char *base, int multiprocessors) {
  Scratch scratch = {};
  PreBwdRows &rows = scratch.rows;
  rows.tileTokens = tileTokens(args.M, multiprocessors);
  rows.tiles = static_cast<int32_t>((args.M + rows.tileTokens - 1) / rows.tileTokens);
  auto take = [&](int64_t floats) {
    float *at = reinterpret_cast<float *>(base + scratch.bytes);
    scratch.bytes += alignBytes(4 * floats);
    return at;
  };
  rows.dProj = take(args.M * kColumns);
  rows.scalars = take(args.M * kScalars);
  rows.partials = take(static_cast<int64_t>(rows.tiles) * (3 + kColumns));
  if (args.dPhi || args.dWeight)
    scratch.products = take(streamBwdGroups(args.M, args.C, multiprocessors) * 4 * args.C * kColumns);
  return scratch;
}

} // namespace

bool preBwdSm90Takes(const PreBwdArgs &args) {
  const bool replays = args.resMap == MHCRT_RES_MAP_SINKHORN;
  const bool types = args.type == MHCRT_BF16 && args.dxType == MHCRT_BF16 &&
                     (args.dxInType == MHCRT_BF16 || (args.dxInType == MHCRT_NONE && !args.mix));
  return types && args.dx && args.n == 4 && args.N == kColumns && args.layout == MHCRT_LAYOUT_NC && args.M >= 1 &&
         args.M <= INT32_MAX - kTileTokens && args.C % kSlice == 0 && args.C <= kMostSlices * kSlice &&
         (!replays || args.sinkhorn.iters <= kMostIterations) && aligned(args.x) && aligned(args.du) &&
         aligned(args.dxIn) && aligned(args.dx) && aligned(args.mix) && aligned(args.proj) && aligned(args.dhRes) &&
         aligned(args.dhPost) && aligned(args.dhPre);
}

int64_t preBwdSm90ScratchBytes(const PreBwdArgs &args, int multiprocessors) {
  return layOut(args, nullptr, multiprocessors).bytes;
}

cudaError_t preBwdSm90(const PreBwdArgs &args, void *memory, int multiprocessors, cudaStream_t stream) {
  const Scratch scratch = layOut(args, static_cast<char *>(memory), multiprocessors);
  if (const cudaError_t error = preBwdReduceSm90(args, scratch.rows, stream))
    return error;
  StreamBwdArgs pass = {};
  pass.x = args.x, pass.du = args.du, pass.dxIn = args.dxIn, pass.mix = args.mix;
  pass.dProj = scratch.rows.dProj, pass.scalars = scratch.rows.scalars;
  pass.phi = args.phi, pass.weight = args.weight, pass.dx = args.dx, pass.partials = scratch.products;
  pass.M = args.M, pass.C = args.C;
  pass.phiType = args.phiType, pass.weightType = args.weightType, pass.phiLayout = args.phiLayout;
  pass.transposed = args.orient == MHCRT_ORIENT_IO, pass.overlaps = true;
  if (const cudaError_t error = streamBwdSm90(pass, multiprocessors, stream))
    return error;
  WeightGradArgs rest = {};
  rest.partials = scratch.products, rest.groups = streamBwdGroups(args.M, args.C, multiprocessors);
  rest.phi = args.phi, rest.weight = args.weight, rest.phiType = args.phiType, rest.weightType = args.weightType;
  rest.phiLayout = args.phiLayout, rest.dPhiIn = args.dPhiIn, rest.dWeightIn = args.dWeightIn;
  rest.dPhi = args.dPhi, rest.dWeight = args.dWeight, rest.K = 4 * args.C;
  if (args.dAlpha || args.dBeta) {
    rest.gatePartials = scratch.rows.partials, rest.tiles = scratch.rows.tiles;
    rest.dAlphaIn = args.dAlphaIn, rest.dBetaIn = args.dBetaIn, rest.dAlpha = args.dAlpha, rest.dBeta = args.dBeta;
  }
  return weightGradSm90(rest, stream);
}

} // namespace mhcrt
