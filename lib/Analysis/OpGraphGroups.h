//===- OpGraphGroups.h - Layers of a picture ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_ANALYSIS_OPGRAPHGROUPS_H
#define MHC_LIB_ANALYSIS_OPGRAPHGROUPS_H

#include "mhc/Analysis/OpGraph.h"

namespace mhc {

/// Adds what makes two ops alike: all but the values that they read.
void addSignature(mlir::Operation *op, std::vector<const void *> &signature);

/// Puts the nodes of a graph into groups.
void groupNodes(OpGraph &graph, llvm::ArrayRef<Layer> layers);

} // namespace mhc

#endif // MHC_LIB_ANALYSIS_OPGRAPHGROUPS_H
