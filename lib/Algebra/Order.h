//===- Order.h - Order and equality of expressions ----------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_LIB_ALGEBRA_ORDER_H
#define MHC_LIB_ALGEBRA_ORDER_H

#include "mhc/Algebra/Expr.h"

namespace mhc::algebra {

/// Tells expressions apart by their shape only, or also by the names of their variables.
enum class By { shape, names };

/// Less than, equal to or greater than zero. The coefficient of a term is not compared, those in its exponent are.
int compare(const Factor &a, const Factor &b, By by);
int compare(const Term &a, const Term &b, By by);
int compare(const Expr &a, const Expr &b, By by);

/// Sorts factors, terms and exponents, and leaves equal ones as they are.
void sort(Expr &expr, By by);

/// Takes away what rounding leaves of a number that is short in binary or decimal, as most numbers of a program are.
double snapped(double value);
/// Equal for numbers that are one but for rounding, with few exceptions.
uint64_t numberId(double value);

/// Calls `visit` with every element of an expression, in its order.
void forEachElement(const Expr &expr, llvm::function_ref<void(const Element *)> visit);

} // namespace mhc::algebra

#endif // MHC_LIB_ALGEBRA_ORDER_H
