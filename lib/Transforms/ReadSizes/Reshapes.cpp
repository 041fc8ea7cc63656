//===- Reshapes.cpp - Reshapes by computed sizes ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReadSizes.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace mhc;

namespace {
/// Dimensions of the operand, and those of the result that hold the same elements.
struct Group {
  ReassociationIndices from, to;
};

class ReshapeReader {
public:
  ReshapeReader(tensor::ReshapeOp op, const DimAnalysis &dims)
      : op(op), dims(dims), builder(op), loc(op.getLoc()), from(typeOf(op.getSource())), to(typeOf(op.getResult())) {}

  void read();

private:
  /// The type with the sizes that are known; null without a rank.
  RankedTensorType typeOf(Value tensor);
  /// Groups of dimensions by what is known of the sizes.
  std::optional<SmallVector<Group>> groupsBySizes();
  /// Groups of dimensions by the types alone, where they allow for one reading.
  std::optional<SmallVector<Group>> groupsByTypes();
  bool holdSame(const Group &group);
  bool hasSize1(Value tensor, int64_t dim) { return dims.constantSize(tensor, dim) == 1; }
  /// The next dimensions that hold the same elements: the fewest.
  std::optional<Group> groupFrom(int64_t nextFrom, int64_t nextTo);
  Value castTo(RankedTensorType type, Value tensor);
  Value collapse(ArrayRef<Group> groups);
  Value expand(Value tensor, ArrayRef<Group> groups);
  OpFoldResult sizeOf(Value tensor, const Group &group, int64_t dim, int64_t source);

  tensor::ReshapeOp op;
  const DimAnalysis &dims;
  OpBuilder builder;
  Location loc;
  RankedTensorType from, to;
};
} // namespace

RankedTensorType ReshapeReader::typeOf(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return {};
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    shape.push_back(dims.constantSize(tensor, dim).value_or(type.getDimSize(dim)));
  return type.clone(shape);
}

Value ReshapeReader::castTo(RankedTensorType type, Value tensor) {
  return tensor.getType() == type ? tensor : tensor::CastOp::create(builder, loc, type, tensor).getResult();
}

bool ReshapeReader::holdSame(const Group &group) {
  auto sizesOf = [](Value tensor, ArrayRef<int64_t> some) {
    return llvm::map_to_vector(some, [=](int64_t dim) { return std::pair(tensor, static_cast<int>(dim)); });
  };
  return dims.sameProduct(sizesOf(op.getSource(), group.from), sizesOf(op.getResult(), group.to));
}

std::optional<Group> ReshapeReader::groupFrom(int64_t nextFrom, int64_t nextTo) {
  const int64_t left = from.getRank() - nextFrom, right = to.getRank() - nextTo;
  for (int64_t count = 2; count <= left + right; ++count)
    for (int64_t some = std::max<int64_t>(1, count - right); some <= std::min(left, count - 1); ++some) {
      Group group{llvm::to_vector<2>(llvm::seq(nextFrom, nextFrom + some)),
                  llvm::to_vector<2>(llvm::seq(nextTo, nextTo + count - some))};
      if (holdSame(group))
        return group;
    }
  return std::nullopt;
}

std::optional<SmallVector<Group>> ReshapeReader::groupsBySizes() {
  SmallVector<Group> groups;
  int64_t nextFrom = 0, nextTo = 0;
  while (nextFrom < from.getRank() && nextTo < to.getRank()) {
    std::optional<Group> group = groupFrom(nextFrom, nextTo);
    if (!group)
      return std::nullopt;
    nextFrom += group->from.size();
    nextTo += group->to.size();
    groups.push_back(*group);
  }
  if (groups.empty())
    return std::nullopt;
  for (; nextFrom < from.getRank() && hasSize1(op.getSource(), nextFrom); ++nextFrom)
    groups.back().from.push_back(nextFrom);
  for (; nextTo < to.getRank() && hasSize1(op.getResult(), nextTo); ++nextTo)
    groups.back().to.push_back(nextTo);
  if (nextFrom < from.getRank() || nextTo < to.getRank())
    return std::nullopt;
  return groups;
}

/// Whether a reshape between two types can only mean these groups: with as many elements before and after, one unknown
/// size follows from the known ones.
static bool isUnique(RankedTensorType wide, RankedTensorType narrow, ArrayRef<ReassociationIndices> groups) {
  if (narrow.getNumDynamicDims() > 1)
    return false;
  for (auto [size, group] : llvm::zip(narrow.getShape(), groups)) {
    auto sizes = llvm::map_range(group, [&](int64_t dim) { return wide.getDimSize(dim); });
    if (!ShapedType::isDynamic(size) && llvm::product_of(sizes) != size)
      return false;
  }
  return true;
}

std::optional<SmallVector<Group>> ReshapeReader::groupsByTypes() {
  if (from.getRank() == to.getRank())
    return std::nullopt;
  std::optional<SmallVector<ReassociationIndices>> wide = getReassociationIndicesForReshape(from, to);
  bool joins = from.getRank() > to.getRank();
  if (!wide || !isUnique(joins ? from : to, joins ? to : from, *wide))
    return std::nullopt;
  SmallVector<Group> groups;
  for (auto [i, group] : llvm::enumerate(*wide)) {
    ReassociationIndices narrow{static_cast<int64_t>(i)};
    groups.push_back(joins ? Group{group, narrow} : Group{narrow, group});
  }
  return groups;
}

static bool isDynamic(RankedTensorType type, ArrayRef<int64_t> group) {
  return llvm::any_of(group, [&](int64_t dim) { return type.isDynamicDim(dim); });
}

/// The size of dimension `dim` of the result, whose group is dimension `source` of `tensor`.
OpFoldResult ReshapeReader::sizeOf(Value tensor, const Group &group, int64_t dim, int64_t source) {
  if (!to.isDynamicDim(dim))
    return builder.getIndexAttr(to.getDimSize(dim));
  // As many elements before and after: where one size of the group is not known, the others give it.
  bool alone = llvm::all_of(group.to, [&](int64_t other) { return other == dim || to.getDimSize(other) == 1; });
  if (alone)
    return mhc::sizeOf(builder, loc, tensor, source);
  auto sizes = op.getShape().getDefiningOp<tensor::FromElementsOp>();
  Value size = sizes ? sizes.getElements()[dim]
                     : tensor::ExtractOp::create(builder, loc, op.getShape(),
                                                 Value(arith::ConstantIndexOp::create(builder, loc, dim)));
  if (size.getType().isIndex())
    return size;
  return OpFoldResult(Value(arith::IndexCastOp::create(builder, loc, builder.getIndexType(), size)));
}

Value ReshapeReader::collapse(ArrayRef<Group> groups) {
  Value source = castTo(from, op.getSource());
  if (llvm::all_of(groups, [](const Group &group) { return group.from.size() == 1; }))
    return source;
  auto reassociation = llvm::map_to_vector(groups, [](const Group &group) { return group.from; });
  return tensor::CollapseShapeOp::create(builder, loc, source, reassociation);
}

Value ReshapeReader::expand(Value tensor, ArrayRef<Group> groups) {
  if (llvm::all_of(groups, [](const Group &group) { return group.to.size() == 1; }))
    return tensor;
  SmallVector<OpFoldResult> sizes;
  for (auto [source, group] : llvm::enumerate(groups))
    for (int64_t dim : group.to)
      sizes.push_back(sizeOf(tensor, group, dim, source));
  auto reassociation = llvm::map_to_vector(groups, [](const Group &group) { return group.to; });
  return tensor::ExpandShapeOp::create(builder, loc, to, tensor, reassociation, sizes);
}

void ReshapeReader::read() {
  std::optional<SmallVector<Group>> groups = from && to ? groupsBySizes() : std::nullopt;
  if (!groups && from && to)
    groups = groupsByTypes();
  bool isKnown = groups && llvm::all_of(*groups, [&](const Group &group) {
                   return isDynamic(from, group.from) == isDynamic(to, group.to);
                 });
  if (!isKnown)
    return;
  Value result = expand(collapse(*groups), *groups);
  op.replaceAllUsesWith(castTo(cast<RankedTensorType>(op.getResult().getType()), result));
  op.erase();
}

void mhc::readReshapes(func::FuncOp func) {
  SmallVector<tensor::ReshapeOp> ops;
  func.walk([&](tensor::ReshapeOp op) { ops.push_back(op); });
  if (ops.empty())
    return;
  DimAnalysis dims(func);
  for (tensor::ReshapeOp op : ops)
    ReshapeReader(op, dims).read();
}
