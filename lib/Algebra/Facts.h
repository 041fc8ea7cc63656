//===- Facts.h - Facts of a node, worked out when it is made ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_LIB_ALGEBRA_FACTS_H
#define MHC_LIB_ALGEBRA_FACTS_H

#include "mhc/Algebra/Expr.h"

namespace mhc::algebra {

/// `Node::isNonNegative`, of a node whose parts know theirs.
bool isNonNegative(const Node &node);
/// `Node::fixed`, of a node whose parts know theirs.
llvm::SmallVector<int64_t, 2> fixedExtents(const Node &node);

} // namespace mhc::algebra

#endif // MHC_LIB_ALGEBRA_FACTS_H
