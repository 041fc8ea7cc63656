//===- FormViews.cpp - Indices through ops that only move elements ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/Form.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mhc;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Indices through reshapes
//===----------------------------------------------------------------------===//

bool FormBuilder::splitProduct(Var var, Value value, ArrayRef<int64_t> dims) {
  Variable whole = variables[var];
  int64_t factor = 1;
  SmallVector<std::pair<Value, int>> unknown;
  for (int64_t dim : dims) {
    int64_t size = tensorType(value).getDimSize(dim);
    if (ShapedType::isDynamic(size))
      unknown.push_back({value, static_cast<int>(dim)});
    else
      factor *= size;
  }
  if (!ShapedType::isDynamic(whole.size) || unknown.size() < 2 || !isProduct(whole.value, whole.dim, factor, unknown))
    return false;
  Vars parts;
  for (int64_t dim : dims)
    parts.push_back(makeVar(value, dim, tensorType(value).getDimSize(dim)));
  variables[var].split = parts;
  return true;
}

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
  for (size_t rest = wide.size(); rest > 1; --rest) {
    int64_t dim = wide[rest - 1], size = shape[dim], inner = 1;
    if (offset == 0 && vars.size() == 1 && splitProduct(vars[0], value, ArrayRef(wide).take_front(rest)))
      vars = flatten(vars);
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
    if (slot(dim).offset + inner > size)
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
        inner.resize(collapse.getSrcType().getRank()); // a result of rank 0 has no groups
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
          if (!dropped[dim] && slice.isDynamicSize(dim) && !sameSize(slice.getSource(), dim, slice.getResult(), next))
            return std::nullopt;
          next += !dropped[dim];
          part.offset += offset;
          inner.push_back(part);
        }
        return std::make_pair(Value(slice.getSource()), inner);
      })
      .Default([](Operation *) -> Result { return std::nullopt; });
}
