//===- Experts.h - Experts behind a router as unfused IR ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_MODEL_EXPERTS_H
#define MHC_LIB_MODEL_EXPERTS_H

#include "mhc/Spelling/IrWriter.h"

namespace mhc::model {

/// A router's choice for M tokens among E experts, in f32.
struct Routing {
  spelling::Value shares;   ///< [M, E]: the softmax of the scores
  spelling::Value chosen;   ///< [M, E]: 1 for the experts of a token, 0 for the others
  spelling::Value gates;    ///< [M, E]: shares of the chosen ones, which add up to 1; 0 for the others
  spelling::Values choices; ///< [M, E]: 1 for one expert, the one with the largest share first
};

/// The later one of two experts with one share comes first.
Routing writeRouting(spelling::IrWriter &w, spelling::Value scores, int64_t perToken);

/// 1 where experts have equally many tokens, and more where those that have more have larger shares, too
/// (Switch Transformers): E/k times the sum over experts of the tokens' part that chose it times its mean share. The
/// gradient is that of the shares.
spelling::Value writeImbalance(spelling::IrWriter &w, const Routing &routing);

/// Tokens that an expert has room for: `factor` times the mean, at most all.
int64_t capacityOf(int64_t tokens, int64_t experts, int64_t perToken, double factor);

/// MLPs of experts, each of which sees its own tokens alone: of those that chose it the first `capacity`. The others
/// are dropped: the expert adds nothing to them. `inner` is [E*F, C], `outer` [C, E*F].
spelling::Value writeExperts(spelling::IrWriter &w, const Routing &routing, spelling::Value tokens,
                             spelling::Value inner, spelling::Value outer, int64_t capacity);

} // namespace mhc::model

#endif // MHC_LIB_MODEL_EXPERTS_H
