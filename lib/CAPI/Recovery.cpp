//===- Recovery.cpp - Crashes as errors ---------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recovery.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include <mutex>

/// A thread of Python may have little.
constexpr unsigned kStackBytes = 64 << 20;

bool mhc::runToEnd(llvm::function_ref<void()> function) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  llvm::CrashRecoveryContext::Enable();
  const bool ended = llvm::CrashRecoveryContext().RunSafelyOnThread(function, kStackBytes);
  llvm::CrashRecoveryContext::Disable();
  return ended;
}
