//===- Amx.cpp - Tokens times phi in matrix tiles -------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intrinsics, because Highway has no matrix tiles; every kernel that uses them has a portable variant beside them.
//
// Plan    Five tiles of sums, 16 tokens by 80 columns (24 outputs in three terms are 72), stay in tile registers for a
//         chunk of K. The vector units meanwhile cut f32 and f16 into terms and add the squares, from the
//         same loads. Rows of bf16 are tiles as they are.
// Round   Products of bf16 are exact in f32. An instruction adds 16 of them to each of two sums, these to each other
//         and to the tile. Denormal terms count as zero, and sums below 2^-126 become it.
//
//===------------------------------------------------------------------------===//
#include "cpu/Amx.h"

#if defined(__x86_64__) && defined(__linux__)

#include "cpu/AmxTerms.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <type_traits>
#include <unistd.h>
#include <utility>

namespace mhcrt {
namespace {

using Bf16 = uint16_t;
struct F16 {
  uint16_t bits;
};

/// Operand of the instruction ldtilecfg: eight tiles of 16 rows of 64 bytes.
struct alignas(64) Config {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(Config) == 64, "the processor's layout");
const Config kConfig;

MHCRT_AMX void begin() { _tile_loadconfig(&kConfig); }
MHCRT_AMX void end() { _tile_release(); }

/// One step of one token: 32 elements as two vectors. bf16 comes as even and odd elements.
MHCRT_AMX inline void loadStep(const Bf16 *x, __m512 &a, __m512 &b) {
  const __m512i both = _mm512_loadu_si512(x);
  a = _mm512_castsi512_ps(_mm512_slli_epi32(both, 16));
  b = leading(_mm512_castsi512_ps(both));
}
MHCRT_AMX inline void loadStep(const F16 *x, __m512 &a, __m512 &b) {
  a = _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(x)));
  b = _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(x + 16)));
}
MHCRT_AMX inline void loadStep(const float *x, __m512 &a, __m512 &b) {
  a = _mm512_loadu_ps(x);
  b = _mm512_loadu_ps(x + 16);
}

/// Terms of x: f16 has 11 leading bits, f32 has 24.
template <typename X>
constexpr int kTerms = std::is_same_v<X, float> ? 3
                       : std::is_same_v<X, F16> ? 2
                                                : 1;

/// sums += tiles 0 .. count-1.
MHCRT_AMX inline void addTiles(int64_t count, float *sums) {
  alignas(64) float buffer[5 * 256];
  _tile_stored(0, buffer, 64);
  _tile_stored(1, buffer + 256, 64);
  _tile_stored(2, buffer + 512, 64);
  _tile_stored(3, buffer + 768, 64);
  _tile_stored(4, buffer + 1024, 64);
  for (int64_t i = 0; i < count * 256; i += 16)
    _mm512_storeu_ps(sums + i, _mm512_add_ps(_mm512_loadu_ps(sums + i), _mm512_load_ps(buffer + i)));
}

// Tile registers are numbers in the instructions: 0 to 4 hold sums, 5 and 6 terms of x, 7 columns of phi.
#define MHCRT_COLUMNS(c)                                                                                               \
  if (c < tiles) {                                                                                                     \
    _tile_loadd(7, phi + c * kAmxTile, 64);                                                                            \
    _tile_dpbf16ps(c, 5, 7);                                                                                           \
    if (kTerms<X> > 1 && c < midTiles)                                                                                 \
      _tile_dpbf16ps(c, 6, 7);                                                                                         \
  }
#define MHCRT_LO_COLUMNS(c)                                                                                            \
  if (c < loTiles) {                                                                                                   \
    _tile_loadd(7, phi + c * kAmxTile, 64);                                                                            \
    _tile_dpbf16ps(c, 5, 7);                                                                                           \
  }
#define MHCRT_TOKENS(from, to)                                                                                         \
  if (hasNext)                                                                                                         \
    takeTokens<X>(x, p.rowBytes, from, to, squares, next);

/// Steps from the loads to where x is asked for; past the end of a run this is the token's next run. Farther ahead,
/// requests to memory fill the line buffers that phi's loads from the second-level cache want.
constexpr int64_t kAheadSteps = 4;

/// Tokens [first, last) of one step, which starts at `x`: adds their squares and writes their terms as tiles.
template <typename X>
MHCRT_AMX inline __attribute__((always_inline)) void takeTokens(const char *x, int64_t rowBytes, int first, int last,
                                                                __m512 *squares, uint16_t *terms) {
#pragma GCC unroll 3
  for (int t = first; t < last; ++t) {
    constexpr int64_t kStepBytes = kAmxStep * sizeof(X);
    const char *row = x + t * rowBytes;
    for (int64_t byte = 0; byte < kStepBytes; byte += 64)
      __builtin_prefetch(row + kAheadSteps * kStepBytes + byte, 0, 2);
    __m512 a, b;
    loadStep(reinterpret_cast<const X *>(row), a, b);
    squares[t] = _mm512_fmadd_ps(b, b, _mm512_fmadd_ps(a, a, squares[t]));
    if (kTerms<X> == 1) { // as it is: rows far apart would drive each other out of the first-level cache
      _mm512_store_si512(terms + t * kAmxStep, _mm512_loadu_si512(row));
      continue;
    }
#pragma GCC unroll 3
    for (int term = 0; term < kTerms<X>; ++term) {
      _mm512_store_si512(terms + term * kAmxTile + t * kAmxStep, pairs(a, b));
      a = _mm512_sub_ps(a, leading(a));
      b = _mm512_sub_ps(b, leading(b));
    }
  }
}

/// Five tiles of columns from the `first` on. Between the products of a step, which keep the multiplier busy for long,
/// the vector units make the tiles of the next one: the processor does not look so far ahead itself.
template <typename X>
MHCRT_AMX void multiplyPanel(const AmxProduct &p, int64_t first) {
  const int64_t tiles = p.tiles - first, midTiles = p.midTiles - first, loTiles = p.loTiles - first;
  const char *x = static_cast<const char *>(p.x);
  const uint16_t *phi = p.phi + first * kAmxTile;
  alignas(64) uint16_t terms[2][3 * kAmxTile];
  __m512 squares[kAmxTokens];
#pragma GCC unroll 16
  for (int t = 0; t < kAmxTokens; ++t)
    squares[t] = _mm512_setzero_ps();
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);

  uint16_t *current = terms[0], *next = terms[1];
  takeTokens<X>(x, p.rowBytes, 0, kAmxTokens, squares, current);
  for (int64_t step = 0; step < p.steps; ++step, phi += p.tiles * kAmxTile) {
    const bool hasNext = step + 1 < p.steps;
    x += kAmxStep * sizeof(X);
    // gcc's intrinsic does not say that it reads memory.
    __asm__ volatile("" : : "r"(current) : "memory");
    _tile_loadd(5, current, 64);
    if (kTerms<X> > 1)
      _tile_loadd(6, current + kAmxTile, 64);
    MHCRT_COLUMNS(0)
    MHCRT_TOKENS(0, 3)
    MHCRT_COLUMNS(1)
    MHCRT_TOKENS(3, 6)
    MHCRT_COLUMNS(2)
    MHCRT_TOKENS(6, 9)
    MHCRT_COLUMNS(3)
    MHCRT_TOKENS(9, 12)
    MHCRT_COLUMNS(4)
    MHCRT_TOKENS(12, 15)
    if (kTerms<X> > 2 && loTiles > 0) {
      _tile_loadd(5, current + 2 * kAmxTile, 64);
      MHCRT_LO_COLUMNS(0)
      MHCRT_LO_COLUMNS(1)
      MHCRT_LO_COLUMNS(2)
      MHCRT_LO_COLUMNS(3)
      MHCRT_LO_COLUMNS(4)
    }
    MHCRT_TOKENS(15, 16)
    std::swap(current, next);
  }
  addTiles(tiles < 5 ? tiles : 5, p.sums + first * 256);
  if (first == 0)
#pragma GCC unroll 16
    for (int t = 0; t < kAmxTokens; ++t) {
      float *sum = p.squares + t * kAmxColumns;
      _mm512_storeu_ps(sum, _mm512_add_ps(_mm512_loadu_ps(sum), squares[t]));
    }
}

template <typename X>
void multiply(const AmxProduct &product) {
  for (int64_t first = 0; first < product.tiles; first += 5)
    multiplyPanel<X>(product, first);
}

bool processorHasTiles() {
  unsigned a, b, c, d;
  constexpr unsigned kAmxBf16 = 1u << 22, kAmxTiles = 1u << 24;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & kAmxBf16) && (d & kAmxTiles) &&
         __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}

/// Tiles are 8 kB more per thread switch, so Linux wants to be asked; its answer holds for all threads of the process.
bool systemGrantsTiles() {
  constexpr int kRequestPermission = 0x1023, kTileData = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

} // namespace
} // namespace mhcrt

const mhcrt::AmxUnit *mhcrt::amxUnit() {
  static const AmxUnit unit = {begin, end, multiply<Bf16>, multiply<F16>, multiply<float>, kAmxGradientUnit};
  static const bool available = processorHasTiles() && systemGrantsTiles();
  return available ? &unit : nullptr;
}

#else

const mhcrt::AmxUnit *mhcrt::amxUnit() { return nullptr; }

#endif
