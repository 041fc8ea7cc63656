//===- Model.h - A model from its configuration ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_MODEL_MODEL_H
#define MHC_MODEL_MODEL_H

#include "mhc/Model/Config.h"

namespace mhc::model {

/// Collectives between tensor-parallel ranks: functions that the model has not. Each rank has its rows of tokens, in
/// the order of the ranks.
inline constexpr char kAllGather[] = "tp_all_gather", kReduceScatter[] = "tp_reduce_scatter";

/// The model as unfused IR, in the spelling of the variant; of several tensor-parallel ranks, the program of one. Its
/// functions know weights by name:
///   loss    tokens, targets, [places], [seed], weights          -> loss, the mean cross-entropy; a rank that has some
///                                                                  tokens of a row has their `places` in it
///   init    seed                                                -> weights
///   update  step, learning_rate, and W, d_W, m_W, v_W for each weight W -> new W, m_W and v_W: AdamW
///   gradient_squares  d_W for each weight W                  -> square_W, the sum of the squares of its elements
///   evaluate  as loss, without dropout; where there is none, loss is that
std::string writeModel(const Config &config);

} // namespace mhc::model

#endif // MHC_MODEL_MODEL_H
