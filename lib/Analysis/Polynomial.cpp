//===- Polynomial.cpp - Sizes as polynomials of symbols ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/Polynomial.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mhc;

Polynomial mhc::constantPolynomial(int64_t value) { return value ? Polynomial{{Monomial{}, value}} : Polynomial{}; }

Polynomial mhc::symbolPolynomial(unsigned symbol) { return {{Monomial{symbol}, 1}}; }

/// Adds a term to `sum`; false where that overflows.
static bool addTerm(Polynomial &sum, const Monomial &monomial, int64_t coefficient) {
  auto [term, isNew] = sum.try_emplace(monomial, 0);
  if (llvm::AddOverflow(term->second, coefficient, term->second))
    return false;
  if (term->second == 0)
    sum.erase(term);
  return true;
}

std::optional<Polynomial> mhc::add(const Polynomial &a, const Polynomial &b) {
  Polynomial sum = a;
  for (auto &[monomial, coefficient] : b)
    if (!addTerm(sum, monomial, coefficient))
      return std::nullopt;
  return sum;
}

std::optional<Polynomial> mhc::subtract(const Polynomial &a, const Polynomial &b) {
  std::optional<Polynomial> negative = multiply(b, constantPolynomial(-1));
  return negative ? add(a, *negative) : std::nullopt;
}

std::optional<Polynomial> mhc::multiply(const Polynomial &a, const Polynomial &b) {
  Polynomial product;
  for (auto &[left, x] : a)
    for (auto &[right, y] : b) {
      Monomial monomial;
      std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(monomial));
      int64_t coefficient;
      if (llvm::MulOverflow(x, y, coefficient) || !addTerm(product, monomial, coefficient))
        return std::nullopt;
    }
  return product;
}

/// Whether `a` comes before `b` in an order that products keep: by degree, and then by symbol.
static bool isLower(const Polynomial::value_type &a, const Polynomial::value_type &b) {
  return a.first.size() != b.first.size() ? a.first.size() < b.first.size() : a.first < b.first;
}

std::optional<Polynomial> mhc::divide(const Polynomial &a, const Polynomial &divisor) {
  if (divisor.empty())
    return std::nullopt;
  const auto &[symbols, factor] = *llvm::max_element(divisor, isLower);
  Polynomial rest = a, quotient;
  while (!rest.empty()) { // each step takes the highest term of the rest away
    const auto &[monomial, coefficient] = *llvm::max_element(rest, isLower);
    Monomial left;
    std::set_difference(monomial.begin(), monomial.end(), symbols.begin(), symbols.end(), std::back_inserter(left));
    if (coefficient % factor || left.size() + symbols.size() != monomial.size())
      return std::nullopt;
    const Polynomial term = {{left, coefficient / factor}};
    std::optional<Polynomial> taken = multiply(term, divisor), next = taken ? subtract(rest, *taken) : std::nullopt;
    if (!next)
      return std::nullopt;
    quotient.insert(term.begin(), term.end());
    rest = std::move(*next);
  }
  return quotient;
}

std::optional<int64_t> mhc::constantOf(const Polynomial &a) {
  if (a.empty())
    return 0;
  return a.size() == 1 && a.begin()->first.empty() ? std::optional(a.begin()->second) : std::nullopt;
}

std::optional<unsigned> mhc::symbolOf(const Polynomial &a) {
  bool isSymbol = a.size() == 1 && a.begin()->second == 1 && a.begin()->first.size() == 1;
  return isSymbol ? std::optional(a.begin()->first.front()) : std::nullopt;
}

std::optional<int64_t> mhc::valueOf(const Polynomial &a, llvm::function_ref<int64_t(unsigned)> sizeOf) {
  std::optional<int64_t> sum = 0;
  for (auto &[monomial, coefficient] : a) {
    std::optional<int64_t> product = coefficient;
    for (unsigned symbol : monomial)
      product = product ? llvm::checkedMul(*product, sizeOf(symbol)) : product;
    sum = sum && product ? llvm::checkedAdd(*sum, *product) : std::nullopt;
  }
  return sum;
}

mlir::Value mhc::materialise(mlir::OpBuilder &builder, mlir::Location loc, const Polynomial &a,
                             llvm::function_ref<mlir::Value(const Monomial &)> productOf) {
  mlir::Value sum;
  for (const auto &[monomial, coefficient] : a) {
    mlir::Value term = monomial.empty() ? mlir::Value() : productOf(monomial);
    if (!term && !monomial.empty())
      return {};
    if (!term || coefficient != 1) {
      mlir::Value number = mlir::arith::ConstantIndexOp::create(builder, loc, coefficient);
      term = term ? mlir::arith::MulIOp::create(builder, loc, number, term).getResult() : number;
    }
    sum = sum ? mlir::arith::AddIOp::create(builder, loc, sum, term).getResult() : term;
  }
  return sum;
}

/// Text of a term without its sign.
static std::string describeTerm(const Monomial &monomial, int64_t coefficient,
                                llvm::function_ref<std::string(unsigned)> nameOf) {
  std::string digits = std::to_string(coefficient);
  digits.erase(0, digits.front() == '-');
  std::string text = digits == "1" && !monomial.empty() ? "" : digits;
  for (unsigned symbol : monomial)
    text += (text.empty() ? "" : "*") + nameOf(symbol);
  return text;
}

std::string mhc::describe(const Polynomial &a, llvm::function_ref<std::string(unsigned)> nameOf) {
  std::string text;
  // A sum begins with a symbol that is added, where there is one.
  for (bool negative : {false, true})
    for (bool number : {false, true})
      for (auto &[monomial, coefficient] : a)
        if ((coefficient < 0) == negative && monomial.empty() == number)
          text += (negative ? "-" : text.empty() ? "" : "+") + describeTerm(monomial, coefficient, nameOf);
  return text.empty() ? "0" : text;
}

namespace {
using SymbolOf = llvm::function_ref<unsigned(llvm::StringRef)>;

/// Reads a sum of products and exact quotients of powers. Anything else in parentheses, and a call, is a symbol.
class PolynomialParser {
public:
  PolynomialParser(llvm::StringRef text, SymbolOf symbolOf) : rest(text), symbolOf(symbolOf) {}
  /// The whole text.
  std::optional<Polynomial> parse();

private:
  std::optional<Polynomial> product();
  std::optional<Polynomial> power();
  std::optional<Polynomial> atom();
  std::optional<Polynomial> inParentheses();
  /// The text up to the end of the parentheses that it begins with, which are taken; empty where they have none.
  llvm::StringRef takeParentheses();

  llvm::StringRef rest;
  SymbolOf symbolOf;
};
} // namespace

llvm::StringRef PolynomialParser::takeParentheses() {
  int64_t depth = 0;
  for (auto [i, c] : llvm::enumerate(rest)) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth != 0)
      continue;
    llvm::StringRef group = rest.take_front(i + 1);
    rest = rest.drop_front(i + 1);
    return group;
  }
  return {};
}

std::optional<Polynomial> PolynomialParser::inParentheses() {
  llvm::StringRef group = takeParentheses();
  if (group.size() < 3)
    return std::nullopt;
  llvm::StringRef inner = group.drop_front().drop_back();
  if (std::optional<Polynomial> known = PolynomialParser(inner, symbolOf).parse())
    return known;
  return symbolPolynomial(symbolOf(group));
}

std::optional<Polynomial> PolynomialParser::atom() {
  if (rest.starts_with("("))
    return inParentheses();
  auto isOfName = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; };
  llvm::StringRef name = rest.take_while(isOfName);
  if (name.empty())
    return std::nullopt;
  rest = rest.drop_front(name.size());
  int64_t number;
  if (llvm::isDigit(name.front()))
    return name.getAsInteger(10, number) ? std::nullopt : std::optional(constantPolynomial(number));
  if (!rest.starts_with("("))
    return symbolPolynomial(symbolOf(name));
  llvm::StringRef arguments = takeParentheses();
  if (arguments.empty())
    return std::nullopt;
  return symbolPolynomial(symbolOf({name.data(), name.size() + arguments.size()}));
}

std::optional<Polynomial> PolynomialParser::power() {
  constexpr unsigned kMaxExponent = 8;
  std::optional<Polynomial> base = atom();
  if (!base || !rest.consume_front("**"))
    return base;
  unsigned exponent;
  if (rest.consumeInteger(10, exponent) || exponent == 0 || exponent > kMaxExponent)
    return std::nullopt;
  std::optional<Polynomial> result = base;
  for (unsigned i = 1; i < exponent && result; ++i)
    result = multiply(*result, *base);
  return result;
}

std::optional<Polynomial> PolynomialParser::product() {
  std::optional<Polynomial> result = power();
  while (result && (rest.starts_with("*") || rest.starts_with("//"))) {
    const bool isQuotient = rest.consume_front("//");
    if (!isQuotient)
      rest = rest.drop_front();
    std::optional<Polynomial> factor = power();
    result = !factor ? std::nullopt : isQuotient ? divide(*result, *factor) : multiply(*result, *factor);
  }
  return result;
}

std::optional<Polynomial> PolynomialParser::parse() {
  std::optional<Polynomial> sum = Polynomial{};
  bool isNegative = rest.consume_front("-");
  while (sum) {
    std::optional<Polynomial> term = product();
    if (!term)
      return std::nullopt;
    sum = isNegative ? subtract(*sum, *term) : add(*sum, *term);
    if (rest.empty())
      return sum;
    isNegative = rest.front() == '-';
    if (!isNegative && rest.front() != '+')
      return std::nullopt;
    rest = rest.drop_front();
  }
  return sum;
}

std::optional<Polynomial> mhc::parsePolynomial(llvm::StringRef text, SymbolOf symbolOf) {
  return PolynomialParser(text, symbolOf).parse();
}
