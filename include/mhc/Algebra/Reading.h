//===- Reading.h - The values of a function as expressions --------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_ALGEBRA_READING_H
#define MHC_ALGEBRA_READING_H

#include "mhc/Algebra/Expr.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <array>

namespace mhc::algebra {

/// Whether a rounding to f16 or bf16 is a function of its own, or the number itself.
enum class Rounding { seen, ignored };
/// The name of the function that rounds.
std::string roundingTo(Format format);
/// Whether an expression is what that function gives, and nothing else.
bool isRounded(const Expr &expr, Format format);

/// Reads all values of a function once, in their order, and changes nothing. Variable i of a value's expression is the
/// index of its dimension i; a dimension of size one has none. An op that is not understood, or whose expression grows
/// beyond bounds, is a base.
class Reading {
public:
  explicit Reading(mlir::func::FuncOp func, Rounding rounding = Rounding::ignored);

  bool ignoresRoundings() const { return rounding == Rounding::ignored; }
  /// Whether there is a function that rounds.
  bool hasRoundings() const { return seesAny; }
  const Expr &of(mlir::Value value) const { return exprs.find(value)->second; }
  Algebra &algebra() { return theAlgebra; }
  Size size(mlir::Value value, int dim);
  llvm::SmallVector<Size, 4> sizes(mlir::Value value);
  /// The indices of a value itself.
  Indices whole(mlir::Value value);
  /// A value of which an expression is `factor` times the element at `at`.
  struct Found {
    mlir::Value value;
    Indices at;
    double factor;
  };
  /// The values that an expression may be taken from at `user`, the latest first. Ops behind `user` may be gone.
  std::vector<Found> find(const Expr &expr, mlir::Operation *user);
  /// All values that an expression may be taken from somewhere, the latest first. No op may be gone.
  std::vector<Found> find(const Expr &expr);
  /// Whether a value is there where `user` is. Ops behind `user` may be gone.
  bool isBefore(mlir::Value value, mlir::Operation *user) const;
  /// A size, from the function's arguments; null where none has it.
  mlir::OpFoldResult materialise(mlir::OpBuilder &builder, mlir::Location loc, Size size);

  /// The expression of a value, with all definitions that it reads.
  std::string text(mlir::Value value);
  /// Writes `%value = ...` for each value that is read, a line each, behind the definitions that it reads.
  void print(llvm::raw_ostream &os);

private:
  friend class OpReader;

  struct Candidate {
    Found found; ///< `at` are the node's indices of the value's own variables
    unsigned place;
  };
  /// The kind of expression that a value has: equal ones are of the same kind.
  enum Shape { element, product, sum };
  static std::optional<Shape> shapeOf(const Expr &expr);
  using Candidates = llvm::DenseMap<const Node *, std::vector<Candidate>>;
  /// The tensors that a node is of, in their order, among those of one shape.
  const Candidates &candidatesOf(Shape shape);
  std::vector<Found> find(const Expr &expr, llvm::function_ref<bool(const Candidate &)> isThere);
  Expr baseOf(mlir::Value value);

  mlir::func::FuncOp func;
  DimAnalysis dims;
  Algebra theAlgebra;
  Rounding rounding;
  bool seesAny = false; ///< rounding
  llvm::DenseMap<mlir::Value, Expr> exprs;
  llvm::DenseMap<mlir::Operation *, unsigned> places;        ///< of ops, in their order
  std::vector<std::pair<mlir::Value, unsigned>> values;      ///< tensors with the places of their ops
  std::array<std::optional<Candidates>, sum + 1> candidates; ///< filled at the first question
  unsigned nextSymbol = 1u << 30;                            ///< of a size that nothing is known of
};

} // namespace mhc::algebra

#endif // MHC_ALGEBRA_READING_H
