//===- mhc-opt.cpp - Run passes on a file ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/InitAll.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/PrettyStackTrace.h"

/// Whether a pass of the command line prints to the standard output: a program behind it there would spoil that.
static bool somePassPrints() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler([](mlir::Diagnostic &) {}); // MlirOptMain says what is wrong
  mlir::PassManager pm(&context);
  return succeeded(mlir::MlirOptMainConfig::createFromCLOptions().setupPassPipeline(pm)) &&
         llvm::any_of(pm.getPasses(), [](mlir::Pass &pass) { return pass.getArgument() == "mhc-dump-graph"; });
}

int main(int argc, char **argv) {
  llvm::setBugReportMsg("mhc-opt crashed; please report it with the file that "
                        "--mlir-pass-pipeline-crash-reproducer=FILE writes\n");
  mlir::DialectRegistry registry;
  mhc::registerAllDialects(registry);
  mhc::registerAllPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, "mhc optimizer\n", registry);
  if (output == "-" && somePassPrints())
    output = "/dev/null";
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
}
