//===- Index.cpp - Index expressions of tensor elements -----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhc/Algebra/Index.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mhc;
using namespace mhc::algebra;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Size Sizes::of(const Polynomial &value) {
  if (std::optional<int64_t> number = constantOf(value); number && *number >= 0)
    return Size(*number);
  auto [place, isNew] = places.try_emplace(value, table.size());
  if (isNew)
    table.push_back(value);
  Size size;
  size.key = ~place->second;
  return size;
}

Polynomial Sizes::polynomial(Size size) const {
  return size.isNumber() ? constantPolynomial(size.number()) : table[~size.key];
}

std::optional<Size> Sizes::multiply(Size a, Size b) {
  if (a == Size(1) || b == Size(1))
    return a == Size(1) ? b : a;
  if (a.isNumber() && b.isNumber()) {
    std::optional<int64_t> product = llvm::checkedMul(a.number(), b.number());
    return product ? std::optional(Size(*product)) : std::nullopt;
  }
  std::optional<Polynomial> product = mhc::multiply(polynomial(a), polynomial(b));
  return product ? std::optional(of(*product)) : std::nullopt;
}

std::optional<Size> Sizes::divide(Size a, Size b) {
  if (b == Size(1))
    return a;
  if (a == b)
    return Size(1);
  if (b == Size(0))
    return std::nullopt;
  if (a.isNumber() && b.isNumber())
    return a.number() % b.number() == 0 ? std::optional(Size(a.number() / b.number())) : std::nullopt;
  std::optional<Polynomial> quotient = mhc::divide(polynomial(a), polynomial(b));
  return quotient ? std::optional(of(*quotient)) : std::nullopt;
}

std::optional<Size> Sizes::subtract(Size a, Size b) {
  std::optional<Polynomial> difference = mhc::subtract(polynomial(a), polynomial(b));
  bool isKnown = difference && llvm::all_of(*difference, [](const auto &term) { return term.second >= 0; });
  return isKnown ? std::optional(of(*difference)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Index algebra::wholeVar(Var var, Size extent) {
  Index index;
  if (extent != Size(1))
    index.pieces.push_back({var, 1, extent, 1});
  return index;
}

bool algebra::addScaled(Sizes &sizes, Index &sum, const Index &index, Size multiplier) {
  for (Piece piece : index.pieces) {
    std::optional<Size> product = sizes.multiply(piece.multiplier, multiplier);
    if (!product)
      return false;
    piece.multiplier = *product;
    sum.pieces.push_back(piece);
  }
  if (index.offset == 0)
    return true;
  std::optional<int64_t> offset =
      multiplier.isNumber() ? llvm::checkedMulAdd(index.offset, multiplier.number(), sum.offset) : std::nullopt;
  sum.offset = offset.value_or(0);
  return offset.has_value();
}

/// The piece that is `high` and, behind it, `low`; nothing where they do not continue each other.
static std::optional<Piece> joined(Sizes &sizes, const Piece &high, const Piece &low) {
  if (high.var != low.var || sizes.multiply(low.stride, low.extent) != high.stride ||
      sizes.multiply(low.multiplier, low.extent) != high.multiplier)
    return std::nullopt;
  std::optional<Size> extent = sizes.multiply(high.extent, low.extent);
  return extent ? std::optional(Piece{low.var, low.stride, *extent, low.multiplier}) : std::nullopt;
}

void algebra::normalise(Sizes &sizes, Index &index) {
  auto &pieces = index.pieces;
  llvm::erase_if(pieces, [](const Piece &piece) { return piece.extent == Size(1); });
  if (pieces.size() < 2)
    return;
  auto isBefore = [&](const Piece &a, const Piece &b) {
    return a.multiplier != b.multiplier &&
           (a.multiplier.isNumber() && b.multiplier.isNumber() ? b.multiplier.number() < a.multiplier.number()
                                                               : sizes.divides(b.multiplier, a.multiplier));
  };
  if (!llvm::is_sorted(pieces, isBefore))
    llvm::stable_sort(pieces, isBefore);
  for (size_t i = 1; i < pieces.size();)
    if (std::optional<Piece> both = joined(sizes, pieces[i - 1], pieces[i])) {
      pieces[i - 1] = *both;
      pieces.erase(pieces.begin() + i);
      i = std::max<size_t>(i - 1, 1);
    } else {
      ++i;
    }
}

/// Whether the largest value of an index, with `offset` on its pieces, is known to be less than an open bound.
static bool fitsOpen(Sizes &sizes, const Index &index, int64_t offset, Size bound) {
  const Polynomial one = constantPolynomial(1);
  std::optional<Polynomial> rest = mhc::subtract(sizes.polynomial(bound), one);
  for (const Piece &piece : index.pieces) {
    std::optional<Polynomial> last = mhc::subtract(sizes.polynomial(piece.extent), one);
    std::optional<Polynomial> most = last ? mhc::multiply(*last, sizes.polynomial(piece.multiplier)) : std::nullopt;
    rest = rest && most ? mhc::subtract(*rest, *most) : std::nullopt;
  }
  return rest && sizes.subtract(sizes.of(*rest), offset).has_value();
}

static bool fits(Sizes &sizes, const Index &index, int64_t offset, Size bound) {
  auto isKnown = [](const Piece &piece) { return piece.extent.isNumber() && piece.multiplier.isNumber(); };
  if (!bound.isNumber() || !llvm::all_of(index.pieces, isKnown))
    return fitsOpen(sizes, index, offset, bound);
  for (const Piece &piece : index.pieces)
    offset += (piece.extent.number() - 1) * piece.multiplier.number();
  return offset < bound.number();
}

namespace {
/// Cuts pieces at the two boundaries of a digit and keeps those inside.
class Extraction {
public:
  Extraction(Sizes &sizes, Size stride, Size end) : sizes(sizes), stride(stride), end(end) {}

  /// False where a piece straddles a boundary that does not divide it.
  bool add(Piece piece) {
    if (sizes.divides(end, piece.multiplier))
      return true; // a multiple of what the digit counts
    std::optional<Size> reach = sizes.multiply(piece.multiplier, piece.extent);
    if (!reach)
      return false;
    if (std::optional<Size> multiplier = sizes.divide(piece.multiplier, stride)) {
      if (!endsWithin(*reach, end))
        return addParts(piece, end);
      piece.multiplier = *multiplier;
      inside.pieces.push_back(piece);
      return true;
    }
    if (!endsWithin(*reach, stride))
      return addParts(piece, stride);
    below.pieces.push_back(piece);
    return true;
  }

  /// The digit, where nothing carries over into it: what lies below a boundary and the offset stay below it.
  std::optional<Index> finish(int64_t offset, Size extent) {
    int64_t rest = offset;
    if (stride.isNumber()) {
      inside.offset = offset / stride.number();
      rest = offset % stride.number();
    }
    if (extent.isNumber())
      inside.offset %= extent.number();
    const bool areNumbers = stride.isNumber() && end.isNumber();
    if ((areNumbers || offset != 0 || isCut) &&
        (!fits(sizes, below, rest, stride) || !fits(sizes, inside, inside.offset, extent)))
      return std::nullopt;
    normalise(sizes, inside);
    return inside;
  }

private:
  /// Whether a part that reaches so far ends at a boundary or before it.
  bool endsWithin(Size reach, Size boundary) {
    if (reach.isNumber() && boundary.isNumber())
      return reach.number() <= boundary.number();
    if (sizes.divides(reach, boundary))
      return true;
    const bool isBefore = sizes.subtract(boundary, reach).has_value();
    isCut = isCut || isBefore;
    return isBefore;
  }

  /// A piece as its digits above and below a boundary.
  bool addParts(const Piece &piece, Size boundary) {
    std::optional<Size> count = sizes.divide(boundary, piece.multiplier);
    std::optional<Size> rest = count ? sizes.divide(piece.extent, *count) : std::nullopt;
    std::optional<Size> outer = count ? sizes.multiply(piece.stride, *count) : std::nullopt;
    if (!rest || !outer || *rest == Size(1) || *count == Size(1))
      return false;
    return add({piece.var, *outer, *rest, boundary}) && add({piece.var, piece.stride, *count, piece.multiplier});
  }

  Sizes &sizes;
  Size stride, end; ///< the digit counts from `stride` up to `end`
  Index inside, below;
  bool isCut = false; ///< a part of an open size ends before a boundary
};
} // namespace

std::optional<Index> algebra::extract(Sizes &sizes, const Index &index, Size stride, Size extent) {
  std::optional<Size> end = sizes.multiply(stride, extent);
  if (!end || *end == Size(0) || index.offset < 0)
    return std::nullopt;
  if (stride == Size(1) && !extent.isNumber() && fitsOpen(sizes, index, index.offset, extent))
    return index;
  Extraction digit(sizes, stride, *end);
  if (!llvm::all_of(index.pieces, [&](const Piece &piece) { return digit.add(piece); }))
    return std::nullopt;
  return digit.finish(index.offset, extent);
}

std::optional<Index> algebra::substitute(Sizes &sizes, const Index &index, llvm::function_ref<Index(Var)> at) {
  Index result;
  result.offset = index.offset;
  for (const Piece &piece : index.pieces) {
    Index inner = at(piece.var);
    bool isWhole = inner.offset == 0 && inner.pieces.size() == 1 && inner.pieces[0].stride == Size(1) &&
                   inner.pieces[0].multiplier == Size(1);
    std::optional<Size> end = isWhole ? sizes.multiply(piece.stride, piece.extent) : std::nullopt;
    if (end && sizes.divides(*end, inner.pieces[0].extent)) {
      result.pieces.push_back({inner.pieces[0].var, piece.stride, piece.extent, piece.multiplier});
      continue;
    }
    std::optional<Index> digit = extract(sizes, inner, piece.stride, piece.extent);
    if (!digit || !addScaled(sizes, result, *digit, piece.multiplier))
      return std::nullopt;
  }
  normalise(sizes, result);
  return result;
}

bool algebra::covers(Sizes &sizes, const Index &index, Size extent) {
  if (index.offset != 0)
    return false;
  Size next = 1;
  for (const Piece &piece : llvm::reverse(index.pieces)) {
    std::optional<Size> reach = sizes.multiply(piece.multiplier, piece.extent);
    if (piece.multiplier != next || !reach)
      return false;
    next = *reach;
  }
  return next == extent;
}

/// A hash that is cheaper than that of a list of numbers.
unsigned IndicesInfo::getHashValue(llvm::ArrayRef<Index> at) {
  uint64_t sum = at.size();
  auto add = [&](uint64_t number) { sum = llvm::rotl(sum ^ number, 29) * 0x9E3779B97F4A7C15; };
  for (const Index &index : at) {
    add(index.offset);
    for (const Piece &piece : index.pieces) {
      add(piece.var);
      for (Size size : {piece.stride, piece.extent, piece.multiplier})
        add(size.id());
    }
  }
  return llvm::DenseMapInfo<uint64_t>::getHashValue(sum);
}
