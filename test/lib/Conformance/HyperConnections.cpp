//===- HyperConnections.cpp - Per-stream hyper-connections, spelled out ---===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// hyper-connections projects every stream on its own (C columns, weights shared by the streams) and keeps one matrix of
// weights for branch input and residual: column 0 of alpha makes the input, the others the residual.
//
//===----------------------------------------------------------------------===//
#include "Conformance/HyperConnections.h"

#include <cmath>

namespace mhc::conformance {

/// x / max(|x|, 1e-12) * sqrt(C) * (gamma + 1) along the channels of each stream.
static Value normalize(IrWriter &w, Chain &chain, Value x, Value gamma) {
  Value square = w.as("square").mul(x, x);
  Value sum = chain.reduce("sum", square, 2);
  Value length = w.as("length").unary("math.sqrt", sum);
  Value unit = w.div(x, chain.over(w.max(length, 1e-12), x, 2));
  Value scaled = w.mul(unit, std::sqrt(static_cast<double>(x.dim(2))));
  Value factor = chain.across(w.add(gamma, 1.0), x.type.dims, {2});
  return w.as("normed").mul(scaled, factor);
}

/// act(normed @ weight), one row per stream: [M, n, columns].
static Value dynamicPart(IrWriter &w, Value normed, Value weight, const std::string &act) {
  Value product = w.matmul(w.mergeTokens(normed), weight);
  if (act == "tanh")
    product = w.unary("math.tanh", product);
  return w.splitTokens(product, normed.dim(1));
}

/// A tensor<1xf32> over a vector of that length.
static Value repeated(IrWriter &w, Value scalar, int64_t length) { return w.broadcast(scalar, {length}, {0}); }

static Value streamWeights(IrWriter &w, Chain &chain, const Attributes &attr, const HyperConnectionInputs &in,
                           Value normed) {
  int64_t n = attr.n;
  Value table = w.reshape(in.dynAlpha, {normed.dim(2), n + 1});
  Value dynamic = dynamicPart(w, normed, table, attr.act);
  Value scale = in.scalePre;
  if (!attr.sharedScale) {
    Value pre = repeated(w, in.scalePre, 1), res = repeated(w, in.scaleRes, n);
    scale = w.concat({pre, res}, 0);
  }
  scale = repeated(w, scale, n + 1);
  Value scaled = w.mul(dynamic, chain.across(scale, dynamic.type.dims, {2}));
  Value fixed = chain.across(in.staticAlpha, dynamic.type.dims, {1, 2});
  return w.as("alpha").add(scaled, fixed);
}

static Value branchWeights(IrWriter &w, Chain &chain, const Attributes &attr, const HyperConnectionInputs &in,
                           Value normed) {
  Value column = w.reshape(in.dynBeta, {normed.dim(2), 1});
  Value dynamic = w.reshape(dynamicPart(w, normed, column, attr.act), {kTokens, attr.n});
  Value scaled = w.mul(dynamic, w.broadcast(in.scaleBeta, dynamic.type.dims, {1}));
  Value fixed = chain.across(w.reshape(in.staticBeta, {attr.n}), dynamic.type.dims, {1});
  Value beta = w.as("beta").add(scaled, fixed);
  return attr.constraint == "mhc" ? w.mul(chain.sigmoid(beta), 2.0) : beta;
}

Value hyperConnection(IrWriter &w, Chain &chain, const Attributes &attr, const Spelling &how,
                      const HyperConnectionInputs &in) {
  int64_t n = attr.n, channels = in.x.dim(2);
  w.comment("Normalised streams");
  Value normed = normalize(w, chain, in.x, in.normGamma);
  w.comment("Weights of branch input and residual");
  Value alpha = streamWeights(w, chain, attr, in, normed);
  Value pre = w.sliceDim(alpha, 2, 0, 1), res = w.sliceDim(alpha, 2, 1, n);
  if (attr.constraint == "mhc") {
    pre = chain.sigmoid(pre);
    res = chain.sinkhorn(res);
  }
  w.comment("Weights of the branch output");
  Value beta = branchWeights(w, chain, attr, in, normed);
  Value u, mixed;
  if (how.jointMix) {
    w.comment("Branch input and mixed residual in one product");
    Value joint = w.concat({pre, res}, 2);
    Value product = w.as("mix_h").batchMatmul(joint, in.x, /*transposeLhs=*/true);
    u = w.as("u").slice(product, {0, 0, 0}, {kTokens, 1, channels}, /*drop=*/{1});
    mixed = w.as("mixed").sliceDim(product, 1, 1, n);
  } else {
    u = chain.aggregate(in.x, w.reshape(pre, {kTokens, n}));
    mixed = chain.mix(in.x, res);
  }
  w.comment("Branch and depth connection");
  Value f = chain.sublayer(u, in.wSub);
  Value branch = chain.spread(f, beta);
  return how.mixFirst ? w.as("x_next").add(mixed, branch) : w.as("x_next").add(branch, mixed);
}

} // namespace mhc::conformance
