//===- RandomCall.h - One random call of a kernel, and the truth ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_BENCH_RANDOMCALL_H
#define MHC_TOOLS_BENCH_RANDOMCALL_H

#include "Bench.h"
#include "Case.h"
#include "Runtime.h"
#include "mhc/Reference/HostTensor.h"
#include "mlir/IR/MLIRContext.h"
#include <random>

namespace mhc::bench {

/// Outcome of one call.
struct Verdict {
  std::string variant; ///< that ran; empty where a backend has none
  double worst = 0;    ///< error of a result over what is allowed
  std::string problem; ///< empty when all is well
};

/// Makes random calls on a context of its own, in memory that it keeps.
class RandomCaller {
public:
  /// Calls have the streams of the options, any number where that is 0, and its pins, which Session::pin() has taken.
  RandomCaller(const Runtime &runtime, const Options &options);
  RandomCaller(const RandomCaller &) = delete;
  ~RandomCaller();

  /// An error from the start; empty when all is well.
  std::string problem() const { return context ? "" : "no context: the CUDA driver or a GPU is missing"; }
  Verdict call(const KernelInfo &info, uint64_t seed);

private:
  /// Start of each tensor in the memory of a call; guard bytes lie behind each.
  std::vector<int64_t> place(const Case &c, uint64_t seed);
  std::vector<std::pair<unsigned, reference::HostTensor>> fill(const Case &c, llvm::ArrayRef<int64_t> places,
                                                               std::mt19937_64 &random);
  std::string run(const Case &c, llvm::ArrayRef<int64_t> places);
  std::string variantOf(const Case &c) const;
  std::string runTwice(const Case &c, llvm::ArrayRef<int64_t> places);

  const Runtime &runtime;
  const Options &options;
  mhcrt_context *context = nullptr;
  std::unique_ptr<mlir::MLIRContext> mlir;
  std::vector<char> host;
  void *memory = nullptr; ///< where kernels work
  int64_t capacity = 0;
};

} // namespace mhc::bench

#endif // MHC_TOOLS_BENCH_RANDOMCALL_H
