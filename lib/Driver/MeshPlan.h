//===- MeshPlan.h - Costs of a mesh of ranks ------------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_DRIVER_MESHPLAN_H
#define MHC_LIB_DRIVER_MESHPLAN_H

#include "Options.h"
#include "llvm/Support/JSON.h"

namespace mhc {

/// Bytes that one rank sends with a collective of mhc-train.
struct Collective {
  std::string name;
  int64_t bytes = 0, messages = 1;
  bool isPerMicrobatch = false; ///< else per step
  bool isBetweenHosts = false;  ///< over the slowest link of those that take part
};

/// Work of a rank: both passes of a microbatch, or the update behind a step.
struct Work {
  double bytes = 0, flops = 0, launches = 0;
  double seconds = 0; ///< at the rates of the machine
};

/// A rank of one stage.
struct StagePlan {
  Work microbatch, update;
  std::vector<Collective> collectives;
  int64_t gradients = 0; ///< bytes of the gradients that it computes
  int64_t state = 0;     ///< bytes of its weights and moments, and of their gradients
  int64_t saved = 0;     ///< bytes between the two passes of a microbatch
  int64_t arena = 0;     ///< bytes of the larger pass
  int64_t inFlight = 1;  ///< microbatches between their passes, with enough of them
};

struct MeshPlan {
  std::vector<StagePlan> stages;
  /// Bytes that a rank sends to its tensor-parallel neighbours for a microbatch, and the same of the model without mHC.
  int64_t tokens = 0, tokensWithoutStreams = 0;
};

/// Costs of the gradients of a model whose sizes are numbers, as mhc-train sums and hands over.
llvm::Expected<MeshPlan> planMesh(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options);

void printMeshPlan(llvm::raw_ostream &os, const DriverOptions &options, const MeshPlan &plan);
llvm::json::Value toJson(const DriverOptions &options, const MeshPlan &plan);

} // namespace mhc

#endif // MHC_LIB_DRIVER_MESHPLAN_H
