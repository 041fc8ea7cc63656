//===- Parts.cpp - Gradients of the parts of a tensor -------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuse.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mhc;

static bool isZero(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getX();
  return matchPattern(value, m_AnyZeroFloat());
}

/// The terms of a sum if all are parts among zeros, and nothing else reads them.
static bool findParts(Value sum, SmallVectorImpl<tensor::InsertSliceOp> &parts) {
  if (auto add = sum.getDefiningOp<arith::AddFOp>())
    return llvm::all_of(add->getOperands(), [&](Value term) { return term.hasOneUse() && findParts(term, parts); });
  auto part = sum.getDefiningOp<tensor::InsertSliceOp>();
  if (!part || part.getSourceType().getRank() != part.getType().getRank() || !isZero(part.getDest()))
    return false;
  parts.push_back(part);
  return true;
}

/// Whether parts lie one behind the other along `dim`, from its begin to its end, and have all of the other dimensions.
static bool fill(MutableArrayRef<tensor::InsertSliceOp> parts, int64_t dim, const DimAnalysis &dims) {
  int64_t end = 0;
  for (tensor::InsertSliceOp part : parts) {
    for (int64_t i = 0, rank = part.getType().getRank(); i < rank; ++i)
      if (part.getStaticStrides()[i] != 1 || part.getStaticOffsets()[i] != (i == dim ? end : 0) ||
          (i != dim && !dims.sameSize(part.getSource(), i, part.getDest(), i)))
        return false;
    if (part.getSourceType().isDynamicDim(dim))
      return false;
    end += part.getSourceType().getDimSize(dim);
  }
  return end == parts.front().getType().getDimSize(dim);
}

/// The dimension in which parts differ first.
static int64_t dividedDim(MutableArrayRef<tensor::InsertSliceOp> parts) {
  ArrayRef<int64_t> first = parts[0].getStaticOffsets(), second = parts[1].getStaticOffsets();
  return std::mismatch(first.begin(), first.end(), second.begin()).first - first.begin();
}

void mhc::joinParts(func::FuncOp func) {
  SmallVector<arith::AddFOp> sums;
  func.walk([&](arith::AddFOp sum) {
    if (!sum->hasOneUse() || !isa<arith::AddFOp>(*sum->user_begin()))
      sums.push_back(sum);
  });
  std::optional<DimAnalysis> dims; // of the whole function: not for each sum
  for (arith::AddFOp sum : sums) {
    SmallVector<tensor::InsertSliceOp> parts;
    if (!findParts(sum, parts))
      continue;
    const int64_t dim = dividedDim(parts);
    if (dim == parts[0].getType().getRank())
      continue;
    llvm::sort(parts, [&](auto a, auto b) { return a.getStaticOffsets()[dim] < b.getStaticOffsets()[dim]; });
    if (!dims)
      dims.emplace(func);
    if (!fill(parts, dim, *dims))
      continue;
    OpBuilder builder(sum);
    auto sources = llvm::map_to_vector(parts, [](tensor::InsertSliceOp part) -> Value { return part.getSource(); });
    Value whole = tensor::ConcatOp::create(builder, sum.getLoc(), sum.getType(), dim, sources);
    sum.replaceAllUsesWith(whole);
  }
}
