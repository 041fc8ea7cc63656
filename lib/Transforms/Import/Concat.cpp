//===- Concat.cpp - Concatenations written as insertions ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Import.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

/// The insertions that fill an empty tensor one behind the other, from the first to `last`. Empty when they do not.
static SmallVector<tensor::InsertSliceOp> fillingChain(tensor::InsertSliceOp last) {
  SmallVector<tensor::InsertSliceOp> chain = {last};
  while (auto before = chain.back().getDest().getDefiningOp<tensor::InsertSliceOp>())
    chain.push_back(before);
  if (!chain.back().getDest().getDefiningOp<tensor::EmptyOp>())
    return {};
  std::reverse(chain.begin(), chain.end());
  return chain;
}

static bool isSameSize(const DimAnalysis &dims, OpFoldResult a, OpFoldResult b) {
  auto left = dyn_cast<Value>(a), right = dyn_cast<Value>(b);
  if (left && right && left != right)
    return dims.sameSize(left, DimAnalysis::kIndexValue, right, DimAnalysis::kIndexValue);
  return isEqualConstantIntOrValue(a, b);
}

/// The dimension along which a part of the rank of the whole starts at `offset`, and covers all others.
static bool isPart(const DimAnalysis &dims, tensor::InsertSliceOp op, ArrayRef<OpFoldResult> whole, int64_t dim,
                   int64_t offset) {
  if (op.getSourceType().getRank() != op.getDestType().getRank() || op.getSourceType().isDynamicDim(dim))
    return false;
  for (int64_t i = 0, rank = whole.size(); i < rank; ++i) {
    bool covers = isSameSize(dims, op.getMixedSizes()[i], whole[i]);
    if (op.getStaticStrides()[i] != 1 || op.getStaticOffsets()[i] != (i == dim ? offset : 0) || (i != dim && !covers))
      return false;
  }
  return true;
}

/// The dimension along which the parts of a chain lie one behind the other and fill the whole.
static std::optional<int64_t> concatDim(const DimAnalysis &dims, SmallVector<tensor::InsertSliceOp> &chain) {
  RankedTensorType type = chain.back().getDestType();
  SmallVector<OpFoldResult> whole = chain.front().getDest().getDefiningOp<tensor::EmptyOp>().getMixedSizes();
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t offset = 0;
    bool fits = llvm::all_of(chain, [&](tensor::InsertSliceOp op) {
      bool fits = isPart(dims, op, whole, dim, offset);
      offset += fits ? op.getSourceType().getDimSize(dim) : 0;
      return fits;
    });
    if (fits && offset == type.getDimSize(dim))
      return dim;
  }
  return std::nullopt;
}

void mhc::importConcat(func::FuncOp func) {
  SmallVector<tensor::InsertSliceOp> ops;
  func.walk([&](tensor::InsertSliceOp op) { ops.push_back(op); });
  if (ops.empty())
    return;
  DimAnalysis dims(func);
  for (tensor::InsertSliceOp last : ops) {
    auto fillsMore = [&](Operation *user) {
      auto next = dyn_cast<tensor::InsertSliceOp>(user);
      return next && next.getDest() == last;
    };
    if (llvm::any_of(last->getUsers(), fillsMore))
      continue;
    SmallVector<tensor::InsertSliceOp> chain = fillingChain(last);
    std::optional<int64_t> dim = chain.size() > 1 ? concatDim(dims, chain) : std::nullopt;
    if (!dim)
      continue;
    SmallVector<Value> parts;
    for (tensor::InsertSliceOp op : chain)
      parts.push_back(op.getSource());
    OpBuilder builder(last);
    Value concat = tensor::ConcatOp::create(builder, last.getLoc(), last.getType(), *dim, parts);
    last.replaceAllUsesWith(concat);
  }
}
