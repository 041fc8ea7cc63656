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

const char *targetName() { return hwy::TargetName(HWY_TARGET); }

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
HWY_EXPORT(targetName);
} // namespace mhcrt

using namespace mhcrt;

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double mhcrt_measure_call(mhcrt_context *, mhcrt_status (*call)(void *user), void *user) {
  if (call(user) != MHCRT_OK)
    return -1;
  const double start = now();
  return call(user) == MHCRT_OK ? now() - start : -1;
}

double mhcrt_measure_copy_bandwidth(mhcrt_context *context, const void *from, void *to, int64_t bytes) {
  constexpr int64_t kTile = 256 << 10;
  double best = 0;
  for (bool stream : {false, true}) {
    const double start = now();
    context->parallelFor(bytes / kTile, [&](int64_t tile, int) {
      HWY_DYNAMIC_DISPATCH(copyBlock)
      (reinterpret_cast<const float *>(static_cast<const char *>(from) + tile * kTile),
       reinterpret_cast<float *>(static_cast<char *>(to) + tile * kTile), kTile, stream);
    });
    best = std::max(best, 2.0 * static_cast<double>(bytes) / (now() - start));
  }
  return best;
}

double mhcrt_measure_fma_peak(mhcrt_context *context) {
  constexpr int64_t kRounds = 100000, kTilesPerThread = 16;
  std::atomic<int64_t> total{0};
  const double start = now();
  context->parallelFor(kTilesPerThread * context->pool.threads(), [&](int64_t, int) {
    float sink[3] = {1.0f, 0.5f, 1.0f};
    total += HWY_DYNAMIC_DISPATCH(multiplyAdds)(kRounds, sink);
  });
  return static_cast<double>(total.load()) / (now() - start);
}

const char *mhcrt_cpu_target(void) { return HWY_DYNAMIC_DISPATCH(targetName)(); }
#endif // HWY_ONCE
