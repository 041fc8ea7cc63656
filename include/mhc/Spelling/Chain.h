//===- Chain.h - The mHC chain as unfused IR ------------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the parts of an mHC model into an IrWriter: what the attributes ask for, in the words of a spelling. Streams
// keep the layout of the attributes ([M, n*C], [M, n, C], [M, C, n] or [M, C*n]); coefficients are [M, n] and [M, n,
// n].
//
//===----------------------------------------------------------------------===//
#ifndef MHC_SPELLING_CHAIN_H
#define MHC_SPELLING_CHAIN_H

#include "mhc/Spelling/IrWriter.h"
#include "mhc/Spelling/Spelling.h"

namespace mhc::spelling {

/// Multiplier or divisor of a row: [M] or [M, 1].
struct RowScale {
  Value value;
  bool divide = false;
};

/// One projection, or one per group of phi's rows, and what scales it later, if anything.
struct Projection {
  Values parts;
  RowScale scale;
};

struct Coefficients {
  Value pre, post, res;
};

class Chain {
public:
  Chain(IrWriter &writer, const Attributes &attributes, const Spelling &spelling)
      : w(writer), attr(attributes), how(spelling) {}

  //===--- Model entry and exit -------------------------------------------===//
  Value expand(Value x);
  Value contract(Value x, const std::string &mode);
  Value head(Value x, Value phi, Value gamma, Value alpha, Value beta, double normEps, double preEps);
  Value headGate(Value u, Value alpha, Value beta, double preEps);

  //===--- Coefficients ---------------------------------------------------===//
  /// x @ phi^T and the statistic of x, joined as the spelling says. `rows` are f32.
  Projection project(Value rows, Value phi, Value gamma, const std::string &norm, double eps);
  /// x @ phi^T as it is.
  Value rawProjection(Value rows, Value phi, Value gamma);
  /// mean(x^2) over the channels of all streams.
  Value meanSquare(Value rows);
  /// 1 / rms.
  Value inverseRms(Value rows, const std::string &norm, double eps);
  /// Scale of a projection whose rows have this mean square.
  RowScale scaleOf(Value meanSquare);
  Value scaleRows(Value rows, RowScale scale);
  /// Gates from a projection and its statistic; `res` holds logits [M, n*n or n!].
  Coefficients gates(Projection projection, Value alpha, Value beta);
  Value sinkhorn(Value logits);
  Value permutationMix(Value logits);
  Coefficients coefficients(Value x, Value phi, Value gamma, Value alpha, Value beta);

  //===--- Streams --------------------------------------------------------===//
  Value aggregate(Value x, Value pre);
  /// With `keep`, that mask drops from what is added to the streams; without, numbers that are drawn.
  Value post(Value x, Value f, Value bias, Value postGate, Value res, Value keep);
  /// The residual matrix times the streams, [M, n, C] or [M, C, n].
  Value mix(Value x, Value res);
  /// gate (outer) f, in the shape of the streams.
  Value spread(Value f, Value gate);
  /// The stand-in for attention or MLP: tanh(u @ w^T), or an RMS norm with weight.
  Value sublayer(Value u, Value weight);

  //===--- Small algebra --------------------------------------------------===//
  Value sigmoid(Value z, const std::string &name = "");
  Value softmax(Value logits, int64_t dim);
  /// exp(logits - their maximum along dim), and that maximum.
  Value shiftedExp(Value logits, int64_t dim, Value &shift);
  /// A reduction of one dimension; a unit remains of it when the spelling keeps dimensions.
  Value reduce(const std::string &kind, Value operand, int64_t dim);
  /// A reduction of `like` along `dim`, broadcast over it.
  Value over(Value reduced, Value like, int64_t dim);
  /// Broadcast, through unit dimensions when the spelling keeps dimensions.
  Value across(Value operand, const Dims &shape, const Dims &dims);
  /// One number of a vector, over a whole shape.
  Value element(Value vector, int64_t index, const Dims &shape);

  /// Streams as rows of channels: [M, n*C] or [M, C*n].
  Value flatRows(Value x);
  /// Streams as a matrix: [M, n, C] or [M, C, n].
  Value matrix(Value x);
  /// A matrix of streams in the layout of the attributes.
  Value fromMatrix(Value x);

private:
  /// Columns [begin, begin + size) of the projection and the alpha they share.
  struct Group {
    int64_t begin, size, alpha;
    const char *name;
  };

  /// The root of the mean square to divide by; its inverse to multiply with where rsqrt makes one.
  RowScale root(Value rows, const std::string &norm, double eps);
  RowScale asSpelled(RowScale root);
  Value foldGamma(Value phi, Value gamma);
  std::vector<Group> groups(int64_t columns) const;
  Values linear(Projection projection, Value alpha, Value beta, const std::vector<Group> &groups);
  Value alphaVector(Value alpha, const std::vector<Group> &groups);
  Value linearVector(Projection projection, Value alpha, Value beta, const std::vector<Group> &groups);
  Value linearGroup(Value part, RowScale scale, Value alpha, Value beta, const Group &group);
  /// The matrix that the steps start from, and are behind the first one for softmax_eps.
  Value sinkhornStart(Value logits);
  Value sinkhornLinear(Value logits);
  /// u K v with u = 1 / (K v + eps) and v = 1 / (K^T u + eps) in turn.
  Value sinkhornScaling(Value logits);
  Value sinkhornLog(Value logits);
  Value sinkhornPotentials(Value logits);
  Value sinkhornStep(Value mix, int64_t dim);
  Value logSumExp(Value logits, int64_t dim);
  Values repeat(int64_t iterations, Values start, const std::function<Values(Values)> &iteration);
  Value stream(Value x, int64_t index);
  Value mixMulReduce(Value x, Value res);
  Value mixStreams(Value x, Value res);
  Value dropBranch(Value branch);
  Value stackedSum(Value a, Value b);
  Dims streamsShape(int64_t channels) const;
  int64_t streamAxis() const { return attr.streamsInner() ? 2 : 1; }
  int64_t channelAxis() const { return attr.streamsInner() ? 1 : 2; }

  IrWriter &w;
  const Attributes &attr;
  const Spelling &how;
  int64_t dropouts = 0;
};

} // namespace mhc::spelling

#endif // MHC_SPELLING_CHAIN_H
