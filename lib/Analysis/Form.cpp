//===- Form.cpp - Values as sums of products under index maps ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/Form.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mhc;

/// Bounds on one form: a longer recursion or a wider sum is no mHC expression.
constexpr int kMaxDepth = 200;
constexpr int kMaxWork = 4000;
constexpr size_t kMaxTerms = 128;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The decimal that a user wrote for an f32 constant: 1e-6, not the 9.99999997e-7 next to it. It rounds to the same
/// f32.
static double asWritten(const APFloat &number) {
  if (&number.getSemantics() != &APFloat::IEEEsingle())
    return number.convertToDouble();
  float value = number.convertToFloat();
  char text[32];
  for (int digits = 6; digits <= 9; ++digits) {
    snprintf(text, sizeof(text), "%.*g", digits, value);
    if (strtof(text, nullptr) == value)
      break;
  }
  return std::isfinite(value) ? strtod(text, nullptr) : value;
}

std::optional<double> mhc::constantValue(Value value) {
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    return constantValue(splat.getInput());
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    return constantValue(broadcast.getX());
  DenseElementsAttr elements;
  FloatAttr scalar;
  if (matchPattern(value, m_Constant(&scalar)))
    return asWritten(scalar.getValue());
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat() && isa<FloatType>(elements.getElementType()))
    return asWritten(elements.getSplatValue<APFloat>());
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

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
  return dims.sameSize(value, dim, variable.value, variable.dim);
}

bool FormBuilder::covers(const Index &index, Value value, int dim) {
  int64_t size = tensorType(value).getDimSize(dim);
  Vars vars = flatten(index.vars);
  if (index.offset != 0)
    return false;
  if (!ShapedType::isDynamic(size))
    return extent(vars) == size;
  return vars.size() == 1 && sameExtent(vars[0], value, dim);
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
// Indices through reshapes
//===----------------------------------------------------------------------===//

std::optional<Indices> FormBuilder::distribute(const Index &index, Value value, ArrayRef<int64_t> group) {
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  SmallVector<int64_t> wide;
  for (int64_t dim : group)
    if (shape[dim] != 1)
      wide.push_back(dim);
  Indices result(group.size());
  auto slot = [&](int64_t dim) -> Index & { return result[llvm::find(group, dim) - group.begin()]; };
  if (wide.size() == 1) {
    slot(wide[0]) = index;
    return result;
  }
  if (wide.empty())
    return index.vars.empty() && index.offset == 0 ? std::optional(result) : std::nullopt;
  // A constant offset is split by the sizes; then the variables, from the innermost dimension out.
  int64_t offset = index.offset;
  Vars vars = flatten(index.vars);
  for (int64_t dim : llvm::reverse(ArrayRef(wide).drop_front())) {
    int64_t size = shape[dim], inner = 1;
    if (ShapedType::isDynamic(size)) {
      if (offset != 0 || vars.empty() || !sameExtent(vars.back(), value, dim))
        return std::nullopt;
      slot(dim).vars.push_back(vars.pop_back_val());
      continue;
    }
    Vars taken;
    while (inner < size && !vars.empty()) {
      Var var = vars.pop_back_val();
      int64_t have = extent(var);
      if (!ShapedType::isDynamic(have) && inner * have <= size && size % (inner * have) == 0) {
        taken.insert(taken.begin(), var);
        inner *= have;
        continue;
      }
      int64_t need = size / inner;
      if (!ShapedType::isDynamic(have) && have % need != 0)
        return std::nullopt;
      if (ShapedType::isDynamic(have) && inner != 1)
        return std::nullopt;
      int64_t rest = ShapedType::isDynamic(have) ? ShapedType::kDynamic : have / need;
      int64_t outer = wide.front();
      if (ShapedType::isDynamic(rest) && (wide.size() != 2 || !ShapedType::isDynamic(shape[outer])))
        return std::nullopt;
      Var high = makeVar(value, outer, rest), low = makeVar(value, dim, need);
      variables[var].split = {high, low};
      vars.push_back(high);
      taken.insert(taken.begin(), low);
      inner = size;
    }
    slot(dim).vars = taken;
    slot(dim).offset = offset % size;
    offset /= size;
    if (inner != size && slot(dim).offset + inner > size)
      return std::nullopt;
    if (inner != size && !vars.empty())
      return std::nullopt;
  }
  int64_t outer = wide.front(), size = shape[outer];
  if (!ShapedType::isDynamic(size) && offset + extent(vars) > size)
    return std::nullopt;
  slot(outer).vars = vars;
  slot(outer).offset = offset;
  return result;
}

std::optional<Index> FormBuilder::combine(ArrayRef<Index> parts, Value value, ArrayRef<int64_t> group) {
  Index result;
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  bool outermost = true;
  for (auto [part, dim] : llvm::zip(parts, group)) {
    int64_t size = shape[dim];
    if (size == 1)
      continue;
    // Below the outermost index every dimension must run over its whole size, or be fixed above only fixed ones.
    if (!outermost) {
      if (ShapedType::isDynamic(size) && result.offset != 0)
        return std::nullopt;
      bool full = covers(part, value, dim);
      if (!full && !(part.vars.empty() && result.vars.empty()))
        return std::nullopt;
      result.offset = ShapedType::isDynamic(size) ? 0 : result.offset * size;
    }
    llvm::append_range(result.vars, part.vars);
    result.offset += part.offset;
    outermost = false;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Terms that differ in a running index
//===----------------------------------------------------------------------===//

/// Factor and dimension of the constant indices that grow by one from term to term.
using Running = SmallVector<std::pair<int, int>>;

/// Whether `other` is `first` with `step` added to its running indices. An empty `running` is filled at the first step.
static bool followsBy(const Term &first, const Term &other, int64_t step, Running &running) {
  if (first.coefficient != other.coefficient || first.factors.size() != other.factors.size() ||
      first.sums.size() != other.sums.size())
    return false;
  bool learn = running.empty();
  SmallVector<bool> used(other.factors.size(), false);
  for (auto [f, mine] : llvm::enumerate(first.factors)) {
    bool found = false;
    for (auto [g, theirs] : llvm::enumerate(other.factors)) {
      if (used[g] || mine.base != theirs.base || mine.power != theirs.power || mine.role != theirs.role ||
          mine.index.size() != theirs.index.size())
        continue;
      Running here;
      bool same = true;
      for (auto [d, slots] : llvm::enumerate(llvm::zip(mine.index, theirs.index))) {
        Index expected = std::get<0>(slots);
        for (auto [a, b] : llvm::zip(first.sums, other.sums))
          llvm::replace(expected.vars, a, b);
        std::pair<int, int> slot(f, d);
        bool runs = learn ? !(expected == std::get<1>(slots)) : llvm::is_contained(running, slot);
        if (runs) {
          expected.offset += step;
          here.push_back(slot);
        }
        same = same && expected == std::get<1>(slots) && (!runs || (expected.vars.empty() && expected.offset == step));
      }
      if (!same)
        continue;
      if (learn)
        running.append(here);
      used[g] = found = true;
      break;
    }
    if (!found)
      return false;
  }
  return !running.empty();
}

/// Size of the first dimension of which the term reads element 0 only.
static std::optional<int64_t> fixedDim(const Term &term) {
  for (const Factor &factor : term.factors)
    for (auto [d, index] : llvm::enumerate(factor.index)) {
      int64_t size = tensorType(factor.base).getDimSize(d);
      if (index.vars.empty() && index.offset == 0 && size > 1)
        return size;
    }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Ops that only move elements
//===----------------------------------------------------------------------===//

std::optional<std::pair<Value, Indices>> FormBuilder::through(Value value, const Indices &index) {
  using Result = std::optional<std::pair<Value, Indices>>;
  Operation *op = value.getDefiningOp();
  if (!op || stops.contains(value))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<arith::ExtFOp, arith::TruncFOp, tensor::CastOp>(
          [&](auto cast) -> Result { return std::make_pair(cast->getOperand(0), index); })
      .Case([&](BroadcastOp broadcast) -> Result {
        Indices inner(broadcast.getDims().size());
        for (auto [i, dim] : llvm::enumerate(broadcast.getDims()))
          if (broadcast.getX().getType().getDimSize(i) != 1)
            inner[i] = index[dim];
        return std::make_pair(Value(broadcast.getX()), inner);
      })
      .Case([&](TransposeOp transpose) -> Result {
        Indices inner(index.size());
        for (auto [i, dim] : llvm::enumerate(transpose.getPerm()))
          inner[dim] = index[i];
        return std::make_pair(Value(transpose.getX()), inner);
      })
      .Case([&](tensor::CollapseShapeOp collapse) -> Result {
        Indices inner;
        for (auto [i, group] : llvm::enumerate(collapse.getReassociationIndices())) {
          std::optional<Indices> parts = distribute(index[i], collapse.getSrc(), group);
          if (!parts)
            return std::nullopt;
          inner.append(*parts);
        }
        return std::make_pair(Value(collapse.getSrc()), inner);
      })
      .Case([&](tensor::ExpandShapeOp expand) -> Result {
        Indices inner;
        for (ReassociationIndices group : expand.getReassociationIndices()) {
          std::optional<Index> part =
              combine(ArrayRef(index).slice(group.front(), group.size()), expand.getResult(), group);
          if (!part)
            return std::nullopt;
          inner.push_back(*part);
        }
        return std::make_pair(Value(expand.getSrc()), inner);
      })
      .Case([&](tensor::ExtractSliceOp slice) -> Result {
        llvm::SmallBitVector dropped = slice.getDroppedDims();
        Indices inner;
        size_t next = 0;
        for (int64_t dim = 0; dim < slice.getSourceType().getRank(); ++dim) {
          int64_t offset = slice.getStaticOffset(dim), stride = slice.getStaticStride(dim);
          if (ShapedType::isDynamic(offset) || stride != 1)
            return std::nullopt;
          Index part = dropped[dim] ? Index() : index[next];
          if (!dropped[dim] && slice.isDynamicSize(dim) &&
              !dims.sameSize(slice.getSource(), dim, slice.getResult(), next))
            return std::nullopt;
          next += !dropped[dim];
          part.offset += offset;
          inner.push_back(part);
        }
        return std::make_pair(Value(slice.getSource()), inner);
      })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

std::optional<Form> FormBuilder::concatenation(Value value, const Indices &index) {
  auto concat = value.getDefiningOp<tensor::ConcatOp>();
  if (!concat)
    return std::nullopt;
  unsigned dim = concat.getDim();
  Vars vars = flatten(index[dim].vars);
  int64_t count = extent(vars), begin = index[dim].offset, start = 0;
  if (ShapedType::isDynamic(count))
    return std::nullopt;
  Indices inner = index;
  for (Value part : concat.getInputs()) {
    int64_t size = tensorType(part).getDimSize(dim);
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    if (begin >= start && begin + count <= start + size) {
      inner[dim].offset = begin - start;
      if (size == 1)
        inner[dim] = Index();
      return at(part, inner);
    }
    start += size;
  }
  // Parts of size one under one variable: the variable's value picks the part.
  size_t parts = concat.getInputs().size();
  if (vars.size() != 1 || begin != 0 || static_cast<int64_t>(parts) != count || start != count)
    return std::nullopt;
  std::vector<Term> terms;
  for (Value part : concat.getInputs()) {
    inner[dim] = Index();
    Form form = at(part, inner);
    resolve(form);
    if (form.terms.size() != 1)
      return std::nullopt;
    terms.push_back(form.terms[0]);
  }
  Form result;
  result.terms.push_back(terms.front());
  Running running;
  for (size_t step = 1; step < parts; ++step)
    if (!followsBy(terms.front(), terms[step], step, running))
      return std::nullopt;
  for (auto [factor, slot] : running)
    result.terms[0].factors[factor].index[slot].vars = vars;
  return result;
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

Form FormBuilder::multiply(Value a, const Indices &ia, Value b, const Indices &ib, bool invert) {
  Form fa = at(a, ia), fb = at(b, ib);
  if (fa.terms.size() != 1)
    fa = opaque(a, ia);
  if (fb.terms.size() != 1 || (invert && !fb.terms[0].sums.empty()))
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
  if (isa<arith::MulFOp, arith::DivFOp>(op))
    return multiply(op->getOperand(0), index, op->getOperand(1), index, isa<arith::DivFOp>(op));
  return std::nullopt;
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
  llvm::append_range(form.terms[0].sums, sums);
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
  llvm::append_range(form.terms[0].sums, k.vars);
  return form;
}

Form FormBuilder::rmsNorm(RmsNormOp op, const Indices &index) {
  Form form = at(op.getX(), index);
  if (form.terms.size() != 1)
    form = opaque(op.getX(), index);
  Factor stat{op.getOut(), Indices(ArrayRef(index).drop_back()), 1, Factor::InvRms};
  form.terms[0].factors.push_back(stat);
  if (op.getWeight()) {
    Form weight = at(op.getWeight(), {index.back()});
    if (weight.terms.size() != 1)
      weight = opaque(op.getWeight(), {index.back()});
    form.terms[0].coefficient *= weight.terms[0].coefficient;
    llvm::append_range(form.terms[0].factors, weight.terms[0].factors);
  }
  return form;
}

//===----------------------------------------------------------------------===//
// Sums written out
//===----------------------------------------------------------------------===//

void FormBuilder::roll(Form &form) {
  resolve(form);
  for (size_t begin = 0; begin < form.terms.size(); ++begin) {
    // The first of n terms reads element 0 of a dimension of size n; the others may stand anywhere.
    std::optional<int64_t> size = fixedDim(form.terms[begin]);
    if (!size || *size > static_cast<int64_t>(form.terms.size()))
      continue;
    Running running;
    SmallVector<size_t> members;
    for (int64_t step = 1; step < *size; ++step) {
      Running candidate = running;
      auto follows = [&](size_t t) {
        candidate = running;
        return t != begin && !llvm::is_contained(members, t) &&
               followsBy(form.terms[begin], form.terms[t], step, candidate);
      };
      auto all = llvm::seq<size_t>(0, form.terms.size());
      auto next = llvm::find_if(all, follows);
      if (next == all.end())
        break;
      members.push_back(*next);
      running = candidate;
    }
    if (static_cast<int64_t>(members.size()) + 1 != *size || running.empty())
      continue;
    Term &first = form.terms[begin];
    auto [f, d] = running.front();
    if (tensorType(first.factors[f].base).getDimSize(d) != *size)
      continue;
    Var var = makeVar(first.factors[f].base, d, *size);
    for (auto [factor, slot] : running)
      first.factors[factor].index[slot].vars = {var};
    first.sums.push_back(var);
    llvm::sort(members, std::greater<>());
    for (size_t t : members) {
      form.terms.erase(form.terms.begin() + t);
      begin -= t < begin;
    }
  }
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
  if (form->terms.size() == 1)
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

Value FormBuilder::findValue(const Term &term, ArrayRef<Var> vars) {
  for (const Trace &trace : traces) {
    Vars own;
    for (const Index &index : trace.index)
      llvm::append_range(own, flatten(index.vars));
    if (own != Vars(vars) || !fullVars({trace.value, trace.index}))
      continue;
    Form form = trace.form;
    resolve(form);
    if (std::abs(form.terms[0].coefficient - term.coefficient) <= 1e-12 * std::abs(term.coefficient) &&
        sameFactors(form.terms[0], term))
      return trace.value;
  }
  return {};
}
