//===- Sinkhorn.cpp - Residual matrices, spelled out ----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "mhc/Spelling/Chain.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace mhc::spelling {

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Values Chain::repeat(int64_t iterations, Values start, const std::function<Values(Values)> &iteration) {
  if (iterations == 0)
    return start;
  if (!how.unroll)
    return w.as("sk").loop(iterations, start, iteration);
  for (int64_t i = 0; i < iterations; ++i)
    start = iteration(start);
  return start;
}

Value Chain::sinkhornStep(Value mix, int64_t dim) {
  Value positive = how.l1Norm ? w.unary("math.absf", mix) : mix;
  Value sum = reduce("sum", positive, dim);
  if (attr.denom == "add")
    sum = w.add(sum, attr.skEps);
  else if (attr.denom == "clamp")
    sum = w.max(sum, attr.skEps);
  return w.div(mix, over(sum, mix, dim));
}

Value Chain::shiftedExp(Value logits, int64_t dim, Value &shift) {
  shift = reduce("max", logits, dim);
  Value shifted = w.sub(logits, over(shift, logits, dim));
  return w.unary("math.exp", shifted);
}

Value Chain::logSumExp(Value logits, int64_t dim) {
  Value shift;
  Value exp = shiftedExp(logits, dim, shift);
  Value log = w.unary("math.log", reduce("sum", exp, dim));
  return w.add(log, shift);
}

/// The dimensions that the two steps of an iteration sum over; a row step sums over the last one.
static std::pair<int64_t, int64_t> axes(const std::string &order) {
  return order == "row_col" ? std::make_pair(2, 1) : std::make_pair(1, 2);
}

//===----------------------------------------------------------------------===//
// Iterations
//===----------------------------------------------------------------------===//

Value Chain::sinkhornStart(Value logits) {
  if (attr.init == "softmax_eps") {
    Value rows = softmax(logits, 2);
    return w.as("start").add(rows, attr.skEps);
  }
  if (attr.init == "sigmoid" || attr.init == "sigmoid_eps") {
    // By tanh, the halves of all columns become one product, and no value is the argument of a gate.
    Value start = how.sigmoid == Spelling::Sigmoid::Tanh ? w.unary("mhc.sigmoid", logits) : sigmoid(logits);
    return attr.init == "sigmoid" ? start : w.as("start").add(start, attr.skEps);
  }
  if (attr.init == "exp_max") {
    Value rows = over(reduce("max", logits, 2), logits, 2);
    logits = w.sub(logits, over(reduce("max", rows, 1), logits, 1));
  } else if (attr.init != "exp") {
    int64_t dim = attr.init == "exp_rowmax" ? 2 : 1;
    logits = w.sub(logits, over(reduce("max", logits, dim), logits, dim));
  }
  return w.unary("math.exp", logits);
}

Value Chain::sinkhornLinear(Value logits) {
  bool rowsDone = attr.init == "softmax_eps";
  int64_t first, second;
  std::tie(first, second) = axes(rowsDone ? "row_col" : attr.order);
  auto iteration = [&](Values carried) -> Values { return {sinkhornStep(sinkhornStep(carried[0], first), second)}; };
  bool isSoftmax = how.softmaxFirst && attr.denom != "add" && attr.init == (first == 2 ? "exp_rowmax" : "exp_colmax");
  Value start = isSoftmax ? softmax(logits, first) : sinkhornStart(logits);
  const bool isAgain = how.rowsBehindSoftmax && attr.iters > 2 && attr.skEps <= 1e-6;
  if (isSoftmax || (rowsDone && !isAgain))
    return repeat(attr.iters - 1, {sinkhornStep(start, second)}, iteration).front();
  return repeat(attr.iters, {start}, iteration).front();
}

Value Chain::sinkhornScaling(Value logits) {
  int64_t first, second;
  std::tie(first, second) = axes(attr.order);
  Value start = sinkhornStart(logits), one = w.splat(1.0, {{kTokens, attr.n}, logits.type.element});
  auto scaled = [&](Value matrix, Value factors, int64_t dim) {
    Value spread = across(factors, matrix.type.dims, {0, 3 - dim});
    return w.mul(matrix, spread);
  };
  // The factors of the lines along `dim` from those of the others.
  auto update = [&](Value others, int64_t dim) {
    Value sum = w.reshape(reduce("sum", scaled(start, others, 3 - dim), dim), one.type.dims);
    return w.div(one, w.add(sum, attr.skEps));
  };
  Values factors = repeat(attr.iters, {one, one}, [&](Values carried) -> Values {
    Value mine = update(carried[1], first);
    Value others = update(mine, second);
    return {mine, others};
  });
  Value half = scaled(start, factors[0], first);
  return scaled(half, factors[1], second);
}

Value Chain::sinkhornLog(Value logits) {
  int64_t first, second;
  std::tie(first, second) = axes(attr.order);
  auto step = [&](Value log, int64_t dim) {
    if (how.wholeLogSumExp)
      return w.sub(log, over(logSumExp(log, dim), log, dim));
    Value shifted = w.sub(log, over(reduce("max", log, dim), log, dim));
    Value sum = reduce("sum", w.unary("math.exp", shifted), dim);
    return w.sub(shifted, over(w.unary("math.log", sum), log, dim));
  };
  Value log = repeat(attr.iters, {logits}, [&](Values carried) -> Values {
                return {step(step(carried[0], first), second)};
              }).front();
  return w.unary("math.exp", log);
}

Value Chain::sinkhornPotentials(Value logits) {
  int64_t first, second;
  std::tie(first, second) = axes(attr.order);
  Value zero = w.splat(0.0, {{kTokens, attr.n}, logits.type.element});
  auto plus = [&](Value matrix, Value potential, int64_t dim) {
    Value spread = across(potential, matrix.type.dims, {0, 3 - dim});
    return w.add(matrix, spread);
  };
  auto update = [&](Value potential, int64_t from, int64_t dim) {
    Value lse = logSumExp(plus(logits, potential, from), dim);
    return w.sub(zero, w.reshape(lse, zero.type.dims));
  };
  Values fg = repeat(attr.iters, {zero, zero}, [&](Values carried) -> Values {
    Value f = update(carried[1], second, first);
    Value g = update(f, first, second);
    return {f, g};
  });
  Value log = plus(plus(logits, fg[0], first), fg[1], second);
  return w.unary("math.exp", log);
}

/// The limit of the iterations, as the op.
static Value limitOp(IrWriter &w, Value logits, int64_t iterations) {
  const std::string attributes =
      "init = log, order = row_col, denom = none, eps = 0.0, iters = " + std::to_string(iterations) +
      ", solver = newton";
  return w.named("sinkhorn", {{"logits", logits}}, attributes, {{"mix", logits.type}}).front();
}

Value Chain::sinkhorn(Value logits) {
  if (attr.solver == "newton")
    return limitOp(w, logits, attr.iters);
  if (attr.init != "log")
    return attr.denom == "potentials" ? sinkhornScaling(logits) : sinkhornLinear(logits);
  return how.potentials ? sinkhornPotentials(logits) : sinkhornLog(logits);
}

//===----------------------------------------------------------------------===//
// Permutation mixture
//===----------------------------------------------------------------------===//

/// All permutation matrices of n elements in lexicographic order, one flattened matrix per row.
static std::vector<double> permutationTable(int64_t n) {
  std::vector<int64_t> permutation(n);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::vector<double> table;
  do {
    size_t begin = table.size();
    table.resize(begin + n * n, 0.0);
    for (int64_t row = 0; row < n; ++row)
      table[begin + row * n + permutation[row]] = 1.0;
  } while (std::next_permutation(permutation.begin(), permutation.end()));
  return table;
}

Value Chain::permutationMix(Value logits) {
  Value weights = softmax(logits, 1);
  int64_t n = attr.n;
  Value table = w.as("permutations").constant(permutationTable(n), {{logits.dim(1), n * n}, logits.type.element});
  return w.reshape(w.matmul(weights, table), {kTokens, n, n});
}

} // namespace mhc::spelling
