//===- PlanCase.h - Golden cases of recompute plans ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_CONFORMANCE_PLANCASE_H
#define MHC_CONFORMANCE_PLANCASE_H

#include "Conformance/Case.h"

namespace mhc::conformance {

/// Whether the case describes a plan of layers, and no computation.
inline bool isPlan(const Case &golden) { return golden.op == "recompute_plan"; }

/// Differentiates a chain of as many layers as the case has and compares the groups with the case's. Text of what
/// differs; empty when nothing does.
std::string runPlan(const Case &golden);

} // namespace mhc::conformance

#endif // MHC_CONFORMANCE_PLANCASE_H
