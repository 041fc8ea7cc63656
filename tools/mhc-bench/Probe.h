//===- Probe.h - Name of a machine, its speed and its bits ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_BENCH_PROBE_H
#define MHC_TOOLS_BENCH_PROBE_H

#include "Session.h"
#include "mhc/IR/KernelInfo.h"
#include "llvm/Support/raw_ostream.h"

namespace mhc::bench {

/// Prints the machine of a session, and what the library has for it.
void printMachine(const Session &session, llvm::raw_ostream &os);

/// Prints the bits that the kernels make of fixed operands, as bits.txt has them: on a CPU, with each instruction set
/// of this machine. `kernels` selects some by name where it is not empty.
llvm::Error printBits(const Session &session, llvm::ArrayRef<std::string> kernels, llvm::raw_ostream &os);

/// Checks that a change of any operand of a kernel changes its results: one that no kernel reads is an error.
llvm::Error checkReads(const Session &session, llvm::ArrayRef<const KernelInfo *> kernels, llvm::raw_ostream &os);

/// Compares the bits with those of bits.txt, and fails where they differ. A machine that is not in there passes.
llvm::Error compareBits(const Session &session, llvm::raw_ostream &os);

} // namespace mhc::bench

#endif // MHC_TOOLS_BENCH_PROBE_H
