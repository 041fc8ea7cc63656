//===- SizeExpression.h - Sizes that follow from symbols --------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_SIZEEXPRESSION_H
#define MHCRT_SRC_SIZEEXPRESSION_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mhcrt {

/// A number times symbols.
struct SizeTerm {
  int64_t factor = 1;
  std::vector<std::string> symbols;
};

/// A sum of products: "4*M*d1+d2-1".
struct SizeExpression {
  std::string text;
  std::vector<SizeTerm> terms;
};

bool isSymbol(const std::string &word);
/// Reads a number of up to 18 digits.
bool parseSize(const std::string &word, int64_t &size);
bool parseExpression(const std::string &text, SizeExpression &expression);

/// False where the value is negative or does not fit 64 bits.
bool evaluate(const SizeExpression &expression, const std::function<int64_t(const std::string &symbol)> &valueOf,
              int64_t &value);

} // namespace mhcrt

#endif // MHCRT_SRC_SIZEEXPRESSION_H
