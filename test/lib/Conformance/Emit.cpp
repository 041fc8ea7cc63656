//===- Emit.cpp - Golden cases for another machine ------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Emit.h"
#include "CaseData.h"
#include "Conformance/CaseIr.h"
#include "mhc/Support/Output.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <filesystem>

namespace mhc::conformance {

static CompileOptions compileOptions(const Options &options) {
  CompileOptions compile;
  compile.fuse = options.fuse;
  compile.gdnImpl = options.gdnImpl;
  if (options.backend == Backend::Cuda)
    compile.gpu = kDefaultGpu.str();
  return compile;
}

static std::string message(llvm::Error error) { return "  " + llvm::toString(std::move(error)) + "\n"; }

std::string CheckWriter::startLibrary(const std::string &wanted) {
  if (wanted == variant)
    return "";
  std::string problem = finishLibrary();
  variant = wanted;
  entries.clear();
  module = {}; // lives in the context of its compiler
  compiler = std::make_unique<Compiler>();
  module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&compiler->context()));
  std::error_code failed;
  std::filesystem::create_directories(options.emit + "/" + variant, failed);
  checks << "library " << variant << ".so\n";
  return failed ? "  '" + options.emit + "/" + variant + "': " + failed.message() + "\n" : problem;
}

std::string CheckWriter::finishLibrary() {
  if (entries.empty())
    return "";
  std::string path = options.emit + "/" + variant + ".so";
  if (llvm::Error error = compiler->writeLibrary(*module, compileOptions(options), path, Phase::fuse))
    return message(std::move(error));
  return "";
}

/// The number of the entry that computes the program or its gradients, which is compiled where it is new.
llvm::Expected<std::string> CheckWriter::entryFor(const std::string &ir, bool gradients) {
  auto [place, isNew] = entries.try_emplace((gradients ? "gradients of " : "") + ir);
  if (!isNew)
    return place->second;
  std::string name = "c" + std::to_string(entries.size()), wanted = gradients ? "case_grad" : "case";
  CompileOptions compile = compileOptions(options);
  compile.grad = gradients ? "case" : "";
  auto parsed = compiler->parseText(ir);
  if (!parsed)
    return parsed.takeError();
  if (llvm::Error error = compiler->run(**parsed, compile, Phase::fuse))
    return error;
  auto function = (*parsed)->lookupSymbol<mlir::func::FuncOp>(wanted);
  function->remove();
  function.setName(name);
  module->push_back(function);
  return place->second = name;
}

/// One file with the arguments of both functions and what they should give.
std::string CheckWriter::writeData(const Case &golden, bool gradients, std::string &data) {
  std::vector<mhcrt::HostTensor> arguments;
  std::map<std::string, mhcrt::HostTensor> wants;
  std::string error;
  bool good = loadInputs(golden, options.backend, arguments, error) &&
              (!gradients || loadCotangents(golden, options.backend, arguments, error));
  for (const TensorInfo &output : golden.outputs)
    good = good && loadTensor(golden, output, output.file, MHCRT_NONE, wants["out." + output.name], error);
  for (const TensorInfo &gradient : golden.gradients)
    if (const TensorInfo *input = findTensor(golden.inputs, gradient.name); input && gradients)
      good = good && loadTensor(golden, *input, gradient.file, MHCRT_NONE, wants["grad." + gradient.name], error);
  std::map<std::string, mhcrt_tensor> views;
  for (size_t i = 0; i < arguments.size(); ++i)
    views["arg." + std::to_string(i)] = arguments[i].get();
  for (const auto &[name, tensor] : wants)
    views[name] = tensor.get();
  data = golden.label() + ".safetensors";
  if (good && mhcrt::writeSafetensors(options.emit + "/" + data, views, error))
    return "";
  return "  " + error + "\n";
}

std::string CheckWriter::addCheck(const Case &golden, const std::string &ir, bool gradients) {
  auto entry = entryFor(ir, gradients);
  if (!entry)
    return message(entry.takeError());
  size_t arguments = golden.inputs.size() + (gradients ? golden.outputs.size() : 0);
  Tolerance tolerance = toleranceOf(golden, options.backend);
  auto want = [&](size_t result, const std::string &tensor) {
    checks << "want " << result << " " << tensor << " " << tolerance.atol << " " << tolerance.rtol << "\n";
  };
  checks << "check " << golden.label() << (gradients ? " gradients" : "") << "\nentry " << *entry << "\n";
  for (size_t i = 0; i < arguments; ++i)
    checks << "arg arg." << i << "\n";
  for (size_t i = 0; i < golden.outputs.size() && !gradients; ++i)
    want(i, "out." + golden.outputs[i].name);
  for (size_t i = 0; i < golden.inputs.size() && gradients; ++i)
    if (findTensor(golden.gradients, golden.inputs[i].name))
      want(golden.outputs.size() + i, "grad." + golden.inputs[i].name);
  return "";
}

std::string CheckWriter::add(const Case &golden, const Spelling &spelling) {
  bool gradients = options.gradients && !golden.gradients.empty();
  if (!options.forward && !gradients)
    return "";
  std::string data, problem = startLibrary(golden.variant);
  if (problem.empty())
    problem = writeData(golden, gradients, data);
  if (!problem.empty())
    return problem;
  checks << "data " << data << "\n";
  std::string ir = caseToIr(golden, spelling, "case");
  if (options.forward)
    problem = addCheck(golden, ir, false);
  if (problem.empty() && gradients)
    problem = addCheck(golden, ir, true);
  return problem;
}

std::string CheckWriter::finish() {
  std::string problem = finishLibrary();
  if (llvm::Error error = writeFile(options.emit + "/checks.txt", "mhc-checks 1\n" + checks.str()))
    problem += message(std::move(error));
  return problem;
}

} // namespace mhc::conformance
