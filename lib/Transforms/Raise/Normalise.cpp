//===- Normalise.cpp - One word for what has many ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the steps of raising need not tell apart. Everything here is as exact as what it replaces: it stays in the
// function where nothing is found.
//
//===----------------------------------------------------------------------===//

#include "Normalise.h"
#include "Places.h"
#include "Raise.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <cmath>

using namespace mlir;
using namespace mhc;

bool mhc::isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 && op->getNumOperands() > 0 &&
         isa<RankedTensorType>(op->getResult(0).getType()) && isa<FloatType>(getElementTypeOrSelf(op->getResult(0))) &&
         llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
}

bool mhc::isNumber(Value value, double number) { return constantValue(value) == number; }

Value mhc::besides(Operation *op, double number) {
  if (isNumber(op->getOperand(1), number))
    return op->getOperand(0);
  return isNumber(op->getOperand(0), number) ? op->getOperand(1) : Value();
}

Value mhc::negated(Value value) {
  auto neg = value.getDefiningOp<arith::NegFOp>();
  return neg ? neg.getOperand() : Value();
}

/// a + (b + c), a - (b - c) and the like as sums that lean to the left: their beginnings are values that others read. A
/// number stays with its addend, as in 1 - sigmoid(-z). A sum that others read as well stays whole: a chain of sums of
/// sums would grow with each.
static LogicalResult leanLeft(Operation *op, PatternRewriter &rewriter) {
  Operation *right = op->getOperand(1).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp>(right) || !right->hasOneUse() ||
      getElementTypeOrSelf(op->getResult(0)).isBF16() || getElementTypeOrSelf(op->getResult(0)).isF16() ||
      constantValue(op->getOperand(0)) ||
      llvm::any_of(right->getOperands(), [](Value addend) { return constantValue(addend).has_value(); }))
    return failure();
  LeafBuilder leaf(rewriter, op->getLoc());
  auto next = [&](Value sum, Value addend, bool subtracts) {
    return subtracts ? leaf.sub(sum, addend) : leaf.add(sum, addend);
  };
  bool outer = isa<arith::SubFOp>(op), inner = isa<arith::SubFOp>(right);
  Value sum = next(op->getOperand(0), right->getOperand(0), outer);
  rewriter.replaceOp(op, next(sum, right->getOperand(1), outer != inner));
  return success();
}

/// 1 / b -> b, but for a sigmoid: 1 / (1 + exp(...))
static Value inverted(Value value) {
  auto div = value.getDefiningOp<arith::DivFOp>();
  if (!div || !isNumber(div.getLhs(), 1))
    return {};
  auto sum = div.getRhs().getDefiningOp<arith::AddFOp>();
  bool logistic = sum && llvm::any_of(sum->getOperands(), [](Value v) { return v.getDefiningOp<math::ExpOp>(); });
  return logistic ? Value() : div.getRhs();
}

static LogicalResult replace(PatternRewriter &rewriter, Operation *op, Value value) {
  if (!value)
    return failure();
  rewriter.replaceOp(op, value);
  return success();
}

/// x + 0 -> x; a + -b -> a - b; a + (b + c) -> (a + b) + c
static LogicalResult normaliseAdd(arith::AddFOp op, PatternRewriter &rewriter) {
  if (Value x = besides(op, 0))
    return replace(rewriter, op, x);
  for (auto [a, b] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())})
    if (Value subtracted = negated(b)) {
      rewriter.replaceOpWithNewOp<arith::SubFOp>(op, a, subtracted);
      return success();
    }
  return leanLeft(op, rewriter);
}

/// x - 0 -> x; 0 - x -> -x; a - -b -> a + b; -a - b -> -(a + b); a - (b + c) -> (a - b) - c
static LogicalResult normaliseSub(arith::SubFOp op, PatternRewriter &rewriter) {
  if (isNumber(op.getRhs(), 0))
    return replace(rewriter, op, op.getLhs());
  if (isNumber(op.getLhs(), 0)) {
    rewriter.replaceOpWithNewOp<arith::NegFOp>(op, op.getRhs());
    return success();
  }
  if (Value b = negated(op.getRhs())) {
    rewriter.replaceOpWithNewOp<arith::AddFOp>(op, op.getLhs(), b);
    return success();
  }
  if (Value a = negated(op.getLhs())) {
    Value sum = arith::AddFOp::create(rewriter, op.getLoc(), a, op.getRhs());
    rewriter.replaceOpWithNewOp<arith::NegFOp>(op, sum);
    return success();
  }
  return leanLeft(op, rewriter);
}

/// x * 1 -> x; x * -1 -> -x; |x| * |x| -> x * x; a * (1 / b) -> a / b
static LogicalResult normaliseMul(arith::MulFOp op, PatternRewriter &rewriter) {
  if (Value x = besides(op, 1))
    return replace(rewriter, op, x);
  if (Value x = besides(op, -1)) {
    rewriter.replaceOpWithNewOp<arith::NegFOp>(op, x);
    return success();
  }
  if (auto abs = op.getLhs().getDefiningOp<math::AbsFOp>(); abs && op.getLhs() == op.getRhs()) {
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, abs.getOperand(), abs.getOperand());
    return success();
  }
  for (auto [a, b] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())})
    if (Value divisor = inverted(b); divisor && !constantValue(a)) {
      rewriter.replaceOpWithNewOp<arith::DivFOp>(op, a, divisor);
      return success();
    }
  return failure();
}

/// x / 1 -> x; x / 2^k -> x * 2^-k
static LogicalResult normaliseDiv(arith::DivFOp op, PatternRewriter &rewriter) {
  std::optional<double> divisor = constantValue(op.getRhs());
  if (divisor == 1.0)
    return replace(rewriter, op, op.getLhs());
  int exponent;
  if (!divisor || constantValue(op.getLhs()) || std::abs(std::frexp(*divisor, &exponent)) != 0.5)
    return failure();
  Value factor = LeafBuilder(rewriter, op.getLoc()).splat(1 / *divisor, op.getLhs());
  rewriter.replaceOpWithNewOp<arith::MulFOp>(op, op.getLhs(), factor);
  return success();
}

/// x^2 -> x * x; x^0.5 -> sqrt; x^-0.5 -> rsqrt
static LogicalResult normalisePower(math::PowFOp op, PatternRewriter &rewriter) {
  std::optional<double> exponent = constantValue(op.getRhs());
  Value x = op.getLhs();
  if (exponent == 2.0) {
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, x, x);
  } else if (exponent == 0.5) {
    rewriter.replaceOpWithNewOp<math::SqrtOp>(op, x);
  } else if (exponent == -0.5) {
    rewriter.replaceOpWithNewOp<math::RsqrtOp>(op, x);
  } else {
    return failure();
  }
  return success();
}

static LogicalResult normaliseNeg(arith::NegFOp op, PatternRewriter &rewriter) {
  return replace(rewriter, op, negated(op.getOperand()));
}

/// trunc(ext(x)) -> x; trunc(f(ext(a), ext(b))) -> f(a, b), which rounds as often.
static LogicalResult normaliseTrunc(arith::TruncFOp op, PatternRewriter &rewriter) {
  auto narrow = [&](Value value) -> Value {
    auto ext = value.getDefiningOp<arith::ExtFOp>();
    return ext && ext.getIn().getType() == op.getType() ? ext.getIn() : Value();
  };
  if (Value x = narrow(op.getIn()))
    return replace(rewriter, op, x);
  Operation *inner = op.getIn().getDefiningOp();
  if (!inner || !inner->hasOneUse() || !isElementwise(inner) || !getElementTypeOrSelf(op.getIn()).isF64() ||
      !getElementTypeOrSelf(op.getType()).isF32() || isa<arith::ExtFOp, arith::TruncFOp>(inner))
    return failure();
  SmallVector<Value> operands;
  for (Value operand : inner->getOperands()) {
    if (Value x = narrow(operand))
      operands.push_back(x);
    else if (std::optional<double> number = constantValue(operand); number && *number == static_cast<float>(*number))
      operands.push_back(arith::TruncFOp::create(rewriter, op.getLoc(), op.getType(), operand));
    else
      return failure();
  }
  OperationState state(inner->getLoc(), inner->getName(), operands, op.getType(), inner->getAttrs());
  return replace(rewriter, op, rewriter.create(state)->getResult(0));
}

void mhc::addArithmeticPatterns(RewritePatternSet &patterns) {
  patterns.add(normaliseAdd);
  patterns.add(normaliseSub);
  patterns.add(normaliseMul);
  patterns.add(normaliseDiv);
  patterns.add(normalisePower);
  patterns.add(normaliseNeg);
  patterns.add(normaliseTrunc);
}

void mhc::readSizesFromArguments(func::FuncOp func) {
  DimAnalysis dims(func);
  SmallVector<tensor::DimOp> ops;
  func.walk([&](tensor::DimOp op) { ops.push_back(op); });
  OpBuilder builder(func.getBody());
  llvm::DenseMap<std::pair<unsigned, int>, Value> sizes;
  for (tensor::DimOp op : ops) {
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!dim || !isa<RankedTensorType>(op.getSource().getType()))
      continue;
    // That a slice of an argument has its size says more than that two arguments have one size.
    auto own = dyn_cast<BlockArgument>(op.getSource());
    auto argument = own && own.getOwner() == &func.getBody().front()
                        ? std::optional(std::pair(own.getArgNumber(), static_cast<int>(*dim)))
                        : dims.argumentDim(op.getSource(), *dim);
    if (!argument)
      continue;
    Value &size = sizes[*argument];
    if (!size)
      size = tensor::DimOp::create(builder, op.getLoc(), func.getArgument(argument->first), argument->second);
    op.replaceAllUsesWith(size);
    op.erase();
  }
}

namespace {
/// Later values may take the places of erased ones in memory.
struct ForgetErased : PlaceKeeper {
  explicit ForgetErased(DimAnalysis &dims) : dims(dims) {}
  void notifyOperationErased(Operation *op) override {
    PlaceKeeper::notifyOperationErased(op);
    dims.forget(op);
  }
  DimAnalysis &dims;
};
} // namespace

static void rewriteAll(func::FuncOp func, RewritePatternSet &&patterns, RewriterBase::Listener &listener) {
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  config.setListener(&listener);
  (void)applyPatternsGreedily(func, std::move(patterns), config);
}

void mhc::normalise(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  DimAnalysis dims(func);
  ForgetErased forget(dims);
  RewritePatternSet patterns(context), last(context);
  addArithmeticPatterns(patterns);
  addViewPatterns(patterns);
  addTransposePatterns(patterns);
  addUnitPatterns(patterns);
  addPartPatterns(patterns, dims);
  rewriteAll(func, std::move(patterns), forget);
  addSplitPatterns(last);
  addSlicePatterns(last, dims);
  addPartPatterns(last, dims);
  rewriteAll(func, std::move(last), forget);
  readSizesFromArguments(func); // patterns ask for sizes as well
  // What is computed twice is one value: steps tell values apart by where they come from.
  IRRewriter rewriter(context);
  DominanceInfo dominance(func);
  eliminateCommonSubExpressions(rewriter, dominance, func);
}
