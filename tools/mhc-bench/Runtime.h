//===- Runtime.h - The runtime of one backend ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_BENCH_RUNTIME_H
#define MHC_TOOLS_BENCH_RUNTIME_H

#include "mhcrt/cuda.h"
#include "mhcrt/measure.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mhc::bench {

/// The functions of mhcrt.h and measure.h of a backend: linked for the CPU, from libmhcrt_cuda.so for the GPU.
struct Runtime {
  /// A kernel: its context and the struct of its arguments.
  using Function = mhcrt_status (*)(mhcrt_context *, const void *);

  /// `backend` is "cpu" or "cuda".
  static llvm::Expected<Runtime> open(llvm::StringRef backend);
  /// A kernel's entry by its symbol, or null.
  Function kernel(llvm::StringRef symbol) const;

  decltype(&mhcrt_context_create) createContext;
  decltype(&mhcrt_context_destroy) destroyContext;
  decltype(&mhcrt_context_threads) threads;
  decltype(&mhcrt_context_amx) amx;
  decltype(&mhcrt_context_set_amx) setAmx;
  decltype(&mhcrt_last_error) lastError;
  decltype(&mhcrt_clear_error) clearError;
  decltype(&mhcrt_buffer_create) createBuffer;
  decltype(&mhcrt_buffer_destroy) destroyBuffer;
  decltype(&mhcrt_copy) copy;
  decltype(&mhcrt_synchronize) synchronize;
  decltype(&mhcrt_measure_call) measureCall;
  decltype(&mhcrt_measure_copy_bandwidth) measureCopy;
  decltype(&mhcrt_measure_fma_peak) measureMultiplyAdds;
  /// The variant that the last call of an op took; null for a backend without variants.
  decltype(&mhcrt_cuda_chosen) chosen = nullptr;
  decltype(&mhcrt_cuda_describe) describe = nullptr;
  decltype(&mhcrt_cuda_pin) pin = nullptr;
  decltype(&mhcrt_cuda_set_strict) setStrict = nullptr;
  decltype(&mhcrt_cuda_choices) choices = nullptr;
  decltype(&mhcrt_cuda_choice_at) choiceAt = nullptr;

private:
  void *library = nullptr; ///< null for the linked runtime; stays open
};

} // namespace mhc::bench

#endif // MHC_TOOLS_BENCH_RUNTIME_H
