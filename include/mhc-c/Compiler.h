//===- Compiler.h - The compiler for programs that are not in C++ -*- C -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call takes a text and makes another one, in memory: no file, no process. It may come from any thread.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_C_COMPILER_H
#define MHC_C_COMPILER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Puts into `text` what replaces the mHC chains of a captured PyTorch graph, as mhc-rewrite-aten prints it: the graph
/// of ATen ops that mhc-read-aten describes, of `size` bytes. `differentiate` says whether PyTorch differentiates the
/// calls, `chain` whether each of them is one step, as with fuse=chain.
///
/// Returns 0, or 1 with an error as the text. A crash of the compiler is such an error as well. It names a file that
/// has the graph and the command that does the same.
int mhc_rewrite_graph(const char *graph, size_t size, int differentiate, int chain, char **text);

/// The same for what joins neighbouring calls of a graph behind AOTAutograd, as mhc-join-aten prints it: at level model
/// where `model` is not 0, else at level layer; norms of u become parts of a kernel where `norms` is not 0.
int mhc_join_graph(const char *graph, size_t size, int model, int norms, char **text);

/// The same for a program of leaf ops, as mhc-read-aten=all makes it of a graph that has no other ops.
int mhc_read_graph(const char *graph, size_t size, char **text);

/// Frees such a text.
void mhc_free_text(char *text);

/// The program mhc-opt.
int mhc_opt(int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif // MHC_C_COMPILER_H
