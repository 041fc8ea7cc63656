//===- CheckFused.cpp - Checks that a model is fused ---------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckFused.h"
#include "mhc/IR/Counted.h"
#include "mhc/IR/MhcOps.h"
#include "mhc/IR/OpKinds.h"
#include "mhc/Transforms/Sites.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mhc;

/// Whether a kernel in front of a sublayer makes the gate of the mix behind it, with reshapes and casts between them at
/// most.
static bool isMadeInFront(Value gate) {
  while (Operation *op = gate.getDefiningOp()) {
    if (isa<PreOp, PostPreOp>(op))
      return true;
    if (!showsOperand(op))
      return false;
    gate = op->getOperand(0);
  }
  return false;
}

namespace {
/// Sublayers that are fused, the boundaries between two of them that one kernel spans, and the kernels that are left in
/// front of one or behind one.
struct Fused {
  int64_t sublayers = 0, boundaries = 0, ends = 0;
};
} // namespace

/// A sublayer is fused when one kernel makes its input and the gates of the kernel behind it. What differentiation adds
/// to the functions of the program does not count; a loop counts once.
static Fused countFused(ModuleOp module, ModuleOp source) {
  Fused count;
  const auto sublayer = [&](Value gate) { count.sublayers += isMadeInFront(gate); };
  for (auto func : source.getOps<func::FuncOp>())
    if (auto compiled = module.lookupSymbol<func::FuncOp>(func.getName()))
      compiled.walk([&](Operation *op) {
        TypeSwitch<Operation *>(op)
            .Case<PostOp, PostHeadOp>([&](auto post) {
              sublayer(post.getHPost());
              ++count.ends;
            })
            .Case([&](PostPreOp both) {
              sublayer(both.getHPost());
              ++count.boundaries;
            })
            .Case([&](PreOp) { ++count.ends; });
      });
  return count;
}

/// The remarks of sites that stay unfused, as errors at their lines.
static std::string describeUnfused(Compiler &compiler) {
  llvm::Error errors = compiler.withDiagnostics("", [&] {
    bool good = true;
    for (const CompileRemark &remark : compiler.remarks())
      if (const ReasonInfo *reason = lookupReason(remark.code); reason && reason->unfused) {
        emitError(remark.at) << "not fused: " << remark.text;
        good = false;
      }
    return good;
  });
  std::string text = llvm::toString(std::move(errors));
  return text.empty() ? text : text + "\n";
}

static std::string describeBoundaries(const Fused &fused, FuseLevel level) {
  if (level != FuseLevel::model)
    return "";
  return llvm::formatv(" ({0}, {1})", counted(fused.boundaries, "kernel") + " across a boundary",
                       counted(fused.ends, "kernel") + " at an end")
      .str();
}

llvm::Expected<std::string> mhc::checkFused(Compiler &compiler, ModuleOp source, const DriverOptions &options) {
  Compiler::Module module(source.clone());
  if (llvm::Error error =
          compiler.withRemarks(options.remarks, [&] { return compiler.run(*module, options.compile, Phase::fuse); }))
    return error;
  std::string problems;
  Fused fused = countFused(*module, source);
  bool differs = options.expectFused && *options.expectFused != fused.sublayers;
  if (options.failIfUnfused || differs)
    problems = describeUnfused(compiler);
  if (differs)
    problems += llvm::formatv("mhcc: error: {0} {1} fused{2}; needed {3}\n", counted(fused.sublayers, "sublayer"),
                              fused.sublayers == 1 ? "is" : "are",
                              describeBoundaries(fused, options.compile.fuseLevel()), *options.expectFused);
  return problems;
}
