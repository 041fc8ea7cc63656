//===- BoundaryBwdGrads.cuh - d_x and d_f of a walk over tiles --*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp has 16 channels of the slot's 8 tokens, as matrices of 8 tokens by 8 channels; k counts the two. Lane 4*g + q
// has token g and the channels 2*q, 2*q + 1 of each.
//
// Products with the 4 x 4 matrices of tokens are tiles with 4 tokens times 4 streams in the sum, those of parity b: the
// factors are zero where row and column have different tokens. The other side needs pairs of streams: that of the
// transposed matrix, where a lane has channel g of tokens 2*q and 2*q + 1.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_STREAM_BOUNDARYBWDGRADS_CUH
#define MHCRT_CUDA_STREAM_BOUNDARYBWDGRADS_CUH

#include "cuda/stream/BoundaryBwdRing.cuh"
#include "cuda/stream/StreamBwdGrads.cuh"

#include <cstddef>

namespace mhcrt {

/// Where a lane finds its part of a slot, in bytes from the slot's boxes, and of the rows of coefficients.
struct BoundaryLane {
  int g, q;
  uint32_t streams;  ///< row of the first matrices of four streams; those of k = 1 are at the address ^ 16
  uint32_t channels; ///< of f, k = 0, 1, and d_u
  uint32_t grads;    ///< of d_x: two streams, k = 0, 1; see storeDx()

  template <class L>
  __device__ __forceinline__ static BoundaryLane of(int warp, L) {
    const int lane = threadIdx.x & 31, matrix = lane >> 3, row = lane & 7, box = warp / 4, chunk = warp % 4 * 2;
    const auto at = [&](int token, int k) { return static_cast<uint32_t>(token * 128 + ((chunk + k) ^ token) * 16); };
    BoundaryLane to;
    to.g = lane >> 2, to.q = lane & 3;
    to.streams = box * 4096 + matrix * 1024 + at(row, 0);
    to.channels = (matrix < 2 ? L::kF : L::kDu) + box * 1024 + at(row, matrix & 1);
    to.grads = L::kGrad + box * 4096 + ((row >> 2) + (matrix & 1) * 2) * 1024 + at((row & 3) * 2, matrix >> 1);
    return to;
  }
};

/// The streams in matrices k = 0, 1.
struct StreamPairs {
  uint32_t of[2][4];

  __device__ __forceinline__ void set(int k, const uint4 &pairs) {
    of[k][0] = pairs.x, of[k][1] = pairs.y, of[k][2] = pairs.z, of[k][3] = pairs.w;
  }
};

__device__ __forceinline__ float valueOf(uint32_t pair, int e) { return e ? highBf16(pair) : lowBf16(pair); }

/// Streams 2*r and 2*r + 1 of transposed matrices k, for the tokens of parity b.
__device__ __forceinline__ uint32_t streamsOf(const StreamPairs &pairs, int k, int r, int b) {
  return __byte_perm(pairs.of[k][2 * r], pairs.of[k][2 * r + 1], b ? 0x7632 : 0x5410);
}

/// The coefficients of a slot's tokens.
struct BoundaryRows {
  char *shared;
  uint32_t at, zeros;
  int g, q;

  /// Of token g.
  template <class T>
  __device__ __forceinline__ const T &own(size_t field) const {
    return *sharedAt<const T>(shared, at + g * sizeof(BoundaryRow) + field);
  }
  /// Where the terms lie that the tiles of parity b need whose rows are tokens; zeros for most lanes.
  __device__ __forceinline__ uint32_t ofToken(int b, size_t field) const {
    return 2 * q + b == g ? at + g * sizeof(BoundaryRow) + field : zeros;
  }
  /// The same for rows that are tokens 2*(row % 4) + b with stream row / 4.
  __device__ __forceinline__ uint32_t ofStream(int b) const {
    return q == (g & 3) ? at + (2 * q + b) * sizeof(BoundaryRow) + offsetof(BoundaryRow, resTerms) + (g >> 2) * 16
                        : zeros;
  }
  __device__ __forceinline__ uint4 terms(uint32_t offset) const { return *sharedAt<uint4>(shared, offset); }
};

/// y of matrices k, with the bits of mhc.post.
__device__ __forceinline__ uint4 makeY(const float4 &post, const float4 (&res)[4], const StreamPairs &x, uint32_t f,
                                       int k) {
  uint32_t ys[4];
#pragma unroll
  for (int o = 0; o < 4; ++o) {
    float sum[2];
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      sum[e] = part(post, o) * valueOf(f, e);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        sum[e] = fmaf(part(res[o], i), valueOf(x.of[k][i], e), sum[e]);
    }
    ys[o] = packBf16(sum[0], sum[1]);
  }
  return make_uint4(ys[0], ys[1], ys[2], ys[3]);
}

/// A token's dy, before it is rounded: 0, 1 of each sum have what first terms give, 2, 3 the second.
template <Start kStart>
struct BoundaryDy {
  float sums[2][4][4] = {}; ///< [k][stream]

  /// d_proj W
  __device__ __forceinline__ void addPhi(const uint32_t (&first)[3], const uint32_t (&second)[3],
                                         const PhiTiles<TileOrder::plain> &phi) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
#pragma unroll
      for (int o = 0; o < 4; ++o)
        multiplyF16(sums[k][o], first[0], second[0], first[1], second[1], phi.parts[k][0][o], phi.parts[k][1][o]);
#pragma unroll
      for (int o = 0; o < 4; ++o)
        multiplyF16(sums[k][o], first[2], second[2], phi.parts[k][2][o]);
    }
  }
  /// Times `scale`, and t * y + h_pre * d_u.
  __device__ __forceinline__ void addOwn(int k, float scale, const float4 &pre, float factor, const uint4 &y,
                                         uint32_t du) {
#pragma unroll
    for (int o = 0; o < 4; ++o)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float own = fmaf(part(pre, o), valueOf(du, e), factor * valueOf(part(y, o), e));
        sums[k][o][e] = fmaf(sums[k][o][e], scale, own);
        sums[k][o][2 + e] *= scale;
      }
  }
  /// The start: `grads` are transposed where the post behind mixes them.
  __device__ __forceinline__ void addStart(const BoundaryRows &rows, const StreamPairs &grads) {
    if (kStart == Start::kAdd) {
#pragma unroll
      for (int k = 0; k < 2; ++k)
#pragma unroll
        for (int o = 0; o < 4; ++o)
#pragma unroll
          for (int e = 0; e < 2; ++e)
            sums[k][o][e] += valueOf(grads.of[k][o], e);
    }
    if (kStart == Start::kMix) {
#pragma unroll
      for (int b = 0; b < 2; ++b) {
        const uint32_t at = rows.ofToken(b, offsetof(BoundaryRow, mixTerms));
#pragma unroll
        for (int o = 0; o < 4; ++o) {
          const uint4 terms = rows.terms(at + o * 16);
#pragma unroll
          for (int k = 0; k < 2; ++k)
            multiplyBf16(sums[k][o], terms.x, terms.y, terms.z, terms.w, streamsOf(grads, k, 0, b),
                         streamsOf(grads, k, 1, b));
        }
      }
    }
  }
  __device__ __forceinline__ StreamPairs rounded() const {
    StreamPairs to;
#pragma unroll
    for (int k = 0; k < 2; ++k)
#pragma unroll
      for (int o = 0; o < 4; ++o)
        to.of[k][o] = packBf16(sums[k][o][0] + sums[k][o][2], sums[k][o][1] + sums[k][o][3]);
    return to;
  }
};

/// d_x of the tokens of parity b. A tile's rows are 4 tokens times streams 0 and 1, then times 2 and 3.
__device__ __forceinline__ void storeDx(const BoundaryRows &rows, const StreamPairs &dyTransposed, int b, uint32_t to) {
  const uint32_t at = rows.ofStream(b);
  const uint4 low = rows.terms(at), high = rows.terms(at + 32);
  uint32_t dx[2][2];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const uint32_t front = streamsOf(dyTransposed, k, 0, b), back = streamsOf(dyTransposed, k, 1, b);
    float sums[4] = {};
    multiplyBf16(sums, low.x, high.x, low.z, high.z, front, back);
    multiplyBf16(sums, low.y, high.y, low.w, high.w, front, back);
    dx[k][0] = packBf16(sums[0], sums[1]);
    dx[k][1] = packBf16(sums[2], sums[3]);
  }
  storeMatrices(to, make_uint4(dx[0][0], dx[0][1], dx[1][0], dx[1][1]));
}

/// d_f of all tokens.
__device__ __forceinline__ uint2 makeDf(const BoundaryRows &rows, const StreamPairs &dyTransposed) {
  float sums[2][4] = {};
#pragma unroll
  for (int b = 0; b < 2; ++b) {
    const uint4 terms = rows.terms(rows.ofToken(b, offsetof(BoundaryRow, postTerms)));
#pragma unroll
    for (int k = 0; k < 2; ++k)
      multiplyBf16(sums[k], terms.x, terms.y, terms.z, terms.w, streamsOf(dyTransposed, k, 0, b),
                   streamsOf(dyTransposed, k, 1, b));
  }
  return make_uint2(packBf16(sums[0][0] + sums[0][2], sums[0][1] + sums[0][3]),
                    packBf16(sums[1][0] + sums[1][2], sums[1][1] + sums[1][3]));
}

/// Sums of d_h_res and d_h_post over the warp's channels, of every token at `to`. A tile has the dy of two outputs of
/// all tokens in its rows, and one input of all tokens in its columns; of it count the places where both tokens are the
/// same: a lane in four has one of them.
__device__ __forceinline__ void storeTokenSums(const StreamPairs &dy, const StreamPairs &x, const uint32_t (&f)[2],
                                               int g, int q, float *to) {
  float sums[kTokenSums];
#pragma unroll
  for (int o = 0; o < 4; o += 2)
#pragma unroll
    for (int i = 0; i < 5; ++i) {
      float tile[4] = {};
      multiplyBf16(tile, dy.of[0][o], dy.of[0][o + 1], dy.of[1][o], dy.of[1][o + 1], i < 4 ? x.of[0][i] : f[0],
                   i < 4 ? x.of[1][i] : f[1]);
      sums[i < 4 ? 4 * o + i : 16 + o] = g & 1 ? tile[1] : tile[0];
      sums[i < 4 ? 4 * (o + 1) + i : 16 + o + 1] = g & 1 ? tile[3] : tile[2];
    }
  if (q != g >> 1)
    return;
#pragma unroll
  for (int k = 0; k < kTokenSums; k += 4)
    *reinterpret_cast<float4 *>(to + g * kTokenSums + k) = make_float4(sums[k], sums[k + 1], sums[k + 2], sums[k + 3]);
}

/// A warp's part of a slot, whose boxes are at `box`.
template <Start kStart>
__device__ __forceinline__ void makeTile(const BoundaryRows &rows, const BoundaryLane &lane,
                                         const PhiTiles<TileOrder::plain> &phi, uint32_t box, bool hasProduct,
                                         float *tokenSums) {
  const uint32_t streams = box + lane.streams;
  StreamPairs x, grads;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    x.set(k, loadMatrices(streams ^ (16 * k)));
    if (kStart != Start::kNone) {
      const uint32_t at = (streams ^ (16 * k)) + kStreamsBytes;
      grads.set(k, kStart == Start::kMix ? loadTransposed(at) : loadMatrices(at));
    }
  }
  const uint4 channels = loadMatrices(box + lane.channels);
  const uint32_t f[2] = {channels.x, channels.y}, du[2] = {channels.z, channels.w};

  const float2 factors = rows.own<float2>(offsetof(BoundaryRow, factor));
  const float inverse = inverseScale(factors.y);
  uint32_t first[3], second[3];
#pragma unroll
  for (int n = 0; n < 3; ++n) {
    const float2 proj = rows.own<float2>(offsetof(BoundaryRow, dProj) + (n * 8 + 2 * lane.q) * 4);
    splitF16(proj.x * inverse, proj.y * inverse, first[n], second[n]);
  }
  BoundaryDy<kStart> sums;
  sums.addPhi(first, second, phi);
  {
    const float4 post = rows.own<float4>(offsetof(BoundaryRow, post)),
                 pre = rows.own<float4>(offsetof(BoundaryRow, pre));
    float4 res[4];
#pragma unroll
    for (int o = 0; o < 4; ++o)
      res[o] = rows.own<float4>(offsetof(BoundaryRow, res) + 16 * o);
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const uint4 y = makeY(post, res, x, f[k], k);
      if (hasProduct)
        storeMatrices(streams ^ (16 * k), y);
      sums.addOwn(k, factors.y * phi.scale, pre, factors.x, y, du[k]);
    }
  }
  sums.addStart(rows, grads);
  const StreamPairs dy = sums.rounded();
  storeTokenSums(dy, x, f, lane.g, lane.q, tokenSums);
  StreamPairs dyTransposed;
#pragma unroll
  for (int k = 0; k < 2; ++k)
#pragma unroll
    for (int o = 0; o < 4; ++o)
      dyTransposed.of[k][o] = transposed(dy.of[k][o]);
  storeDx(rows, dyTransposed, 0, box + lane.grads);
  storeDx(rows, dyTransposed, 1, ((box + lane.grads) ^ 16) + 128);
  storeMatrices(box + lane.channels, makeDf(rows, dyTransposed));
}

template <class L, Start kStart>
__device__ __forceinline__ void makeGrads(const BoundaryBwdArgs &args, const Walk &walk, int warp) {
  const BoundaryLane lane = BoundaryLane::of(warp, L());
  const PhiTiles<TileOrder::plain> phi(args, walk.slice * kSlice + warp * kWarpChannels);
  Slot slot;
#pragma unroll 1
  for (int s = 0; s < walk.count; ++s) {
    barrierWait(walk.full + 8 * slot.at, slot.parity);
    const BoundaryRows rows = {walk.shared, L::kRowsAt + slot.at * L::kRows, L::kZerosAt, lane.g, lane.q};
    makeTile<kStart>(rows, lane, phi, walk.base + slot.at * L::kBox, args.partials,
                     sharedAt<float>(walk.shared, L::kSumsAt + slot.at * L::kSums + warp * L::kWarpSums));
    fenceBulk();
    __syncwarp();
    if ((threadIdx.x & 31) == 0)
      barrierArrive(walk.done + 8 * slot.at);
    slot.advance(walk);
  }
}

} // namespace mhcrt

#endif // MHCRT_CUDA_STREAM_BOUNDARYBWDGRADS_CUH
