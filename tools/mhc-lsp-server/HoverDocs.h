//===- HoverDocs.h - Documentation of ops under the pointer ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's server answers a hover over an op with the op's generic form only, and has no hook for more: its answers are
// completed on their way out.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_LSPSERVER_HOVERDOCS_H
#define MHC_TOOLS_LSPSERVER_HOVERDOCS_H

#include <cstdio>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mhc {

/// Copies the messages of a language server. What is no message (the text of --help) is copied as it is.
void copyWithHoverDocs(std::FILE *from, llvm::raw_ostream &to);

} // namespace mhc

#endif // MHC_TOOLS_LSPSERVER_HOVERDOCS_H
