//===- MeshPlan.cpp - Costs of a mesh of ranks ---------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes are those that the runtime sends (runtime/comm); a time is bytes over the speed of a link, without the start of
// messages, and as if nothing hid it.
//
//===----------------------------------------------------------------------===//

#include "MeshPlan.h"
#include "mhc/Analysis/CostModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace mhc;
using llvm::StringRef;
using mlir::func::FuncOp;

/// Ranks s * dp + p have stage s: neighbours in a part of the batch are close.
static bool areOnOneHost(const Links &links, int64_t first, int64_t last) {
  return first / links.ranksPerHost == last / links.ranksPerHost;
}

/// The bytes of the arguments or results whose names `isWanted`; nothing where a size is open.
static std::optional<int64_t> bytesOf(FuncOp func, bool results, llvm::function_ref<bool(StringRef)> isWanted) {
  int64_t bytes = 0;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto name = func.getArgAttrOfType<mlir::StringAttr>(i, "mhc.name");
    if (!name || (func.getArgAttr(i, "mhc.result") != nullptr) != results || !isWanted(name.getValue()))
      continue;
    auto type = mlir::cast<mlir::MemRefType>(func.getArgumentTypes()[i]);
    if (!type.hasStaticShape())
      return std::nullopt;
    bytes += type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
  }
  return bytes;
}

/// Rank 0 adds up the longest part of the values and sends it to all others, which get their parts from it before.
static int64_t sumBytes(int64_t bytes, int64_t ranks) {
  const int64_t values = bytes / 4;
  return ranks == 1 ? 0 : 4 * (values + (ranks - 2) * ((values + ranks - 1) / ranks));
}

namespace {
class Planner {
public:
  Planner(mlir::ModuleOp module, const DriverOptions &options) : module(module), options(options) {}

  llvm::Expected<StagePlan> plan(int64_t stage);
  int64_t gradientBytes = 0; ///< of all stages so far

private:
  FuncOp functionOf(int64_t stage, StringRef suffix) {
    const std::string &grad = options.compile.grad;
    const std::string base = options.mesh.pp == 1 ? grad : stageName(grad, stage);
    return module.lookupSymbol<FuncOp>(base + suffix.str());
  }

  mlir::ModuleOp module;
  const DriverOptions &options;
};
} // namespace

llvm::Expected<StagePlan> Planner::plan(int64_t stage) {
  const Mesh &mesh = options.mesh;
  StagePlan plan;
  FuncOp forward = functionOf(stage, "_fwd"), backward = functionOf(stage, "_bwd");
  const std::string in = "cut" + std::to_string(stage) + ".", out = "cut" + std::to_string(stage + 1) + ".";
  auto isGradient = [&](StringRef name) { return name.starts_with("d_") && !name.starts_with("d_cut"); };
  auto sends = bytesOf(forward, true, [&](StringRef name) { return name.starts_with(out); });
  auto sendsBack = bytesOf(backward, true, [&](StringRef name) { return name.starts_with("d_" + in); });
  auto gradients = bytesOf(backward, true, isGradient);
  auto saved = bytesOf(forward, true, [&](StringRef name) { return name.starts_with("saved"); });
  auto takes = bytesOf(forward, false, [&](StringRef name) { return name.starts_with(in); });
  auto forwardArena = plannedPeakBytes(forward), backwardArena = plannedPeakBytes(backward);
  if (!sends || !sendsBack || !gradients || !saved || !takes || !forwardArena || !backwardArena ||
      forwardArena->perToken != 0 || backwardArena->perToken != 0)
    return llvm::createStringError(
        "'--mesh' and '--pipeline' are explained for sizes that are numbers; found open ones");
  plan.gradients = *gradients;
  plan.saved = *saved + *sends + *takes;
  plan.arena = static_cast<int64_t>(std::max(forwardArena->fixed, backwardArena->fixed));
  plan.inFlight = mesh.pp - stage;
  gradientBytes += *gradients;

  const int64_t first = stage * mesh.dp, last = first + mesh.dp - 1;
  if (*sends)
    plan.collectives.push_back(
        {"streams to stage " + std::to_string(stage + 1), *sends, true,
         !areOnOneHost(options.links, first, first + mesh.dp) || !areOnOneHost(options.links, last, last + mesh.dp)});
  if (*sendsBack)
    plan.collectives.push_back(
        {"gradients of streams to stage " + std::to_string(stage - 1), *sendsBack, true,
         !areOnOneHost(options.links, first - mesh.dp, first) || !areOnOneHost(options.links, last - mesh.dp, last)});
  return plan;
}

llvm::Expected<std::vector<StagePlan>> mhc::planMesh(Compiler &compiler, mlir::ModuleOp source,
                                                     const DriverOptions &options) {
  Compiler::Module module(source.clone());
  if (llvm::Error error = compiler.run(*module, options.compile, Phase::bufferize))
    return error;
  Planner planner(*module, options);
  std::vector<StagePlan> stages;
  for (int64_t stage = 0; stage < options.mesh.pp; ++stage) {
    auto plan = planner.plan(stage);
    if (!plan)
      return plan.takeError();
    stages.push_back(std::move(*plan));
  }
  // All ranks have all weights; a weight of two stages travels once.
  int64_t bytes = planner.gradientBytes;
  if (auto update = module->lookupSymbol<FuncOp>("update"))
    if (auto all = bytesOf(update, false, [](StringRef name) { return name.starts_with("d_"); }))
      bytes = *all;
  const int64_t ranks = options.mesh.ranks();
  for (StagePlan &plan : stages) {
    plan.collectives.push_back(
        {"sum of gradients", sumBytes(bytes, ranks), false, !areOnOneHost(options.links, 0, ranks - 1)});
    // A step makes new weights and two moments of the old ones. Gradients are added up, sent and summed.
    plan.state = 6 * bytes + 2 * bytes + plan.gradients * plan.inFlight;
  }
  return stages;
}

static double secondsOf(const Collective &one, const Links &links) {
  return static_cast<double>(one.bytes) / (one.isBetweenHosts ? links.network : links.host);
}

void mhc::printMeshPlan(llvm::raw_ostream &os, const DriverOptions &options, llvm::ArrayRef<StagePlan> stages) {
  constexpr const char *row = "  {0,-34}{1,20}{2,12}{3,14}  {4}\n";
  const Links &links = options.links;
  os << llvm::formatv("\nmesh {0}: {1} ranks, {2} on a host; links of ", options.mesh.text(), options.mesh.ranks(),
                      links.ranksPerHost)
     << llvm::format("%g GB/s on a host and %g GB/s between hosts\n", links.host / 1e9, links.network / 1e9);
  for (size_t stage = 0; stage < stages.size(); ++stage) {
    const StagePlan &plan = stages[stage];
    os << llvm::formatv("\nstage {0}\n", stage) << llvm::formatv(row, "a rank sends", "bytes", "us", "link", "in each");
    for (const Collective &one : plan.collectives)
      os << llvm::formatv(row, one.name, one.bytes, llvm::formatv("{0:f1}", secondsOf(one, links) * 1e6).str(),
                          one.isBetweenHosts ? "between hosts" : "host", one.isPerMicrobatch ? "microbatch" : "step");
    os << llvm::formatv("  memory of a rank, bytes: {0} of all weights, moments and gradients; {1} saved for each of "
                        "{2} microbatches; {3} arena\n",
                        plan.state, plan.saved, plan.inFlight, plan.arena);
  }
}

llvm::json::Value mhc::toJson(const DriverOptions &options, llvm::ArrayRef<StagePlan> stages) {
  llvm::json::Array array;
  for (const StagePlan &plan : stages) {
    llvm::json::Array collectives;
    for (const Collective &one : plan.collectives)
      collectives.push_back(llvm::json::Object{{"name", one.name},
                                               {"bytes", one.bytes},
                                               {"seconds", secondsOf(one, options.links)},
                                               {"between_hosts", one.isBetweenHosts},
                                               {"per_microbatch", one.isPerMicrobatch}});
    array.push_back(llvm::json::Object{{"collectives", std::move(collectives)},
                                       {"gradient_bytes", plan.gradients},
                                       {"state_bytes", plan.state},
                                       {"saved_bytes", plan.saved},
                                       {"microbatches_in_flight", plan.inFlight},
                                       {"arena_bytes", plan.arena}});
  }
  return llvm::json::Object{{"mesh", options.mesh.text()}, {"stages", std::move(array)}};
}
