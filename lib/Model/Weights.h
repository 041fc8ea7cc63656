//===- Weights.h - The weights of a model ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_MODEL_WEIGHTS_H
#define MHC_LIB_MODEL_WEIGHTS_H

#include "mhc/Model/Config.h"
#include "mhc/Spelling/IrWriter.h"
#include "mhc/Spelling/Spelling.h"

namespace mhc::model {

struct Weight {
  std::string name;
  spelling::Dims dims;
  enum Start {
    Constant, ///< `value` everywhere
    Normal,   ///< with standard deviation `value`
    Uniform,  ///< between -value and value
  } start;
  double value;

  /// Matrices do; gains, biases and gates do not.
  bool decays() const { return dims.size() > 1; }
  spelling::Type type() const { return {dims, spelling::Element::F32}; }
};

/// Parameters of the model's sites.
spelling::Attributes attributesOf(const Config &config);

/// In the order of the forward pass. Names are Megatron-LM's, so that checkpoints keep their keys.
std::vector<Weight> weightsOf(const Config &config);

/// "decoder.layers.3.".
std::string layerPrefix(int64_t layer);

// Names behind the prefix of a layer: of its two sublayers.
inline constexpr const char *kSublayers[] = {"self_attention", "mlp"};
inline constexpr const char *kNorms[] = {"input_layernorm.weight", "pre_mlp_layernorm.weight"};
inline constexpr const char *kInner[] = {"self_attention.linear_qkv.weight", "mlp.linear_fc1.weight"};
inline constexpr const char *kOuter[] = {"self_attention.linear_proj.weight", "mlp.linear_fc2.weight"};

} // namespace mhc::model

#endif // MHC_LIB_MODEL_WEIGHTS_H
