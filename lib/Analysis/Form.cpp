//===- Form.cpp - Values as sums of products under index maps ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/Form.h"
#include "mhc/IR/Constants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mhc;

/// Bounds on one form: a longer recursion or a wider sum is no mHC expression.
constexpr int kMaxDepth = 200;
constexpr int kMaxWork = 1000;
constexpr size_t kMaxTerms = 64;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

static std::optional<double> rounded(std::optional<double> number, FloatType type) {
  if (!number)
    return std::nullopt;
  APFloat result(*number);
  bool losesInfo;
  result.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return asWritten(result);
}

/// The numbers of what was joined, each worked out once: parts of a join may be joined again, and often are.
using JoinedNumbers = llvm::SmallDenseMap<Value, std::optional<double>, 4>;

static std::optional<double> constantValue(Value value, JoinedNumbers &joined) {
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    return constantValue(splat.getInput(), joined);
  if (Operation *op = value.getDefiningOp();
      isa_and_nonnull<BroadcastOp, TransposeOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp,
                      tensor::CastOp, arith::ExtFOp>(op))
    return constantValue(op->getOperand(0), joined);
  if (auto concat = value.getDefiningOp<tensor::ConcatOp>()) {
    if (auto known = joined.find(value); known != joined.end())
      return known->second;
    std::optional<double> first = constantValue(concat.getInputs()[0], joined);
    bool equal = first && llvm::all_of(concat.getInputs().drop_front(),
                                       [&](Value part) { return constantValue(part, joined) == first; });
    return joined[value] = equal ? first : std::nullopt;
  }
  if (auto div = value.getDefiningOp<arith::DivFOp>()) {
    std::optional<double> by = constantValue(div.getRhs(), joined);
    std::optional<double> number = by && *by != 0 ? constantValue(div.getLhs(), joined) : std::nullopt;
    return rounded(number ? std::optional(*number / *by) : std::nullopt, cast<FloatType>(getElementTypeOrSelf(value)));
  }
  if (auto trunc = value.getDefiningOp<arith::TruncFOp>())
    return rounded(constantValue(trunc.getIn(), joined), cast<FloatType>(getElementTypeOrSelf(value)));
  DenseElementsAttr elements;
  FloatAttr scalar;
  if (matchPattern(value, m_Constant(&scalar)))
    return asWritten(scalar.getValue());
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat() && isa<FloatType>(elements.getElementType()))
    return asWritten(elements.getSplatValue<APFloat>());
  return std::nullopt;
}

std::optional<double> mhc::constantValue(Value value) {
  JoinedNumbers joined;
  return ::constantValue(value, joined);
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

DimAnalysis &FormBuilder::dimsWith(Value value) {
  if (!dims)
    dims.emplace(func);
  dims->learn(value);
  return *dims;
}

void FormBuilder::forget(Operation *op) {
  if (dims)
    dims->forget(op);
}

Var FormBuilder::makeVar(Value value, int dim, int64_t size) {
  variables.push_back({size, value, dim, {}});
  return variables.size() - 1;
}

Indices FormBuilder::freshIndices(Value value) {
  Indices indices;
  for (auto [dim, size] : llvm::enumerate(tensorType(value).getShape())) {
    Index &index = indices.emplace_back();
    if (size != 1)
      index.vars.push_back(makeVar(value, dim, size));
  }
  return indices;
}

Vars FormBuilder::flatten(ArrayRef<Var> vars) const {
  Vars flat;
  for (Var var : vars) {
    if (variables[var].split.empty())
      flat.push_back(var);
    else
      llvm::append_range(flat, flatten(variables[var].split));
  }
  return flat;
}

int64_t FormBuilder::extent(ArrayRef<Var> vars) const {
  int64_t size = 1;
  for (Var var : vars) {
    if (ShapedType::isDynamic(extent(var)))
      return ShapedType::kDynamic;
    size *= extent(var);
  }
  return size;
}

bool FormBuilder::sameExtent(Var var, Value value, int dim) {
  int64_t size = tensorType(value).getDimSize(dim);
  const Variable &variable = variables[var];
  if (!ShapedType::isDynamic(size) || !ShapedType::isDynamic(variable.size))
    return size == variable.size;
  if (value == variable.value && dim == variable.dim)
    return true;
  return sameSize(value, dim, variable.value, variable.dim);
}

bool FormBuilder::sameSize(Value a, int da, Value b, int db) {
  dimsWith(a);
  return dimsWith(b).sameSize(a, da, b, db);
}

bool FormBuilder::covers(const Index &index, Value value, int dim) {
  int64_t size = tensorType(value).getDimSize(dim);
  Vars vars = flatten(index.vars);
  if (index.offset != 0)
    return false;
  if (!ShapedType::isDynamic(size))
    return extent(vars) == size;
  if (vars.size() == 1)
    return sameExtent(vars[0], value, dim);
  int64_t factor = 1;
  SmallVector<std::pair<Value, int>> parts;
  for (Var var : vars) {
    const Variable &variable = variables[var];
    if (ShapedType::isDynamic(variable.size))
      parts.push_back({variable.value, variable.dim});
    else
      factor *= variable.size;
  }
  return isProduct(value, dim, factor, parts);
}

bool FormBuilder::isProduct(Value value, int dim, int64_t factor, ArrayRef<std::pair<Value, int>> parts) {
  for (auto [part, partDim] : parts)
    dimsWith(part);
  return dimsWith(value).isProduct(value, dim, factor, parts);
}

std::optional<double> FormBuilder::takeConstant(Form &form) {
  if (form.terms.size() != 2)
    return std::nullopt;
  auto number = llvm::find_if(form.terms, [](const Term &term) { return term.factors.empty() && term.sums.empty(); });
  if (number == form.terms.end())
    return std::nullopt;
  double value = number->coefficient;
  form.terms.erase(number);
  return value;
}

void FormBuilder::resolve(Form &form) const {
  for (Term &term : form.terms) {
    term.sums = flatten(term.sums);
    for (Factor &factor : term.factors)
      for (Index &index : factor.index)
        index.vars = flatten(index.vars);
  }
}

std::optional<Vars> FormBuilder::fullVars(const Factor &factor) {
  Vars all;
  for (auto [dim, index] : llvm::enumerate(factor.index)) {
    if (!covers(index, factor.base, dim))
      return std::nullopt;
    llvm::append_range(all, flatten(index.vars));
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Ops that compute
//===----------------------------------------------------------------------===//

Form FormBuilder::opaque(Value value, const Indices &index) {
  // Views of a base are the base under another index. A rounded sum is a value of its own.
  if (!value.getDefiningOp<arith::TruncFOp>())
    if (auto inner = through(value, index))
      return opaque(inner->first, inner->second);
  Form form;
  form.terms.emplace_back().factors.push_back({value, index});
  return form;
}

/// Whether a value is a sum, seen through ops that keep the elements as they are. Sums are bases inside a product, and
/// need not be looked into: the streams of a layer are a sum over the layer before.
static bool isSum(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<arith::AddFOp, arith::SubFOp>(op))
      return true;
    if (auto concat = dyn_cast<tensor::ConcatOp>(op))
      return llvm::all_of(concat.getInputs(), isSum);
    if (!isa<arith::ExtFOp, arith::TruncFOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp,
             TransposeOp, BroadcastOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

Form FormBuilder::factor(Value value, const Indices &index) {
  if (isSum(value))
    return opaque(value, index);
  Form form = at(value, index);
  return form.terms.size() == 1 ? form : opaque(value, index);
}

Form FormBuilder::multiply(Value a, const Indices &ia, Value b, const Indices &ib, bool invert) {
  Form fa = factor(a, ia), fb = factor(b, ib);
  if (invert && !fb.terms[0].sums.empty())
    fb = opaque(b, ib);
  Term &result = fa.terms[0], &other = fb.terms[0];
  if (invert) {
    other.coefficient = 1 / other.coefficient;
    for (Factor &factor : other.factors)
      factor.power = -factor.power;
  }
  result.coefficient *= other.coefficient;
  llvm::append_range(result.factors, other.factors);
  llvm::append_range(result.sums, other.sums);
  return fa;
}

static void scale(Form &form, double coefficient) {
  for (Term &term : form.terms)
    term.coefficient *= coefficient;
}

std::optional<Form> FormBuilder::arithmetic(Operation *op, const Indices &index) {
  if (auto neg = dyn_cast<arith::NegFOp>(op)) {
    Form form = at(neg.getOperand(), index);
    scale(form, -1);
    return form;
  }
  if (isa<arith::AddFOp, arith::SubFOp>(op)) {
    Form form = at(op->getOperand(0), index), other = at(op->getOperand(1), index);
    if (isa<arith::SubFOp>(op))
      scale(other, -1);
    llvm::append_range(form.terms, other.terms);
    llvm::erase_if(form.terms, [](const Term &term) { return term.coefficient == 0; });
    if (form.terms.size() > kMaxTerms)
      return std::nullopt;
    roll(form);
    return form;
  }
  if (auto power = dyn_cast<math::PowFOp>(op); power && constantValue(power.getRhs()) == 2.0) {
    Value base = power.getLhs();
    if (auto abs = base.getDefiningOp<math::AbsFOp>())
      base = abs.getOperand();
    return multiply(base, index, base, index, /*invert=*/false);
  }
  if (isa<arith::MulFOp, arith::DivFOp>(op))
    return multiply(op->getOperand(0), index, op->getOperand(1), index, isa<arith::DivFOp>(op));
  return std::nullopt;
}

void FormBuilder::addSums(Term &term, const Vars &sums) {
  for (Var var : sums) {
    // A sum over equal terms is a number.
    bool runs = llvm::any_of(term.factors, [&](const Factor &factor) {
      return llvm::any_of(factor.index, [&](const Index &index) {
        return llvm::any_of(flatten(var), [&](Var part) { return llvm::is_contained(flatten(index.vars), part); });
      });
    });
    if (runs)
      term.sums.push_back(var);
    else
      term.coefficient *= extent(var);
  }
}

std::optional<Form> FormBuilder::reduction(ReduceOp op, const Indices &index) {
  if (op.getKind() == ReduceKind::max)
    return std::nullopt;
  Indices inner;
  Vars sums;
  double count = 1;
  size_t next = 0;
  for (auto [dim, size] : llvm::enumerate(op.getX().getType().getShape())) {
    if (!llvm::is_contained(op.getDims(), static_cast<int64_t>(dim))) {
      inner.push_back(index[next++]);
      continue;
    }
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    count *= size;
    Index &slot = inner.emplace_back();
    if (size != 1) {
      sums.push_back(makeVar(op.getX(), dim, size));
      slot.vars = {sums.back()};
    }
  }
  Form form = at(op.getX(), inner);
  if (form.terms.size() != 1)
    form = opaque(op.getX(), inner);
  addSums(form.terms[0], sums);
  if (op.getKind() == ReduceKind::mean)
    scale(form, 1 / count);
  return form;
}

std::optional<Form> FormBuilder::product(Operation *op, const Indices &index) {
  bool batched = isa<BatchMatmulOp>(op);
  if (!batched && !isa<MatmulOp>(op))
    return std::nullopt;
  bool flipLhs = op->hasAttr("transpose_lhs"), flipRhs = op->hasAttr("transpose_rhs");
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  int first = batched ? 1 : 0;
  int depthDim = first + (flipLhs ? 0 : 1);
  int64_t size = tensorType(lhs).getDimSize(depthDim);
  if (ShapedType::isDynamic(size))
    return std::nullopt;
  Index k;
  if (size != 1)
    k.vars.push_back(makeVar(lhs, depthDim, size));
  Index row = index[first], col = index[first + 1];
  Indices left(index.begin(), index.begin() + first), right = left;
  left.append(flipLhs ? Indices{k, row} : Indices{row, k});
  right.append(flipRhs ? Indices{col, k} : Indices{k, col});
  Form form = multiply(lhs, left, rhs, right, /*invert=*/false);
  addSums(form.terms[0], k.vars);
  return form;
}

Form FormBuilder::rmsNorm(RmsNormOp op, const Indices &index) {
  Form form = factor(op.getX(), index);
  Factor stat{op.getOut(), Indices(ArrayRef(index).drop_back()), 1, Factor::InvRms};
  form.terms[0].factors.push_back(stat);
  if (op.getWeight()) {
    Form weight = factor(op.getWeight(), {index.back()});
    form.terms[0].coefficient *= weight.terms[0].coefficient;
    llvm::append_range(form.terms[0].factors, weight.terms[0].factors);
    llvm::append_range(form.terms[0].sums, weight.terms[0].sums);
  }
  return form;
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

Form FormBuilder::at(Value value, const Indices &index) {
  if (depth == 0)
    work = 0;
  if (std::optional<double> number = constantValue(value)) {
    Form form;
    form.terms.emplace_back().coefficient = *number;
    return form;
  }
  Operation *op = value.getDefiningOp();
  if (!op || stops.contains(value) || depth > kMaxDepth || ++work > kMaxWork)
    return opaque(value, index);
  ++depth;
  std::optional<Form> form;
  if (auto inner = through(value, index))
    form = at(inner->first, inner->second);
  else if (isa<tensor::ConcatOp>(op))
    form = concatenation(value, index);
  else if (auto reduce = dyn_cast<ReduceOp>(op))
    form = reduction(reduce, index);
  else if (auto norm = dyn_cast<RmsNormOp>(op))
    form = rmsNorm(norm, index);
  else if (!(form = arithmetic(op, index)))
    form = product(op, index);
  --depth;
  if (!form)
    return opaque(value, index);
  if (recordsValues && form->terms.size() == 1)
    traces.push_back({value, index, *form});
  return *form;
}

/// Whether two terms have the same factors, in any order.
static bool sameFactors(const Term &a, const Term &b) {
  if (a.factors.size() != b.factors.size() || a.sums != b.sums)
    return false;
  std::vector<Factor> rest = b.factors;
  for (const Factor &factor : a.factors) {
    auto it = llvm::find(rest, factor);
    if (it == rest.end())
      return false;
    rest.erase(it);
  }
  return true;
}

std::optional<Factor> FormBuilder::findValue(const Term &term, ArrayRef<Var> vars) {
  // As it is when somebody reads it, rounded but not widened again: of the narrowest the outermost, better in the order
  // of `vars` than transposed.
  std::optional<Factor> found;
  std::pair<unsigned, bool> least;
  for (const Trace &trace : llvm::reverse(traces)) {
    Factor whole{trace.value, trace.index};
    std::optional<Vars> own = fullVars(whole);
    if (!own || own->size() != vars.size() || !std::is_permutation(own->begin(), own->end(), vars.begin()))
      continue;
    std::pair cost(getElementTypeOrSelf(trace.value).getIntOrFloatBitWidth(), *own != Vars(vars));
    if (found && cost >= least)
      continue;
    Form form = trace.form;
    resolve(form);
    if (std::abs(form.terms[0].coefficient - term.coefficient) <= 1e-12 * std::abs(term.coefficient) &&
        sameFactors(form.terms[0], term)) {
      found = whole;
      least = cost;
    }
  }
  return found;
}
