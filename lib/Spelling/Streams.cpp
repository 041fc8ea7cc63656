//===- Streams.cpp - Expand, aggregate, post and contract, spelled out ----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "mhc/Spelling/Chain.h"

namespace mhc::spelling {

//===----------------------------------------------------------------------===//
// Entry and exit
//===----------------------------------------------------------------------===//

Value Chain::expand(Value x) { return fromMatrix(across(x, streamsShape(x.dim(1)), {0, channelAxis()})); }

Value Chain::contract(Value x, const std::string &mode) {
  return w.as("contracted").reduce(mode, matrix(x), {streamAxis()});
}

//===----------------------------------------------------------------------===//
// Aggregate
//===----------------------------------------------------------------------===//

/// Stream `index` of [M, n, C] or [M, C, n], as [M, C].
Value Chain::stream(Value x, int64_t index) {
  Dims offsets{0, 0, 0}, sizes = x.type.dims;
  offsets[streamAxis()] = index;
  sizes[streamAxis()] = 1;
  return w.slice(x, offsets, sizes, /*drop=*/{streamAxis()});
}

/// Column `index` of [M, n] over a shape [M, C].
static Value column(IrWriter &w, Value gate, int64_t index, const Dims &shape) {
  Value one = w.slice(gate, {0, index}, {kTokens, 1}, /*drop=*/{1});
  return w.broadcast(one, shape, {0});
}

Value Chain::aggregate(Value x, Value pre) {
  Element storage = x.type.element;
  Value streams = matrix(x);
  if (pre.type.element != storage)
    streams = w.convert(streams, pre.type.element);
  int64_t channels = streams.dim(channelAxis());
  Value u;
  switch (how.aggregate) {
  case Spelling::Aggregate::MulReduce: {
    Value weight = across(pre, streams.type.dims, {0, streamAxis()});
    Value product = w.as("weighted").mul(streams, weight);
    u = w.as("u").reduce("sum", product, {streamAxis()});
    break;
  }
  case Spelling::Aggregate::Matmul: {
    Value product;
    if (attr.streamsInner())
      product = w.batchMatmul(streams, w.reshape(pre, {kTokens, attr.n, 1}));
    else
      product = w.batchMatmul(w.reshape(pre, {kTokens, 1, attr.n}), streams);
    u = w.as("u").reshape(product, {kTokens, channels});
    break;
  }
  case Spelling::Aggregate::Streams:
    for (int64_t i = 0; i < attr.n; ++i) {
      Value one = stream(streams, i);
      Value term = w.mul(column(w, pre, i, one.type.dims), one);
      u = u ? w.add(u, term) : term;
    }
    break;
  }
  return w.convert(u, storage);
}

//===----------------------------------------------------------------------===//
// Post
//===----------------------------------------------------------------------===//

/// gate (outer) f, in the shape of the streams.
Value Chain::spread(Value f, Value gate) {
  Dims shape = streamsShape(f.dim(1));
  if (how.outerMatmul) {
    Value column = w.reshape(attr.streamsInner() ? f : gate, {kTokens, shape[1], 1});
    Value row = w.reshape(attr.streamsInner() ? gate : f, {kTokens, 1, shape[2]});
    return w.as("branch").batchMatmul(column, row);
  }
  Value weight = across(gate, shape, {0, streamAxis()});
  Value rows = across(f, shape, {0, channelAxis()});
  return w.as("branch").mul(weight, rows);
}

Value Chain::mixMulReduce(Value x, Value res) {
  // [M, n, n, C], or [M, C, n, n] with streams inside; the first of the two stream axes is the first index of H.
  bool inner = attr.streamsInner(), outFirst = attr.resOrient == "oi";
  int64_t n = attr.n, channels = x.dim(channelAxis()), axis = inner ? 2 : 1;
  Dims shape = inner ? Dims{kTokens, channels, n, n} : Dims{kTokens, n, n, channels};
  int64_t source = outFirst ? axis + 1 : axis;
  Dims resDims{0, axis, axis + 1};
  Dims streamDims = inner ? Dims{0, 1, source} : Dims{0, source, 3};
  Value weights = across(res, shape, resDims);
  Value streams = across(x, shape, streamDims);
  Value products = w.mul(weights, streams);
  return w.as("mixed").reduce("sum", products, {source});
}

Value Chain::mixStreams(Value x, Value res) {
  Values rows;
  bool outFirst = attr.resOrient == "oi";
  Dims shape{kTokens, x.dim(channelAxis())}, unit = shape;
  unit.insert(unit.begin() + streamAxis(), 1);
  for (int64_t out = 0; out < attr.n; ++out) {
    Value row;
    for (int64_t in = 0; in < attr.n; ++in) {
      int64_t first = outFirst ? out : in, second = outFirst ? in : out;
      Value weight = w.slice(res, {0, first, second}, {kTokens, 1, 1}, /*drop=*/{1, 2});
      Value one = stream(x, in);
      Value term = w.mul(w.broadcast(weight, shape, {0}), one);
      row = row ? w.add(row, term) : term;
    }
    rows.push_back(w.reshape(row, unit));
  }
  return w.as("mixed").concat(rows, streamAxis());
}

Value Chain::mix(Value x, Value res) {
  if (how.mix == Spelling::Mix::MulReduce)
    return mixMulReduce(x, res);
  if (how.mix == Spelling::Mix::Streams)
    return mixStreams(x, res);
  // out = A x with streams as rows, out = x A^T with streams as columns; A is H for oi and H^T for io.
  bool flip = attr.streamsInner() == (attr.resOrient == "oi");
  if (flip && how.mix == Spelling::Mix::TransposeMatmul) {
    res = w.transpose(res, {0, 2, 1});
    flip = false;
  }
  if (attr.streamsInner())
    return w.as("mixed").batchMatmul(x, res, /*transposeLhs=*/false, /*transposeRhs=*/flip);
  return w.as("mixed").batchMatmul(res, x, /*transposeLhs=*/flip);
}

/// Drops elements of the branch by drawn numbers, in the order of the streams.
Value Chain::dropBranch(Value branch) {
  constexpr int64_t kSeed = 2026, kStep = 3;
  Value rows = w.reshape(branch, {kTokens, branch.dim(1) * branch.dim(2)});
  Value kept = w.dropout(rows, w.seed(kSeed, kStep), attr.dropout, dropouts++);
  return w.reshape(kept, branch.type.dims);
}

Value Chain::stackedSum(Value a, Value b) {
  Dims unit = a.type.dims;
  unit.insert(unit.begin() + 1, 1);
  return w.as("x_next").reduce("sum", w.concat({w.reshape(a, unit), w.reshape(b, unit)}, 1), {1});
}

Value Chain::post(Value x, Value f, Value bias, Value postGate, Value res, Value keep) {
  Element storage = x.type.element, element = postGate.type.element;
  Value streams = w.convert(matrix(x), element);
  f = w.convert(f, element);
  if (bias)
    bias = w.convert(bias, element);
  if (bias && !how.biasApart)
    f = w.add(f, across(bias, f.type.dims, {1}));
  Value branch = spread(f, postGate);
  if (bias && how.biasApart) {
    Value weight = across(postGate, branch.type.dims, {0, streamAxis()});
    Value rows = across(bias, branch.type.dims, {channelAxis()});
    branch = w.add(branch, w.mul(weight, rows));
  }
  if (keep) {
    Value kept = w.mul(branch, w.convert(matrix(keep), element));
    branch = w.div(kept, 1.0 - attr.dropout);
  } else if (attr.dropout != 0) {
    branch = dropBranch(branch);
  }
  Value mixed = mix(streams, res);
  Value first = how.mixFirst ? mixed : branch, second = how.mixFirst ? branch : mixed;
  Value sum = how.stackedSum ? stackedSum(first, second) : w.as("x_next").add(first, second);
  return fromMatrix(w.convert(sum, storage));
}

//===----------------------------------------------------------------------===//
// Sublayer
//===----------------------------------------------------------------------===//

static Value tanhLayer(IrWriter &w, Value u, Value weight) {
  Value product = w.matmul(u, weight, /*transposeRhs=*/true);
  return w.as("f").unary("math.tanh", product);
}

Value Chain::sublayer(Value u, Value weight) {
  if (attr.sublayer == "toy")
    return tanhLayer(w, u, weight);
  if (how.scale == Spelling::Scale::RmsNormOp)
    return w.as("f").rmsNorm(u, weight, attr.subEps);
  RowScale scale = asSpelled(root(u, "inside", attr.subEps));
  Value normal = scaleRows(u, scale);
  Value spread = across(weight, normal.type.dims, {1});
  return w.as("f").mul(normal, spread);
}

} // namespace mhc::spelling
