//===- mhc-lsp-server.cpp - Editor support ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HoverDocs.h"
#include "mhc/InitAll.h"
#include "mhc/Support/Output.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/wait.h>
#include <unistd.h>

static int runServer(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mhc::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}

/// The server is a child, so that its answers are copied to the end however it ends.
int main(int argc, char **argv) {
  int answers[2];
  pid_t server = pipe(answers) == 0 ? fork() : -1;
  if (server < 0) {
    llvm::errs() << argv[0] << ": error: the server cannot be started\n";
    return 1;
  }
  if (server == 0) {
    dup2(answers[1], STDOUT_FILENO);
    close(answers[0]);
    close(answers[1]);
    return runServer(argc, argv);
  }
  close(answers[1]);
  mhc::copyWithHoverDocs(fdopen(answers[0], "r"), llvm::outs());
  int status = 0;
  waitpid(server, &status, 0);
  return mhc::finishOutput("mhc-lsp-server", WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}
