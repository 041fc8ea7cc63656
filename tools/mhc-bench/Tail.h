//===- Tail.h - The last tokens of a large call, alone ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_BENCH_TAIL_H
#define MHC_TOOLS_BENCH_TAIL_H

#include "Program.h"
#include "Session.h"

namespace mhc::bench {

/// Runs a program, and then its last `tokens` alone: what belongs to a token must have the same bits. A large call
/// finds offsets that do not fit into 32 bits. Fails with the first difference.
llvm::Error checkTail(const Session &session, const Program &program, int64_t tokens);

/// Whether the results of a token depend on nothing but the token: those of mHC ops, one tensor per name.
bool hasTail(const Program &program);

} // namespace mhc::bench

#endif // MHC_TOOLS_BENCH_TAIL_H
