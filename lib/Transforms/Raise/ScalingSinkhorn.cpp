//===- ScalingSinkhorn.cpp - Sinkhorn by factors of rows and columns ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// u = 1 / (K v) and v = 1 / (K^T u) in turn, from ones, and at the end diag(u) K diag(v) with K = exp(z). What a step
// of the other forms divides by is here in the factors: each update makes the rows, or the columns, of diag(u) K
// diag(v) sum to one.
//
//===----------------------------------------------------------------------===//

#include "Sinkhorn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mhc;

namespace {
/// The factors of rows or of columns: a value, or its reciprocals. Those that are one number everywhere have no value:
/// the first update takes the number out again.
struct Scale {
  Value base;
  int power = 1;
  bool operator==(const Scale &other) const { return base == other.base && power == other.power; }
};

/// What an update sums: the matrix times the factors of the other dimension.
struct Update {
  Value matrix;
  Scale other;
};

/// Finds u and v in a product diag(u) K diag(v), and follows them to where they start.
class ScalingMatcher {
public:
  ScalingMatcher(FormBuilder &forms, Value value)
      : forms(forms), value(value), row(cast<RankedTensorType>(value.getType()).getRank() - 1) {}
  std::optional<Miss> explain();

private:
  bool readFactors();
  std::optional<Scale> scaleOf(Value factors);
  std::optional<Update> lastUpdate(Scale scale, int64_t dim);
  Value divisorOf(Scale scale);
  /// Whether an update of the factors sums along `dim`, whatever it does to the sums.
  bool isNearUpdate(Scale scale, int64_t dim);

  FormBuilder &forms;
  Value value;
  int64_t row;
  Value matrix;
  Scale ofRows, ofColumns;
};
} // namespace

/// The one factor of a form, which has the variables `vars` in their order.
static const Factor *factorOver(FormBuilder &forms, const Form &form, const Vars &vars) {
  if (form.terms.size() != 1 || form.terms[0].factors.size() != 1 || form.terms[0].coefficient != 1 ||
      !form.terms[0].sums.empty())
    return nullptr;
  const Factor &factor = form.terms[0].factors[0];
  return factor.role == Factor::Value && forms.fullVars(factor) == vars ? &factor : nullptr;
}

/// diag(u) K diag(v)
bool ScalingMatcher::readFactors() {
  forms.reset();
  Indices index = forms.freshIndices(value);
  Form form = forms.at(value, index);
  forms.resolve(form);
  if (form.terms.size() != 1 || form.terms[0].coefficient != 1 || !form.terms[0].sums.empty() ||
      form.terms[0].factors.size() != 3)
    return false;
  for (const Factor &factor : form.terms[0].factors) {
    std::optional<Vars> vars = factor.role == Factor::Value ? forms.fullVars(factor) : std::nullopt;
    Scale scale{factor.base, factor.power};
    if (vars == varsWithout(forms, index, -1) && factor.power == 1)
      matrix = factor.base;
    else if (vars == varsWithout(forms, index, row))
      ofRows = scale;
    else if (vars == varsWithout(forms, index, row - 1))
      ofColumns = scale;
  }
  return matrix && ofRows.base && ofColumns.base;
}

/// A value as factors: seen as the reciprocals of what divides it.
std::optional<Scale> ScalingMatcher::scaleOf(Value factors) {
  if (std::optional<double> number = constantValue(factors))
    return *number > 0 ? std::optional(Scale()) : std::nullopt;
  forms.reset();
  Indices index = forms.freshIndices(factors);
  Form form = forms.at(factors, index);
  forms.resolve(form);
  const Factor *factor = factorOver(forms, form, varsWithout(forms, index, -1));
  return factor ? std::optional(Scale{factor->base, factor->power}) : std::nullopt;
}

/// Reciprocals of sums of the matrix along `dim`, with other factors or without
std::optional<Update> ScalingMatcher::lastUpdate(Scale scale, int64_t dim) {
  if (!scale.base || scale.power != -1)
    return std::nullopt;
  forms.reset();
  Indices index = forms.freshIndices(scale.base);
  Form form = forms.at(scale.base, index);
  forms.resolve(form);
  Vars own = varsWithout(forms, index, -1);
  if (form.terms.size() != 1 || form.terms[0].sums.size() != 1 || own.empty())
    return std::nullopt;
  const Term &term = form.terms[0];
  Vars others(own.begin(), own.end() - 1), whole = others;
  others.push_back(term.sums[0]);
  whole.append(dim == row ? Vars{own.back(), term.sums[0]} : Vars{term.sums[0], own.back()});
  Update update;
  for (const Factor &factor : term.factors) {
    std::optional<Vars> vars = factor.role == Factor::Value ? forms.fullVars(factor) : std::nullopt;
    if (vars == whole && factor.power == 1 && !update.matrix)
      update.matrix = factor.base;
    else if (vars == others && !update.other.base)
      update.other = {factor.base, factor.power};
    else
      return std::nullopt;
  }
  // The first factors may be any number. Later ones tell what the sums of the result are.
  bool fits = update.matrix && (term.coefficient == 1 || (!update.other.base && term.coefficient > 0));
  return fits ? std::optional(update) : std::nullopt;
}

static scf::ForOp loopOf(Scale scale) {
  return scale.base && scale.power == 1 ? scale.base.getDefiningOp<scf::ForOp>() : scf::ForOp();
}

static unsigned numberOf(Scale scale) { return cast<OpResult>(scale.base).getResultNumber(); }

//===----------------------------------------------------------------------===//
// Near misses
//===----------------------------------------------------------------------===//

/// What divides in the last update of factors, also where a selection guards the division.
Value ScalingMatcher::divisorOf(Scale scale) {
  if (scf::ForOp loop = loopOf(scale)) {
    std::optional<Scale> yielded = scaleOf(loop.getYieldedValues()[numberOf(scale)]);
    return yielded && !loopOf(*yielded) ? divisorOf(*yielded) : Value();
  }
  auto select = scale.power == 1 ? scale.base.getDefiningOp<arith::SelectOp>() : arith::SelectOp();
  for (unsigned side : {1, 2})
    if (std::optional<Scale> chosen = select ? scaleOf(select->getOperand(side)) : std::nullopt; chosen && chosen->base)
      scale = *chosen;
  return scale.power == -1 ? scale.base : Value();
}

bool ScalingMatcher::isNearUpdate(Scale scale, int64_t dim) {
  Value sums = divisorOf(scale);
  Operation *bounded = sums ? sums.getDefiningOp() : nullptr;
  if (isa_and_nonnull<arith::AddFOp, arith::MaximumFOp, arith::MaxNumFOp>(bounded))
    sums = bounded->getOperand(constantValue(bounded->getOperand(0)) ? 1 : 0);
  std::optional<Update> update = sums ? lastUpdate({sums, -1}, dim) : std::nullopt;
  return update && update->matrix == matrix;
}

std::optional<Miss> ScalingMatcher::explain() {
  if (!readFactors() || !matrix.getDefiningOp<math::ExpOp>())
    return std::nullopt;
  for (auto [scale, dim] : {std::pair(ofColumns, row - 1), std::pair(ofRows, row)})
    if (isNearUpdate(scale, dim))
      return Miss{Reason::sinkhornScaling,
                  divisorOf(scale).getDefiningOp(),
                  "a division by " + describe(divisorOf(scale)),
                  "1 / (K v) and 1 / (K^T u) in turn, from ones",
                  {matrix, Value()}};
  return std::nullopt;
}

std::optional<Miss> mhc::explainScaling(FormBuilder &forms, Value value) {
  return isMatrixStack(value) ? ScalingMatcher(forms, value).explain() : std::nullopt;
}
