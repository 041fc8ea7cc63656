//===- RandomGraph.h - Random graphs of the tensor language --- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_CONFORMANCE_RANDOMGRAPH_H
#define MHC_CONFORMANCE_RANDOMGRAPH_H

#include "Conformance/Random.h"
#include "mhc/Driver/Run.h"

namespace mhc::conformance {

/// A function kGraph of leaf ops and of the upstream ops that have a gradient, with arguments for it.
struct RandomGraph {
  Compiler::Module module;
  Compiler::Module externals; ///< the bodies that the module leaves out, so that the compiler cannot see them
  Tensors arguments;          ///< f64, or in the function's types for randomModule
};

/// Gives functions of `module` that have no body theirs.
void defineExternals(mlir::ModuleOp module, mlir::ModuleOp externals);

inline constexpr const char *kGraph = "graph";

/// A few ops of any kind on a few tensors, smooth almost everywhere, with values of moderate size. Functions with a
/// pole or a branch get arguments that stay away from it.
RandomGraph randomGraph(Compiler &compiler, Random &random);

/// The same with one to three mHC chains or front ends of gated delta nets among the ops, in random spellings, of f32,
/// bf16 or f16, with sizes known or not; some front ends are ops already, and those of their gradients. Random ops feed
/// the chains and read their values; near misses of chains come as well.
RandomGraph randomModule(Compiler &compiler, Random &random);

} // namespace mhc::conformance

#endif // MHC_CONFORMANCE_RANDOMGRAPH_H
