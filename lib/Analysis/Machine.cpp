//===- Machine.cpp - Speeds of known machines ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/Machine.h"
#include "llvm/ADT/STLExtras.h"

using namespace mhc;

double Machine::seconds(const Cost &cost, double tokens) const {
  return std::max(cost.bytes().at(tokens) / bytesPerSecond, cost.flops.at(tokens) / flopsPerSecond) +
         cost.launches * secondsPerLaunch;
}

llvm::ArrayRef<Machine> mhc::allMachines() {
  // GPUs: bandwidth of a measured copy (4.8e12 and 3.35e12 on paper), dense TF32 rate on paper, a usual launch in a
  // stream. cpu: two cores of a server; mhc-bench measures the machine that it runs on.
  static const Machine machines[] = {
      {"h200", 4.25e12, 495e12, 2e-6},
      {"h100", 2.97e12, 495e12, 2e-6},
      {"cpu", 20e9, 150e9, 2e-6},
  };
  return machines;
}

const Machine *mhc::lookupMachine(llvm::StringRef name) {
  const auto *it = llvm::find_if(allMachines(), [&](const Machine &machine) { return machine.name == name; });
  return it == allMachines().end() ? nullptr : it;
}
