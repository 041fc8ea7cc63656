//===- SizeExpression.cpp - Sizes that follow from symbols ----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "SizeExpression.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

using namespace mhcrt;

bool mhcrt::isSymbol(const std::string &word) {
  return (std::isalpha(static_cast<unsigned char>(word[0])) || word[0] == '_') &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

bool mhcrt::parseSize(const std::string &word, int64_t &size) {
  if (word.empty() || word.size() > 18 ||
      !std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); }))
    return false;
  size = std::strtoll(word.c_str(), nullptr, 10);
  return true;
}

static bool parseTerm(const std::string &text, SizeTerm &term) {
  for (size_t start = 0, end = 0; end != std::string::npos; start = end + 1) {
    end = text.find('*', start);
    const std::string factor = text.substr(start, end == std::string::npos ? end : end - start);
    int64_t number;
    if (isSymbol(factor))
      term.symbols.push_back(factor);
    else if (!parseSize(factor, number) || __builtin_mul_overflow(term.factor, number, &term.factor))
      return false;
  }
  return true;
}

bool mhcrt::parseExpression(const std::string &text, SizeExpression &expression) {
  expression = {text, {}};
  size_t start = text[0] == '-' ? 1 : 0;
  for (int64_t sign = start ? -1 : 1;;) {
    const size_t end = text.find_first_of("+-", start);
    SizeTerm term{sign, {}};
    if (!parseTerm(text.substr(start, end == std::string::npos ? end : end - start), term))
      return false;
    expression.terms.push_back(term);
    if (end == std::string::npos)
      return true;
    sign = text[end] == '-' ? -1 : 1;
    start = end + 1;
  }
}

bool mhcrt::evaluate(const SizeExpression &expression, const std::function<int64_t(const std::string &symbol)> &valueOf,
                     int64_t &value) {
  value = 0;
  for (const SizeTerm &term : expression.terms) {
    int64_t product = term.factor;
    bool fits = true;
    for (const std::string &symbol : term.symbols)
      fits = fits && !__builtin_mul_overflow(product, valueOf(symbol), &product);
    if (!fits || __builtin_add_overflow(value, product, &value))
      return false;
  }
  return value >= 0;
}
