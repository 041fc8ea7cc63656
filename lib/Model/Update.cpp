//===- Update.cpp - Weights at the start and after a step ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Functions.h"
#include "Weights.h"
#include "mhc/Model/Model.h"
#include <cmath>

using namespace mhc;
using namespace mhc::model;
using namespace mhc::spelling;

static Value startOf(IrWriter &w, const Weight &weight, Value seed, int64_t stream) {
  if (weight.start == Weight::Constant)
    return w.splat(weight.value, weight.wholeType());
  int64_t count = 1;
  for (int64_t dim : weight.dims)
    count *= dim;
  if (weight.start == Weight::Normal)
    return w.reshape(w.mul(w.random(seed, "normal", stream, count), weight.value), weight.dims);
  Value centred = w.add(w.random(seed, "uniform", stream, count), -0.5);
  return w.reshape(w.mul(centred, 2 * weight.value), weight.dims);
}

std::string mhc::model::writeInit(const Config &config) {
  IrWriter w;
  Value seed = w.argument("seed", {{2}, Element::I64});
  int64_t stream = 0;
  for (const Weight &weight : weightsOf(config))
    w.result(weight.name, startOf(w, weight, seed, stream++));
  return w.finish("init");
}

std::string mhc::model::writeGradientSquares(const Config &config) {
  IrWriter w;
  for (const Weight &weight : weightsOf(config)) {
    Value g = w.argument("d_" + weight.name, weight.type(config), weight.splitText(config));
    Dims all;
    for (int64_t dim = 0; dim < g.rank(); ++dim)
      all.push_back(dim);
    w.result("square_" + weight.name, w.reduce("sum", w.mul(g, g), all));
  }
  return w.finish("gradient_squares");
}

namespace {
/// AdamW of Loshchilov and Hutter, with the moments corrected for their start at zero.
class AdamWriter {
public:
  explicit AdamWriter(const Config &config) : config(config) {}

  std::string write() {
    Value step = w.argument("step", kScalar);
    rate = w.argument("learning_rate", kScalar);
    firstScale = correction(step, config.beta1);
    secondScale = correction(step, config.beta2);
    for (const Weight &weight : weightsOf(config))
      update(weight);
    return w.finish("update");
  }

private:
  /// 1 - beta^step.
  Value correction(Value step, double beta) {
    if (beta == 0)
      return w.splat(1, kScalar);
    Value power = w.unary("math.exp", w.mul(step, std::log(beta)));
    return w.sub(w.splat(1, kScalar), power);
  }

  /// beta * old + (1 - beta) * share.
  Value average(Value old, Value share, double beta) { return w.add(w.mul(old, beta), w.mul(share, 1 - beta)); }

  void update(const Weight &weight) {
    const std::string &name = weight.name;
    auto argument = [&](const std::string &prefix) {
      return w.argument(prefix + name, weight.type(config), weight.splitText(config));
    };
    auto everywhere = [&](Value scalar) { return w.broadcast(scalar, weight.type(config).dims, {}); };
    Value x = argument(""), g = argument("d_"), m = argument("m_"), v = argument("v_");
    m = average(m, g, config.beta1);
    v = average(v, w.mul(g, g), config.beta2);
    Value root = w.unary("math.sqrt", w.div(v, everywhere(secondScale)));
    Value change = w.div(w.div(m, everywhere(firstScale)), w.add(root, config.adamEps));
    if (weight.decays() && config.weightDecay != 0)
      change = w.add(change, w.mul(x, config.weightDecay));
    w.result(name, w.sub(x, w.mul(everywhere(rate), change)));
    w.result("m_" + name, m);
    w.result("v_" + name, v);
  }

  const Type kScalar = {{}, Element::F32};
  const Config &config;
  IrWriter w;
  Value rate, firstScale, secondScale;
};
} // namespace

std::string mhc::model::writeUpdate(const Config &config) { return AdamWriter(config).write(); }
