//===- Loss.cpp - The forward pass of a GPT as unfused IR ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeltaRule.h"
#include "Functions.h"
#include "Weights.h"
#include "mhc/Spelling/Chain.h"
#include <cmath>

using namespace mhc;
using namespace mhc::model;
using namespace mhc::spelling;

namespace {
class LossWriter {
public:
  explicit LossWriter(const Config &config)
      : config(config), attributes(model::attributesOf(config)), how(spellingOf(config.variant, known)),
        w(config.batch * config.context), chain(w, attributes, how), M(config.batch * config.context), C(config.hidden),
        activation(config.bf16 ? Element::BF16 : Element::F32) {}

  std::string write();

private:
  Value weight(const std::string &name) const { return weights.at(name); }
  /// A weight in the type of the activations.
  Value cast(const std::string &name) { return w.convert(weight(name), activation); }

  Value embed(Value tokens);
  Value drop(Value x) { return config.dropout == 0 ? x : w.dropout(x, seed, config.dropout, dropouts++); }
  Value layer(Value x, int64_t index);
  Value site(Value streams, const std::string &prefix, Sublayer kind);
  Value sublayer(Value u, const std::string &prefix, Sublayer kind);
  Value middle(Value inner, const std::string &prefix, Sublayer kind);
  Value attention(Value qkv);
  Value gatedDelta(Value qkvzba, const std::string &prefix);
  Value heads(Value qkv, int64_t part);
  Value causal(Value scores);
  Value crossEntropy(Value logits, Value targets);
  Value norm(Value x, const std::string &name) { return w.as("normed").rmsNorm(x, cast(name), kNormEps); }

  static constexpr double kNormEps = 1e-5;

  const Config &config;
  bool known = false;
  Attributes attributes;
  Spelling how;
  IrWriter w;
  Chain chain;
  int64_t M, C;
  Element activation;
  std::map<std::string, Value> weights;
  Value seed;
  int64_t dropouts = 0;
};
} // namespace

std::string LossWriter::write() {
  if (config.hyperConnections && !config.recompute.empty())
    w.functionAttribute("mhc.recompute_mode", config.recompute);
  if (!config.gdnImpl.empty())
    w.functionAttribute("mhc.gdn_impl", config.gdnImpl);
  Dims shape{config.batch, config.context};
  Value tokens = w.argument("tokens", {shape, Element::I32}), targets = w.argument("targets", {shape, Element::I32});
  if (config.dropout != 0)
    seed = w.argument("seed", {{2}, Element::I64});
  for (const Weight &one : weightsOf(config))
    weights[one.name] = w.argument(one.name, one.type());
  Value x = embed(w.reshape(tokens, {M}));
  if (config.hyperConnections) {
    w.comment("One stream becomes n");
    x = chain.expand(x);
  }
  for (int64_t index = 0; index < config.layers; ++index)
    x = layer(x, index);
  w.comment("The streams become one, and logits");
  if (config.hyperConnections)
    x = chain.contract(x, "mean");
  x = norm(x, "decoder.final_layernorm.weight");
  Value table = cast("embedding.word_embeddings.weight");
  Value logits = w.as("logits").matmul(x, table, /*transposeRhs=*/true);
  w.result("loss", crossEntropy(w.convert(logits, Element::F32), w.reshape(targets, {M})));
  return w.finish("loss");
}

Value LossWriter::embed(Value tokens) {
  w.comment("Embedding of tokens and places");
  Value rows = w.take(cast("embedding.word_embeddings.weight"), tokens);
  Value places = cast("embedding.position_embeddings.weight");
  Value all = w.broadcast(places, {config.batch, config.context, C}, {1, 2});
  return drop(w.as("embedded").add(rows, w.reshape(all, {M, C})));
}

Value LossWriter::layer(Value x, int64_t index) {
  std::string prefix = layerPrefix(index);
  for (Sublayer kind : sublayersOf(config, index)) {
    if (config.hyperConnections) {
      x = site(x, prefix, kind);
      continue;
    }
    w.comment(prefix + namesOf(kind).site);
    Value f = drop(sublayer(x, prefix, kind));
    x = w.add(x, f);
  }
  return x;
}

/// One sublayer between its reading and its writing of the streams.
Value LossWriter::site(Value streams, const std::string &prefix, Sublayer kind) {
  std::string connection = prefix + namesOf(kind).site + "_hyper_connection.";
  Coefficients c = chain.coefficients(streams, weight(connection + "mapping_proj.weight"), Value(),
                                      weight(connection + "alpha"), weight(connection + "bias"));
  w.comment(prefix + namesOf(kind).site);
  Value u = chain.aggregate(streams, c.pre);
  Value f = drop(sublayer(u, prefix, kind));
  return chain.post(streams, f, Value(), c.post, c.res, Value());
}

Value LossWriter::sublayer(Value u, const std::string &prefix, Sublayer kind) {
  const SublayerNames &names = namesOf(kind);
  Value normed = norm(u, prefix + names.norm);
  Value inner = w.matmul(normed, cast(prefix + names.inner), /*transposeRhs=*/true);
  Value outer = middle(inner, prefix + names.site + ".", kind);
  return w.as("f").matmul(outer, cast(prefix + names.outer), /*transposeRhs=*/true);
}

Value LossWriter::middle(Value inner, const std::string &prefix, Sublayer kind) {
  switch (kind) {
  case Sublayer::Attention:
    return attention(inner);
  case Sublayer::GatedDelta:
    return gatedDelta(inner, prefix);
  case Sublayer::Mlp:
    return w.unary("mhc.silu", inner);
  }
  return {};
}

/// The recurrence, and its output normed for each head and gated.
Value LossWriter::gatedDelta(Value qkvzba, const std::string &prefix) {
  const GatedDelta sizes = gatedDeltaOf(config);
  Value tokens = w.reshape(qkvzba, {config.batch, config.context, sizes.channels()});
  GatedDeltaOutputs in = writeGatedDelta(w, sizes,
                                         {tokens, cast(prefix + "conv1d.weight"), Value(), weight(prefix + "A_log"),
                                          weight(prefix + "dt_bias"), Value(), Value()});
  w.comment("The gated delta rule");
  Value out = w.convert(writeDeltaRule(w, in), activation);
  Value normed = norm(out, prefix + "out_norm.weight");
  return w.reshape(w.mul(normed, w.unary("mhc.silu", in.gate)), {M, sizes.valueChannels()});
}

/// Part 0, 1 or 2 of queries, keys and values: [B*H, T, D].
Value LossWriter::heads(Value qkv, int64_t part) {
  int64_t B = config.batch, T = config.context, H = config.heads, D = C / H;
  Value rows = w.reshape(w.sliceDim(qkv, 1, part * C, C), {B, T, H, D});
  return w.reshape(w.transpose(rows, {0, 2, 1, 3}), {B * H, T, D});
}

Value LossWriter::attention(Value qkv) {
  int64_t B = config.batch, T = config.context, H = config.heads, D = C / H;
  Value q = heads(qkv, 0), k = heads(qkv, 1), v = heads(qkv, 2);
  Value products = w.convert(w.batchMatmul(q, k, /*transposeLhs=*/false, /*transposeRhs=*/true), Element::F32);
  Value scores = w.as("scores").mul(products, 1 / std::sqrt(static_cast<double>(D)));
  Value shares = w.softmax(causal(scores), 2);
  Value rows = w.batchMatmul(w.convert(shares, activation), v);
  return w.reshape(w.transpose(w.reshape(rows, {B, H, T, D}), {0, 2, 1, 3}), {M, C});
}

/// A token sees itself and those before it.
Value LossWriter::causal(Value scores) {
  constexpr double kHidden = -1e30; // a number, so that no difference is NaN
  Value places = w.iota(config.context);
  Value seen = w.broadcast(places, scores.type.dims, {2}), self = w.broadcast(places, scores.type.dims, {1});
  return w.select(w.compare("sle", seen, self), scores, w.splat(kHidden, scores.type));
}

/// The mean over tokens of log(sum exp(logits)) minus the logit of the target.
Value LossWriter::crossEntropy(Value logits, Value targets) {
  w.comment("Cross-entropy");
  Value max = w.reduce("max", logits, {1});
  Value shifted = w.sub(logits, w.broadcast(max, logits.type.dims, {0}));
  Value log = w.unary("math.log", w.reduce("sum", w.unary("math.exp", shifted), {1}));
  Value number = w.broadcast(w.iota(config.vocabulary), logits.type.dims, {1});
  Value isTarget = w.compare("eq", number, w.broadcast(targets, logits.type.dims, {0}));
  Value hit = w.reduce("sum", w.select(isTarget, shifted, w.splat(0, logits.type)), {1});
  return w.as("loss").reduce("mean", w.sub(log, hit), {0});
}

std::string mhc::model::writeLoss(const Config &config) { return LossWriter(config).write(); }
