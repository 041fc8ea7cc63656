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
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mhc;

/// The mhc.pre that makes the gate of a mix, if reshapes and casts at most are between them.
static PreOp preOf(PostOp post) {
  Value gate = post.getHPost();
  while (Operation *op = gate.getDefiningOp()) {
    if (auto pre = dyn_cast<PreOp>(op))
      return pre;
    if (!showsOperand(op))
      break;
    gate = op->getOperand(0);
  }
  return {};
}

/// A sublayer is fused when one mhc.pre makes its input and the gates of one mhc.post behind it. What differentiation
/// adds to the functions of the program does not count; a loop counts once.
static int64_t countSublayers(ModuleOp module, ModuleOp source) {
  int64_t count = 0;
  for (auto func : source.getOps<func::FuncOp>())
    if (auto compiled = module.lookupSymbol<func::FuncOp>(func.getName()))
      compiled.walk([&](PostOp post) { count += preOf(post) ? 1 : 0; });
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

llvm::Expected<std::string> mhc::checkFused(Compiler &compiler, ModuleOp source, const DriverOptions &options) {
  Compiler::Module module(source.clone());
  if (llvm::Error error =
          compiler.withRemarks(options.remarks, [&] { return compiler.run(*module, options.compile, Phase::fuse); }))
    return error;
  std::string problems;
  int64_t sublayers = countSublayers(*module, source);
  bool differs = options.expectFused && *options.expectFused != sublayers;
  if (options.failIfUnfused || differs)
    problems = describeUnfused(compiler);
  if (differs)
    problems += llvm::formatv("mhcc: error: {0} {1} fused; needed {2}\n", counted(sublayers, "sublayer"),
                              sublayers == 1 ? "is" : "are", *options.expectFused);
  return problems;
}
