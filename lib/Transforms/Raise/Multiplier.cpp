//===- Multiplier.cpp - The reciprocal root mean square, in any spelling ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bounds.h"
#include "RaiseForms.h"
#include "mhc/IR/Constants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mhc;

namespace {
/// scale * sum over `sums` of x^2, plus shift
struct SquareSum {
  double scale;
  double shift;
  Factor x;
  Vars sums;
};
} // namespace

static std::optional<SquareSum> matchSquareSum(FormBuilder &forms, Value value, const Indices &index) {
  Form form = forms.at(value, index);
  forms.resolve(form);
  double shift = forms.takeConstant(form).value_or(0);
  if (form.terms.size() != 1)
    return std::nullopt;
  Term &term = form.terms[0];
  if (term.factors.size() != 2 || !(term.factors[0] == term.factors[1]) || term.factors[0].power != 1 ||
      term.factors[0].role != Factor::Value || term.sums.empty())
    return std::nullopt;
  return SquareSum{term.coefficient, shift, term.factors[0], term.sums};
}

static bool near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

/// The factor of the root mean square in a root, where `squared` is its square: the number beside it, or 1, where it
/// is that but for rounding.
static double scaleOfRoot(double squared, double coefficient) {
  double scale = std::sqrt(squared);
  for (double meant : {coefficient, 1.0})
    if (near(scale, meant))
      return meant;
  return scale;
}

/// sqrt or rsqrt, also as a power
static Value matchRootOp(Operation *op, bool &reciprocal) {
  reciprocal = isa<math::RsqrtOp>(op);
  if (isa<math::SqrtOp, math::RsqrtOp>(op))
    return op->getOperand(0);
  auto power = dyn_cast<math::PowFOp>(op);
  std::optional<double> exponent = power ? constantValue(power.getRhs()) : std::nullopt;
  if (!exponent || std::abs(*exponent) != 0.5)
    return {};
  reciprocal = *exponent < 0;
  return power.getLhs();
}

/// A root of a square sum
static std::optional<SquareSum> matchRoot(FormBuilder &forms, const Factor &factor, bool &reciprocal) {
  Operation *op = factor.base.getDefiningOp();
  Value square = op && factor.role == Factor::Value ? matchRootOp(op, reciprocal) : Value();
  return square ? matchSquareSum(forms, square, factor.index) : std::nullopt;
}

/// The epsilon of a norm, as that of one which is spelled out in f32 is read.
static double epsOf(RmsNormOp norm) {
  APFloat eps = norm.getEps(), narrow = eps;
  bool rounds;
  narrow.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &rounds);
  return asWritten(rounds ? eps : narrow);
}

std::optional<Multiplier> mhc::matchMultiplier(FormBuilder &forms, ArrayRef<Factor> factors, double coefficient) {
  if (factors.empty())
    return Multiplier{Norm::none, 0, {}, {}, coefficient};
  if (factors.size() != 1)
    return std::nullopt;
  const Factor &factor = factors[0];
  if (factor.role == Factor::InvRms) {
    auto norm = factor.base.getDefiningOp<RmsNormOp>();
    int64_t width = norm.getX().getType().getShape().back();
    if (factor.power != 1 || ShapedType::isDynamic(width))
      return std::nullopt;
    // The op averages over its last dimension; name its variables by looking at one element.
    Indices index = factor.index;
    Indices all = forms.freshIndices(norm.getX());
    index.push_back(all.back());
    Form form = forms.factor(norm.getX(), index);
    forms.resolve(form);
    if (form.terms[0].factors.size() != 1 || form.terms[0].coefficient != 1 || !form.terms[0].sums.empty() ||
        form.terms[0].factors[0].power != 1)
      return std::nullopt;
    return Multiplier{Norm::inside, epsOf(norm), form.terms[0].factors[0], forms.flatten(all.back().vars), coefficient};
  }
  bool reciprocal = false;
  if (auto square = matchRoot(forms, factor, reciprocal)) {
    // coefficient / sqrt(scale * sum + shift), where the sum is K times the mean square
    if (factor.power != (reciprocal ? 1 : -1) || square->scale <= 0)
      return std::nullopt;
    double root = scaleOfRoot(square->scale * forms.extent(square->sums), coefficient);
    double eps = square->shift / (root * root);
    if (!isEps(eps))
      return std::nullopt;
    return Multiplier{Norm::inside, eps, square->x, square->sums, coefficient / root};
  }
  // coefficient / (c * sqrt(scale * sum) + shift)
  if (factor.power != -1 || factor.role != Factor::Value)
    return std::nullopt;
  Form form = forms.at(factor.base, factor.index);
  forms.resolve(form);
  double eps = forms.takeConstant(form).value_or(0);
  if (form.terms.size() != 1 || form.terms[0].factors.size() != 1 || form.terms[0].factors[0].power != 1)
    return std::nullopt;
  auto square = matchRoot(forms, form.terms[0].factors[0], reciprocal);
  double scale = form.terms[0].coefficient;
  if (!square || reciprocal || square->shift != 0 || square->scale <= 0 || scale <= 0)
    return std::nullopt;
  double root = scaleOfRoot(scale * scale * square->scale * forms.extent(square->sums), coefficient);
  if (!isEps(eps / root))
    return std::nullopt;
  // Without an epsilon there is one norm.
  return Multiplier{eps == 0 ? Norm::inside : Norm::outside, eps / root, square->x, square->sums, coefficient / root};
}

bool mhc::coversRow(FormBuilder &forms, const Factor &factor, const Vars &tokens, const Vars &sums) {
  std::optional<Vars> all = forms.fullVars(factor);
  Vars row = forms.flatten(tokens), rest = forms.flatten(sums);
  if (!all || factor.role != Factor::Value || factor.power != 1 || all->size() != row.size() + rest.size())
    return false;
  return std::equal(row.begin(), row.end(), all->begin()) &&
         std::is_permutation(rest.begin(), rest.end(), all->begin() + row.size());
}

bool mhc::averagesRow(FormBuilder &forms, const Multiplier &multiplier, const Vars &tokens) {
  return coversRow(forms, multiplier.x, tokens, multiplier.sums);
}
