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

/// Collectives between tensor-parallel ranks: functions that the model has not, whose names begin so. Each rank has its
/// rows of tokens, in the order of the ranks. Of the vocabulary each has its part: rows of the embedding, and columns
/// of the logits of all tokens, of which `Maxima` are the largest and `Values` the sums of a loss.
inline constexpr char kAllGather[] = "tp_all_gather", kReduceScatter[] = "tp_reduce_scatter";
inline constexpr char kGatherIds[] = "tp_all_gather_ids", kGatherMaxima[] = "tp_all_gather_maxima",
                      kGatherValues[] = "tp_all_gather_values", kScatterValues[] = "tp_reduce_scatter_values";

/// The model as unfused IR, in the spelling of the variant; of several tensor-parallel ranks, the program of one. Its
/// functions know weights by name:
///   loss    tokens, targets, [places], [words], [seed], weights -> loss, the mean cross-entropy; a rank that has some
///                                                                  tokens of a row has their `places` in it, and one
///                                                                  that has a part of the vocabulary its `words`
///   init    seed                                                -> weights
///   update  step, learning_rate, and W, d_W, m_W, v_W for each weight W -> new W, m_W and v_W: AdamW
///   gradient_squares  d_W for each weight W                  -> square_W, the sum of the squares of its elements
///   evaluate  as loss, without dropout; where there is none, loss is that
std::string writeModel(const Config &config);

} // namespace mhc::model

#endif // MHC_MODEL_MODEL_H
