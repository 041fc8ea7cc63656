//===- Pre.cpp - Everything before a sublayer in one kernel ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuse.h"
#include "Rounding.h"
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
  AggregateOp aggregate;
  ResMap resMap = ResMap::identity;
  SinkhornOp sinkhorn;          ///< with resMap sinkhorn
  PermutationMixOp permutation; ///< with resMap permutation
  Value residual;               ///< value that becomes h_res; null when the logits are dead
  bool foldPre = false;
  /// The gate of the aggregate, and what else reads it; formats that coefficients are rounded to before they are used.
  SmallVector<CoefficientReader> gateReaders;
  std::optional<Format> hPreFormat, hPostFormat, hResFormat;

  /// The format that the residual matrix has without another rounding.
  std::optional<Format> iterationFormat() { return sinkhorn && !foldPre ? sinkhorn.getFormat() : std::nullopt; }
  SmallVector<Operation *> ops() const {
    SmallVector<Operation *> all = {projection, gates};
    if (sinkhorn)
      all.push_back(sinkhorn);
    if (permutation)
      all.push_back(permutation);
    all.push_back(aggregate);
    return all;
  }
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
  return {};
}

/// The formats of the gates and of the residual matrix. Where not all readers round a coefficient alike, they round it
/// themselves.
static void matchFormats(Site &site) {
  if (Value hPost = site.gates.getHPost())
    site.hPostFormat = commonFormat(readersOf(hPost));
  if (site.residual)
    site.hResFormat = commonFormat(readersOf(site.residual));
  if (site.hResFormat == site.iterationFormat()) // it is rounded already
    site.hResFormat.reset();
}

/// view(mix) - y -> view(mix - y), where the view only splits the tokens.
static arith::SubFOp subtractBeforeView(tensor::ExpandShapeOp view, arith::SubFOp sub) {
  OpBuilder builder(sub);
  Value mix = view.getSrc();
  auto y = tensor::CollapseShapeOp::create(builder, sub.getLoc(), mix.getType(), sub.getRhs(),
                                           view.getReassociationIndices());
  auto before = arith::SubFOp::create(builder, sub.getLoc(), mix, y);
  IRMapping mapping;
  mapping.map(mix, before.getResult());
  sub.replaceAllUsesWith(builder.clone(*view, mapping));
  sub.erase();
  view.erase();
  return before;
}

/// mix - h_post h_pre^T, when it is all that reads the mix.
static arith::SubFOp matchFold(FormBuilder &forms, Site &site, Value mix) {
  auto soleUser = [](Value value) { return value.hasOneUse() ? *value.user_begin() : nullptr; };
  auto view = dyn_cast_or_null<tensor::ExpandShapeOp>(soleUser(mix));
  Value shown = view ? view.getResult() : mix;
  auto sub = dyn_cast_or_null<arith::SubFOp>(soleUser(shown));
  if (!sub || sub.getLhs() != shown || !isRoundedAlike(site.gateReaders) ||
      !isRoundedAlike(readersOf(site.gates.getHPost())))
    return {};
  forms.reset();
  forms.stops.insert(mix);
  Indices index = forms.freshIndices(shown);
  Form minuend = forms.at(shown, index), form = forms.at(sub.getRhs(), index);
  forms.resolve(form);
  if (minuend.terms.size() != 1 || minuend.terms[0].factors.size() != 1 || minuend.terms[0].factors[0].base != mix ||
      form.terms.size() != 1 || form.terms[0].factors.size() != 2 || form.terms[0].coefficient != 1 ||
      !form.terms[0].sums.empty())
    return {};
  const Indices &at = minuend.terms[0].factors[0].index;
  Factor post{site.gates.getHPost(), {at[0], at[1]}}, pre{site.gates.getHPre(), {at[0], at[2]}};
  const std::vector<Factor> &factors = form.terms[0].factors;
  bool matches = (factors[0] == post && factors[1] == pre) || (factors[0] == pre && factors[1] == post);
  if (!matches)
    return {};
  return view ? subtractBeforeView(view, sub) : sub;
}

/// The Sinkhorn iteration that alone reads the logits. It rounds them itself where it rounds at all.
static SinkhornOp iterationOf(Value logits) {
  SmallVector<CoefficientReader> readers = readersOf(logits);
  auto sinkhorn = readers.size() == 1 ? dyn_cast<SinkhornOp>(readers[0].use->getOwner()) : SinkhornOp();
  return sinkhorn && (!readers[0].format || readers[0].format == sinkhorn.getFormat()) ? sinkhorn : SinkhornOp();
}

/// Finds what the residual logits become. False when something else reads them.
static bool matchResidual(FormBuilder &forms, Site &site) {
  Value logits = site.gates.getLogits();
  if (!logits)
    return true;
  int64_t n = cast<RankedTensorType>(site.gates.getHPre().getType()).getDimSize(1);
  if (logits.use_empty()) {
    // Nothing says what they are for, but phi has their rows: n*n, or n! for the weights of permutations.
    if (cast<RankedTensorType>(logits.getType()).getDimSize(1) != n * n)
      site.resMap = ResMap::permutation;
    return true;
  }
  if (!logits.hasOneUse())
    return false;
  Operation *user = *logits.getUsers().begin();
  if ((site.permutation = dyn_cast<PermutationMixOp>(user))) {
    site.resMap = ResMap::permutation;
    site.residual = site.permutation.getMix();
  } else if ((site.sinkhorn = iterationOf(logits))) {
    site.resMap = ResMap::sinkhorn;
    site.residual = site.sinkhorn.getMix();
  } else if (auto matrices = dyn_cast<tensor::ExpandShapeOp>(user)) {
    site.residual = matrices.getResult();
    auto type = matrices.getResultType();
    if (type.getRank() != 3 || type.getDimSize(1) != n || type.getDimSize(2) != n)
      return false;
  } else {
    return false;
  }
  if (arith::SubFOp fold = matchFold(forms, site, site.residual)) {
    site.residual = fold.getResult();
    site.foldPre = true;
  }
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

/// The attribute of a fused op: absent where nothing is rounded.
static FormatAttr formatAttr(OpBuilder &builder, std::optional<Format> format) {
  return format ? FormatAttr::get(builder.getContext(), *format) : FormatAttr();
}

/// Whether all that reads a gate is the aggregate, inside the kernel.
static bool isReadOnce(Value gate) {
  while (gate.hasOneUse() && !isa<AggregateOp>(*gate.user_begin()) && (*gate.user_begin())->getNumResults() == 1)
    gate = (*gate.user_begin())->getResult(0);
  return gate.hasOneUse() && isa<AggregateOp>(*gate.user_begin());
}

static KernelOpInterface buildHead(OpBuilder &builder, Location loc, const Site &site, Value x) {
  ProjectionOp p = site.projection;
  GatesOp g = site.gates;
  AggregateOp a = site.aggregate;
  LeafBuilder leaf(builder, loc);
  auto gateType = cast<RankedTensorType>(g.getHPre().getType());
  int64_t n = gateType.getDimSize(1);
  bool whole = !g.getLogits();
  auto head = HeadOp::create(
      builder, loc, a.getU().getType(), isReadOnce(g.getHPre()) ? Type() : Type(gateType),
      /*proj=*/Type(), /*stat=*/Type(), x, firstRows(builder, loc, p.getPhi(), p.getPhiLayout(), n), p.getNormWeight(),
      whole ? Value(g.getAlpha()) : leaf.slice(g.getAlpha(), 0, 0, 1),
      whole ? Value(g.getBeta()) : leaf.slice(g.getBeta(), 0, 0, n), a.getLayout(), p.getPhiLayout(), p.getNorm(),
      p.getNormEps(), g.getPreEps(), p.getPrecisionAttr(), formatAttr(builder, site.hPreFormat));
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
  bool hPre = !isReadOnce(g.getHPre());
  SinkhornOp s = site.sinkhorn;
  auto pre =
      PreOp::create(builder, loc, a.getU().getType(), hPre ? Type(gateType) : Type(), gateType,
                    gateType.clone(ArrayRef<int64_t>{gateType.getDimSize(0), n, n}), /*proj=*/Type(),
                    /*stat=*/Type(), x, p.getPhi(), p.getNormWeight(), g.getAlpha(), g.getBeta(), a.getLayout(),
                    p.getPhiLayout(), p.getNorm(), p.getNormEps(), g.getPreEps(), g.getPostMult(), site.resMap,
                    s ? s.getInit() : Init::exp, s ? s.getOrder() : Order::row_col, s ? s.getDenom() : Denom::none,
                    s ? s.getEps() : APFloat(0.0), s ? s.getIters() : 0, site.foldPre, p.getPrecisionAttr(),
                    formatAttr(builder, site.hPreFormat), formatAttr(builder, site.hPostFormat),
                    formatAttr(builder, site.hResFormat), s ? s.getFormatAttr() : FormatAttr());
  a.getU().replaceAllUsesWith(pre.getU());
  replaceCoefficient(g.getHPost(), pre.getHPost(), site.hPostFormat);
  if (site.residual)
    replaceCoefficient(site.residual, pre.getHRes(), site.hResFormat ? site.hResFormat : site.iterationFormat());
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

/// Completes the site of its gates. Returns why that cannot be one kernel.
static std::optional<Miss> matchSite(FormBuilder &forms, Site &site) {
  GatesOp gates = site.gates;
  Value proj = gates.getProj(), stat = gates.getStat();
  if (!(site.projection = proj.getDefiningOp<ProjectionOp>()))
    return Miss{Reason::noProjection, opAtFault(proj, gates), describe(proj), "'mhc.projection'"};
  ProjectionOp projection = site.projection;
  if (!(site.aggregate = findAggregate(site)))
    return Miss{Reason::noAggregate, unexpectedUser(gates.getHPre(), [](Operation *) { return false; }),
                "h_pre " + describeReaders(gates.getHPre()), "'mhc.aggregate' of " + describe(projection.getX())};
  if (site.hPreFormat)
    for (const CoefficientReader &reader : site.gateReaders)
      if (reader.format != site.hPreFormat)
        return Miss{Reason::roundingsDiffer, reader.use->getOwner(),
                    ("h_pre in " + stringifyFormat(reader.format.value_or(Format::f32))).str(),
                    (stringifyFormat(*site.hPreFormat) + ", as 'mhc.aggregate' reads it").str()};
  if (projection.getStatForm() == Stat::mean_square || stat != projection.getStat() ||
      gates.getStatForm() != projection.getStatForm())
    return Miss{Reason::statisticDiffers, stat ? opAtFault(stat, gates) : gates,
                (stringifyStat(gates.getStatForm()) + (stat ? " from " + describe(stat) : "")).str(),
                "inv_rms from the 'mhc.projection' that makes it"};
  if (!matchResidual(forms, site))
    return Miss{Reason::logitsShared, unexpectedUser(gates.getLogits(), llvm::IsaPred<tensor::ExpandShapeOp>),
                describeReaders(gates.getLogits()), "read by one residual map"};
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

/// True if raising has reported already that plain code reads these gates or logits.
static bool isReportedByRaise(const Miss &miss, GatesOp gates) {
  if (miss.reason == Reason::noAggregate)
    return plainUser(gates.getHPre());
  return miss.reason == Reason::logitsShared && plainMapOf(gates.getLogits());
}

static void fuse(FormBuilder &forms, Sites &sites, GatesOp gates) {
  Site site;
  site.gates = gates;
  if (std::optional<Miss> miss = matchSite(forms, site)) {
    if (!isReportedByRaise(*miss, gates))
      sites.decline("pre", *miss);
    return;
  }
  OpBuilder builder(gates);
  SmallVector<Location> locs;
  int64_t before = 0;
  for (Operation *op : site.ops()) {
    locs.push_back(op->getLoc());
    before += bytesPerToken(cast<KernelOpInterface>(op));
  }
  Location loc = builder.getFusedLoc(locs);
  Value x = streamsAs(builder, site.projection, site.aggregate.getLayout());
  bool onlyInput = !site.residual && (!gates.getHPost() || gates.getHPost().use_empty());
  KernelOpInterface fused = onlyInput ? buildHead(builder, loc, site, x) : buildPre(builder, loc, site, x);
  takeFused(sites, fused, Twine(site.ops().size()) + " ops", before - bytesPerToken(fused));
}

void mhc::fusePre(func::FuncOp func, Sites &sites) {
  FormBuilder forms(func);
  SmallVector<GatesOp> work;
  func.walk([&](GatesOp gates) { work.push_back(gates); });
  for (GatesOp gates : work)
    if (sites.mayTake())
      fuse(forms, sites, gates);
}
