//===- MixDigits.cpp - Streams that two variables count ---------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Kronecker product of matrices is read as the product of their elements: stream 2 a + b has a for one factor and b
// for the other, and a mix by the product sums over both. They are digits of one variable here, which counts the
// streams.
//
//===------------------------------------------------------------------------===//

#include "Mix.h"

using namespace mlir;
using namespace mhc;
using algebra::Expr;
using algebra::Indices;
using algebra::Piece;
using algebra::Size;
using algebra::Var;

using Extent = IndexVars::value_type;

/// Two digits of one variable, of which the first counts `outer` and the second `inner`.
static std::optional<std::pair<algebra::Index, algebra::Index>> digitsOf(algebra::Sizes &sizes, const Extent &whole,
                                                                         Size outer, Size inner) {
  algebra::Index index = algebra::wholeVar(whole.first, whole.second);
  std::optional<algebra::Index> first = extract(sizes, index, inner, outer), second = extract(sizes, index, 1, inner);
  return first && second ? std::optional(std::pair(*first, *second)) : std::nullopt;
}

void MixSite::readDigits(const algebra::Term &term, size_t sum, std::vector<Mix> &mixes) {
  ArrayRef<Size> extents = term.factors[sum].node()->bound;
  std::optional<Size> count = extents.size() == 2 ? algebra.sizes.multiply(extents[0], extents[1]) : std::nullopt;
  if (!count || !isStreamCount(*count))
    return;
  const Extent stream(algebra.freshVar(), *count);
  const size_t before = mixes.size();
  auto isWhole = [&](const Piece &piece) {
    return piece.var == stream.first && piece.stride == Size(1) && piece.extent == stream.second;
  };
  auto isScattered = [&](const Mix &mix) {
    return llvm::none_of(mix.at, [&](const algebra::Index &index) { return llvm::any_of(index.pieces, isWhole); });
  };
  Indices over(2);
  for (int outer : {0, 1})
    if (auto digits = digitsOf(algebra.sizes, stream, extents[outer], extents[1 - outer])) {
      over[outer] = digits->first;
      over[1 - outer] = digits->second;
      readSumOver(term, sum, {stream}, over, mixes);
    }
  mixes.erase(std::remove_if(mixes.begin() + before, mixes.end(), isScattered), mixes.end());
  countsByDigits |= mixes.size() != before;
}

/// Counts the streams of the value by one variable where two digits of a dimension do.
bool MixSite::joinDigits() {
  for (size_t i = 0; i + 1 < vars.size(); ++i) {
    Extent &outer = vars[i];
    const Extent inner = vars[i + 1];
    ArrayRef<Piece> high = at[outer.first].pieces, low = at[inner.first].pieces;
    std::optional<Size> count = algebra.sizes.multiply(outer.second, inner.second);
    if (high.size() != 1 || low.size() != 1 || high[0].var != low[0].var || !count || !isStreamCount(*count) ||
        algebra.sizes.multiply(low[0].stride, low[0].extent) != high[0].stride)
      continue;
    auto digits = digitsOf(algebra.sizes, {outer.first, *count}, outer.second, inner.second);
    auto atDigit = [&](Var var) {
      if (var == outer.first)
        return digits->first;
      return var == inner.first ? digits->second : algebra::wholeVar(var, algebra::kAnyExtent);
    };
    std::optional<Expr> joined = digits ? algebra.substitute(expr, atDigit) : std::nullopt;
    if (!joined)
      continue;
    expr = *joined;
    at[outer.first].pieces[0] = {low[0].var, low[0].stride, *count, low[0].multiplier};
    outer.second = *count;
    vars.erase(vars.begin() + i + 1);
    return true;
  }
  return false;
}
