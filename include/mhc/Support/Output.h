//===- Output.h - Output of programs -------------------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of the compiler and its tools: those of the runtime (mhcrt/file.h), with LLVM's errors. A raw_fd_ostream that
// was not asked for its errors ends the program with "IO failure" on a full disk; nothing here does.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_SUPPORT_OUTPUT_H
#define MHC_SUPPORT_OUTPUT_H

#include "mhcrt/file.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mhc {

/// Writes a file that is whole, or the one that was there before; "-" is the standard output.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef bytes, bool isExecutable = false);

/// The path of a new file in the folder for temporary ones, which the caller removes.
llvm::Expected<std::string> writeTemporaryFile(llvm::StringRef prefix, llvm::StringRef suffix, llvm::StringRef bytes);

/// An error where an output cannot be written, or is one file with an input or another output.
llvm::Error checkOutputs(llvm::ArrayRef<mhcrt::FileRole> outputs, llvm::ArrayRef<mhcrt::FileRole> inputs);

/// The exit status of a program: `status`, or 2 where what it printed is lost, which it says.
int finishOutput(llvm::StringRef tool, int status);

} // namespace mhc

#endif // MHC_SUPPORT_OUTPUT_H
