//===- Compiler.cpp - The compiler for programs that are not in C++ -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc-c/Compiler.h"
#include "Recovery.h"
#include "mhc/Conversion/Passes.h"
#include "mhc/InitAll.h"
#include "mhc/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include <cstring>

using namespace mlir;

using Work = llvm::function_ref<LogicalResult(ModuleOp, raw_ostream &)>;

/// Makes a text of a graph, and keeps what is said about it.
static LogicalResult compile(StringRef graph, Work work, std::string &text, std::string &said) {
  DialectRegistry registry;
  mhc::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  ScopedDiagnosticHandler keep(&context, [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream os(said);
    if (auto line = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
      os << line.getFilename().getValue() << ":" << line.getLine() << ":" << line.getColumn() << ": ";
    os << (diagnostic.getSeverity() == DiagnosticSeverity::Error ? "error: " : "note: ") << diagnostic << "\n";
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(graph, &context);
  llvm::raw_string_ostream os(text);
  return module ? work(*module, os) : failure();
}

/// Says where the graph was written to, or why it was not.
static std::string keepGraph(StringRef graph, StringRef option) {
  int file = -1;
  SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("mhc-graph", "mlir", file, path))
    return "the graph cannot be written to a file: " + error.message();
  llvm::raw_fd_ostream os(file, /*shouldClose=*/true);
  const std::string command = ("mhc-opt " + path + " --allow-unregistered-dialect " + option).str();
  os << "// " << command << "\n" << graph;
  return "the graph is kept: " + command;
}

static int run(StringRef graph, StringRef option, Work work, char **result) {
  std::string text, said;
  LogicalResult good = failure();
  if (!mhc::runToEnd([&] { good = compile(graph, work, text, said); }))
    said += "the compiler crashed\n";
  if (failed(good))
    text = said + keepGraph(graph, option);
  *result = strdup(text.c_str());
  return succeeded(good) ? 0 : 1;
}

int mhc_rewrite_graph(const char *graph, size_t size, int differentiate, int chain, char **text) {
  mhc::RewriteAtenPassOptions options;
  options.differentiate = differentiate != 0;
  options.fuse = chain ? mhc::FuseLevel::chain : mhc::FuseLevel::layer;
  const std::string option = std::string("--mhc-rewrite-aten=\"differentiate=") + (differentiate ? "true" : "false") +
                             " fuse=" + (chain ? "chain\"" : "layer\"");
  auto rewrite = [&](ModuleOp module, raw_ostream &os) { return mhc::rewriteAten(module, options, os); };
  return run({graph, size}, option, rewrite, text);
}

int mhc_join_graph(const char *graph, size_t size, int model, int norms, char **text) {
  const mhc::FuseLevel level = model ? mhc::FuseLevel::model : mhc::FuseLevel::layer;
  const std::string option = std::string("--mhc-join-aten=\"level=") + (model ? "model" : "layer") +
                             " norms=" + (norms ? "true\"" : "false\"");
  auto join = [&](ModuleOp module, raw_ostream &os) { return mhc::joinAten(module, level, norms != 0, os); };
  return run({graph, size}, option, join, text);
}

int mhc_read_graph(const char *graph, size_t size, char **text) {
  auto read = [](ModuleOp module, raw_ostream &os) {
    PassManager pm(module.getContext());
    pm.addNestedPass<func::FuncOp>(mhc::createReadAtenPass({/*all=*/true}));
    if (failed(pm.run(module)))
      return failure();
    module.print(os, OpPrintingFlags().enableDebugInfo());
    return success();
  };
  return run({graph, size}, "--mhc-read-aten=all", read, text);
}

void mhc_free_text(char *text) { free(text); }
