//===- Machine.h - Speeds of known machines ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_ANALYSIS_MACHINE_H
#define MHC_ANALYSIS_MACHINE_H

#include "mhc/Analysis/CostModel.h"
#include "llvm/ADT/ArrayRef.h"

namespace mhc {

struct Machine {
  llvm::StringRef name;
  double bytesPerSecond;
  double flopsPerSecond;
  double secondsPerLaunch;

  /// The slower of memory and arithmetic, and the launches. Nothing takes less but for products of 16 bits, which may
  /// beat the rate of wider ones.
  double seconds(const Cost &cost, double tokens) const;
};

llvm::ArrayRef<Machine> allMachines();
/// Null for a name that is not in the table.
const Machine *lookupMachine(llvm::StringRef name);

} // namespace mhc

#endif // MHC_ANALYSIS_MACHINE_H
