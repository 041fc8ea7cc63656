//===- RandomRunner.cpp - Runs random programs against each other ---------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Conformance/RandomCase.h"
#include "Conformance/Runner.h"
#include "mhcrt/file.h"

#include <cstdio>
#include <filesystem>
#include <ostream>

namespace mhc::conformance {

namespace {

struct Mode {
  const char *name;
  Backend backend;
  FuseLevel fuse;
};

} // namespace

static constexpr Mode kReference = {"reference", Backend::Reference, FuseLevel::none};
static constexpr Mode kModes[] = {{"fuse=none", Backend::Cpu, FuseLevel::none},
                                  {"fuse=chain", Backend::Cpu, FuseLevel::chain},
                                  {"fuse=layer", Backend::Cpu, FuseLevel::layer},
                                  {"fuse=model", Backend::Cpu, FuseLevel::model}};

/// bf16 keeps 8 bits and the chain rounds several times; f32 loses digits in up to forty dependent divisions.
static mhcrt::Tolerance toleranceOf(const Case &golden) {
  bool rounds = golden.outputs.front().source == Element::BF16;
  return {1e-6, rounds ? 0.06 : 2e-4};
}

static bool runMode(const RandomCase &random, Mode mode, const RunFunction &run,
                    std::vector<mhcrt::HostTensor> &results, std::string &error) {
  RunRequest request;
  request.ir = random.ir;
  request.entry = "case";
  request.backend = mode.backend;
  request.fuse = mode.fuse;
  for (size_t i = 0; i < random.inputs.size(); ++i) {
    const Element source = random.golden.inputs[i].source;
    int32_t dtype = mode.backend == Backend::Reference ? MHCRT_F64 : source == Element::BF16 ? MHCRT_BF16 : MHCRT_F32;
    request.inputs.emplace_back();
    if (!copyInput(random.inputs[i], dtype, request.inputs.back(), error))
      return false;
  }
  return run(request, results, error);
}

/// Errors of one mode; empty when its results agree with the reference.
static std::string checkMode(const RandomCase &random, Mode mode, const RunFunction &run,
                             const std::vector<mhcrt::HostTensor> &want) {
  std::vector<mhcrt::HostTensor> got;
  std::string error, report;
  if (!runMode(random, mode, run, got, error))
    return std::string("  ") + mode.name + ": " + error + "\n";
  for (size_t i = 0; i < want.size() && i < got.size(); ++i) {
    mhcrt::Comparison verdict;
    bool compared = mhcrt::compare(got[i].get(), want[i].get(), toleranceOf(random.golden), verdict, error);
    if (compared && verdict.pass)
      continue;
    char text[160];
    std::snprintf(text, sizeof(text), "largest error %.3g at %.3g of the largest value, first at %s", verdict.maxAbs,
                  verdict.maxRel, verdict.firstIndex.c_str());
    report += std::string("  ") + mode.name + ": '" + random.golden.outputs[i].name +
              "': " + (compared ? text : error.c_str()) + "\n";
  }
  return report;
}

static std::string emitRandom(const RandomCase &random, const std::string &folder) {
  std::error_code failed; // shows when the first file is written
  std::filesystem::create_directories(folder, failed);
  std::string error;
  if (!mhcrt::writeFile(folder + "/case.mlir", random.ir.data(), random.ir.size(), error))
    return "  " + error + "\n";
  for (size_t i = 0; i < random.inputs.size(); ++i)
    if (!mhcrt::writeNpy(folder + "/" + random.golden.inputs[i].name + ".npy", random.inputs[i].get(), error))
      return "  " + error + "\n";
  return "";
}

static std::string checkRandom(const RandomCase &random, const RunFunction &run) {
  std::vector<mhcrt::HostTensor> want;
  std::string error, report;
  if (!runMode(random, kReference, run, want, error))
    return "  reference: " + error + "\n";
  for (Mode mode : kModes)
    report += checkMode(random, mode, run, want);
  return report;
}

Counts runRandom(const Options &options, const RunFunction &run, std::ostream &out) {
  Counts counts;
  for (uint64_t i = 0; i < options.count; ++i) {
    RandomCase random = anyCase(options.seed + i);
    std::string problem =
        options.emit.empty() ? checkRandom(random, run) : emitRandom(random, options.emit + "/" + random.golden.name);
    ++(problem.empty() ? counts.passed : counts.failed);
    if (!problem.empty())
      out << "FAIL random program, --seed=" << random.golden.name << "\n" << problem;
  }
  return counts;
}

} // namespace mhc::conformance
