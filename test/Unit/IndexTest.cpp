//===- IndexTest.cpp ----------------------------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhc/Algebra/Index.h"
#include "gtest/gtest.h"

using namespace mhc;
using namespace mhc::algebra;

static Index indexOf(std::initializer_list<Piece> pieces, int64_t offset = 0) {
  Index index;
  index.pieces = pieces;
  index.offset = offset;
  return index;
}

TEST(Index, SplitsAndJoins) {
  Sizes sizes;
  Index v = wholeVar(0, 24);
  std::optional<Index> high = extract(sizes, v, 8, 3), low = extract(sizes, v, 1, 8);
  ASSERT_TRUE(high && low);
  EXPECT_EQ(*high, indexOf({{0, 8, 3, 1}}));
  EXPECT_EQ(*low, indexOf({{0, 1, 8, 1}}));
  Index joined;
  ASSERT_TRUE(addScaled(sizes, joined, *high, 8) && addScaled(sizes, joined, *low, 1));
  normalise(sizes, joined);
  EXPECT_EQ(joined, v);
}

TEST(Index, SplitsOpenSizes) {
  Sizes sizes;
  Size batch = sizes.of(symbolPolynomial(0)), length = sizes.of(symbolPolynomial(1));
  Size tokens = *sizes.multiply(batch, length);
  Index v = wholeVar(0, tokens);
  EXPECT_EQ(extract(sizes, v, length, batch), indexOf({{0, length, batch, 1}}));
  EXPECT_EQ(extract(sizes, v, 1, length), indexOf({{0, 1, length, 1}}));
  EXPECT_EQ(extract(sizes, v, 1, batch), indexOf({{0, 1, batch, 1}}));
  Size other = sizes.of(symbolPolynomial(2));
  EXPECT_EQ(extract(sizes, v, 1, other), std::nullopt);
}

// The length is one token more than another.
TEST(Index, SplitsSumsOfOpenSizes) {
  Sizes sizes;
  Size batch = sizes.of(symbolPolynomial(0)), length = sizes.of(*add(symbolPolynomial(1), constantPolynomial(1)));
  Size tokens = *sizes.multiply(batch, length);
  Index v = wholeVar(0, tokens);
  EXPECT_EQ(extract(sizes, v, length, batch), indexOf({{0, length, batch, 1}}));
  EXPECT_EQ(extract(sizes, v, 1, length), indexOf({{0, 1, length, 1}}));
  EXPECT_EQ(extract(sizes, v, 1, sizes.of(symbolPolynomial(1))), std::nullopt);
  EXPECT_EQ(sizes.divide(*sizes.multiply(length, length), length), length);
  EXPECT_EQ(sizes.divide(*sizes.multiply(tokens, 3), *sizes.multiply(length, 2)), std::nullopt);
  EXPECT_EQ(sizes.divide(tokens, sizes.of(Polynomial())), std::nullopt);
}

TEST(Index, KeepsOffsetsApart) {
  Sizes sizes;
  // Positions 8 to 23 of [3, 8] are rows 1 and 2.
  Index rows = indexOf({{0, 1, 16, 1}}, 8);
  EXPECT_EQ(extract(sizes, rows, 8, 3), indexOf({{0, 8, 2, 1}}, 1));
  EXPECT_EQ(extract(sizes, rows, 1, 8), indexOf({{0, 1, 8, 1}}));
  // Positions 4 to 19 lie across rows.
  EXPECT_EQ(extract(sizes, indexOf({{0, 1, 16, 1}}, 4), 8, 3), std::nullopt);
  // Positions 2 to 4 lie in row 0.
  EXPECT_EQ(extract(sizes, indexOf({{0, 1, 3, 1}}, 2), 8, 3), indexOf({}));
  EXPECT_EQ(extract(sizes, indexOf({{0, 1, 3, 1}}, 2), 1, 8), indexOf({{0, 1, 3, 1}}, 2));
}

TEST(Index, EndsBeforeAnOpenDimensionDoes) {
  Sizes sizes;
  Size length = sizes.of(symbolPolynomial(0)), batch = sizes.of(symbolPolynomial(1));
  Size most = sizes.of(*subtract(symbolPolynomial(0), constantPolynomial(1))); // all tokens but one
  Size tokens = *sizes.multiply(batch, length);
  for (int64_t first : {0, 1}) {
    // Those of each sequence, of [batch * length].
    Index part = indexOf({{0, 1, batch, length}, {1, 1, most, 1}}, first);
    EXPECT_EQ(extract(sizes, part, length, batch), indexOf({{0, 1, batch, 1}}));
    EXPECT_EQ(extract(sizes, part, 1, length), indexOf({{1, 1, most, 1}}, first));
    EXPECT_EQ(extract(sizes, part, 1, tokens), part);
  }
  // One more does not.
  EXPECT_EQ(extract(sizes, indexOf({{0, 1, batch, length}, {1, 1, most, 1}}, 2), length, batch), std::nullopt);
  EXPECT_EQ(extract(sizes, indexOf({{1, 1, length, 1}}, 1), 1, length), std::nullopt);
  EXPECT_EQ(extract(sizes, indexOf({{1, 1, length, 1}}), 1, most), std::nullopt);
}

TEST(Index, SubstitutesPartOfADigit) {
  Sizes sizes;
  // (v div 8) mod 4 where v is a slice of 8: no digit is left.
  auto moved = substitute(sizes, indexOf({{0, 8, 4, 1}}), [](Var) { return wholeVar(1, 8); });
  EXPECT_EQ(moved, indexOf({}));
}

TEST(Index, CoversWholeDimensionsOnly) {
  Sizes sizes;
  EXPECT_TRUE(covers(sizes, wholeVar(0, 24), 24));
  EXPECT_TRUE(covers(sizes, indexOf({{0, 1, 3, 8}, {1, 1, 8, 1}}), 24));
  EXPECT_FALSE(covers(sizes, indexOf({{0, 1, 3, 4}, {1, 1, 8, 1}}), 24)); // overlapping
  EXPECT_FALSE(covers(sizes, indexOf({{0, 1, 8, 1}}, 8), 24));
  EXPECT_TRUE(covers(sizes, indexOf({}), 1));
}
