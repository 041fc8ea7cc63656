//===- Gates.cpp - Gates and head, spelled out ----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "mhc/Spelling/Chain.h"

namespace mhc::spelling {

//===----------------------------------------------------------------------===//
// Nonlinearities
//===----------------------------------------------------------------------===//

Value Chain::sigmoid(Value z, const std::string &name) {
  switch (how.sigmoid) {
  case Spelling::Sigmoid::Op:
    return w.as(name).unary("mhc.sigmoid", z);
  case Spelling::Sigmoid::Exp: {
    Value decay = w.unary("math.exp", w.unary("arith.negf", z));
    Value denominator = w.add(decay, 1.0);
    return w.as(name).div(w.splat(1.0, z.type), denominator);
  }
  case Spelling::Sigmoid::Tanh: {
    Value half = w.unary("math.tanh", w.mul(z, 0.5));
    Value shifted = w.add(half, 1.0);
    return w.as(name).mul(shifted, 0.5);
  }
  }
  return Value();
}

Value Chain::softmax(Value logits, int64_t dim) {
  if (!how.explicitSoftmax)
    return w.softmax(logits, dim);
  Value shift;
  Value exp = shiftedExp(logits, dim, shift);
  Value sum = over(reduce("sum", exp, dim), logits, dim);
  return w.div(exp, sum);
}

//===----------------------------------------------------------------------===//
// alpha * scale * proj + beta
//===----------------------------------------------------------------------===//

std::vector<Chain::Group> Chain::groups(int64_t columns) const {
  int64_t n = attr.n;
  return {{0, n, 0, "pre"}, {n, n, 1, "post"}, {2 * n, columns - 2 * n, 2, "res"}};
}

Value Chain::alphaVector(Value alpha, const std::vector<Group> &groups) {
  Values parts;
  for (const Group &group : groups)
    parts.push_back(w.broadcast(w.sliceDim(alpha, 0, group.alpha, 1), {group.size}, {0}));
  return w.as("alpha_all").concat(parts, 0);
}

Value Chain::linearVector(Projection projection, Value alpha, Value beta, const std::vector<Group> &groups) {
  Value proj = projection.parts.front();
  bool afterAlpha = how.scale == Spelling::Scale::AfterAlpha;
  if (!afterAlpha)
    proj = scaleRows(proj, projection.scale);
  Value factors = across(alphaVector(alpha, groups), proj.type.dims, {1});
  Value z = w.mul(proj, factors);
  if (afterAlpha)
    z = scaleRows(z, projection.scale);
  Value bias = across(beta, z.type.dims, {1});
  return w.as("z").add(z, bias);
}

Value Chain::linearGroup(Value part, RowScale scale, Value alpha, Value beta, const Group &group) {
  Value factor = element(alpha, group.alpha, part.type.dims);
  Value z = w.mul(part, factor);
  z = scaleRows(z, scale);
  Value slice = w.sliceDim(beta, 0, group.begin, group.size);
  Value bias = across(slice, z.type.dims, {1});
  return w.as(std::string("z_") + group.name).add(z, bias);
}

Values Chain::linear(Projection projection, Value alpha, Value beta, const std::vector<Group> &groups) {
  Values result;
  bool apart = projection.parts.size() > 1;
  if (how.alphaVector && !apart) {
    Value z = linearVector(projection, alpha, beta, groups);
    for (const Group &group : groups)
      result.push_back(groups.size() == 1 ? z : w.sliceDim(z, 1, group.begin, group.size));
    return result;
  }
  bool afterAlpha = how.scale == Spelling::Scale::AfterAlpha;
  if (!afterAlpha)
    for (Value &part : projection.parts)
      part = scaleRows(part, projection.scale);
  RowScale late = afterAlpha ? projection.scale : RowScale();
  for (size_t i = 0; i < groups.size(); ++i) {
    const Group &group = groups[i];
    Value part = apart ? projection.parts[i] : projection.parts.front();
    if (!apart && groups.size() > 1)
      part = w.sliceDim(part, 1, group.begin, group.size);
    result.push_back(linearGroup(part, late, alpha, beta, group));
  }
  return result;
}

Coefficients Chain::gates(Projection projection, Value alpha, Value beta) {
  int64_t columns = 0;
  for (const Value &part : projection.parts)
    columns += part.dim(1);
  beta = w.reshape(beta, {columns});
  std::vector<Group> all = groups(columns);
  Values z = linear(projection, alpha, beta, all);
  bool lifted = attr.preEps != 0;
  Coefficients result;
  result.pre = sigmoid(z[0], lifted ? "" : "h_pre");
  if (lifted)
    result.pre = w.as("h_pre").add(result.pre, attr.preEps);
  result.post = sigmoid(z[1]);
  result.res = z[2];
  result.post = w.as("h_post").mul(result.post, attr.postMult);
  if (!how.packCoeffs)
    return result;
  Value packed = w.concat({result.pre, result.post, result.res}, 1);
  return {w.sliceDim(packed, 1, 0, attr.n), w.sliceDim(packed, 1, attr.n, attr.n),
          w.sliceDim(packed, 1, 2 * attr.n, columns - 2 * attr.n)};
}

//===----------------------------------------------------------------------===//
// Coefficients of a site
//===----------------------------------------------------------------------===//

Coefficients Chain::coefficients(Value x, Value phi, Value gamma, Value alpha, Value beta) {
  w.comment("Projection of all streams, and their root mean square");
  Value rows = w.convert(flatRows(x), Element::F32);
  Projection projection = project(rows, phi, gamma, attr.norm, attr.normEps);
  w.comment("Gates");
  Coefficients c = gates(projection, alpha, beta);
  if (attr.res == "none")
    return c;
  if (attr.res == "perm") {
    w.comment("Residual matrix: mixture of permutations");
    c.res = permutationMix(c.res);
  } else {
    w.comment("Residual matrix: Sinkhorn");
    c.res = sinkhorn(w.as("logits").reshape(c.res, {kTokens, attr.n, attr.n}));
  }
  if (attr.foldPre) {
    w.comment("The layer keeps its own residual: take it out of the matrix");
    Value post = across(c.post, c.res.type.dims, {0, 1});
    Value pre = across(c.pre, c.res.type.dims, {0, 2});
    Value folded = w.mul(post, pre);
    c.res = w.as("folded").sub(c.res, folded);
  }
  if (!how.roundCoeffs)
    return c;
  Element storage = x.type.element;
  return {w.convert(c.pre, storage), w.convert(c.post, storage), w.convert(c.res, storage)};
}

//===----------------------------------------------------------------------===//
// Head
//===----------------------------------------------------------------------===//

Value Chain::headGate(Value u, Value alpha, Value beta, double preEps) {
  Values z = linear({{u}, {}}, alpha, beta, {{0, attr.n, 0, "head"}});
  Value gate = sigmoid(z.front());
  return w.as("h_head").add(gate, preEps);
}

Value Chain::head(Value x, Value phi, Value gamma, Value alpha, Value beta, double normEps, double preEps) {
  w.comment("Head: a projection of its own weighs the streams");
  Value rows = w.convert(flatRows(x), Element::F32);
  Projection projection = project(rows, phi, gamma, "inside", normEps);
  Values z = linear(projection, alpha, beta, {{0, attr.n, 0, "head"}});
  Value gate = sigmoid(z.front());
  return aggregate(x, w.as("h_head").add(gate, preEps));
}

} // namespace mhc::spelling
