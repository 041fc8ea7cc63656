//===- Amx.h - Tokens times phi in matrix tiles ------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMX multiplies 16 rows of 32 bf16 by 32 rows of 16 in one instruction and adds the products to f32. Numbers of more
// bits are sums of bf16 terms: hi = the nearest bf16 (or the leading bits), mid = that of the rest, lo = the rest.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_AMX_H
#define MHCRT_CPU_AMX_H

#include <cstdint>

namespace mhcrt {

/// Tokens and columns of one tile of sums, and elements of K of one step.
constexpr int64_t kAmxTokens = 16;
constexpr int64_t kAmxColumns = 16;
constexpr int64_t kAmxStep = 32;
/// bf16 numbers of one tile; a tile is 1 kB.
constexpr int64_t kAmxTile = kAmxStep * kAmxColumns;

/// kAmxTokens tokens times `steps` steps of phi.
struct AmxProduct {
  const void *x;    ///< the first token's elements, steps * kAmxStep of them
  int64_t rowBytes; ///< from one token to the next
  /// [step][tile of columns][pair of k][column][2]. Pairs are neighbours for bf16 x, whose rows are tiles as they lie,
  /// and elements k and k + 16 of a step otherwise.
  const uint16_t *phi;
  int64_t steps;
  /// Tiles of columns that multiply all of x, and those of them that multiply the second and third term of x.
  int64_t tiles, midTiles, loTiles;
  float *sums;    ///< [tile of columns][token][column], added to
  float *squares; ///< [token][kAmxColumns partial sums], added to
};

struct AmxGradientUnit;

/// Operations on this machine's tiles. A thread calls begin() before its first product and end() after its last.
struct AmxUnit {
  void (*begin)();
  void (*end)();
  void (*multiplyBf16)(const AmxProduct &product);
  void (*multiplyF16)(const AmxProduct &product);
  void (*multiplyF32)(const AmxProduct &product);
  const AmxGradientUnit &gradients;
};

/// Null where the processor has no AMX or the system does not let this process use it. Asks the system once.
const AmxUnit *amxUnit();

} // namespace mhcrt

#endif // MHCRT_CPU_AMX_H
