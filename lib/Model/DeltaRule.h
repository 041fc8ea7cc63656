//===- DeltaRule.h - The gated delta rule as unfused IR ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_MODEL_DELTARULE_H
#define MHC_LIB_MODEL_DELTARULE_H

#include "mhc/Spelling/GatedDelta.h"

namespace mhc::model {

/// o_t = S_t^T q_t / sqrt(d_k) with S_t = exp(g_t) S_{t-1} + beta_t k_t (v_t - exp(g_t) S_{t-1}^T k_t)^T and S_0 = 0 of
/// each head and sequence, from the results of the front end: [b, M, heads, d_v] in f32. The gate is not read.
spelling::Value writeDeltaRule(spelling::IrWriter &w, const spelling::GatedDeltaOutputs &in);

} // namespace mhc::model

#endif // MHC_LIB_MODEL_DELTARULE_H
