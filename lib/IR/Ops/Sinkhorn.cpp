//===- Sinkhorn.cpp - sinkhorn and permutation_mix ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sinkhorn.h"
#include "KernelVjp.h"
#include "Newton.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <numeric>

using namespace mlir;
using namespace mhc;

//===----------------------------------------------------------------------===//
// sinkhorn
//===----------------------------------------------------------------------===//

/// C4
static LogicalResult verifyNewtonAttrs(Operation *op, Init init, Order order, std::optional<Format> format) {
  if (init != Init::log)
    return op->emitOpError() << "has init '" << stringifyInit(init)
                             << "' with solver 'newton', whose limit has no start; needed 'log'";
  if (order != Order::row_col)
    return op->emitOpError() << "has order '" << stringifyOrder(order)
                             << "' with solver 'newton', whose limit has no order; needed 'row_col'";
  if (format && *format != Format::f32)
    return op->emitOpError() << "has format '" << stringifyFormat(*format)
                             << "' with solver 'newton', which rounds nothing; needed 'f32'";
  return success();
}

LogicalResult mhc::verifySinkhornAttrs(Operation *op, Init init, Order order, Denom denom, int64_t iters,
                                       std::optional<Format> format, std::optional<Solver> solver) {
  if (init == Init::softmax_eps && order != Order::row_col) // C1
    return op->emitOpError() << "has order '" << stringifyOrder(order)
                             << "' with init 'softmax_eps', whose softmax is the first row step; needed 'row_col'";
  if (init == Init::softmax_eps && iters < 1) // C1
    return op->emitOpError() << "has " << iters << " iterations with init 'softmax_eps'; needed at least 1";
  if (init == Init::log && denom != Denom::none) // C2
    return op->emitOpError() << "has denom '" << stringifyDenom(denom)
                             << "' with init 'log', which divides by nothing; needed 'none'";
  if (denom == Denom::potentials && format && *format != Format::f32) // C3
    return op->emitOpError() << "has format '" << stringifyFormat(*format)
                             << "' with denom 'potentials', whose factors are not rounded; needed 'f32'";
  return solver == Solver::newton ? verifyNewtonAttrs(op, init, order, format) : success();
}

LogicalResult SinkhornOp::verify() {
  if (failed(verifyKernelDims(*this)))
    return failure();
  return verifySinkhornAttrs(*this, getInit(), getOrder(), getDenom(), getIters(), getFormat(), getSolver());
}

/// Row steps reduce the last index, column steps the one before.
constexpr int64_t kRow = 2, kCol = 1;

/// Over what the start's maximum or sum goes.
static Value reduceStart(LeafBuilder &leaf, ReduceKind kind, Value y, Init init) {
  if (init != Init::exp_colmax)
    y = leaf.reduceLike(kind, y, kRow);
  return init == Init::exp_colmax || init == Init::exp_max ? leaf.reduceLike(kind, y, kCol) : y;
}

static bool isShifted(Init init) {
  return init == Init::exp_rowmax || init == Init::exp_colmax || init == Init::exp_max;
}
static bool isSigmoid(Init init) { return init == Init::sigmoid || init == Init::sigmoid_eps; }

/// A sum, a maximum or anything else is rounded to `format` where it is made.
using OptionalFormat = std::optional<Format>;

static Value divideBySum(LeafBuilder &leaf, Value y, int64_t dim, Denom denom, double eps, OptionalFormat format) {
  Value sum = leaf.rounded(leaf.reduceLike(ReduceKind::sum, y, dim), format);
  if (denom != Denom::none) {
    Value least = leaf.rounded(leaf.splat(eps, sum), format);
    sum = denom == Denom::add ? leaf.rounded(leaf.add(sum, least), format) : leaf.max(sum, least);
  }
  return leaf.rounded(leaf.div(y, sum), format);
}

static Value shiftedExp(LeafBuilder &leaf, Value z, Value max, OptionalFormat format) {
  return leaf.rounded(leaf.exp(leaf.rounded(leaf.sub(z, max), format)), format);
}

static Value subtractLogSumExp(LeafBuilder &leaf, Value z, int64_t dim, OptionalFormat format) {
  Value max = leaf.reduceLike(ReduceKind::max, z, dim);
  Value sum = leaf.rounded(leaf.reduceLike(ReduceKind::sum, shiftedExp(leaf, z, max, format), dim), format);
  Value log = leaf.rounded(leaf.log(sum), format);
  return leaf.rounded(leaf.sub(z, leaf.rounded(leaf.add(max, log), format)), format);
}

/// One for each line of a matrix.
static Value onesOf(OpBuilder &builder, Location loc, Value matrix) {
  auto type = RankedTensorType::get({}, getElementTypeOrSelf(matrix));
  Value one = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, APFloat(1.0f)));
  LeafBuilder leaf(builder, loc);
  return leaf.broadcast(one, ArrayRef(leaf.sizesOf(matrix)).drop_back(), {});
}

/// A number for each line along `dim`, repeated to the shape of a matrix.
static Value acrossLines(LeafBuilder &leaf, Value numbers, Value matrix, int64_t dim) {
  return leaf.broadcast(numbers, leaf.sizesOf(matrix), {0, kRow + kCol - dim});
}

/// The factors of the lines along `dim` where `others` are those of the other lines.
static Value potentialsOf(LeafBuilder &leaf, Value start, Value others, int64_t dim, double eps) {
  Value scaled = leaf.mul(start, acrossLines(leaf, others, start, kRow + kCol - dim));
  Value sum = leaf.reduce(ReduceKind::sum, scaled, {dim});
  Value divisor = leaf.add(sum, leaf.splat(eps, sum));
  return leaf.div(leaf.splat(1.0, sum), divisor);
}

/// Longer chains are written as a loop.
constexpr int64_t kMaxIterationsWrittenOut = 32;

/// `iteration` applied `count` times; in a loop where that is more than `mostWrittenOut`.
static SmallVector<Value> repeat(OpBuilder &builder, Location loc, SmallVector<Value> y, int64_t count,
                                 int64_t mostWrittenOut,
                                 llvm::function_ref<SmallVector<Value>(LeafBuilder &, ValueRange)> iteration) {
  if (count <= mostWrittenOut) {
    LeafBuilder leaf(builder, loc);
    for (int64_t i = 0; i < count; ++i)
      y = iteration(leaf, y);
    return y;
  }
  Value lower = arith::ConstantIndexOp::create(builder, loc, 0);
  Value upper = arith::ConstantIndexOp::create(builder, loc, count);
  Value step = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, lower, upper, step, y,
                                 [&](OpBuilder &inner, Location, Value, ValueRange carried) {
                                   LeafBuilder leaf(inner, loc);
                                   scf::YieldOp::create(inner, loc, iteration(leaf, carried));
                                 });
  return loop.getResults();
}

/// The limit of the logits, by `iters` steps.
static Value newtonLimit(OpBuilder &builder, Location loc, Value logits, int64_t iters) {
  LeafBuilder leaf(builder, loc);
  NewtonState start = newtonStart(leaf, logits, iters);
  auto step = [](LeafBuilder &leaf, ValueRange from) -> SmallVector<Value> {
    NewtonState to = newtonStep(leaf, {from[0], from[1], from[2], from[3]});
    return {to.mix, to.halvings, to.steps, to.left};
  };
  SmallVector<Value> state = {start.mix, start.halvings, start.steps, start.left};
  return repeat(builder, loc, state, iters, /*mostWrittenOut=*/1, step).front();
}

SmallVector<Value> SinkhornOp::decompose(OpBuilder &builder) {
  if (getSolver() == Solver::newton)
    return {newtonLimit(builder, getLoc(), getLogits(), getIters())};
  LeafBuilder leaf(builder, getLoc());
  double eps = getEps().convertToDouble();
  OptionalFormat format = getFormat();
  Value y = leaf.rounded(getLogits(), format);
  auto addEps = [&] {
    Value least = leaf.rounded(leaf.splat(eps, y), format);
    y = leaf.rounded(leaf.add(y, least), format);
  };
  switch (getInit()) {
  case Init::softmax_eps: // the first row step
    y = leaf.rounded(leaf.softmax(y, kRow), format);
    addEps();
    break;
  case Init::exp:
    y = leaf.rounded(leaf.exp(y), format);
    break;
  case Init::exp_rowmax:
  case Init::exp_colmax:
  case Init::exp_max:
    y = shiftedExp(leaf, y, reduceStart(leaf, ReduceKind::max, y, getInit()), format);
    break;
  case Init::sigmoid:
  case Init::sigmoid_eps:
    y = leaf.rounded(leaf.sigmoid(y), format);
    if (getInit() == Init::sigmoid_eps)
      addEps();
    break;
  case Init::log:
    break;
  }

  bool inLogs = getInit() == Init::log, hasPotentials = getDenom() == Denom::potentials;
  int64_t first = getOrder() == Order::row_col ? kRow : kCol, second = kRow + kCol - first;
  auto step = [&](LeafBuilder &leaf, SmallVector<Value> state, int64_t dim) -> SmallVector<Value> {
    if (hasPotentials) // of rows and of columns
      state[dim == kCol] = potentialsOf(leaf, y, state[dim == kRow], dim, eps);
    else
      state[0] = inLogs ? subtractLogSumExp(leaf, state[0], dim, format)
                        : divideBySum(leaf, state[0], dim, getDenom(), eps, format);
    return state;
  };
  bool isSoftmax = getInit() == Init::softmax_eps;
  SmallVector<Value> state = {y};
  if (hasPotentials)
    state.assign(2, onesOf(builder, getLoc(), y));
  if (isSoftmax)
    state = step(leaf, state, kCol);
  auto iteration = [&](LeafBuilder &leaf, ValueRange state) {
    return step(leaf, step(leaf, llvm::to_vector(state), first), second);
  };
  state = repeat(builder, getLoc(), state, getIters() - isSoftmax, kMaxIterationsWrittenOut, iteration);
  if (hasPotentials) {
    y = leaf.mul(y, acrossLines(leaf, state[0], y, kRow));
    return {leaf.mul(y, acrossLines(leaf, state[1], y, kCol))};
  }
  return {inLogs ? leaf.rounded(leaf.exp(state[0]), format) : state[0]};
}

LogicalResult SinkhornOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  KernelVjp vjp(*this, builder, context);
  SinkhornBwdOp::Fields fields(*this);
  fields.d_logits = getLogits().getType();
  fields.d_mix = vjp.cotangent(getMix());
  fields.logits = LeafBuilder(builder, getLoc()).rounded(getLogits(), getFormat());
  vjp.add(getLogits(), fields.create(builder, getLoc()));
  return success();
}

//===----------------------------------------------------------------------===//
// sinkhorn_bwd
//===----------------------------------------------------------------------===//

LogicalResult SinkhornBwdOp::verify() {
  if (failed(verifyKernelDims(*this)))
    return failure();
  return verifySinkhornAttrs(*this, getInit(), getOrder(), getDenom(), getIters(), std::nullopt, getSolver());
}

namespace {
/// The steps of mhc.sinkhorn, remembered so that they can be run backwards.
struct Replay {
  struct Step {
    int64_t dim;
    Value out;     ///< what the step made; its exponential in log space; the product of the potentials
    Value divisor; ///< null in log space, and for potentials
    Value sum;     ///< before eps
  };

  Replay(SinkhornBwdOp op, LeafBuilder &leaf) : op(op), leaf(leaf), eps(op.getEps().convertToDouble()) {}

  /// Divides by the sum along `dim`, or subtracts its logarithm.
  void forward(int64_t dim);
  /// The gradient of the step's input from that of its output; of the start where there are potentials.
  Value backward(const Step &step, Value grad);
  void start();
  /// The gradient of the last step's output.
  Value begin(Value grad);
  Value finish(Value grad);
  /// The products of the potentials of rows and of columns.
  Value product();
  bool hasPotentials() { return op.getDenom() == Denom::potentials; }

  SinkhornBwdOp op;
  LeafBuilder &leaf;
  double eps;
  Value y;                           ///< logarithms with init log; the start where there are potentials
  Value first;                       ///< the exponential, the softmax or the sigmoid that the steps began with
  Value potentials[2], gradients[2]; ///< for rows and for columns; the gradients are those of the logarithms
  SmallVector<Step> steps;
};
} // namespace

void Replay::forward(int64_t dim) {
  if (op.getInit() == Init::log) {
    y = subtractLogSumExp(leaf, y, dim, std::nullopt);
    steps.push_back({dim, leaf.exp(y), Value(), Value()});
    return;
  }
  if (hasPotentials()) {
    potentials[dim == kCol] = potentialsOf(leaf, y, potentials[dim == kRow], dim, eps);
    steps.push_back({dim, product(), Value(), Value()});
    return;
  }
  Value sum = leaf.reduceLike(ReduceKind::sum, y, dim), divisor = sum;
  if (op.getDenom() == Denom::add)
    divisor = leaf.add(sum, leaf.splat(eps, sum));
  else if (op.getDenom() == Denom::clamp)
    divisor = leaf.max(sum, leaf.splat(eps, sum));
  y = leaf.div(y, divisor);
  steps.push_back({dim, y, divisor, sum});
}

Value Replay::backward(const Step &step, Value grad) {
  if (hasPotentials()) {
    Value &mine = gradients[step.dim == kCol], &others = gradients[step.dim == kRow];
    Value passed = leaf.mul(step.out, acrossLines(leaf, mine, y, step.dim));
    others = leaf.sub(others, leaf.reduce(ReduceKind::sum, leaf.mul(y, passed), {kRow + kCol - step.dim}));
    mine = leaf.splat(0.0, mine);
    return leaf.sub(grad, passed);
  }
  if (!step.divisor) {
    Value total = leaf.reduceLike(ReduceKind::sum, grad, step.dim);
    return leaf.sub(grad, leaf.mul(step.out, total));
  }
  Value drift = leaf.reduceLike(ReduceKind::sum, leaf.mul(grad, step.out), step.dim);
  if (op.getDenom() == Denom::clamp) { // a clamped divisor is a constant
    Value isFree = leaf.isGreater(step.sum, leaf.splat(eps, drift));
    drift = leaf.select(isFree, drift, leaf.splat(0.0, drift));
  }
  return leaf.div(leaf.sub(grad, drift), step.divisor);
}

void Replay::start() {
  y = op.getLogits();
  Init init = op.getInit();
  if (isShifted(init))
    y = leaf.sub(y, reduceStart(leaf, ReduceKind::max, y, init));
  if (init == Init::log)
    return;
  y = first = init == Init::softmax_eps ? leaf.softmax(y, kRow) : isSigmoid(init) ? leaf.sigmoid(y) : leaf.exp(y);
  if (init == Init::softmax_eps || init == Init::sigmoid_eps)
    y = leaf.add(first, leaf.splat(eps, first));
}

Value Replay::begin(Value grad) {
  if (op.getInit() == Init::log)
    return leaf.mul(grad, leaf.exp(y));
  if (!hasPotentials())
    return grad;
  grad = leaf.mul(grad, product());
  Value both = leaf.mul(y, grad);
  gradients[0] = leaf.reduce(ReduceKind::sum, both, {kRow});
  gradients[1] = leaf.reduce(ReduceKind::sum, both, {kCol});
  return grad;
}

Value Replay::product() {
  Value rows = acrossLines(leaf, potentials[0], y, kRow);
  return leaf.mul(rows, acrossLines(leaf, potentials[1], y, kCol));
}

Value Replay::finish(Value grad) {
  Init init = op.getInit();
  if (init == Init::log)
    return grad;
  Value product = leaf.mul(grad, first);
  if (init == Init::exp)
    return product;
  if (isSigmoid(init))
    return leaf.mul(product, leaf.sub(leaf.splat(1.0, first), first));
  Value total = reduceStart(leaf, ReduceKind::sum, product, init);
  if (init == Init::softmax_eps)
    return leaf.sub(product, leaf.mul(first, total));
  // The shift takes the whole line's gradient to its maximum; equal ones share it.
  Value most = reduceStart(leaf, ReduceKind::max, op.getLogits(), init), one = leaf.splat(1.0, first);
  Value isMost = leaf.select(leaf.isEqual(op.getLogits(), most), one, leaf.splat(0.0, first));
  Value share = leaf.div(isMost, reduceStart(leaf, ReduceKind::sum, isMost, init));
  return leaf.sub(product, leaf.mul(share, total));
}

SmallVector<Value> SinkhornBwdOp::decompose(OpBuilder &builder) {
  LeafBuilder leaf(builder, getLoc());
  if (getSolver() == Solver::newton)
    return {newtonGradient(leaf, newtonLimit(builder, getLoc(), getLogits(), getIters()), getDMix())};
  Replay replay(*this, leaf);
  replay.start();
  if (getDenom() == Denom::potentials)
    replay.potentials[0] = replay.potentials[1] = onesOf(builder, getLoc(), replay.y);
  int64_t first = getOrder() == Order::row_col ? kRow : kCol, second = kRow + kCol - first, iterations = getIters();
  if (getInit() == Init::softmax_eps) { // the softmax is the first row step
    replay.forward(kCol);
    --iterations;
  }
  for (int64_t iteration = 0; iteration < iterations; ++iteration) {
    replay.forward(first);
    replay.forward(second);
  }
  Value grad = replay.begin(getDMix());
  for (const Replay::Step &step : llvm::reverse(replay.steps))
    grad = replay.backward(step, grad);
  return {replay.finish(grad)};
}

//===----------------------------------------------------------------------===//
// permutation_mix
//===----------------------------------------------------------------------===//

LogicalResult mhc::verifyPermutationStreams(Operation *op, int64_t n) {
  if (n > 6)
    return op->emitOpError() << "has " << n << " streams; needed at most 6, for there are n! permutations";
  return success();
}

LogicalResult PermutationMixOp::verify() {
  return failure(failed(verifyPermutationStreams(*this, getMix().getType().getDimSize(1))) ||
                 failed(verifyKernelDims(*this)));
}

/// [n!, n*n]: the permutation matrices in lexicographic order.
static Value permutationTable(OpBuilder &builder, Location loc, int64_t n, int64_t count) {
  SmallVector<float> table(count * n * n, 0.0f);
  SmallVector<int64_t> perm(n);
  std::iota(perm.begin(), perm.end(), 0);
  for (int64_t p = 0; p < count; ++p, std::next_permutation(perm.begin(), perm.end()))
    for (int64_t row = 0; row < n; ++row)
      table[(p * n + row) * n + perm[row]] = 1.0f;
  auto type = RankedTensorType::get({count, n * n}, builder.getF32Type());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef(table)));
}

SmallVector<Value> PermutationMixOp::decompose(OpBuilder &builder) {
  LeafBuilder leaf(builder, getLoc());
  int64_t n = getMix().getType().getDimSize(1), count = getLogits().getType().getDimSize(1);
  Value permutations = permutationTable(builder, getLoc(), n, count);
  return {leaf.split(leaf.matmul(leaf.softmax(getLogits(), 1), permutations), 1, {n, n})};
}

LogicalResult PermutationMixOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  KernelVjp vjp(*this, builder, context);
  vjp.add(getLogits(),
          PermutationMixBwdOp::create(builder, getLoc(), getLogits().getType(), vjp.cotangent(getMix()), getLogits()));
  return success();
}

LogicalResult PermutationMixBwdOp::verify() {
  return failure(failed(verifyPermutationStreams(*this, getDMix().getType().getDimSize(1))) ||
                 failed(verifyKernelDims(*this)));
}

SmallVector<Value> PermutationMixBwdOp::decompose(OpBuilder &builder) {
  LeafBuilder leaf(builder, getLoc());
  int64_t n = getDMix().getType().getDimSize(1), count = getLogits().getType().getDimSize(1);
  Value weights = leaf.softmax(getLogits(), 1), cells = leaf.join(getDMix(), 1, 2);
  Value table = permutationTable(builder, getLoc(), n, count);
  Value product = leaf.mul(weights, leaf.matmul(cells, table, /*transposeLhs=*/false, /*transposeRhs=*/true));
  return {leaf.sub(product, leaf.mul(weights, leaf.reduceLike(ReduceKind::sum, product, 1)))};
}
