//===- HyperConnections.h - Per-stream hyper-connections as unfused IR  -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_CONFORMANCE_HYPERCONNECTIONS_H
#define MHC_CONFORMANCE_HYPERCONNECTIONS_H

#include "mhc/Spelling/Chain.h"

namespace mhc::conformance {
using namespace spelling;

struct HyperConnectionInputs {
  Value x, normGamma, staticAlpha, dynAlpha, scalePre, scaleRes, staticBeta, dynBeta, scaleBeta, wSub;
};

/// Width connection, sublayer and depth connection of one site; the streams after it.
Value hyperConnection(IrWriter &writer, Chain &chain, const Attributes &attributes, const Spelling &spelling,
                      const HyperConnectionInputs &inputs);

} // namespace mhc::conformance

#endif // MHC_CONFORMANCE_HYPERCONNECTIONS_H
