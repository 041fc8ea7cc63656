//===- Weights.cpp - The weights of a model ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// They start as in Megatron-LM: matrices normal, those whose product is added to the residual smaller by the root of
// the number of sublayers (init_method_normal, scaled_init_method_normal); the projection of the streams by Xavier's
// uniform rule, all alpha at one small value and beta at zero (HyperConnectionModule).
//
//===----------------------------------------------------------------------===//

#include "Weights.h"
#include <cmath>

using namespace mhc;
using namespace mhc::model;
using spelling::Dims;

spelling::Attributes mhc::model::attributesOf(const Config &config) {
  spelling::Attributes attributes = spelling::attributesOf(config.variant);
  attributes.n = config.streams;
  if (config.iterations)
    attributes.iters = config.iterations;
  return attributes;
}

std::string mhc::model::layerPrefix(int64_t layer) { return "decoder.layers." + std::to_string(layer) + "."; }

static Weight normal(std::string name, Dims dims, double deviation) {
  return {std::move(name), std::move(dims), Weight::Normal, deviation};
}

static Weight constant(std::string name, Dims dims, double value) {
  return {std::move(name), std::move(dims), Weight::Constant, value};
}

static void addHyperConnection(const Config &config, const std::string &prefix, std::vector<Weight> &weights) {
  spelling::Attributes attributes = model::attributesOf(config);
  int64_t rows = 2 * config.streams + attributes.residualLogits(), columns = config.streams * config.hidden;
  Dims phi = attributes.phiLayout == "in_out" ? Dims{columns, rows} : Dims{rows, columns};
  double bound = std::sqrt(6.0 / static_cast<double>(rows + columns));
  weights.push_back({prefix + "mapping_proj.weight", phi, Weight::Uniform, bound});
  weights.push_back(constant(prefix + "alpha", {3}, config.gate));
  weights.push_back(constant(prefix + "bias", {rows}, 0));
}

std::vector<Weight> mhc::model::weightsOf(const Config &config) {
  const int64_t C = config.hidden, inner[] = {3 * C, config.ffn}, outer[] = {C, config.ffn};
  const double std = config.initStd, outerStd = std / std::sqrt(2.0 * static_cast<double>(config.layers));
  std::vector<Weight> weights = {normal("embedding.word_embeddings.weight", {config.vocabulary, C}, std),
                                 normal("embedding.position_embeddings.weight", {config.context, C}, std)};
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    std::string prefix = layerPrefix(layer);
    for (int sub = 0; sub < 2; ++sub) {
      if (config.hyperConnections)
        addHyperConnection(config, prefix + kSublayers[sub] + "_hyper_connection.", weights);
      weights.push_back(constant(prefix + kNorms[sub], {C}, 1));
      weights.push_back(normal(prefix + kInner[sub], {inner[sub], C}, std));
      weights.push_back(normal(prefix + kOuter[sub], {C, outer[sub]}, outerStd));
    }
  }
  weights.push_back(constant("decoder.final_layernorm.weight", {C}, 1));
  return weights;
}
