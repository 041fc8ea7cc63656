//===- Recompute.cpp - Cost of each way to recompute ---------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing is estimated: a plan is compiled until its buffers have their places, and its peak is the size of the arena
// that the compiled function asks for.
//
//===----------------------------------------------------------------------===//

#include "Recompute.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/Constants.h"
#include "mhc/IR/Counted.h"
#include "mhc/IR/TensorBytes.h"
#include "mhc/Transforms/RecomputePlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mhc;
using llvm::StringRef;
using mlir::ModuleOp;
using mlir::func::FuncOp;

static FuncOp functionOf(ModuleOp module, StringRef name, StringRef suffix) {
  return module.lookupSymbol<FuncOp>((name + suffix).str());
}

//===----------------------------------------------------------------------===//
// Peaks
//===----------------------------------------------------------------------===//

static llvm::Error missingSize(const std::string &symbol) {
  return llvm::createStringError("the memory budget depends on the size '" + symbol + "'; needed --size=" + symbol +
                                 "=N");
}

namespace {
/// Computes the size of the arena of a bufferized function.
class ArenaSize {
public:
  ArenaSize(FuncOp func, const std::map<std::string, int64_t> &sizes) : func(func), sizes(sizes) {}

  llvm::Expected<int64_t> bytes() {
    int64_t total = 0;
    for (auto arena : func.getOps<mlir::memref::AllocOp>()) {
      auto number = mlir::cast_if_present<mlir::IntegerAttr>(evaluate(arena.getDynamicSizes().front()));
      if (!missing.empty())
        return missingSize(missing);
      if (!number)
        return llvm::createStringError("at these sizes the temporaries of '" + func.getName() + "' have no size: '" +
                                       unknown + "' has no result");
      total += number.getInt();
    }
    return total;
  }

private:
  /// The number of an index; null where an op has none, such as a shift by 64 bits.
  mlir::Attribute evaluate(mlir::Value value) {
    if (mlir::Attribute number = known.lookup(value))
      return number;
    mlir::Operation *op = value.getDefiningOp();
    if (auto dim = mlir::dyn_cast<mlir::memref::DimOp>(op))
      return known[value] = argumentSize(dim);
    for (mlir::Value operand : op->getOperands())
      if (!evaluate(operand))
        return {};
    mlir::Attribute number = foldNumber(*op, known);
    if (!mlir::isa_and_nonnull<mlir::IntegerAttr, mlir::FloatAttr>(number)) {
      unknown = op->getName().getStringRef();
      return {};
    }
    return known[value] = number;
  }

  mlir::Attribute argumentSize(mlir::memref::DimOp op) {
    auto argument = mlir::cast<mlir::BlockArgument>(op.getSource());
    auto dims = func.getArgAttrOfType<mlir::ArrayAttr>(argument.getArgNumber(), kDims);
    std::vector<int64_t> values;
    auto numberOf = [&](StringRef symbol) {
      auto known = sizes.find(symbol.str());
      if (known == sizes.end())
        missing = symbol.str();
      values.push_back(known == sizes.end() ? 0 : known->second);
      return static_cast<unsigned>(values.size() - 1);
    };
    auto size = parsePolynomial(mlir::cast<mlir::StringAttr>(dims[*op.getConstantIndex()]).getValue(), numberOf);
    auto number = valueOf(size.value_or(Polynomial()), [&](unsigned symbol) { return values[symbol]; });
    mlir::Type type = op.getType();
    return missing.empty() ? mlir::IntegerAttr::get(type, number.value_or(INT64_MAX)) : mlir::Attribute();
  }

  FuncOp func;
  const std::map<std::string, int64_t> &sizes;
  KnownNumbers known;
  std::string missing;
  StringRef unknown; ///< the op that has no number
};
} // namespace

static Amount larger(Amount a, Amount b) {
  return std::make_pair(a.perToken, a.fixed) < std::make_pair(b.perToken, b.fixed) ? b : a;
}

llvm::Expected<int64_t> RecomputePlan::peakBytes(StringRef grad, const std::map<std::string, int64_t> &sizes) const {
  auto tokens = sizes.find("M");
  llvm::SmallVector<int64_t> arenas;
  for (StringRef suffix : {"_grad", "_fwd", "_bwd"}) {
    auto bytes = ArenaSize(functionOf(*module, grad, suffix), sizes).bytes();
    if (!bytes)
      return bytes.takeError();
    arenas.push_back(*bytes);
  }
  if (saved.perToken > 0 && tokens == sizes.end())
    return missingSize("M");
  double savedBytes = saved.at(saved.perToken > 0 ? tokens->second : 0);
  if (savedBytes >= kTooManyBytes || *llvm::max_element(arenas) >= kTooManyBytes)
    return llvm::createStringError("at these sizes the gradients of '" + grad.str() + "' need 2^61 bytes or more");
  return std::max(arenas[0], static_cast<int64_t>(savedBytes) + std::max(arenas[1], arenas[2]));
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// A backward function has no norms but those of inputs that it made again.
static Amount rebuiltBytes(FuncOp backward) {
  Amount bytes;
  for (const OpCost &op : costOf(backward).ops)
    if (op.name == "mhc.rebuild" || op.name == "mhc.rms_norm")
      bytes += op.cost.bytesWritten;
  return bytes;
}

/// Other functions with a body than the derivatives have no part in a plan, and need no buffers.
static void keepDerivatives(ModuleOp module, StringRef grad) {
  for (FuncOp func : llvm::make_early_inc_range(module.getOps<FuncOp>()))
    if (!func.isExternal() &&
        !llvm::is_contained({grad.str() + "_grad", grad.str() + "_fwd", grad.str() + "_bwd"}, func.getName()))
      func.erase();
}

static llvm::Expected<RecomputePlan> compilePlan(Compiler &compiler, ModuleOp source, CompileOptions options,
                                                 StringRef choice) {
  options.recompute = choice.str();
  RecomputePlan plan;
  plan.choice = choice.str();
  plan.module = source.clone();
  if (llvm::Error error = compiler.run(*plan.module, options, Phase::fuse))
    return error;
  FuncOp whole = functionOf(*plan.module, options.grad, ""), forward = functionOf(*plan.module, options.grad, "_fwd");
  plan.saved = resultBytes(forward, whole.getNumResults());
  plan.recomputed = rebuiltBytes(functionOf(*plan.module, options.grad, "_bwd"));
  keepDerivatives(*plan.module, options.grad);
  if (llvm::Error error = compiler.run(*plan.module, options, Phase::fuse, Phase::bufferize))
    return error;
  auto arena = [&](StringRef suffix) { return plannedPeakBytes(functionOf(*plan.module, options.grad, suffix)); };
  plan.jointPeak = arena("_grad");
  if (std::optional<Amount> first = arena("_fwd"), second = arena("_bwd"); first && second)
    plan.halvesPeak = plan.saved + larger(*first, *second);
  return plan;
}

/// The number of layers in the longest chain.
static llvm::Expected<int64_t> longestChain(Compiler &compiler, ModuleOp source, CompileOptions options) {
  options.recompute = "all";
  Compiler::Module module(source.clone());
  if (llvm::Error error = compiler.run(*module, options, Phase::fuse))
    return error;
  int64_t longest = 1;
  for (mlir::Attribute chain :
       functionOf(*module, options.grad, "_grad")->getAttrOfType<mlir::ArrayAttr>("mhc.recompute"))
    longest = std::max(longest, mlir::cast<mlir::DenseI64ArrayAttr>(chain)[0]);
  return longest;
}

/// Compiles each plan that keeps other streams than the rest: from the one that recomputes nothing to the one that
/// recomputes most. `visit` gets them in this order until it returns false.
static llvm::Error forEachPlan(Compiler &compiler, ModuleOp source, const CompileOptions &options,
                               llvm::function_ref<bool(RecomputePlan &)> visit) {
  auto layers = longestChain(compiler, source, options);
  if (!layers)
    return layers.takeError();
  // Several sizes may give the same number of groups; the smallest gives the most even ones.
  for (int64_t groups = *layers, before = 0; groups > 0; --groups) {
    int64_t size = llvm::divideCeil(*layers, groups);
    if (size == before)
      continue;
    before = size;
    auto plan = compilePlan(compiler, source, options, size == 1 ? "none" : "groups=" + std::to_string(size));
    if (!plan)
      return plan.takeError();
    if (!visit(*plan))
      break;
  }
  return llvm::Error::success();
}

namespace {
/// Looks for the first plan below a budget, and keeps the smallest peak for the message when there is none.
struct BudgetSearch {
  const DriverOptions &options;
  std::optional<RecomputeChoice> found;
  std::string smallest;
  int64_t smallestPeak = INT64_MAX;

  /// Whether the plan fits.
  llvm::Expected<bool> tryPlan(const RecomputePlan &plan) {
    auto peak = plan.peakBytes(options.compile.grad, options.sizes);
    if (!peak)
      return peak.takeError();
    if (*peak < smallestPeak) {
      smallestPeak = *peak;
      smallest = plan.choice;
    }
    if (*peak > *options.memoryBudget)
      return false;
    found = {plan.choice, *peak};
    return true;
  }
};
} // namespace

llvm::Expected<RecomputeChoice> mhc::chooseRecompute(Compiler &compiler, ModuleOp source,
                                                     const DriverOptions &options) {
  std::string wanted = options.compile.recompute;
  if (FuncOp func = functionOf(source, options.compile.grad, ""); func && wanted.empty())
    wanted = recomputeModeOf(func).str();
  if (!options.memoryBudget)
    return RecomputeChoice{wanted, std::nullopt};
  BudgetSearch search{options, {}, {}};
  llvm::Error error = llvm::Error::success();
  auto visit = [&](RecomputePlan &plan) {
    auto fits = search.tryPlan(plan);
    if (!fits)
      error = llvm::joinErrors(std::move(error), fits.takeError());
    return fits && !*fits;
  };
  if (wanted == "auto") {
    error = llvm::joinErrors(std::move(error), forEachPlan(compiler, source, options.compile, visit));
  } else {
    auto plan = compilePlan(compiler, source, options.compile, wanted);
    if (!plan)
      return llvm::joinErrors(std::move(error), plan.takeError());
    visit(*plan);
  }
  if (error)
    return error;
  if (search.found)
    return *search.found;
  return llvm::createStringError("the memory budget is " + counted(*options.memoryBudget, "byte") +
                                 "; the smallest peak is " + counted(search.smallestPeak, "byte") +
                                 ", with --recompute=" + search.smallest);
}

std::string mhc::describe(const RecomputeChoice &choice, const DriverOptions &options) {
  return llvm::formatv("--recompute={0} fits --memory-budget: @{1} has a peak of {2} of {3} bytes", choice.mode,
                       options.compile.grad, *choice.peakBytes, *options.memoryBudget);
}

llvm::Expected<std::vector<RecomputePlan>> mhc::allRecomputePlans(Compiler &compiler, ModuleOp source,
                                                                  const CompileOptions &options) {
  std::vector<RecomputePlan> plans;
  auto keep = [&](RecomputePlan &plan) {
    plan.module.release()->destroy();
    plans.push_back(std::move(plan));
    return true;
  };
  if (llvm::Error error = forEachPlan(compiler, source, options, keep))
    return error;
  if (plans.size() == 1) // no chain of layers
    return std::vector<RecomputePlan>();
  auto automatic = compilePlan(compiler, source, options, "auto");
  if (!automatic)
    return automatic.takeError();
  keep(*automatic);
  return plans;
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

static std::string text(std::optional<Amount> amount) {
  if (!amount)
    return "depends on more than M";
  return llvm::formatv("{0:f0} + {1:f0}", amount->perToken, amount->fixed);
}

void mhc::printRecomputePlans(llvm::raw_ostream &os, StringRef grad, llvm::ArrayRef<RecomputePlan> plans) {
  constexpr const char *row = "  {0,-12}{1,20}{2,20}{3,24}{4,24}\n";
  if (plans.empty())
    return;
  os << "\nrecompute plans of @" << grad << ", bytes per token + bytes once\n\n"
     << llvm::formatv(row, "plan", "saved", "recomputed", "peak of _grad", "peak of _fwd, _bwd");
  for (const RecomputePlan &plan : plans)
    os << llvm::formatv(row, plan.choice, text(plan.saved), text(plan.recomputed), text(plan.jointPeak),
                        text(plan.halvesPeak));
  os << "\n";
}

static llvm::json::Value toJson(std::optional<Amount> amount) {
  if (!amount)
    return nullptr;
  return llvm::json::Object{{"per_token", amount->perToken}, {"fixed", amount->fixed}};
}

llvm::json::Value RecomputePlan::toJson() const {
  return llvm::json::Object{{"plan", choice},
                            {"saved_bytes", ::toJson(saved)},
                            {"recomputed_bytes", ::toJson(recomputed)},
                            {"joint_peak_bytes", ::toJson(jointPeak)},
                            {"halves_peak_bytes", ::toJson(halvesPeak)}};
}
