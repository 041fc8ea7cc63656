//===- Projection.cpp - Projection and root mean square, spelled out ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "mhc/Spelling/Chain.h"

#include <cmath>

namespace mhc::spelling {

//===----------------------------------------------------------------------===//
// Small algebra
//===----------------------------------------------------------------------===//

Value Chain::reduce(const std::string &kind, Value operand, int64_t dim) {
  Value reduced = w.as(kind).reduce(kind, operand, {dim});
  if (!how.keepDims)
    return reduced;
  Dims shape = operand.type.dims;
  shape[dim] = 1;
  return w.reshape(reduced, shape);
}

Value Chain::over(Value reduced, Value like, int64_t dim) {
  Dims dims;
  for (int64_t i = 0; i < like.rank(); ++i)
    if (i != dim || reduced.rank() == like.rank())
      dims.push_back(i);
  return w.broadcast(reduced, like.type.dims, dims);
}

Value Chain::across(Value operand, const Dims &shape, const Dims &dims) {
  if (!how.keepDims)
    return w.broadcast(operand, shape, dims);
  Dims units(shape.size(), 1), all;
  for (size_t i = 0; i < dims.size(); ++i)
    units[dims[i]] = operand.dim(i);
  for (size_t i = 0; i < shape.size(); ++i)
    all.push_back(i);
  return w.broadcast(w.reshape(operand, units), shape, all);
}

Value Chain::element(Value vector, int64_t index, const Dims &shape) {
  return w.broadcast(w.slice(vector, {index}, {1}, /*drop=*/{0}), shape, {});
}

Value Chain::flatRows(Value x) { return x.rank() == 2 ? x : w.as("x_flat").reshape(x, {kTokens, x.dim(1) * x.dim(2)}); }

Dims Chain::streamsShape(int64_t channels) const {
  return attr.streamsInner() ? Dims{kTokens, channels, attr.n} : Dims{kTokens, attr.n, channels};
}

Value Chain::matrix(Value x) {
  return x.rank() == 3 ? x : w.as("x_streams").reshape(x, streamsShape(x.dim(1) / attr.n));
}

Value Chain::fromMatrix(Value x) { return attr.flat() ? flatRows(x) : x; }

//===----------------------------------------------------------------------===//
// Root mean square
//===----------------------------------------------------------------------===//

Value Chain::meanSquare(Value rows) {
  Value square = w.as("square").mul(rows, rows);
  if (!how.meanAsSum)
    return reduce("mean", square, 1);
  Value sum = reduce("sum", square, 1);
  return w.as("mean").div(sum, static_cast<double>(rows.dim(1)));
}

/// A norm over sqrt(K) has no place for an epsilon inside the root.
static Spelling::Root rootForm(const Spelling &how, const std::string &norm, double eps) {
  bool impossible = how.root == Spelling::Root::Norm && norm == "inside" && eps != 0;
  return impossible ? Spelling::Root::Rsqrt : how.root;
}

RowScale Chain::root(Value rows, const std::string &norm, double eps) {
  Spelling::Root form = rootForm(how, norm, eps);
  bool inside = norm == "inside";
  auto bounded = [&](Value rms) { return norm == "clamp" ? w.max(rms, eps) : w.add(rms, eps); };
  if (form == Spelling::Root::Norm) {
    Value square = w.as("square").mul(rows, rows);
    Value sum = reduce("sum", square, 1);
    Value norm2 = w.as("norm2").unary("math.sqrt", sum);
    Value rms = w.as("rms").div(norm2, std::sqrt(static_cast<double>(rows.dim(1))));
    return {inside ? rms : bounded(rms), /*divide=*/true};
  }
  Value value = meanSquare(rows);
  if (norm == "clamp" && form == Spelling::Root::Rsqrt)
    return {w.as("inv_rms").unary("math.rsqrt", w.max(value, eps * eps)), /*divide=*/false};
  if (!inside)
    return {bounded(w.as("rms").unary("math.sqrt", value)), /*divide=*/true};
  if (eps != 0)
    value = w.add(value, eps);
  if (form == Spelling::Root::Rsqrt)
    return {w.as("inv_rms").unary("math.rsqrt", value), /*divide=*/false};
  return {w.as("rms").unary("math.sqrt", value), /*divide=*/true};
}

static Value invert(IrWriter &w, Value root) {
  Value one = w.splat(1.0, root.type);
  return w.as("inv_rms").div(one, root);
}

RowScale Chain::asSpelled(RowScale root) { return root.divide && !how.divide ? RowScale{invert(w, root.value)} : root; }

Value Chain::inverseRms(Value rows, const std::string &norm, double eps) {
  RowScale scale = root(rows, norm, eps);
  return scale.divide ? invert(w, scale.value) : scale.value;
}

RowScale Chain::scaleOf(Value meanSquare) {
  Value shifted = w.add(meanSquare, attr.normEps);
  if (how.root == Spelling::Root::Rsqrt)
    return {w.as("inv_rms").unary("math.rsqrt", shifted)};
  return asSpelled({w.as("rms").unary("math.sqrt", shifted), /*divide=*/true});
}

Value Chain::scaleRows(Value rows, RowScale scale) {
  if (!scale.value)
    return rows;
  Value spread = over(scale.value, rows, 1);
  return scale.divide ? w.div(rows, spread) : w.mul(spread, rows);
}

//===----------------------------------------------------------------------===//
// Projection
//===----------------------------------------------------------------------===//

Value Chain::foldGamma(Value phi, Value gamma) {
  if (!gamma)
    return phi;
  Value spread = w.broadcast(gamma, phi.type.dims, {attr.phiLayout == "in_out" ? 0 : 1});
  return w.as("phi_gamma").mul(phi, spread);
}

static Value rowsTimesPhi(IrWriter &w, Value rows, Value phi, bool inOut, bool transpose) {
  if (inOut)
    return w.as("proj").matmul(rows, phi);
  if (!transpose)
    return w.as("proj").matmul(rows, phi, /*transposeRhs=*/true);
  Value columns = w.as("phi_t").transpose(phi, {1, 0});
  return w.as("proj").matmul(rows, columns);
}

Value Chain::rawProjection(Value rows, Value phi, Value gamma) {
  return rowsTimesPhi(w, rows, foldGamma(phi, gamma), attr.phiLayout == "in_out", how.transposePhi);
}

/// Each element of the vector that is added behind the norm.
constexpr double kShift = 0.5;

Projection Chain::project(Value rows, Value phi, Value gamma, const std::string &norm, double eps) {
  Projection result;
  Value scaled = rows;
  bool byOp = how.scale == Spelling::Scale::RmsNormOp && norm == "inside";
  if (byOp) {
    scaled = w.as("x_norm").rmsNorm(rows, gamma, eps);
    gamma = Value();
  } else if (how.scale == Spelling::Scale::Input) {
    scaled = scaleRows(rows, asSpelled(root(rows, norm, eps)));
  }
  if (gamma && how.gammaOnInput) {
    Value weight = across(gamma, scaled.type.dims, {1});
    scaled = w.as("x_weighted").mul(scaled, weight);
    gamma = Value();
  }
  bool later = !byOp && how.scale != Spelling::Scale::Input;
  bool isShifted = how.shiftBehindNorm && !later && norm != "none";
  if (isShifted)
    scaled = w.as("x_shifted").add(scaled, kShift);
  std::vector<Value> weights{phi};
  int64_t axis = attr.phiLayout == "in_out" ? 1 : 0;
  if (how.splitPhi && phi.dim(axis) > 2 * attr.n) {
    weights.clear();
    for (const Group &group : groups(phi.dim(axis)))
      weights.push_back(w.sliceDim(phi, axis, group.begin, group.size));
  }
  for (const Value &weight : weights) {
    Value part = rawProjection(scaled, weight, gamma);
    if (isShifted) {
      Value sums = w.as("phi_sums").reduce("sum", foldGamma(weight, gamma), {1 - axis});
      part = w.sub(part, w.broadcast(w.mul(sums, kShift), part.type.dims, {1}));
    }
    result.parts.push_back(part);
  }
  if (later)
    result.scale = asSpelled(root(rows, norm, eps));
  return result;
}

} // namespace mhc::spelling
