//===- Order.cpp - Order and equality of expressions --------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Order.h"
#include "llvm/ADT/STLExtras.h"
#include <charconv>
#include <cmath>

using namespace mhc;
using namespace mhc::algebra;

template <typename T>
static int compareNumbers(T a, T b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

static int compareCoefficients(double a, double b) { return numberId(a) == numberId(b) ? 0 : compareNumbers(a, b); }

static int compareShapes(const Piece &a, const Piece &b) {
  if (int result = compareNumbers(a.extent, b.extent))
    return result;
  return compareNumbers(a.multiplier, b.multiplier);
}

/// Compares lists by length, then element by element.
template <typename List, typename Function>
static int compareLists(const List &a, const List &b, Function compareElements) {
  if (int result = compareNumbers(a.size(), b.size()))
    return result;
  for (auto [left, right] : llvm::zip(a, b))
    if (int result = compareElements(left, right))
      return result;
  return 0;
}

static int compareShapes(const Index &a, const Index &b) {
  if (int result = compareNumbers(a.offset, b.offset))
    return result;
  return compareLists(a.pieces, b.pieces,
                      [](const Piece &left, const Piece &right) { return compareShapes(left, right); });
}

int algebra::compare(const Factor &a, const Factor &b, By by) {
  if (a.node() != b.node())
    return compareNumbers(std::pair(a.node()->shape, a.node()->number), std::pair(b.node()->shape, b.node()->number));
  if (int result = compareNumbers(a.halves, b.halves))
    return result;
  if (by == By::names)
    return compareNumbers(a.element->number, b.element->number);
  return compareLists(a.at(), b.at(), [](const Index &left, const Index &right) { return compareShapes(left, right); });
}

int algebra::compare(const Term &a, const Term &b, By by) {
  // A number comes last: an expression begins with what it is a function of.
  bool leftIsNumber = a.factors.empty() && a.exponent.empty(), rightIsNumber = b.factors.empty() && b.exponent.empty();
  if (leftIsNumber != rightIsNumber)
    return leftIsNumber ? 1 : -1;
  if (int result = compareLists(a.factors, b.factors,
                                [&](const Factor &left, const Factor &right) { return compare(left, right, by); }))
    return result;
  return compare(a.exponent, b.exponent, by);
}

int algebra::compare(const Expr &a, const Expr &b, By by) {
  return compareLists(a, b, [&](const Term &left, const Term &right) {
    int result = compare(left, right, by);
    return result ? result : compareCoefficients(left.coefficient, right.coefficient);
  });
}

void algebra::sort(Expr &expr, By by) {
  auto isLess = [&](const auto &a, const auto &b) { return compare(a, b, by) < 0; };
  for (Term &term : expr) {
    sort(term.exponent, by);
    if (!llvm::is_sorted(term.factors, isLess))
      llvm::stable_sort(term.factors, isLess);
  }
  if (!llvm::is_sorted(expr, isLess))
    llvm::stable_sort(expr, isLess);
}

void algebra::forEachElement(const Expr &expr, llvm::function_ref<void(const Element *)> visit) {
  for (const Term &term : expr) {
    forEachElement(term.exponent, visit);
    for (const Factor &factor : term.factors)
      visit(factor.element);
  }
}

/// The number of so many decimal digits behind the first one that is nearest.
static double withDigits(double value, int digits) {
  char text[32];
  char *end = std::to_chars(text, std::end(text), value, std::chars_format::scientific, digits).ptr;
  double decimal = value;
  std::from_chars(text, end, decimal);
  return decimal;
}

double algebra::snapped(double value) {
  constexpr double kUnit = 1 << 20, kRounding = 1e-12;
  double scaled = value * kUnit, near = std::nearbyint(scaled);
  if (std::abs(scaled - near) <= kRounding * std::abs(scaled))
    return near / kUnit;
  double decimal = withDigits(value, 8);
  return std::abs(value - decimal) <= kRounding * std::abs(value) ? decimal : value;
}

uint64_t algebra::numberId(double value) {
  constexpr int kDropped = 20; // of 52 bits
  uint64_t bits = llvm::bit_cast<uint64_t>(value);
  return (bits + (uint64_t(1) << (kDropped - 1))) >> kDropped;
}

double algebra::canonicalNumber(double value) {
  double scaled = value * (1 << 20);
  if (scaled == std::nearbyint(scaled) || !std::isfinite(value))
    return value; // exact in binary: most numbers of a program
  return withDigits(value, 12);
}
