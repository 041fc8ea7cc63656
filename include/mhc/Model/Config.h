//===- Config.h - The configuration of a model ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_MODEL_CONFIG_H
#define MHC_MODEL_CONFIG_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mhc::model {

enum class Sublayer { Attention, GatedDelta, Mlp };

/// A GPT. Keys of the file are the names of Megatron-LM where that has one (lib/Model/Config.cpp).
struct Config {
  int64_t layers = 0, hidden = 0, heads = 0, vocabulary = 0, context = 0, batch = 0;
  int64_t ffn = 0;         ///< width of the MLP; 0 stands for 4 times hidden
  bool bf16 = false;       ///< activations; weights, gates and the loss are f32
  double dropout = 0;      ///< of the embedding and of every sublayer's output
  int64_t queryGroups = 0; ///< heads of keys and values, each for as many of queries; 0 stands for heads
  int64_t experts = 0;     ///< of an MLP, among which a router chooses for each token; 0 is one MLP without a router
  int64_t expertsPerToken = 2;
  double capacity = 0;     ///< of an expert, in mean numbers of tokens; 0 computes all experts for all tokens
  double balance = 0;      ///< factor of what the loss has for experts with unequally many tokens
  int64_t predictions = 0; ///< tokens behind the next one that are predicted as well, each by a layer
  double predictionScale = 0.1;

  /// The one sublayer of each layer, in a hybrid model; empty where each layer has attention and an MLP.
  std::vector<Sublayer> layerTypes;
  // Sizes of gated delta layers; 0 heads or channels are those of the attention.
  int64_t deltaWidth = 4, deltaKeyHeads = 0, deltaValueHeads = 0, deltaKeyDim = 0, deltaValueDim = 0;
  std::string gdnImpl; ///< ref, streamed or fused; empty leaves it open

  bool hyperConnections = true;
  std::string variant = "megatron_native"; ///< whose chain, in whose spelling
  int64_t streams = 4;
  int64_t iterations = 0;   ///< of Sinkhorn; 0 stands for the default of the variant
  bool newton = false;      ///< whether residual maps are the limit of these, by as many Newton steps at most
  double gate = 0.01;       ///< alpha at the start
  bool learnedHead = false; ///< whether the streams become one by weights that are computed of them, else their mean
  /// Recomputation in the backward pass, as in --recompute; layers are the sites, two in a layer. Empty is none.
  std::string recompute;

  std::map<std::string, std::string> options; ///< of mhcc, by key, where the command line does not say them
  std::vector<std::string> pins;              ///< "post=generic": of kernels, where a context is made

  /// Ranks that divide heads, the channels of MLPs, and the rows of `batch` or the tokens of its one.
  int64_t tensorRanks = 1;
  int64_t dataRanks = 1; ///< that have other rows

  double initStd = 0.02;
  double beta1 = 0.9, beta2 = 0.95, adamEps = 1e-8, weightDecay = 0.1;
};

/// Sublayers of a layer, in order.
std::vector<Sublayer> sublayersOf(const Config &config, int64_t layer);
/// Those of a layer that predicts a token behind the next one.
inline std::vector<Sublayer> predictionSublayers() { return {Sublayer::Attention, Sublayer::Mlp}; }

/// Errors name the key, the value found and the value needed.
llvm::Expected<Config> parseConfig(llvm::StringRef json);

} // namespace mhc::model

#endif // MHC_MODEL_CONFIG_H
