//===- BoundaryBwdGrads.cuh - d_x and d_f of a walk over tiles --*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_STREAM_BOUNDARYBWDGRADS_CUH
#define MHCRT_CUDA_STREAM_BOUNDARYBWDGRADS_CUH

#include "cuda/algebra/Mix.cuh"
#include "cuda/stream/BoundaryBwdRing.cuh"
#include "cuda/stream/StreamBwdGrads.cuh"

namespace mhcrt {

/// A token's coefficients of the post before, as a lane needs them.
struct PostToken {
  float4 post;
  float mix[4][4]; ///< [o][i]

  template <class L>
  __device__ __forceinline__ static PostToken of(char *shared, uint32_t rows, int token, bool inputFirst, L) {
    PostToken to;
    to.post = *sharedAt<float4>(shared, rows + L::kPost + token * L::kPostRow);
    const auto *row = sharedAt<float4>(shared, rows + L::kRes + token * L::kMixRow);
#pragma unroll
    for (int o = 0; o < 4; ++o)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        to.mix[o][i] = inputFirst ? part(row[i], o) : part(row[o], i);
    return to;
  }
};

/// 4 channels of each stream of one token: as they lie in a slot, and what is made of them.
struct BoundaryChannels {
  uint2 xs[4], grads[4], f, us;
  uint2 ys[4], dys[4], dxs[4], df;

  __device__ __forceinline__ static uint32_t &half(uint2 &pairs, int k) { return k ? pairs.y : pairs.x; }
  __device__ __forceinline__ static float value(const uint2 &pairs, int k, int e) {
    return e ? highBf16(part(pairs, k)) : lowBf16(part(pairs, k));
  }

  template <class L, Start kStart>
  __device__ __forceinline__ void load(char *shared, uint32_t x, uint32_t channels, L) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      xs[i] = *sharedAt<uint2>(shared, x + i * 1024);
    f = *sharedAt<uint2>(shared, channels + L::kF);
#pragma unroll
    for (int i = 0; i < 4 && kStart != Start::kNone; ++i)
      grads[i] = *sharedAt<uint2>(shared, x + L::kGrad + i * 1024);
    us = *sharedAt<uint2>(shared, channels + L::kDu);
  }

  /// y of pair k, with the bits of mhc.post.
  __device__ __forceinline__ void makeY(const PostToken &h, int k) {
    float in[4][2], branch[2];
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      branch[e] = value(f, k, e);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        in[i][e] = value(xs[i], k, e);
    }
#pragma unroll
    for (int o = 0; o < 4; ++o) {
      float sum[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        sum[e] = part(h.post, o) * branch[e];
#pragma unroll
        for (int i = 0; i < 4; ++i)
          sum[e] = fmaf(h.mix[o][i], in[i][e], sum[e]);
      }
      half(ys[o], k) = packBf16(sum[0], sum[1]);
    }
  }

  /// dy of pair k, from the products of d_proj: 0, 1 are what its first terms give, 2, 3 the second.
  template <class L, Start kStart>
  __device__ __forceinline__ void makeDy(const Token<L, kStart> &token, float scale, const float (&products)[4][4],
                                         int k) {
#pragma unroll
    for (int o = 0; o < 4; ++o) {
      float sums[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float sum = token.factor * value(ys[o], k, e);
        sum = fmaf(part(token.pre, o), value(us, k, e), sum);
        if (kStart == Start::kAdd)
          sum += value(grads[o], k, e);
        if (kStart == Start::kMix) {
#pragma unroll
          for (int next = 0; next < 4; ++next)
            sum = fmaf(token.mix[o][next], value(grads[next], k, e), sum);
        }
        sums[e] = fmaf(products[o][e] + products[o][2 + e], scale, sum);
      }
      half(dys[o], k) = packBf16(sums[0], sums[1]);
    }
  }

  /// d_x and d_f of pair k.
  __device__ __forceinline__ void makeDx(const PostToken &h, int k) {
    float dx[4][2], branch[2];
#pragma unroll
    for (int o = 0; o < 4; ++o)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float dy = value(dys[o], k, e);
        branch[e] = o == 0 ? part(h.post, 0) * dy : fmaf(part(h.post, o), dy, branch[e]);
#pragma unroll
        for (int i = 0; i < 4; ++i)
          dx[i][e] = o == 0 ? h.mix[0][i] * dy : fmaf(h.mix[o][i], dy, dx[i][e]);
      }
#pragma unroll
    for (int i = 0; i < 4; ++i)
      half(dxs[i], k) = packBf16(dx[i][0], dx[i][1]);
    half(df, k) = packBf16(branch[0], branch[1]);
  }

  /// Sums over the warp's 16 channels. A product has the dy of two outputs of all tokens in its rows and one input of
  /// all tokens in its columns; of it count the places where both tokens are the same, one token for each lane that
  /// stores.
  __device__ __forceinline__ void storeSums(float *to) const {
    const int lane = threadIdx.x & 31, g = lane >> 2, q = lane & 3;
    float sums[kTokenSums];
#pragma unroll
    for (int o = 0; o < 4; o += 2)
#pragma unroll
      for (int i = 0; i < 5; ++i) {
        const uint2 in = i < 4 ? xs[i] : f;
        float product[4] = {};
        multiplyBf16(product, dys[o].x, dys[o + 1].x, dys[o].y, dys[o + 1].y, in.x, in.y);
        sums[i < 4 ? 4 * o + i : 16 + o] = g & 1 ? product[1] : product[0];
        sums[i < 4 ? 4 * (o + 1) + i : 16 + o + 1] = g & 1 ? product[3] : product[2];
      }
    if (q != g >> 1)
      return;
#pragma unroll
    for (int k = 0; k < kTokenSums; k += 4)
      *reinterpret_cast<float4 *>(to + k) = make_float4(sums[k], sums[k + 1], sums[k + 2], sums[k + 3]);
  }
};

/// What the products of d_proj give pair k.
template <class L, Start kStart>
__device__ __forceinline__ void multiplyPhi(const Token<L, kStart> &token, const PhiTiles &phi, int k,
                                            float (&products)[4][4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
    multiplyF16(products[i], token.first[0], token.second[0], token.first[1], token.second[1], phi.parts[k][0][i],
                phi.parts[k][1][i]);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    multiplyF16(products[i], token.first[2], token.second[2], phi.parts[k][2][i]);
}

/// Lanes have tokens and channels as in makeGrads of StreamBwdGrads.cuh.
template <class L, Start kStart>
__device__ __forceinline__ void makeGrads(const BoundaryBwdArgs &args, const Walk &walk, int warp) {
  const int lane = threadIdx.x & 31, g = lane >> 2, q = lane & 3, box = warp / 4;
  const int row = ((g & 3) << 1) | (g >> 2);
  const uint32_t inRow = row * 128 + (((warp % 4 * 2 + (q >> 1)) ^ row) * 16) + (q & 1) * 8;
  const PhiTiles phi(args, walk.slice * kSlice + warp * kWarpChannels);
  Slot slot;
#pragma unroll 1
  for (int s = 0; s < walk.count; ++s) {
    barrierWait(walk.full + 8 * slot.at, slot.parity);
    const uint32_t rows = L::kRowsAt + slot.at * L::kRows;
    const uint32_t x = slot.at * L::kBox + box * 4096 + inRow, channels = slot.at * L::kBox + box * 1024 + inRow;
    const Token<L, kStart> token(walk.shared, rows, row, args.transposed);
    const PostToken h = PostToken::of(walk.shared, rows, row, args.inputFirst, L());
    BoundaryChannels c;
    c.load<L, kStart>(walk.shared, x, channels, L());
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      float products[4][4] = {};
      multiplyPhi(token, phi, k, products);
      c.makeY(h, k);
      c.makeDy(token, token.scale * phi.scale, products, k);
      c.makeDx(h, k);
    }
    // The product of d_phi needs zeros behind the last token, where x has them.
    if (args.partials && walk.token(s) + row < args.M)
#pragma unroll
      for (int o = 0; o < 4; ++o)
        *sharedAt<uint2>(walk.shared, x + o * 1024) = c.ys[o];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      *sharedAt<uint2>(walk.shared, x + L::kGrad + i * 1024) = c.dxs[i];
    *sharedAt<uint2>(walk.shared, channels + L::kF) = c.df;
    c.storeSums(
        sharedAt<float>(walk.shared, L::kSumsAt + slot.at * L::kSums + warp * L::kWarpSums + row * kTokenSums * 4));
    fenceBulk();
    __syncwarp();
    if (lane == 0)
      barrierArrive(walk.done + 8 * slot.at);
    slot.advance(walk);
  }
}

} // namespace mhcrt

#endif // MHCRT_CUDA_STREAM_BOUNDARYBWDGRADS_CUH
