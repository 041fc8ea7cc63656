//===- Main.cpp - All of mhcc ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Driver/Main.h"
#include "CheckFused.h"
#include "Explain.h"
#include "Options.h"
#include "Recompute.h"
#include "Report.h"
#include "Verify.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/ToolOutputFile.h"
#include <cstdio>

using namespace mhc;
using llvm::StringRef;

static constexpr int kGood = 0, kCheckFailed = 1, kError = 2;

static int fail(llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  // A diagnostic says where it is from; any other message comes from this program.
  if (!StringRef(text).contains(": error: "))
    text = "mhcc: error: " + text;
  llvm::errs() << text << "\n";
  return kError;
}

static llvm::Error writeFile(StringRef path, StringRef bytes) {
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file = mlir::openOutputFile(path, &message);
  if (!file)
    return llvm::createStringError(message);
  file->os() << bytes;
  file->os().flush();
  if (std::error_code error = file->os().error()) {
    file->os().clear_error();
    return llvm::createStringError(error, "'" + path.str() + "' cannot be written: " + error.message());
  }
  file->keep();
  return llvm::Error::success();
}

/// The phase that the options ask for; none stands for a model library.
static std::optional<Phase> outputPhase(const DriverOptions &options) {
  StringRef output = options.output;
  if (options.compileTo)
    return options.compileTo;
  if (output.ends_with(".so"))
    return std::nullopt;
  return output.ends_with(".o") ? Phase::object : output.ends_with(".ll") ? Phase::llvm : Phase::lower;
}

static llvm::Expected<std::string> compileTo(Compiler &compiler, mlir::ModuleOp module, const CompileOptions &options,
                                             Phase phase) {
  if (phase == Phase::llvm)
    return compiler.llvmText(module, options);
  if (phase == Phase::object) {
    auto bytes = compiler.object(module, options);
    if (!bytes)
      return bytes.takeError();
    return std::string(bytes->begin(), bytes->end());
  }
  if (llvm::Error error = compiler.run(module, options, phase))
    return error;
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text + "\n";
}

static llvm::Error writeOutput(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options) {
  Compiler::Module module(source.clone());
  std::optional<Phase> phase = outputPhase(options);
  if (!phase)
    return compiler.writeLibrary(*module, options.compile, options.output);
  auto bytes = compileTo(compiler, *module, options.compile, *phase);
  if (!bytes)
    return bytes.takeError();
  return writeFile(options.output.empty() ? "-" : options.output, *bytes);
}

static int runModel(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options) {
  Compiler::Module module(source.clone());
  auto model = compiler.jit(*module, options.compile);
  if (!model)
    return fail(model.takeError());
  int status = kGood;
  if (options.run || options.runOptions.list)
    status = mhcrt::runModel("mhcc", (*model)->get(), options.runOptions);
  std::fflush(stdout); // llvm::outs() has a buffer of its own
  if (status == kError || !options.verify)
    return status;
  auto good = verify(compiler, source, (*model)->get(), options);
  if (!good)
    return fail(good.takeError());
  return *good ? status : kCheckFailed;
}

static llvm::Error explainModel(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options) {
  auto explanation = explain(compiler, source, options);
  if (!explanation)
    return explanation.takeError();
  if (options.explain != Explain::no)
    printExplanation(*explanation, compiler.remarks(), options);
  if (options.report.empty())
    return llvm::Error::success();
  return writeFile(options.report,
                   reportPage(*explanation, compiler.remarks(), costReportOptions(options), options.input));
}

static int compileAndRun(DriverOptions &options) {
  Compiler compiler;
  if (options.timing)
    compiler.printTiming();
  compiler.writeReproducer(options.reproducer);
  auto module = compiler.parseFile(options.input);
  if (!module)
    return fail(module.takeError());
  auto recompute = chooseRecompute(compiler, **module, options);
  if (!recompute)
    return fail(recompute.takeError());
  options.compile.recompute = *recompute;
  if (options.failIfUnfused || options.expectFused || !options.remarks.empty()) {
    auto problems = checkFused(compiler, **module, options);
    if (!problems)
      return fail(problems.takeError());
    llvm::errs() << *problems;
    if (!problems->empty())
      return kCheckFailed;
  }
  if (options.explain != Explain::no || !options.report.empty())
    if (llvm::Error error = explainModel(compiler, **module, options))
      return fail(std::move(error));
  if (!options.header.empty()) {
    auto text = headerText(compiler, **module, options);
    if (llvm::Error error = text ? writeFile(options.header, *text) : text.takeError())
      return fail(std::move(error));
  }
  bool runs = options.run || options.verify || options.runOptions.list;
  if (options.compileTo || !options.output.empty())
    if (llvm::Error error = writeOutput(compiler, **module, options))
      return fail(std::move(error));
  if (runs)
    return runModel(compiler, **module, options);
  // Nothing to make: the program is checked.
  if (!options.compileTo && options.output.empty() && options.header.empty() && options.report.empty() &&
      options.explain == Explain::no)
    if (llvm::Error error = compiler.run(**module, options.compile, Phase::lower))
      return fail(std::move(error));
  return kGood;
}

int mhc::mhccMain(int argc, const char *const *argv) {
  auto options = parseDriverOptions(argc, argv);
  if (!options)
    return fail(options.takeError());
  if (options->runOptions.help) {
    llvm::outs() << driverHelp();
    return kGood;
  }
  if (options->version) {
    llvm::outs() << "mhcc " MHC_VERSION ", LLVM " LLVM_VERSION_STRING "\n";
    return kGood;
  }
  return compileAndRun(*options);
}
