//===- AmxTerms.h - bf16 terms in vector registers ---------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_AMXTERMS_H
#define MHCRT_CPU_AMXTERMS_H

// gcc 12 takes the deliberately undefined lanes inside its own intrinsics for a mistake.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include "cpu/AmxGradient.h"

#include <immintrin.h>

#define MHCRT_AMX __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw")))

namespace mhcrt {

/// AmxGradient.cpp, for the table of Amx.cpp.
extern const AmxGradientUnit kAmxGradientUnit;

/// The leading bf16 of each lane.
MHCRT_AMX inline __m512 leading(__m512 v) {
  return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(v), _mm512_set1_epi32(0xFFFF0000)));
}

/// The leading halves of a and b as pairs.
MHCRT_AMX inline __m512i pairs(__m512 a, __m512 b) {
  return _mm512_or_si512(_mm512_srli_epi32(_mm512_castps_si512(a), 16), _mm512_castps_si512(leading(b)));
}

} // namespace mhcrt

#endif // MHCRT_CPU_AMXTERMS_H
