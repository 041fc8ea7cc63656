//===- AmxGradient.cpp - Gradients of a projection in matrix tiles --------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plan    d_phi: two tiles of rows by two of K in tile registers while 64 tokens pass. d_x: four tiles of tokens by
//         one of K; each tile of phi comes once from the second-level cache.
// Round   as in Amx.cpp.
//
//===------------------------------------------------------------------------===//
#include "cpu/AmxGradient.h"

#if defined(__x86_64__) && defined(__linux__)

#include "cpu/AmxTerms.h"

namespace mhcrt {
namespace {

/// Part `part` of `parts` of the requests for `ahead`.
inline __attribute__((always_inline)) void ask(const AmxAhead &ahead, int64_t part, int64_t parts) {
  for (int64_t row = part * ahead.count / parts; row < (part + 1) * ahead.count / parts; ++row)
    for (int64_t byte = 0; byte < ahead.bytes; byte += 64)
      __builtin_prefetch(ahead.rows + row * ahead.stride + byte, 0, 2);
}

// Tile registers: 0 to 3 hold sums, 4 and 5 two tiles of rows, 6 and 7 two tiles of k.

/// Two tiles of rows, or the last one alone, times two tiles of k.
template <bool kTwo>
MHCRT_AMX inline __attribute__((always_inline)) void sumTiles(const AmxTokenSum &s, int64_t row, int64_t k) {
  const int64_t sumBytes = s.elements * sizeof(float), rowBytes = kAmxGroup * sizeof(uint16_t);
  const int64_t termLength = 2 * s.elements, pairLength = s.xTerms * termLength;
  float *sums = s.sums + row * s.elements + k, *lower = sums + kAmxColumns * s.elements;
  _tile_loadd(0, sums, sumBytes);
  _tile_loadd(1, sums + kAmxColumns, sumBytes);
  if (kTwo) {
    _tile_loadd(2, lower, sumBytes);
    _tile_loadd(3, lower + kAmxColumns, sumBytes);
  }
  for (int64_t token = 0; token < kAmxGroup; token += kAmxStep)
    for (int64_t xTerm = 0; xTerm < s.xTerms; ++xTerm) {
      const uint16_t *columns = s.x + token / 2 * pairLength + xTerm * termLength + 2 * k;
      _tile_loadd(6, columns, pairLength * sizeof(uint16_t));
      _tile_loadd(7, columns + 2 * kAmxColumns, pairLength * sizeof(uint16_t));
      for (int64_t term = 0; term < 3 - xTerm; ++term) {
        const uint16_t *rows = s.gradient + (term * s.rows + row) * kAmxGroup + token;
        _tile_loadd(4, rows, rowBytes);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        if (kTwo) {
          _tile_loadd(5, rows + kAmxColumns * kAmxGroup, rowBytes);
          _tile_dpbf16ps(2, 5, 6);
          _tile_dpbf16ps(3, 5, 7);
        }
      }
    }
  _tile_stored(0, sums, sumBytes);
  _tile_stored(1, sums + kAmxColumns, sumBytes);
  if (kTwo) {
    _tile_stored(2, lower, sumBytes);
    _tile_stored(3, lower + kAmxColumns, sumBytes);
  }
}

MHCRT_AMX void sumTokens(const AmxTokenSum &s) {
  for (int64_t k = 0; k < s.elements; k += 2 * kAmxColumns) {
    int64_t row = 0;
    for (; row + 2 * kAmxColumns <= s.rows; row += 2 * kAmxColumns)
      sumTiles<true>(s, row, k);
    if (row < s.rows)
      sumTiles<false>(s, row, k);
  }
}

MHCRT_AMX void multiplyPhi(const AmxPhiProduct &p) {
  const int64_t width = p.steps * kAmxStep, rowBytes = width * sizeof(uint16_t), sumBytes = p.elements * sizeof(float);
  const uint16_t *phi = p.phi;
  for (int64_t k = 0; k < p.elements; k += kAmxColumns) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    const uint16_t *gradient = p.gradient;
    for (int64_t step = 0; step < p.steps; ++step, phi += kAmxTile, gradient += kAmxStep) {
      ask(p.ahead[0], k / kAmxColumns * p.steps + step, p.elements / kAmxColumns * p.steps);
      ask(p.ahead[1], k / kAmxColumns * p.steps + step, p.elements / kAmxColumns * p.steps);
      _tile_loadd(7, phi, 64);
      _tile_loadd(5, gradient, rowBytes);
      _tile_dpbf16ps(0, 5, 7);
      _tile_loadd(6, gradient + kAmxTokens * width, rowBytes);
      _tile_dpbf16ps(1, 6, 7);
      _tile_loadd(4, gradient + 2 * kAmxTokens * width, rowBytes);
      _tile_dpbf16ps(2, 4, 7);
      _tile_loadd(5, gradient + 3 * kAmxTokens * width, rowBytes);
      _tile_dpbf16ps(3, 5, 7);
    }
    float *sums = p.sums + k;
    _tile_stored(0, sums, sumBytes);
    _tile_stored(1, sums + kAmxTokens * p.elements, sumBytes);
    _tile_stored(2, sums + 2 * kAmxTokens * p.elements, sumBytes);
    _tile_stored(3, sums + 3 * kAmxTokens * p.elements, sumBytes);
  }
}

} // namespace

const AmxGradientUnit kAmxGradientUnit = {sumTokens, multiplyPhi};
} // namespace mhcrt

#endif
