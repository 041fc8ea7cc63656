//===- Runner.cpp - Runs golden cases and counts --------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "mhc/Conformance/Runner.h"
#include "mhc/Conformance/CaseIr.h"

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
  }
  return MHCRT_NONE;
}

/// The file of a tensor with its token axes collapsed, as `dtype`.
static bool load(const Case &golden, const TensorInfo &info, int32_t dtype, mhcrt::HostTensor &tensor,
                 std::string &error) {
  mhcrt::HostTensor stored;
  if (!mhcrt::readNpy(golden.directory + "/" + info.file, stored, error))
    return false;
  Dims shape = tokenShape(golden, info);
  mhcrt_tensor view = stored.get();
  view.rank = static_cast<int32_t>(shape.size());
  for (size_t i = 0; i < shape.size(); ++i)
    view.dims[i] = shape[i] == kTokens ? tokenCount(golden) : shape[i];
  return mhcrt::convert(view, dtype, tensor, error);
}

static bool loadInputs(const Case &golden, Backend backend, std::vector<mhcrt::HostTensor> &inputs,
                       std::string &error) {
  for (const TensorInfo &input : golden.inputs) {
    bool wide = backend == Backend::Reference;
    Element element = input.source == Element::F64 ? Element::F32 : input.source;
    inputs.emplace_back();
    if (!load(golden, input, wide ? int32_t(MHCRT_F64) : dtypeOf(element), inputs.back(), error))
      return false;
  }
  return true;
}

/// One line per output that is off; empty when all are good.
static std::string judge(const Case &golden, const std::vector<mhcrt::HostTensor> &results, Tolerance tolerance) {
  std::string report, error;
  for (size_t i = 0; i < golden.outputs.size(); ++i) {
    const TensorInfo &output = golden.outputs[i];
    mhcrt::HostTensor want;
    mhcrt::Comparison verdict;
    if (!load(golden, output, MHCRT_F64, want, error) ||
        !mhcrt::compare(results[i].get(), want.get(), {tolerance.atol, tolerance.rtol}, verdict, error)) {
      report += "  '" + output.name + "': " + error + "\n";
      continue;
    }
    if (verdict.pass)
      continue;
    char text[256];
    std::snprintf(
        text, sizeof(text),
        "  '%s': largest error %.3g (%.3g of the largest value), allowed atol %.3g + rtol %.3g; %lld bad, first "
        "%s: got %.9g, want %.9g\n",
        output.name.c_str(), verdict.maxAbs, verdict.maxRel, tolerance.atol, tolerance.rtol,
        static_cast<long long>(verdict.bad), verdict.firstIndex.c_str(), verdict.firstGot, verdict.firstWant);
    report += text;
  }
  return report;
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
  return judge(golden, results, toleranceOf(golden, options.backend));
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
      std::string missing = whyNotCovered(golden->op);
      bool known = true;
      Spelling spelling = spellingOf(golden->variant, known);
      if (missing.empty() && !known)
        missing = "variant '" + golden->variant + "' has no spelling";
      if (!missing.empty()) {
        notCovered(golden->label(), missing);
        continue;
      }
      if (options.gradients && golden->hasGradients)
        notCovered(golden->label() + " gradients", "no gradient of this op yet");
      if (!options.forward)
        continue;
      std::string problem =
          options.emit.empty() ? runCase(*golden, spelling, options, run) : emitCase(*golden, spelling, options);
      ++(problem.empty() ? counts.passed : counts.failed);
      if (!problem.empty())
        out << "FAIL " << golden->label() << " (" << golden->op << ")\n" << problem;
    }
  return counts;
}

} // namespace mhc::conformance
