//===- Loss.cpp - The forward pass of a GPT as unfused IR ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeltaRule.h"
#include "Experts.h"
#include "Functions.h"
#include "Weights.h"
#include "mhc/Model/Model.h"
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
        ranks(config.tensorRanks), divides(config.batch % ranks != 0),
        rows(divides ? config.batch : config.batch / ranks), length(divides ? config.context / ranks : config.context),
        M(rows * length), C(config.hidden), w(M), chain(w, attributes, how),
        activation(config.bf16 ? Element::BF16 : Element::F32) {}

  std::string write(const std::string &name);

private:
  std::string attributesOf(const Weight &one) const;
  Value weight(const std::string &name) const { return weights.at(name); }
  /// A weight in the type of the activations.
  Value cast(const std::string &name) { return w.convert(weight(name), activation); }

  Value embed(Value tokens);
  Value drop(Value x) { return config.dropout == 0 ? x : w.dropout(x, seed, config.dropout, dropouts++); }
  Value layer(Value x, const std::string &prefix, const std::vector<Sublayer> &kinds);
  Value predictionInput(Value x, const std::string &prefix, Value ids);
  Value idsAhead(Value targets, int64_t distance);
  Value logitsOf(Value x, const std::string &prefix);
  Value largestOf(Value logits);
  std::pair<Value, Value> sumsOf(Value exponentials, Value hits);
  Value lossOf(Value logits, Value targets, int64_t distance);
  Value gather(Value tokens);
  Value gatherIds(Value ids);
  Value scatter(Value shares);
  Value embeddingOf(Value ids);
  Value site(Value streams, const std::string &prefix, Sublayer kind);
  Value sublayer(Value u, const std::string &prefix, Sublayer kind);
  Value middle(Value inner, const std::string &prefix, Sublayer kind);
  Value experts(Value normed, const std::string &prefix, Sublayer kind);
  Value attention(Value qkv);
  Value gatedDelta(Value qkvzba, const std::string &prefix);
  Value heads(Value qkv, int64_t begin, int64_t count);
  Value sharedHeads(Value qkv, int64_t begin);
  Value causal(Value scores);
  Value crossEntropies(Value logits, Value targets);
  Value norm(Value x, const std::string &name) { return w.as("normed").rmsNorm(x, cast(name), kNormEps); }

  static constexpr double kNormEps = 1e-5;

  const Config &config;
  bool known = false;
  Attributes attributes;
  Spelling how;
  const int64_t ranks;           ///< tensor-parallel ones
  const bool divides;            ///< the tokens of the one row among them, else rows
  const int64_t rows, length, M; ///< of a rank, but within a sublayer: rows of so many tokens, and all tokens
  const int64_t C;
  IrWriter w;
  Chain chain;
  Element activation;
  std::map<std::string, Value> weights;
  Value seed, places, words; ///< `words` are the rank's part of the vocabulary, where ranks divide it
  Values imbalances;         ///< of experts, a layer each
  int64_t dropouts = 0;
};
} // namespace

std::string LossWriter::write(const std::string &name) {
  if (config.hyperConnections && !config.recompute.empty())
    w.functionAttribute("mhc.recompute_mode", config.recompute);
  if (!config.gdnImpl.empty())
    w.functionAttribute("mhc.gdn_impl", config.gdnImpl);
  const Type ids{{rows, length}, Element::I32};
  const std::string share = divides ? "mhc.split = array<i64: 1, " + std::to_string(length) + ">" : "";
  Value tokens = w.argument("tokens", ids, share), targets = w.argument("targets", ids, share);
  if (divides)
    places = w.argument("places", {{length}, Element::I32});
  if (ranks > 1)
    words = w.argument("words", {{config.vocabulary / ranks}, Element::I32});
  if (config.dropout != 0)
    seed = w.argument("seed", {{2}, Element::I64});
  for (const Weight &one : weightsOf(config))
    weights[one.name] = w.argument(one.name, one.type(config), attributesOf(one));
  Value x = embed(w.reshape(tokens, {M}));
  if (config.hyperConnections) {
    w.comment("One stream becomes n");
    x = chain.expand(x);
  }
  for (int64_t index = 0; index < config.layers; ++index)
    x = layer(x, layerPrefix(index), sublayersOf(config, index));
  Value loss = lossOf(logitsOf(x, "decoder."), targets, 0);
  for (int64_t index = 0; index < config.predictions; ++index) {
    const std::string prefix = predictionPrefix(index);
    x = layer(predictionInput(x, prefix, idsAhead(targets, index)), prefix + "transformer_layer.",
              predictionSublayers());
    Value further = lossOf(logitsOf(x, prefix), targets, index + 1);
    loss = w.add(loss, w.mul(further, config.predictionScale / static_cast<double>(config.predictions)));
  }
  for (const Value &imbalance : imbalances)
    loss = w.add(loss, w.mul(imbalance, config.balance));
  w.result("loss", loss);
  return w.finish(name);
}

/// Over which axes of the mesh the gradient of a weight is a sum, and which share of the weight a rank has. Tokens are
/// divided by both axes; of a weight that tensor-parallel ranks divide, each has the gradient for all of theirs.
std::string LossWriter::attributesOf(const Weight &one) const {
  const std::string split = one.splitText(config);
  std::string axes = config.dataRanks > 1 ? "dp" : "";
  if (ranks > 1 && split.empty())
    axes += axes.empty() ? "tp" : ",tp";
  const std::string partial = axes.empty() ? "" : "mhc.partial = \"" + axes + "\"";
  return partial + (partial.empty() || split.empty() ? "" : ", ") + split;
}

/// The tokens of all tensor-parallel ranks.
Value LossWriter::gather(Value tokens) {
  return ranks == 1 ? tokens : w.call(kAllGather, tokens, {{ranks * M, C}, activation});
}

Value LossWriter::gatherIds(Value ids) {
  return ranks == 1 ? ids : w.call(kGatherIds, ids, {{ranks * M}, Element::I32});
}

/// A rank's own tokens, of which each rank has a share in the sum.
Value LossWriter::scatter(Value shares) {
  return ranks == 1 ? shares : w.as("f").call(kReduceScatter, shares, {{M, C}, activation});
}

/// The rows of tokens in the embedding. Where ranks have a part of its rows, each has zeros for the words of others. It
/// reads rows for them, too, as many different ones: a row that many tokens had would add up all their gradients.
Value LossWriter::embeddingOf(Value ids) {
  Value table = cast("embedding.word_embeddings.weight");
  if (ranks == 1)
    return w.take(table, ids);
  const int64_t S = table.dim(0), tokens = ranks * M;
  const Dims parts = {ranks, S};
  Value all = gatherIds(ids);
  auto ofTokens = [&](Value ofWords) { return w.reshape(w.take(w.reshape(ofWords, {ranks * S, 1}), all), {tokens}); };
  Value row = w.broadcast(w.convert(w.iota(S), Element::F32), parts, {1});
  Value begin = w.mul(w.broadcast(w.convert(w.iota(ranks), Element::F32), parts, {0}), static_cast<double>(S));
  Value first = w.reduce("sum", w.convert(w.sliceDim(words, 0, 0, 1), Element::F32), {0});
  Value apart = w.sub(begin, w.broadcast(first, parts, {}));
  // Halves keep numbers away from the edges, as --verify moves them by their rounding.
  Value isOwn = w.compareFloat("olt", w.mul(apart, apart), w.splat(0.5, apart.type));
  Value share = ofTokens(w.select(isOwn, w.splat(1, apart.type), w.splat(0, apart.type)));
  Value rows = w.take(table, w.convert(w.add(ofTokens(row), 0.5), Element::I32));
  Value isRead = w.compareFloat("ogt", w.broadcast(share, {tokens, C}, {0}), w.splat(0.5, {{tokens, C}}));
  return scatter(w.select(isRead, rows, w.splat(0, rows.type)));
}

/// The streams become one, and logits: of all tokens, for a rank's part of the vocabulary.
Value LossWriter::logitsOf(Value x, const std::string &prefix) {
  w.comment("The streams become one, and logits");
  if (config.hyperConnections && config.learnedHead)
    x = chain.head(x, weight(prefix + "head.fn"), Value(), weight(prefix + "head.scale"), weight(prefix + "head.base"),
                   kNormEps, 0);
  else if (config.hyperConnections)
    x = chain.contract(x, "mean");
  x = gather(norm(x, prefix + "final_layernorm.weight"));
  Value table = cast("embedding.word_embeddings.weight");
  return w.convert(w.as("logits").matmul(x, table, /*transposeRhs=*/true), Element::F32);
}

/// The loss of logits for the token `distance` behind the next one, which the last tokens of a sequence have not.
Value LossWriter::lossOf(Value logits, Value targets, int64_t distance) {
  const int64_t B = rows, left = length - distance;
  Value losses = crossEntropies(logits, idsAhead(targets, distance));
  if (distance > 0)
    losses = w.reshape(w.sliceDim(w.reshape(losses, {B, length}), 1, 0, left), {B * left});
  return w.as("loss").reduce("mean", losses, {0});
}

/// The tokens `distance` behind the next ones; any where there is none, which no loss sees.
Value LossWriter::idsAhead(Value targets, int64_t distance) {
  if (distance == 0)
    return w.reshape(targets, {M});
  const int64_t T = config.context;
  Value ahead = w.concat({w.sliceDim(targets, 1, distance, T - distance), w.sliceDim(targets, 1, 0, distance)}, 1);
  return w.reshape(ahead, {M});
}

/// Each stream behind the embedding of a token: eh_proj of both, normed (DeepSeek-V3). All streams are read.
Value LossWriter::predictionInput(Value x, const std::string &prefix, Value ids) {
  w.comment(prefix + "eh_proj");
  Value embedded = norm(embeddingOf(ids), prefix + "enorm.weight");
  const bool inner = config.hyperConnections && attributes.streamsInner();
  if (config.hyperConnections) {
    const int64_t rows = M * config.streams;
    Value streams = inner ? w.transpose(chain.matrix(x), {0, 2, 1}) : chain.matrix(x);
    embedded = w.reshape(w.broadcast(embedded, {M, config.streams, C}, {0, 2}), {rows, C});
    x = w.reshape(streams, {rows, C});
  }
  Value both = w.concat({embedded, norm(x, prefix + "hnorm.weight")}, 1);
  Value out = w.matmul(both, cast(prefix + "eh_proj.weight"), /*transposeRhs=*/true);
  if (!config.hyperConnections)
    return out;
  Value streams = w.reshape(out, {M, config.streams, C});
  return chain.fromMatrix(inner ? w.transpose(streams, {0, 2, 1}) : streams);
}

Value LossWriter::embed(Value tokens) {
  w.comment("Embedding of tokens and places");
  Value embedding = embeddingOf(tokens);
  Value table = cast("embedding.position_embeddings.weight");
  Value own = divides ? w.take(table, places) : table;
  Value all = w.broadcast(own, {rows, length, C}, {1, 2});
  return drop(w.as("embedded").add(embedding, w.reshape(all, {M, C})));
}

Value LossWriter::layer(Value x, const std::string &prefix, const std::vector<Sublayer> &kinds) {
  for (Sublayer kind : kinds) {
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
  Value normed = gather(norm(u, prefix + names.norm));
  if (kind == Sublayer::Mlp && config.experts)
    return scatter(experts(normed, prefix, kind));
  Value inner = w.matmul(normed, cast(prefix + names.inner), /*transposeRhs=*/true);
  Value outer = middle(inner, prefix + names.site + ".", kind);
  return scatter(w.as("f").matmul(outer, cast(prefix + names.outer), /*transposeRhs=*/true));
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

/// Without a capacity all experts are computed, as one MLP whose channels are theirs side by side: those of an expert
/// that a token has not chosen are multiplied by zero.
Value LossWriter::experts(Value normed, const std::string &prefix, Sublayer kind) {
  const SublayerNames &names = namesOf(kind);
  const int64_t E = config.experts, F = config.ffn / ranks, tokens = normed.dim(0);
  w.comment(prefix + names.site + ".router");
  Value scores = w.matmul(w.convert(normed, Element::F32), weight(prefix + names.site + ".router.weight"),
                          /*transposeRhs=*/true);
  Routing routing = writeRouting(w, scores, config.expertsPerToken);
  if (config.balance != 0)
    imbalances.push_back(writeImbalance(w, routing));
  Value inner = cast(prefix + names.inner), outer = cast(prefix + names.outer);
  if (config.capacity != 0)
    return writeExperts(w, routing, normed, inner, outer,
                        capacityOf(tokens, E, config.expertsPerToken, config.capacity));
  Value gates = w.broadcast(w.convert(routing.gates, activation), {tokens, E, F}, {0, 1});
  Value hidden =
      w.mul(w.unary("mhc.silu", w.matmul(normed, inner, /*transposeRhs=*/true)), w.reshape(gates, {tokens, E * F}));
  return w.as("f").matmul(hidden, outer, /*transposeRhs=*/true);
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
  return w.reshape(w.mul(normed, w.unary("mhc.silu", in.gate)), {ranks * M, sizes.valueChannels()});
}

/// `count` heads from head `begin` on: [B*count, T, D].
Value LossWriter::heads(Value qkv, int64_t begin, int64_t count) {
  int64_t B = config.batch, T = config.context, D = C / config.heads;
  Value rows = w.reshape(w.sliceDim(qkv, 1, begin * D, count * D), {B, T, count, D});
  return w.reshape(w.transpose(rows, {0, 2, 1, 3}), {B * count, T, D});
}

/// Heads of keys or values, each as often as there are heads of queries in its group.
Value LossWriter::sharedHeads(Value qkv, int64_t begin) {
  int64_t B = config.batch, T = config.context, D = C / config.heads;
  int64_t H = config.heads / ranks, G = config.queryGroups / ranks;
  Value own = heads(qkv, begin, G);
  if (G == H)
    return own;
  return w.reshape(w.broadcast(own, {B * G, H / G, T, D}, {0, 2, 3}), {B * H, T, D});
}

Value LossWriter::attention(Value qkv) {
  int64_t B = config.batch, T = config.context, H = config.heads / ranks, D = C / config.heads;
  Value q = heads(qkv, 0, H), k = sharedHeads(qkv, H), v = sharedHeads(qkv, H + config.queryGroups / ranks);
  Value products = w.convert(w.batchMatmul(q, k, /*transposeLhs=*/false, /*transposeRhs=*/true), Element::F32);
  Value scores = w.as("scores").mul(products, 1 / std::sqrt(static_cast<double>(D)));
  Value shares = w.softmax(causal(scores), 2);
  Value rows = w.batchMatmul(w.convert(shares, activation), v);
  return w.reshape(w.transpose(w.reshape(rows, {B, H, T, D}), {0, 2, 1, 3}), {B * T, H * D});
}

/// A token sees itself and those before it.
Value LossWriter::causal(Value scores) {
  constexpr double kHidden = -1e30; // a number, so that no difference is NaN
  Value places = w.iota(config.context);
  Value seen = w.broadcast(places, scores.type.dims, {2}), self = w.broadcast(places, scores.type.dims, {1});
  return w.select(w.compare("sle", seen, self), scores, w.splat(kHidden, scores.type));
}

/// The largest logit of each token.
Value LossWriter::largestOf(Value logits) {
  Value own = w.reduce("max", logits, {1});
  if (ranks == 1)
    return own;
  const int64_t tokens = own.dim(0);
  Value all = w.call(kGatherMaxima, own, {{ranks * tokens}, Element::F32});
  return w.reduce("max", w.reshape(all, {ranks, tokens}), {0});
}

/// The sums over the vocabulary, of a rank's own tokens.
std::pair<Value, Value> LossWriter::sumsOf(Value exponentials, Value hits) {
  Value sum = w.reduce("sum", exponentials, {1}), hit = w.reduce("sum", hits, {1});
  if (ranks == 1)
    return {sum, hit};
  const Dims rows = {ranks, 1, M};
  Value parts = w.concat({w.reshape(sum, rows), w.reshape(hit, rows)}, 1);
  Value both = w.call(kScatterValues, parts, {{2, M}, Element::F32});
  return {w.slice(both, {0, 0}, {1, M}, {0}), w.slice(both, {1, 0}, {1, M}, {0})};
}

/// log(sum exp(logits)) minus the logit of the target, for each token of a rank.
Value LossWriter::crossEntropies(Value logits, Value targets) {
  w.comment("Cross-entropy");
  Value shifted = w.sub(logits, w.broadcast(largestOf(logits), logits.type.dims, {0}));
  Value number = w.broadcast(ranks == 1 ? w.iota(config.vocabulary) : words, logits.type.dims, {1});
  Value isTarget = w.compare("eq", number, w.broadcast(gatherIds(targets), logits.type.dims, {0}));
  auto [sum, hit] = sumsOf(w.unary("math.exp", shifted), w.select(isTarget, shifted, w.splat(0, logits.type)));
  return w.sub(w.unary("math.log", sum), hit);
}

std::string mhc::model::writeLoss(const Config &config, const std::string &name) {
  return LossWriter(config).write(name);
}
