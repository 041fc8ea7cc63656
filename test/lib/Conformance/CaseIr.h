//===- CaseIr.h - Golden cases as unfused IR ------------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_CONFORMANCE_CASEIR_H
#define MHC_CONFORMANCE_CASEIR_H

#include "Conformance/Case.h"

namespace mhc::conformance {

/// Why no IR is written for `op`; empty when it is covered.
std::string whyNotCovered(const std::string &op);

/// Shape of a tensor of the case with all token axes as one, kTokens.
Dims tokenShape(const Case &golden, const TensorInfo &tensor);

/// Number of tokens M of the case.
int64_t tokenCount(const Case &golden);

/// A module with one function `entry` that computes the case. What the library widened to float64 is f32 here. With a
/// number of `tokens` all sizes are known.
std::string caseToIr(const Case &golden, const Spelling &spelling, const std::string &entry, int64_t tokens = kTokens);

} // namespace mhc::conformance

#endif // MHC_CONFORMANCE_CASEIR_H
