//===- Pre.cpp - Everything before a sublayer in one kernel ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuse.h"
#include "Rounding.h"
#include "mhc/Algebra/Reading.h"
#include "mhc/IR/LeafBuilder.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mhc;

namespace {
/// The ops that one pre replaces.
struct Site {
  ProjectionOp projection;
  GatesOp gates;
  AggregateOp aggregate; ///< of the projected streams; null where they are not mixed
  bool isMixedByGate;    ///< or else by other weights, as in the single-pass form
  AggregateOp apart;     ///< mixes by a gate that it rounds on its own: it reads the fused op
  std::optional<Miss> apartMiss;
  ResMap resMap = ResMap::identity;
  SinkhornOp sinkhorn;          ///< with resMap sinkhorn
  PermutationMixOp permutation; ///< with resMap permutation
  Value residual;               ///< residual map, or the logits; null when those are dead
  arith::SubFOp fold;           ///< the residual less h_post h_pre^T
  arith::SubFOp roundedFold;    ///< that of rounded operands, which no kernel has
  /// The gate of the aggregate, and what else reads it; formats that coefficients are rounded to before they are used.
  SmallVector<CoefficientReader> gateReaders;
  std::optional<Format> hPreFormat, hPostFormat, hResFormat;

  /// The format that the residual matrix has without another rounding.
  std::optional<Format> iterationFormat() { return sinkhorn && !fold ? sinkhorn.getFormat() : std::nullopt; }
  SmallVector<Operation *> ops() const {
    SmallVector<Operation *> all = {projection, gates};
    if (sinkhorn)
      all.push_back(sinkhorn);
    if (permutation)
      all.push_back(permutation);
    if (aggregate)
      all.push_back(aggregate);
    return all;
  }
};

/// Finds residual maps that h_post h_pre^T is subtracted from.
class FoldMatcher {
public:
  explicit FoldMatcher(func::FuncOp func) : func(func) {}
  void match(Site &site);

private:
  bool isFold(algebra::Reading &reading, Site &site, arith::SubFOp sub);

  func::FuncOp func;
  std::optional<algebra::Reading> exact, unrounded; ///< once there is a candidate
};

/// Mixes of streams by weights that were not projected from them.
class GivenMixes {
public:
  void add(AggregateOp aggregate) { byStreams[behindReshapes(aggregate.getX())].push_back(aggregate); }
  /// Gives the site the mix of its streams, if there is one.
  void addTo(Site &site);

private:
  llvm::DenseMap<Value, SmallVector<AggregateOp>> byStreams;
};
} // namespace

/// Finds the aggregate that mixes the projected streams by the first gate.
static AggregateOp findAggregate(Site &site) {
  site.gateReaders = readersOf(site.gates.getHPre());
  for (const CoefficientReader &reader : site.gateReaders) {
    auto aggregate = dyn_cast<AggregateOp>(reader.use->getOwner());
    if (aggregate && reader.use->get() == aggregate.getHPre() &&
        behindReshapes(aggregate.getX()) == behindReshapes(site.projection.getX())) {
      site.hPreFormat = reader.format;
      return aggregate;
    }
  }
  site.hPreFormat = commonFormat(site.gateReaders);
  return {};
}

/// Moves what the fused op reads in front of the gates and the aggregate. False where one of the two needs the other.
static bool moveOperands(Site &site, AggregateOp aggregate) {
  Operation *first = site.gates;
  if (aggregate->getBlock() != first->getBlock())
    return false;
  if (aggregate->isBeforeInBlock(first))
    first = aggregate;
  SmallVector<Value> read = llvm::to_vector(site.projection->getOperands());
  llvm::append_range(read, ValueRange{site.gates.getAlpha(), site.gates.getBeta(), aggregate.getHPre()});
  return moveInFrontOf(read, first);
}

void GivenMixes::addTo(Site &site) {
  if (site.aggregate || site.apart || site.fold)
    return;
  for (AggregateOp &aggregate : byStreams[behindReshapes(site.projection.getX())])
    if (aggregate && !aggregate.getU().use_empty() && aggregate.getHPre().getType() == site.gates.getHPre().getType() &&
        moveOperands(site, aggregate)) {
      site.aggregate = std::exchange(aggregate, {});
      return;
    }
}

/// The formats of the gates and of the residual matrix. Where not all readers round a coefficient alike, they round it
/// themselves.
static void matchFormats(Site &site) {
  if (Value hPost = site.gates.getHPost())
    site.hPostFormat = commonFormat(readersOf(hPost));
  if (site.residual)
    site.hResFormat = commonFormat(readersOf(site.fold ? site.fold.getResult() : site.residual));
  if (site.hResFormat == site.iterationFormat()) // it is rounded already
    site.hResFormat.reset();
}

bool FoldMatcher::isFold(algebra::Reading &reading, Site &site, arith::SubFOp sub) {
  algebra::Algebra &algebra = reading.algebra();
  auto gate = [&](Value value, std::optional<Format> format) {
    const algebra::Expr &expr = reading.of(value);
    return format && reading.hasRoundings() ? algebra.apply(algebra::roundingTo(*format), {expr}) : expr;
  };
  Value mix = site.residual, hPost = site.gates.getHPost();
  algebra::Indices columns = {reading.whole(mix)[0], reading.whole(mix)[2]};
  std::optional<algebra::Expr> post = gate(hPost, commonFormat(readersOf(hPost))),
                               pre = gate(site.gates.getHPre(), site.hPreFormat);
  pre = pre ? algebra.substitute(*pre, [&](algebra::Var var) { return columns[var]; }) : std::nullopt;
  std::optional<algebra::Expr> product = post && pre ? algebra.multiply(*post, *pre) : std::nullopt;
  if (!product)
    return false;
  std::optional<algebra::Expr> folded = algebra.add(reading.of(mix), algebra::Algebra::scale(*product, -1));
  auto isSub = [&](const algebra::Reading::Found &found) { return found.value == sub && found.factor == 1; };
  return folded && llvm::any_of(reading.find(*folded), isSub);
}

/// mix - h_post h_pre^T, when it is all that reads the mix.
void FoldMatcher::match(Site &site) {
  auto soleUser = [](Value value) { return value.hasOneUse() ? *value.user_begin() : nullptr; };
  Operation *user = soleUser(site.residual);
  while (user && (rearranges(user) || isa<arith::TruncFOp>(user)))
    user = soleUser(user->getResult(0));
  auto sub = dyn_cast_or_null<arith::SubFOp>(user);
  if (!sub || !isRoundedAlike(site.gateReaders) || !isRoundedAlike(readersOf(site.gates.getHPost())))
    return;
  if (!exact)
    exact.emplace(func, algebra::Rounding::seen);
  if (isFold(*exact, site, sub)) {
    site.fold = sub;
    return;
  }
  if (!exact->hasRoundings())
    return;
  if (!unrounded)
    unrounded.emplace(func, algebra::Rounding::ignored);
  if (isFold(*unrounded, site, sub))
    site.roundedFold = sub;
}

/// The Sinkhorn iteration that reads the logits. It rounds them itself where it rounds at all.
static SinkhornOp iterationOf(const CoefficientReader &reader) {
  auto sinkhorn = dyn_cast<SinkhornOp>(reader.use->getOwner());
  return sinkhorn && (!reader.format || reader.format == sinkhorn.getFormat()) ? sinkhorn : SinkhornOp();
}

/// The iteration that alone reads the logits.
static SinkhornOp iterationOf(Value logits) {
  SmallVector<CoefficientReader> readers = readersOf(logits);
  return readers.size() == 1 ? iterationOf(readers[0]) : SinkhornOp();
}

static bool isMatrix(Value value, int64_t n) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getRank() == 3 && type.getDimSize(1) == n && type.getDimSize(2) == n;
}

/// Finds the residual map that alone reads the logits, or their view as matrices.
static bool matchMap(FoldMatcher &folds, Site &site, int64_t n) {
  Value logits = site.gates.getLogits();
  if (!logits.hasOneUse())
    return false;
  Operation *user = *logits.getUsers().begin();
  if ((site.permutation = dyn_cast<PermutationMixOp>(user))) {
    site.resMap = ResMap::permutation;
    site.residual = site.permutation.getMix();
  } else if ((site.sinkhorn = iterationOf(logits))) {
    site.resMap = ResMap::sinkhorn;
    site.residual = site.sinkhorn.getMix();
  } else if (isa<tensor::ExpandShapeOp>(user) && isMatrix(user->getResult(0), n)) {
    site.residual = user->getResult(0);
  } else {
    return false;
  }
  folds.match(site);
  return true;
}

/// Finds what the residual logits become. False when something else reads them.
static bool matchResidual(FoldMatcher &folds, Site &site) {
  Value logits = site.gates.getLogits();
  if (!logits)
    return true;
  int64_t n = cast<RankedTensorType>(site.gates.getHPre().getType()).getDimSize(1);
  bool areMatrices = cast<RankedTensorType>(logits.getType()).getDimSize(1) == n * n;
  if (logits.use_empty()) {
    // Nothing says what they are for, but phi has their rows: n*n, or n! for the weights of permutations.
    if (!areMatrices)
      site.resMap = ResMap::permutation;
    return true;
  }
  if (matchMap(folds, site, n))
    return true;
  // Code that is no residual map, as raising has told, makes something else of them, or something beside a map does.
  if (!areMatrices || (!plainMapOf(logits) && !llvm::any_of(readersOf(logits), [](const CoefficientReader &reader) {
        return iterationOf(reader) != nullptr;
      })))
    return false;
  site.residual = logits;
  return true;
}

/// The projected streams in the layout that the aggregate reads.
static Value streamsAs(OpBuilder &builder, ProjectionOp projection, Layout layout) {
  Value x = projection.getX();
  if (projection.getLayout() == layout)
    return x;
  auto shape = cast<RankedTensorType>(x.getType()).getShape();
  LeafBuilder leaf(builder, projection.getLoc());
  return leaf.split(leaf.join(x, 1, 2), 1, {shape[2], shape[1]});
}

/// Whether all that reads a gate is the aggregate, inside the kernel.
static bool isReadOnce(Value gate) {
  while (gate.hasOneUse() && !isa<AggregateOp>(*gate.user_begin()) && (*gate.user_begin())->getNumResults() == 1)
    gate = (*gate.user_begin())->getResult(0);
  return gate.hasOneUse() && isa<AggregateOp>(*gate.user_begin());
}

static Layout layoutOf(Site &site) { return site.aggregate ? site.aggregate.getLayout() : site.projection.getLayout(); }

static KernelOpInterface buildHead(OpBuilder &builder, Location loc, const Site &site, Value x) {
  ProjectionOp p = site.projection;
  GatesOp g = site.gates;
  AggregateOp a = site.aggregate;
  LeafBuilder leaf(builder, loc);
  auto gateType = cast<RankedTensorType>(g.getHPre().getType());
  int64_t n = gateType.getDimSize(1);
  HeadOp::Fields fields(g);
  fields.take(p);
  fields.out = a.getU().getType();
  fields.h_pre = isReadOnce(g.getHPre()) ? Type() : Type(gateType);
  fields.x = x;
  fields.layout = a.getLayout();
  fields.phi = firstRows(builder, loc, p.getPhi(), p.getPhiLayout(), n);
  if (g.getLogits()) {
    fields.alpha = leaf.slice(g.getAlpha(), 0, 0, 1);
    fields.beta = leaf.slice(g.getBeta(), 0, 0, n);
  }
  fields.h_pre_format = site.hPreFormat;
  HeadOp head = fields.create(builder, loc);
  a.getU().replaceAllUsesWith(head.getOut());
  if (head.getHPre())
    replaceCoefficient(g.getHPre(), head.getHPre(), site.hPreFormat);
  return cast<KernelOpInterface>(head.getOperation());
}

static KernelOpInterface buildPre(OpBuilder &builder, Location loc, Site &site, Value x) {
  ProjectionOp p = site.projection;
  GatesOp g = site.gates;
  AggregateOp a = site.aggregate;
  auto gateType = cast<RankedTensorType>(g.getHPre().getType());
  int64_t n = gateType.getDimSize(1);
  bool hPre = !site.isMixedByGate || !isReadOnce(g.getHPre());
  LeafBuilder leaf(builder, loc);
  PreOp::Fields fields(g);
  fields.take(p);
  fields.u = a ? a.getU().getType() : Type();
  fields.h_pre = hPre ? Type(gateType) : Type();
  fields.h_post = gateType;
  fields.h_res = gateType.clone(ArrayRef<int64_t>{gateType.getDimSize(0), n, n});
  fields.x = x;
  fields.h_in = a && !site.isMixedByGate ? a.getHPre() : Value();
  fields.layout = layoutOf(site);
  fields.res_map = site.resMap;
  fields.init = Init::exp;
  fields.order = Order::row_col;
  fields.denom = Denom::none;
  fields.iters = 0;
  fields.sk_eps = 0.0;
  if (SinkhornOp sinkhorn = site.sinkhorn) {
    fields.take(sinkhorn);
    fields.sk_eps = sinkhorn.getEps().convertToDouble();
    fields.sk_format = sinkhorn.getFormat();
  }
  fields.fold_pre = site.fold != nullptr;
  fields.h_pre_format = site.hPreFormat;
  fields.h_post_format = site.hPostFormat;
  fields.h_res_format = site.hResFormat;
  PreOp pre = fields.create(builder, loc);
  if (a)
    a.getU().replaceAllUsesWith(pre.getU());
  replaceCoefficient(g.getHPost(), pre.getHPost(), site.hPostFormat);
  std::optional<Format> format = site.hResFormat ? site.hResFormat : site.iterationFormat();
  if (site.residual)
    replaceCoefficient(site.residual, site.residual == g.getLogits() ? leaf.join(pre.getHRes(), 1, 2) : pre.getHRes(),
                       format);
  if (site.fold) // h_res, or its view
    replaceCoefficient(site.fold, site.fold.getLhs(), format);
  if (hPre)
    replaceCoefficient(g.getHPre(), pre.getHPre(), site.hPreFormat);
  return cast<KernelOpInterface>(pre.getOperation());
}

/// "read by 'mhc.gates', 'func.return'"
static std::string describeReaders(Value value) {
  llvm::SetVector<StringRef> names;
  for (Operation *user : value.getUsers())
    names.insert(user->getName().getStringRef());
  return names.empty() ? "read by nothing" : "read by '" + llvm::join(llvm::reverse(names), "', '") + "'";
}

/// A user of `value` for which `expected` does not hold, or else what makes the value.
static Operation *unexpectedUser(Value value, llvm::function_ref<bool(Operation *)> expected) {
  for (Operation *user : value.getUsers())
    if (!expected(user))
      return user;
  return value.getDefiningOp();
}

/// Leaves the aggregate of the site as it is: one kernel cannot return h_pre as it was and mix by the rounded one.
static void setApart(Site &site, Miss miss) {
  site.apart = std::exchange(site.aggregate, {});
  site.apartMiss = std::move(miss);
  site.isMixedByGate = false;
  site.hPreFormat.reset();
  llvm::erase_if(site.gateReaders,
                 [&](const CoefficientReader &reader) { return reader.use->getOwner() == site.apart; });
}

/// Completes the site of its gates. Returns why that cannot be one kernel.
static std::optional<Miss> matchSite(FoldMatcher &folds, Site &site) {
  GatesOp gates = site.gates;
  Value proj = gates.getProj(), stat = gates.getStat();
  if (!(site.projection = proj.getDefiningOp<ProjectionOp>()))
    return Miss{Reason::noProjection, opAtFault(proj, gates), describe(proj), "'mhc.projection'"};
  ProjectionOp projection = site.projection;
  site.aggregate = findAggregate(site);
  site.isMixedByGate = site.aggregate != nullptr;
  if (!site.isMixedByGate && (!gates.getLogits() || (gates.getLogits().use_empty() && gates.getHPost().use_empty())))
    return Miss{Reason::noAggregate, unexpectedUser(gates.getHPre(), [](Operation *) { return false; }),
                "h_pre " + describeReaders(gates.getHPre()), "'mhc.aggregate' of " + describe(projection.getX())};
  if (site.isMixedByGate && site.hPreFormat)
    for (const CoefficientReader &reader : site.gateReaders)
      if (reader.format != site.hPreFormat) {
        Miss miss{Reason::roundingsDiffer, reader.use->getOwner(),
                  ("h_pre in " + stringifyFormat(reader.format.value_or(Format::f32))).str(),
                  (stringifyFormat(*site.hPreFormat) + ", as 'mhc.aggregate' reads it").str()};
        if (!gates.getLogits() || (gates.getLogits().use_empty() && gates.getHPost().use_empty()))
          return miss; // little is left to fuse
        setApart(site, std::move(miss));
        break;
      }
  if (projection.getStatForm() == Stat::mean_square || stat != projection.getStat() ||
      gates.getStatForm() != projection.getStatForm())
    return Miss{Reason::statisticDiffers, stat ? opAtFault(stat, gates) : gates,
                (stringifyStat(gates.getStatForm()) + (stat ? " from " + describe(stat) : "")).str(),
                "inv_rms from the 'mhc.projection' that makes it"};
  if (!matchResidual(folds, site)) {
    SmallVector<Operation *> readers;
    usersThroughViews(gates.getLogits(), readers);
    if (llvm::all_of(readers, [](Operation *reader) { return reader->hasTrait<OpTrait::IsTerminator>(); }))
      return Miss{Reason::noResidualMap, gates, "logits " + describeReaders(gates.getLogits()), "a residual map"};
    return Miss{Reason::logitsShared, unexpectedUser(gates.getLogits(), llvm::IsaPred<tensor::ExpandShapeOp>),
                describeReaders(gates.getLogits()), "read by one residual map"};
  }
  for (Value value : {Value(projection.getProj()), Value(projection.getStat())})
    if (value && !value.hasOneUse())
      return Miss{
          Reason::projectionShared, unexpectedUser(value, [&](Operation *user) { return user == gates; }),
          (describeReaders(value) + ", which would move " + Twine(bytesPerToken(projection)) + " bytes per token again")
              .str(),
          "read by 'mhc.gates' alone"};
  matchFormats(site);
  return std::nullopt;
}

/// Whether raising has told what the site of these gates lacks. It leaves no mark on gates where it found nothing else.
static bool isToldByRaise(GatesOp gates) {
  return gates->removeAttr(kToldByRaise) || plainUser(gates.getHPre()) ||
         (gates.getLogits() && plainMapOf(gates.getLogits()));
}

static void fuse(Sites &sites, GivenMixes &mixes, Site &site) {
  if (arith::SubFOp fold = site.roundedFold)
    sites.decline("pre", {Reason::foldRounds,
                          fold,
                          describe(fold.getLhs()) + " - " + describe(fold.getRhs()),
                          "a difference of f32, rounded behind",
                          {fold, Value()}});
  if (site.apartMiss && !isToldByRaise(site.gates))
    sites.decline("pre", *site.apartMiss);
  mixes.addTo(site);
  bool isMixedFirst = site.aggregate && !site.isMixedByGate && site.aggregate->isBeforeInBlock(site.gates);
  OpBuilder builder(isMixedFirst ? site.aggregate : site.gates.getOperation());
  SmallVector<Location> locs;
  int64_t before = 0;
  for (Operation *op : site.ops()) {
    locs.push_back(op->getLoc());
    before += bytesPerToken(cast<KernelOpInterface>(op));
  }
  Location loc = builder.getFusedLoc(locs);
  Value x = streamsAs(builder, site.projection, layoutOf(site)), hPost = site.gates.getHPost();
  bool onlyInput = !site.residual && (!hPost || hPost.use_empty());
  KernelOpInterface fused = onlyInput ? buildHead(builder, loc, site, x) : buildPre(builder, loc, site, x);
  takeFused(sites, fused, Twine(site.ops().size()) + " ops", before - bytesPerToken(fused));
}

void mhc::fusePre(func::FuncOp func, Sites &sites) {
  // All are matched before the first is fused: folds are matched on values as they were read.
  FoldMatcher folds(func);
  std::vector<std::pair<Site, std::optional<Miss>>> all;
  func.walk([&](GatesOp gates) {
    auto &[site, miss] = all.emplace_back();
    site.gates = gates;
    miss = matchSite(folds, site);
  });
  llvm::SmallPtrSet<Operation *, 16> byGates;
  for (auto &[site, miss] : all)
    byGates.insert(site.apart ? site.apart : site.aggregate);
  GivenMixes mixes;
  func.walk([&](AggregateOp aggregate) {
    if (!byGates.contains(aggregate))
      mixes.add(aggregate);
  });
  for (auto &[site, miss] : all)
    if (!sites.mayTake())
      return;
    else if (!miss)
      fuse(sites, mixes, site);
    else if (!isToldByRaise(site.gates))
      sites.decline("pre", *miss);
}
