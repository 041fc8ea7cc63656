//===- Inputs.cpp - Inputs of a site, as its kernels take them ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RaiseForms.h"
#include "mhc/IR/LeafBuilder.h"

using namespace mlir;
using namespace mhc;

std::optional<Streams> mhc::buildStreams(FormBuilder &forms, OpBuilder &builder, Location loc, const Factor &x,
                                         const Vars &tokens, const Vars &flat, int64_t n) {
  int64_t width = forms.extent(flat);
  if (ShapedType::isDynamic(width) || width % n != 0)
    return std::nullopt;
  // Inner streams are told by the shape; flat rows do not say, and either reading projects the same.
  bool inner = flat.size() == 2 && forms.extent(flat[1]) == n && forms.extent(flat[0]) != n;
  Layout layout = inner ? Layout::Cn : Layout::nC;
  if (flat.size() == 2 && (inner || forms.extent(flat[0]) == n)) {
    Value value = forms.rebuild(builder, loc, x, {tokens, {flat[0]}, {flat[1]}});
    return value ? std::optional(Streams{value, layout}) : std::nullopt;
  }
  Value value = forms.rebuild(builder, loc, x, {tokens, flat});
  if (!value)
    return std::nullopt;
  return Streams{LeafBuilder(builder, loc).split(value, 1, {n, width / n}), layout};
}

std::optional<Rows> mhc::readRows(const FormBuilder &forms, const Factor &factor, const Vars &row) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(factor.base.getType()).getShape();
  for (size_t begin = 0; begin < shape.size(); ++begin) {
    if (factor.index[begin].vars.empty())
      continue;
    Rows rows{begin, begin, 0, 1};
    Vars read;
    for (size_t dim = begin; dim < shape.size() && !ShapedType::isDynamic(shape[dim]); ++dim) {
      const Index &slot = factor.index[dim];
      if (dim != begin && (slot.offset != 0 || forms.extent(slot.vars) != shape[dim]))
        break;
      rows.end = dim + 1;
      rows.offset = rows.offset * shape[dim] + slot.offset;
      rows.count *= shape[dim];
      llvm::append_range(read, forms.flatten(slot.vars));
      if (read == row)
        return rows;
    }
  }
  return std::nullopt;
}

std::optional<std::pair<Value, PhiLayout>> mhc::buildPhi(FormBuilder &forms, OpBuilder &builder, Location loc,
                                                         const Factor &phi, const Vars &row, const Vars &flat) {
  // All rows of phi, not only those of this group.
  std::optional<Rows> read = readRows(forms, phi, row);
  if (!read)
    return std::nullopt;
  Factor whole = phi;
  Vars rows, order;
  Indices fresh = forms.freshIndices(phi.base);
  for (size_t dim = 0; dim < fresh.size(); ++dim) {
    if (dim >= read->begin && dim < read->end) {
      whole.index[dim] = fresh[dim];
      llvm::append_range(rows, fresh[dim].vars);
    }
    llvm::append_range(order, forms.flatten(whole.index[dim].vars));
  }
  PhiLayout layout = order.front() == rows.front() ? PhiLayout::out_in : PhiLayout::in_out;
  SmallVector<Vars> groups =
      layout == PhiLayout::out_in ? SmallVector<Vars>{rows, flat} : SmallVector<Vars>{flat, rows};
  Vars wanted = groups[0];
  llvm::append_range(wanted, groups[1]);
  if (order != wanted)
    return std::nullopt;
  Value value = forms.rebuild(builder, loc, whole, groups);
  return value ? std::optional(std::make_pair(value, layout)) : std::nullopt;
}

void mhc::setAfterInputs(OpBuilder &builder, Block *block, ArrayRef<Value> inputs) {
  builder.setInsertionPointToStart(block);
  for (Value input : inputs) {
    Operation *op = input.getDefiningOp();
    if (op && op->getBlock() == block && !op->isBeforeInBlock(&*builder.getInsertionPoint()))
      builder.setInsertionPointAfter(op);
  }
}
