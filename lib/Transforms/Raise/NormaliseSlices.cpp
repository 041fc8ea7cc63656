//===- NormaliseSlices.cpp - Computations on all parts of a value ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f(slice(a), slice(b)) -> slice(f(a, b)), for all slices at once.
//
//===----------------------------------------------------------------------===//

#include "Normalise.h"
#include "mhc/IR/LeafBuilder.h"
#include "mhc/Transforms/MergeCopies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mhc;

static bool haveSameShape(LazyDims &lazy, Value a, Value b) {
  if (a == b)
    return true;
  auto type = cast<RankedTensorType>(a.getType());
  if (type.getShape() != cast<RankedTensorType>(b.getType()).getShape())
    return false;
  DimAnalysis &dims = lazy.get();
  dims.learn(a);
  dims.learn(b);
  return llvm::all_of(llvm::seq<int64_t>(0, type.getRank()),
                      [&](int64_t dim) { return !type.isDynamicDim(dim) || dims.sameSize(a, dim, b, dim); });
}

namespace {
/// Computes an op on a part of each operand that is no number.
struct OnParts {
  SmallVector<Value, 2> wholes;                  ///< null for numbers
  SmallVector<std::optional<double>, 2> numbers; ///< nothing for wholes
  tensor::ExtractSliceOp part;                   ///< one of them: all are of one place
};
} // namespace

static std::optional<OnParts> readOnParts(Operation *op) {
  OnParts read;
  for (Value operand : op->getOperands()) {
    std::optional<double> number = constantValue(operand);
    auto slice = number ? tensor::ExtractSliceOp() : operand.getDefiningOp<tensor::ExtractSliceOp>();
    bool samePlace =
        !slice || !read.part ||
        (slice.getMixedOffsets() == read.part.getMixedOffsets() &&
         slice.getMixedStrides() == read.part.getMixedStrides() && slice.getMixedSizes() == read.part.getMixedSizes() &&
         slice.getType().getShape() == read.part.getType().getShape());
    if ((!number && !slice) || !samePlace)
      return std::nullopt;
    read.wholes.push_back(slice ? slice.getSource() : Value());
    read.numbers.push_back(number);
    if (slice && !read.part)
      read.part = slice;
  }
  return read.part ? std::optional(read) : std::nullopt;
}

/// Whether the op computes of whole operands what `read` says of parts. They may be parts of others.
static bool isOnWholes(Operation *op, const OnParts &read) {
  return llvm::all_of(llvm::enumerate(op->getOperands()), [&](auto operand) {
    Value whole = read.wholes[operand.index()];
    return whole ? operand.value() == whole : constantValue(operand.value()) == read.numbers[operand.index()];
  });
}

/// The same of operands in the other order.
static OnParts commuted(OnParts read) {
  std::reverse(read.wholes.begin(), read.wholes.end());
  std::reverse(read.numbers.begin(), read.numbers.end());
  return read;
}

int64_t mhc::knownSize(RankedTensorType type) {
  int64_t elements = 1;
  for (int64_t size : type.getShape())
    elements *= ShapedType::isDynamic(size) ? 1 : size;
  return elements;
}

/// Whether the op is the exponential of elements of matrices, one of which each token has: where log space ends.
static bool isOfMatrices(Operation *op) {
  auto slice = op->getOperand(0).getDefiningOp<tensor::ExtractSliceOp>();
  return isa<math::ExpOp>(op) && slice && slice.getSourceType().getRank() == 3;
}

/// Whether the op is the sigmoid of elements of matrices, with an eps behind it or none: an iteration starts from it,
/// and it is no gate.
static bool isStart(Operation *op) {
  auto isSplit = [](Operation *user) {
    auto expand = dyn_cast<tensor::ExpandShapeOp>(user);
    ArrayRef<int64_t> shape = expand ? expand.getResultType().getShape() : ArrayRef<int64_t>();
    return shape.size() >= 3 && shape.back() > 1 && shape.back() == shape.drop_back().back();
  };
  return isa<SigmoidOp>(op) && llvm::any_of(op->getUsers(), [&](Operation *user) {
           return isSplit(user) || (isa<arith::AddFOp>(user) && llvm::any_of(user->getUsers(), isSplit));
         });
}

namespace {
/// The same function of all parts of some values is one of the values. That of a few parts only stays, as the whole
/// would cost more. Functions of one value stay with what reads them: steps look for them there.
struct ComputeBeforeSlicing : RewritePattern {
  ComputeBeforeSlicing(MLIRContext *context, LazyDims &dims)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), dims(dims) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    bool isFunction =
        op->getNumOperands() == 1 && !isa<arith::ExtFOp, arith::TruncFOp, SigmoidOp>(op) && !isOfMatrices(op);
    std::optional<OnParts> read = isElementwise(op) && !isFunction && !isStart(op) ? readOnParts(op) : std::nullopt;
    if (!read || !llvm::all_of(read->wholes, [&](Value whole) {
          return !whole || haveSameShape(dims, whole, read->part.getSource());
        }))
      return failure();
    SmallVector<Operation *> likeIt = collect(op, *read);
    auto isJoined = [](Value whole) { return whole && whole.getDefiningOp<tensor::ConcatOp>(); };
    auto isWhole = [&](Operation *other) { return isOnWholes(other, *read) || isOnWholes(other, commuted(*read)); };
    // Slices of what is joined go to the parts, unless someone computes the whole anyway.
    if (likeIt.empty() || (llvm::any_of(read->wholes, isJoined) && llvm::none_of(likeIt, isWhole)))
      return failure();
    Value whole = compute(op, *read, rewriter);
    for (Operation *other : likeIt) {
      if (isWhole(other)) {
        rewriter.replaceOp(other, whole);
        continue;
      }
      std::optional<OnParts> own = readOnParts(other);
      rewriter.setInsertionPoint(other);
      rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(other, cast<RankedTensorType>(other->getResult(0).getType()),
                                                          whole, own->part.getMixedOffsets(), own->part.getMixedSizes(),
                                                          own->part.getMixedStrides());
    }
    return success();
  }

private:
  /// The op and those that compute the same of other parts, or of the wholes; none where that is less than all of them.
  static SmallVector<Operation *> collect(Operation *op, const OnParts &read) {
    tensor::ExtractSliceOp part = read.part;
    SmallVector<Operation *> found;
    RankedTensorType all = part.getSourceType();
    int64_t covered = 0;
    auto visit = [&](Operation *user) {
      if (user->getName() != op->getName() || user->getAttrs() != op->getAttrs() ||
          user->getBlock() != op->getBlock() || llvm::is_contained(found, user) || isStart(user))
        return;
      std::optional<OnParts> own = readOnParts(user);
      auto fits = [&](const OnParts &read) {
        return isOnWholes(user, read) || (own && own->wholes == read.wholes && own->numbers == read.numbers);
      };
      if (!fits(read) && !(op->hasTrait<OpTrait::IsCommutative>() && fits(commuted(read))))
        return;
      auto size = cast<RankedTensorType>(user->getResult(0).getType());
      covered += size.getNumDynamicDims() == all.getNumDynamicDims() ? knownSize(size) : 0;
      found.push_back(user);
    };
    for (Operation *user : part.getSource().getUsers()) {
      visit(user);
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user))
        llvm::for_each(slice->getUsers(), visit);
    }
    return covered < knownSize(all) ? SmallVector<Operation *>() : found;
  }

  /// As early as it can be: each part has its own place in the function.
  static Value compute(Operation *op, const OnParts &read, PatternRewriter &rewriter) {
    SmallVector<Value> inputs = llvm::to_vector(llvm::make_filter_range(read.wholes, [](Value v) { return bool(v); }));
    setAfterInputs(rewriter, op->getBlock(), inputs);
    SmallVector<Value> operands;
    for (auto [whole, number, operand] : llvm::zip(read.wholes, read.numbers, op->getOperands())) {
      LeafBuilder leaf(rewriter, operand.getLoc());
      operands.push_back(whole ? whole : leaf.splat(*number, leaf.cast(inputs[0], getElementTypeOrSelf(operand))));
    }
    Type element = getElementTypeOrSelf(op->getResult(0));
    OperationState state(op->getLoc(), op->getName(), operands,
                         cast<RankedTensorType>(inputs[0].getType()).clone(element), op->getAttrs());
    return rewriter.create(state)->getResult(0);
  }

  LazyDims &dims;
};
} // namespace

void mhc::addPartialComputationPatterns(RewritePatternSet &patterns, LazyDims &dims) {
  patterns.add<ComputeBeforeSlicing>(patterns.getContext(), dims);
}

/// Whether an op is a sigmoid of a part, or joins parts of a sigmoid: of one, once that has no copies.
static bool isOfPartOfGate(Operation *op) {
  if (auto gate = dyn_cast<SigmoidOp>(op))
    return gate.getX().getDefiningOp<tensor::ExtractSliceOp>() != nullptr;
  auto concat = dyn_cast<tensor::ConcatOp>(op);
  auto part = concat ? concat.getInputs()[0].getDefiningOp<tensor::ExtractSliceOp>() : tensor::ExtractSliceOp();
  return part && part.getSource().getDefiningOp<SigmoidOp>();
}

void mhc::joinGates(func::FuncOp func, RewriterBase::Listener &listener) {
  mergeCopies(func, &listener); // a gate in two spellings is one
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isOfPartOfGate(op))
      ops.push_back(op);
  });
  if (ops.empty())
    return;
  LazyDims dims(func);
  RewritePatternSet patterns(func.getContext());
  addPartialComputationPatterns(patterns, dims);
  addPartPatterns(patterns, dims);
  GreedyRewriteConfig config;
  config.setListener(&listener);
  (void)applyOpPatternsGreedily(ops, std::move(patterns), config); // all others are in their normal form
  mergeCopies(func, &listener);
}
