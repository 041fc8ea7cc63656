//===- Config.cpp - Reading the configuration of a model ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Model/Config.h"
#include "mhc/Spelling/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <limits>
#include <set>

using namespace mhc::model;
using llvm::StringRef;

namespace {
/// One key: reads its value, and returns what was needed where that is not it.
struct Key {
  StringRef name;
  bool required;
  std::string (*read)(Config &, const llvm::json::Value &); ///< null for an option of mhcc
};
} // namespace

// A program has each layer in full, and lists of all words and places.
static constexpr int64_t kMostLayers = 10'000, kMostSize = 1 << 20;
static constexpr int kMostDepth = 16; // of the JSON, whose parser recurses; a configuration has 2

template <int64_t Config::*member, int64_t least, int64_t most = INT32_MAX>
static std::string readInteger(Config &config, const llvm::json::Value &value) {
  std::optional<int64_t> number = value.getAsInteger();
  if (!number || *number < least || *number > most)
    return "an integer from " + std::to_string(least) + " to " + std::to_string(most);
  config.*member = *number;
  return "";
}

template <bool Config::*member>
static std::string readBool(Config &config, const llvm::json::Value &value) {
  std::optional<bool> flag = value.getAsBoolean();
  if (!flag)
    return "true or false";
  config.*member = *flag;
  return "";
}

/// A fraction is less than 1.
template <double Config::*member, bool isFraction = false>
static std::string readNumber(Config &config, const llvm::json::Value &value) {
  std::optional<double> number = value.getAsNumber();
  if (!number || !(*number <= std::numeric_limits<float>::max()) || *number < 0 || (isFraction && *number >= 1))
    return isFraction ? "a number of at least 0 and less than 1" : "a number of at least 0, and no more than f32 has";
  config.*member = *number;
  return "";
}

static std::string readVariant(Config &config, const llvm::json::Value &value) {
  std::vector<std::string> known = mhc::spelling::modelVariants();
  std::optional<StringRef> name = value.getAsString();
  if (!name || !llvm::is_contained(known, *name))
    return "one of '" + llvm::join(known, "', '") + "'";
  config.variant = name->str();
  return "";
}

static constexpr StringRef kLayerTypes[] = {"attention", "gated_delta", "mlp"}; ///< in the order of Sublayer

static std::string readLayerTypes(Config &config, const llvm::json::Value &value) {
  const std::string needed = "a list of '" + llvm::join(llvm::ArrayRef(kLayerTypes), "', '") + "', one for each layer";
  const llvm::json::Array *names = value.getAsArray();
  if (!names || names->empty())
    return needed;
  for (const llvm::json::Value &one : *names) {
    const auto *name = llvm::find(kLayerTypes, one.getAsString().value_or(""));
    if (name == std::end(kLayerTypes))
      return needed;
    config.layerTypes.push_back(static_cast<Sublayer>(name - std::begin(kLayerTypes)));
  }
  return "";
}

static std::string readGdnImpl(Config &config, const llvm::json::Value &value) {
  constexpr StringRef kNames[] = {"ref", "streamed", "fused"};
  std::optional<StringRef> name = value.getAsString();
  if (!name || !llvm::is_contained(kNames, *name))
    return "one of '" + llvm::join(llvm::ArrayRef(kNames), "', '") + "'";
  config.gdnImpl = name->str();
  return "";
}

static std::string readSolver(Config &config, const llvm::json::Value &value) {
  std::optional<StringRef> name = value.getAsString();
  if (name != "sinkhorn" && name != "newton")
    return "one of 'sinkhorn', 'newton'";
  config.newton = name == "newton";
  return "";
}

/// An option of mhcc, which knows what it takes.
static std::string readOption(Config &config, StringRef name, const llvm::json::Value &value) {
  if (std::optional<StringRef> text = value.getAsString())
    config.options[name.str()] = text->str();
  else if (std::optional<int64_t> number = value.getAsInteger())
    config.options[name.str()] = std::to_string(*number);
  else
    return "what mhcc takes as '--" + llvm::join(llvm::split(name, '_'), "-") + "'";
  return "";
}

static std::string readPins(Config &config, const llvm::json::Value &value) {
  const std::string needed = "a list of texts such as \"post=generic\"";
  const llvm::json::Array *pins = value.getAsArray();
  if (!pins)
    return needed;
  for (const llvm::json::Value &one : *pins) {
    const StringRef pin = one.getAsString().value_or("");
    const auto [op, variant] = pin.split('=');
    if (op.empty() || variant.empty() || pin.find_first_of(" \n\t") != StringRef::npos)
      return needed;
    config.pins.push_back(pin.str());
  }
  return "";
}

/// Layers in a recompute group; null is one group of all layers, as in Megatron-LM. A hybrid model, whose layers have
/// one site, has read its layers: keys are read by name.
static std::string readRecompute(Config &config, const llvm::json::Value &value) {
  const int64_t kSites = config.layerTypes.empty() ? 2 : 1;
  std::optional<int64_t> layers = value.getAsInteger();
  if (!value.getAsNull() && (!layers || *layers < 1 || *layers > INT32_MAX))
    return "null or an integer from 1 to " + std::to_string(INT32_MAX);
  config.recompute = layers ? "groups=" + std::to_string(kSites * *layers) : "all";
  return "";
}

static constexpr Key kKeys[] = {
    {"num_layers", true, readInteger<&Config::layers, 1, kMostLayers>},
    {"hidden_size", true, readInteger<&Config::hidden, 1, kMostSize>},
    {"num_attention_heads", true, readInteger<&Config::heads, 1, kMostSize>},
    {"vocab_size", true, readInteger<&Config::vocabulary, 2, kMostSize>},
    {"seq_length", true, readInteger<&Config::context, 1, kMostSize>},
    {"micro_batch_size", true, readInteger<&Config::batch, 1, kMostSize>},
    {"ffn_hidden_size", false, readInteger<&Config::ffn, 1, 4 * kMostSize>},
    {"bf16", false, readBool<&Config::bf16>},
    {"num_query_groups", false, readInteger<&Config::queryGroups, 1, kMostSize>},
    {"num_moe_experts", false, readInteger<&Config::experts, 1, 1024>},
    {"moe_router_topk", false, readInteger<&Config::expertsPerToken, 1, 1024>},
    {"moe_expert_capacity_factor", false, readNumber<&Config::capacity>},
    {"moe_aux_loss_coeff", false, readNumber<&Config::balance>},
    {"mtp_num_layers", false, readInteger<&Config::predictions, 0, 16>},
    {"mtp_loss_scaling_factor", false, readNumber<&Config::predictionScale>},
    {"layer_types", false, readLayerTypes},
    {"linear_conv_kernel_dim", false, readInteger<&Config::deltaWidth, 1, 8>},
    {"linear_num_key_heads", false, readInteger<&Config::deltaKeyHeads, 1, kMostSize>},
    {"linear_num_value_heads", false, readInteger<&Config::deltaValueHeads, 1, kMostSize>},
    {"linear_key_head_dim", false, readInteger<&Config::deltaKeyDim, 1, kMostSize>},
    {"linear_value_head_dim", false, readInteger<&Config::deltaValueDim, 1, kMostSize>},
    {"gdn_impl", false, readGdnImpl},
    {"hidden_dropout", false, readNumber<&Config::dropout, /*isFraction=*/true>},
    {"enable_hyper_connections", false, readBool<&Config::hyperConnections>},
    {"mhc_variant", false, readVariant},
    {"num_residual_streams", false, readInteger<&Config::streams, 1, 16>},
    {"mhc_sinkhorn_iterations", false, readInteger<&Config::iterations, 1, 1000>}, // as many as mhc.sinkhorn takes
    {"mhc_residual_solver", false, readSolver},
    {"mhc_recompute_layer_num", false, readRecompute},
    {"mhc_learned_head", false, readBool<&Config::learnedHead>},
    {"mhc_init_gating_factor", false, readNumber<&Config::gate>},
    {"init_method_std", false, readNumber<&Config::initStd>},
    {"adam_beta1", false, readNumber<&Config::beta1, /*isFraction=*/true>},
    {"adam_beta2", false, readNumber<&Config::beta2, /*isFraction=*/true>},
    {"adam_eps", false, readNumber<&Config::adamEps>},
    {"weight_decay", false, readNumber<&Config::weightDecay>},
    {"pins", false, readPins},
    {"fuse", false, nullptr},
    {"precision", false, nullptr},
    {"target", false, nullptr},
    {"layout", false, nullptr},
    {"grad_sums", false, nullptr},
    {"recompute", false, nullptr},
    {"memory_budget", false, nullptr},
    {"mesh", false, nullptr},
    {"pipeline", false, nullptr},
};

static std::string text(const llvm::json::Value &value) {
  std::string result;
  llvm::raw_string_ostream(result) << value;
  return result;
}

static llvm::Error readKey(Config &config, StringRef name, const llvm::json::Value &value) {
  const Key *key = llvm::find_if(kKeys, [&](const Key &key) { return key.name == name; });
  if (key == std::end(kKeys))
    return llvm::createStringError("key '" + name.str() + "' is unknown; needed one of '" +
                                   llvm::join(llvm::map_range(kKeys, [](const Key &key) { return key.name; }), "', '") +
                                   "'");
  std::string needed = key->read ? key->read(config, value) : readOption(config, name, value);
  if (needed.empty())
    return llvm::Error::success();
  return llvm::createStringError("'" + name.str() + "' is " + text(value) + "; needed " + needed);
}

/// Checks that involve several keys.
static llvm::Error checkTogether(const Config &config) {
  if (config.hidden % config.heads != 0)
    return llvm::createStringError("'hidden_size' is " + std::to_string(config.hidden) +
                                   "; needed a multiple of 'num_attention_heads', which is " +
                                   std::to_string(config.heads));
  if (!config.layerTypes.empty() && static_cast<int64_t>(config.layerTypes.size()) != config.layers)
    return llvm::createStringError("'layer_types' has " + std::to_string(config.layerTypes.size()) +
                                   " layers; needed as many as 'num_layers', which is " +
                                   std::to_string(config.layers));
  if (config.deltaValueHeads % config.deltaKeyHeads != 0)
    return llvm::createStringError("'linear_num_value_heads' is " + std::to_string(config.deltaValueHeads) +
                                   "; needed a multiple of 'linear_num_key_heads', which is " +
                                   std::to_string(config.deltaKeyHeads));
  if (config.heads % config.queryGroups != 0)
    return llvm::createStringError("'num_query_groups' is " + std::to_string(config.queryGroups) +
                                   "; needed a divisor of 'num_attention_heads', which is " +
                                   std::to_string(config.heads));
  if (config.experts && config.expertsPerToken > config.experts)
    return llvm::createStringError("'moe_router_topk' is " + std::to_string(config.expertsPerToken) +
                                   "; needed at most 'num_moe_experts', which is " + std::to_string(config.experts));
  if (config.predictions >= config.context)
    return llvm::createStringError("'mtp_num_layers' is " + std::to_string(config.predictions) +
                                   "; needed less than 'seq_length', which is " + std::to_string(config.context));
  if (config.hyperConnections && config.newton && mhc::spelling::attributesOf(config.variant).res != "sinkhorn")
    return llvm::createStringError("'mhc_residual_solver' is \"newton\"; needed \"sinkhorn\" with 'mhc_variant' \"" +
                                   config.variant + "\", which has no Sinkhorn");
  constexpr int64_t kMostPermuted = 6; // 720 permutations
  if (config.hyperConnections && config.streams > kMostPermuted &&
      mhc::spelling::attributesOf(config.variant).res == "perm")
    return llvm::createStringError("'num_residual_streams' is " + std::to_string(config.streams) + "; needed at most " +
                                   std::to_string(kMostPermuted) + " with 'mhc_variant' \"" + config.variant +
                                   "\", which has a weight for each permutation");
  return llvm::Error::success();
}

/// Checks that no key is given which nothing reads.
static llvm::Error checkCompanions(const Config &config, const llvm::json::Object &object) {
  constexpr StringRef kExperts = "'num_moe_experts' with it";
  struct Companion {
    StringRef key;
    bool isRead;
    StringRef needed;
  };
  const Companion companions[] = {{"moe_router_topk", config.experts > 0, kExperts},
                                  {"moe_expert_capacity_factor", config.experts > 0, kExperts},
                                  {"moe_aux_loss_coeff", config.experts > 0, kExperts},
                                  {"mtp_loss_scaling_factor", config.predictions > 0, "'mtp_num_layers' with it"}};
  for (const Companion &one : companions)
    if (object.get(one.key) && !one.isRead)
      return llvm::createStringError("'" + one.key.str() + "' is given; needed " + one.needed.str());
  return llvm::Error::success();
}

std::vector<Sublayer> mhc::model::sublayersOf(const Config &config, int64_t layer) {
  if (config.layerTypes.empty())
    return {Sublayer::Attention, Sublayer::Mlp};
  return {config.layerTypes[layer]};
}

namespace {
/// Facts of a text that a parsed object does not have.
struct TextFacts {
  int deepest = 0;           ///< level of arrays and objects in one another
  std::string repeated = ""; ///< the first key of the outer object that is there twice
};
} // namespace

static TextFacts factsOf(StringRef json) {
  TextFacts facts;
  std::set<StringRef> keys;
  int depth = 0;
  for (size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '[' || json[i] == '{')
      facts.deepest = std::max(facts.deepest, ++depth);
    if (json[i] == ']' || json[i] == '}')
      --depth;
    if (json[i] != '"')
      continue;
    const size_t begin = ++i;
    while (i < json.size() && json[i] != '"')
      i += json[i] == '\\' ? 2 : 1;
    StringRef key = json.slice(begin, i);
    if (depth == 1 && json.drop_front(std::min(i + 1, json.size())).ltrim().starts_with(":") &&
        !keys.insert(key).second && facts.repeated.empty())
      facts.repeated = key.str();
  }
  return facts;
}

llvm::Expected<Config> mhc::model::parseConfig(StringRef json) {
  const TextFacts facts = factsOf(json);
  if (facts.deepest > kMostDepth)
    return llvm::createStringError("the model is nested " + std::to_string(facts.deepest) +
                                   " levels deep; needed at most " + std::to_string(kMostDepth));
  auto parsed = llvm::json::parse(json);
  if (!parsed)
    return parsed.takeError();
  const llvm::json::Object *object = parsed->getAsObject();
  if (!object)
    return llvm::createStringError("the model is " + text(*parsed) + "; needed an object of keys and values");
  if (!facts.repeated.empty())
    return llvm::createStringError("key '" + facts.repeated + "' is given twice; needed once");
  Config config;
  std::vector<StringRef> names; // sorted, so that the first error is the same in every run
  for (auto &entry : *object)
    names.push_back(entry.first);
  llvm::sort(names);
  for (StringRef name : names)
    if (llvm::Error error = readKey(config, name, *object->get(name)))
      return error;
  for (const Key &key : kKeys)
    if (key.required && !object->get(key.name))
      return llvm::createStringError("key '" + key.name.str() + "' is missing");
  if (llvm::Error error = checkCompanions(config, *object))
    return error;
  if (config.ffn == 0)
    config.ffn = 4 * config.hidden;
  if (config.queryGroups == 0)
    config.queryGroups = config.heads;
  const int64_t width = std::max<int64_t>(config.hidden / config.heads, 1);
  for (auto [size, usual] : {std::pair(&config.deltaKeyHeads, config.heads),
                             {&config.deltaValueHeads, config.heads},
                             {&config.deltaKeyDim, width},
                             {&config.deltaValueDim, width}})
    if (*size == 0)
      *size = usual;
  if (llvm::Error error = checkTogether(config))
    return error;
  return config;
}
