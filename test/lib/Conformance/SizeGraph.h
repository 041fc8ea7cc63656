//===- SizeGraph.h - Random programs of open sizes ------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_LIB_CONFORMANCE_SIZEGRAPH_H
#define MHC_LIB_CONFORMANCE_SIZEGRAPH_H

#include "Conformance/RandomGraph.h"

namespace mhc::conformance {

/// A function kGraph of a few ops on tensors with one to four open sizes, alone, joined or one behind the other, and
/// arguments for it in f32. Every op counts for some result.
struct SizeGraph {
  Compiler::Module module;
  Tensors arguments;
};

SizeGraph randomSizeGraph(Compiler &compiler, Random &random);

} // namespace mhc::conformance

#endif // MHC_LIB_CONFORMANCE_SIZEGRAPH_H
