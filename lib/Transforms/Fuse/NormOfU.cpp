//===- NormOfU.cpp - The norm that a sublayer begins with -------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most sublayers begin with a norm of their input: as mhc.rms_norm or written out, in the type of u or in f32 and
// rounded. It joins the boundary in front of it where nothing else reads u.
//
//===----------------------------------------------------------------------===//

#include "Fuse.h"
#include "Raise/Bounds.h"
#include "mhc/Algebra/Reading.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;

namespace {
/// out = u / sqrt(mean of u^2 + eps) * weight
struct NormOfU {
  Value out, weight;
  double eps;
};
} // namespace

/// The mean of u^2 over the channels, variable 1 of u.
static std::optional<Expr> meanSquare(algebra::Reading &reading, Value u) {
  Algebra &algebra = reading.algebra();
  const algebra::Size channels = reading.size(u, 1);
  std::optional<Expr> square = algebra.power(reading.of(u), 4);
  std::optional<Expr> sum = square ? algebra.reduce("sum", *square, {{1, channels}}) : std::nullopt;
  return sum ? algebra.divide(*sum, algebra.extent(channels)) : std::nullopt;
}

/// The number by which `power` is more than `mean`; nothing where it is something else.
static std::optional<double> epsBehind(Algebra &algebra, Expr power, const Expr &mean) {
  const algebra::Factor *sum = algebra::singleFactor(power);
  if (sum && sum->node()->kind == algebra::Node::Sum) {
    std::optional<Expr> part = algebra.part(sum->element);
    if (!part)
      return std::nullopt;
    power = Algebra::scale(*part, power[0].coefficient);
  }
  double number = 0;
  llvm::erase_if(power, [&](const algebra::Term &term) {
    const bool isNumber = term.factors.empty() && term.exponent.empty();
    number += isNumber ? term.coefficient : 0;
    return isNumber;
  });
  std::optional<Expr> ratio = power.size() == 1 ? algebra.divide(power, mean) : std::nullopt;
  std::optional<double> factor = ratio ? algebra::numberOf(*ratio) : std::nullopt;
  return factor && isNear(*factor, 1) && isEps(number) ? std::optional(number == 0 ? 0 : epsMeant(number))
                                                       : std::nullopt;
}

/// A value for the op's weight: of one dimension, whose element c is `expr` for channel c, in a type that the op has.
static Value weightOf(algebra::Reading &reading, const Expr &expr, RankedTensorType u, Operation *user) {
  const algebra::Indices channel = {algebra::wholeVar(1, u.getDimSize(1))};
  for (const algebra::Reading::Found &found : reading.find(expr, user)) {
    auto type = dyn_cast<RankedTensorType>(found.value.getType());
    if (type && type.getRank() == 1 && type.getDimSize(0) == u.getDimSize(1) && found.factor == 1 &&
        found.at == channel && (type.getElementType().isF32() || type.getElementType() == u.getElementType()))
      return found.value;
  }
  return {};
}

/// `out` as a norm of u.
static std::optional<NormOfU> matchNorm(algebra::Reading &reading, Value u, Value out) {
  Algebra &algebra = reading.algebra();
  std::optional<Expr> ratio = algebra.divide(reading.of(out), reading.of(u));
  if (!ratio || ratio->size() != 1 || !ratio->front().exponent.empty())
    return std::nullopt;
  algebra::Term weight, root;
  root.coefficient = ratio->front().coefficient;
  for (const algebra::Factor &factor : ratio->front().factors)
    (algebra::dependsOn(factor, 1) ? weight : root).factors.push_back(factor);
  std::optional<Expr> power = algebra.power({root}, -4), mean = meanSquare(reading, u);
  std::optional<double> eps = power && mean ? epsBehind(algebra, *power, *mean) : std::nullopt;
  if (!eps || weight.factors.empty() || algebra::dependsOn(weight, 0))
    return std::nullopt;
  Value vector = weightOf(reading, {weight}, cast<RankedTensorType>(u.getType()), out.getDefiningOp());
  return vector ? std::optional(NormOfU{out, vector, *eps}) : std::nullopt;
}

/// Ops that read u or what is made of it, but not those behind `last`.
static SmallVector<Operation *> readersOf(Value u, Operation *last = nullptr) {
  constexpr size_t kMost = 64; // of a norm there are some ten
  llvm::SmallSetVector<Operation *, 16> readers;
  readers.insert_range(u.getUsers());
  for (size_t next = 0; next < readers.size() && readers.size() < kMost; ++next)
    if (readers[next] != last)
      readers.insert_range(readers[next]->getUsers());
  return readers.takeVector();
}

/// The norm that all that reads u is a part of.
static std::optional<NormOfU> normOf(algebra::Reading &reading, Value u) {
  std::optional<NormOfU> norm;
  Operation *last = u.getDefiningOp();
  const auto isBehind = [&](Operation *op) { return op->getBlock() == last->getBlock() && last->isBeforeInBlock(op); };
  for (Operation *op : readersOf(u))
    if (op->getNumResults() == 1 && op->getResult(0).getType() == u.getType() && isBehind(op))
      if (std::optional<NormOfU> found = matchNorm(reading, u, op->getResult(0)))
        norm = found, last = op;
  const bool isAll = llvm::all_of(readersOf(u, last), [&](Operation *op) {
    return op->getBlock() == last->getBlock() && !isBehind(op) && isPure(op);
  });
  return isAll ? norm : std::nullopt;
}

/// The places of the boundary and of the ops that the norm is written in.
static Location placeOf(PostPreOp boundary, const NormOfU &norm) {
  SmallVector<Location> places = {boundary.getLoc()};
  for (Operation *op : readersOf(boundary.getU(), norm.out.getDefiningOp()))
    places.push_back(op->getLoc());
  return FusedLoc::get(boundary.getContext(), places);
}

void mhc::fuseNormOfU(func::FuncOp func, Sites &sites) {
  SmallVector<PostPreOp> boundaries;
  func.walk([&](PostPreOp op) {
    if (op.getU() && !op.getUNormWeight())
      boundaries.push_back(op);
  });
  if (boundaries.empty())
    return;
  algebra::Reading reading(func);
  for (PostPreOp boundary : boundaries) {
    std::optional<NormOfU> norm = sites.mayTake() ? normOf(reading, boundary.getU()) : std::nullopt;
    if (!norm || !moveInFrontOf(norm->weight, boundary))
      continue;
    const RankedTensorType u = boundary.getU().getType();
    const int64_t rows = 2 * u.getDimSize(1) * u.getElementTypeBitWidth() / 8, before = bytesPerToken(boundary);
    boundary->setLoc(placeOf(boundary, *norm));
    norm->out.replaceAllUsesWith(boundary.getU());
    boundary.getUNormWeightMutable().assign(norm->weight);
    boundary.setUNormEpsAttr(Builder(func.getContext()).getF64FloatAttr(norm->eps));
    takeFused(sites, boundary, "'mhc.post_pre' and the norm of its u", before + rows - bytesPerToken(boundary));
  }
}
