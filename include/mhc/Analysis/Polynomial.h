//===- Polynomial.h - Sizes as polynomials of symbols ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_ANALYSIS_POLYNOMIAL_H
#define MHC_ANALYSIS_POLYNOMIAL_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mhc {

/// A product of symbols, as their sorted numbers; the empty product is one.
using Monomial = std::vector<unsigned>;
/// Coefficients by monomial; none is zero.
using Polynomial = std::map<Monomial, int64_t>;

Polynomial constantPolynomial(int64_t value);
Polynomial symbolPolynomial(unsigned symbol);

/// Nothing where a coefficient does not fit 64 bits.
std::optional<Polynomial> add(const Polynomial &a, const Polynomial &b);
std::optional<Polynomial> subtract(const Polynomial &a, const Polynomial &b);
std::optional<Polynomial> multiply(const Polynomial &a, const Polynomial &b);
/// a / divisor, where that is exact for every value of the symbols.
std::optional<Polynomial> divide(const Polynomial &a, const Polynomial &divisor);

/// The number, where there is no symbol.
std::optional<int64_t> constantOf(const Polynomial &a);
/// The symbol, where there is nothing else.
std::optional<unsigned> symbolOf(const Polynomial &a);

/// Nothing where a sum or a product does not fit 64 bits.
std::optional<int64_t> valueOf(const Polynomial &a, llvm::function_ref<int64_t(unsigned)> sizeOf);
/// The polynomial as an index, of the products that `productOf` makes; null where it makes one not.
mlir::Value materialise(mlir::OpBuilder &builder, mlir::Location loc, const Polynomial &a,
                        llvm::function_ref<mlir::Value(const Monomial &)> productOf);

/// A sum of products, as a manifest has it: "4*M*d1+d2-1".
std::string describe(const Polynomial &a, llvm::function_ref<std::string(unsigned)> nameOf);
/// Reads that, with powers, parentheses and quotients that are exact for every value of the symbols; nothing where it
/// is something else. A symbol may be a call or another quotient in parentheses, as PyTorch writes "((s//4))**2".
std::optional<Polynomial> parsePolynomial(llvm::StringRef text, llvm::function_ref<unsigned(llvm::StringRef)> symbolOf);

} // namespace mhc

#endif // MHC_ANALYSIS_POLYNOMIAL_H
