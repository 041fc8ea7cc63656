//===- Pipelines.h - From a model to LLVM, phase by phase ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_PIPELINES_PIPELINES_H
#define MHC_PIPELINES_PIPELINES_H

#include "mhc/Transforms/Passes.h"
#include "mhc/Transforms/RaiseCheck.h"
#include <optional>

namespace mhc {

/// The states of a program, in order. A phase is named after what it makes.
enum class Phase {
  input,     ///< as written, calls inlined but those that differentiation needs
  raise,     ///< mHC ops in place of the chains that spell them out
  fuse,      ///< as few kernel ops as the fusion level allows, with gradients where wanted
  loops,     ///< kernel ops, and linalg ops that are one loop each
  bufferize, ///< launches and linalg on buffers in one arena
  lower,     ///< LLVM dialect
  llvm,      ///< optimised LLVM IR
  object     ///< machine code
};

std::optional<Phase> parsePhase(llvm::StringRef name);
llvm::StringRef phaseName(Phase phase);
/// "'input', 'raise', ..."
std::string phaseNames();

struct PipelineOptions {
  FuseLevel fuse = FuseLevel::layer;
  int64_t raiseLimit = -1, fuseLimit = -1; ///< as in mhc-raise and mhc-fuse
  std::string grad;                        ///< the function to differentiate; empty for none
  int64_t stages = 1;                      ///< of a pipeline, as in mhc-pipeline-split
  GradientSums sums = GradientSums::stored;
  std::string recompute;              ///< of its streams, as in mhc-autodiff
  std::optional<Precision> precision; ///< of ops that leave it open
  std::string gdnImpl;                ///< as in mhc-set-gdn-impl
  std::string layout;                 ///< as in mhc-set-layout; empty where streams keep theirs
  std::string gpu;                    ///< "sm_90a"; empty for the CPU
  unsigned optLevel = 2;              ///< of GPU kernels
  bool lines = false;                 ///< passes the lines of calls to the runtime
  RaiseCheck raiseCheck;              ///< asked before each raise, if any
  bool keepsResults = false;          ///< of kernels, where loops could read operands in their place

  std::string target() const { return gpu.empty() ? "cpu" : "cuda:" + gpu; }
};

/// Adds the passes that lead from the state behind `from` to the state behind `to`. The last two phases have no passes:
/// the driver does them.
void buildPipeline(mlir::OpPassManager &pm, const PipelineOptions &options, Phase from, Phase to);
/// The same from a program as it was read.
void buildPipeline(mlir::OpPassManager &pm, const PipelineOptions &options, Phase to);

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "mhc/Pipelines/Passes.h.inc"

/// Prints what mhc-rewrite-aten does, of a module whose functions it changes.
mlir::LogicalResult rewriteAten(mlir::ModuleOp module, const RewriteAtenPassOptions &options, llvm::raw_ostream &os);

/// The same of mhc-join-aten.
mlir::LogicalResult joinAten(mlir::ModuleOp module, FuseLevel level, bool norms, llvm::raw_ostream &os);

/// Makes the passes of a phase known to mhc-opt as `mhc-phase-<name>`, and the passes of this folder.
void registerPipelines();

} // namespace mhc

#endif // MHC_PIPELINES_PIPELINES_H
