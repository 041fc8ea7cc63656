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

namespace mhc::algebra {

/// Marks an op that is read as a tensor of its own, and not by what it is made of.
inline constexpr llvm::StringLiteral kWhole = "mhc.whole";

/// The function of a token's start and of the position of another that is 1 where both are of one sequence.
inline constexpr llvm::StringLiteral kSameSequence = "same sequence";

/// Whether a rounding to f16 or bf16 is a function of its own, or the number itself.
enum class Rounding { seen, ignored };
/// The name of the function that rounds.
std::string roundingTo(Format format);
/// Whether an expression is what that function gives, and nothing else.
bool isRounded(const Expr &expr, Format format);
/// Whether all elements are numbers of the format, so that rounding leaves them as they are.
bool isNarrow(const Expr &expr, Format format);

/// Reads all values of a function in their order, and changes nothing. Variable i of a value's expression is the
/// index of its dimension i; a dimension of size one has none. An op that is not understood, or whose expression grows
/// beyond bounds, is a base.
class Reading {
public:
  /// `atoms` are read as bases, whatever makes them. With `chooses`, what a product chooses by ones and zeros is read
  /// in its place.
  explicit Reading(mlir::func::FuncOp func, Rounding rounding = Rounding::ignored,
                   llvm::DenseSet<mlir::Value> atoms = {}, bool chooses = false);

  /// Reads what has changed since the last time.
  void refresh();

  bool ignoresRoundings() const { return rounding == Rounding::ignored; }
  /// Whether there is a function that rounds.
  bool hasRoundings() const { return seesAny; }
  /// The expression of a value; a base where it was made since the last time.
  const Expr &of(mlir::Value value);
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
    mlir::Value value;
    unsigned place;
    bool isClosed = false;                        ///< where that was tried
    std::unique_ptr<Algebra::Closed> closed = {}; ///< `at` are the node's indices of the value's own variables
  };
  struct Tensor {
    mlir::Value value;
    unsigned place; ///< of its op
    uint64_t signature;
  };
  /// The tensors in their order, by what is the same for expressions that may be one node.
  using Candidates = llvm::DenseMap<uint64_t, std::vector<Candidate>>;
  Candidates &allCandidates();
  std::vector<Found> find(const Expr &expr, llvm::function_ref<bool(const Candidate &)> isThere);
  Expr baseOf(mlir::Value value);
  struct ReadOp {
    size_t hash = 0;
    unsigned place = 0; ///< in the order of ops
    unsigned turn = 0;  ///< in which it was read last
  };
  struct ReadValue {
    Expr expr;
    uint64_t signature = 0;
    unsigned turn = 0;
  };
  /// Whether an op is the one that was read at its place in memory.
  bool isSame(mlir::Operation *op, ReadOp &known);
  unsigned placeOf(mlir::Operation *op) const;

  mlir::func::FuncOp func;
  DimAnalysis dims;
  Algebra theAlgebra;
  Rounding rounding;
  llvm::DenseSet<mlir::Value> atoms;
  bool chooses;
  bool seesAny = false; ///< rounding
  unsigned turn = 0;    ///< of reading
  llvm::DenseMap<mlir::Value, ReadValue> exprs;
  llvm::DenseMap<mlir::Operation *, ReadOp> ops; ///< also those that are gone
  std::map<const void *, Expr> unread;           ///< bases, of values that were made since
  std::vector<Tensor> values;                    ///< in their order
  std::optional<Candidates> candidates;          ///< filled at the first question
  unsigned nextSymbol = 1u << 30;                ///< of a size that nothing is known of
};

} // namespace mhc::algebra

#endif // MHC_ALGEBRA_READING_H
