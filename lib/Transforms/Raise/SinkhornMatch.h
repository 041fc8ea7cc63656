//===- SinkhornMatch.h - Sinkhorn iterations of any spelling ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_LIB_TRANSFORMS_RAISE_SINKHORNMATCH_H
#define MHC_LIB_TRANSFORMS_RAISE_SINKHORNMATCH_H

#include "mhc/Algebra/Reading.h"
#include "mhc/IR/MhcOps.h"

namespace mhc {

/// A value that is the Sinkhorn iteration of `logits`, an expression of the value's own indices. The number of
/// iterations may be more than the op takes.
struct SinkhornSite {
  algebra::Expr logits;
  Init init;
  Order order;
  Denom denom;
  double eps;
  int64_t iters;
  std::optional<Format> format; ///< of an iteration that rounds each op's result
};

/// Reads a stack of n x n matrices as a Sinkhorn iteration. Nothing for other values.
std::optional<SinkhornSite> matchSinkhorn(algebra::Reading &reading, mlir::Value value);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_SINKHORNMATCH_H
