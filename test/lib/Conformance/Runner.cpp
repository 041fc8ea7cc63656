//===- Runner.cpp - Runs golden cases and counts --------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Conformance/Runner.h"
#include "CaseData.h"
#include "Conformance/CaseIr.h"
#include "Conformance/PlanCase.h"
#include "Emit.h"

#include <ostream>

namespace mhc::conformance {

/// One line if the result is off; empty when it is good. It has the shape of the input or output `like`.
static std::string judge(const Case &golden, const TensorInfo &like, const TensorInfo &wanted,
                         const mhcrt::HostTensor &result, Tolerance tolerance) {
  std::string error;
  mhcrt::HostTensor want;
  mhcrt::Comparison verdict;
  if (!loadTensor(golden, like, wanted.file, MHCRT_F64, want, error) ||
      !mhcrt::compare(result.get(), want.get(), {tolerance.atol, tolerance.rtol}, verdict, error))
    return "  '" + wanted.name + "': " + error + "\n";
  if (verdict.pass)
    return "";
  return "  '" + wanted.name + "': " + mhcrt::describe(verdict, {tolerance.atol, tolerance.rtol}) + "\n";
}

/// Text of what went wrong; empty when the case passes.
static std::string runCase(const Case &golden, const Spelling &spelling, const Options &options,
                           const RunFunction &run) {
  RunRequest request;
  request.entry = "case";
  request.ir = caseToIr(golden, spelling, request.entry);
  request.backend = options.backend;
  request.fuse = options.fuse;
  request.gdnImpl = options.gdnImpl;
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
  request.gdnImpl = options.gdnImpl;
  std::string error;
  if (!loadInputs(golden, options.backend, request.inputs, error) ||
      !loadCotangents(golden, options.backend, request.inputs, error))
    return "  " + error + "\n";
  std::vector<mhcrt::HostTensor> results;
  if (!run(request, results, error))
    return "  " + error + "\n";
  std::vector<const TensorInfo *> differentiated;
  for (const TensorInfo &input : golden.inputs)
    if (input.source != Element::I32)
      differentiated.push_back(&input);
  if (results.size() != golden.outputs.size() + differentiated.size())
    return "  " + std::to_string(results.size()) + " results; needed one per output and input\n";
  std::string report;
  for (size_t i = 0; i < differentiated.size(); ++i)
    if (const TensorInfo *gradient = findTensor(golden.gradients, differentiated[i]->name))
      report += judge(golden, *differentiated[i], *gradient, results[golden.outputs.size() + i],
                      toleranceOf(golden, options.backend));
  return report;
}

/// Gradients of the case that belong to no input, for the report: parts of one, which is compared as a whole.
static std::string partsOf(const Case &golden) {
  std::string names;
  for (const TensorInfo &gradient : golden.gradients)
    if (!findTensor(golden.inputs, gradient.name))
      names += (names.empty() ? "" : ", ") + gradient.name;
  return names;
}

namespace {

class GoldenRunner {
public:
  GoldenRunner(const Options &options, const RunFunction &run, std::ostream &out)
      : options(options), run(run), out(out), writer(options) {}

  void runFolder(const std::string &directory);
  Counts finish();

private:
  void count(const std::string &what, const std::string &op, const std::string &problem);
  void runCaseAs(const Case &golden, const Spelling &spelling);

  const Options &options;
  const RunFunction &run;
  std::ostream &out;
  CheckWriter writer;
  Counts counts;
};

} // namespace

void GoldenRunner::count(const std::string &what, const std::string &op, const std::string &problem) {
  ++(problem.empty() ? counts.passed : counts.failed);
  if (!problem.empty())
    out << "FAIL " << what << " (" << op << ")\n" << problem;
}

void GoldenRunner::runCaseAs(const Case &golden, const Spelling &spelling) {
  if (!options.emit.empty())
    return count(golden.label(), golden.op, writer.add(golden, spelling));
  if (options.forward)
    count(golden.label(), golden.op, runCase(golden, spelling, options, run));
  if (!options.gradients || golden.gradients.empty())
    return;
  count(golden.label() + " gradients", golden.op, runGradient(golden, spelling, options, run));
  if (std::string parts = partsOf(golden); !parts.empty())
    out << "as one: " << golden.label() << " gradients " << parts
        << ": parts of one gradient, which is compared as a whole\n";
}

void GoldenRunner::runFolder(const std::string &directory) {
  std::string error;
  std::optional<Case> golden = readCase(directory, error);
  if (!golden) {
    out << "FAIL " << directory << "\n  " << error << "\n";
    ++counts.failed;
    return;
  }
  if (isPlan(*golden)) {
    if (options.gradients && options.emit.empty())
      count(golden->label(), golden->op, runPlan(*golden));
    return;
  }
  std::string missing = whyNotCovered(golden->op);
  bool known = true;
  Spelling spelling = spellingOf(golden->variant, known);
  if (missing.empty() && !known)
    missing = "variant '" + golden->variant + "' has no spelling";
  if (!missing.empty()) {
    out << "not covered: " << golden->label() << ": " << missing << "\n";
    ++counts.skipped;
    return;
  }
  runCaseAs(*golden, spelling);
  if (golden->op != "pre_gdn")
    return;
  golden->name += "_as_op";
  spelling.gatedDelta.asOp = true;
  runCaseAs(*golden, spelling);
}

Counts GoldenRunner::finish() {
  std::string problem = options.emit.empty() ? "" : writer.finish();
  if (!problem.empty()) {
    out << "FAIL " << options.emit << "\n" << problem;
    ++counts.failed;
  }
  return counts;
}

Counts runGolden(const Options &options, const RunFunction &run, std::ostream &out) {
  GoldenRunner runner(options, run, out);
  for (const std::string &root : options.roots)
    for (const std::string &directory : findCases(root))
      runner.runFolder(directory);
  return runner.finish();
}

} // namespace mhc::conformance
