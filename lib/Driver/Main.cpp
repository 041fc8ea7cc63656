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
#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/Support/Output.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BuryPointer.h"
#include <cstdio>

using namespace mhc;
using llvm::StringRef;

static constexpr int kGood = 0, kCheckFailed = 1, kError = 2;

static int fail(llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  // The first line of a diagnostic says where it is from; any other message comes from this program.
  if (!StringRef(text).split('\n').first.contains(": error: "))
    text = "mhcc: error: " + text;
  llvm::errs() << text << "\n";
  return kError;
}

/// The files that options such as `--arg NAME=FILE` name; a FILE may have a '=' in it, and both readings count.
static void appendFiles(StringRef option, llvm::ArrayRef<std::string> words, std::vector<mhcrt::FileRole> &files) {
  for (StringRef word : words) {
    files.push_back({"'" + option.str() + "'", word.str()});
    files.push_back({"'" + option.str() + "'", word.split('=').second.str()});
  }
}

/// Before the work, that nothing of it is lost. What a run writes is checked with its results.
static llvm::Error checkFiles(const DriverOptions &options) {
  std::vector<mhcrt::FileRole> inputs = {{"the model", options.input}};
  appendFiles("--arg", options.runOptions.args, inputs);
  appendFiles("--args", options.runOptions.bundles, inputs);
  appendFiles("--expect", options.runOptions.expects, inputs);
  appendFiles("--out", options.runOptions.outs, inputs);
  const bool printsModule = options.compileTo && options.output.empty() && !options.library;
  return checkOutputs({{"'-o'", printsModule ? "-" : options.output},
                       {"'--explain=json'", options.explain == Explain::json ? "-" : ""},
                       {"'--emit-header'", options.header},
                       {"'--remarks'", options.remarks},
                       {"'--report'", options.report},
                       {"'--reproducer'", options.reproducer}},
                      inputs);
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

static llvm::Error writeOutput(Compiler &compiler, mlir::ModuleOp module, const DriverOptions &options) {
  if (options.library)
    return compiler.writeLibrary(module, options.compile, options.output);
  auto bytes = compileTo(compiler, module, options.compile, *options.compileTo);
  if (!bytes)
    return bytes.takeError();
  return writeFile(options.output.empty() ? "-" : options.output, *bytes);
}

static int runModel(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options) {
  Compiler::Module module(source.clone());
  auto model = compiler.jit(*module, options.compile);
  if (!model)
    return fail(model.takeError());
  std::string wrong;
  if (!mhcrt::loadFunctions((*model)->get(), options.runOptions.kernels, wrong))
    return fail(llvm::createStringError(wrong));
  int status = kGood;
  if (options.run || options.runOptions.list)
    status = mhcrt::runModel("mhcc", (*model)->get(), options.runOptions);
  std::string lost; // llvm::outs() has a buffer of its own
  if (!mhcrt::flushStandardOutput(lost))
    return fail(llvm::createStringError(lost));
  if (status == kError || !options.verify)
    return status;
  auto good = verify(compiler, source, (*model)->get(), options);
  if (!good)
    return fail(good.takeError());
  return *good ? status : kCheckFailed;
}

static llvm::Error explainModel(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options,
                                const RecomputeChoice &recompute) {
  auto explanation = explain(compiler, source, options);
  if (!explanation)
    return explanation.takeError();
  if (options.explain != Explain::no)
    printExplanation(*explanation, recompute, compiler.remarks(), options);
  if (options.measure)
    if (llvm::Error error =
            measure(compiler, source, options, [&](StringRef entry) { printBounds(*explanation, entry, options); }))
      return error;
  if (options.report.empty())
    return llvm::Error::success();
  return writeFile(options.report,
                   reportPage(*explanation, compiler.remarks(), costReportOptions(options), options.input));
}

/// The symbols of sizes that arguments have.
static llvm::SetVector<StringRef> symbolsOf(mlir::ModuleOp module) {
  llvm::SetVector<StringRef> symbols;
  for (auto func : module.getOps<mlir::func::FuncOp>())
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (auto dims = func.getArgAttrOfType<mlir::ArrayAttr>(i, kDims))
        for (StringRef dim : dims.getAsValueRange<mlir::StringAttr>())
          if (isSymbol(dim)) // a sum of products is of others
            symbols.insert(dim);
  return symbols;
}

/// A size that no argument has would do nothing. The halves of a gradient may have some that the program has not.
static llvm::Error checkSizes(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options) {
  llvm::SetVector<StringRef> symbols;
  auto isUnknown = [&](const auto &size) { return !symbols.contains(size.first); };
  for (Phase phase : {Phase::input, Phase::bufferize}) {
    if (llvm::none_of(options.sizes, isUnknown))
      return llvm::Error::success();
    Compiler::Module module(source.clone());
    if (llvm::Error error = compiler.run(*module, options.compile, phase))
      return error;
    symbols = symbolsOf(*module);
  }
  for (auto &[symbol, size] : options.sizes)
    if (!symbols.contains(symbol))
      return llvm::createStringError("'--size' is of '" + symbol + "'; the arguments have " +
                                     (symbols.empty() ? "no sizes to give" : "'" + llvm::join(symbols, "', '") + "'"));
  return llvm::Error::success();
}

static int compileAndRun(Compiler &compiler, mlir::ModuleOp module, DriverOptions &options) {
  if (llvm::Error error = checkSizes(compiler, module, options))
    return fail(std::move(error));
  auto recompute = chooseRecompute(compiler, module, options);
  if (!recompute)
    return fail(recompute.takeError());
  options.compile.recompute = recompute->mode;
  if (recompute->peakBytes)
    llvm::errs() << "mhcc: note: " << describe(*recompute, options) << "\n";
  if (options.failIfUnfused || options.expectFused || !options.remarks.empty()) {
    auto problems = checkFused(compiler, module, options);
    if (!problems)
      return fail(problems.takeError());
    llvm::errs() << *problems;
    if (!problems->empty())
      return kCheckFailed;
  }
  if (options.explain != Explain::no || !options.report.empty())
    if (llvm::Error error = explainModel(compiler, module, options, *recompute))
      return fail(std::move(error));
  if (!options.header.empty()) {
    auto text = headerText(compiler, module, options);
    if (llvm::Error error = text ? writeFile(options.header, *text) : text.takeError())
      return fail(std::move(error));
  }
  bool runs = options.run || options.verify || options.runOptions.list;
  const bool makesEntries =
      runs || options.library || options.compileTo == Phase::llvm || options.compileTo == Phase::object;
  if (makesEntries && llvm::none_of(module.getOps<mlir::func::FuncOp>(), isEntry))
    return fail(llvm::createStringError("'" + options.input + "' has no entry: needed a public function with a body"));
  if (options.compileTo || options.library) {
    Compiler::Module copy(runs ? module.clone() : nullptr); // what runs is compiled from the source again
    if (llvm::Error error = writeOutput(compiler, runs ? *copy : module, options))
      return fail(std::move(error));
  }
  if (runs)
    return runModel(compiler, module, options);
  // Nothing to make: the program is checked.
  if (!options.compileTo && !options.library && options.header.empty() && options.report.empty() &&
      options.explain == Explain::no)
    if (llvm::Error error = compiler.run(module, options.compile, Phase::lower))
      return fail(std::move(error));
  return kGood;
}

static int compileAndRun(DriverOptions &options) {
  if (llvm::Error error = checkFiles(options))
    return fail(std::move(error));
  Compiler compiler;
  if (options.timing)
    compiler.printTiming();
  compiler.writeReproducer(options.reproducer);
  auto module = compiler.parseFile(options.input, options.mesh);
  if (!module)
    return fail(module.takeError());
  int status = compileAndRun(compiler, **module, options);
  llvm::BuryPointer(module->release().getOperation()); // the process ends: it need not free op by op
  return status;
}

int mhc::mhccMain(int argc, const char *const *argv) {
  auto options = parseDriverOptions(argc, argv);
  if (!options)
    return fail(options.takeError());
  if (options->runOptions.help) {
    llvm::outs() << driverHelp();
    return finishOutput("mhcc", kGood);
  }
  if (options->version) {
    llvm::outs() << "mhcc " MHC_VERSION ", LLVM " LLVM_VERSION_STRING "\n";
    return finishOutput("mhcc", kGood);
  }
  return finishOutput("mhcc", compileAndRun(*options));
}
