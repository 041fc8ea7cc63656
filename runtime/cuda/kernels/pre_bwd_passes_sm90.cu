//===- pre_bwd_passes_sm90.cu - Gradients of pre in two passes over x -----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plan    pre_bwd_reduce_sm90.cu (10C bytes per token), stream_bwd_sm90.cu (26C with d_x_in), weight_grad_sm90.cu. The
//         second and third are launched early and wait for the memory of the one before.
// Needs   n = 4, or 2 as four of half the channels, layout nC, x, d_u, d_x_in and d_x in bf16, a Sinkhorn of at most 64
//         iterations or the identity.
// Time    one H200, us with mix (36C bytes per token) and percent of a copy's bandwidth in the same run: 307 (93) at
//         8192x4096, 524 (95) at 8192x7168, 195 (91) at 8192x2560, 66 (67) at 4096x1280, 463 (92) at 65536x768, 1156
//         (99) at 32768x4096, 29 us at 128x4096. 3 us of it add the partial sums. Adding into d_phi by atomics instead
//         is no faster: see docs/performance.md.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/Elementwise.h"
#include "cuda/kernels/PreBwd.h"
#include "cuda/stream/StreamBwd.h"
#include "mhcrt/kernels.h"

#include <algorithm>

using namespace mhcrt;

namespace {

constexpr int64_t kMostIterations = 64; ///< so that 8 tokens of a tile always find room
constexpr int kTileTokens = 32;
constexpr int64_t kTileBytes = 40 << 10; ///< of shared memory, for several blocks on a multiprocessor
constexpr int kTilesPerMultiprocessor = 2;

/// Tokens of a tile of the first launch: as many as find room, unless there are too few tiles then.
int tileTokens(const PreBwdOperands &args) {
  const int64_t tokenBytes = 16 * (args.recordedSteps() + args.ofFour() / 1024 + 1);
  int tokens = kTileTokens;
  while (tokens > 1 &&
         (tokens * tokenBytes > kTileBytes || (args.M + tokens - 1) / tokens < kTilesPerMultiprocessor * kSumPlaces))
    tokens /= 2;
  return tokens;
}

} // namespace

PreBwdRows mhcrt::preBwdRows(const PreBwdOperands &args, const StreamDivision &division, void *scratch) {
  PreBwdRows rows = {};
  rows.division = division;
  rows.tileTokens = tileTokens(args);
  rows.tiles = static_cast<int32_t>((args.M + rows.tileTokens - 1) / rows.tileTokens);
  auto take = [&](int64_t floats) {
    float *at = reinterpret_cast<float *>(static_cast<char *>(scratch) + rows.bytes);
    rows.bytes += alignBytes(4 * floats);
    return at;
  };
  rows.dProj = take(args.M * kColumns);
  rows.scalars = take(args.M * kScalars);
  rows.partials = take(static_cast<int64_t>(rows.tiles) * (3 + kColumns));
  if (args.dPhi || args.dWeight)
    rows.products = take(division.mostGroups() * args.n * args.C * kColumns);
  return rows;
}

bool mhcrt::preBwdTakes(const PreBwdOperands &args, Needs &needs, const char *dxInName) {
  const bool hasDxIn = args.dxInType != MHCRT_NONE;
  return needs.that(args.n == 2 || args.n == 4, "2 or 4 streams") &&
         needs.that(args.resMap != MHCRT_RES_MAP_PERMUTATION, "another residual map than permutations") &&
         needs.equal("N", args.N, args.n * args.n + 2 * args.n) &&
         needs.that(args.n == 4 || !args.sinkhorn.isNewton(), "another solver than Newton's") &&
         needs.that(args.layout == MHCRT_LAYOUT_NC, "the layout [M,n,C]") && needs.given("d_x", args.dx) &&
         needs.type("x", args.type, MHCRT_BF16) && needs.type("d_x", args.dxType, MHCRT_BF16) &&
         ((!hasDxIn && !args.mix) || needs.type(dxInName, args.dxInType, MHCRT_BF16)) &&
         needs.that(args.M > 0, "tokens") && needs.atMost("M", args.M, INT32_MAX - kTileTokens) &&
         needs.multiple("C", args.C, kSlice * 4 / args.n) &&
         needs.atMost("C", args.C, kMostSlices * kSlice * 4 / args.n) &&
         (args.recordedSteps() == 0 || needs.atMost("iters", args.sinkhorn.iters, kMostIterations)) &&
         needs.aligned({args.x, args.du, args.dxIn, args.dx, args.mix, args.proj, args.dhRes}) &&
         pairsAreAligned(needs, args.n, args.dhPost) && pairsAreAligned(needs, args.n, args.dhPre);
}

StreamBwdArgs mhcrt::streamOf(const PreBwdOperands &args, const PreBwdRows &rows) {
  StreamBwdArgs pass = {};
  pass.x = args.x, pass.du = args.du, pass.dxIn = args.dxIn, pass.mix = args.mix;
  pass.dProj = rows.dProj, pass.scalars = rows.scalars;
  pass.phi = {args.phi, args.weight, args.phiType, args.weightType, args.phiLayout};
  pass.columns = static_cast<int32_t>(args.N), pass.dx = args.dx, pass.partials = rows.products;
  pass.M = args.M, pass.C = args.ofFour();
  pass.transposed = args.orient == MHCRT_ORIENT_IO;
  pass.equalX = args.equalX, pass.equalDxIn = args.equalDxIn;
  return pass;
}

WeightGradArgs mhcrt::weightsOf(const PreBwdOperands &args, const PreBwdRows &rows, const StreamBwdArgs &stream) {
  WeightGradArgs rest = {};
  rest.partials = rows.products, rest.division = rows.division;
  rest.phi = stream.phi, rest.columns = stream.columns, rest.dPhiIn = args.dPhiIn, rest.dWeightIn = args.dWeightIn;
  rest.dPhi = args.dPhi, rest.dWeight = args.dWeight, rest.K = args.n * args.C;
  if (args.dAlpha || args.dBeta) {
    rest.gatePartials = rows.partials, rest.tiles = rows.tiles;
    rest.dAlphaIn = args.dAlphaIn, rest.dBetaIn = args.dBetaIn, rest.dAlpha = args.dAlpha, rest.dBeta = args.dBeta;
  }
  return rest;
}

cudaError_t mhcrt::preBwdPasses(const PreBwdOperands &args, void *scratch, int multiprocessors, cudaStream_t stream) {
  const PreBwdRows rows = preBwdRows(args, scratch);
  if (const cudaError_t error = preBwdReduce(args, rows, stream))
    return error;
  const StreamBwdArgs pass = streamOf(args, rows);
  if (const cudaError_t error = streamBwd(pass, multiprocessors, stream))
    return error;
  return weightGrad(weightsOf(args, rows, pass), stream);
}
