//===- MeshPlan.cpp - Costs of a mesh of ranks ---------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes are those that the runtime sends (runtime/comm); a time is the starts of messages and bytes over the speed of a
// link, as if nothing hid it.
//
//===----------------------------------------------------------------------===//

#include "MeshPlan.h"
#include "Explain.h"
#include "mhc/Analysis/CostModel.h"
#include "mhc/Model/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace mhc;
using llvm::StringRef;
using mlir::func::FuncOp;

/// Ranks (s * dp + p) * tp + t have stage s: those that send each other the most are close.
static bool areOnOneHost(const Links &links, int64_t first, int64_t last) {
  return first / links.ranksPerHost == last / links.ranksPerHost;
}

/// Whether some tensor-parallel neighbours are on two hosts.
static bool areNeighboursApart(const Links &links, const Mesh &mesh) {
  return links.ranksPerHost % mesh.tp != 0 && mesh.ranks() > links.ranksPerHost;
}

/// An argument or result of a function on buffers.
struct Named {
  StringRef name;
  bool isShare; ///< one of those that tensor-parallel ranks divide
};

/// Calls `visit` with the bytes of each named argument or result, until one has an open size: false then.
static bool forEach(FuncOp func, bool results, llvm::function_ref<void(Named, int64_t bytes)> visit) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto name = func.getArgAttrOfType<mlir::StringAttr>(i, "mhc.name");
    if (!name || (func.getArgAttr(i, "mhc.result") != nullptr) != results)
      continue;
    auto type = mlir::cast<mlir::MemRefType>(func.getArgumentTypes()[i]);
    if (!type.hasStaticShape())
      return false;
    visit({name.getValue(), func.getArgAttr(i, kSplit) != nullptr},
          type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8));
  }
  return true;
}

/// The bytes of the arguments or results whose names begin so; nothing where a size is open.
static std::optional<int64_t> bytesOf(FuncOp func, bool results, StringRef prefix) {
  int64_t all = 0;
  bool isKnown =
      forEach(func, results, [&](Named value, int64_t bytes) { all += value.name.starts_with(prefix) ? bytes : 0; });
  return isKnown ? std::optional(all) : std::nullopt;
}

namespace {
/// Bytes of a rank, and in how many messages.
struct Sent {
  int64_t bytes = 0, messages = 0;
};
} // namespace

/// Sent in calls of a collective, with which each has its share of the larger tensor.
static Sent sentBy(llvm::ArrayRef<FuncOp> functions, StringRef collective, int64_t ranks) {
  Sent sent;
  for (FuncOp func : functions)
    func.walk([&](mlir::func::CallOp call) {
      if (!call.getCallee().starts_with(collective))
        return;
      auto type = mlir::cast<mlir::MemRefType>(call.getOperand(0).getType());
      const int64_t size = type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
      sent.bytes += (ranks - 1) * (collective == model::kAllGather ? size : size / ranks);
      ++sent.messages;
    });
  return sent;
}

/// Rank 0 adds up the longest part of the values and sends it to all others, which get their parts from it before.
static int64_t sumBytes(int64_t bytes, int64_t ranks) {
  const int64_t values = bytes / 4;
  return ranks == 1 ? 0 : 4 * (values + (ranks - 2) * ((values + ranks - 1) / ranks));
}

namespace {
/// Gradients that a stage sums, each a part of the whole tensor or of this rank's share.
struct Gradients {
  llvm::StringMap<int64_t> whole, shares; ///< bytes

  int64_t bytes() const { return bytesOf(whole) + bytesOf(shares); }
  static int64_t bytesOf(const llvm::StringMap<int64_t> &some) {
    return std::accumulate(some.begin(), some.end(), int64_t(0),
                           [](int64_t sum, const auto &one) { return sum + one.second; });
  }
};

class Planner {
public:
  Planner(mlir::ModuleOp module, const DriverOptions &options) : module(module), options(options) {}

  /// Reads the loops phase.
  void countWork();
  /// Reads the bufferize phase.
  llvm::Expected<MeshPlan> plan();

private:
  Work workOf(llvm::ArrayRef<FuncOp> functions) const;
  llvm::Expected<StagePlan> plan(int64_t stage);
  void addSums(StagePlan &plan, int64_t stage);

  std::string nameOf(StringRef function, int64_t stage) const {
    return options.mesh.pp == 1 ? function.str() : stageName(function, stage);
  }
  FuncOp functionOf(int64_t stage, StringRef suffix) {
    return module.lookupSymbol<FuncOp>(nameOf(options.compile.grad, stage) + suffix.str());
  }

  mlir::ModuleOp module;
  const DriverOptions &options;
  std::vector<Gradients> gradients;         ///< of each stage
  std::vector<std::pair<Work, Work>> works; ///< of a microbatch and of the update, of each stage
};
} // namespace

llvm::Expected<StagePlan> Planner::plan(int64_t stage) {
  const Mesh &mesh = options.mesh;
  StagePlan plan;
  FuncOp forward = functionOf(stage, "_fwd"), backward = functionOf(stage, "_bwd");
  const std::string in = "cut" + std::to_string(stage) + ".", out = "cut" + std::to_string(stage + 1) + ".";
  auto sends = bytesOf(forward, true, out);
  auto sendsBack = bytesOf(backward, true, "d_" + in);
  auto made = bytesOf(backward, true, "d_");
  auto saved = bytesOf(forward, true, "saved");
  auto takes = bytesOf(forward, false, in);
  auto forwardArena = plannedPeakBytes(forward), backwardArena = plannedPeakBytes(backward);
  if (!sends || !sendsBack || !made || !saved || !takes || !forwardArena || !backwardArena ||
      forwardArena->perToken != 0 || backwardArena->perToken != 0)
    return llvm::createStringError(
        "'--mesh' and '--pipeline' are explained for sizes that are numbers; found open ones");
  std::tie(plan.microbatch, plan.update) = works[stage];
  plan.gradients = *made - *sendsBack;
  plan.saved = *saved + *sends + *takes;
  plan.arena = static_cast<int64_t>(std::max(forwardArena->fixed, backwardArena->fixed));
  plan.inFlight = mesh.pp - stage;
  // Where nothing updates weights, the gradients are those that the stage computes.
  auto update = module.lookupSymbol<FuncOp>(nameOf("update", stage));
  Gradients &own = gradients.emplace_back();
  forEach(update ? update : backward, /*results=*/!update, [&](Named value, int64_t bytes) {
    if (value.name.starts_with("d_") && !value.name.starts_with("d_cut"))
      (value.isShare ? own.shares : own.whole)[value.name] = bytes;
  });

  const int64_t width = mesh.rowRanks(), first = stage * width, last = first + width - 1;
  if (*sends)
    plan.collectives.push_back(
        {"streams to stage " + std::to_string(stage + 1), *sends, 1, true,
         !areOnOneHost(options.links, first, first + width) || !areOnOneHost(options.links, last, last + width)});
  if (*sendsBack)
    plan.collectives.push_back(
        {"gradients of streams to stage " + std::to_string(stage - 1), *sendsBack, 1, true,
         !areOnOneHost(options.links, first - width, first) || !areOnOneHost(options.links, last - width, last)});
  for (auto [name, collective] : {std::pair("gathers of tokens", StringRef(model::kAllGather)),
                                  {"sums of tokens", StringRef(model::kReduceScatter)}})
    if (Sent sent = sentBy({forward, backward}, collective, mesh.tp); sent.bytes)
      plan.collectives.push_back({name, sent.bytes, sent.messages, true, areNeighboursApart(options.links, mesh)});
  return plan;
}

/// Bytes of tokens that the gradients of a whole model take between neighbours.
static int64_t tokenBytes(mlir::ModuleOp module, const DriverOptions &options) {
  int64_t bytes = 0;
  for (const char *collective : {model::kAllGather, model::kReduceScatter})
    bytes += sentBy({module.lookupSymbol<FuncOp>(options.compile.grad + "_fwd"),
                     module.lookupSymbol<FuncOp>(options.compile.grad + "_bwd")},
                    collective, options.mesh.tp)
                 .bytes;
  return bytes;
}

/// Fills in what neighbours send each other, with mHC and without.
static llvm::Error compareTokens(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options,
                                 MeshPlan &plan) {
  CompileOptions whole = options.compile;
  whole.stages = 1;
  auto plain = compiler.parseFile(options.input, options.mesh, /*withStreams=*/false);
  if (!plain)
    return plain.takeError();
  Compiler::Module module(source.clone());
  for (mlir::ModuleOp one : {*module, **plain})
    if (llvm::Error error = compiler.run(one, whole, Phase::bufferize))
      return error;
  plan.tokens = tokenBytes(*module, options);
  plan.tokensWithoutStreams = tokenBytes(**plain, options);
  return llvm::Error::success();
}

Work Planner::workOf(llvm::ArrayRef<FuncOp> functions) const {
  const CostReportOptions report = costReportOptions(options);
  Work work;
  for (FuncOp func : functions) {
    if (!func)
      continue;
    const FunctionCost cost = costOf(func);
    work.bytes += cost.total.bytes().at(report.tokens);
    work.flops += cost.total.flops.at(report.tokens);
    work.launches += cost.total.launches;
    work.seconds += boundSeconds(cost, report);
  }
  return work;
}

void Planner::countWork() {
  for (int64_t stage = 0; stage < options.mesh.pp; ++stage)
    works.emplace_back(workOf({functionOf(stage, "_fwd"), functionOf(stage, "_bwd")}),
                       workOf(module.lookupSymbol<FuncOp>(nameOf("update", stage))));
}

/// The sums behind the backward pass: over the ranks of a stage, and then over the stages that have the same weights.
void Planner::addSums(StagePlan &plan, int64_t stage) {
  const Mesh &mesh = options.mesh;
  const Links &links = options.links;
  auto isShared = [&](StringRef name) {
    auto has = [&](const Gradients &some) { return some.whole.contains(name) || some.shares.contains(name); };
    return llvm::count_if(gradients, has) > 1;
  };
  int64_t shared = 0;
  for (const auto *some : {&gradients[stage].whole, &gradients[stage].shares})
    for (const auto &[name, bytes] : *some)
      shared += isShared(name) ? bytes : 0;
  auto sharesSome = [&](const Gradients &some) {
    auto isOne = [&](const auto &one) { return isShared(one.first()); };
    return llvm::any_of(some.whole, isOne) || llvm::any_of(some.shares, isOne);
  };
  const int64_t whole = Gradients::bytesOf(gradients[stage].whole),
                shares = Gradients::bytesOf(gradients[stage].shares);
  const int64_t width = mesh.rowRanks(), first = stage * width, last = first + width - 1;
  const bool isApart = !areOnOneHost(links, first, last);
  auto add = [&](const char *name, int64_t bytes, int64_t ranks, bool isBetweenHosts) {
    if (bytes && ranks > 1)
      plan.collectives.push_back({name, sumBytes(bytes, ranks), 1, false, isBetweenHosts});
  };
  add("sum of gradients", whole, width, isApart);
  add("sum of gradients of shares", shares, width / mesh.tp, isApart);
  add("sum of gradients of stages", shared, llvm::count_if(gradients, sharesSome),
      !areOnOneHost(links, 0, mesh.ranks() - 1));
  // A step makes new weights and two moments of the old ones. Gradients are added up, sent and summed.
  plan.state = 8 * gradients[stage].bytes() + plan.gradients * plan.inFlight;
}

llvm::Expected<MeshPlan> Planner::plan() {
  MeshPlan all;
  for (int64_t stage = 0; stage < options.mesh.pp; ++stage) {
    auto one = plan(stage);
    if (!one)
      return one.takeError();
    all.stages.push_back(std::move(*one));
  }
  for (auto [stage, one] : llvm::enumerate(all.stages))
    addSums(one, static_cast<int64_t>(stage));
  return all;
}

llvm::Expected<MeshPlan> mhc::planMesh(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options) {
  Compiler::Module module(source.clone());
  if (llvm::Error error = compiler.run(*module, options.compile, Phase::loops))
    return error;
  Planner planner(*module, options);
  planner.countWork();
  if (llvm::Error error = compiler.run(*module, options.compile, Phase::loops, Phase::bufferize))
    return error;
  auto all = planner.plan();
  if (all && options.mesh.tp > 1)
    if (llvm::Error error = compareTokens(compiler, source, options, *all))
      return error;
  return all;
}

static double secondsOf(const Collective &one, const Links &links) {
  return static_cast<double>(one.messages) * Links::kStart +
         static_cast<double>(one.bytes) / (one.isBetweenHosts ? links.network : links.host);
}

void mhc::printMeshPlan(llvm::raw_ostream &os, const DriverOptions &options, const MeshPlan &mesh) {
  constexpr const char *row = "  {0,-34}{1,20}{2,12}{3,14}{4,14}  {5}\n";
  const Links &links = options.links;
  os << llvm::formatv("\nmesh {0}: {1} ranks, {2} on a host; links of ", options.mesh.text(), options.mesh.ranks(),
                      links.ranksPerHost)
     << llvm::format("%g GB/s on a host and %g GB/s between hosts; times for ", links.host / 1e9, links.network / 1e9)
     << options.machine << "\n";
  if (options.mesh.tp > 1)
    os << llvm::formatv(
        "tokens between tensor-parallel ranks: a rank sends {0} bytes in each microbatch; without mHC {1}\n",
        mesh.tokens, mesh.tokensWithoutStreams);
  for (size_t stage = 0; stage < mesh.stages.size(); ++stage) {
    const StagePlan &plan = mesh.stages[stage];
    os << llvm::formatv("\nstage {0}\n", stage);
    constexpr const char *work = "  {0,-34}{1,20}{2,12}{3,14}{4,14}  {5}\n";
    os << llvm::formatv(work, "a rank computes", "bytes", "us", "Mflops", "launches", "in each");
    for (auto [one, what, period] : {std::tuple(&plan.microbatch, "forward and backward pass", "microbatch"),
                                     std::tuple(&plan.update, "update of weights", "step")})
      os << llvm::formatv(work, what, static_cast<int64_t>(one->bytes),
                          llvm::formatv("{0:f1}", one->seconds * 1e6).str(),
                          llvm::formatv("{0:f1}", one->flops / 1e6).str(), static_cast<int64_t>(one->launches), period);
    os << llvm::formatv(row, "a rank sends", "bytes", "us", "messages", "link", "in each");
    for (const Collective &one : plan.collectives)
      os << llvm::formatv(row, one.name, one.bytes, llvm::formatv("{0:f1}", secondsOf(one, links) * 1e6).str(),
                          one.messages, one.isBetweenHosts ? "between hosts" : "host",
                          one.isPerMicrobatch ? "microbatch" : "step");
    os << llvm::formatv("  memory of a rank, bytes: {0} of weights, moments and gradients; {1} saved for each of "
                        "{2} microbatches; {3} arena\n",
                        plan.state, plan.saved, plan.inFlight, plan.arena);
  }
}

static llvm::json::Value workJson(const Work &work) {
  return llvm::json::Object{
      {"bytes", work.bytes}, {"flops", work.flops}, {"launches", work.launches}, {"seconds", work.seconds}};
}

llvm::json::Value mhc::toJson(const DriverOptions &options, const MeshPlan &mesh) {
  llvm::json::Array array;
  for (const StagePlan &plan : mesh.stages) {
    llvm::json::Array collectives;
    for (const Collective &one : plan.collectives)
      collectives.push_back(llvm::json::Object{{"name", one.name},
                                               {"bytes", one.bytes},
                                               {"messages", one.messages},
                                               {"seconds", secondsOf(one, options.links)},
                                               {"between_hosts", one.isBetweenHosts},
                                               {"per_microbatch", one.isPerMicrobatch}});
    array.push_back(llvm::json::Object{{"collectives", std::move(collectives)},
                                       {"microbatch", workJson(plan.microbatch)},
                                       {"update", workJson(plan.update)},
                                       {"gradient_bytes", plan.gradients},
                                       {"state_bytes", plan.state},
                                       {"saved_bytes", plan.saved},
                                       {"microbatches_in_flight", plan.inFlight},
                                       {"arena_bytes", plan.arena}});
  }
  return llvm::json::Object{{"mesh", options.mesh.text()},
                            {"stages", std::move(array)},
                            {"token_bytes", mesh.tokens},
                            {"token_bytes_without_mhc", mesh.tokensWithoutStreams}};
}
