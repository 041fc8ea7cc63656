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

/// Walks from the end of an iteration to its start. How a step is undone depends on whether the iteration rounds.
class SinkhornMatcher {
public:
  SinkhornMatcher(algebra::Reading &reading, mlir::Value value)
      : reading(reading), algebra(reading.algebra()), value(value),
        rank(mlir::cast<mlir::RankedTensorType>(value.getType()).getRank()) {}
  virtual ~SinkhornMatcher() = default;
  std::optional<SinkhornSite> match();

protected:
  /// One division by sums: the variable that they run over, and what eps does.
  struct Step {
    algebra::Var over;
    Denom denom;
    double eps;
    bool operator==(const Step &o) const { return over == o.over && denom == o.denom && eps == o.eps; }
  };

  /// Sets the state back to what it was before a step.
  virtual bool undoStep() = 0;
  /// Whether two states differ in nothing, or in what drops out later.
  virtual bool isSameState(const algebra::Expr &a, const algebra::Expr &b) = 0;
  /// Reads the state before all steps.
  virtual std::optional<SinkhornSite> readStart() = 0;

  algebra::Var row() const { return rank - 2; }
  algebra::Var column() const { return rank - 1; }
  int64_t extent() const { return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape().back(); }
  std::optional<algebra::Expr> reduceOver(llvm::StringRef kind, const algebra::Expr &expr, algebra::Var over) {
    return algebra.reduce(kind, expr, {{over, algebra::Size(extent())}});
  }
  /// The variable that the sums run over where they are these; nothing where they are no sums of rows or of columns.
  std::optional<algebra::Var> summedIn(const algebra::Factor &sums) const;
  /// The iteration from `logits` on with the steps that were found, which are of rows and columns in turn and by one
  /// rule.
  std::optional<SinkhornSite> site(algebra::Expr logits, Init init) const;

  algebra::Reading &reading;
  algebra::Algebra &algebra;
  mlir::Value value;
  int64_t rank;
  algebra::Expr state;
  std::vector<Step> steps; ///< from the last one back

private:
  bool undoLoop();
  /// The state with loop results replaced.
  std::optional<algebra::Expr> replaceResults(mlir::scf::ForOp loop, llvm::function_ref<mlir::Value(unsigned)> by);
};

/// Reads a stack of matrices that nothing rounds.
std::optional<SinkhornSite> matchExactSinkhorn(algebra::Reading &reading, mlir::Value value);
/// Reads a stack of matrices whose elements are rounded to f16 or bf16 by every op of the iteration.
std::optional<SinkhornSite> matchRoundedSinkhorn(algebra::Reading &reading, mlir::Value value, Format format);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_SINKHORNMATCHER_H
