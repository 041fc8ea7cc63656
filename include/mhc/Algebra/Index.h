//===- Index.h - Index expressions of tensor elements -------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The position along one dimension of a tensor, as a sum of digits of index variables:
//
//   offset + sum over pieces of  multiplier * ((variable div stride) mod extent)
//
// Every view (reshape, transpose, broadcast, slice) is a substitution of such sums: a dimension of n*C elements that
// is split into [n, C] gives the positions `v div C` and `v mod C`, and joining them again gives `v`. Extents, strides
// and multipliers are sizes: numbers, or polynomials of the function's dynamic sizes.
//
//===------------------------------------------------------------------------===//
#ifndef MHC_ALGEBRA_INDEX_H
#define MHC_ALGEBRA_INDEX_H

#include "mhc/Analysis/Polynomial.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/SmallVector.h"

namespace mhc::algebra {

/// A size: a number, or a polynomial of symbols that a table of sizes has. Equal sizes of one table compare equal.
class Size {
public:
  Size(int64_t number = 1) : key(number) {}
  bool isNumber() const { return key >= 0; }
  int64_t number() const { return key; }
  bool operator==(Size other) const { return key == other.key; }
  bool operator!=(Size other) const { return key != other.key; }
  bool operator<(Size other) const { return key < other.key; }
  /// A number that tells sizes of one table apart.
  int64_t id() const { return key; }

private:
  friend class Sizes;
  int64_t key; ///< the number, or the complement of the place in the table
};

/// Arithmetic of sizes. What does not fit 64 bits or is not exact is nothing.
class Sizes {
public:
  Size of(const Polynomial &value);
  Polynomial polynomial(Size size) const;
  std::optional<Size> multiply(Size a, Size b);
  /// a / b, where b divides a for every value of the symbols.
  std::optional<Size> divide(Size a, Size b);
  /// a - b, where that is known not to be negative.
  std::optional<Size> subtract(Size a, Size b);
  bool divides(Size divisor, Size size) { return divide(size, divisor).has_value(); }

private:
  std::map<Polynomial, int64_t> places;
  std::vector<Polynomial> table;
};

using Var = int;

/// multiplier * ((var div stride) mod extent)
struct Piece {
  Var var;
  Size stride, extent, multiplier;
  bool operator==(const Piece &other) const {
    return var == other.var && stride == other.stride && extent == other.extent && multiplier == other.multiplier;
  }
};

/// A position along a dimension; the pieces in order of falling multipliers.
struct Index {
  llvm::SmallVector<Piece, 2> pieces;
  int64_t offset = 0;
  bool operator==(const Index &other) const { return offset == other.offset && pieces == other.pieces; }
  bool operator!=(const Index &other) const { return !(*this == other); }
};
using Indices = llvm::SmallVector<Index, 4>;

/// The variable `var` of `extent` values itself; position 0 where the extent is one.
Index wholeVar(Var var, Size extent);
/// An extent that is a multiple of all extents: each digit of the variable stays.
constexpr int64_t kAnyExtent = 0;

/// Adds `multiplier * index` to `sum`. False where a product of sizes does not fit.
bool addScaled(Sizes &sizes, Index &sum, const Index &index, Size multiplier);
/// Brings an index into its normal form: pieces that continue each other are one.
void normalise(Sizes &sizes, Index &index);

/// (index div stride) mod extent, where no part of the index straddles a boundary.
std::optional<Index> extract(Sizes &sizes, const Index &index, Size stride, Size extent);

/// Puts `at(variable)` in place of each variable.
std::optional<Index> substitute(Sizes &sizes, const Index &index, llvm::function_ref<Index(Var)> at);

/// Whether an index runs over all of 0 to extent - 1.
bool covers(Sizes &sizes, const Index &index, Size extent);

/// Finds lists of indices by what they are.
struct IndicesInfo : llvm::DenseMapInfo<const Indices *> {
  static unsigned getHashValue(llvm::ArrayRef<Index> at);
  static unsigned getHashValue(const Indices *indices) { return getHashValue(llvm::ArrayRef<Index>(*indices)); }
  static bool isEqual(const Indices *a, const Indices *b) { return a == b; }
  static bool isEqual(llvm::ArrayRef<Index> at, const Indices *indices) {
    return indices != getEmptyKey() && indices != getTombstoneKey() && at == llvm::ArrayRef<Index>(*indices);
  }
};

} // namespace mhc::algebra

#endif // MHC_ALGEBRA_INDEX_H
