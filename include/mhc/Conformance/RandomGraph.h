//===- RandomGraph.h - Random graphs of the tensor language --- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_CONFORMANCE_RANDOMGRAPH_H
#define MHC_CONFORMANCE_RANDOMGRAPH_H

#include "mhc/Conformance/Random.h"
#include "mhc/Driver/Run.h"

namespace mhc::conformance {

/// A function "graph" of leaf ops and of the upstream ops that have a gradient, with arguments for it.
struct RandomGraph {
  Compiler::Module module;
  Compiler::Module externals; ///< the bodies that the module leaves out, so that the compiler cannot see them
  Tensors arguments;          ///< f64
};

/// A few ops of any kind on a few tensors, smooth almost everywhere, with values of moderate size. Functions with a
/// pole or a branch get arguments that stay away from it.
RandomGraph randomGraph(Compiler &compiler, Random &random);

} // namespace mhc::conformance

#endif // MHC_CONFORMANCE_RANDOMGRAPH_H
