//===- Streams.cpp - Mixes of streams: post, aggregate, contract --------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//

#include "Mix.h"
#include "Readings.h"
#include "StreamLists.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;
using algebra::Size;
using algebra::Var;

/// The type of what an op makes of all streams of x for each token.
static RankedTensorType rowsOf(Value x, Layout layout) {
  auto type = cast<RankedTensorType>(x.getType());
  return type.clone(ArrayRef<int64_t>{type.getDimSize(0), type.getDimSize(layout == Layout::nC ? 2 : 1)});
}

//===----------------------------------------------------------------------===//
// Aggregate
//===----------------------------------------------------------------------===//

/// Factors of a token beside the gates of the projection of these streams: the result is scaled by them, so that one op
/// reads the streams for both. None where the weights are gates as they are.
static Expr sharedBeside(MixSite &site, const Mix &mix) {
  auto [shared, own] = splitBy(mix.weights[0], mix.stream.first);
  const algebra::Factor *gate = algebra::singleFactor(own);
  auto gates = gate && gate->node()->value ? gate->node()->value.getDefiningOp<GatesOp>() : GatesOp();
  auto projection = gates ? gates.getProj().getDefiningOp<ProjectionOp>() : ProjectionOp();
  const bool isBeside = projection && behindReshapes(projection.getX()) == behindReshapes(mix.streams);
  return isBeside && algebra::numberOf(shared) != 1.0 ? shared : Expr();
}

/// Whether the program has weights for each token, and not for each sequence or place only.
static bool areOfEachToken(MixSite &site, const Mix &mix) {
  auto multiply = [&](Size a, Size b) { return site.algebra.sizes.multiply(a, b).value_or(0); };
  auto isToken = [&](Var var) {
    return llvm::any_of(mix.tokens, [&](const auto &token) { return token.first == var; });
  };
  Size all = 1, own = 1;
  for (const auto &token : mix.tokens)
    all = multiply(all, token.second);
  if (auto found = nearest(site.reading, mix.weights, site.op))
    for (const algebra::Index &index : found->at)
      for (const algebra::Piece &piece : index.pieces)
        own = isToken(piece.var) ? multiply(own, piece.extent) : own;
  return all == own;
}

/// u[t, c] = sum over j of h_pre[t, j] * x[t, j, c]
static bool raiseAggregate(MixSite &site, const Mix &mix) {
  IndexVars order(mix.tokens);
  order.append(mix.channels);
  // Channels before some of the tokens, as in images, are those of known streams.
  bool isInOrder = site.vars == order || (site.vars.size() == order.size() && isProjectedOrMade(mix.streams));
  IndexVars streams = {mix.stream};
  const bool areKnown = areStreams(mix.streams);
  // h_pre (h_res x) is (h_pre h_res) x
  auto isProduct = [&] { return areKnown && site.findProduct(mix.weights, streams); };
  auto isOfTable = [&] { return areKnown && site.tableOf(mix.weights); };
  if (!isInOrder || mix.weights[0].factors.empty() || (!site.valueOf(mix.weights) && !isProduct() && !isOfTable()))
    return false; // no gates, such as those of an aggregate that a norm scales
  auto isPerToken = [&](const algebra::Factor &weight) { return site.isPerToken(mix, weight); };
  // Weights of several tokens are gates of what is known for streams: few channels are summed by a vector as well.
  if (!areKnown && !(llvm::all_of(mix.weights[0].factors, isPerToken) && areOfEachToken(site, mix))) {
    site.unknown = mix.streams;
    return false;
  }
  if (!keepsPrecision(site.root, mix.streams)) {
    if (!mix.tokens.empty() || site.coefficients(mix) || isProjectedOrMade(mix.streams)) // one token is of any layer
      site.declineWidth("aggregate", mix, Reason::resultWider, site.root);
    return false;
  }
  Value x = site.buildStreams(mix);
  const Expr shared = sharedBeside(site, mix);
  const Expr weights = shared.empty() ? mix.weights : splitBy(mix.weights[0], mix.stream.first).second;
  Value gate = x ? site.buildWeights(weights, mix, {streams}, x) : Value();
  if (!gate)
    return false;
  auto aggregate =
      AggregateOp::create(site.builder, site.op->getLoc(), rowsOf(x, mix.layout), x, site.leaf.toF32(gate), mix.layout);
  Value scaled;
  if (!shared.empty()) {
    SmallVector<OpFoldResult> sizes = site.leaf.sizesOf(aggregate.getU());
    Value factor = site.buildSum(shared, {mix.tokens, {}}, sizes);
    scaled = factor ? site.leaf.mul(site.leaf.toF32(aggregate.getU()), factor) : Value();
    if (!scaled)
      return false;
  }
  return site.finish(aggregate, {mix.tokens, mix.channels}, {}, scaled);
}

//===----------------------------------------------------------------------===//
// Contract
//===----------------------------------------------------------------------===//

/// Streams are arguments or what an mHC op made, also where a loop carries them: a short sum elsewhere is left alone.
static bool isStreamTensor(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    return loop ? isStreamTensor(loop.getTiedLoopInit(argument)->get()) : isa<func::FuncOp>(parent);
  }
  if (auto loop = value.getDefiningOp<scf::ForOp>())
    return isStreamTensor(loop.getTiedLoopInit(cast<OpResult>(value))->get());
  return isa<ExpandOp>(value.getDefiningOp());
}

namespace {
/// Streams as they were read, and the value in their place, which has their elements at these indices.
struct StreamTensor {
  Value was, now;
  algebra::Indices at;
  bool isStreamFirst = false; ///< in front of the tokens
};

/// The plain sum or mean over the streams of a tensor of known streams.
class Contraction {
public:
  Contraction(algebra::Reading &reading, Sites &sites, StreamTensor streams, int64_t dim);
  /// Finds it among all values, and replaces it.
  void raise(llvm::function_ref<bool(Operation *)> isCandidate, llvm::function_ref<void(Operation *)> markDead);

private:
  bool replace(const algebra::Reading::Found &found);

  algebra::Reading &reading;
  Sites &sites;
  StreamTensor streams;
  int64_t n;
  Layout layout;
  IndexVars tokens, channels, stream;
  std::optional<Expr> sum; ///< in the variables of the streams
};
} // namespace

/// [tokens, n, channels], or [tokens, C, n] where `dim` is the last one, or [n, tokens, C] where it is the first.
Contraction::Contraction(algebra::Reading &reading, Sites &sites, StreamTensor streams, int64_t dim)
    : reading(reading), sites(sites), streams(streams) {
  auto type = cast<RankedTensorType>(streams.was.getType());
  n = type.getDimSize(dim);
  layout = dim + 1 < type.getRank() ? Layout::nC : Layout::Cn;
  int64_t firstChannel = dim == 0 ? type.getRank() - 1 : layout == Layout::nC ? dim : dim - 1;
  for (auto [i, size] : llvm::enumerate(reading.sizes(streams.was)))
    if (size != Size(1))
      (static_cast<int64_t>(i) == dim           ? stream
       : static_cast<int64_t>(i) < firstChannel ? tokens
                                                : channels)
          .push_back({static_cast<Var>(i), size});
  if (n >= kMinStreams && n <= kMaxStreams && firstChannel > 0)
    sum = reading.algebra().reduce("sum", reading.of(streams.was), {stream[0]});
}

/// Whether a transpose makes [M, n, C] of [M, C, n], or the other way round.
static bool swapsStreams(TransposeOp op) { return op.getPerm() == ArrayRef<int64_t>{0, 2, 1}; }

bool Contraction::replace(const algebra::Reading::Found &found) {
  Operation *op = found.value.getDefiningOp();
  // found = factor^-1 * sum
  bool isMean = std::abs(found.factor / static_cast<double>(n) - 1) < 1e-6;
  SmallVector<IndexVars> own;
  for (const algebra::Index &index : found.at) {
    IndexVars &vars = own.emplace_back();
    for (const algebra::Piece &piece : index.pieces)
      vars.push_back({piece.var, piece.extent});
  }
  Operation *maker = streams.now.getDefiningOp();
  Operation *here = maker ? maker->getBlock()->findAncestorOpInBlock(*op) : op;
  if ((!isMean && found.factor != 1) || !keepsPrecision(found.value, streams.now) || !here ||
      (maker && !maker->isBeforeInBlock(here)))
    return false;
  OpBuilder builder(op);
  SmallVector<IndexVars> groups = {tokens, layout == Layout::nC ? stream : channels,
                                   layout == Layout::nC ? channels : stream};
  Value x = arrange(reading, builder, op->getLoc(), streams.now, streams.at, groups);
  if (!x)
    return false;
  // As the streams are stored
  Layout stored = layout;
  if (auto transpose = x.getDefiningOp<TransposeOp>(); transpose && swapsStreams(transpose)) {
    x = transpose.getX();
    stored = layout == Layout::nC ? Layout::Cn : Layout::nC;
  }
  auto contract = ContractOp::create(builder, op->getLoc(), rowsOf(x, stored), x, stored,
                                     isMean ? ContractMode::mean : ContractMode::sum);
  algebra::Indices from = indicesOf(reading.algebra().sizes, {tokens, channels});
  return finishMix(reading, sites, builder, contract, from, own, found.value, isMean ? "mean" : "sum") != nullptr;
}

void Contraction::raise(llvm::function_ref<bool(Operation *)> isCandidate,
                        llvm::function_ref<void(Operation *)> markDead) {
  if (!sum)
    return;
  std::vector<algebra::Reading::Found> all = reading.find(*sum);
  // The first of what is the sum: others show it. A mean before the sum that it may be made of.
  std::reverse(all.begin(), all.end());
  llvm::stable_sort(all, [](const auto &a, const auto &b) { return a.factor > b.factor; });
  for (const algebra::Reading::Found &found : all) {
    Operation *op = found.value.getDefiningOp();
    if (op && isCandidate(op) && replace(found))
      markDead(op);
  }
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

/// Streams or channels that may have been computed part by part.
static bool joinsParts(tensor::ConcatOp op) {
  return op.getDim() != 0 && op.getInputs().size() <= static_cast<size_t>(kMaxStreams);
}

/// Ops whose result may be a whole mix: not views, except rows of a product that mixes several things at once, streams
/// side by side, and what was computed transposed.
static bool isCandidate(Operation *op) {
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    Operation *inner = transpose.getX().getDefiningOp();
    return inner && singleUser(inner->getResult(0)) && isCandidate(inner);
  }
  if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()) || isWide(op->getResult(0)))
    return false;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return behindViews(slice.getSource()).getDefiningOp<BatchMatmulOp>() != nullptr;
  if (auto cast = dyn_cast<arith::TruncFOp>(op))
    return singleUser(cast.getIn());
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return joinsParts(concat);
  return isa<ReduceOp, BatchMatmulOp, MatmulOp, arith::AddFOp, arith::MulFOp, arith::DivFOp>(op);
}

namespace {
class StreamRaiser {
public:
  StreamRaiser(func::FuncOp func, algebra::Reading &reading, Sites &sites)
      : func(func), ops(opsFromTheEnd(func)), reading(reading), sites(sites) {}
  void run();
  /// Whether streams have become one value, which gates may weigh that were not found, or weights of all tokens.
  bool mayFindMore();
  /// Remarks on what was not found, also as a part of a larger value that is no mix.
  void explain();

private:
  struct Taken {
    std::string kind;
    MixSource source;
    Value made;
  };

  /// Marks ops as dead from one on of which nothing reads more than sizes.
  void markDead(Operation *op);
  void raiseMixes();
  /// Adds the streams that were found in other shapes, as with the tokens of a batch apart.
  void addShown();
  /// Adds the streams of some tokens, such as the last one of each sequence.
  void addParts();
  void raiseContractions();

  func::FuncOp func;
  SmallVector<Operation *> ops; ///< as they were read
  algebra::Reading &reading;
  Sites &sites;
  llvm::DenseSet<Operation *> dead; ///< erased later: the reading names their results
  std::vector<StreamTensor> streams;
  SmallVector<Value> unknown; ///< what would be mixed if it were streams
  std::vector<DeclinedMix> declined;
  std::vector<Taken> taken;
};
} // namespace

void StreamRaiser::markDead(Operation *op) {
  bool isRead = llvm::any_of(op->getUsers(), [&](Operation *user) {
    return !isa<tensor::DimOp>(user) && !dead.contains(user) && !isOpTriviallyDead(user);
  });
  if (isRead || !wouldOpBeTriviallyDead(op) || !dead.insert(op).second)
    return;
  for (Value operand : op->getOperands())
    if (Operation *maker = operand.getDefiningOp())
      markDead(maker);
}

/// From the end, so that the whole of a sum is met before its parts.
void StreamRaiser::raiseMixes() {
  for (Operation *op : ops) {
    if (dead.contains(op) || !sites.mayTake() || !isCandidate(op))
      continue;
    MixSite site(reading, sites, op->getResult(0));
    auto raise = [&](const Mix &mix) {
      const bool isPost = !mix.branches.empty();
      const MixSource source = site.sourceOf(mix);
      if (isPost ? !raisePost(site, mix) : !raiseAggregate(site, mix))
        return false;
      if (isPost)
        streams.push_back({site.root, site.replacement, reading.whole(site.root), site.isStreamFirst(mix)});
      taken.push_back({isPost ? "post" : "aggregate", source, site.replacement});
      markDead(op);
      return true;
    };
    if (llvm::any_of(site.readings(), raise) || llvm::any_of(site.readingsOfTerms(), raise))
      continue;
    llvm::append_range(declined, site.declined);
    if (site.unknown)
      unknown.push_back(site.unknown);
  }
}

/// Whether `root` is computed of `value`, which is in a block around it. Ops in front of that one are not looked at.
static bool isComputedBehind(Operation *root, Value value) {
  Operation *maker = value.getDefiningOp();
  auto operandsOf = [&](Value made) {
    Operation *op = made.getDefiningOp(), *around = op ? maker->getBlock()->findAncestorOpInBlock(*op) : nullptr;
    const bool isBehind = around && !around->isBeforeInBlock(maker);
    return isBehind ? SmallVector<Value>(op->getOperands()) : SmallVector<Value>();
  };
  return llvm::any_of(root->getResults(),
                      [&](Value made) { return isComputedOf(made, behindViews(value), operandsOf); });
}

void StreamRaiser::explain() {
  // A second summand with the same gate is of the site, and stays beside its op.
  auto hasRest = [](const Miss &miss) {
    return miss.reason == Reason::branchTwice || miss.reason == Reason::dropoutOfPart;
  };
  for (const DeclinedMix &mix : declined) {
    auto isPart = [&](const Taken &other) {
      return other.kind == mix.kind && other.source == mix.source && isComputedBehind(mix.root, other.made);
    };
    if (hasRest(mix.miss) || llvm::none_of(taken, isPart))
      sites.decline(mix.kind, mix.miss);
  }
}

void StreamRaiser::addShown() {
  for (size_t i = 0, count = streams.size(); i < count; ++i)
    for (Operation *view : streams[i].now.getUsers())
      if (isReshape(view))
        for (const algebra::Reading::Found &found : reading.find(reading.of(view->getResult(0))))
          if (found.value == streams[i].was && found.factor == 1)
            streams.push_back({view->getResult(0), streams[i].now, found.at});
}

/// Whether a slice has all streams of some tokens.
static bool takesTokens(tensor::ExtractSliceOp slice) {
  const ArrayRef<int64_t> from = slice.getSourceType().getShape(), to = slice.getType().getShape();
  return to.size() > 2 && from.take_back(2) == to.take_back(2) && !ShapedType::isDynamicShape(to.take_back(2));
}

void StreamRaiser::addParts() {
  SmallVector<Operation *> views;
  for (const StreamTensor &known : streams)
    usersThroughViews(known.now, views);
  for (Operation *view : views)
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(view); slice && takesTokens(slice))
      streams.push_back({slice, slice, reading.whole(slice)});
}

void StreamRaiser::raiseContractions() {
  addShown();
  addParts();
  auto addKnown = [&](Value value) {
    const algebra::Factor *whole =
        isa<RankedTensorType>(value.getType()) ? algebra::singleFactor(reading.of(value)) : nullptr;
    Value base = whole && reading.of(value)[0].coefficient == 1 ? whole->node()->value : Value();
    if (!base || !isStreamTensor(base))
      return;
    const bool isWhole = llvm::all_of(llvm::zip(whole->at(), reading.sizes(base)), [&](const auto &dim) {
      return covers(reading.algebra().sizes, std::get<0>(dim), std::get<1>(dim));
    });
    auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
    if (isWhole)
      streams.push_back({value, base, algebra::Indices(whole->at().begin(), whole->at().end())});
    else if (slice && takesTokens(slice))
      streams.push_back({value, value, reading.whole(value)});
  };
  func.walk([&](Block *block) { llvm::for_each(block->getArguments(), addKnown); });
  for (Operation *op : ops)
    llvm::for_each(op->getResults(), addKnown);
  auto isLive = [&](Operation *op) { return sites.mayTake() && !dead.contains(op) && isCandidate(op); };
  for (StreamTensor tensor : streams) {
    auto type = dyn_cast<RankedTensorType>(tensor.was.getType());
    if (!type || type.getRank() < 3)
      continue;
    for (int64_t dim = tensor.isStreamFirst ? 0 : 1; dim < type.getRank(); ++dim)
      if (!type.isDynamicDim(dim))
        Contraction(reading, sites, tensor, dim).raise(isLive, [&](Operation *op) { markDead(op); });
  }
}

void StreamRaiser::run() {
  for (Operation *op : ops)
    markDead(op);
  raiseMixes();
  raiseContractions();
}

bool StreamRaiser::mayFindMore() {
  if (streams.empty())
    return false;
  auto isNowKnown = [&](Value value) {
    return llvm::any_of(streams, [&](const StreamTensor &known) {
      Value base = behindReshapes(value);
      return base == behindReshapes(known.was) || base == behindReshapes(known.now);
    });
  };
  if (llvm::any_of(unknown, isNowKnown))
    return true;
  auto isLoose = [&](Operation *reader) { return !isMhcOp(reader) && !dead.contains(reader); };
  return func
      .walk([&](GatesOp gates) {
        SmallVector<Operation *> readers;
        if (Value gate = gates.getHPre())
          usersThroughViews(gate, readers);
        return llvm::any_of(readers, isLoose) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void mhc::raiseStreams(func::FuncOp func, Readings &readings, Sites &sites) {
  algebra::Reading &reading = readings.unrounded();
  SmallVector<tensor::ConcatOp> stacks = stackMixes(func, reading);
  if (!stacks.empty())
    reading.refresh();
  std::optional<StreamRaiser> raiser(std::in_place, func, reading, sites);
  raiser->run();
  if (raiser->mayFindMore()) {
    reading.refresh();
    raiser.emplace(func, reading, sites);
    raiser->run();
  }
  raiser->explain();
  llvm::for_each(stacks, unstack);
}
