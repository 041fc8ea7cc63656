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
  if (config.newton)
    attributes.solver = "newton";
  return attributes;
}

spelling::GatedDelta mhc::model::gatedDeltaOf(const Config &config) {
  spelling::GatedDelta sizes;
  sizes.keyHeads = config.deltaKeyHeads, sizes.valueHeads = config.deltaValueHeads;
  sizes.keyDim = config.deltaKeyDim, sizes.valueDim = config.deltaValueDim;
  sizes.width = config.deltaWidth;
  sizes.tokenFirst = false;
  return sizes;
}

std::string mhc::model::layerPrefix(int64_t layer) { return "decoder.layers." + std::to_string(layer) + "."; }

std::string mhc::model::predictionPrefix(int64_t index) { return "mtp.layers." + std::to_string(index) + "."; }

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

/// As in Qwen3-Next, but that all heads forget alike at the start: by a factor of exp(-0.08) a token.
static void addGatedDelta(const Config &config, const std::string &prefix, std::vector<Weight> &weights) {
  const spelling::GatedDelta sizes = gatedDeltaOf(config);
  const double bound = 1 / std::sqrt(static_cast<double>(sizes.width));
  weights.push_back({prefix + "conv1d.weight", {sizes.convolved(), sizes.width}, Weight::Uniform, bound});
  weights.push_back(constant(prefix + "A_log", {sizes.valueHeads}, 2));
  weights.push_back(constant(prefix + "dt_bias", {sizes.valueHeads}, -4.6));
  weights.push_back(constant(prefix + "out_norm.weight", {sizes.valueDim}, 1));
}

/// Makes one stream of many, by the names of checkpoints: a projection, its bias and its scale.
static void addHead(const Config &config, const std::string &prefix, std::vector<Weight> &weights) {
  if (!config.hyperConnections || !config.learnedHead)
    return;
  const int64_t rows = config.streams, columns = config.streams * config.hidden;
  const bool isTransposed = model::attributesOf(config).phiLayout == "in_out";
  const double bound = std::sqrt(6.0 / static_cast<double>(rows + columns));
  weights.push_back(
      {prefix + "head.fn", isTransposed ? Dims{columns, rows} : Dims{rows, columns}, Weight::Uniform, bound});
  weights.push_back(constant(prefix + "head.base", {rows}, 0));
  weights.push_back(constant(prefix + "head.scale", {1}, config.gate));
}

static void addSublayer(const Config &config, const std::string &prefix, Sublayer sublayer,
                        std::vector<Weight> &weights) {
  const spelling::GatedDelta delta = gatedDeltaOf(config);
  const SublayerNames &names = namesOf(sublayer);
  const int64_t C = config.hidden, kind = static_cast<int64_t>(sublayer);
  const int64_t ffn = std::max<int64_t>(config.experts, 1) * config.ffn;
  const int64_t inner[] = {C + 2 * config.queryGroups * (C / config.heads), delta.channels(), ffn};
  const int64_t outer[] = {C, delta.valueChannels(), ffn};
  const double outerStd = config.initStd / std::sqrt(2.0 * static_cast<double>(config.layers));
  if (config.hyperConnections)
    addHyperConnection(config, prefix + names.site + "_hyper_connection.", weights);
  weights.push_back(constant(prefix + names.norm, {C}, 1));
  if (sublayer == Sublayer::Mlp && config.experts)
    weights.push_back(normal(prefix + names.site + ".router.weight", {config.experts, C}, config.initStd));
  weights.push_back(normal(prefix + names.inner, {inner[kind], C}, config.initStd));
  if (sublayer == Sublayer::GatedDelta)
    addGatedDelta(config, prefix + names.site + ".", weights);
  weights.push_back(normal(prefix + names.outer, {C, outer[kind]}, outerStd));
}

static void addPrediction(const Config &config, const std::string &prefix, std::vector<Weight> &weights) {
  const int64_t C = config.hidden;
  weights.push_back(constant(prefix + "enorm.weight", {C}, 1));
  weights.push_back(constant(prefix + "hnorm.weight", {C}, 1));
  weights.push_back(normal(prefix + "eh_proj.weight", {C, 2 * C}, config.initStd));
  for (Sublayer sublayer : predictionSublayers())
    addSublayer(config, prefix + "transformer_layer.", sublayer, weights);
  addHead(config, prefix, weights);
  weights.push_back(constant(prefix + "final_layernorm.weight", {C}, 1));
}

std::vector<Weight> mhc::model::weightsOf(const Config &config) {
  const int64_t C = config.hidden;
  std::vector<Weight> weights = {normal("embedding.word_embeddings.weight", {config.vocabulary, C}, config.initStd),
                                 normal("embedding.position_embeddings.weight", {config.context, C}, config.initStd)};
  for (int64_t layer = 0; layer < config.layers; ++layer)
    for (Sublayer sublayer : sublayersOf(config, layer))
      addSublayer(config, layerPrefix(layer), sublayer, weights);
  addHead(config, "decoder.", weights);
  weights.push_back(constant("decoder.final_layernorm.weight", {C}, 1));
  for (int64_t index = 0; index < config.predictions; ++index)
    addPrediction(config, predictionPrefix(index), weights);
  return weights;
}
