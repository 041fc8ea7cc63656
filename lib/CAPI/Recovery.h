//===- Recovery.h - Crashes as errors ---------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_CAPI_RECOVERY_H
#define MHC_LIB_CAPI_RECOVERY_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mhc {

/// Whether the function came to its end. One that crashes ends here; what it holds is lost. The process's handlers of
/// signals are ours meanwhile, so that one function runs at a time.
bool runToEnd(llvm::function_ref<void()> function);

} // namespace mhc

#endif // MHC_LIB_CAPI_RECOVERY_H
