//===- take_bwd.cpp - Add rows to those of a table ------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_table[v,c] = d_table_in[v,c] + sum_{m: ids[m] = v} d_out[m,c]
//
// Plan    A tile is a strip of channels: its thread walks all tokens in order, so that the sum of an element has one
//         order and no two threads meet.
// Bytes   per token C elements, 8*C of the table and 4; 8*V*C for the table as a whole.
// Needs   numbers of rows that the table has.
// Round   f32 sums in the order of the tokens. d_table may be d_table_in.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/take_bwd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Simd-inl.h"

#include "mhcrt/kernels.h"
#include "src/Context.h"
#include "src/KernelCall.h"

#ifndef MHCRT_CPU_TAKE_BWD_STRIP
#define MHCRT_CPU_TAKE_BWD_STRIP
namespace mhcrt {
/// Channels [begin, end) of the rows that are added and of the table.
struct Strip {
  const int32_t *ids;
  float *table;
  int64_t M, C, begin, end;
};
} // namespace mhcrt
#endif

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

template <typename T>
HWY_INLINE void addRows(const T *rows, const Strip &strip) {
  for (int64_t m = 0; m < strip.M; ++m) {
    const T *from = rows + m * strip.C;
    float *to = strip.table + strip.ids[m] * strip.C;
    for (int64_t c = strip.begin; c < strip.end; c += kLanes)
      storeSome(hn::Add(loadSome(to + c, strip.end - c), loadSome(from + c, strip.end - c)), to + c, strip.end - c);
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

/// Channels of one tile: whole cache lines, few enough that several threads find work.
static constexpr int64_t kStrip = 64;

mhcrt_status mhcrt_take_bwd(mhcrt_context *ctx, const void *d_out, int32_t d_out_type, const void *ids,
                            int32_t ids_type, const void *d_table_in, int32_t d_table_in_type, void *d_table,
                            int32_t d_table_type, int64_t M, int64_t C, int64_t V) {
  KernelCall call(ctx, "mhcrt_take_bwd");
  call.dim("M", M, 0).dim("C", C, 1).dim("V", V, 0);
  call.tensor("d_out", d_out, d_out_type, kFloats, M).indices("ids", ids, ids_type, M, V);
  call.tensor("d_table_in", d_table_in, d_table_in_type, kF32, V).tensor("d_table", d_table, d_table_type, kF32, V);
  if (!call.begin())
    return call.status();

  const float *start = static_cast<const float *>(d_table_in);
  float *table = static_cast<float *>(d_table);
  ctx->parallelFor(divideUp(C, kStrip), [&](int64_t tile, int) {
    const int64_t begin = tile * kStrip, end = std::min(C, begin + kStrip);
    for (int64_t v = 0; v < V && start != table; ++v)
      std::memcpy(table + v * C + begin, start + v * C + begin, (end - begin) * sizeof(float));
    HWY_DYNAMIC_DISPATCH(addAnyRows)(d_out, d_out_type, {static_cast<const int32_t *>(ids), table, M, C, begin, end});
  });
  return MHCRT_OK;
}
#endif // HWY_ONCE
