//===- Concat.cpp - Concatenations written as insertions or choices ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Import.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

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

namespace {
/// Parts of a concatenation whose every element is chosen by its index, as stablehlo-legalize-to-linalg writes it:
/// if (i < 4) then a[i] else if (i < 8) then b[i - 4] else c[i - 8].
class ChosenParts {
public:
  explicit ChosenParts(linalg::GenericOp op) : op(op), type(cast<RankedTensorType>(op.getResult(0).getType())) {}

  static bool mayBe(linalg::GenericOp op) {
    return op.getNumDpsInputs() == 0 && op.getNumResults() == 1 && op.hasPureTensorSemantics() &&
           op.getNumParallelLoops() == op.getNumLoops() && op.getIndexingMapsArray()[0].isIdentity() &&
           isa_and_nonnull<scf::IfOp>(yielded(op).getDefiningOp());
  }

  /// tensor.concat of the parts; null where the op chooses otherwise.
  Value build(OpBuilder &builder) {
    if (!type.hasStaticShape() || !read(yielded(op)) || begin != type.getDimSize(*dim))
      return {};
    return tensor::ConcatOp::create(builder, op.getLoc(), type, *dim, parts);
  }

private:
  static Value yielded(linalg::GenericOp op) { return op.getBody()->getTerminator()->getOperand(0); }

  /// Reads the parts from `begin` on.
  bool read(Value value) {
    auto choice = value.getDefiningOp<scf::IfOp>();
    if (!choice)
      return readPart(value, type.getDimSize(dim.value_or(0)));
    auto compare = choice.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!compare || !llvm::is_contained({arith::CmpIPredicate::ult, arith::CmpIPredicate::slt}, compare.getPredicate()))
      return false;
    auto index = compare.getLhs().getDefiningOp<linalg::IndexOp>();
    std::optional<int64_t> end = getConstantIntValue(compare.getRhs());
    if (!index || !end || static_cast<int64_t>(index.getDim()) != dim.value_or(index.getDim()))
      return false;
    dim = index.getDim();
    return readPart(choice.thenYield().getOperand(0), *end) && read(choice.elseYield().getOperand(0));
  }

  /// A part whose last element is in front of `end`.
  bool readPart(Value value, int64_t end) {
    auto element = value.getDefiningOp<tensor::ExtractOp>();
    if (!element || !dim || op->isAncestor(element.getTensor().getParentBlock()->getParentOp()))
      return false;
    SmallVector<int64_t> shape(type.getShape());
    shape[*dim] = end - begin;
    if (!llvm::equal(element.getTensor().getType().getShape(), shape))
      return false;
    for (auto [i, index] : llvm::enumerate(element.getIndices()))
      if (!isIndex(index, i, static_cast<int64_t>(i) == *dim ? begin : 0))
        return false;
    parts.push_back(element.getTensor());
    begin = end;
    return true;
  }

  /// Whether `value` is the index of loop `i` less `offset`.
  static bool isIndex(Value value, int64_t i, int64_t offset) {
    if (auto difference = value.getDefiningOp<arith::SubIOp>()) {
      if (getConstantIntValue(difference.getRhs()) != offset)
        return false;
      value = difference.getLhs();
      offset = 0;
    }
    auto index = value.getDefiningOp<linalg::IndexOp>();
    return index && offset == 0 && static_cast<int64_t>(index.getDim()) == i;
  }

  linalg::GenericOp op;
  RankedTensorType type;
  std::optional<int64_t> dim;
  int64_t begin = 0;
  SmallVector<Value> parts;
};
} // namespace

static void importChoices(func::FuncOp func) {
  SmallVector<linalg::GenericOp> ops;
  func.walk([&](linalg::GenericOp op) {
    if (ChosenParts::mayBe(op))
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops) {
    OpBuilder builder(op);
    if (Value concat = ChosenParts(op).build(builder)) {
      op.getResult(0).replaceAllUsesWith(concat);
      op.erase();
    }
  }
}

void mhc::importConcat(func::FuncOp func) {
  importChoices(func);
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
