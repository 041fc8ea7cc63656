//===- Passes.h - Passes from mhc to mhc ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TRANSFORMS_PASSES_H
#define MHC_TRANSFORMS_PASSES_H

#include "mhc/IR/MhcDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mhc {

/// The largest unit that becomes one kernel.
enum class FuseLevel { none, chain, layer, model };
/// Form in which the gradient of streams goes from the kernel of one of their readers to that of the next.
enum class GradientSums { stored, f32 };
/// The function of one stage of a pipeline (mhc-pipeline-split).
inline std::string stageName(llvm::StringRef function, int64_t stage) {
  return function.str() + "_stage" + std::to_string(stage);
}

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "mhc/Transforms/Passes.h.inc"

} // namespace mhc

#endif // MHC_TRANSFORMS_PASSES_H
