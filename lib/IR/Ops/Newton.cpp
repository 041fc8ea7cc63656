//===- Newton.cpp - The limit of Sinkhorn's iterations in leaf ops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows are the nodes of a network; two of them are linked by what they share of the columns. A Newton step, and the
// gradient, are the potentials of that network, which come by eliminating one node after the other (math.md 3.4).
//
//===----------------------------------------------------------------------===//

#include "Newton.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mhc;

// The numbers of runtime/src/NewtonRule.h, where they are explained.
constexpr double kWidestRange = 16, kLongestStep = 4, kTrustedSteps = 3, kFullStep = 0.5;
constexpr double kLeastCell = 1e-30, kLeastDegree = 1e-35;
constexpr int64_t kMostHalvings = 16;

static int64_t streamsOf(Value matrix) { return cast<RankedTensorType>(matrix.getType()).getDimSize(2); }

/// A number for each matrix, repeated to the shape of `like`.
static Value ofEach(LeafBuilder &leaf, Value numbers, Value like) {
  return leaf.broadcast(numbers, leaf.sizesOf(like), {0});
}

/// 1 where a > b, else 0.
static Value greater(LeafBuilder &leaf, Value a, Value b) {
  Value one = leaf.splat(1.0, a), zero = leaf.splat(0.0, a);
  return leaf.select(leaf.isGreater(a, b), one, zero);
}

static Value atLeast(LeafBuilder &leaf, Value v, double least) { return leaf.max(v, leaf.splat(least, v)); }

static Value normalizeColumns(LeafBuilder &leaf, Value m) {
  return atLeast(leaf, leaf.div(m, leaf.reduceLike(ReduceKind::sum, m, 1)), kLeastCell);
}

namespace {
/// The network, whose first node is eliminated again and again.
struct Network {
  Network(LeafBuilder &leaf, Value weights) : leaf(leaf), weights(weights) {}

  struct Node {
    Value links;  ///< [M,1,m]: weights to the nodes behind
    Value degree; ///< [M]: their sum
  };

  Node first() {
    Value links = behind(leaf.slice(weights, 1, 0, 1));
    return {links, atLeast(leaf, leaf.reduce(ReduceKind::sum, links, {1, 2}), kLeastDegree)};
  }
  /// Links the nodes behind as the first did.
  Value eliminate(const Node &node) {
    Value share = leaf.div(node.links, ofEach(leaf, node.degree, node.links));
    weights = leaf.add(inner(weights), outer(share, node.links));
    return share;
  }
  /// A row without its first element.
  Value behind(Value row) { return leaf.slice(row, 2, 1, streamsOf(row) - 1); }
  Value inner(Value matrix) { return leaf.slice(behind(matrix), 1, 1, streamsOf(matrix) - 1); }
  Value outer(Value a, Value b) { return leaf.batchMatmul(a, b, /*transposeLhs=*/true); }
  /// [M,1,1]: the potential of a node, of those behind and of what flows into it.
  Value potential(const Node &node, Value others, Value flow) {
    Value sum = leaf.reduce(ReduceKind::sum, leaf.mul(node.links, others), {1, 2});
    return leaf.div(leaf.add(ofEach(leaf, sum, flow), flow), ofEach(leaf, node.degree, flow));
  }

  LeafBuilder &leaf;
  Value weights; ///< [M,m,m]; nothing reads the diagonal
};
} // namespace

/// Potentials x, [M,1,n], of which the last is 0: sum_j w[i,j] (x[i] - x[j]) = flow[i].
static Value solveFlows(LeafBuilder &leaf, Value weights, Value flows) {
  Network network(leaf, weights);
  SmallVector<std::pair<Network::Node, Value>> eliminated;
  for (int64_t m = streamsOf(weights); m > 1; --m) {
    Network::Node node = network.first();
    Value flow = leaf.slice(flows, 2, 0, 1), share = network.eliminate(node);
    Value passed = leaf.mul(share, ofEach(leaf, leaf.reduce(ReduceKind::sum, flow, {1, 2}), share));
    flows = leaf.add(network.behind(flows), passed);
    eliminated.push_back({node, flow});
  }
  Value x = leaf.splat(0.0, flows);
  for (auto &[node, flow] : llvm::reverse(eliminated))
    x = leaf.concat({network.potential(node, x, flow), x}, 2);
  return x;
}

/// The same where pulls[i,j] = -pulls[j,i] is what j sends to i.
static Value solvePulls(LeafBuilder &leaf, Value weights, Value pulls) {
  Network network(leaf, weights);
  SmallVector<std::pair<Network::Node, Value>> eliminated;
  for (int64_t m = streamsOf(weights); m > 1; --m) {
    Network::Node node = network.first();
    Value pull = network.behind(leaf.slice(pulls, 1, 0, 1)), share = network.eliminate(node);
    Value passed = network.outer(share, pull);
    pulls = leaf.add(network.inner(pulls), leaf.sub(passed, leaf.transpose(passed, {0, 2, 1})));
    Value flow = leaf.reduce(ReduceKind::sum, pull, {1, 2});
    eliminated.push_back({node, leaf.broadcast(flow, {leaf.size(flow, 0), leaf.constant(1), leaf.constant(1)}, {0})});
  }
  Value x = leaf.splat(0.0, pulls);
  for (auto &[node, flow] : llvm::reverse(eliminated))
    x = leaf.concat({network.potential(node, x, flow), x}, 2);
  return x;
}

/// A number for each row, [M,1,n], repeated along the rows of `like`.
static Value acrossRows(LeafBuilder &leaf, Value numbers, Value like) {
  return leaf.broadcast(leaf.join(numbers, 1, 2), leaf.sizesOf(like), {0, 1});
}

NewtonState mhc::newtonStart(LeafBuilder &leaf, Value logits, int64_t iters) {
  Value most = leaf.reduce(ReduceKind::max, logits, {1, 2});
  Value least = leaf.negate(leaf.reduce(ReduceKind::max, leaf.negate(logits), {1, 2}));
  Value range = leaf.sub(most, least), halvings = leaf.splat(0.0, range), scale = leaf.splat(1.0, range);
  for (int64_t k = 0; k < std::min(iters, kMostHalvings); ++k) {
    Value isWide = greater(leaf, leaf.mul(range, scale), leaf.splat(kWidestRange, range));
    scale = leaf.sub(scale, leaf.mul(leaf.scale(scale, 0.5), isWide));
    halvings = leaf.add(halvings, isWide);
  }
  Value shifted = leaf.sub(logits, leaf.reduceLike(ReduceKind::max, logits, 2));
  Value y = leaf.exp(leaf.mul(shifted, ofEach(leaf, scale, logits)));
  y = leaf.div(y, leaf.reduceLike(ReduceKind::sum, y, 2));
  return {normalizeColumns(leaf, y), halvings, leaf.splat(0.0, halvings), leaf.splat(double(iters), halvings)};
}

/// The share of a step that is taken.
static Value dampingOf(LeafBuilder &leaf, Value spread, Value steps) {
  Value one = leaf.splat(1.0, spread), longest = leaf.splat(kLongestStep, spread);
  Value capped = leaf.div(longest, leaf.max(spread, longest));
  Value sure = leaf.div(leaf.log(leaf.add(one, spread)), atLeast(leaf, spread, kFullStep));
  Value isTrusted = leaf.isGreater(leaf.splat(kTrustedSteps, steps), steps);
  Value damping = leaf.select(isTrusted, capped, sure);
  return leaf.select(leaf.isGreater(spread, leaf.splat(kFullStep, spread)), damping, one);
}

NewtonState mhc::newtonStep(LeafBuilder &leaf, const NewtonState &from) {
  int64_t n = streamsOf(from.mix);
  Value mix = from.mix, sums = leaf.split(leaf.reduce(ReduceKind::sum, mix, {2}), 1, {1, n});
  Value missing = leaf.sub(leaf.splat(1.0, sums), sums);
  Value x = solveFlows(leaf, leaf.batchMatmul(mix, mix, /*transposeLhs=*/false, /*transposeRhs=*/true), missing);
  Value most = leaf.reduce(ReduceKind::max, x, {1, 2});
  Value least = leaf.negate(leaf.reduce(ReduceKind::max, leaf.negate(x), {1, 2}));
  Value spread = leaf.sub(most, least), damping = dampingOf(leaf, spread, from.steps);
  Value middle = leaf.scale(leaf.add(most, least), 0.5);
  Value step = leaf.mul(leaf.sub(x, ofEach(leaf, middle, x)), ofEach(leaf, damping, x));
  mix = leaf.mul(mix, acrossRows(leaf, leaf.exp(step), mix));

  Value one = leaf.splat(1.0, spread), half = leaf.splat(0.5, spread);
  Value isFar = greater(leaf, spread, leaf.splat(kLongestStep, spread));
  Value hasTime = greater(leaf, from.left, leaf.add(from.halvings, half));
  Value mayGrow = leaf.sub(one, leaf.mul(isFar, hasTime));
  Value grows = leaf.mul(mayGrow, greater(leaf, from.halvings, half));
  Value isGrown = leaf.isGreater(ofEach(leaf, grows, mix), leaf.splat(0.5, mix));
  mix = normalizeColumns(leaf, leaf.select(isGrown, leaf.mul(mix, mix), mix));
  Value steps = leaf.mul(leaf.sub(one, grows), leaf.add(from.steps, one));
  return {mix, leaf.sub(from.halvings, grows), steps, leaf.sub(from.left, one)};
}

Value mhc::newtonGradient(LeafBuilder &leaf, Value mix, Value dMix) {
  Value weights = leaf.batchMatmul(mix, mix, /*transposeLhs=*/false, /*transposeRhs=*/true);
  Value products = leaf.batchMatmul(leaf.mul(mix, dMix), mix, /*transposeLhs=*/false, /*transposeRhs=*/true);
  Value pulls = leaf.sub(products, leaf.transpose(products, {0, 2, 1}));
  Value rest = leaf.sub(dMix, acrossRows(leaf, solvePulls(leaf, weights, pulls), dMix));
  return leaf.mul(mix, leaf.sub(rest, leaf.reduceLike(ReduceKind::sum, leaf.mul(mix, rest), 1)));
}
