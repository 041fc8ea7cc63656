//===- ProjectionBwd.h - Tiling of a projection's gradients --- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile is a slice of K times a run of tokens: the slice of phi and the slice of its gradient stay in the second-level
// cache while the tokens pass, so that one look at x makes d_x and d_phi. The runs depend on M and K alone.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_PROJECTION_BWD_H
#define MHCRT_CPU_PROJECTION_BWD_H

#include "cpu/AmxGradient.h"
#include "cpu/Partials.h"
#include "cpu/PostBwd.h"
#include "cpu/Projection.h"
#include "cpu/Tokens.h"

namespace mhcrt {

/// Elements of K of one block, and tokens of one group: 16 kB of x in f32.
constexpr int64_t kGradBlock = 256;
constexpr int64_t kGradTokens = 16;
/// Blocks of one slice: a token's part of x is 2048 elements, long enough for memory; 24 rows of phi and its gradient
/// are 400 kB as f32 and 900 kB as matrix tiles, which the second-level cache holds.
constexpr int64_t kSliceBlocks = 8;
/// Tokens that rows of one block are asked for ahead of d_x: one takes less time than memory.
constexpr int64_t kTokensAhead = 2;
/// Rows of a register tile of d_phi; N is padded to a multiple.
constexpr int64_t kGradRows = 6;
/// Tiles that keep many cores busy, if there are as many tokens.
constexpr int64_t kGradTiles = 32;
constexpr int64_t kLeastRun = 256;
/// Tokens of a run whose products plain sums add: a longer run adds those of each such piece.
constexpr int64_t kPieceTokens = 2048;

/// Share of mhc.post_bwd: takes d_x where it is made.
struct PostBwdShare {
  PostBwdCall call; ///< isFour; its d_out is scratch memory of a token's channels
  float *sums;      ///< [slice][M][kPostBwdSums]

  explicit PostBwdShare(const PostBwdArgs &args) : call(args), sums(nullptr) {
    call.dOutPlaces.token = 0, call.dOutPlaces.stream = kGradBlock;
    call.tokensAhead = kTokensAhead;
  }
};

struct ProjectionBwdCall {
  const float *dProj;  ///< [M,N]
  const float *factor; ///< [M]: t, what to add to d_x per unit of x; null when it is zero
  const void *x;
  int32_t type;
  const void *phi;
  int32_t phiType;
  const void *weight; ///< null when there is none
  int32_t weightType;
  const void *dxIn;
  int32_t dxInType;
  void *dx; ///< null when it is not wanted
  int32_t dxType;
  const float *dPhiIn, *dWeightIn;
  float *dPhi, *dWeight; ///< null when they are not wanted
  int64_t M, K, N;
  int32_t phiLayout;
  // Share of mhc.aggregate in d_x, h_pre[m,i] * d_u[m,c]: for pre_bwd.
  const float *hPre; ///< [M,n]; null when there is none
  const void *du;    ///< of x's type
  int64_t n, C;
  int32_t layout;
  const AmxUnit *amx; ///< null for the portable variant
  bool stream;        ///< d_x bypasses the caches
  // Share of mhc.post in d_x, sum_o A[m,o,i] * d_out[m,o,c]: for pre_bwd.
  const void *dOut; ///< of x's type; null when there is none
  const float *hRes;
  int32_t orient;

  const PostBwdShare *post; ///< takes d_x in place of memory; null when there is none

  bool wantsProduct() const { return dPhi || dWeight; }
  bool makesDx() const { return dx || post; }
  /// Whether the same channels of all streams share what d_x is made of, or where it goes.
  bool sharesChannels() const { return dOut || post || (du && n == 4); }
  /// Whether those are written together, so that what they share is read once.
  bool joinsStreams() const {
    return makesDx() && sharesChannels() && n == 4 && layout == MHCRT_LAYOUT_NC && C % kGradBlock == 0 &&
           type != MHCRT_F16 && (!dxIn || dxInType == dxType);
  }
  /// Blocks whose d_x is written together.
  int64_t joined() const { return joinsStreams() ? n : 1; }
  static_assert(kSliceBlocks % 4 == 0, "joined blocks are of one slice");
  /// Rows of phi and its gradient: whole register tiles, and with AMX whole matrix tiles of those.
  int64_t rows() const { return roundUp(roundUp(N, kGradRows), amx ? kAmxColumns : 1); }
  int64_t blocks() const { return divideUp(K, kGradBlock); }
  int64_t slices() const { return divideUp(blocks(), kSliceBlocks); }
  /// The block at a place of the order of slices: the same channels of all streams that share them follow one another
  /// where a stream is whole blocks.
  int64_t blockAt(int64_t place) const {
    if (!sharesChannels() || layout != MHCRT_LAYOUT_NC || C % kGradBlock != 0)
      return place;
    return place % n * (C / kGradBlock) + place / n;
  }
  int64_t sliceEnd(int64_t slice) const { return std::min(blocks(), (slice + 1) * kSliceBlocks); }
  TokenRuns runs() const {
    const int64_t most = std::min(divideUp(kGradTiles, slices()), divideUp(std::max<int64_t>(M, 1), kLeastRun));
    return TokenRuns(M, amx ? kAmxGroup : kGradTokens, most);
  }
  /// Floats of one block of phi or its gradient: [rows][kGradBlock].
  int64_t blockFloats() const { return saturatingMul(rows(), kGradBlock); }
  /// Floats of a partial sum of phi's gradient.
  int64_t productFloats() const { return saturatingMul(blocks(), blockFloats()); }

  // Matrix tiles. phi * norm_weight has three bf16 terms and d_proj, too; of their nine products six are made, or all
  // where phi is bf16 itself. A step of d_x is 32 of those products' factors, one after the other.
  int64_t phiTerms() const { return phiType == MHCRT_BF16 && !weight ? 1 : 3; }
  int64_t xTerms() const { return type == MHCRT_BF16 ? 1 : type == MHCRT_F16 ? 2 : 3; }
  int64_t phiProducts() const { return phiTerms() == 1 ? 3 : 6; }
  int64_t phiSteps() const { return divideUp(phiProducts() * N, kAmxStep); }

  /// Bytes of a block of packed phi: f32 as it is, or matrix tiles.
  int64_t packedBlockBytes() const {
    return amx ? kGradBlock / kAmxColumns * phiSteps() * kAmxTile * 2 : 4 * blockFloats();
  }
  int64_t packedBytes() const { return makesDx() ? saturatingMul(blocks(), packedBlockBytes()) : 0; }
  int64_t sharedBytes() const {
    const int64_t products = wantsProduct() ? runs().count : 0;
    return saturatingAdd(packedBytes(), saturatingMul(saturatingMul(productFloats(), products), 4));
  }
  /// Floats of the sums over a run's pieces, of one slice; see CompensatedSums.
  int64_t pieceFloats() const {
    return wantsProduct() && runs().length > kPieceTokens ? saturatingMul(2 * kSliceBlocks, blockFloats()) : 0;
  }
  /// x and d_x of a group, and its rows of d_proj.
  int64_t groupBytes() const { return 4 * kGradTokens * ((1 + joined()) * kGradBlock + rows()); }
  /// Floats of the sums of post_bwd of `tokens` tokens.
  int64_t postFloats(int64_t tokens) const { return post ? tokens * kPostBwdSums * kMaxLanes : 0; }
  int64_t threadBytes() const; // behind the scratch memory's layout
};

/// The parts of a thread's scratch memory for matrix tiles; the sums over pieces are before them.
struct AmxGradScratch {
  float *blocks;        ///< four blocks of phi or its gradient
  float *group;         ///< ProjectionBwdCall::groupBytes() for the register tiles
  uint16_t *gradient;   ///< AmxPhiProduct's
  uint16_t *transposed; ///< AmxTokenSum's
  uint16_t *terms;      ///< of one token's d_proj: [term][rows]
  uint16_t *x;          ///< AmxTokenSum's
  float *sums;          ///< [joined][kAmxGroup][kGradBlock]
  float *post;          ///< [kAmxGroup][kPostBwdSums] vectors
  float *rows;          ///< two tokens' x
  int64_t bytes = 0;

  AmxGradScratch(const ProjectionBwdCall &args, char *base) {
    auto take = [&](auto *&part, int64_t count) {
      // A number, because the base is null where only the size is asked for.
      part = reinterpret_cast<std::remove_reference_t<decltype(part)>>(reinterpret_cast<uintptr_t>(base) + bytes);
      bytes += roundUp(count * static_cast<int64_t>(sizeof(*part)), kAlignment);
    };
    take(blocks, 4 * args.blockFloats());
    take(group, args.groupBytes() / 4);
    take(gradient, kAmxGroup * args.phiSteps() * kAmxStep);
    take(transposed, 3 * args.rows() * kAmxGroup);
    take(terms, 3 * args.rows());
    take(x, args.xTerms() * kAmxGroup * kGradBlock);
    take(sums, args.joined() * kAmxGroup * kGradBlock);
    take(post, args.postFloats(kAmxGroup));
    take(rows, 2 * kGradBlock);
  }
};

inline int64_t ProjectionBwdCall::threadBytes() const {
  const int64_t atTheEnd = wantsProduct() ? 8 * blockFloats() : 0;
  return saturatingAdd(4 * pieceFloats(), amx ? AmxGradScratch(*this, nullptr).bytes
                                              : std::max(groupBytes() + 4 * postFloats(kGradTokens), atTheEnd));
}

/// The matrix tiles, unless they are less exact than asked: they leave parts of products out (ProjectionBwdAmx-inl.h).
inline const AmxUnit *amxForGradients(const AmxUnit *unit, int32_t precision) {
  return precision == MHCRT_PRECISION_IEEE ? nullptr : unit;
}

/// The gradients of projection_bwd and pre_bwd, without what only one of them has.
template <typename Args>
ProjectionBwdCall projectionBwdOf(const Args &a, const AmxUnit *amx) {
  ProjectionBwdCall call = {};
  call.x = a.x, call.type = a.x_type;
  call.phi = a.phi, call.phiType = a.phi_type;
  call.weight = a.norm_weight, call.weightType = a.norm_weight_type;
  call.dxIn = a.d_x_in, call.dxInType = a.d_x_in_type;
  call.dx = a.d_x, call.dxType = a.d_x_type;
  call.dPhiIn = floats(a.d_phi_in), call.dPhi = floats(a.d_phi);
  call.dWeightIn = floats(a.d_norm_weight_in), call.dWeight = floats(a.d_norm_weight);
  call.M = a.M, call.K = a.K, call.N = a.N, call.n = a.n, call.C = a.C;
  call.layout = a.layout, call.phiLayout = a.phi_layout;
  call.amx = amxForGradients(amx, a.precision);
  // Where d_x starts from d_x_in, its lines are in the caches already.
  call.stream = a.d_x && !a.d_x_in && streams(a.d_x, a.M, a.K * mhcrt_dtype_bytes(a.d_x_type));
  return call;
}

/// t of one token, from the gradient of its statistic.
float statisticFactor(const ProjectionBwdCall &args, const float *dStat, const float *stat, int32_t statForm,
                      int32_t norm, double eps, int64_t m);

/// d_x, d_phi and d_norm_weight. `shared` has args.sharedBytes(), each thread args.threadBytes().
void projectionBackward(mhcrt_context &context, const ProjectionBwdCall &args, char *shared);

} // namespace mhcrt

#endif // MHCRT_CPU_PROJECTION_BWD_H
