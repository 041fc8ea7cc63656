//===- SinkhornMatcher.h - Steps of an iteration, undone one by one -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_LIB_TRANSFORMS_RAISE_SINKHORNMATCHER_H
#define MHC_LIB_TRANSFORMS_RAISE_SINKHORNMATCHER_H

#include "SinkhornMatch.h"

namespace mlir::scf {
class ForOp;
} // namespace mlir::scf

namespace mhc {

/// Walks from the end of an iteration to its start. How a step is undone depends on whether the iteration rounds. What
/// is met on the way may be no iteration: its needs are checked at the end, and the first that is not met is told.
class SinkhornMatcher {
public:
  SinkhornMatcher(algebra::Reading &reading, mlir::Value value, MatrixAxes axes, std::optional<Format> format = {},
                  bool vectors = false)
      : reading(reading), algebra(reading.algebra()), value(value), format(format), roundsVectors(vectors), axes(axes),
        user(value.getDefiningOp()) {}
  virtual ~SinkhornMatcher() = default;
  SinkhornMatch match();

protected:
  /// One division by sums: the variable that they run over, and what eps does.
  struct Step {
    algebra::Var over;
    Denom denom;
    double eps;
    const algebra::Element *divisor;
    mlir::Operation *user;  ///< at which the divisor is there
    bool isGuarded = false; ///< whether a selection chooses what divides
    bool isLike(const Step &o) const { return denom == o.denom && isSameEps(eps, o.eps); }
    bool operator==(const Step &o) const { return over == o.over && isLike(o); }
  };
  /// Numbers that differ in what their arithmetic rounds.
  static bool isSameEps(double a, double b) { return a == b || std::abs(a - b) < 1e-9 * std::abs(b); }

  /// Sets the state back to what it was before a step.
  virtual bool undoStep() = 0;
  /// Whether two states differ in nothing, or in what drops out later.
  virtual bool isSameState(const algebra::Expr &a, const algebra::Expr &b) = 0;
  /// Reads the state before all steps, of which a softmax is the first one.
  virtual std::optional<std::pair<algebra::Expr, Init>> readStart() = 0;

  algebra::Var row() const { return axes.first; }
  algebra::Var column() const { return axes.second; }
  bool isToken(algebra::Var var) const { return var != row() && var != column(); }
  /// The dimensions of the value.
  auto vars() const {
    return llvm::seq<algebra::Var>(0, llvm::cast<mlir::RankedTensorType>(value.getType()).getRank());
  }
  std::optional<algebra::Expr> reduceOver(llvm::StringRef kind, const algebra::Expr &expr,
                                          llvm::ArrayRef<algebra::Var> over) {
    llvm::SmallVector<std::pair<algebra::Var, algebra::Size>, 2> sizes;
    for (algebra::Var var : over)
      sizes.push_back({var, reading.size(value, var)});
    return algebra.reduce(kind, expr, sizes);
  }
  /// Dimensions that a maximum may run over which exp is shifted by, with the start that it makes.
  struct Shift {
    llvm::SmallVector<algebra::Var, 2> over;
    Init init;
  };
  llvm::SmallVector<Shift, 3> shifts() const {
    return {{{column()}, Init::exp_rowmax}, {{row()}, Init::exp_colmax}, {{row(), column()}, Init::exp_max}};
  }
  /// The variable that the sums run over where they are these; nothing where they are no sums over one dimension.
  std::optional<algebra::Var> summedIn(const algebra::Factor &sums) const;
  /// Whether the state is a quotient by sums and a number, which no step leaves.
  bool isShiftedQuotient() const;
  /// The number among the terms of a sum.
  static double numberIn(const algebra::Expr &sum);
  /// Whether an expression is a positive number at least, so that it has a logarithm.
  static bool isPositive(const algebra::Expr &expr);
  /// Tells that a softmax is no step of the iteration behind it, which is found all the same.
  void tellSoftmax(bool isOfMatrix);
  /// Tells that the state is no start that the op has, where the iteration is found all the same.
  void tellStart();

  algebra::Reading &reading;
  algebra::Algebra &algebra;
  mlir::Value value;
  std::optional<Format> format; ///< that each op's result is rounded to
  bool roundsVectors;           ///< and nothing else: what the reading ignores
  MatrixAxes axes;              ///< of rows and columns
  algebra::Expr state;
  mlir::Operation *user;   ///< at which the values of the state are there
  std::vector<Step> steps; ///< from the last one back
  bool isShiftRounded = false;
  llvm::SmallVector<int64_t, 2> softmaxOver; ///< as the site has it
  bool isOfMatrix = false;                   ///< likewise

private:
  bool undoLoop();
  /// Undoes the steps of one turn, from the state at its end.
  void undoTurn(mlir::scf::ForOp loop, const algebra::Expr &end);
  /// The state with values that a loop carries replaced: its results, or its arguments.
  std::optional<algebra::Expr> replaceResults(mlir::scf::ForOp loop, mlir::ValueRange by);
  std::optional<algebra::Expr> replaceArguments(mlir::scf::ForOp loop, mlir::ValueRange by);
  std::optional<algebra::Expr> replaceValues(llvm::function_ref<mlir::Value(mlir::Value)> by);

  /// Whether this is worth a remark: rows and columns are both normalised, or one of them and something else.
  bool looksLikeSinkhorn() const;
  /// The factors of the state that are reciprocals of sums or of maxima of exponentials.
  llvm::SmallVector<algebra::Factor> divisorsLeft() const;
  /// The needs of an iteration, each with what is told where it is not met.
  bool isUnguarded();
  bool isShort();
  bool isStart(bool isRead);
  bool isUnshifted();
  bool isOfOneTensor(const algebra::Expr &logits);
  void dropLooseBounds();
  bool isStepLike(size_t number, Init init);
  bool areStepsAlike(Init init);
  mlir::Value divisorBehind();
  bool isWhole();
  bool isOfItsType();

  bool unmet(Reason reason, mlir::Operation *at, const std::string &found, const std::string &needed);
  /// The value of an expression that is there at an op; null where none has it.
  mlir::Value valueOf(const algebra::Expr &expr, mlir::Operation *at) const;
  mlir::Value divisorOf(const Step &step) const { return valueOf(algebra::Algebra::of(step.divisor), step.user); }
  mlir::Operation *opOf(const Step &step) const;
  std::string place(size_t number) const;
  std::string nameOf(algebra::Var over) const;
  /// The common part of remarks on the beginning of an iteration.
  mlir::Value origin();
  mlir::Value functionOf(const algebra::Expr &logits);

  size_t turnBegin = 0; ///< the first step of the turn of a loop that leads to another state than it began with
  bool isStuck = false; ///< in such a turn
  std::optional<Miss> miss;
};

/// Reads a stack of matrices that nothing rounds, or nothing but the vectors that scale them.
SinkhornMatch matchExactSinkhorn(algebra::Reading &reading, mlir::Value value, MatrixAxes axes, bool vectors);
/// Reads a stack of matrices whose elements are rounded to f16 or bf16 by every op of the iteration.
SinkhornMatch matchRoundedSinkhorn(algebra::Reading &reading, mlir::Value value, MatrixAxes axes, Format format);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_SINKHORNMATCHER_H
