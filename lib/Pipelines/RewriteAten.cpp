//===- RewriteAten.cpp - Sites of a captured PyTorch graph --------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtenBytes.h"
#include "mhc/Conversion/Passes.h"
#include "mhc/Conversion/WriteAten.h"
#include "mhc/IR/MhcOps.h"
#include "mhc/IR/OpKinds.h"
#include "mhc/Pipelines/Pipelines.h"
#include "mhc/Transforms/Sites.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringSet.h"
#include <mutex>
#include <set>

namespace mhc {
#define GEN_PASS_DEF_REWRITEATENPASS
#include "mhc/Pipelines/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

/// Whether an op is one that models without streams have as well: heads of attention are repeated and added up, and a
/// norm is in front of many a product.
static bool isCommon(Operation *op) { return isa<ExpandOp, ContractOp, ProjectionOp, AggregateOp>(op); }

/// Whether the channels of a front end come from several tensors: to bring them together costs what the kernel saves.
static bool isGathered(Operation *op) {
  auto front = dyn_cast<PreGatedDeltaRuleOp>(op);
  return front && behindViews(front.getQkvzba()).getDefiningOp<tensor::ConcatOp>();
}

/// Whether a gate without others weighs no streams: a sigmoid of a few rows is the end of many a layer.
static bool isLooseGate(Operation *op) {
  auto gates = dyn_cast<GatesOp>(op);
  if (!gates || gates.getHPost() || gates.getLogits())
    return false;
  SmallVector<Operation *> readers;
  usersThroughViews(gates.getHPre(), readers);
  return !llvm::any_of(readers, llvm::IsaPred<AggregateOp, PostOp>);
}

static bool isOfSite(Operation *op) {
  return op && isMhcOp(op) && !isCommon(op) && !isGathered(op) && !isLooseGate(op);
}

/// Whether a site mixes the streams of an aggregate.
static bool isOfMixedStreams(AggregateOp op) {
  Value streams = behindReshapes(op.getX());
  SmallVector<Operation *> readers;
  usersThroughViews(streams, readers);
  return llvm::any_of(readers, [&](Operation *reader) {
    auto post = dyn_cast<PostOp>(reader);
    return post && behindReshapes(post.getX()) == streams;
  });
}

/// The slices of some tokens that are contracted, the last one first, and what they are of.
static std::pair<SmallVector<tensor::ExtractSliceOp>, Value> slicesOf(ContractOp op) {
  SmallVector<tensor::ExtractSliceOp> slices;
  Value source = behindViews(op.getX());
  while (auto slice = source.getDefiningOp<tensor::ExtractSliceOp>()) {
    slices.push_back(slice);
    source = behindViews(slice.getSource());
  }
  return {slices, source};
}

/// Whether an op takes the place of nodes: it is of a site, or what it makes is read by one. Streams are contracted
/// behind a site, and aggregated beside it. Where nothing but streams is in a graph, they need no site.
static bool replacesNodes(Operation *op, llvm::function_ref<bool(Operation *)> isBeside = isOfSite) {
  if (isOfSite(op) || !isCommon(op))
    return isOfSite(op);
  if (isa<ExpandOp, ContractOp>(op) && op->getParentOp()->hasAttr(kStreams))
    return true;
  auto isMade = [&](Value operand) { return isBeside(behindViews(operand).getDefiningOp()); };
  if (auto contract = dyn_cast<ContractOp>(op); contract && isBeside(slicesOf(contract).second.getDefiningOp()))
    return true;
  if (auto aggregate = dyn_cast<AggregateOp>(op);
      aggregate && (llvm::any_of(op->getOperands(), isMade) || isOfMixedStreams(aggregate)))
    return true;
  SmallVector<Operation *> users;
  for (Value result : op->getResults())
    usersThroughViews(result, users);
  // A sublayer may end with a norm and a product, with a weighted sum, as of attention by one query or of experts, or
  // with one row for all tokens: only what coefficients are made of, and streams, are of the site.
  auto isSublayer = [&](Operation *user) {
    auto post = dyn_cast<PostOp>(user);
    return post && behindReshapes(post.getF()).getDefiningOp() == op;
  };
  return llvm::any_of(users, [&](Operation *user) { return isBeside(user) && !isSublayer(user); });
}

/// An op that computes nothing that a node is named for.
static bool isTrivial(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() || op->hasTrait<OpTrait::IsTerminator>() || showsOperand(op) ||
         !llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

namespace {
/// The nodes that ops were made of.
struct Nodes {
  llvm::StringSet<> ofSites, ofOthers;
  llvm::StringMap<int64_t> counts; ///< of the ops of sites, by kind

  explicit Nodes(ModuleOp module) {
    module.walk([&](Operation *op) {
      const bool isFused = replacesNodes(op);
      if (isFused)
        ++counts[op->getName().getStringRef()];
      if (auto contract = dyn_cast<ContractOp>(op); contract && isFused)
        for (Operation *slice : slicesOf(contract).first)
          forEachNode(slice->getLoc(), [&](StringAttr name) { ofSites.insert(name); });
      if (isFused || !isTrivial(op))
        forEachNode(op->getLoc(), [&](StringAttr name) { (isFused ? ofSites : ofOthers).insert(name); });
    });
  }

  /// Whether all of a node is left as it was. One that other ops than its own were made of is no more.
  bool isOutside(StringRef node) const { return !ofSites.contains(node) && ofOthers.contains(node); }
};
} // namespace

static void markOutside(ModuleOp module, const Nodes &nodes) {
  for (func::FuncOp func : module.getOps<func::FuncOp>())
    for (Block &block : func.getBody())
      for (Operation &op : block.without_terminator())
        if (auto name = dyn_cast<NameLoc>(op.getLoc()); name && nodes.isOutside(name.getName().getValue()))
          op.setAttr(kOutside, UnitAttr::get(op.getContext()));
}

/// Turns ops back into what they stand for.
static void decompose(ModuleOp module, llvm::function_ref<bool(Operation *)> isChosen) {
  SmallVector<DecomposableOpInterface> chosen;
  module.walk([&](DecomposableOpInterface op) {
    if (isMhcOp(op) && isChosen(op))
      chosen.push_back(op);
  });
  for (DecomposableOpInterface op : chosen) {
    OpBuilder builder(op);
    op->replaceAllUsesWith(op.decompose(builder));
    op->erase();
  }
}

/// Whether an op's derivative in PyTorch lacks something: that of mhc.pre is of one whose input is mixed by its own
/// gate, and u of q and k has none.
static bool hasNoDerivative(Operation *op) {
  auto pre = dyn_cast<PreOp>(op);
  auto front = dyn_cast<PreGatedDeltaRuleOp>(op);
  return (pre && pre.getHIn()) || (front && front.getSilu());
}

namespace {
/// Keeps why sites are missed, each once. Functions are raised on several threads.
class MissKeeper : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit MissKeeper(llvm::json::Array &kept) : kept(kept) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::lock_guard<std::mutex> lock(mutex);
    if (remark.getRemarkType() != llvm::remarks::Type::Missed ||
        !seen.insert({remark.getLocation().getAsOpaquePointer(), remark.getRemarkName().str()}).second)
      return;
    llvm::json::Object miss{{"code", remark.getRemarkName()}};
    for (const remark::detail::Remark::Arg &argument : remark.getArgs())
      miss[StringRef(argument.key).lower()] = argument.val;
    if (auto line = remark.getLocation()->findInstanceOf<FileLineColLoc>())
      miss["where"] = (line.getFilename().getValue() + ":" + Twine(line.getLine())).str();
    kept.push_back(std::move(miss));
  }

private:
  llvm::json::Array &kept;
  std::set<std::pair<const void *, std::string>> seen;
  std::mutex mutex;
};
} // namespace

/// Coefficients of streams that an op reads, or what it makes them of.
static SmallVector<Value> coefficientsOf(Operation *op) {
  if (auto post = dyn_cast<PostOp>(op))
    return {post.getHPost(), post.getHRes()};
  if (auto aggregate = dyn_cast<AggregateOp>(op))
    return {aggregate.getHPre()};
  if (isa<GatesOp, SinkhornOp, PermutationMixOp>(op))
    return {op->getOperand(0)};
  return {};
}

namespace {
/// The graphs that a captured one was, by its breaks, which it has.
class Pieces {
public:
  explicit Pieces(func::FuncOp graph) : lines(graph->getAttrOfType<DictionaryAttr>(kBreaks)) {
    for (Operation &op : graph.getOps()) {
      auto name = dyn_cast<NameLoc>(op.getLoc());
      if (auto line = name ? lines.getAs<LocationAttr>(name.getName()) : LocationAttr())
        breaks.push_back(line);
      const StringRef kind = op.getName().getStringRef();
      if (name && !isAtenView(kind) && kind != aten::kToCopy) // which either side may have
        numbers[name.getName()] = breaks.size();
    }
  }

  void reportLost(func::FuncOp found) {
    found.walk([&](Operation *op) { pieces[op] = take(op); });
    found.walk([&](Operation *op) {
      if (replacesNodes(op)) {
        reportCut(op);
        reportOutside(op, found);
      }
    });
  }

private:
  DictionaryAttr lines;
  SmallVector<Location> breaks; ///< behind the piece of each number
  llvm::DenseMap<StringAttr, unsigned> numbers;
  llvm::DenseMap<Operation *, llvm::SmallBitVector> pieces;

  /// The pieces that an op's nodes are in. Those that make its operands, which its location names as well, are taken.
  llvm::SmallBitVector take(Operation *op) {
    llvm::SmallBitVector own(breaks.size() + 1);
    if (!isTrivial(op))
      forEachNode(op->getLoc(), [&](StringAttr name) {
        if (auto number = numbers.find(name); number != numbers.end()) {
          own.set(number->second);
          numbers.erase(number);
        }
      });
    return own;
  }

  static void report(Operation *op, const Twine &found, Location line) {
    const StringRef kind = op->getName().getStringRef();
    remarkMissed(kind, {Reason::graphBreak, op, ("'" + kind + "' " + found).str(), "one graph", {}, line});
  }

  /// Says of the breaks for which no piece has an op, or has it as one of a site.
  void reportCut(Operation *op) {
    const llvm::SmallBitVector &own = pieces[op];
    llvm::SmallBitVector around = own;
    auto isBeside = [&](Operation *other) {
      if (!isOfSite(other))
        return false;
      around |= pieces[other];
      return pieces[other].anyCommon(own);
    };
    const bool isWhole = own.count() < 2;
    if (own.none() || (isWhole && (!isa<ExpandOp, ContractOp>(op) || replacesNodes(op, isBeside))))
      return;
    for (int i = around.find_first(); i < around.find_last(); ++i)
      report(op, isWhole ? "on one side, its site on the other" : "in parts on both sides", breaks[i]);
  }

  /// Says of the break for which coefficients are in no graph.
  void reportOutside(Operation *op, func::FuncOp found) {
    for (Value coefficient : coefficientsOf(op))
      if (auto argument = dyn_cast<BlockArgument>(behindViews(coefficient)))
        if (auto name = found.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNodeName))
          if (auto line = lines.getAs<LocationAttr>(name))
            report(op, "of coefficients from no graph, as where a loop breaks", line);
  }
};
} // namespace

static void addFind(OpPassManager &pm, FuseLevel fuse) {
  pm.addNestedPass<func::FuncOp>(createReadAtenPass());
  PipelineOptions options;
  options.fuse = fuse;
  options.keepsResults = true; // which are nodes of the graph
  buildPipeline(pm, options, Phase::input, Phase::fuse);
}

static LogicalResult find(ModuleOp module, FuseLevel fuse) {
  PassManager pm(module.getContext());
  addFind(pm, fuse);
  return pm.run(module);
}

/// mhc-opt has a remark engine of its own, whose filters take nothing by default: it goes.
static LogicalResult findAll(ModuleOp module, FuseLevel fuse, llvm::json::Array &missed) {
  MLIRContext &context = *module.getContext();
  remark::RemarkCategories categories;
  categories.missed = ".*";
  (void)remark::enableOptimizationRemarks(context, std::make_unique<MissKeeper>(missed),
                                          std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
  llvm::DenseMap<StringAttr, Pieces> pieces;
  for (func::FuncOp func : module.getOps<func::FuncOp>())
    if (func->hasAttr(kBreaks))
      pieces.try_emplace(func.getSymNameAttr(), func);
  LogicalResult result = find(module, fuse);
  for (func::FuncOp func : module.getOps<func::FuncOp>())
    if (auto own = pieces.find(func.getSymNameAttr()); own != pieces.end())
      own->second.reportLost(func);
  context.setRemarkEngine(nullptr);
  return result;
}

/// Whether all that reads a value of a captured graph computes in a type of 16 bits.
static bool isReadNarrow(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    auto type = user->getNumResults() == 1 ? dyn_cast<ShapedType>(user->getResult(0).getType()) : ShapedType();
    return type && type.getElementTypeBitWidth() == 16 &&
           (!isAtenView(user->getName().getStringRef()) || isReadNarrow(user->getResult(0)));
  });
}

/// Leaves coefficients as they are where they are rounded for products of 16 bits alone, as by autocast: kernels have
/// those in f32. Columns of h_res then sum to one, and a gradient in which the streams cancel is more exact by far.
static void dropRoundings(func::FuncOp graph, func::FuncOp found) {
  llvm::DenseSet<StringAttr> casts;
  for (Operation &op : graph.getOps())
    if (auto name = dyn_cast<NameLoc>(op.getLoc());
        name && op.getName().getStringRef() == aten::kToCopy && isReadNarrow(op.getResult(0)))
      casts.insert(name.getName());
  if (casts.empty())
    return;
  found.walk([&](Operation *op) {
    bool isCast = false;
    if (isMhcOp(op))
      forEachNode(op->getLoc(), [&](StringAttr name) { isCast |= casts.contains(name); });
    if (isCast)
      for (StringRef name : {"h_pre_format", "h_post_format", "h_res_format"})
        op->removeAttr(name);
  });
}

LogicalResult mhc::rewriteAten(ModuleOp module, const RewriteAtenPassOptions &options, raw_ostream &os) {
  OwningOpRef<ModuleOp> captured = module.clone(), all = module.clone();
  llvm::json::Array missed;
  if (failed(findAll(*all, options.fuse, missed)))
    return failure();
  Nodes nodes(*all);
  markOutside(module, nodes);
  if (failed(find(module, options.fuse)))
    return failure();
  // Sites that are not found without their surroundings are taken from the whole.
  const bool isLess = Nodes(module).counts != nodes.counts;
  ModuleOp best = isLess ? *all : module;
  decompose(best, [](Operation *op) { return !replacesNodes(op); });
  if (options.differentiate)
    decompose(best, hasNoDerivative);
  for (func::FuncOp func : best.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    auto graph = captured->lookupSymbol<func::FuncOp>(func.getName());
    dropRoundings(graph, func);
    FailureOr<WrittenCalls> written = writeAten(func);
    if (failed(written))
      return failure();
    if (std::optional<ReplacedBytes> bytes = replacedBytes(graph, func, *written))
      written->text["bytes"] = llvm::json::Object{{"before", bytes->before}, {"after", bytes->after}};
    written->text["missed"] = llvm::json::Array(missed);
    printLines(written->text, os);
  }
  return success();
}

namespace {
struct RewriteAtenPass : mhc::impl::RewriteAtenPassBase<RewriteAtenPass> {
  using RewriteAtenPassBase::RewriteAtenPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager pm(ModuleOp::getOperationName());
    addFind(pm, fuse);
    pm.getDependentDialects(registry);
  }

  void runOnOperation() override {
    if (failed(rewriteAten(getOperation(), {fuse, differentiate}, llvm::outs())))
      signalPassFailure();
    llvm::outs().flush();
  }
};
} // namespace
