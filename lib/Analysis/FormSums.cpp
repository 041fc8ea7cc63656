//===- FormSums.cpp - Sums and concatenations that are written out ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/Form.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Factor and dimension of the constant indices that grow by one from term to term.
using Running = SmallVector<std::pair<int, int>>;

/// How far apart two neighbours are that an index reads side by side.
static int64_t strideOf(const FormBuilder &forms, const Index &index) { return forms.extent(index.vars); }

/// Whether `other` is `first` with `step` added to its running indices. An empty `running` is filled at the first step.
static bool followsBy(const FormBuilder &forms, const Term &first, const Term &other, int64_t step, Running &running) {
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
        int64_t stride = runs ? strideOf(forms, expected) : 0;
        if (runs) {
          expected.offset += step * stride;
          here.push_back(slot);
        }
        same = same && expected == std::get<1>(slots) &&
               (!runs || (!ShapedType::isDynamic(stride) && expected.offset == step * stride));
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

static void prepend(Vars &vars, const Vars &front) { vars.insert(vars.begin(), front.begin(), front.end()); }

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

std::optional<Form> FormBuilder::concatenation(Value value, const Indices &index) {
  auto concat = value.getDefiningOp<tensor::ConcatOp>();
  if (!concat)
    return std::nullopt;
  const unsigned dim = concat.getDim();
  const Vars vars = flatten(index[dim].vars);
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
  // Where the variables run over the parts and what is inside them, the first of them picks the part.
  std::optional<std::pair<Var, Vars>> split =
      begin == 0 && start == count ? splitParts(concat.getInputs(), dim, vars) : std::nullopt;
  if (!split)
    return std::nullopt;
  inner[dim] = Index{split->second, 0};
  std::vector<Form> parts;
  for (Value part : concat.getInputs())
    parts.push_back(at(part, inner));
  for (Form &part : parts)
    resolve(part);
  return mergeParts(parts, split->first);
}

std::optional<std::pair<Var, Vars>> FormBuilder::splitParts(ValueRange parts, int64_t dim, const Vars &vars) {
  int64_t count = parts.size(), size = tensorType(parts[0]).getDimSize(dim);
  if (vars.empty() || llvm::any_of(parts, [&](Value part) { return tensorType(part).getDimSize(dim) != size; }))
    return std::nullopt;
  if (extent(vars[0]) == count)
    return std::make_pair(vars[0], Vars(ArrayRef(vars).drop_front()));
  if (vars.size() != 1)
    return std::nullopt;
  Var part = makeVar(parts[0], dim, count), inside = makeVar(parts[0], dim, size);
  variables[vars[0]].split = {part, inside};
  return std::make_pair(part, Vars{inside});
}

std::optional<Form> FormBuilder::mergeParts(std::vector<Form> &parts, Var part) const {
  Form merged = parts.front();
  for (Term &term : merged.terms) {
    const Term first = term;
    Running running;
    for (size_t step = 1; step < parts.size(); ++step) {
      Running candidate;
      auto next = llvm::find_if(parts[step].terms, [&](const Term &other) {
        candidate = running;
        return followsBy(*this, first, other, step, candidate);
      });
      if (next == parts[step].terms.end())
        return std::nullopt;
      running = candidate;
      parts[step].terms.erase(next);
    }
    for (auto [factor, slot] : running)
      prepend(term.factors[factor].index[slot].vars, {part});
  }
  bool all = llvm::all_of(ArrayRef(parts).drop_front(), [](const Form &form) { return form.terms.empty(); });
  return all ? std::optional(merged) : std::nullopt;
}

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
               followsBy(*this, form.terms[begin], form.terms[t], step, candidate);
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
    if (tensorType(first.factors[f].base).getDimSize(d) != *size * strideOf(*this, first.factors[f].index[d]))
      continue;
    Var var = makeVar(first.factors[f].base, d, *size);
    for (auto [factor, slot] : running)
      prepend(first.factors[factor].index[slot].vars, {var});
    first.sums.push_back(var);
    llvm::sort(members, std::greater<>());
    for (size_t t : members) {
      form.terms.erase(form.terms.begin() + t);
      begin -= t < begin;
    }
  }
}
