//===- head_sm90.cu - The learned contraction as a pre of 24 columns ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   head is pre whose columns behind the fourth are zero, and so are their gradients.
//
// Plan    phi, alpha and beta are copied into tensors with 24 columns; then the kernels of pre, post_pre and pre_bwd,
//         which are bound by the bytes of x and not by their columns. Their results for four columns are copied out.
// Bytes   per token those of pre, 10C, of post_pre, 20C or 12C without y, and for the gradients 10C and 18C (26C with
//         d_x_in); 96K for phi, and for the gradients 176 a token and another 96K for d_phi.
// Needs   those of pre, post_pre and pre_bwd.
// Result  H200, bf16, M = 8192, C 4096 / 7168: 101 / 203 us, 81 / 71 % of copy; gradients 279 / 490 us, 82 %.
//         post_head 199 / 365 us, without y 192 / 340 us, post and head one after the other 238 / 439 us.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Phi.cuh"
#include "cuda/host/Launch.cuh"
#include "cuda/host/LaunchOverlapping.h"
#include "cuda/kernels/Generic.h"
#include "cuda/kernels/Head.h"
#include "cuda/kernels/PostPre.h"
#include "cuda/kernels/Pre.h"
#include "cuda/kernels/PreBwd.h"
#include "cuda/ptx/Overlap.cuh"
#include "src/PostPre.h"

using namespace mhcrt;

namespace {

constexpr int kStreams = 4, kColumns = 24, kGates = 3;

/// Head's operands padded to the 24 columns of pre.
struct Padded {
  float *phi, *alpha, *beta;
};

/// Fills phi [24,K], alpha and beta.
__global__ void headPadKernel(PhiElements<AnyInput> from, const float *alpha, const float *beta, Padded to) {
  beginOverlapped();
  for (int64_t item = firstItem(); item < kColumns * from.K; item += itemStep()) {
    const int64_t j = item / from.K, k = item % from.K;
    to.phi[item] = j < kStreams ? from.at(j, k) : 0.0f;
    if (item < kColumns)
      to.beta[item] = item < kStreams ? beta[item] : 0.0f;
    if (item < kGates)
      to.alpha[item] = item == 0 ? alpha[0] : 0.0f;
  }
}

/// The columns that are there to the first four of 24, and zeros behind them.
__global__ void headWidenKernel(const float *narrow, float *wide, int64_t rows, float4 *zeros, int64_t zeroCount) {
  beginOverlapped();
  for (int64_t item = firstItem(); item < rows * kColumns; item += itemStep()) {
    const int64_t row = item / kColumns, j = item % kColumns;
    wide[item] = j < kStreams ? narrow[row * kStreams + j] : 0.0f;
  }
  for (int64_t item = firstItem(); item < zeroCount; item += itemStep())
    zeros[item] = make_float4(0, 0, 0, 0);
}

__global__ void headNarrowKernel(const float4 *wide, float4 *narrow, int64_t rows) {
  beginOverlapped();
  for (int64_t row = firstItem(); row < rows; row += itemStep())
    narrow[row] = wide[row * (kColumns / 4)];
}

cudaError_t pad(mhcrt_context &context, const PhiElements<AnyInput> &phi, const void *alpha, const void *beta,
                const Padded &to) {
  return launchOverlapping(headPadKernel, gridFor(context, kColumns * phi.K), kThreads, 1, 0, context.stream, phi,
                           static_cast<const float *>(alpha), static_cast<const float *>(beta), to);
}

// Forward

/// The scratch memory of a forward call: results of pre that head does not have or has with fewer columns.
struct Rooms {
  Padded padded;
  float *post, *res, *proj;
  void *ofPre;
};

/// Gives a call of pre, or of post_pre, the padded operands.
template <typename Args>
void usePadded(Args &to, const Rooms &rooms) {
  to.phi = rooms.padded.phi, to.phi_type = MHCRT_F32, to.phi_layout = MHCRT_PHI_LAYOUT_OUT_IN;
  to.alpha = rooms.padded.alpha, to.beta = rooms.padded.beta;
  to.proj = to.proj ? rooms.proj : nullptr;
  to.N = kColumns, to.A = kGates;
}

PreArgs paddedOf(const HeadArgs &a, const Rooms &rooms) {
  PreArgs to = preOf(a);
  usePadded(to, rooms);
  to.h_post = rooms.post, to.h_res = rooms.res;
  return to;
}

/// y has its type where it is not wanted, too.
PostPreArgs paddedOf(const PostHeadArgs &a, const Rooms &rooms) {
  PostPreArgs to = {};
  takePost(to, a);
  takeGates(to, a);
  usePadded(to, rooms);
  to.y = a.y, to.y_type = a.x_type;
  to.u = a.out, to.u_type = a.out_type;
  to.h_pre = a.h_pre, to.h_pre_type = a.h_pre_type;
  to.next_h_post = rooms.post, to.next_h_res = rooms.res;
  to.res_map = MHCRT_RES_MAP_IDENTITY;
  return to;
}

/// Calls launch(rooms, counter of tiles) between the copies; `bytes` is what it needs itself.
template <typename Args, typename Launch>
cudaError_t launchPadded(mhcrt_context &context, const char *kernel, const Args &a, int64_t bytes, Launch launch) {
  generic::ScratchPlan plan;
  const int64_t phi = plan.addFloats(kColumns, a.K), alpha = plan.addFloats(kGates, 1),
                beta = plan.addFloats(kColumns, 1);
  const int64_t post = plan.addFloats(a.M, kStreams), res = plan.addFloats(a.M, kStreams * kStreams);
  const int64_t proj = plan.addFloats(a.proj ? a.M : 0, kColumns), ofPre = plan.add(bytes);
  auto *base = static_cast<char *>(context.reserveScratch(kernel, plan.bytes()));
  if (!base)
    return cudaSuccess;
  const auto floats = [&](int64_t at) { return reinterpret_cast<float *>(base + at); };
  const Rooms rooms = {
      {floats(phi), floats(alpha), floats(beta)}, floats(post), floats(res), floats(proj), base + ofPre};
  uint32_t *counter = bytes ? nullptr : context.tileCounter(kernel);
  cudaError_t error = pad(context, phiElementsOf(a, a.n), a.alpha, a.beta, rooms.padded);
  if (error == cudaSuccess)
    error = launch(rooms, counter);
  if (error == cudaSuccess && a.proj)
    error = launchOverlapping(headNarrowKernel, gridFor(context, a.M), kThreads, 1, 0, context.stream,
                              reinterpret_cast<const float4 *>(rooms.proj), static_cast<float4 *>(a.proj), a.M);
  return error;
}

} // namespace

bool mhcrt::headSm90Takes(const HeadArgs &a, Needs &needs) {
  return needs.equal("n", a.n, 4) && preSm90Takes(paddedOf(a, {}), needs);
}

cudaError_t mhcrt::headSm90(mhcrt_context &context, const HeadArgs &a) {
  return launchPadded(context, "mhcrt_head", a, preSm90Bytes(paddedOf(a, {})),
                      [&](const Rooms &rooms, uint32_t *counter) {
                        return preSm90(paddedOf(a, rooms), rooms.ofPre, counter, context.stream);
                      });
}

bool mhcrt::postHeadSm90Takes(const PostHeadArgs &a, Needs &needs) { return postPreSm90Takes(paddedOf(a, {}), needs); }

cudaError_t mhcrt::postHeadSm90(mhcrt_context &context, const PostHeadArgs &a) {
  return launchPadded(context, "mhcrt_post_head", a, postPreSm90Bytes(paddedOf(a, {})),
                      [&](const Rooms &rooms, uint32_t *counter) {
                        return postPreSm90(paddedOf(a, rooms), rooms.ofPre, counter, context.stream);
                      });
}

// Backward

namespace {

/// The scratch memory of the gradients.
struct BwdRooms {
  Padded padded;
  float *proj, *zeros;          ///< zeros: gradients of what head does not have, [M,20]
  float *dPhi, *dAlpha, *dBeta; ///< with 24 columns
  void *passes;
};

/// Copies the gradients of the columns that head has, added to what the caller starts from.
struct Results {
  const float *dPhi, *dAlpha, *dBeta;
  const float *dPhiIn, *dAlphaIn, *dBetaIn;
  float *toPhi, *toAlpha, *toBeta; ///< null where a gradient is not wanted
  int64_t K;
  bool rowsFirst;
};

__global__ void headResultsKernel(Results r) {
  beginOverlapped();
  for (int64_t item = firstItem(); item < kStreams * r.K; item += itemStep()) {
    const int64_t j = r.rowsFirst ? item / r.K : item % kStreams, k = r.rowsFirst ? item % r.K : item / kStreams;
    if (r.toPhi)
      r.toPhi[item] = (r.dPhiIn ? r.dPhiIn[item] : 0.0f) + r.dPhi[j * r.K + k];
    if (r.toBeta && item < kStreams)
      r.toBeta[item] = (r.dBetaIn ? r.dBetaIn[item] : 0.0f) + r.dBeta[item];
    if (r.toAlpha && item == 0)
      r.toAlpha[0] = (r.dAlphaIn ? r.dAlphaIn[0] : 0.0f) + r.dAlpha[0];
  }
}

PreBwdOperands operandsOf(const HeadBwdArgs &a, const BwdRooms &rooms) {
  const auto floats = [](const void *p) { return static_cast<const float *>(p); };
  PreBwdOperands to = {};
  to.du = a.d_out, to.dhPre = floats(a.d_h_pre);
  to.dhPost = rooms.zeros, to.dhRes = rooms.zeros ? rooms.zeros + a.M * kStreams : nullptr;
  to.x = a.x, to.phi = rooms.padded.phi, to.weight = a.norm_weight;
  to.alpha = rooms.padded.alpha, to.beta = rooms.padded.beta, to.proj = rooms.proj, to.stat = floats(a.stat);
  to.dxIn = a.d_x_in, to.dWeightIn = floats(a.d_norm_weight_in);
  to.dx = a.d_x, to.dPhi = a.d_phi ? rooms.dPhi : nullptr, to.dWeight = static_cast<float *>(a.d_norm_weight);
  to.dAlpha = a.d_alpha ? rooms.dAlpha : nullptr, to.dBeta = a.d_beta ? rooms.dBeta : nullptr;
  to.type = a.x_type, to.phiType = MHCRT_F32, to.weightType = a.norm_weight_type;
  to.dxInType = a.d_x_in_type, to.dxType = a.d_x_type;
  to.M = a.M, to.C = a.C, to.n = a.n, to.N = kColumns;
  to.layout = a.layout, to.phiLayout = MHCRT_PHI_LAYOUT_OUT_IN, to.norm = a.norm;
  to.normEps = static_cast<float>(a.norm_eps), to.preEps = static_cast<float>(a.pre_eps);
  to.resMap = MHCRT_RES_MAP_IDENTITY, to.hPreFormat = static_cast<int32_t>(a.h_pre_format);
  return to;
}

} // namespace

bool mhcrt::headBwdSm90Takes(const HeadBwdArgs &a, Needs &needs) {
  return needs.equal("n", a.n, 4) && preBwdTakes(operandsOf(a, {}), needs);
}

/// False with the error set where there is no memory.
static bool reserve(mhcrt_context &context, const HeadBwdArgs &a, BwdRooms &rooms) {
  generic::ScratchPlan plan;
  const int64_t phi = plan.addFloats(kColumns, a.K), alpha = plan.addFloats(kGates, 1),
                beta = plan.addFloats(kColumns, 1);
  const int64_t proj = plan.addFloats(a.M, kColumns), zeros = plan.addFloats(a.M, kColumns - kStreams);
  const int64_t dPhi = plan.addFloats(kColumns, a.K), dAlpha = plan.addFloats(kGates, 1);
  const int64_t dBeta = plan.addFloats(kColumns, 1);
  // The memory that the passes need depends on which results are wanted, not on where they go.
  float somewhere;
  BwdRooms wanted = {};
  wanted.dPhi = wanted.dAlpha = wanted.dBeta = &somewhere;
  const int64_t passes = plan.add(preBwdRows(operandsOf(a, wanted), nullptr).bytes);
  auto *base = static_cast<char *>(context.reserveScratch("mhcrt_head_bwd", plan.bytes()));
  const auto floats = [&](int64_t at) { return reinterpret_cast<float *>(base + at); };
  if (base)
    rooms = {{floats(phi), floats(alpha), floats(beta)},
             floats(proj),
             floats(zeros),
             floats(dPhi),
             floats(dAlpha),
             floats(dBeta),
             base + passes};
  return base != nullptr;
}

cudaError_t mhcrt::headBwdSm90(mhcrt_context &context, const HeadBwdArgs &a) {
  BwdRooms rooms = {};
  if (!reserve(context, a, rooms))
    return cudaSuccess;
  cudaError_t error = pad(context, phiElementsOf(a, a.n), a.alpha, a.beta, rooms.padded);
  if (error == cudaSuccess)
    error = launchOverlapping(headWidenKernel, gridFor(context, a.M * kColumns), kThreads, 1, 0, context.stream,
                              static_cast<const float *>(a.proj), rooms.proj, a.M,
                              reinterpret_cast<float4 *>(rooms.zeros), a.M * (kColumns - kStreams) / 4);
  if (error == cudaSuccess)
    error = preBwdPasses(operandsOf(a, rooms), rooms.passes, context.multiprocessors, context.stream);
  if (error != cudaSuccess || (!a.d_phi && !a.d_alpha && !a.d_beta))
    return error;
  const auto floats = [](const void *p) { return static_cast<const float *>(p); };
  const Results results = {rooms.dPhi,
                           rooms.dAlpha,
                           rooms.dBeta,
                           floats(a.d_phi_in),
                           floats(a.d_alpha_in),
                           floats(a.d_beta_in),
                           static_cast<float *>(a.d_phi),
                           static_cast<float *>(a.d_alpha),
                           static_cast<float *>(a.d_beta),
                           a.K,
                           a.phi_layout == MHCRT_PHI_LAYOUT_OUT_IN};
  return launchOverlapping(headResultsKernel, gridFor(context, kStreams * a.K), kThreads, 1, 0, context.stream,
                           results);
}
