//===- GatedDelta.h - Tokens and heads of a gated delta net -----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tokens are counted batch first, in the order of the results: token n is n % M of row n / M of the batch. Heads are
// counted in the order of their channels: those of q, those of k, those of v.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_GATEDDELTA_H
#define MHCRT_CPU_GATEDDELTA_H

#include "cpu/Coefficients.h"
#include "cpu/Tokens.h"

namespace mhcrt {

/// Tokens of which the convolution is computed side by side, where they have all their taps in one sequence.
constexpr int64_t kTogether = 4;

/// Tokens of which each head is computed before the next head, at most: its planes stay in the first-level cache.
constexpr int64_t kSpanTokens = 16;

/// Fewer of wider elements. Streams of memory, not arithmetic, bound those: sixteen rows at once are too many for them.
constexpr int64_t spanTokens(int64_t bytes) { return bytes == 4 ? kSpanTokens / 2 : kSpanTokens; }

/// Tokens of one tile. It reads the k - 1 before them once more.
constexpr int64_t kRunTokens = 64;

struct HeadRange {
  int64_t first, last;
};

/// Tokens [n, n+count) of the sequence [begin, end), at most kSpanTokens.
struct Piece {
  int64_t n, count, begin, end;
  int64_t row, step; ///< of token n in qkvzba and in its gradient, and from one token to the next

  int64_t rowOf(int64_t token) const { return row + (token - n) * step; }
};

/// The piece that begins with token n and ends at `last` at most. No token of another sequence is in it.
template <typename Args>
Piece pieceAt(const Args &a, int64_t n, int64_t last) {
  const int64_t i = n / a.M;
  int64_t begin = i * a.M, end = begin + a.M;
  if (a.cu_seqlens) {
    const int32_t *cuts = static_cast<const int32_t *>(a.cu_seqlens), *next = std::upper_bound(cuts, cuts + a.s, n);
    begin = next[-1];
    end = *next;
  }
  const bool isBatchLast = a.seq_layout == MHCRT_SEQ_LAYOUT_MBD;
  return {n, std::min(end, last) - n, begin, end, isBatchLast ? (n - i * a.M) * a.b + i : n, isBatchLast ? a.b : 1};
}

/// The pieces of the tokens [first, last) of a span; returns their number.
template <typename Args>
int64_t spanPieces(const Args &a, int64_t first, int64_t last, Piece (&pieces)[kSpanTokens]) {
  int64_t count = 0;
  for (int64_t n = first; n < last; n += pieces[count++].count)
    pieces[count] = pieceAt(a, n, last);
  return count;
}

/// The first tap that token n of a piece has, those of left_boundary among them.
template <typename Args>
int64_t firstTapOf(const Args &a, const Piece &piece, int64_t n) {
  return a.left_boundary ? 0 : std::max<int64_t>(0, piece.begin - (n - (a.k - 1)));
}

/// Elements from a head's channels to those of the head that comes `count` later; of the last heads of a span to the
/// first ones of the next span, `rows` rows behind.
template <typename Args>
int64_t aheadOf(const Args &args, HeadRange range, int64_t head, int64_t count, int64_t rows) {
  const int64_t wanted = head + count, heads = range.last - range.first;
  const int64_t next = range.first + (wanted - range.first) % heads, spans = (wanted - range.first) / heads;
  return args.heads.channel(next) - args.heads.channel(head) + spans * rows * args.D;
}

/// The row of left_boundary and of its gradient that has token begin - before of a sequence.
template <typename Args>
int64_t boundaryRowOf(const Args &a, const Piece &piece, int64_t before) {
  const int64_t at = a.p - before, i = piece.begin / a.M;
  return a.seq_layout == MHCRT_SEQ_LAYOUT_MBD ? at * a.b + i : i * a.p + at;
}

/// Sizes of heads. Planes of f32 have each head's channels padded to whole pairs of vectors.
struct Heads {
  int64_t keys, values, dk, dv; ///< keys: of q and of k each
  int64_t repeat;               ///< copies of each of them

  template <typename Args>
  explicit Heads(const Args &a) : keys(a.num_key_heads), values(a.hv), dk(a.dk), dv(a.dv), repeat(values / keys) {}

  static int64_t padded(int64_t width) { return roundUp(width, 2 * kMaxLanes); }
  int64_t count() const { return 2 * keys + values; }
  bool isValue(int64_t head) const { return head >= 2 * keys; }
  int64_t width(int64_t head) const { return isValue(head) ? dv : dk; }
  int64_t pad(int64_t head) const { return padded(width(head)); }
  int64_t channel(int64_t head) const {
    return std::min(head, 2 * keys) * dk + std::max<int64_t>(0, head - 2 * keys) * dv;
  }
  /// Padded channels before this head's, the same for count() heads.
  int64_t plane(int64_t head) const {
    return std::min(head, 2 * keys) * padded(dk) + std::max<int64_t>(0, head - 2 * keys) * padded(dv);
  }
  /// The channels of the heads of v in a range, counted from the first of v; those of z alike.
  HeadRange valueChannels(HeadRange range) const {
    return {std::max<int64_t>(0, range.first - 2 * keys) * dv, std::max<int64_t>(0, range.last - 2 * keys) * dv};
  }
  /// The first copy of a head of q or k.
  int64_t copy(int64_t head) const { return (head < keys ? head : head - keys) * repeat; }
};

/// Tiles of a kernel: runs of tokens, each with all heads, or with shares of them where the runs are too few for the
/// threads.
class GatedDeltaTiles {
  int64_t runs, all, length;

public:
  GatedDeltaTiles(const Heads &heads, int64_t runs, int64_t threads) : runs(runs), all(heads.count()), length(all) {
    const int64_t wanted = 4 * threads;
    if (runs < wanted)
      length = std::max<int64_t>(1, all * std::max<int64_t>(1, runs) / wanted);
  }
  int64_t count() const { return runs * divideUp(all, length); }
  int64_t run(int64_t tile) const { return tile % runs; }
  HeadRange heads(int64_t tile) const {
    const int64_t first = tile / runs * length;
    return {first, std::min(all, first + length)};
  }
};

} // namespace mhcrt

#endif // MHCRT_CPU_GATEDDELTA_H
