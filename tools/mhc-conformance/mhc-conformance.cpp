//===- mhc-conformance.cpp - Compare compiled programs with golden data ---===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Conformance/Runner.h"
#include "mhc/Driver/Run.h"
#include "mhc/Support/Output.h"

using namespace mhc::conformance;

/// Evaluates the ops that the program's kernels stand for, as they are behind fusion.
static llvm::Expected<mhc::Tensors> evaluateFused(const RunRequest &request, const mhc::CompileOptions &options) {
  mhc::Compiler compiler;
  auto module = compiler.parseText(request.ir);
  if (!module)
    return module.takeError();
  if (llvm::Error error = compiler.run(**module, options, mhc::Phase::fuse))
    return error;
  return mhc::evaluate(compiler, **module, request.entry, request.inputs);
}

static bool compileAndRun(const RunRequest &request, mhc::Tensors &results, std::string &error) {
  mhc::CompileOptions options;
  options.fuse = request.fuse;
  options.gdnImpl = request.gdnImpl;
  options.grad = request.grad;
  llvm::Expected<mhc::Tensors> produced = request.backend == Backend::Reference
                                              ? evaluateFused(request, options)
                                              : mhc::runText(request.ir, request.entry, request.inputs, options);
  if (!produced) {
    error = llvm::toString(produced.takeError());
    return false;
  }
  results = std::move(*produced);
  return true;
}

int main(int argc, char **argv) {
  mhcrt::makeFileLimitAnError();
  return mhc::finishOutput("mhc-conformance", conformanceMain(argc, argv, compileAndRun));
}
