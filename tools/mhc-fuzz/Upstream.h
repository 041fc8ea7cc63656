//===- Upstream.h - Crashes of MLIR itself -------------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_FUZZ_UPSTREAM_H
#define MHC_TOOLS_FUZZ_UPSTREAM_H

#include "llvm/ADT/StringRef.h"

namespace mhc::fuzz {

/// Whether MLIR's own parser, verifiers or passes are known to crash on the text. Such inputs say nothing about this
/// project, and would end every run.
bool crashesUpstream(llvm::StringRef text);

} // namespace mhc::fuzz

#endif // MHC_TOOLS_FUZZ_UPSTREAM_H
