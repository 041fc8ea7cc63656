//===- take_bwd.cpp - Add rows to those of a table ------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_table[v,c] = d_table_in[v,c] + sum_{m: ids[m] = v} d_out[m,c]
//
// Plan    The tokens are sorted by their row. A tile is a strip of channels: its thread adds the tokens of each row in
//         their order, so that the sum of an element has one order and no two threads meet.
// Bytes   per token C elements and 12; 8*V*C and 8*V for the table as a whole.
// Needs   numbers of rows that the table has; scratch memory of 8*(M + V).
// Round   compensated f32 sums in the order of the tokens. d_table may be d_table_in.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/take_bwd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Simd-inl.h"

#include "cpu/Entry.h"
#include "cpu/Partials.h"
#include "src/Checks.h"

#include <utility>

#ifndef MHCRT_CPU_TAKE_BWD_STRIP
#define MHCRT_CPU_TAKE_BWD_STRIP
namespace mhcrt {
/// Channels of one tile: whole cache lines, few enough that several threads find work.
constexpr int64_t kStrip = 64;

/// Channels [begin, end) of the rows that are added and of the table.
struct Strip {
  const int64_t *tokens; ///< sorted by their row
  const int64_t *ends;   ///< [V]: behind each row's tokens
  float *table;
  int64_t V, C, begin, end;
};
} // namespace mhcrt
#endif

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

template <typename T>
HWY_INLINE void addRows(const T *rows, const Strip &strip) {
  HWY_ALIGN float row[kStrip], values[kStrip], rests[kStrip];
  const int64_t count = strip.end - strip.begin;
  const CompensatedSums sums = {values, rests};
  for (int64_t v = 0, at = 0; v < strip.V; ++v) {
    if (at == strip.ends[v])
      continue;
    float *to = strip.table + v * strip.C + strip.begin;
    sums.clear(count);
    sums.add(to, count);
    for (; at < strip.ends[v]; ++at) {
      widen(rows + strip.tokens[at] * strip.C + strip.begin, count, row);
      sums.add(row, count);
    }
    sums.store(to, count);
  }
}

void addAnyRows(const void *rows, int32_t type, const Strip &strip) {
  if (type == MHCRT_F32)
    addRows(static_cast<const float *>(rows), strip);
  else if (type == MHCRT_BF16)
    addRows(static_cast<const Bf16 *>(rows), strip);
  else
    addRows(static_cast<const F16 *>(rows), strip);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(addAnyRows);
} // namespace mhcrt

using namespace mhcrt;

/// Sorts the tokens by their row. ends[v] is where those of row v end.
static void sortTokens(const int32_t *ids, int64_t M, int64_t V, int64_t *tokens, int64_t *ends) {
  std::fill_n(ends, V, 0);
  for (int64_t m = 0; m < M; ++m)
    ++ends[ids[m]];
  for (int64_t v = 0, begin = 0; v < V; ++v)
    begin += std::exchange(ends[v], begin);
  for (int64_t m = 0; m < M; ++m)
    tokens[ends[ids[m]]++] = m;
}

mhcrt_status mhcrt::runTakeBwd(mhcrt_context &context, const TakeBwdArgs &a) {
  const int64_t M = a.M, V = a.V, C = a.C;
  if (!checkTakeBwd(context, a, Ids::OnHost) ||
      !context.reserveScratch("mhcrt_take_bwd", saturatingMul(8, saturatingAdd(M, V)), 0))
    return context.status;

  int64_t *tokens = reinterpret_cast<int64_t *>(context.sharedScratch()), *ends = tokens + M;
  sortTokens(static_cast<const int32_t *>(a.ids), M, V, tokens, ends);
  const float *start = floats(a.d_table_in);
  float *table = floats(a.d_table);
  context.parallelFor(divideUp(C, kStrip), [&](int64_t tile, int) {
    const int64_t begin = tile * kStrip, end = std::min(C, begin + kStrip);
    for (int64_t v = 0; v < V && start != table; ++v)
      std::memcpy(table + v * C + begin, start + v * C + begin, (end - begin) * sizeof(float));
    HWY_DYNAMIC_DISPATCH(addAnyRows)(a.d_out, a.d_out_type, {tokens, ends, table, V, C, begin, end});
  });
  return MHCRT_OK;
}

MHCRT_ENTRY(take_bwd, TakeBwd)
#endif // HWY_ONCE
