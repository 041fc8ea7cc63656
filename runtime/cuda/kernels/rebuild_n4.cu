//===- rebuild_n4.cu - Four streams of several layers in one pass ---------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   u[k]   = sum_i h_pre[k][i] * x[k][i]
//   x[k+1] = drop[k](h_post[k] * (f[k] + bias[k])) + A[k] x[k]      A = h_res (oi) or its transpose (io), x[0] = x
//
// Plan    One column of 16 bytes a thread, which keeps its four streams in registers from layer to layer; the next
//         layer's f is in flight. Up to kLayers layers a launch.
// Bytes   per token and layer 6C elements and 96, at the first layer of a launch 4C more: x is read once.
// Needs   n = 4, layout nC, C a multiple of 16 bytes.
// Round   as aggregate and post, whose bits it has: x[k+1] is rounded before layer k+1 sees it.
// Result  H200, bf16, four layers, M = 8192, C 4096 / 7168: 498 / 878 us, 92 % of copy; 96 registers.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Mix.cuh"
#include "cuda/kernels/Elementwise.h"
#include "cuda/tile/Columns.cuh"

#include <algorithm>

using namespace mhcrt;

namespace {

constexpr int kLayers = 16;

/// Null is what a layer does not have: u, or behind the last layer everything but u.
struct RebuildLayer {
  const uint4 *f;
  const void *bias;
  const float4 *hPre, *hPost, *hRes;
  uint4 *u, *out;
  Dropout dropout;
};

struct RebuildN4 {
  const uint4 *x;
  RebuildLayer layers[kLayers];
  int32_t count;
  uint32_t M, columns;
  bool outputFirst;
};

template <typename T, bool kOutputFirst, bool kDrops>
__device__ __forceinline__ void writeStreams(const PostCoefficients &h, const float (&f)[kLanesOf<T>],
                                             float (&v)[4][kLanesOf<T>], uint4 *out, Column column, uint32_t columns,
                                             const Dropper<kDrops> &dropper) {
  constexpr int kLanes = kLanesOf<T>;
  float next[4][kLanes];
#pragma unroll
  for (int o = 0; o < 4; ++o) {
    h.write<kOutputFirst>(o, f, v, dropper.template lanes<kLanes>(column.at(o, columns)), next[o]);
    const uint4 stored = narrow(next[o], T());
    storeOnce(out + column.at(o, columns), stored);
    widen(stored, next[o], T());
  }
#pragma unroll
  for (int o = 0; o < 4; ++o)
#pragma unroll
    for (int e = 0; e < kLanes; ++e)
      v[o][e] = next[o][e];
}

template <typename T, Bias kBias, bool kDrops>
__global__ void __launch_bounds__(kColumnThreads) rebuildN4Kernel(const __grid_constant__ RebuildN4 args) {
  constexpr int kLanes = kLanesOf<T>;
  beginOverlapped();
  const Column column(args.columns);
  if (column.token >= args.M)
    return;
  const auto loadBranch = [&](int k) {
    const uint4 *f = k < args.count ? args.layers[k].f : nullptr;
    return f ? loadOnce(f + column.flat(args.columns)) : uint4();
  };
  float v[4][kLanes];
  uint4 branch = loadBranch(0);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    widen(loadOnce(args.x + column.at(i, args.columns)), v[i], T());
#pragma unroll 1
  for (int k = 0; k < args.count; ++k) {
    const RebuildLayer &layer = args.layers[k];
    float f[kLanes];
    widen(branch, f, T());
    branch = loadBranch(k + 1);
    if (layer.u) {
      float sum[kLanes];
      readStreams(layer.hPre[column.token], v, sum);
      storeOnce(layer.u + column.flat(args.columns), narrow(sum, T()));
    }
    if (!layer.out)
      break;
    addBias<T, kBias>(layer.bias, column.index, f);
    const PostCoefficients h(layer.hPost, layer.hRes, column.token);
    const Dropper<kDrops> dropper(layer.dropout);
    if (args.outputFirst)
      writeStreams<T, true>(h, f, v, layer.out, column, args.columns, dropper);
    else
      writeStreams<T, false>(h, f, v, layer.out, column, args.columns, dropper);
  }
}

template <typename Pointer>
bool listAligned(Needs &needs, Pointer const *list, int64_t count) {
  return std::all_of(list, list + count, [&](Pointer p) { return needs.aligned({p}); });
}

} // namespace

bool mhcrt::rebuildN4Takes(const RebuildArgs &a, Needs &needs) {
  return columnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.aligned({a.x}) &&
         listAligned(needs, a.h_pre, a.h_pre_count) && listAligned(needs, a.f, a.f_count) &&
         listAligned(needs, a.bias, a.bias_count) && listAligned(needs, a.h_post, a.h_post_count) &&
         listAligned(needs, a.h_res, a.h_res_count) && listAligned(needs, a.u, a.u_count) &&
         listAligned(needs, a.out, a.out_count);
}

static RebuildLayer layerOf(const RebuildArgs &a, int64_t k) {
  RebuildLayer layer = {};
  if (k < a.u_count) {
    layer.hPre = static_cast<const float4 *>(a.h_pre[k]);
    layer.u = static_cast<uint4 *>(a.u[k]);
  }
  if (k < a.out_count) {
    layer.f = static_cast<const uint4 *>(a.f[k]);
    layer.bias = a.bias_count ? a.bias[k] : nullptr;
    layer.hPost = static_cast<const float4 *>(a.h_post[k]);
    layer.hRes = static_cast<const float4 *>(a.h_res[k]);
    layer.out = static_cast<uint4 *>(a.out[k]);
    if (a.seed_count)
      layer.dropout = Dropout(a.seed[k], a.rate, a.stream + k * a.stream_step);
  }
  return layer;
}

template <typename T, bool kDrops>
static cudaError_t launch(const RebuildN4 &args, Bias bias, cudaStream_t stream) {
  const auto kernel = bias == Bias::none   ? rebuildN4Kernel<T, Bias::none, kDrops>
                      : bias == Bias::wide ? rebuildN4Kernel<T, Bias::wide, kDrops>
                                           : rebuildN4Kernel<T, Bias::same, kDrops>;
  return launchOverlapping(kernel, columnBlocks(args.M, args.columns), kColumnThreads, 1, 0, stream, args);
}

cudaError_t mhcrt::rebuildN4(const RebuildArgs &a, cudaStream_t stream) {
  const int64_t steps = std::max(a.out_count, a.u_count);
  const Bias bias = !a.bias_count ? Bias::none : a.bias_type == MHCRT_F32 ? Bias::wide : Bias::same;
  cudaError_t error = cudaSuccess;
  for (int64_t first = 0; first < steps && error == cudaSuccess; first += kLayers) {
    RebuildN4 args = {};
    args.x = static_cast<const uint4 *>(first ? a.out[first - 1] : a.x);
    args.count = static_cast<int32_t>(std::min<int64_t>(kLayers, steps - first));
    for (int k = 0; k < args.count; ++k)
      args.layers[k] = layerOf(a, first + k);
    args.M = static_cast<uint32_t>(a.M);
    args.columns = static_cast<uint32_t>(columnsOf(a.C, a.x_type));
    args.outputFirst = a.orient == MHCRT_ORIENT_OI;
    error = withElement(a.x_type, [&](auto type) {
      using T = decltype(type);
      return a.seed_count ? launch<T, true>(args, bias, stream) : launch<T, false>(args, bias, stream);
    });
  }
  return error;
}
