//===- Normalise.cpp - One word for what has many ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Spellings that the steps of raising need not tell apart. Everything here is as exact as what it replaces: it stays in
// the function where nothing is found.
//
//===----------------------------------------------------------------------===//

#include "Normalise.h"
#include "Places.h"
#include "mhc/IR/Constants.h"
#include "mhc/IR/LeafBuilder.h"
#include "mhc/Transforms/ArgumentSizes.h"
#include "mhc/Transforms/MergeCopies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
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

/// The op of a kind that makes a value, maybe seen through views, parts and copies.
template <typename Op>
static Op seenThroughViews(Value value) {
  while (
      isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp, TransposeOp, BroadcastOp>(
          value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value.getDefiningOp<Op>();
}

/// op(x) -> x, view(op(x)) -> view(x)
template <typename Op>
static Value without(OpBuilder &builder, Value value) {
  Operation *maker = value.getDefiningOp();
  if (isa<Op>(maker))
    return maker->getOperand(0);
  Value source = without<Op>(builder, maker->getOperand(0));
  IRMapping mapping;
  mapping.map(maker->getOperand(0), source);
  Value view = builder.clone(*maker, mapping)->getResult(0);
  view.setType(cast<RankedTensorType>(view.getType()).clone(getElementTypeOrSelf(source)));
  return view;
}

/// The negative of a value, also where it is a view, unless others read the negative as well.
static Value negatedBehindViews(OpBuilder &builder, Value value) {
  if (Value x = negated(value))
    return x;
  auto neg = seenThroughViews<arith::NegFOp>(value);
  return neg && singleUser(neg) ? without<arith::NegFOp>(builder, value) : Value();
}

static bool isHalf(Value value) { return getElementTypeOrSelf(value).isBF16() || getElementTypeOrSelf(value).isF16(); }

static LogicalResult replace(PatternRewriter &rewriter, Operation *op, Value value) {
  if (!value)
    return failure();
  rewriter.replaceOp(op, value);
  return success();
}

/// a + (b + x) -> b + (a + x) where both are numbers and b is the smaller one: a sigmoid stays 1 - sigmoid(-z). Also
/// with - x.
static LogicalResult addSmallestLast(arith::AddFOp op, PatternRewriter &rewriter) {
  if (isHalf(op))
    return failure();
  for (auto [outer, sum] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
    Operation *inner = sum.getDefiningOp();
    if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp>(inner) || !singleUser(inner->getResult(0)))
      continue;
    std::optional<double> a = constantValue(outer);
    if (!a)
      continue;
    bool behind = isa<arith::AddFOp>(inner) && constantValue(inner->getOperand(1));
    std::optional<double> b = constantValue(inner->getOperand(behind));
    if (!b || std::abs(*b) >= std::abs(*a))
      continue;
    Value x = inner->getOperand(!behind);
    LeafBuilder leaf(rewriter, op.getLoc());
    Value larger = isa<arith::AddFOp>(inner) ? leaf.add(outer, x) : leaf.sub(outer, x);
    rewriter.replaceOp(op, leaf.add(larger, inner->getOperand(behind)));
    return success();
  }
  return failure();
}

/// x + 0 -> x; a + -b -> a - b
static LogicalResult normaliseAdd(arith::AddFOp op, PatternRewriter &rewriter) {
  if (Value x = besides(op, 0))
    return replace(rewriter, op, x);
  for (auto [a, b] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())})
    if (Value subtracted = negatedBehindViews(rewriter, b)) {
      rewriter.replaceOpWithNewOp<arith::SubFOp>(op, a, subtracted);
      return success();
    }
  return addSmallestLast(op, rewriter);
}

/// 0 - x -> -x
static LogicalResult normaliseSub(arith::SubFOp op, PatternRewriter &rewriter) {
  if (!isNumber(op.getLhs(), 0))
    return failure();
  rewriter.replaceOpWithNewOp<arith::NegFOp>(op, op.getRhs());
  return success();
}

/// a * (number * b) -> (number * a) * b where both are repeated and a has fewer elements for each token: a gate is
/// scaled, not what it multiplies.
static LogicalResult scaleFewer(arith::MulFOp op, Value a, Value b, PatternRewriter &rewriter) {
  auto few = a.getDefiningOp<BroadcastOp>(), many = b.getDefiningOp<BroadcastOp>();
  if (!few || !many || !singleUser(many) || !singleUser(many.getX()) ||
      knownSize(few.getX().getType()) >= knownSize(many.getX().getType()) ||
      !getElementTypeOrSelf(op.getType()).isF32())
    return failure();
  auto scaled = many.getX().getDefiningOp<arith::MulFOp>();
  for (unsigned side : {0, 1})
    if (std::optional<double> number = scaled ? constantValue(scaled->getOperand(side)) : std::nullopt) {
      LeafBuilder leaf(rewriter, op.getLoc());
      auto repeat = [&](Value x, BroadcastOp like) {
        return BroadcastOp::create(rewriter, like.getLoc(), like.getOut().getType(), x, like.getSizes(),
                                   like.getDims());
      };
      Value factor = repeat(leaf.scale(few.getX(), *number), few);
      rewriter.replaceOp(op, leaf.mul(factor, repeat(scaled->getOperand(1 - side), many)));
      return success();
    }
  return failure();
}

/// x * 1 -> x; x * -1 -> -x; |x| * |x| -> x * x
static LogicalResult normaliseMul(arith::MulFOp op, PatternRewriter &rewriter) {
  if (Value x = besides(op, 1))
    return replace(rewriter, op, x);
  if (Value x = besides(op, -1)) {
    rewriter.replaceOpWithNewOp<arith::NegFOp>(op, x);
    return success();
  }
  if (op.getLhs() == op.getRhs() && seenThroughViews<math::AbsFOp>(op.getLhs())) {
    Value x = without<math::AbsFOp>(rewriter, op.getLhs());
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, x, x);
    return success();
  }
  for (auto [a, b] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
    if (succeeded(scaleFewer(op, a, b, rewriter)))
      return success();
  }
  return failure();
}

/// The reciprocal of a power of two, where the type has both with all digits.
static std::optional<double> exactInverse(double number, FloatType type) {
  APFloat own(number), inverse(0.0);
  bool losesInfo;
  own.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  if (losesInfo || !own.getExactInverse(&inverse))
    return std::nullopt;
  return inverse.convertToDouble();
}

/// x / 1 -> x, also where the number of ones is open; x / 0.5 -> x * 2, and so for each power of two: no bit differs.
static LogicalResult normaliseDiv(arith::DivFOp op, PatternRewriter &rewriter) {
  std::optional<double> number = constantValue(op.getRhs());
  if (number == 1.0)
    return replace(rewriter, op, op.getLhs());
  auto type = cast<FloatType>(getElementTypeOrSelf(op.getType()));
  std::optional<double> inverse = number ? exactInverse(*number, type) : std::nullopt;
  if (!inverse || !isa<RankedTensorType>(op.getType()) || constantValue(op.getLhs()))
    return failure();
  return replace(rewriter, op, LeafBuilder(rewriter, op.getLoc()).scale(op.getLhs(), *inverse));
}

/// base^(z / log(base)) -> exp(z)
static LogicalResult exponentialOf(Operation *op, double base, Value exponent, PatternRewriter &rewriter) {
  auto mul = exponent.getDefiningOp<arith::MulFOp>();
  for (unsigned side : {0, 1}) {
    std::optional<double> factor = mul ? constantValue(mul->getOperand(side)) : std::nullopt;
    // As many digits as f32 has: the exponential multiplies what it is off by with z.
    if (!factor || std::abs(*factor * std::log(base) - 1) > 1e-7)
      continue;
    rewriter.replaceOpWithNewOp<math::ExpOp>(op, mul->getOperand(1 - side));
    return success();
  }
  return failure();
}

static LogicalResult normaliseExp2(math::Exp2Op op, PatternRewriter &rewriter) {
  return exponentialOf(op, 2, op.getOperand(), rewriter);
}

/// x^2 -> x * x; x^0.5 -> sqrt; x^-0.5 -> rsqrt
static LogicalResult normalisePower(math::PowFOp op, PatternRewriter &rewriter) {
  if (std::optional<double> base = constantValue(op.getLhs()); base && *base > 0)
    return exponentialOf(op, *base, op.getRhs(), rewriter);
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

/// trunc(number at each place) -> the rounded number at each place. An f32 still tells the decimal that was written.
static LogicalResult roundOnce(arith::TruncFOp op, PatternRewriter &rewriter) {
  auto splat = op.getIn().getDefiningOp<tensor::SplatOp>();
  FloatAttr number;
  if (!splat || !getElementTypeOrSelf(op.getType()).isF32() || !getElementTypeOrSelf(splat.getType()).isF64() ||
      !matchPattern(splat.getInput(), m_Constant(&number)))
    return failure();
  auto narrow = rewriter.getF32FloatAttr(static_cast<float>(number.getValueAsDouble()));
  Value rounded = arith::ConstantOp::create(rewriter, op.getLoc(), narrow);
  rewriter.replaceOpWithNewOp<tensor::SplatOp>(op, op.getType(), rounded, splat.getDynamicSizes());
  return success();
}

/// transpose(number at each place) -> the number at each place
static LogicalResult transposeNumber(TransposeOp op, PatternRewriter &rewriter) {
  auto splat = op.getX().getDefiningOp<tensor::SplatOp>();
  if (!splat)
    return failure();
  SmallVector<Value> sizes;
  for (int64_t dim : op.getPerm())
    if (splat.getType().isDynamicDim(dim))
      sizes.push_back(splat.getDynamicSizes()[splat.getType().getDynamicDimIndex(dim)]);
  rewriter.replaceOpWithNewOp<tensor::SplatOp>(op, op.getType(), splat.getInput(), sizes);
  return success();
}

/// trunc(ext(x)) -> x; trunc(f(ext(a), ext(b))) -> f(a, b), which rounds as often. Numbers need no ext.
static LogicalResult normaliseTrunc(arith::TruncFOp op, PatternRewriter &rewriter) {
  Type element = getElementTypeOrSelf(op.getType());
  auto wasNarrow = [&](Value value) {
    auto ext = seenThroughViews<arith::ExtFOp>(value);
    return ext && getElementTypeOrSelf(ext.getIn()) == element;
  };
  if (wasNarrow(op.getIn()))
    return replace(rewriter, op, without<arith::ExtFOp>(rewriter, op.getIn()));
  Operation *inner = op.getIn().getDefiningOp();
  auto isRounded = [&](Operation *user) {
    bool readsSize = isa<tensor::DimOp>(user); // which an argument has as well
    return readsSize || (isa<arith::TruncFOp>(user) && user->getResultTypes()[0] == op.getType());
  };
  if (!inner || !llvm::all_of(inner->getUsers(), isRounded) || !isElementwise(inner) ||
      !getElementTypeOrSelf(op.getIn()).isF64() || !element.isF32() || isa<arith::ExtFOp, arith::TruncFOp>(inner))
    return failure();
  // A number of an f32 is also the decimal that was written for it.
  auto isExact = [](Value value) {
    std::optional<double> number = constantValue(value);
    float narrow = number.value_or(0);
    return number && (*number == narrow || *number == asWritten(APFloat(narrow)));
  };
  if (!llvm::all_of(inner->getOperands(), [&](Value operand) { return wasNarrow(operand) || isExact(operand); }))
    return failure();
  SmallVector<Value> operands;
  for (Value operand : inner->getOperands())
    operands.push_back(wasNarrow(operand)
                           ? without<arith::ExtFOp>(rewriter, operand)
                           : arith::TruncFOp::create(rewriter, op.getLoc(), op.getType(), operand).getResult());
  OperationState state(inner->getLoc(), inner->getName(), operands, op.getType(), inner->getAttrs());
  return replace(rewriter, op, rewriter.create(state)->getResult(0));
}

/// concat(ext(a), ext(b)) -> ext(concat(a, b)) where a and b were rounded: streams that are widened one by one.
static LogicalResult widenJoined(tensor::ConcatOp op, PatternRewriter &rewriter) {
  auto roundedType = [](Value value) {
    auto ext = seenThroughViews<arith::ExtFOp>(value);
    return ext && seenThroughViews<arith::TruncFOp>(ext.getIn()) ? getElementTypeOrSelf(ext.getIn()) : Type();
  };
  auto types = llvm::map_range(op.getInputs(), roundedType);
  if (!*types.begin() || !llvm::all_equal(types))
    return failure();
  auto parts =
      llvm::map_to_vector(op.getInputs(), [&](Value value) { return without<arith::ExtFOp>(rewriter, value); });
  LeafBuilder leaf(rewriter, op.getLoc());
  rewriter.replaceOp(op, leaf.cast(leaf.concat(parts, op.getDim()), getElementTypeOrSelf(op.getType())));
  return success();
}

void mhc::addArithmeticPatterns(RewritePatternSet &patterns) {
  patterns.add(normaliseAdd);
  patterns.add(normaliseSub);
  patterns.add(normaliseMul);
  patterns.add(normaliseDiv);
  patterns.add(normalisePower);
  patterns.add(normaliseExp2);
  patterns.add(normaliseTrunc);
  patterns.add(widenJoined);
  patterns.add(roundOnce);
  patterns.add(transposeNumber);
}

/// In one turn over a function.
constexpr int64_t kMinRewrites = 500, kRewritesPerOp = 4;

static void rewriteAll(func::FuncOp func, const FrozenRewritePatternSet &patterns, RewriterBase::Listener &listener) {
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  config.setListener(&listener);
  // Each op settles after a few rewrites. Patterns that undo each other must end as well: what is not in its normal
  // form is not found, and nothing else is lost.
  int64_t ops = 0;
  func.walk([&](Operation *) { ++ops; });
  config.setMaxNumRewrites(kMinRewrites + kRewritesPerOp * ops);
  (void)applyPatternsGreedily(func, patterns, config);
}

/// A reshape that each turn of a loop repeats is one value with that of the code around the loop.
static void moveReshapesOutOfLoops(func::FuncOp func) {
  func.walk([](scf::ForOp loop) {
    auto isOutside = [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); };
    moveLoopInvariantCode(
        loop.getLoopRegions(), isOutside, [](Operation *op, Region *) { return isReshape(op); },
        [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
  });
}

/// The number that a value shows at all places, bit for bit; null for others.
static Attribute shownNumber(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::SplatOp, BroadcastOp, TransposeOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp, tensor::CastOp>(op))
      break;
    value = op->getOperand(0);
  }
  FloatAttr scalar;
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&scalar)))
    return scalar;
  const bool isSplat = matchPattern(value, m_Constant(&elements)) && elements.isSplat();
  return isSplat ? elements.getSplatValue<Attribute>() : Attribute();
}

/// The same of a value and a number is one value, also where the sizes of the number are told in two ways.
static void mergeOpsWithNumbers(func::FuncOp func, RewriterBase::Listener &listener) {
  using Key = std::tuple<Block *, OperationName, Attribute, Type, Value, Value, Attribute>;
  DenseMap<Key, Operation *> known;
  IRRewriter rewriter(func.getContext(), &listener);
  func.walk([&](Operation *op) {
    if (op->getNumOperands() != 2 || !isElementwise(op))
      return;
    Value operands[] = {op->getOperand(0), op->getOperand(1)};
    Attribute number;
    for (Value &operand : operands)
      if (Attribute own = number ? Attribute() : shownNumber(operand)) {
        number = own;
        operand = {};
      }
    if (!number)
      return;
    if (op->hasTrait<OpTrait::IsCommutative>() && !operands[0])
      std::swap(operands[0], operands[1]);
    Key key(op->getBlock(), op->getName(), op->getAttrDictionary(), op->getResult(0).getType(), operands[0],
            operands[1], number);
    if (auto [first, isNew] = known.try_emplace(key, op); !isNew)
      rewriter.replaceOp(op, first->second);
  });
}

void mhc::mergeReshapes(func::FuncOp func, RewriterBase::Listener &listener) {
  DenseMap<std::tuple<Block *, Value, Type>, Value> known;
  IRRewriter rewriter(func.getContext(), &listener);
  func.walk([&](Operation *op) {
    auto type = isReshape(op) ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
    // The type tells the shape but for one size, which follows from the number of elements.
    if (!type || type.getNumDynamicDims() > 1 || llvm::is_contained(type.getShape(), 0))
      return;
    Value source = behindReshapes(op->getResult(0));
    if (source.getType() != type) {
      auto [first, isNew] = known.try_emplace({op->getBlock(), source, type}, op->getResult(0));
      source = first->second;
    }
    if (source != op->getResult(0))
      rewriter.replaceOp(op, source);
  });
}

void mhc::normalise(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  LazyDims dims(func);
  DimAnalysis &known = dims.get(); // of what the function says before anything is rewritten
  ForgetErased<LazyDims> forget(dims);
  RewritePatternSet patterns(context), last(context);
  addArithmeticPatterns(patterns);
  addViewPatterns(patterns);
  addTransposePatterns(patterns);
  addPartPatterns(patterns, dims);
  addPartialComputationPatterns(patterns, dims);
  // Copies of a value hide that it has one use, and that two slices are of one value.
  mergeCopies(func, &forget);
  rewriteAll(func, std::move(patterns), forget);
  mergeReshapes(func, forget);
  mergeOpsWithNumbers(func, forget);
  mergeCopies(func, &forget); // so do views that have moved
  addSlicePatterns(last, dims);
  addPartPatterns(last, dims);
  addPartialComputationPatterns(last, dims);
  rewriteAll(func, std::move(last), forget);
  readSizesFromArguments(func, &known); // patterns ask for sizes as well
  moveReshapesOutOfLoops(func);
  mergeCopies(func, &forget);
}
