//===- KernelFunction.h - A kernel called by its record ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_BENCH_KERNELFUNCTION_H
#define MHC_TOOLS_BENCH_KERNELFUNCTION_H

#include "Case.h"
#include "Runtime.h"
#include <memory>

namespace mhc::bench {

/// A kernel's entry with the arguments of a case.
class KernelFunction {
public:
  /// `data` has one pointer per tensor of the record, null for the absent ones; those of a list lie one behind the
  /// other.
  KernelFunction(const Case &c, Runtime::Function function, mhcrt_context *context, const std::vector<void *> &data);
  KernelFunction(const KernelFunction &) = delete;

  /// False when the runtime has no such kernel.
  bool isFound() const { return function != nullptr; }
  mhcrt_status operator()() { return function(context, args.data()); }

private:
  void *pointersOf(const CaseTensor &list, void *first);

  Runtime::Function function;
  mhcrt_context *context;
  std::vector<int64_t> args; ///< the bytes of the kernel's struct
  std::vector<std::unique_ptr<std::vector<char *>>> lists;
};

} // namespace mhc::bench

#endif // MHC_TOOLS_BENCH_KERNELFUNCTION_H
