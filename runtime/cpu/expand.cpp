//===- expand.cpp - One value to n streams --------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   streams[m,i,c] = x[m,c]
//
// Plan    Elements are copied as bits. nC: n copies of a row, a whole cache line per store past the caches where the
//         output is large. Cn: n equal neighbours.
// Bytes   per token (n+1)*C elements.
// Needs   nothing; streaming stores need rows of a multiple of 64 bytes.
// Round   nothing is rounded.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/expand.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Simd-inl.h"

#include "cpu/Entry.h"
#include "cpu/Parts.h"
#include "cpu/Tokens.h"
#include "src/Checks.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// n copies of a row of whole cache lines, past the caches.
void streamCopies(const char *row, int64_t rowBytes, int64_t n, char *token) {
  constexpr int64_t kLine = 16; // in f32
  const float *from = reinterpret_cast<const float *>(row);
  const int64_t count = rowBytes / 4;
  for (int64_t c = 0; c < count; c += kLine) {
    prefetchRow(from, c, count, count);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t k = c; k < c + kLine; k += kLanes)
        hn::Stream(hn::LoadU(d, from + k), d, reinterpret_cast<float *>(token + i * rowBytes) + k);
  }
  hwy::FlushStream();
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(streamCopies);
} // namespace mhcrt

using namespace mhcrt;

template <typename T>
static void expandInnermost(const T *x, int64_t C, int64_t n, T *streams) {
  if (n == 4) {
    for (int64_t c = 0; c < C; ++c)
      for (int i = 0; i < 4; ++i)
        streams[c * 4 + i] = x[c];
    return;
  }
  for (int64_t c = 0; c < C; ++c)
    for (int64_t i = 0; i < n; ++i)
      streams[c * n + i] = x[c];
}

/// The streams of one token, through the caches.
static void expandToken(const char *row, int64_t bytes, int64_t C, int64_t n, int32_t layout, char *token) {
  if (layout == MHCRT_LAYOUT_NC)
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(token + i * C * bytes, row, C * bytes);
  else if (bytes == 2)
    expandInnermost(reinterpret_cast<const uint16_t *>(row), C, n, reinterpret_cast<uint16_t *>(token));
  else
    expandInnermost(reinterpret_cast<const uint32_t *>(row), C, n, reinterpret_cast<uint32_t *>(token));
}

void mhcrt::expandTokens(const ExpandArgs &a, int64_t first, int64_t count, void *to) {
  const int64_t bytes = mhcrt_dtype_bytes(a.x_type), rowBytes = a.C * bytes;
  for (int64_t t = 0; t < count; ++t)
    expandToken(static_cast<const char *>(a.x) + (first + t) * rowBytes, bytes, a.C, a.n, a.layout,
                static_cast<char *>(to) + t * a.n * rowBytes);
}

mhcrt_status mhcrt::runExpand(mhcrt_context &context, const ExpandArgs &a) {
  if (!checkExpand(context, a))
    return context.status;

  const int64_t bytes = mhcrt_dtype_bytes(a.x_type), C = a.C, n = a.n;
  const int64_t rowBytes = C * bytes;
  const char *from = static_cast<const char *>(a.x);
  char *to = static_cast<char *>(a.streams);
  const bool stream = streams(to, a.M * n, rowBytes);
  forTokens(context, a.M, (n + 1) * rowBytes, [&](int64_t first, int64_t last) {
    for (int64_t m = first; m < last; ++m) {
      const char *row = from + m * rowBytes;
      char *token = to + m * n * rowBytes;
      if (a.layout == MHCRT_LAYOUT_NC && stream)
        HWY_DYNAMIC_DISPATCH(streamCopies)(row, rowBytes, n, token);
      else
        expandToken(row, bytes, C, n, a.layout, token);
    }
  });
  return MHCRT_OK;
}

MHCRT_ENTRY(expand, Expand)
#endif // HWY_ONCE
