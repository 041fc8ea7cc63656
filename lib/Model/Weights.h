//===- Weights.h - The weights of a model ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_MODEL_WEIGHTS_H
#define MHC_LIB_MODEL_WEIGHTS_H

#include "mhc/Model/Config.h"
#include "mhc/Spelling/GatedDelta.h"
#include "mhc/Spelling/Spelling.h"

namespace mhc::model {

struct Weight {
  std::string name;
  spelling::Dims dims; ///< of the whole weight
  enum Start {
    Constant, ///< `value` everywhere
    Normal,   ///< with standard deviation `value`
    Uniform,  ///< between -value and value
  } start;
  double value;
  int64_t splitDim = -1; ///< which tensor-parallel ranks divide; none with -1
  spelling::Dims parts;  ///< along it, side by side, each of which they divide

  /// Matrices do; gains, biases and gates do not.
  bool decays() const { return dims.size() > 1; }
  bool isSplit(const Config &config) const { return splitDim >= 0 && config.tensorRanks > 1; }
  spelling::Type wholeType() const { return {dims, spelling::Element::F32}; }
  /// The share that a rank has.
  spelling::Type type(const Config &config) const;
  /// Attributes of it, or of a tensor as long: which share this is.
  std::string splitText(const Config &config) const;
};

/// Sizes of the layers of gated delta, with the heads of a rank.
spelling::GatedDelta gatedDeltaOf(const Config &config);

/// Parameters of the model's sites.
spelling::Attributes attributesOf(const Config &config);

/// In the order of the forward pass. Names are Megatron-LM's, so that checkpoints keep their keys.
std::vector<Weight> weightsOf(const Config &config);

/// "decoder.layers.3.".
std::string layerPrefix(int64_t layer);
/// "mtp.layers.0.": what predicts the token behind the next one.
std::string predictionPrefix(int64_t index);

/// Names behind the prefix of a layer. A layer of gated delta takes the place of the attention.
struct SublayerNames {
  const char *site, *norm, *inner, *outer;
};
inline constexpr SublayerNames kSublayerNames[] = {
    {"self_attention", "input_layernorm.weight", "self_attention.linear_qkv.weight",
     "self_attention.linear_proj.weight"},
    {"self_attention", "input_layernorm.weight", "self_attention.in_proj.weight", "self_attention.out_proj.weight"},
    {"mlp", "pre_mlp_layernorm.weight", "mlp.linear_fc1.weight", "mlp.linear_fc2.weight"},
};
inline const SublayerNames &namesOf(Sublayer sublayer) { return kSublayerNames[static_cast<int>(sublayer)]; }

} // namespace mhc::model

#endif // MHC_LIB_MODEL_WEIGHTS_H
