//===- Runner.cpp - Runs golden cases and counts --------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "mhc/Conformance/Runner.h"
#include "mhc/Conformance/CaseIr.h"
#include "mhc/Conformance/PlanCase.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ostream>

namespace mhc::conformance {

static int32_t dtypeOf(Element element) {
  switch (element) {
  case Element::F32:
    return MHCRT_F32;
  case Element::BF16:
    return MHCRT_BF16;
  case Element::F16:
    return MHCRT_F16;
  case Element::F64:
    return MHCRT_F64;
  case Element::I32:
    return MHCRT_I32;
  case Element::I64:
    return MHCRT_I64;
  case Element::I1: // conditions stay inside a program
    break;
  }
  return MHCRT_NONE;
}

/// The shape of an input or output with its token axes collapsed.
static std::vector<int64_t> shapeOf(const Case &golden, const TensorInfo &like) {
  std::vector<int64_t> shape = tokenShape(golden, like);
  std::replace(shape.begin(), shape.end(), kTokens, tokenCount(golden));
  return shape;
}

/// A file in the shape of the input or output `like`, as `dtype`.
static bool load(const Case &golden, const TensorInfo &like, const std::string &file, int32_t dtype,
                 mhcrt::HostTensor &tensor, std::string &error) {
  mhcrt::HostTensor stored;
  if (!mhcrt::readNpy(golden.directory + "/" + file, stored, error))
    return false;
  std::vector<int64_t> shape = shapeOf(golden, like);
  mhcrt_tensor view = stored.get();
  view.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), view.dims);
  return mhcrt::convert(view, dtype, tensor, error);
}

/// The element type of an argument.
static int32_t argumentType(const TensorInfo &info, Backend backend) {
  if (backend == Backend::Reference)
    return MHCRT_F64;
  return dtypeOf(info.source == Element::F64 ? Element::F32 : info.source);
}

static bool loadInputs(const Case &golden, Backend backend, std::vector<mhcrt::HostTensor> &inputs,
                       std::string &error) {
  for (const TensorInfo &input : golden.inputs) {
    inputs.emplace_back();
    if (!load(golden, input, input.file, argumentType(input, backend), inputs.back(), error))
      return false;
  }
  return true;
}

static const TensorInfo *find(const std::vector<TensorInfo> &tensors, const std::string &name) {
  auto found = std::find_if(tensors.begin(), tensors.end(), [&](const TensorInfo &info) { return info.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

/// One per output; zeros where the case has none.
static bool loadCotangents(const Case &golden, Backend backend, std::vector<mhcrt::HostTensor> &inputs,
                           std::string &error) {
  for (const TensorInfo &output : golden.outputs) {
    inputs.emplace_back();
    int32_t dtype = argumentType(output, backend);
    const TensorInfo *cotangent = find(golden.cotangents, output.name);
    if (cotangent ? !load(golden, output, cotangent->file, dtype, inputs.back(), error)
                  : !inputs.back().allocate(dtype, shapeOf(golden, output), error))
      return false;
  }
  return true;
}

/// One line if the result is off; empty when it is good. It has the shape of the input or output `like`.
static std::string judge(const Case &golden, const TensorInfo &like, const TensorInfo &wanted,
                         const mhcrt::HostTensor &result, Tolerance tolerance) {
  std::string error;
  mhcrt::HostTensor want;
  mhcrt::Comparison verdict;
  if (!load(golden, like, wanted.file, MHCRT_F64, want, error) ||
      !mhcrt::compare(result.get(), want.get(), {tolerance.atol, tolerance.rtol}, verdict, error))
    return "  '" + wanted.name + "': " + error + "\n";
  if (verdict.pass)
    return "";
  char text[256];
  std::snprintf(
      text, sizeof(text),
      "  '%s': largest error %.3g (%.3g of the largest value), allowed atol %.3g + rtol %.3g; %lld bad, first "
      "%s: got %.9g, want %.9g\n",
      wanted.name.c_str(), verdict.maxAbs, verdict.maxRel, tolerance.atol, tolerance.rtol,
      static_cast<long long>(verdict.bad), verdict.firstIndex.c_str(), verdict.firstGot, verdict.firstWant);
  return text;
}

/// The reference computes in f64, but constants of the IR, like sqrt(K), are f32: one rounding is allowed.
static Tolerance toleranceOf(const Case &golden, Backend backend) {
  if (backend == Backend::Cpu)
    return golden.float32;
  return {golden.reference.atol, std::max(golden.reference.rtol, 0x1p-23)};
}

/// Text of what went wrong; empty when the case passes.
static std::string runCase(const Case &golden, const Spelling &spelling, const Options &options,
                           const RunFunction &run) {
  RunRequest request;
  request.entry = "case";
  request.ir = caseToIr(golden, spelling, request.entry);
  request.backend = options.backend;
  request.fuse = options.fuse;
  std::string error;
  if (!loadInputs(golden, options.backend, request.inputs, error))
    return "  " + error + "\n";
  std::vector<mhcrt::HostTensor> results;
  if (!run(request, results, error))
    return "  " + error + "\n";
  if (results.size() != golden.outputs.size())
    return "  " + std::to_string(results.size()) + " results, " + std::to_string(golden.outputs.size()) +
           " in the manifest\n";
  std::string report;
  for (size_t i = 0; i < results.size(); ++i)
    report += judge(golden, golden.outputs[i], golden.outputs[i], results[i], toleranceOf(golden, options.backend));
  return report;
}

/// The same for the gradients.
static std::string runGradient(const Case &golden, const Spelling &spelling, const Options &options,
                               const RunFunction &run) {
  RunRequest request;
  request.grad = "case";
  request.entry = "case_grad";
  request.ir = caseToIr(golden, spelling, request.grad);
  request.backend = options.backend;
  request.fuse = options.fuse;
  std::string error;
  if (!loadInputs(golden, options.backend, request.inputs, error) ||
      !loadCotangents(golden, options.backend, request.inputs, error))
    return "  " + error + "\n";
  std::vector<mhcrt::HostTensor> results;
  if (!run(request, results, error))
    return "  " + error + "\n";
  if (results.size() != golden.outputs.size() + golden.inputs.size())
    return "  " + std::to_string(results.size()) + " results; needed one per output and input\n";
  std::string report;
  for (size_t i = 0; i < golden.inputs.size(); ++i)
    if (const TensorInfo *gradient = find(golden.gradients, golden.inputs[i].name))
      report += judge(golden, golden.inputs[i], *gradient, results[golden.outputs.size() + i],
                      toleranceOf(golden, options.backend));
  return report;
}

/// Gradients of the case that belong to no input, for the report: parts of one, which is compared as a whole.
static std::string partsOf(const Case &golden) {
  std::string names;
  for (const TensorInfo &gradient : golden.gradients)
    if (!find(golden.inputs, gradient.name))
      names += (names.empty() ? "" : ", ") + gradient.name;
  return names;
}

/// Writes case.mlir and one .npy per argument below `folder`/variant/case.
static std::string emitCase(const Case &golden, const Spelling &spelling, const Options &options) {
  std::string folder = options.emit + "/" + golden.label(), error;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  std::ofstream file(folder + "/case.mlir");
  file << "// " << golden.label() << ": op " << golden.op << "\n\n" << caseToIr(golden, spelling, "case");
  if (!file)
    return "  cannot write '" + folder + "/case.mlir'\n";
  std::vector<mhcrt::HostTensor> inputs;
  if (!loadInputs(golden, options.backend, inputs, error))
    return "  " + error + "\n";
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!mhcrt::writeNpy(folder + "/" + golden.inputs[i].name + ".npy", inputs[i].get(), error))
      return "  " + error + "\n";
  return "";
}

Counts runGolden(const Options &options, const RunFunction &run, std::ostream &out) {
  Counts counts;
  std::string error;
  auto notCovered = [&](const std::string &what, const std::string &why) {
    out << "not covered: " << what << ": " << why << "\n";
  };
  for (const std::string &root : options.roots)
    for (const std::string &directory : findCases(root)) {
      std::optional<Case> golden = readCase(directory, error);
      if (!golden) {
        out << "FAIL " << directory << "\n  " << error << "\n";
        ++counts.failed;
        continue;
      }
      auto count = [&](const std::string &what, const std::string &problem) {
        ++(problem.empty() ? counts.passed : counts.failed);
        if (!problem.empty())
          out << "FAIL " << what << " (" << golden->op << ")\n" << problem;
      };
      if (isPlan(*golden)) {
        if (options.gradients && options.emit.empty())
          count(golden->label(), runPlan(*golden));
        continue;
      }
      std::string missing = whyNotCovered(golden->op);
      bool known = true;
      Spelling spelling = spellingOf(golden->variant, known);
      if (missing.empty() && !known)
        missing = "variant '" + golden->variant + "' has no spelling";
      if (!missing.empty()) {
        notCovered(golden->label(), missing);
        continue;
      }
      if (!options.emit.empty()) {
        count(golden->label(), emitCase(*golden, spelling, options));
        continue;
      }
      if (options.forward)
        count(golden->label(), runCase(*golden, spelling, options, run));
      if (!options.gradients || golden->gradients.empty())
        continue;
      count(golden->label() + " gradients", runGradient(*golden, spelling, options, run));
      if (std::string parts = partsOf(*golden); !parts.empty())
        notCovered(golden->label() + " gradients " + parts, "parts of one gradient, which is compared as a whole");
    }
  return counts;
}

} // namespace mhc::conformance
