//===- GatedDelta.h - The front end of a gated delta net as unfused IR ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_SPELLING_GATEDDELTA_H
#define MHC_SPELLING_GATEDDELTA_H

#include "mhc/Spelling/IrWriter.h"
#include "mhc/Spelling/Spelling.h"

namespace mhc::spelling {

/// Sizes and options (math.md 3.11). Names are those of the op's attributes and dims.
struct GatedDelta {
  int64_t keyHeads = 1, valueHeads = 1, keyDim = 1, valueDim = 1, width = 4;
  bool qkL2norm = true;
  double l2Eps = 1e-6, softplusThreshold = 20;
  bool tokenFirst = true; ///< the input is [M, b, D], not [b, M, D]

  int64_t keyChannels() const { return keyHeads * keyDim; }
  int64_t valueChannels() const { return valueHeads * valueDim; }
  /// Channels of q, k and v, and of the whole projection.
  int64_t convolved() const { return 2 * keyChannels() + valueChannels(); }
  int64_t channels() const { return convolved() + valueChannels() + 2 * valueHeads; }
};

/// The weight of the convolution is [convolved, width]. Bias, cuts and boundary may be absent.
struct GatedDeltaInputs {
  Value qkvzba, convWeight, convBias, aLog, dtBias, cuSeqlens, leftBoundary;
};

/// [b, M, heads, channels], and [b, M, heads] for beta and g. They have the type of the input, g is f32.
struct GatedDeltaOutputs {
  Value query, key, value, gate, beta, g;
};

GatedDeltaOutputs writeGatedDelta(IrWriter &w, const GatedDelta &sizes, const GatedDeltaInputs &in,
                                  const Spelling &how = {});

} // namespace mhc::spelling

#endif // MHC_SPELLING_GATEDDELTA_H
