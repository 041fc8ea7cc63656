//===- NearMiss.h - Programs that look like mHC and are not --- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_CONFORMANCE_NEARMISS_H
#define MHC_CONFORMANCE_NEARMISS_H

#include "Conformance/Random.h"
#include "Conformance/RandomCase.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mhc::conformance {

class Editor;

/// One way to miss the chain.
struct NearMiss {
  const char *name;
  /// Changes one place of the program, drawn at random; false when it has none that fits.
  bool (*apply)(Editor &editor);
  /// Adds to the random program what such a place needs.
  void (*prepare)(RandomCase &random, int64_t &channels) = nullptr;
  /// Whether the change rounds. Nothing is known of roundings but that raising adds none.
  bool rounds = false;
  /// Whether the program is the front end of a gated delta net, and not mHC.
  bool isGatedDelta = false;
};

/// All of them, in the order of the table that is printed.
llvm::ArrayRef<NearMiss> nearMisses();

/// Changes `func`, whose streams are `streams` many, as `miss` says.
bool applyNearMiss(const NearMiss &miss, mlir::func::FuncOp func, int64_t streams, Random &random);

} // namespace mhc::conformance

#endif // MHC_CONFORMANCE_NEARMISS_H
