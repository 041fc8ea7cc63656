//===- SplitSums.cpp - Long sums become sums of short ones ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum of n terms of one sign that are added in f32 one after the other may be off by n units of roundoff. Sums of
// kSumBlock terms stay below 1.6e-5, and they are added in f64.
//
//===----------------------------------------------------------------------===//

#include "SumSplitter.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

namespace mhc {
#define GEN_PASS_DEF_SPLITSUMSPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;
using mlir::utils::IteratorType;

/// A warp of a GPU shares a sum and adds long parts in f64. Several launches are worth it where sums are longer than
/// the first number and fewer than the second.
static constexpr uint64_t kLongOnGpu = 32 * kSumBlock, kManyOnGpu = 1024;

/// Iterations of the loops of this kind; UINT64_MAX where that is known at run time only.
static uint64_t countTurns(linalg::LinalgOp op, IteratorType kind) {
  uint64_t iterations = 1;
  for (auto [loop, length] : llvm::zip(op.getIteratorTypesArray(), op.getStaticLoopRanges()))
    if (loop == kind)
      iterations = llvm::SaturatingMultiply<uint64_t>(iterations, ShapedType::isDynamic(length) ? UINT64_MAX : length);
  return iterations;
}

/// Whether the terms of the op's sums are too many for f32, and for the launch that they are on a GPU.
static bool isLong(linalg::LinalgOp op, bool onGpu) {
  uint64_t terms = countTurns(op, IteratorType::reduction);
  if (onGpu)
    return terms > kLongOnGpu && countTurns(op, IteratorType::parallel) < kManyOnGpu;
  return terms > kSumBlock;
}

/// Lets others take the place of the op, where that helps.
static void replaceSums(linalg::GenericOp op, bool knowsSizes, bool onGpu) {
  SumSplitter splitter(op, knowsSizes, onGpu);
  SmallVector<linalg::GenericOp> apart;
  if (std::optional<SumSplitter::Cut> cut = splitter.findCut()) {
    splitter.split(*cut);
  } else if (onGpu) {
    return;
  } else if (apart = splitter.separate(); apart.empty() && !splitter.widen()) {
    return;
  }
  SmallVector<Value> starts(op.getDpsInits());
  op.erase();
  for (Value start : starts)
    if (auto fill = start.getDefiningOp<linalg::FillOp>(); fill && fill->use_empty())
      fill.erase();
  for (linalg::GenericOp sums : apart)
    replaceSums(sums, knowsSizes, onGpu);
}

namespace {
/// Collects sizes that may depend on data, or on the iteration of a loop.
class UnknownSizes {
public:
  /// To be called in the order of the ops. Returns whether the op's operands are such.
  bool visit(Operation *op) {
    bool reads = llvm::any_of(op->getOperands(), [&](Value value) { return values.contains(value); });
    bool isLoop = op->getNumRegions() > 0 && !isa<linalg::LinalgOp>(op);
    if (reads || isLoop || isa<tensor::ExtractOp>(op))
      add(op->getResults());
    for (Region &region : isLoop ? op->getRegions() : MutableArrayRef<Region>())
      for (Block &block : region)
        add(block.getArguments());
    return reads;
  }

private:
  void add(ValueRange some) {
    for (Value value : some)
      if (value.getType().isIntOrIndex() || isa<RankedTensorType>(value.getType()))
        values.insert(value);
  }

  DenseSet<Value> values;
};

struct SplitSums : mhc::impl::SplitSumsPassBase<SplitSums> {
  using SplitSumsPassBase::SplitSumsPassBase;

  void runOnOperation() override {
    UnknownSizes unknown;
    SmallVector<std::pair<linalg::LinalgOp, bool>> ops;
    getOperation().getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      bool knowsSizes = !unknown.visit(op);
      auto loops = dyn_cast<linalg::LinalgOp>(op);
      if (!loops)
        return WalkResult::advance();
      if (loops.hasPureTensorSemantics() && loops.getNumReductionLoops() > 0 && isLong(loops, onGpu))
        ops.push_back({loops, knowsSizes});
      return WalkResult::skip();
    });
    IRRewriter rewriter(&getContext());
    for (auto [op, knowsSizes] : ops) {
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::GenericOp> general = linalg::generalizeNamedOp(rewriter, op);
      if (auto generic = succeeded(general) ? *general : dyn_cast<linalg::GenericOp>(op.getOperation()))
        replaceSums(generic, knowsSizes, onGpu);
    }
  }
};
} // namespace
