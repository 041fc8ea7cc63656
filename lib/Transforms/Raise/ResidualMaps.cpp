//===- ResidualMaps.cpp - Sinkhorn iterations written out ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResidualMaps.h"
#include "Clamps.h"
#include "Mix.h"
#include "Places.h"
#include "Readings.h"
#include "SinkhornMatch.h"
#include "mhc/Algebra/Build.h"
#include "mhc/IR/LeafBuilder.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mhc;

/// The program writes exp(z), which no kernel may shift where an eps follows. Without one the op subtracts a maximum.
static void noteBareExp(const Sites &sites, Value logits, bool isShifted) {
  constexpr double kMostOfExp = 88;
  if (upperBound(logits) <= kMostOfExp)
    return;
  auto exp = llvm::find_if(logits.getUsers(), llvm::IsaPred<math::ExpOp>);
  constexpr StringRef kShift = "subtract the maximum of each row first";
  constexpr StringRef kShifted =
      "the op subtracts a maximum, which cancels; of logits 88 apart a sum may still be 0, as in "
      "the program, and divide 0: add an eps";
  sites.note(*exp, "bare-exp", "exp overflows where logits are above 88: " + Twine(isShifted ? kShifted : kShift));
}

/// Whether all tokens have one matrix, as where it is repeated for them before the iteration.
static bool isShared(ArrayRef<IndexVars> own, const SinkhornSite &site) {
  auto isOfTokens = [&](const algebra::Term &term) {
    return llvm::any_of(llvm::enumerate(own), [&](const auto &dim) {
      const auto place = static_cast<int64_t>(dim.index());
      return place != site.axes.first && place != site.axes.second && dependsOnAny(term, dim.value());
    });
  };
  return llvm::none_of(site.logits, isOfTokens);
}

/// The dimensions of the op's matrices: those of a value, all tokens in one.
static SmallVector<IndexVars> matrixDims(ArrayRef<IndexVars> own, MatrixAxes axes, bool isTransposed) {
  SmallVector<IndexVars> flat(3);
  for (auto [dim, vars] : llvm::enumerate(own))
    flat[static_cast<int64_t>(dim) == axes.first ? 1 : static_cast<int64_t>(dim) == axes.second ? 2 : 0].append(vars);
  if (isTransposed)
    std::swap(flat[1], flat[2]);
  return flat;
}

/// The logits of a site that are there; null for none.
static Value logitsOf(algebra::Reading &reading, OpBuilder &builder, Operation *op, Value value,
                      const SinkhornSite &site) {
  SmallVector<IndexVars> own = ownDims(reading, value), dims = matrixDims(own, site.axes, site.isTransposed);
  if (isShared(own, site))
    dims[0].clear();
  Value logits = build(reading, builder, op, site.logits, dims, builder.getF32Type());
  return logits ? logits : build(reading, builder, op, site.logits, dims);
}

/// The logarithm of the softmax that comes before the first turn.
static Value logSoftmax(LeafBuilder leaf, Value logits, const SinkhornSite &site) {
  SmallVector<int64_t> over, kept = {0};
  for (int64_t dim : {site.axes.first, site.axes.second}) {
    const int64_t place = (dim == site.axes.first) != site.isTransposed ? 1 : 2;
    (llvm::is_contained(site.softmaxOver, dim) ? over : kept).push_back(place);
  }
  auto repeated = [&](Value reduced) { return leaf.broadcast(reduced, leaf.sizesOf(logits), kept); };
  logits = leaf.sub(logits, repeated(leaf.reduce(ReduceKind::max, logits, over)));
  return leaf.sub(logits, repeated(leaf.log(leaf.reduce(ReduceKind::sum, leaf.exp(logits), over))));
}

/// Divides by sums behind the last turn.
static Value normaliseOnceMore(LeafBuilder leaf, Value mix, int64_t dim, const SinkhornSite &site) {
  Value sums = leaf.reduceLike(ReduceKind::sum, mix, dim);
  if (site.denom != Denom::none) {
    Value eps = leaf.splat(site.eps, sums);
    sums = site.denom == Denom::add ? leaf.add(sums, eps) : leaf.max(sums, eps);
  }
  return leaf.div(mix, sums);
}

/// A matrix [1, n, n], for all tokens of a value that it stands for; null where nothing has their number.
static Value repeated(algebra::Reading &reading, OpBuilder &builder, Value matrix, Value value,
                      const SinkhornSite &site) {
  LeafBuilder leaf(builder, value.getLoc());
  SmallVector<OpFoldResult> sizes;
  for (algebra::Size size : reading.sizes(value))
    sizes.push_back(reading.materialise(builder, value.getLoc(), size));
  if (llvm::any_of(sizes, [](OpFoldResult size) { return !size; }))
    return {};
  if (site.isTransposed)
    matrix = leaf.transpose(matrix, {0, 2, 1});
  return leaf.broadcast(leaf.join(matrix, 0, 2), sizes, {site.axes.first, site.axes.second});
}

static TransposeOp transposeOf(Value logits) { return behindReshapes(logits).getDefiningOp<TransposeOp>(); }

/// Whether rows and columns of logits are stored the other way round, wherever their tokens are. Flat ones, [tokens,
/// n*n], only have their tokens behind.
static bool turnsMatrices(Value logits) {
  ArrayRef<int64_t> perm = transposeOf(logits).getPerm();
  return perm.size() > 2 && perm.end()[-2] > perm.back();
}

/// Makes the iteration that a value is, of logits that are there.
static bool replaceSite(algebra::Reading &reading, Sites &sites, Operation *op, Value value, SinkhornSite site) {
  OpBuilder builder(op);
  Value logits = logitsOf(reading, builder, op, value, site);
  if (!logits)
    return false;
  if (transposeOf(logits)) // the mix is transposed in their place, where a product may take it so
    if (Value stored = logitsOf(reading, builder, op, value, transposed(site));
        stored && (!transposeOf(stored) || (!turnsMatrices(stored) && turnsMatrices(logits)))) {
      site = transposed(site);
      logits = stored;
    }
  SmallVector<IndexVars> own = ownDims(reading, value), flat = matrixDims(own, site.axes, site.isTransposed);
  LeafBuilder leaf(builder, op->getLoc());
  logits = leaf.toF32(logits);
  if (site.isOfMatrix)
    logits = leaf.log(logits);
  if (!site.softmaxOver.empty())
    logits = logSoftmax(leaf, logits, site);
  SinkhornOp::Fields fields;
  fields.mix = logits.getType();
  fields.logits = logits;
  fields.init = site.init;
  fields.order = site.order;
  fields.denom = site.denom;
  fields.eps = site.eps;
  fields.iters = site.iters;
  fields.format = site.format;
  SinkhornOp sinkhorn = fields.create(builder, op->getLoc());
  Operation *made = sinkhorn;
  if (site.last) {
    const bool isOfRows = (*site.last == site.axes.first) != site.isTransposed;
    made = normaliseOnceMore(leaf, sinkhorn.getMix(), isOfRows ? 1 : 2, site).getDefiningOp();
  }
  if (site.factor != 1)
    made = leaf.scale(made->getResult(0), site.factor).getDefiningOp();
  algebra::Indices from = indicesOf(reading.algebra().sizes, flat);
  if (!flat[0].empty() && isShared(own, site)) {
    Value all = repeated(reading, builder, made->getResult(0), value, site);
    if (!all)
      return false;
    made = all.getDefiningOp();
    from = reading.whole(value);
  }
  if (!replaceRoot(reading, sites, builder, made, from, own, value))
    return false;
  takeRaised(sites, sinkhorn,
             stringifyInit(site.init) + ", " + Twine(site.iters) + " iterations" +
                 (site.format ? " in " + stringifyFormat(*site.format)
                  : site.last ? " and a half"
                              : ""));
  if (site.isShiftRounded)
    sites.note(op, "fewer-roundings", "the maximum of logits in a narrow type is subtracted in f32");
  const bool isShifted = site.init == Init::exp_rowmax || site.init == Init::exp_colmax;
  if (site.softmaxOver.empty() && !site.isOfMatrix && (site.init == Init::exp || isShifted))
    for (const algebra::Reading::Found &found : reading.find(site.logits, op))
      if (llvm::any_of(found.value.getUsers(), llvm::IsaPred<math::ExpOp>)) {
        noteBareExp(sites, found.value, isShifted);
        break;
      }
  return true;
}

namespace {
/// Values with their roundings, and without where something is left over.
struct ReadBoth {
  explicit ReadBoth(Readings &readings) : readings(readings), exact(readings.exact()) {}
  algebra::Reading &unrounded() {
    if (!ignoring)
      ignoring = &readings.unrounded();
    return *ignoring;
  }

  Readings &readings;
  algebra::Reading &exact;
  algebra::Reading *ignoring = nullptr;
};
} // namespace

/// Whether two values have matrices of one size. Those of 4 x 4, each row in two halves, have some of 2 x 2 as well.
static bool haveMatricesAlike(Value a, Value b) {
  auto size = [](Value value, MatrixAxes axes) {
    return cast<RankedTensorType>(value.getType()).getDimSize(axes.first);
  };
  const SmallVector<MatrixAxes, 2> others = allMatrixAxes(b);
  return llvm::any_of(allMatrixAxes(a), [&](MatrixAxes own) {
    return llvm::any_of(others, [&](MatrixAxes other) { return size(a, own) == size(b, other); });
  });
}

/// Whether a view shows as matrices what no op before has as matrices: the last step may be computed in any shape.
static bool makesMatrices(Operation *op) {
  if (!rearranges(op))
    return false;
  for (Operation *shown = op; shown && rearranges(shown); shown = shown->getOperand(0).getDefiningOp())
    if (Value before = shown->getOperand(0); isMatrixStack(before) && haveMatricesAlike(before, op->getResult(0)))
      return false;
  return true;
}

/// Whether an iteration may end with an op. Products of matrices are those with diagonal ones.
static bool mayEnd(Operation *op) {
  return isa<arith::DivFOp, arith::MulFOp, scf::ForOp, math::ExpOp, arith::TruncFOp, SoftmaxOp, MatmulOp,
             BatchMatmulOp>(op);
}

static bool replaceSinkhorn(ReadBoth &readings, Sites &sites, Operation *op, Value value) {
  bool isView = makesMatrices(op);
  if ((!isView && !mayEnd(op)) || allMatrixAxes(value).empty())
    return false;
  SinkhornMatch match = matchSinkhorn(readings.exact, value);
  if (match.site && match.miss)
    sites.decline("sinkhorn", *match.miss);
  if (match.site)
    return replaceSite(readings.exact, sites, op, value, *match.site);
  if (isView || isa<arith::TruncFOp>(op)) // what it shows is told
    return false;
  if (readings.exact.hasRoundings()) {
    SinkhornMatch other = matchSinkhorn(readings.unrounded(), value, isScaledByVectors(readings.exact, value));
    if (other.site && replaceSite(readings.unrounded(), sites, op, value, *other.site)) {
      sites.note(op, "fewer-roundings",
                 "an iteration by logarithms or by vectors in a narrow type is computed in f32, and rounded once");
      return true;
    }
    if (!match.miss)
      match = other;
  }
  if (match.miss)
    sites.decline("sinkhorn", *match.miss);
  return false;
}

static bool replaceMixture(ReadBoth &readings, Sites &sites, Operation *op) {
  if (raisePermutationMix(readings.exact, sites, op))
    return true;
  if (!readings.exact.hasRoundings() || !raisePermutationMix(readings.unrounded(), sites, op))
    return false;
  sites.note(op, "fewer-roundings", "weights of permutations in a narrow type are added up in f32, and rounded once");
  return true;
}

void mhc::raiseResidualMaps(func::FuncOp func, Readings &all, Sites &sites) {
  ReadBoth readings(all);
  // The longest chain is met first, and takes its shorter beginnings with it.
  for (Operation *op : opsFromTheEnd(func)) {
    if (sites.mayTake() && !replaceMixture(readings, sites, op))
      for (Value result : op->getResults())
        if (!result.use_empty() && replaceSinkhorn(readings, sites, op, result))
          break;
    if (isOpTriviallyDead(op))
      all.takeOut(op);
  }
}
