//===- mhc-fuzz.cpp - Compile whatever comes ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The target of libFuzzer: text of a module, through every phase up to the LLVM dialect, or where it is a graph of
// PyTorch, through what the backend does with it. An error is an answer; a crash, a complaint of a sanitizer, a hang,
// and a phase that succeeds with a module that does not verify are findings.
//
//===----------------------------------------------------------------------===//

#include "Upstream.h"
#include "mhc/Driver/Driver.h"
#include "mhc/InitAll.h"
#include "mhc/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mhc;

/// A phase turns a valid module into a valid one.
static void requireValid(Compiler &compiler, mlir::ModuleOp module, Phase phase) {
  if (llvm::Error error = compiler.withDiagnostics("no diagnostic", [&] { return succeeded(mlir::verify(module)); })) {
    llvm::errs() << "phase '" << phaseName(phase) << "' made an invalid module: " << llvm::toString(std::move(error))
                 << "\n";
    std::abort();
  }
}

/// The size of an input chooses, so that an input says all: most are compiled with all fusion and for the CPU.
static CompileOptions optionsFor(mlir::ModuleOp module, size_t size) {
  CompileOptions options;
  options.fuse = size % 4 == 0 ? FuseLevel::none : size % 4 == 1 ? FuseLevel::model : FuseLevel::layer;
  if (size % 5 == 0)
    options.gpu = kDefaultGpu;
  auto functions = module.getOps<mlir::func::FuncOp>();
  if (size % 3 == 0 && !functions.empty())
    options.grad = (*functions.begin()).getName();
  return options;
}

/// The calls of a graph are of no dialect. The size of an input chooses here as well.
static int runGraph(llvm::StringRef text, size_t size) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) {});
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return -1;
  RewriteAtenPassOptions options;
  options.differentiate = size % 2 == 0;
  options.fuse = size % 5 == 0 ? FuseLevel::chain : FuseLevel::layer;
  (void)(size % 3 == 0 ? joinAten(*module, FuseLevel::model, /*norms=*/true, llvm::nulls())
                       : rewriteAten(*module, options, llvm::nulls()));
  return 0;
}

/// -1 keeps an input out of the corpus that no pass sees.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  if (fuzz::crashesUpstream(text))
    return -1;
  if (text.contains("\"aten."))
    return runGraph(text, size);
  Compiler compiler;
  auto module = compiler.parseText(text);
  if (!module) {
    llvm::consumeError(module.takeError());
    return -1;
  }
  const CompileOptions options = optionsFor(**module, size);
  Phase before = Phase::input;
  llvm::Error error = compiler.run(**module, options, before);
  for (Phase phase : {Phase::raise, Phase::fuse, Phase::bufferize, Phase::lower}) {
    if (error)
      break;
    requireValid(compiler, **module, before);
    error = compiler.run(**module, options, before, phase);
    before = phase;
  }
  if (!error)
    requireValid(compiler, **module, before);
  llvm::consumeError(std::move(error));
  return 0;
}
