//===- Opt.cpp - Run passes on a file -----------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc-c/Compiler.h"
#include "mhc/InitAll.h"
#include "mhc/Support/Output.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/PrettyStackTrace.h"

/// Whether a pass of the command line prints to the standard output: a program behind it there would spoil that.
static bool somePassPrints() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler([](mlir::Diagnostic &) {}); // MlirOptMain says what is wrong
  mlir::PassManager pm(&context);
  return succeeded(mlir::MlirOptMainConfig::createFromCLOptions().setupPassPipeline(pm)) &&
         llvm::any_of(pm.getPasses(), [](mlir::Pass &pass) {
           return llvm::is_contained({"mhc-dump-graph", "mhc-join-aten", "mhc-rewrite-aten"}, pass.getArgument());
         });
}

/// Runs mlir::MlirOptMain on files; the output is written whole, or not at all where a pass fails.
static mlir::LogicalResult run(llvm::StringRef input, llvm::StringRef output, mlir::DialectRegistry &registry) {
  std::string message, text;
  std::unique_ptr<llvm::MemoryBuffer> file = mlir::openInputFile(input, &message);
  if (!file) {
    llvm::errs() << message << "\n";
    return mlir::failure();
  }
  llvm::raw_string_ostream stream(text);
  mlir::LogicalResult good =
      mlir::MlirOptMain(stream, std::move(file), registry, mlir::MlirOptMainConfig::createFromCLOptions());
  if (failed(good) && output != "-")
    return good;
  if (llvm::Error error = mhc::writeFile(output, text)) {
    llvm::errs() << "mhc-opt: error: " << llvm::toString(std::move(error)) << "\n";
    return mlir::failure();
  }
  return good;
}

int mhc_opt(int argc, char **argv) {
  llvm::setBugReportMsg("mhc-opt crashed; please report it with the file that "
                        "--mlir-pass-pipeline-crash-reproducer=FILE writes\n");
  mlir::DialectRegistry registry;
  mhc::registerAllDialects(registry);
  mhc::registerAllPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, "mhc optimizer\n", registry);
  if (output == "-" && somePassPrints())
    output = "/dev/null";
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  mlir::LogicalResult good = mlir::success();
  if (config.shouldShowDialects() || config.shouldListPasses()) {
    good = mlir::MlirOptMain(argc, argv, input, output, registry);
  } else {
    llvm::InitLLVM init(argc, argv);
    mhcrt::makeFileLimitAnError(); // behind LLVM, which calls that a crash
    if (llvm::Error error = mhc::checkOutputs({{"'-o'", output}}, {{"the model", input}})) {
      llvm::errs() << "mhc-opt: error: " << llvm::toString(std::move(error)) << "\n";
      return 1;
    }
    good = run(input, output, registry);
  }
  return mhc::finishOutput("mhc-opt", mlir::asMainReturnCode(good));
}
