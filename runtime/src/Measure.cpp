//===- Measure.cpp - Copy speed and multiply-add peak ---------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/Measure.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// `bytes` is a multiple of 8 vectors; both sides are aligned. Four rows at a time, as the kernels have four streams:
/// the prefetchers of one core bring more from four places than from one.
template <bool kStream>
HWY_INLINE void copyAs(const float *from, float *to, int64_t bytes) {
  const int64_t row = bytes / 16;
  for (int64_t i = 0; i < row; i += 2 * kLanes)
    for (int r = 0; r < 4; ++r)
      storePair<kStream>(hn::Load(d, from + r * row + i), hn::Load(d, from + r * row + i + kLanes), to + r * row + i);
  if (kStream)
    hwy::FlushStream();
}

void copyBlock(const float *from, float *to, int64_t bytes, bool stream) {
  if (stream)
    copyAs<true>(from, to, bytes);
  else
    copyAs<false>(from, to, bytes);
}

/// Returns the number of multiply-adds; `sink` keeps the compiler from dropping them.
int64_t multiplyAdds(int64_t rounds, float *sink) {
  constexpr int kChains = 12; // covers 2 units x 6 cycles; fits 16 registers
  V sums[kChains];
  for (int i = 0; i < kChains; ++i)
    sums[i] = hn::Set(d, sink[0] + static_cast<float>(i));
  const V factor = hn::Set(d, sink[1]), term = hn::Set(d, sink[2]);
  for (int64_t round = 0; round < rounds; ++round)
    for (int i = 0; i < kChains; ++i)
      sums[i] = hn::MulAdd(sums[i], factor, term);
  for (int i = 1; i < kChains; ++i)
    sums[0] = hn::Add(sums[0], sums[i]);
  sink[0] = hn::GetLane(hn::SumOfLanes(d, sums[0])) > 0 ? 1.0f : 2.0f;
  return rounds * kChains * kLanes;
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "mhcrt/measure.h"
#include "src/Context.h"

#include <chrono>

namespace mhcrt {
HWY_EXPORT(copyBlock);
HWY_EXPORT(multiplyAdds);
} // namespace mhcrt

using namespace mhcrt;

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double mhcrt_measure_copy_bandwidth(mhcrt_context *context) {
  constexpr int64_t kBytes = 256 << 20, kTile = 256 << 10;
  constexpr int kRuns = 8;
  // Memory of its own: the context's scratch never shrinks, and half a gigabyte should not stay.
  Block block;
  char *from = static_cast<char *>(block.reserve(2 * kBytes, context->allocations));
  if (!from) {
    context->fail(MHCRT_OUT_OF_MEMORY, "mhcrt_measure_copy_bandwidth: no memory for %lld bytes",
                  static_cast<long long>(2 * kBytes));
    return 0;
  }
  std::memset(from, 0, 2 * kBytes);
  double best = 0;
  for (int run = 0; run < 2 * kRuns; ++run) {
    const bool stream = run % 2 == 0;
    const double start = now();
    context->parallelFor(kBytes / kTile, [&](int64_t tile, int) {
      HWY_DYNAMIC_DISPATCH(copyBlock)
      (reinterpret_cast<const float *>(from + tile * kTile), reinterpret_cast<float *>(from + kBytes + tile * kTile),
       kTile, stream);
    });
    best = std::max(best, 2.0 * kBytes / (now() - start));
  }
  return best;
}

double mhcrt_measure_fma_peak(mhcrt_context *context) {
  constexpr int64_t kRounds = 100000, kTilesPerThread = 16;
  constexpr int kRuns = 8;
  const int64_t tiles = kTilesPerThread * context->pool.threads();
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::atomic<int64_t> total{0};
    const double start = now();
    context->parallelFor(tiles, [&](int64_t, int) {
      float sink[3] = {1.0f, 0.5f, 1.0f};
      total += HWY_DYNAMIC_DISPATCH(multiplyAdds)(kRounds, sink);
    });
    best = std::max(best, static_cast<double>(total.load()) / (now() - start));
  }
  return best;
}
#endif // HWY_ONCE
