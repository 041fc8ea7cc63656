//===- Relayout.cpp - Tensors for the factors of a form ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/Form.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

OpFoldResult FormBuilder::sizeOf(Var var, OpBuilder &builder, Location loc) {
  const Variable &variable = variables[var];
  if (!ShapedType::isDynamic(variable.size))
    return builder.getIndexAttr(variable.size);
  if (auto argument = dimsWith(variable.value).argumentDim(variable.value, variable.dim)) {
    auto [number, dim] = *argument;
    return tensor::getMixedSize(builder, loc, func.getArgument(number), dim);
  }
  return {};
}

static Vars concat(ArrayRef<Vars> groups) {
  Vars all;
  for (const Vars &group : groups)
    llvm::append_range(all, group);
  return all;
}

/// Reassociation that joins groups of the given sizes; a group of none becomes a dimension of size one elsewhere.
static SmallVector<ReassociationIndices> joinGroups(ArrayRef<Vars> groups) {
  SmallVector<ReassociationIndices> result;
  int64_t next = 0;
  for (const Vars &group : groups) {
    if (group.empty())
      continue;
    ReassociationIndices &indices = result.emplace_back();
    for (size_t i = 0; i < group.size(); ++i)
      indices.push_back(next++);
  }
  return result;
}

/// Adds (or with `remove` drops) the dimensions of size one that the empty groups stand for.
static Value changeUnits(OpBuilder &builder, Location loc, Value value, ArrayRef<Vars> groups, bool remove) {
  if (llvm::none_of(groups, [](const Vars &group) { return group.empty(); }))
    return value;
  SmallVector<ReassociationIndices> reassociation;
  ReassociationIndices leading;
  for (auto [dim, group] : llvm::enumerate(groups)) {
    if (!group.empty()) {
      reassociation.emplace_back(leading);
      leading.clear();
      reassociation.back().push_back(dim);
    } else if (reassociation.empty()) {
      leading.push_back(dim);
    } else {
      reassociation.back().push_back(dim);
    }
  }
  if (remove)
    return tensor::CollapseShapeOp::create(builder, loc, value, reassociation);
  SmallVector<OpFoldResult> sizes, old = LeafBuilder(builder, loc).sizesOf(value);
  size_t next = 0;
  for (const Vars &group : groups)
    sizes.push_back(group.empty() ? OpFoldResult(builder.getIndexAttr(1)) : old[next++]);
  return tensor::ExpandShapeOp::create(builder, loc, LeafBuilder::typeOf(sizes, getElementTypeOrSelf(value)), value,
                                       reassociation, sizes);
}

Value FormBuilder::relayout(OpBuilder &builder, Location loc, Value value, ArrayRef<Vars> from, ArrayRef<Vars> to) {
  SmallVector<Vars> source, target;
  for (const Vars &group : from)
    source.push_back(flatten(group));
  for (const Vars &group : to)
    target.push_back(flatten(group));
  if (source == target)
    return value;
  Vars before = concat(source), after = concat(target);
  if (before.size() != after.size() || !std::is_permutation(before.begin(), before.end(), after.begin()))
    return {};
  value = changeUnits(builder, loc, value, source, /*remove=*/true);
  llvm::erase_if(source, [](const Vars &group) { return group.empty(); });
  // One dimension per variable
  if (llvm::any_of(source, [](const Vars &group) { return group.size() > 1; })) {
    SmallVector<OpFoldResult> old = LeafBuilder(builder, loc).sizesOf(value), sizes;
    for (auto [group, size] : llvm::zip(source, old))
      for (Var var : group) {
        sizes.push_back(group.size() == 1 ? size : sizeOf(var, builder, loc));
        if (!sizes.back())
          return {};
      }
    value = tensor::ExpandShapeOp::create(builder, loc, LeafBuilder::typeOf(sizes, getElementTypeOrSelf(value)), value,
                                          joinGroups(source), sizes);
  }
  if (before != after) {
    SmallVector<int64_t> perm;
    for (Var var : after)
      perm.push_back(llvm::find(before, var) - before.begin());
    value = LeafBuilder(builder, loc).transpose(value, perm);
  }
  if (llvm::any_of(target, [](const Vars &group) { return group.size() > 1; }))
    value = tensor::CollapseShapeOp::create(builder, loc, value, joinGroups(target));
  return changeUnits(builder, loc, value, target, /*remove=*/false);
}

Value FormBuilder::rebuild(OpBuilder &builder, Location loc, const Factor &factor, ArrayRef<Vars> to) {
  // The result is an operand of a kernel, and none takes f64.
  if (factor.role != Factor::Value || factor.power != 1 || getElementTypeOrSelf(factor.base).isF64())
    return {};
  Value value = factor.base;
  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<Vars> from;
  bool whole = true;
  for (auto [dim, index] : llvm::enumerate(factor.index)) {
    bool full = covers(index, factor.base, dim);
    int64_t count = extent(flatten(index.vars));
    if (!full && ShapedType::isDynamic(count))
      return {};
    whole = whole && full;
    offsets.push_back(builder.getIndexAttr(full ? 0 : index.offset));
    sizes.push_back(full ? mhc::sizeOf(builder, loc, value, dim) : OpFoldResult(builder.getIndexAttr(count)));
    strides.push_back(builder.getIndexAttr(1));
    from.push_back(flatten(index.vars));
  }
  if (!whole)
    value = tensor::ExtractSliceOp::create(builder, loc, value, offsets, sizes, strides);
  return relayout(builder, loc, value, from, to);
}
