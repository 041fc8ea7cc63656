//===- mhc-reduce.cpp - Make a module that shows a fault smaller ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reducer.h"
#include "mhc/InitAll.h"
#include "mhc/Support/Output.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;

static cl::OptionCategory category("mhc-reduce options");
static cl::opt<std::string> input(cl::Positional, cl::desc("FILE"), cl::Required, cl::cat(category));
static cl::opt<std::string>
    script("test", cl::desc("A program that gets the path of a module and exits with 0 while that shows the fault"),
           cl::Required, cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("Where the small module goes"), cl::init("-"), cl::cat(category));

static int fail(const Twine &message) {
  errs() << "mhc-reduce: error: " << message << "\n";
  return 1;
}

static std::string textOf(mlir::ModuleOp module) {
  std::string text;
  raw_string_ostream(text) << module << "\n";
  return text;
}

static bool shows(mlir::ModuleOp module) {
  Expected<std::string> path = mhc::writeTemporaryFile("mhc-reduce", "mlir", textOf(module));
  if (!path)
    report_fatal_error(path.takeError(), /*gen_crash_diag=*/false);
  FileRemover remove(*path);
  std::optional<StringRef> nowhere[] = {StringRef(), StringRef(), StringRef()};
  return sys::ExecuteAndWait(script, {script, *path}, std::nullopt, nowhere) == 0;
}

int main(int argc, char **argv) {
  setBugReportMsg("mhc-reduce crashed\n");
  InitLLVM init(argc, argv);
  mhcrt::makeFileLimitAnError();      // behind LLVM, which calls that a crash
  cl::HideUnrelatedOptions(category); // those of the libraries
  cl::ParseCommandLineOptions(argc, argv, "mhc-reduce: make a module that shows a fault smaller\n");
  if (Error error = mhc::checkOutputs({{"'-o'", output}}, {{"the model", input}, {"'--test'", script}}))
    return fail(toString(std::move(error)));
  mlir::DialectRegistry registry;
  mhc::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  std::string message;
  std::unique_ptr<MemoryBuffer> text = mlir::openInputFile(input, &message);
  if (!text)
    return fail(message);
  SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(text), SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return 1;
  if (!sys::fs::can_execute(script))
    return fail("'" + script + "' cannot be run");
  if (!shows(*module))
    return fail("'" + script + "' does not exit with 0 for '" + input + "' itself");
  module = mhc::Reducer(std::move(module), shows).run();
  if (Error error = mhc::writeFile(output, textOf(*module)))
    return fail(toString(std::move(error)));
  return mhc::finishOutput("mhc-reduce", 0);
}
