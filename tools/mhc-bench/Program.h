//===- Program.h - Kernels that are timed together ------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_BENCH_PROGRAM_H
#define MHC_TOOLS_BENCH_PROGRAM_H

#include "Case.h"
#include "llvm/Support/Error.h"

namespace mhc::bench {

/// One kernel, or several that follow each other and share tensors by name.
struct Program {
  std::string name;
  std::vector<Case> cases;

  Sizes sizes() const { return cases.front().sizes; }
  int32_t dtype() const { return cases.front().dtype; }
  double bytes() const; ///< fewest that each kernel can move, added up
  double flops() const;
};

/// Every kernel with all its gradients; those that a model calls in another form, too; and the mHC part of a sublayer,
/// forward, backward and both. `kernels` selects some by name where it is not empty.
std::vector<Program> makePrograms(Sizes sizes, int32_t dtype, llvm::ArrayRef<std::string> kernels);
/// The error where one of `kernels` is none of these names.
llvm::Error checkNames(llvm::ArrayRef<std::string> kernels, llvm::ArrayRef<std::string> names);

} // namespace mhc::bench

#endif // MHC_TOOLS_BENCH_PROGRAM_H
