//===- Form.h - Values as sums of products under index maps ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The normal form on which Raise and Fuse match. The element of a tensor at index variables v0, v1, ... is written as
//
//   sum over terms of  coefficient * sum over variables of  product of  base[index]^power
//
// where a base is a value that is not looked into (an argument, a kernel op, a nonlinear op, a sum inside a product).
// Reshapes, transposes, broadcasts, slices, concatenations and casts only change indices; products, quotients, sums,
// matrix products and reductions only change terms. So all spellings of a multilinear expression have one form.
//
// An index is a list of variables in row-major order plus an offset: index [i, c] of a dimension of size n*C is
// i*C + c. Dimensions of size one have no variable.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_ANALYSIS_FORM_H
#define MHC_ANALYSIS_FORM_H

#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mhc {

using Var = int;
using Vars = llvm::SmallVector<Var, 4>;

struct Index {
  Vars vars;
  int64_t offset = 0;
  bool operator==(const Index &other) const { return vars == other.vars && offset == other.offset; }
};
using Indices = llvm::SmallVector<Index, 4>;

struct Factor {
  /// Value: base[index]. InvRms: the multiplier 1/sqrt(mean(x^2) + eps) inside an rms_norm op; base is its result and
  /// the index has no last dimension.
  enum Role { Value, InvRms };
  mlir::Value base;
  Indices index;
  int power = 1;
  Role role = Value;
  bool operator==(const Factor &other) const {
    return base == other.base && index == other.index && power == other.power && role == other.role;
  }
};

struct Term {
  double coefficient = 1;
  std::vector<Factor> factors;
  Vars sums;
};

struct Form {
  std::vector<Term> terms;
  bool isConstant() const { return terms.size() == 1 && terms[0].factors.empty() && terms[0].sums.empty(); }
};

class FormBuilder {
public:
  explicit FormBuilder(mlir::func::FuncOp func) : func(func) {}

  /// Values that are bases wherever they occur.
  llvm::SmallDenseSet<mlir::Value> stops;
  /// Whether values are kept for `findValue`.
  bool recordsValues = false;

  /// Forgets variables and values of earlier forms.
  void reset() {
    variables.clear();
    traces.clear();
    stops.clear();
  }

  /// Fresh variables for the dimensions of a value; none for those of size one.
  Indices freshIndices(mlir::Value value);
  /// The form of an element. Ends a recursion that grows too long by taking the value as a base.
  Form at(mlir::Value value, const Indices &index);
  /// The form of a value inside a product: one term, which for a sum is the sum as a base.
  Form factor(mlir::Value value, const Indices &index);

  /// The variables of an index or a factor after all splits, in memory order.
  Vars flatten(llvm::ArrayRef<Var> vars) const;
  /// The variables of a factor that covers its base: every dimension from zero to its full size. Nothing otherwise.
  std::optional<Vars> fullVars(const Factor &factor);
  /// Size of a variable; kDynamic when not static.
  int64_t extent(Var var) const { return variables[var].size; }
  int64_t extent(llvm::ArrayRef<Var> vars) const;
  /// Removes the number from a form `number + one other term`.
  static std::optional<double> takeConstant(Form &form);
  /// Applies all splits to the indices of a form.
  void resolve(Form &form) const;

  /// The size of a variable as a value or number that dominates the whole function body; null when there is none.
  mlir::OpFoldResult sizeOf(Var var, mlir::OpBuilder &builder, mlir::Location loc);

  /// Rearranges a tensor whose dimension i is indexed by from[i] into one whose dimension j is indexed by to[j]. Null
  /// when the variables differ. Transposes only when the orders do.
  mlir::Value relayout(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, llvm::ArrayRef<Vars> from,
                       llvm::ArrayRef<Vars> to);
  /// The same for the elements of a base that a factor reads.
  mlir::Value rebuild(mlir::OpBuilder &builder, mlir::Location loc, const Factor &factor, llvm::ArrayRef<Vars> to);

  /// A whole value with exactly this term as its element under `vars`, in any order, among those that forms were built
  /// from while `recordsValues`.
  std::optional<Factor> findValue(const Term &term, llvm::ArrayRef<Var> vars);

  /// Must be told of every op that is erased: a later one may take the place of its values in memory.
  void forget(mlir::Operation *op);
  void erase(mlir::Operation *op) {
    forget(op);
    op->erase();
  }

private:
  struct Variable {
    int64_t size;
    /// A dimension of this size, to tell dynamic ones apart.
    mlir::Value value;
    int dim;
    Vars split; ///< the variables it was replaced by
  };
  struct Trace {
    mlir::Value value;
    Indices index;
    Form form;
  };

  /// The sizes of the function, computed at the first question for dynamic ones, and those of a value that was made
  /// since then.
  DimAnalysis &dimsWith(mlir::Value value);
  Var makeVar(mlir::Value value, int dim, int64_t size);
  bool sameExtent(Var var, mlir::Value value, int dim);
  bool sameSize(mlir::Value a, int da, mlir::Value b, int db);
  /// Whether a dimension is as long as a constant times those of `parts`.
  bool isProduct(mlir::Value value, int dim, int64_t factor, llvm::ArrayRef<std::pair<mlir::Value, int>> parts);
  /// Gives each of `dims` of `value` a variable, where `var` runs over all of them and more than one size is unknown.
  bool splitProduct(Var var, mlir::Value value, llvm::ArrayRef<int64_t> dims);
  /// Hands the variables of an index to the dimensions of a group of `value`, splitting where needed.
  std::optional<Indices> distribute(const Index &index, mlir::Value value, llvm::ArrayRef<int64_t> group);
  std::optional<Index> combine(llvm::ArrayRef<Index> parts, mlir::Value value, llvm::ArrayRef<int64_t> group);
  bool covers(const Index &index, mlir::Value value, int dim);

  Form opaque(mlir::Value value, const Indices &index);
  /// The index of `value`'s operand, when the op only moves elements; one of many parts for a concatenation.
  std::optional<std::pair<mlir::Value, Indices>> through(mlir::Value value, const Indices &index);
  std::optional<Form> concatenation(mlir::Value value, const Indices &index);
  /// Where `vars` run over equal parts: the variable that tells the part, and those inside it.
  std::optional<std::pair<Var, Vars>> splitParts(mlir::ValueRange parts, int64_t dim, const Vars &vars);
  /// The form of which part i is that with i for `part`. Uses the parts up.
  std::optional<Form> mergeParts(std::vector<Form> &parts, Var part) const;
  std::optional<Form> arithmetic(mlir::Operation *op, const Indices &index);
  std::optional<Form> reduction(ReduceOp op, const Indices &index);
  std::optional<Form> product(mlir::Operation *op, const Indices &index);
  /// Sums a term over variables of static size.
  void addSums(Term &term, const Vars &sums);
  Form multiply(mlir::Value a, const Indices &ia, mlir::Value b, const Indices &ib, bool invert);
  Form rmsNorm(RmsNormOp op, const Indices &index);
  /// Turns terms that differ in one running offset into a sum over a variable.
  void roll(Form &form);

  mlir::func::FuncOp func;
  std::optional<DimAnalysis> dims;
  std::vector<Variable> variables;
  std::vector<Trace> traces;
  int depth = 0;
  int work = 0;
};

/// The number that a value has in every element.
std::optional<double> constantValue(mlir::Value value);

} // namespace mhc

#endif // MHC_ANALYSIS_FORM_H
