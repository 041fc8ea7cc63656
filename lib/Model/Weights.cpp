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
#include <numeric>

using namespace mhc;
using namespace mhc::model;
using spelling::Dims;
using spelling::Type;

spelling::Attributes mhc::model::attributesOf(const Config &config) {
  spelling::Attributes attributes = spelling::attributesOf(config.variant);
  attributes.n = config.streams;
  if (config.iterations)
    attributes.iters = config.iterations;
  if (config.newton)
    attributes.solver = "newton";
  return attributes;
}

static spelling::GatedDelta wholeGatedDelta(const Config &config) {
  spelling::GatedDelta sizes;
  sizes.keyHeads = config.deltaKeyHeads, sizes.valueHeads = config.deltaValueHeads;
  sizes.keyDim = config.deltaKeyDim, sizes.valueDim = config.deltaValueDim;
  sizes.width = config.deltaWidth;
  sizes.tokenFirst = false;
  return sizes;
}

spelling::GatedDelta mhc::model::gatedDeltaOf(const Config &config) {
  spelling::GatedDelta sizes = wholeGatedDelta(config);
  sizes.keyHeads /= config.tensorRanks, sizes.valueHeads /= config.tensorRanks;
  return sizes;
}

Type Weight::type(const Config &config) const {
  Type share = wholeType();
  if (isSplit(config))
    share.dims[splitDim] /= config.tensorRanks;
  return share;
}

std::string Weight::splitText(const Config &config) const {
  if (!isSplit(config))
    return "";
  std::string text = "mhc.split = array<i64: " + std::to_string(splitDim);
  for (int64_t part : parts)
    text += ", " + std::to_string(part / config.tensorRanks);
  return text + ">";
}

std::string mhc::model::layerPrefix(int64_t layer) { return "decoder.layers." + std::to_string(layer) + "."; }

std::string mhc::model::predictionPrefix(int64_t index) { return "mtp.layers." + std::to_string(index) + "."; }

static Weight normal(std::string name, Dims dims, double deviation) {
  return {std::move(name), std::move(dims), Weight::Normal, deviation, -1, {}};
}

static Weight constant(std::string name, Dims dims, double value) {
  return {std::move(name), std::move(dims), Weight::Constant, value, -1, {}};
}

/// Tensor-parallel ranks divide one dimension.
static Weight split(Weight weight, int64_t dim, Dims parts) {
  weight.splitDim = dim;
  weight.parts = std::move(parts);
  return weight;
}

static void addHyperConnection(const Config &config, const std::string &prefix, std::vector<Weight> &weights) {
  spelling::Attributes attributes = model::attributesOf(config);
  int64_t rows = 2 * config.streams + attributes.residualLogits(), columns = config.streams * config.hidden;
  Dims phi = attributes.phiLayout == "in_out" ? Dims{columns, rows} : Dims{rows, columns};
  double bound = std::sqrt(6.0 / static_cast<double>(rows + columns));
  weights.push_back({prefix + "mapping_proj.weight", phi, Weight::Uniform, bound, -1, {}});
  weights.push_back(constant(prefix + "alpha", {3}, config.gate));
  weights.push_back(constant(prefix + "bias", {rows}, 0));
}

/// As in Qwen3-Next, but that all heads forget alike at the start: by a factor of exp(-0.08) a token.
static void addGatedDelta(const Config &config, const std::string &prefix, std::vector<Weight> &weights) {
  const spelling::GatedDelta sizes = wholeGatedDelta(config);
  const double bound = 1 / std::sqrt(static_cast<double>(sizes.width));
  const int64_t keys = sizes.keyChannels(), values = sizes.valueChannels(), heads = sizes.valueHeads;
  weights.push_back(split({prefix + "conv1d.weight", {sizes.convolved(), sizes.width}, Weight::Uniform, bound, -1, {}},
                          0, {keys, keys, values}));
  weights.push_back(split(constant(prefix + "A_log", {heads}, 2), 0, {heads}));
  weights.push_back(split(constant(prefix + "dt_bias", {heads}, -4.6), 0, {heads}));
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
      {prefix + "head.fn", isTransposed ? Dims{columns, rows} : Dims{rows, columns}, Weight::Uniform, bound, -1, {}});
  weights.push_back(constant(prefix + "head.base", {rows}, 0));
  weights.push_back(constant(prefix + "head.scale", {1}, config.gate));
}

/// The parts of the channels between the two matrices of a sublayer: of the first one's rows.
static Dims innerParts(const Config &config, Sublayer sublayer) {
  const spelling::GatedDelta delta = wholeGatedDelta(config);
  const int64_t keys = config.queryGroups * (config.hidden / config.heads);
  switch (sublayer) {
  case Sublayer::Attention:
    return {config.hidden, keys, keys};
  case Sublayer::GatedDelta:
    return {delta.keyChannels(),   delta.keyChannels(), delta.valueChannels(),
            delta.valueChannels(), delta.valueHeads,    delta.valueHeads};
  case Sublayer::Mlp: // ranks have channels of each expert
    return Dims(std::max<int64_t>(config.experts, 1), config.ffn);
  }
  return {};
}

/// The same of the second one's columns.
static Dims outerParts(const Config &config, Sublayer sublayer) {
  if (sublayer == Sublayer::Mlp)
    return innerParts(config, sublayer);
  return {sublayer == Sublayer::Attention ? config.hidden : wholeGatedDelta(config).valueChannels()};
}

static void addSublayer(const Config &config, const std::string &prefix, Sublayer sublayer,
                        std::vector<Weight> &weights) {
  const SublayerNames &names = namesOf(sublayer);
  const int64_t C = config.hidden;
  const Dims inner = innerParts(config, sublayer), outer = outerParts(config, sublayer);
  auto sum = [](const Dims &dims) { return std::accumulate(dims.begin(), dims.end(), int64_t(0)); };
  const double outerStd = config.initStd / std::sqrt(2.0 * static_cast<double>(config.layers));
  if (config.hyperConnections)
    addHyperConnection(config, prefix + names.site + "_hyper_connection.", weights);
  weights.push_back(constant(prefix + names.norm, {C}, 1));
  if (sublayer == Sublayer::Mlp && config.experts)
    weights.push_back(normal(prefix + names.site + ".router.weight", {config.experts, C}, config.initStd));
  weights.push_back(split(normal(prefix + names.inner, {sum(inner), C}, config.initStd), 0, inner));
  if (sublayer == Sublayer::GatedDelta)
    addGatedDelta(config, prefix + names.site + ".", weights);
  weights.push_back(split(normal(prefix + names.outer, {C, sum(outer)}, outerStd), 1, outer));
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
  const int64_t V = config.vocabulary;
  std::vector<Weight> weights = {split(normal("embedding.word_embeddings.weight", {V, C}, config.initStd), 0, {V}),
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
